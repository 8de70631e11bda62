"""Keeps DIRECT_EXECUTION honest: what stage 1 answers without the documents states no facts.

Two gates, whatever the model says: the message asks for nothing but small talk, the product or the
conversation; and the reply is made of words of small talk, of the product's description and, about
the conversation, of the conversation. The words stand in `direct_replies.yaml`. Refuses to judge
meaning: what it does not know goes to the documents (ADR 11).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

from apps.agents.citations import without_labels
from apps.agents.events import IntentResult
from apps.agents.intent.wording import holds, is_covered, is_han, runs, tokens, vocabulary
from apps.agents.prompts import LANGUAGES, prompt_config
from apps.agents.prompts.forms import Kind
from apps.core.text.words import telling_terms
from apps.llm.extractive.followups import points_back, standalone_query
from apps.llm.extractive.routing import asks_again, asks_for_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.agents.context import RunContext
    from apps.agents.intent.wording import Tokens
    from apps.agents.prompts import Language, Localized
    from apps.agents.prompts.forms import TalkWords

type Phrases = frozenset[Tokens]

PRODUCT_TERMS = 2  # "how do I use this app" has them, "how does it work" does not
REJECTED = "direct_reply_rejected"  # the safety flag of a reply that went to execution
REPLACED = "direct_reply_replaced"  # ... and of one that the fixed reply stands for

# From the least to the most telling: "thanks! what can you do?" asks about the product.
_RISING: tuple[Kind, ...] = (
    *("assent", "farewell", "greeting", "thanks"),
    *("identity", "product", "conversation", "instructions"),
)
# A part of a message is of the first of these kinds that covers it.
_TRIED: tuple[Kind, ...] = ("thanks", "farewell", "greeting", "assent", *_RISING[4:-1])
_WITH_AGREEMENT = frozenset[Kind]({"identity", "product", "conversation"})
_PART = re.compile(r"[^,.!?;:~\n，。！？；：、…～]+[?？]?")
_SENTENCE = re.compile(r"[^.!?;。！？；…\n]+[.!?;。！？；…]*")
_LIST_MARK = re.compile(r"\s*(?:[-*•>]|#+|\d{1,2}[.)、）])\s*(?=\S)")
_OPENING = re.compile(r"[:：\"“「『]")
LONGEST_SUMMARY = 100  # characters
_LONGEST_HAN_NAME, _LONGEST_NAME = 4, 2  # tokens of an introduced name


@dataclass(frozen=True, slots=True)
class _Rule:
    """The words of the configuration as vocabularies."""

    same: dict[int, int]
    fillers: Phrases
    cues: dict[Kind, Phrases]
    parts: dict[Kind, Phrases]
    introductions: Phrases
    never: tuple[str, ...]
    courtesy: Phrases
    claims: Phrases
    conditions: Phrases
    agreement: Phrases
    conversation: Phrases
    speakers: Phrases
    sayings: Phrases
    headings: Phrases

    @property
    def known(self) -> Phrases:
        """All words of replies: none of them is a name."""
        return self.courtesy | self.agreement | self.conversation


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of a reply."""

    row: Tokens
    text: str
    begins_line: bool
    is_item: bool


def checked_intent(result: IntentResult, run: RunContext) -> IntentResult:
    """Return `result` whole, or what becomes of it when its direct reply is not allowed.

    A reply to small talk or about product or conversation is replaced by a fixed one; everything
    else is searched for.
    """
    summary = result.intent_summary.strip() or run.question[:LONGEST_SUMMARY]
    result = result.model_copy(update={"intent_summary": summary})
    brief = (result.execution_brief or "").strip() or run.question
    if result.route == "NEEDS_EXECUTION":
        return result.model_copy(update={"execution_brief": brief})
    if is_allowed(result.assistant_text or "", run):
        return result
    if fixed := _fixed_reply(run):
        return result.model_copy(
            update={
                "assistant_text": fixed,
                "safety_flags": [*result.safety_flags, REPLACED],
            }
        )
    return IntentResult(
        route="NEEDS_EXECUTION",
        intent_summary=summary,
        execution_brief=brief,
        safety_flags=[*result.safety_flags, REJECTED],
    )


