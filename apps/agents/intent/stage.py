"""Stage 1: where a message goes, and what it asks when read alone."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from pydantic import ValidationError

from apps.agents.errors import InvalidIntentError
from apps.agents.events import IntentResult
from apps.agents.intent.direct_replies import (
    LONGEST_SUMMARY,
    checked_intent,
    direct_reply,
    message_kind,
    standalone_question,
)
from apps.agents.messages import conversation, stage_prompt
from apps.agents.model_calls import ask_embedded, check_not_filtered, reported_reply
from apps.agents.prompts import prompt_config
from apps.agents.trimming import within_context
from apps.llm.extractive.routing import asks_for_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

    from apps.agents.context import RunContext


async def intent_by_rules(run: RunContext) -> IntentResult:
    """Return the result of the stage where the embedded model serves it."""
    return await ask_embedded(run, "intent", partial(_routed, run))


def _routed(run: RunContext) -> IntentResult:
    reply = direct_reply(run)
    return IntentResult(
        route="NEEDS_EXECUTION" if reply is None else "DIRECT_EXECUTION",
        intent_summary=run.question[:LONGEST_SUMMARY],
        assistant_text=reply,
        execution_brief=standalone_question(run) if reply is None else None,
        safety_flags=["prompt_disclosure"] if asks_for_prompt(run.question) else [],
    )


async def recognise_intent(model: BaseChatModel, run: RunContext) -> IntentResult:
    """Return the validated result of the stage.

    Raises:
        InvalidIntentError: the output breaks the contract, also after the repair.
        AppError: the model failed.
    """
    loaded = prompt_config()
    asking = model.bind(response_format={"type": "json_object"}).with_config(
        tags=[loaded.agent("intent").tag]
    )
    prompt = SystemMessage(stage_prompt("intent", run, product=_product(run)))

    async def send(messages: list[BaseMessage]) -> AIMessage:
        with reported_reply(run, "intent"):
            return await asking.ainvoke([prompt, *messages])

    messages = conversation(run)
    for _ in range(loaded.workflow.intent_repairs + 1):
        reply = await within_context(send, messages, stage="intent", run=run)
        check_not_filtered(reply)
        result = _parsed(reply)
        if result is not None:
            return checked_intent(result, run)
        note = loaded.texts.intent_invalid.render(run.user.language)
        messages = [*messages, AIMessage(reply.text), HumanMessage(note)]
    raise InvalidIntentError


def _product(run: RunContext) -> str:
    """Return what the product is where a direct reply may say so; others are refused anyway."""
    if message_kind(run.question) is None:
        return ""
    loaded, language = prompt_config(), run.user.language
    product = loaded.direct_replies.product.render(language)
    return loaded.texts.about_product.render(language, product=product)


def _parsed(reply: AIMessage) -> IntentResult | None:
    """Return the JSON object in the reply, which models like to fence, or None."""
    start, end = reply.text.find("{"), reply.text.rfind("}")
    try:
        return IntentResult.model_validate(json.loads(reply.text[start : end + 1]))
    except (ValueError, ValidationError):
        return None
