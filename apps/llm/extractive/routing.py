"""What surrounds a question or refers to the last answer: greetings, thanks, "say that again".

Whether a message as a whole is small talk is for the flow to tell.
"""

from __future__ import annotations

import re
from typing import Literal

from apps.core.text.words import folded

Talk = Literal["greeting", "thanks", "farewell", "assent"]

_MARKS = ",，。.!！?？~～;；、…:：\n"
_PARTICLES = "了呢吗呀啊吧嘛 "
_JOINING = ",，、;；:： "
_PART = re.compile(f"[^{_MARKS}]+")
_PLEASE = frozenset({"please", "请", "麻烦", "麻烦你", "麻烦了"})
_FORMS: dict[Talk, tuple[str, ...]] = {
    "assent": (
        "好的?[呢吧啊呀]?|行|可以|没问题|明白了?|知道了|懂了|了解了?|收到|[嗯哦]+|没事了?",
        "没有了|不用了",
        "ok(?:ay)?|got it|i see|understood|great|cool|perfect|nice|all ?right|alright",
        "sure|no problem|that'?s all|never ?mind",
    ),
    "farewell": (
        "再见|拜拜|回头见|下次见|晚安",
        "good ?bye|bye(?: bye)?|good night|take care|see you(?: later| soon)?",
    ),
    "greeting": (
        "(?:你|您|大家)好[啊呀哦吗]?|哈喽|嗨+|早安|在吗|在不在|很高兴认识你|最近好吗",
        "(?:早上|上午|中午|下午|晚上)好",
        "(?:hello|hi|hey)(?: there| everyone)?|greetings|nice to meet you",
        "good (?:morning|afternoon|evening|day)|how are you(?: doing)?(?: today)?",
    ),
    "thanks": (
        "(?:非常|十分|太|多)?(?:感谢|谢谢|谢了|多谢|谢啦)(?:你|您|了|啦|啊)?"
        "(?:的?(?:帮助|回答|解答))?",
        "辛苦(?:你|您)?了",
        "(?:many )?thanks?(?: you)?(?: so much| very much| a lot)?|thx|cheers|much appreciated",
        "thank you(?: (?:very|so) much)? for (?:your|the) (?:help|answer)",
    ),
}
_TALK = {kind: re.compile(rf"(?:{'|'.join(forms)})\Z") for kind, forms in _FORMS.items()}
_EARLIER = "(?:刚才|刚刚|刚|之前|以前|先前|前面|上面|上次|都|一共|总共|到目前为止|目前为止)的?"
_AGAIN = (
    " again| once more| one more time| please| (?:more )?(?:simply|clearly|briefly|shortly)"
    "| differently| (?:in )?another way| in (?:simpler|simple|other|plain|fewer) (?:words|terms)"
    "| in (?:one|a|two|a few) (?:short )?sentences?"
)
_THAT = "that|it|this|the above|(?:your|the)(?: last| previous| above)? answer"
_ASKS_AGAIN = re.compile(
    "|".join((
        "(?:请|麻烦|你|您|能不能|能否|可不可以|可以|能|帮我|给我){0,4}(?:"
        "(?:再|重新)(?:说|讲|答|回答|解释|重复|复述|总结|来)(?:一[遍次下])?|重[复说讲](?:一[遍次下])?"
        "|换(?:个|一个|一种|种)(?:说法|方式|表达|讲法)(?:[说讲]|解释|表达)?(?:一[遍次下])?"
        "|(?:用(?:一|两|几)句话|用?更?(?:简单|简短|通俗)(?:一?[点些])?的?(?:话|语言|方式)?)?(?:来)?"
        "(?:再)?(?:简单|简要|简短)?地?(?:总结|概括|归纳|复述|重复|解释|说明|[说讲])(?:一[遍次下]|下)?"
        f"(?:{_EARLIER}|你的?|上述的?|以上的?|上一个|这个|那个){{0,3}}(?:回答|答案|内容|话)?"
        "|(?:[说讲]|解释)得?(?:再|更)?(?:简单|通俗|简短|清楚|明白|详细|具体)(?:一?[点些])?"
        "|(?:再|更)?(?:简单|简短|通俗)一?[点些]"
        ")",
        f"(?:你的?)?(?:{_EARLIER}|上一个){{1,2}}(?:回答|答案)(?:是(?:什么|啥))",
        "(?:我?没|我?不太?|我?还?没)(?:听|看)?(?:清楚?|懂|明白)",
        "(?:(?:please|can you|could you|would you|just) ){0,3}(?:"
        f"(?:say|repeat|explain|tell me|show me|give me) (?:{_THAT})(?:{_AGAIN}){{0,2}}"
        f"|repeat(?:{_AGAIN}){{0,2}}"
        f"|(?:rephrase|reword|simplify|shorten|summari[sz]e|paraphrase|recap)(?: (?:{_THAT}))?"
        f"(?:{_AGAIN}){{0,2}})",
        "(?:once|one time|one) more(?: time)?|once again|again|come again",
        "pardon(?: me)?|in other words",
        "what (?:was|is) (?:your|the) (?:last|previous) answer|what did you (?:just )?answer",
        "i (?:did not|didn'?t|do not|don'?t) (?:understand|get)(?: that| it| this)?",
    ))
)  # fmt: skip
_ASKING = (
    "what|who|whose|how|when|where|which|why|is|are|was|were|do|does|did"
    "|can|could|please|i|and|tell"
)
_OPENING = re.compile(  # "Hello Kitty" is no greeting
    rf"\s*(?:{'|'.join(_FORMS['greeting'])})"
    rf"(?:(?<![a-z])\s+(?=\S)|\s+(?=(?:{_ASKING})\b)|(?=请问))",
    re.IGNORECASE,
)
_ABOUT_PROMPT = re.compile(
    "|".join((
        "(?:输出|显示|告诉|说出|打印|重复|泄露|展示|公布|是).{0,12}(?:系统提示|提示词|初始指令|内部指令)",
        "(?:reveal|show|print|repeat|output|tell me|give me|what is|what's).{0,20}"
        "(?:system prompt|your (?:prompt|instructions))",
    ))
)  # fmt: skip
MAX_TALK_CHARS = 60


