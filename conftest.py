"""What all tests share: live tests run only when they are asked for twice."""

import hypothesis
import pytest

from tests.settings import PERSON

LIVE = pytest.mark.skip(
    reason="talks to real models and costs money: set KBQA_RUN_LIVE_TESTS=1 and"
    " KBQA_DASHSCOPE_API_KEY with KBQA_DASHSCOPE_BASE_URL, or KBQA_CHAT_* and KBQA_EMBEDDING_*"
)

# The same examples each time, and no limits of time: a busy machine is no defect.
hypothesis.settings.register_profile(
    "kbqa",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("kbqa")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the live tests out; named by `-m live` they are skipped without their variable."""
    live = [item for item in items if item.get_closest_marker("live")]
    if "live" not in str(config.option.markexpr):
        config.hook.pytest_deselected(items=live)
        items[:] = [item for item in items if item not in live]
    elif PERSON.get("KBQA_RUN_LIVE_TESTS", "0") != "1":
        for item in live:
            item.add_marker(LIVE)