def direct_reply(run: RunContext) -> str | None:
    """Return the fixed reply to a message that needs no documents; no model judges it.

    So it is stricter than the gates: in a conversation "how does it work?" is no question about
    the product, and the mention of a prompt does not ask for ours.
    """
    replies = prompt_config().direct_replies.fixed_replies
    language = run.user.language_for(run.question)
    if asks_for_prompt(run.question):
        return replies.instructions.render(language)
    if asks_again(run.question):
        return None if _last_question(run) is not None else replies.nothing_asked.render(language)
    kind = message_kind(run.question)
    if kind in ("identity", "product") and run.history and points_back(run.question):
        names_product = len(telling_terms(run.question)) >= PRODUCT_TERMS
        return _fixed_reply(run) if names_product else None
    return _fixed_reply(run)


def standalone_question(run: RunContext) -> str:
    """Return what to search for; "say that again" stands for the question before it."""
    question, said = run.question, run.said
    place = _last_question(run) if asks_again(question) else None
    if place is not None:
        question, said = said[place][1], said[:place]
    return standalone_query(question, said)


def _last_question(run: RunContext) -> int | None:
    """Return the place of the last message that asked the documents."""
    for place in reversed(range(len(run.history))):
        turn = run.history[place]
        if turn.role == "user" and not asks_again(turn.content):
            then = replace(run, question=turn.content, history=run.history[:place])
            if direct_reply(then) is None:
                return place
    return None


def is_allowed(reply: str, run: RunContext) -> bool:
    """Whether `reply` may answer the message of the run without the documents."""
    rule = _rule()
    kind = message_kind(run.question)
    if kind is None or len(reply) > prompt_config().workflow.direct_max_chars:
        return False
    if without_labels(reply) != reply or any(piece in reply for piece in rule.never):
        return False
    first = further = rule.courtesy | _names(run)
    if kind in _WITH_AGREEMENT:
        first = first | rule.agreement
    if kind == "conversation":
        return _is_recollection(reply, run, first | rule.conversation, further | rule.conversation)
    allowed = (first if number == 0 else further for number in count())
    pairs = zip(_sentences(reply), allowed, strict=False)
    return all(_is_made_of(said.row, words) for said, words in pairs)


def message_kind(message: str) -> Kind | None:
    """Return what the message asks for, None if it may be something for the documents."""
    rule = _rule()
    if len(message) > prompt_config().workflow.direct_max_chars:
        return None
    row = tokens(message, rule.same)
    if holds(row, rule.cues["instructions"]):
        return "instructions"
    if not row:
        return "assent" if any(unicodedata.category(sign) == "So" for sign in message) else None
    telling: list[Kind] = []
    for part in _parts(message):
        if kind := _part_kind(part):
            telling.append(kind)
        elif not is_covered(part, rule.fillers):
            return None
    return max(telling, key=_RISING.index, default=None)


def _part_kind(part: Tokens) -> Kind | None:
    rule = _rule()
    covering = (
        kind
        for kind in _TRIED
        if holds(part, rule.cues[kind]) and is_covered(part, rule.parts[kind])
    )
    return next(covering, "greeting" if _introduced(part) else None)


def _is_recollection(reply: str, run: RunContext, first: Phrases, further: Phrases) -> bool:
    """Whether words of the earlier messages stand only where the reply says whose they are."""
    rule = _rule()
    earlier = _earlier(reply, run)
    is_opened = is_after_colon = False
    words = first
    for said in _sentences(reply):
        if said.begins_line and not said.is_item and not is_after_colon:
            is_opened = False
        is_attributed = holds(said.row, rule.headings) or (
            holds(said.row, rule.speakers) and holds(said.row, rule.sayings)
        )
        if not _is_made_of(said.row, words):
            is_told = is_attributed or (is_opened and (said.is_item or _is_quoted(said.row, run)))
            if not is_told or not is_covered(said.row, words | earlier):
                return False
        is_opened = is_opened or (is_attributed and bool(_OPENING.search(said.text)))
        is_after_colon = said.text.rstrip("* _").endswith((":", "："))
        words = further
    return True


def _is_made_of(row: Tokens, words: Phrases) -> bool:
    """Whether a sentence has no other words, and is no verdict or claim out of place."""
    rule = _rule()
    if is_covered(row, rule.agreement):
        return rule.agreement <= words
    is_claim = holds(row, rule.claims) and not holds(row, rule.conditions)
    return not is_claim and is_covered(row, words)


def _is_quoted(row: Tokens, run: RunContext) -> bool:
    """Whether an earlier message says just this, but for a connecting word before it."""
    said = [
        " ".join(("", *_without_marks(tokens(t.content, _rule().same)), "")) for t in run.history
    ]
    return any(
        f" {' '.join(row[start:])} " in text
        for start in (0, 1)
        if is_covered(row[:start], _rule().courtesy)
        for text in said
    )