def asks_again(message: str) -> bool:
    """Whether the message only wants the last answer once more, repeated or in other words."""
    return bool(_ASKS_AGAIN.fullmatch(_telling(message)))


def without_courtesies(message: str) -> str:
    """Return the message without the greeting before and the thanks around what it asks.

    Small talk stays as it is. An assent ("ok, and …") stays as well: it points back.
    """
    parts = list(_PART.finditer(message))
    telling = [i for i, part in enumerate(parts) if not _is_courtesy(part.group())]
    if not telling:
        return message
    first, last = telling[0], telling[-1]
    if last - first == len(parts) - 1:
        return _without_opening(message)
    end = parts[last + 1].start() if last + 1 < len(parts) else len(message)
    asked = message[parts[first].start() : end].strip().rstrip(_JOINING)
    return _without_opening(asked)


def _without_opening(message: str) -> str:
    """Return the message without a greeting that no punctuation divides from it."""
    opening = _OPENING.match(message)
    return message[opening.end() :] if opening else message


def _is_courtesy(part: str) -> bool:
    return not part.strip() or _talk_kind(folded(part).strip()) in {"greeting", "thanks"}


def _telling(message: str) -> str:
    """Return the only part of a message that is no small talk, "" when there are more or none."""
    telling = [part for part in _parts(message) if not _talk_kind(part) and part not in _PLEASE]
    is_short = len(telling) == 1 and len(telling[0]) <= MAX_TALK_CHARS
    return telling[0].rstrip(_PARTICLES) if is_short else ""


def _parts(message: str) -> list[str]:
    """Return what stands between the punctuation marks of a message."""
    return [part.strip() for part in re.split(f"[{_MARKS}]+", folded(message)) if part.strip()]


def asks_for_prompt(question: str) -> bool:
    """Whether the message asks for the instructions that a model is given."""
    return bool(_ABOUT_PROMPT.search(folded(question)))


def _talk_kind(part: str) -> Talk | None:
    return next((kind for kind, pattern in _TALK.items() if pattern.match(part)), None)
