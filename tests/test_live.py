"""The live tests run, and pass at an endpoint that behaves; without their variable they skip."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from kbqa_project.env import BASE_DIR
from tests.fault_server import FaultServer, Pace
from tests.server_process import product_environment
from tests.settings import ISOLATED

if TYPE_CHECKING:
    from pathlib import Path

DIMENSION = 64
TIMEOUT_S = 600
# Slow enough that a reader leaves before the answer has ended.
PACE = Pace(first_token_s=0.4)


def run_live(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `pytest -m live` in a process of its own that sees only these variables of ours."""
    environment = product_environment(folder, **variables)
    del environment["KBQA_DATA_DIR"]
    environment.pop(ISOLATED, None)
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-m",
            "live",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/live",
        ],
        cwd=BASE_DIR,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )


def counts(result: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Return the numbers of the last line, by what they count."""
    last = result.stdout.strip().splitlines()[-1]
    return {kind: int(number) for number, kind in re.findall(r"(\d+) ([a-z]+)", last)}


def test_live_tests_pass_at_a_well_behaved_endpoint(tmp_path):
    with FaultServer(dimension=DIMENSION, pace=PACE) as endpoint:
        result = run_live(
            tmp_path,
            KBQA_RUN_LIVE_TESTS="1",
            KBQA_DASHSCOPE_API_KEY="key-of-a-test",
            KBQA_DASHSCOPE_BASE_URL=endpoint.base_url,
            KBQA_EMBEDDING_DIM=str(DIMENSION),
        )
    assert result.returncode == 0, result.stdout + result.stderr
    assert set(counts(result)) <= {"passed", "deselected", "in"}
    assert counts(result)["passed"] > 10
    assert {request.headers["authorization"] for request in endpoint.requests} == {
        "Bearer key-of-a-test"
    }


def test_live_tests_are_skipped_without_their_variable(tmp_path):
    result = run_live(tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert set(counts(result)) == {"skipped"}
    assert "KBQA_RUN_LIVE_TESTS=1" in result.stdout
    assert "KBQA_DASHSCOPE_API_KEY" in result.stdout


def test_live_tests_fail_without_keys(tmp_path):
    result = run_live(tmp_path, KBQA_RUN_LIVE_TESTS="1")
    assert result.returncode == 1
    assert "live tests need KBQA_DASHSCOPE_API_KEY" in result.stdout
    assert os.environ.get("KBQA_RUN_LIVE_TESTS") is None
