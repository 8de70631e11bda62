"""Answers a question from passages in the other language: Chinese from English, or the reverse.

Words say nothing then, similarity has to do. Taken from the centre of each language it tells more:
texts of one language lie close together, whatever they speak of. Nothing is translated, the quoted
sentence stays as it is. Refuses sooner than within one language. Figures: docs/extractive.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from apps.core.text.words import is_foreign, language_of
from apps.llm.extractive.answerability import (
    MOST_MISSING,
    missing_names,
    missing_numbers,
    whole_text,
)
from apps.llm.extractive.ranking import Features, by_words, embedded_text, with_cosines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from apps.core.passages import Passage
    from apps.core.text.words import Language
    from apps.llm.extractive.ranking import Ranked
    from apps.llm.extractive.sentence_vectors import SentenceVectors

SHORTLIST = 32
THRESHOLD: dict[Language, float] = {"zh": 0.31, "en": 0.39}  # of the question's language
MISSING_NAME = 0.05
WEIGHTS = Features(
    cosine=5.0,
    coverage=0.5,  # of numbers and names, nothing else is the same in both languages
    passage_cosine=0.0,
    passage_coverage=0.0,
    rank=0.5,
    kind=0.4,
    context=0.0,
    is_question=-1.0,
    is_cut=-0.8,
    is_labelled=0.0,
    subject=0.0,
)
# Plain sentences of many subjects, the same ones in both languages: their mean is the centre.
PLAIN: dict[Language, tuple[str, ...]] = {
    "zh": (
        "公司每年对全体员工进行一次考核。",
        "该产品可以在室内和室外使用。",
        "这座城市位于河流的北岸。",
        "他出生于一个教师家庭，后来成为一名作家。",
        "会议决定成立一个新的委员会。",
        "申请人应当提交本人签名的表格。",
        "按下按钮，等待指示灯变为绿色。",
        "研究表明，温度对结果有明显的影响。",
        "这种植物生长在海拔较高的山区。",
        "球队在最后一场比赛中取得了胜利。",
        "付款应在收到发票后完成。",
        "该系统由三个部分组成。",
    ),
    "en": (
        "The company reviews all of its employees once a year.",
        "The product can be used both indoors and outdoors.",
        "The city lies on the north bank of the river.",
        "He was born into a family of teachers and later became a writer.",
        "The meeting decided to set up a new committee.",
        "The applicant shall hand in a signed form.",
        "Press the button and wait until the light turns green.",
        "The study shows that temperature has a clear effect on the result.",
        "The plant grows in mountains at higher altitudes.",
        "The team won the last game of the season.",
        "Payment is due after the invoice has been received.",
        "The system consists of three parts.",
    ),
}


def rank_across(
    question: str, passages: Sequence[Passage], vectors: SentenceVectors, *, context: str
) -> list[Ranked]:
    """Return the sentences of the passages in the other language, best first."""
    foreign = [is_foreign(passage.content, question) for passage in passages]
    if not any(foreign):
        return []
    found = by_words(question, passages, standalone=question, context=context)
    shortlist = [item for item in found if foreign[item.sentence.passage_index]][:SHORTLIST]
    if not shortlist:
        return []
    own: Language = language_of(question)
    other: Language = "en" if own == "zh" else "zh"
    texts = [embedded_text(item.sentence, passages, named=True) for item in shortlist]
    sentences = _from_centre(vectors.of_sentences(texts), other, vectors)
    asked = _from_centre(vectors.of_question(question), own, vectors)
    return with_cosines(shortlist, sentences @ asked, WEIGHTS)


def is_sufficient_across(
    question: str, passages: Sequence[Passage], ranked: Sequence[Ranked]
) -> bool:
    """Whether the best sentences in the other language answer the question."""
    if not ranked:
        return False
    return sufficiency_across(question, passages, ranked) >= THRESHOLD[language_of(question)]


def sufficiency_across(
    question: str, passages: Sequence[Passage], ranked: Sequence[Ranked]
) -> float:
    """Return how well the best sentences support an answer; compare with `THRESHOLD`."""
    text = whole_text(passages[ranked[0].sentence.passage_index])
    best = max(item.features.cosine for item in ranked)
    return best - missing_numbers(question, text) - _missing_names(question, text)


def own_lines(standalone: str, question: str) -> str:
    """Return a standalone query without the lines that only quote the other language.

    Such a quotation is near its own passage, whatever is asked now.
    """
    *context, asked = standalone.split("\n")
    return "\n".join([*(line for line in context if not is_foreign(line, question)), asked])


def _missing_names(question: str, text: str) -> float:
    """Return the deduction for names that an English text would spell as the question does.

    A Chinese text may well translate the names of an English question.
    """
    if language_of(question) == "en":
        return 0.0
    latin = [name for name in missing_names(question, text) if language_of(name) == "en"]
    return MISSING_NAME * min(MOST_MISSING, len(latin))


def _from_centre(
    rows: NDArray[np.float32], language: Language, vectors: SentenceVectors
) -> NDArray[np.float32]:
    """Return the vectors as directions from the centre of their language."""
    moved = rows - vectors.of_sentences(PLAIN[language]).mean(axis=0)
    length = np.linalg.norm(moved, axis=-1, keepdims=True)
    return np.asarray(moved / np.maximum(length, np.finfo(np.float32).tiny), dtype=np.float32)
