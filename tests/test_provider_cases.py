"""The replay of provider scripts tells cases that are as expected from those that are not."""

from __future__ import annotations

import json
import subprocess
import sys

from kbqa_project.env import BASE_DIR

TIMEOUT_S = 240


def said(text, reason="stop"):
    deltas = [{"content": text}, {}]
    reasons = [None, reason]
    choices = [
        {"index": 0, "delta": delta, "finish_reason": why}
        for delta, why in zip(deltas, reasons, strict=True)
    ]
    return {"turns": [{"sse": [{"choices": [choice]} for choice in choices], "end": "done"}]}


def case(name, how, outcome, code, **more):
    expected = {"outcome": outcome, "code": code, "text_must_contain": more.pop("texts", [])}
    return {
        "id": f"made:{name}.json",
        "class": "made",
        "how": how,
        "provider_script": f"{name}.json",
        "question": "年假多少天？",
        "expected": {**expected, "text_must_not_contain": []},
        **more,
    }


SCRIPTS = {
    "cited": said("十五天[S1]。"),
    "uncited": said("十五天。"),
    "filtered": said("十五天", "content_filter"),
    "nan": {"dim": 8, "calls": [{"values": "nan"}]},
}
CASES = [
    case("cited", "question", "accepted", None, texts=["十五天"]),
    case("uncited", "question", "failed_run", "MISSING_CITATION"),
    case("filtered", "question", "accepted", None),
    case("nan", "upload", "failed_job", "bad_embedding", upload_file="a.md"),
]


def test_replay_prints_a_row_for_each_case_and_names_those_that_differ(tmp_path):
    for name, script in SCRIPTS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(script))
    (tmp_path / "a.md").write_text("# 年假\n\n十五天。\n")
    lines = [json.dumps(entry) for entry in [*CASES, {"id": "no script"}]]
    (tmp_path / "manifest.jsonl").write_text("\n".join(lines))

    result = subprocess.run(
        [sys.executable, "-m", "checks.provider_cases", str(tmp_path)],
        cwd=BASE_DIR,
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )

    assert result.returncode == 1, result.stderr
    table, faults = result.stdout.split("\n\n")
    assert [line.split(" | ")[:3] for line in table.splitlines()[2:]] == [
        ["| made:cited", "accepted", ""],
        ["| made:uncited", "failed_run", "MISSING_CITATION"],
        ["| made:filtered", "failed_run", "CONTENT_FILTERED"],
        ["| made:nan", "failed_job", "EMBEDDING_INVALID"],
    ]
    assert faults.strip() == "made:filtered: failed_run CONTENT_FILTERED, not accepted"
