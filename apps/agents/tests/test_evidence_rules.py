"""The rule that ends a research without a model call."""

from __future__ import annotations

import pytest

from apps.agents.research.evidence import ends_research
from apps.agents.tests.conftest import passage

LEAVE, SICK, TOWER = passage(0), passage(1), passage(3)


@pytest.mark.parametrize(
    ("question", "found", "ends"),
    [
        ("年假有多少天？", [LEAVE], True),
        ("年假有多少天？", [SICK, LEAVE], True),
        ("How tall is the Eiffel Tower?", [TOWER], True),
        ("年假有多少天？", [], False),
        ("年假有多少天？病假要什么证明？", [LEAVE, SICK], False),
        ("年假和病假有什么区别？", [LEAVE, SICK], False),
        ("年假有哪些规定", [LEAVE], False),
        ("Is the Eiffel Tower taller than the blue whale is long?", [TOWER], False),
        ("停车证怎么办理？", [LEAVE], False),
        ("How tall is the Eiffel Tower?", [LEAVE], False),
        ("年假" * 30 + "有多少天？", [LEAVE], True),
        (
            "年假" + "的申请要经过部门经理和人事部门以及财务部门签字盖章之后才能生效吗",
            [LEAVE],
            False,
        ),
        ("？", [LEAVE], False),
    ],
)
def test_simple_questions_whose_words_are_found_end_the_research(question, found, ends):
    assert ends_research(question, found, threshold=None) is ends


@pytest.mark.parametrize(("threshold", "ends"), [(0.85, True), (0.95, False)])
def test_evidence_below_the_threshold_never_ends_it(threshold, ends):
    assert ends_research("年假有多少天？", [LEAVE], threshold=threshold) is ends