def _fixed_reply(run: RunContext) -> str | None:
    """Return what is said in place of a refused reply, None where the documents must answer."""
    words = prompt_config().direct_replies
    language = run.user.language_for(run.question)
    kind = message_kind(run.question)
    if kind == "conversation":
        return _recalled(run, language)
    if kind == "product":
        return words.product.render(language)
    if kind is None or kind == "instructions":
        return None
    fixed: Localized = getattr(words.fixed_replies, kind)
    return fixed.render(language)


def _recalled(run: RunContext, language: Language) -> str:
    words = prompt_config().direct_replies
    asked = [turn.content for turn in run.history if turn.role == "user"]
    if not asked:
        return words.fixed_replies.nothing_asked.render(language)
    recent = (without_labels(" ".join(text.split())) for text in asked[-words.recalled_messages :])
    questions = "; ".join(_beginning(text, words.recalled_chars) for text in recent)
    return words.fixed_replies.conversation.render(language, questions=questions)


def _beginning(text: str, longest: int) -> str:
    """Return the beginning of `text`; a word that the cut would halve is left out."""
    is_halved = text[longest : longest + 1].isascii() and len(text) > longest
    return re.sub(r"[A-Za-z0-9]+\Z", "", text[:longest]) if is_halved else text[:longest]


def _parts(message: str) -> Iterator[Tokens]:
    rows = (tokens(part, _rule().same) for part in _PART.findall(message))
    return filter(None, rows)


def _sentences(reply: str) -> Iterator[_Said]:
    """Yield the sentences that have words, without question marks."""
    same = _rule().same
    for line in reply.splitlines():
        mark = _LIST_MARK.match(line)
        begins_line = True
        for sentence in _SENTENCE.findall(line[mark.end() :] if mark else line):
            if row := _without_marks(tokens(sentence, same)):
                yield _Said(row, sentence, begins_line=begins_line, is_item=bool(mark))
                begins_line = False


def _without_marks(row: Tokens) -> Tokens:
    return tuple(word for word in row if word != "?")


def _earlier(reply: str, run: RunContext) -> Phrases:
    """Return what the reply may repeat of the earlier messages."""
    same = _rule().same
    said = frozenset(tokens(reply, same))
    rows = (tokens(turn.content, same) for turn in run.history)
    return frozenset().union(*(runs(row, said) for row in rows))


def _names(run: RunContext) -> Phrases:
    """Return the names of the asker: of the profile and of the message."""
    names = {tokens(run.user.username, _rule().same)}
    return frozenset(filter(None, names.union(map(_introduced, _parts(run.question)))))


def _introduced(part: Tokens) -> Tokens:
    """Return the name that a part of a message gives, or nothing."""
    for phrase in _rule().introductions:
        name = part[len(phrase) :]
        if part[: len(phrase)] == phrase and name and "?" not in name:
            longest = _LONGEST_HAN_NAME if is_han(name[0]) else _LONGEST_NAME
            is_name = len(name) <= longest and not is_covered(name, _rule().known)
            return name if is_name else ()
    return ()


@lru_cache(maxsize=1)
def _rule() -> _Rule:
    words = prompt_config().direct_replies
    same = str.maketrans(words.traditional, words.simplified)
    fillers = vocabulary(words.messages.fillers, same)
    cues: dict[Kind, Phrases] = {}
    parts: dict[Kind, Phrases] = {}
    for kind in _RISING:
        talk: TalkWords = getattr(words.messages, kind)
        cues[kind] = vocabulary(talk.cues, same)
        parts[kind] = cues[kind] | vocabulary(talk.words, same) | fillers
    described = (runs(tokens(words.product.render(lang), same)) for lang in LANGUAGES)
    return _Rule(
        same=same,
        fillers=fillers,
        cues=cues,
        parts=parts,
        introductions=vocabulary(words.introductions, same),
        never=words.replies.never,
        courtesy=vocabulary(words.replies.courtesy, same).union(*described),
        claims=vocabulary(words.replies.claims, same),
        conditions=vocabulary(words.replies.conditions, same),
        agreement=vocabulary(words.replies.agreement, same),
        conversation=vocabulary(words.replies.conversation, same),
        speakers=vocabulary(words.attribution.speakers, same),
        sayings=vocabulary(words.attribution.sayings, same),
        headings=vocabulary(words.attribution.headings, same),
    )
