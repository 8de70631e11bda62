"""Replays scripts of misbehaving model endpoints to a real server and prints what came of each.

    python -m checks.provider_cases CASES_DIR [--only CLASS]

CASES_DIR holds a `manifest.jsonl` and the scripts that its entries with `provider_script` name;
its README tells what the fields mean. Scripts of `question` cases play the chat endpoint while the
case's question is asked, those of `upload` cases the embedding endpoint while its file is indexed.
Prints a Markdown table, one line for each case that is not as expected, and exits with 1 then.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.fault_server import FaultServer
from tests.question_flow.chat_server import ChatServer, text_of
from tests.server_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KEY = "key-of-a-check"
MODEL_SETTINGS = {"KBQA_CHAT_MODEL": "qwen3.5-flash", "KBQA_EMBEDDING_MODEL": "text-embedding-v4"}
# A script that hangs need not be waited for as long as a vendor is.
PATIENCE = {"KBQA_IDLE_TIMEOUT_S": "3", "KBQA_EMBEDDING_TIMEOUT_S": "3"}
DIMENSION = 8  # of the vectors in the scripts
INDEXING_TIMEOUT_S = 120
DOCUMENTS = {
    "年假.md": "# 年假\n\n员工每年享有十五天带薪年假，需提前三天申请。\n",
    "假期.md": "# 假期\n\n年假十五天，可以分两次休完；当年未休的年假不结转。\n",
    "停车.md": "# 停车\n\n停车证每年三月更新，每张收费二百元。\n",
}
# What the cases suggest is called so here.
OUR_CODES = {
    "empty_answer": "EMPTY_ANSWER",
    "tool_limit": "TOOL_LIMIT",
    "provider_error": "MODEL_UPSTREAM_ERROR",
    "timeout": "MODEL_TIMEOUT",
    "dimension_mismatch": "EMBEDDING_DIMENSION_MISMATCH",
    "bad_embedding": "EMBEDDING_INVALID",
}


@dataclass(frozen=True, slots=True)
class Case:
    """An entry of the manifest with its script."""

    name: str
    entry: dict[str, Any]
    script: dict[str, Any]

    @property
    def expected(self) -> dict[str, Any]:
        """What the manifest asks for."""
        return dict(self.entry["expected"])

    @property
    def codes(self) -> set[str]:
        """The error codes that are right when it ends as it should; empty when all are."""
        code = self.expected["code"] or ""
        return {code, OUR_CODES.get(code.lower(), code)} - {""}


@dataclass(slots=True)
class Result:
    """What a person saw, and what was charged; `notes` say what broke a rule of all cases."""

    outcome: str
    code: str | None
    text: str
    costs: list[str]
    notes: list[str] = field(default_factory=list)


def main() -> int:
    """Replay the cases and print the table; return 1 when one is not as expected."""
    options = _options()
    cases = [c for c in _cases(options.folder) if options.only in ("", c.entry["class"])]
    asked = [case for case in cases if case.entry["how"] == "question"]
    uploaded = [case for case in cases if case.entry["how"] == "upload"]
    faults = []
    _say(
        "| script | outcome | code | calls: stage, status, tokens in+out, CNY |\n|---|---|---|---|"
    )
    for case, result in [*_ask_all(asked), *_upload_all(uploaded, options.folder)]:
        calls = "<br>".join(result.costs)
        _say(f"| {case.name} | {result.outcome} | {result.code or ''} | {calls} |")
        faults += [f"{case.name}: {fault}" for fault in _faults(case, result)]
    _say("\n" + "\n".join(faults or [f"All {len(cases)} cases are as expected."]))
    return 1 if faults else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m checks.provider_cases")
    parser.add_argument("folder", type=Path, help="the folder of manifest.jsonl")
    parser.add_argument("--only", default="", help="replay the cases of this class only")
    return parser.parse_args()


def _cases(folder: Path) -> Iterator[Case]:
    for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        if entry.get("provider_script"):
            script = json.loads((folder / entry["provider_script"]).read_text("utf-8"))
            yield Case(entry["id"].removesuffix(".json"), entry, script)


def _ask_all(cases: Sequence[Case]) -> Iterator[tuple[Case, Result]]:
    """Ask at a server whose chat endpoint plays the scripts; its embedding model is our own."""
    if not cases:
        return
    with TemporaryDirectory(prefix="kbqa-cases-") as folder, FaultServer() as endpoint:
        settings = _settings("CHAT", endpoint)
        with ChatServer(Path(folder), **settings) as server:
            for name, text in DOCUMENTS.items():
                server.upload(name, text)
            for case in cases:
                endpoint.play(case.script)
                yield case, _ask(server, case)


def _ask(server: ChatServer, case: Case) -> Result:
    session = server.new_session()
    events = server.ask(session, case.entry["question"])
    last, data = events[-1]
    answer = server.messages(session)[-1]
    costs = server.client.get(f"/api/v1/sessions/{session}/costs").json()
    notes = []
    if (last == "done") != (answer["status"] == "completed"):
        notes.append(f"the stream ended in {last}, the message is {answer['status']}")
    if answer["status"] == "failed" and answer["error_code"] != data.get("code"):
        notes.append(f"the stream tells {data.get('code')}, the message {answer['error_code']}")
    if answer["status"] == "completed" and not answer["content"].strip():
        notes.append("the answer is empty")
    return Result(
        outcome="accepted" if last == "done" else "failed_run",
        code=data.get("code"),
        text=text_of(events),
        costs=[_call(call) for call in costs["calls"]],
        notes=[*notes, *_cost_faults(costs)],
    )


def _cost_faults(costs: dict[str, Any]) -> list[str]:
    """Return what is wrong with a session's costs: running calls, or a total that is no sum."""
    running = sum(call["status"] == "running" for call in costs["calls"])
    micro = sum(_micro(call["cost"]) for call in costs["calls"] if call["cost"] is not None)
    faults = [f"{running} calls still run"] if running else []
    if micro != _micro(costs["total_cost"]):
        faults.append(f"the total {costs['total_cost']} is not the sum of its calls")
    return faults


