"""The forms of the files in `config/`: what they must and may hold, part by part."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    create_model,
    model_validator,
)

from apps.agents.prompts.files import Language, Localized, Strict, Text
from apps.llm.endpoints.retries import RetryPolicy

Stage = Literal["intent", "execution", "organization"]

Count = Annotated[int, Field(strict=True, ge=0, le=10)]
Seconds = Annotated[float, Field(strict=True, gt=0, le=3600)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Chars = Annotated[int, Field(strict=True, ge=1, le=100_000)]

_NO_NAME = re.compile(r"[\s<|\\/>]|.{65}")  # vendors refuse it as the name of a message's author
_ESCAPED = re.compile(r"\\.")
_REPEATS = re.compile(r"[*+{]")


def _one_word(name: str) -> str:
    if _NO_NAME.search(name):
        raise ValueError("must be one word of at most 64 characters")
    return name


class AgentForm(Strict):
    """Who an agent is and which tools it may use."""

    name: Annotated[Text, AfterValidator(_one_word)]
    tag: Text
    role: Localized
    goal: Localized
    tools: tuple[str, ...]


class TaskForm(Strict):
    """What a stage is asked to do."""

    description: Localized


class ToolParameter(Strict):
    """One parameter of a tool; the tools that there are take texts."""

    type: Literal["string"]
    description: Localized


class ToolForm(Strict):
    """How a tool presents itself to a model; all parameters are required."""

    description: Localized
    parameters: dict[str, ToolParameter]

    def parameters_model(self, name: str, language: Language) -> type[BaseModel]:
        """Return the schema that models see: one required string per parameter."""
        fields: dict[str, Any] = {
            parameter: (str, Field(description=schema.description.render(language)))
            for parameter, schema in self.parameters.items()
        }
        return create_model(name, **fields)


class ShortCircuit(Strict):
    """Where the flow may end early."""

    stage: Literal["intent"]
    route: Literal["DIRECT_EXECUTION"]


def _falling(shares: tuple[float, ...]) -> tuple[float, ...]:
    if any(later >= earlier for earlier, later in pairwise(shares)):
        raise ValueError("the shares must fall from request to request")
    return shares


KeptShare = Annotated[float, Field(strict=True, ge=0, lt=1)]
Shares = Annotated[tuple[KeptShare, ...], Field(max_length=4), AfterValidator(_falling)]


class ContextTrim(Strict):
    """What is left of a prompt that a model refuses as too long: one share per further request."""

    history_kept: Shares
    sources_kept: Shares


def _compiled(words: object) -> object:
    """Compile what a search never hangs on: a pattern that repeats nothing ends in time."""
    if not isinstance(words, str):
        return words
    if _REPEATS.search(_ESCAPED.sub("", words)):
        raise ValueError("words repeat nothing: leave out *, + and {")
    try:
        pattern = re.compile(words)
    except (re.error, RecursionError):
        raise ValueError("is not a regular expression") from None
    if pattern.search(""):
        raise ValueError("stands in every question")
    return pattern


WordPattern = Annotated[re.Pattern[str], BeforeValidator(_compiled)]


class LocalizedPattern(Strict):
    """The words of questions in each language, as a regular expression."""

    zh: WordPattern
    en: WordPattern


class LocalizedShare(Strict):
    """A share from 0 to 1 for questions in each language."""

    zh: Share
    en: Share


class SimpleQuestion(Strict):
    """Which questions one search may answer."""

    most_terms: Annotated[int, Field(strict=True, ge=1, le=1000)]
    compound_words: LocalizedPattern


class SufficientEvidence(Strict):
    """When the best `passages` of a search are evidence enough."""

    passages: Annotated[int, Field(strict=True, ge=1, le=10)]
    least_coverage: LocalizedShare


class EarlySearchPolicy(Strict):
    """What the first search brings in, and when it ends the research."""

    remembered_passages: Count
    simple_question: SimpleQuestion
    sufficient_evidence: SufficientEvidence


class StageSeconds(Strict):
    """A time for each stage."""

    intent: Seconds
    execution: Seconds
    organization: Seconds


class EndpointRetries(Strict):
    """How often and when a request to an endpoint is sent again."""

    further_tries: Count
    first_delay_s: Seconds
    longest_delay_s: Seconds

    @property
    def policy(self) -> RetryPolicy:
        """The same as the models take it."""
        return RetryPolicy(self.further_tries, self.first_delay_s, self.longest_delay_s)


class Workflow(Strict):
    """Order and limits of the flow."""

    stages: tuple[Stage, ...]
    short_circuit: ShortCircuit
    direct_max_chars: Chars
    intent_repairs: Count
    malformed_call_retries: Count
    research_reminders: Count
    context_trim: ContextTrim
    insufficient_marker: Annotated[str, Field(pattern=r"^[A-Z]+(_[A-Z]+)+$")]
    early_search: EarlySearchPolicy
    stage_timeout_s: StageSeconds
    endpoint_retries: EndpointRetries
    research_model_calls: Annotated[int, Field(strict=True, ge=1, le=10)]


class Texts(Strict):
    """Fixed texts for people and models."""

    refusal: Localized
    part_refusal: Localized
    execution_summary: Localized
    report_brief: Localized
    partial_rule: Localized
    partial_rule_open: Localized
    search_result: Localized
    search_nothing: Localized
    evidence: Localized
    research_summary: Localized
    about_product: Localized
    research_done: Localized
    call_malformed: Localized
    intent_invalid: Localized


class Agents(Strict):
    """The agents by stage."""

    intent: AgentForm
    execution: AgentForm
    organization: AgentForm


class Tasks(Strict):
    """The tasks by stage."""

    intent: TaskForm
    execution: TaskForm
    organization: TaskForm


class Tools(Strict):
    """The tools by name."""

    search_knowledge_base: ToolForm
    research: ToolForm


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


class PromptConfig(Strict):
    """Everything in `config/`, valid."""

    agents: Agents
    tasks: Tasks
    tools: Tools
    workflow: Workflow
    texts: Texts
    direct_replies: DirectReplyWords
    prompts: dict[str, Localized]

    def agent(self, stage: Stage) -> AgentForm:
        """Return the agent of a stage."""
        form: AgentForm = getattr(self.agents, stage)
        return form

    def system_prompt(
        self, stage: Stage, language: Language, *, profile: str, **places: object
    ) -> str:
        """Return the system prompt of a stage; `places` fills those of its task prompt.

        What all people share stands first: vendors keep the beginnings of prompts.
        """
        agent = self.agent(stage)
        task: Localized = getattr(self.tasks, stage).description
        body = self.prompts[stage].render(language, task=task.render(language), **places)
        return self.prompts["system"].render(
            language,
            profile=profile,
            role=agent.role.render(language),
            goal=agent.goal.render(language),
            rules=body.strip(),
        )
