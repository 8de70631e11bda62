"""The form of `direct_replies.yaml`: which messages and replies need no documents."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from apps.agents.prompts.texts import Localized, Strict, Text

Talk = Literal["greeting", "thanks", "farewell", "assent", "identity"]
Kind = Talk | Literal["product", "conversation", "instructions"]


def _split(listed: object) -> object:
    if not isinstance(listed, str):
        return listed
    return tuple(phrase.strip() for phrase in listed.split(",") if phrase.strip())


Phrases = Annotated[tuple[str, ...], BeforeValidator(_split)]  # "hello, good morning, 你好"


class TalkWords(Strict):
    """A part of a message is of a kind when it has a cue and else only these words."""

    cues: Phrases
    words: Phrases


class MessageWords(Strict):
    """The kinds of messages, in rising order of what they ask for, and what stands in all."""

    fillers: Phrases
    thanks: TalkWords
    farewell: TalkWords
    greeting: TalkWords
    assent: TalkWords
    identity: TalkWords
    product: TalkWords
    conversation: TalkWords
    instructions: TalkWords


class ReplyWords(Strict):
    """What replies may say.

    `never` are pieces of text that no reply has; `claims` about the documents need a condition.
    """

    never: Phrases
    courtesy: Phrases
    claims: Phrases
    conditions: Phrases
    agreement: Phrases
    conversation: Phrases


class Attribution(Strict):
    """What tells whose words a sentence repeats."""

    speakers: Phrases
    sayings: Phrases
    headings: Phrases


class FixedReplies(Strict):
    """What is said instead of a refused reply, per kind of message."""

    greeting: Localized
    thanks: Localized
    farewell: Localized
    assent: Localized
    identity: Localized
    instructions: Localized
    conversation: Localized
    nothing_asked: Localized


class DirectReplyWords(Strict):
    """The whole file; the two rows of characters correspond."""

    product: Localized
    fixed_replies: FixedReplies
    recalled_messages: Annotated[int, Field(strict=True, ge=1, le=20)]
    recalled_chars: Annotated[int, Field(strict=True, ge=1, le=1000)]
    messages: MessageWords
    introductions: Phrases
    replies: ReplyWords
    attribution: Attribution
    traditional: Text
    simplified: Text

    @model_validator(mode="after")
    def _check_characters(self) -> Self:
        if len(self.traditional) != len(self.simplified):
            raise ValueError("traditional and simplified must have as many characters")
        return self
