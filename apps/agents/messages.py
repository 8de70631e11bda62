"""Turns values into what a model reads: prompts, messages and passages as data.

The only place where the flow's values become messages. Document text comes as harmless data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from apps.agents.prompts import prompt_config
from apps.agents.prompts.prompt_safety import as_data
from apps.core.text.comparable import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage

    from apps.agents.context import RunContext
    from apps.agents.events import Stage
    from apps.core.passages import Evidence, Passage, Search

SEARCH_TOOL = "search_knowledge_base"
RESEARCH_TOOL = "research"
FIRST_CALL_PREFIX = "first_"
LONGEST_SUMMARY = 2000  # characters


def stage_prompt(stage: Stage, run: RunContext, *, product: str = "") -> str:
    """Return the system prompt of `stage` in the asker's language, with the profile as data.

    `product` is what the intent stage may say of the product.
    """
    loaded, language = prompt_config(), run.user.language
    texts = loaded.texts
    partial = texts.partial_rule_open if run.is_research_open else texts.partial_rule
    places: dict[Stage, dict[str, object]] = {
        "intent": {"product": product},
        "execution": {"max_searches": run.limits.max_searches},
        "organization": {
            "marker": loaded.workflow.insufficient_marker,
            "partial_rule": partial.render(language),
        },
    }
    return loaded.system_prompt(stage, language, profile=run.user.profile_json, **places[stage])


def conversation(run: RunContext) -> list[BaseMessage]:
    """Return the earlier turns and the question; old answers come without labels."""
    earlier = [
        HumanMessage(turn.content) if turn.role == "user" else AIMessage(as_data(turn.content))
        for turn in run.history
    ]
    return [*earlier, HumanMessage(run.question)]


def first_search(search: Search, run: RunContext) -> list[BaseMessage]:
    """Return a search that no model asked for as an answered call of the research agent."""
    call_id = f"{FIRST_CALL_PREFIX}{uuid4().hex}"
    content = search_content(search.passages, run)
    answer = ToolMessage(content, tool_call_id=call_id, name=SEARCH_TOOL, artifact=search.passages)
    return [_call(SEARCH_TOOL, search.query, call_id), answer]


def is_first_search(message: AIMessage) -> bool:
    """Whether the message is the call of `first_search`, which no model made."""
    return any((call["id"] or "").startswith(FIRST_CALL_PREFIX) for call in message.tool_calls)


def answered_research(evidence: Evidence, run: RunContext) -> list[BaseMessage]:
    """Return the evidence as an answered call of the main agent."""
    call_id = f"call_{uuid4().hex}"
    content = evidence_content(evidence, run)
    answer = ToolMessage(content, tool_call_id=call_id, name=RESEARCH_TOOL, artifact=evidence)
    return [_call(RESEARCH_TOOL, evidence.question, call_id), answer]


def search_content(passages: Sequence[Passage], run: RunContext) -> str:
    """Return what a model reads of a search's result: the passages as data."""
    texts, language = prompt_config().texts, run.user.language
    if not passages:
        return texts.search_nothing.render(language)
    return texts.search_result.render(
        language, count=len(passages), passages=passage_block(passages)
    )


def evidence_content(evidence: Evidence, run: RunContext) -> str:
    """Return what the main agent reads: summary, numbered passages as data, usable labels."""
    labels = [source.label for source in evidence.sources]
    texts, language = prompt_config().texts, run.user.language
    said = as_data(evidence.summary)[:LONGEST_SUMMARY]
    return texts.evidence.render(
        language,
        summary=texts.research_summary.render(language, summary=said) if said else "",
        passages=passage_block([source.passage for source in evidence.sources], labels),
        labels=" ".join(f"[{label}]" for label in labels),
    )


def passage_block(passages: Sequence[Passage], labels: Sequence[str] | None = None) -> str:
    """Return passages as data, with labels if given; without forged labels and delimiters."""
    names = [f"[{label}]" for label in labels or ()] or ["-"] * len(passages)
    return "\n\n".join(
        f"{name} {source_name(passage)}\n{as_data(visible(passage.content))}"
        for name, passage in zip(names, passages, strict=True)
    )


def source_name(passage: Passage) -> str:
    """Return where a passage stands, for models: file, page and headings on one line."""
    page = f"p. {passage.page_number}" if passage.page_number else ""
    parts = (passage.filename, page, passage.heading_path)
    return as_data(" · ".join(part for part in parts if part)).replace("\n", " ")


def _call(tool: str, query: str, call_id: str) -> AIMessage:
    call = {"name": tool, "args": {"query": query}, "id": call_id, "type": "tool_call"}
    return AIMessage(content="", tool_calls=[call])
