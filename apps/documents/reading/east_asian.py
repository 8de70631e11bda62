"""Which East Asian encoding a text has: decoded strictly, scored by how probable it reads.

Only GB18030 and Big5 may be chosen. Korean and Japanese encodings take part as rivals, so that a
file that may be one of them is refused instead of being read as wrong Chinese.
"""

from __future__ import annotations

import codecs
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.documents.reading import characters

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Candidate:
    """An encoding: the `name` to show, its codec, the standard that lists its common hanzi."""

    name: str
    codec: str
    standard: str
    choosable: bool = False


CANDIDATES = (
    Candidate("gb18030", "gb18030", "gb2312", choosable=True),
    Candidate("big5", "cp950", "big5", choosable=True),
    Candidate("big5", "big5hkscs", "big5", choosable=True),
    Candidate("euc-kr", "cp949", "gb2312"),
    Candidate("shift-jis", "cp932", "shift_jis"),
    Candidate("euc-jp", "euc_jp", "shift_jis"),
)
MIN_LOG_ODDS = 4.0  # the best reading must be about 50 times as probable as the next
CHINESE_LOG_PRIOR = 3.0  # about 20 to 1: few of this product's files are Korean or Japanese
MIN_MEAN_LOG = -9.5  # running text reaches -7.6, lists of names -9.2, chance readings -9.6 to -13
MIN_CHARS_BEFORE_CUT = 20  # non-ASCII characters that excuse an incomplete one at the end


@dataclass(frozen=True, slots=True)
class Reading:
    """A strict decoding of the whole text: its log probability, also per non-ASCII character.

    `foreign_chars` counts the latter, `cut_bytes` is the length of an incomplete one at the end.
    """

    candidate: Candidate
    log_probability: float
    mean_log: float
    foreign_chars: int
    cut_bytes: int


def best_reading(blocks: Iterable[bytes]) -> Reading | None:
    """Return the one plausible Chinese reading of the bytes, or None when there is no such."""
    readings = sorted(_strict_readings(blocks), key=lambda r: -r.log_probability)
    if not readings:
        return None
    best = readings[0]
    if not best.candidate.choosable or best.mean_log < MIN_MEAN_LOG:
        return None
    if best.cut_bytes and best.foreign_chars < MIN_CHARS_BEFORE_CUT:
        return None
    rivals = (r for r in readings if r.candidate.name != best.candidate.name)
    rival = next(rivals, None)
    if rival and best.log_probability - rival.log_probability < MIN_LOG_ODDS:
        return None
    return best


def _strict_readings(blocks: Iterable[bytes]) -> list[Reading]:
    """Decode the bytes with every candidate side by side, block by block."""
    decoders = {c: codecs.getincrementaldecoder(c.codec)("strict") for c in CANDIDATES}
    counts: dict[Candidate, Counter[str]] = {c: Counter() for c in CANDIDATES}
    for block in blocks:
        for candidate, decoder in list(decoders.items()):
            try:
                counts[candidate].update(decoder.decode(block))
            except UnicodeDecodeError:
                del decoders[candidate]
        if not decoders:
            return []
    return [
        _reading(candidate, counts[candidate], cut_bytes=len(decoder.getstate()[0]))
        for candidate, decoder in decoders.items()
    ]


def _reading(candidate: Candidate, counts: Counter[str], *, cut_bytes: int) -> Reading:
    foreign = {char: n for char, n in counts.items() if not char.isascii()}
    foreign_chars = sum(foreign.values())
    foreign_log = characters.log_likelihood(
        foreign, standard=candidate.standard, chinese=candidate.choosable
    )
    ascii_log = characters.LOG_ASCII * (counts.total() - foreign_chars)
    prior = CHINESE_LOG_PRIOR if candidate.choosable else 0.0
    return Reading(
        candidate,
        log_probability=foreign_log + ascii_log + prior,
        mean_log=foreign_log / foreign_chars if foreign_chars else characters.LOG_OTHER,
        foreign_chars=foreign_chars,
        cut_bytes=cut_bytes,
    )