def _micro(cost: str) -> int:
    return int(cost.replace(".", ""))


def _call(call: dict[str, Any]) -> str:
    kind = "" if call["kind"] == "chat" else f" {call['kind']}"
    tokens = f"{call['input_tokens']}+{call['output_tokens']}"
    cached = f" ({call['cached_tokens']} cached)" if call["cached_tokens"] else ""
    price = _price(call["cost"], call["cost_source"])
    return f"{call['stage']}{kind} {call['status']} {tokens}{cached} {price}"


def _price(cost: str | None, source: str) -> str:
    """Return a cost with its mark when it is not exact."""
    if cost is None:
        return "unpriced"
    return f"{cost} estimated" if source == "estimated" else cost


def _upload_all(cases: Sequence[Case], folder: Path) -> Iterator[tuple[Case, Result]]:
    """Upload to a server whose embedding endpoint plays the scripts."""
    if not cases:
        return
    with TemporaryDirectory(prefix="kbqa-cases-") as data, FaultServer() as endpoint:
        settings = _settings("EMBEDDING", endpoint) | {"KBQA_EMBEDDING_DIM": str(DIMENSION)}
        with ChatServer(Path(data), **settings) as server:
            for case in cases:
                endpoint.play(case.script)
                yield case, _upload(server, folder / case.entry["upload_file"])


def _upload(server: ChatServer, path: Path) -> Result:
    files = {"file": (path.name, path.read_bytes(), "text/markdown")}
    address = (
        f"/api/v1/documents/{server.client.post('/api/v1/documents', files=files).json()['id']}"
    )
    wait_until(lambda: _has_ended(server, address), timeout_s=INDEXING_TIMEOUT_S)
    document = server.client.get(address).json()
    is_indexed = document["status"] == "indexed"
    query = "SELECT status, embedding_tokens, cost_micro, cost_source FROM index_jobs"
    status, tokens, micro, source = server.rows(query)[0]
    cost = None if micro is None else f"{micro / 1_000_000:.6f}"
    hits = server.client.get("/api/v1/search", params={"query": "yaml"}).json().get("items")
    notes = [] if is_indexed or not hits else ["chunks of a failed document are found"]
    server.client.delete(address)
    return Result(
        outcome="accepted" if is_indexed else "failed_job",
        code=document["error_code"],
        text="",
        costs=[f"indexing job {status} {tokens}+0 {_price(cost, source)}"],
        notes=notes,
    )


def _has_ended(server: ChatServer, address: str) -> bool:
    return server.client.get(address).json()["status"] in {"indexed", "failed"}


def _settings(kind: str, endpoint: FaultServer) -> dict[str, str]:
    address = {f"KBQA_{kind}_API_KEY": KEY, f"KBQA_{kind}_BASE_URL": endpoint.base_url}
    return {**MODEL_SETTINGS, **PATIENCE, **address}


def _faults(case: Case, result: Result) -> list[str]:
    """Return how a result differs from what the manifest asks for."""
    expected, faults = case.expected, list(result.notes)
    allowed = {expected["outcome"], case.entry.get("outcome_also_ok")}
    if result.outcome not in allowed:
        faults.append(f"{result.outcome} {result.code or ''}, not {expected['outcome']}")
    elif result.outcome == expected["outcome"] and case.codes and result.code not in case.codes:
        faults.append(f"{result.code}, not {expected['code']}")
    text = _folded(result.text)
    missing = [part for part in _folded_all(expected["text_must_contain"]) if part not in text]
    leaked = [part for part in _folded_all(expected["text_must_not_contain"]) if part in text]
    faults += [f"the text lacks {part}" for part in missing]
    faults += [f"the text holds {part}" for part in leaked]
    if not result.costs:
        faults.append("no call was recorded")
    return faults


def _folded_all(parts: Iterable[str]) -> list[str]:
    return [_folded(part) for part in parts]


def _folded(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
