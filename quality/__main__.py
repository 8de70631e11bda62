"""Asks the questions of the sets and prints what came of them, for both halves of each set.

    python -m quality EVAL_DIR [--sets zh_passage,en_passage] [--sample N] [--out FOLDER]

EVAL_DIR holds `score.py`, whose figures these are, and a folder `<set>/dev` for each set. Halves
are by article: what is tuned on half a is reported on half b. Vectors are kept in build/quality.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import re
import sys
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from quality.corpus import Corpus, Question

    Score = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]

CACHE = Path("build/quality/vectors.sqlite3")
SETS = "zh_passage,zh_passage_hard,en_passage,zh_followup,en_followup,en_multihop,pdf"
# Figure, key in score.py's rows.
MEANS = {
    "correct": "correct",
    "follow-up": "followup_success",
    "evidence": "evidence_complete",
    "precision": "citation_precision",
    "valid": "citation_valid",
    "characters": "answer_chars",
}


def main() -> None:
    """Measure the sets that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m quality")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--sample", type=int, default=0, help="ask every Nth question only")
    parser.add_argument("--out", type=Path, help="where answers are written, one file a set")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kbqa-quality-") as work:
        _set_up(work)
        score = _score_of(options.folder / "score.py")
        for name in options.sets.split(","):
            rows = _measure(options.folder / name / "dev", Path(work), options.sample, score)
            for half in ("all", "a", "b"):
                chosen = [row for row in rows if half in {"all", row["half"]}]
                sys.stdout.write(f"{name:16} {half:3} {_figures(chosen)}\n")
                sys.stdout.flush()
            if options.out:
                options.out.mkdir(parents=True, exist_ok=True)
                lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
                (options.out / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def _set_up(work: str) -> None:
    os.environ.update(  # noqa: TID251 - before the product reads it
        KBQA_ENV_FILE="", KBQA_DATA_DIR=work, DJANGO_SETTINGS_MODULE="kbqa_project.settings"
    )
    import django  # noqa: PLC0415 - the folder comes first

    django.setup()
    from quality.vector_cache import VectorCache  # noqa: PLC0415 - needs the settings

    VectorCache(CACHE).install()


def _score_of(path: Path) -> Score:
    spec = importlib.util.spec_from_file_location("score", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    score: Score = module.score
    return score


def _measure(folder: Path, work: Path, sample: int, score: Score) -> list[dict[str, Any]]:
    from quality.corpus import Corpus, questions  # noqa: PLC0415 - needs the settings

    corpus = Corpus(folder, work)
    asked = questions(folder)[:: sample or 1]
    return asyncio.run(_ask_all(asked, corpus, score))


async def _ask_all(
    asked: Sequence[Question], corpus: Corpus, score: Score
) -> list[dict[str, Any]]:
    rows = []
    for question in asked:
        answer = await _ask(question.row, corpus)
        rows.append(
            score(question.row, answer)
            | {"id": question.row["id"], "half": question.half, "answer": answer["answer"]}
        )
    return rows


async def _ask(row: dict[str, Any], corpus: Corpus) -> dict[str, Any]:
    from apps.agents.context import UserAgentContext  # noqa: PLC0415 - needs the settings
    from apps.agents.events import RunFinished, Turn  # noqa: PLC0415
    from apps.agents.flow import answer_question  # noqa: PLC0415

    history = [Turn(turn["role"], turn["content"]) for turn in row.get("history", [])[-20:]]
    finished = None
    async for event in answer_question(
        row["question"],
        history=history,
        context=UserAgentContext(user_id=uuid.UUID(int=1), username="quality"),
        search=corpus.search,
    ):
        finished = event if isinstance(event, RunFinished) else finished
    if finished is None:
        raise SystemExit(f"question {row['id']} did not end")
    sources = [
        {"doc_id": corpus.doc_ids[s.passage.document_id], "text": s.passage.content}
        for s in finished.sources
    ]
    return {
        "answer": re.sub(r"\[S(\d+)\]", r"[\1]", finished.text),
        "abstained": finished.outcome == "insufficient_evidence",
        "sources": sources,
        "retrieved": sources,
    }


def _figures(rows: Sequence[dict[str, Any]]) -> str:
    answerable = [row for row in rows if not row["unanswerable"]]
    absent = [row for row in rows if row["unanswerable"]]
    figures = {"n": f"{len(rows)}"}
    for name, key in MEANS.items():
        values = [row[key] for row in rows if row.get(key) is not None]
        if values:
            figures[name] = f"{sum(values) / len(values):.3f}"
    if absent:
        figures["refused"] = f"{sum(row['abstained'] for row in absent) / len(absent):.3f}"
    if answerable:
        wrongly = sum(row["abstained"] for row in answerable) / len(answerable)
        figures["wrongly refused"] = f"{wrongly:.3f}"
    return "  ".join(f"{name} {value}" for name, value in figures.items())


if __name__ == "__main__":
    main()
