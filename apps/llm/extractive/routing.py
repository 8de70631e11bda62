"""Tells small talk and questions about the conversation or the product from questions of fact.

Only a message that is small talk as a whole is answered directly, with a fixed text. Everything
else goes to the documents: a wrong "direct" hides an answer, a wrong search costs a second.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from apps.core.text.words import folded, language_of
from apps.llm.extractive.sentences import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.text.words import Language

Talk = Literal["greeting", "thanks", "farewell", "assent", "about_product"]

_MARKS = ",，。.!！?？~～;；、…:：\n"
_PARTICLES = "了呢吗呀啊吧嘛 "
_JOINING = ",，、;；:： "
_PART = re.compile(f"[^{_MARKS}]+")
_PLEASE = frozenset({"please", "请", "麻烦", "麻烦你", "麻烦了"})
# In rising order of what a part tells: "hi, what can you do?" asks about the product.
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
    "about_product": (
        "(?:请问)?(?:你|您)(?:是谁|叫什么(?:名字)?)",
        "(?:请问)?(?:你|您)是(?:什么|哪个)?(?:模型|机器人|助手|ai|人工智能)?",
        "(?:请问)?(?:你|您)(?:能|会|可以|都会|都能)(?:帮我)?(?:做|干)?(?:些|点)?什么(?:事情?)?",
        "(?:你|您)有(?:什么|哪些)(?:功能|用处?|能力)",
        "(?:请)?(?:自我介绍|介绍(?:一下)?(?:你|您)?自己)(?:一下|吧)?",
        "(?:请问)?怎么(?:使用|用)(?:你|这个(?:系统|助手|工具|产品))?|(?:使用)?(?:帮助|说明)|help",
        "who are you|what are you|what(?:'s| is) your name|introduce yourself",
        "what can you do(?: for me)?",
        "are you (?:an? )?(?:ai|bot|robot|human|language model|person)",
        "how (?:do i|to|can i) use (?:you|this(?: (?:app|tool|product|assistant))?)",
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
_ABOUT_CONVERSATION = re.compile(
    "|".join((
        f"(?:你?还?记得)?(?:{_EARLIER}){{0,2}}(?:我们|咱们|[我你您])(?:{_EARLIER}){{0,2}}(?:[跟和向]你)?"
        "(?:问|说|聊|谈|讨论|回答)(?:了|过|的)?你?的?是?(?:一?些|几个)?(?:什么|啥|哪些|哪几个)"
        "(?:问题|话|内容)?",
        f"(?:{_EARLIER}|我的){{0,2}}(?:[上前]一?个?|第一个|最后一个)?(?:问题|句话)是(?:什么|啥)",
        "请?(?:总结|回顾|概括)(?:一下)?(?:我们|咱们|这次|刚才|本次){1,3}的?(?:对话|聊天|谈话|会话)(?:内容)?",
        "what (?:did|have) (?:i|you|we) (?:just |already )?"
        "(?:ask|asked|say|said|talk about|talked about|discuss|discussed)"
        "(?: you| me)?(?: before| earlier| so far| just now| until now)?",
        "(?:what|which) questions (?:did|have) i (?:just |already )?ask(?:ed)?(?: you)?"
        "(?: before| earlier| so far)?",
        "what was my (?:last|previous|first) (?:question|message)",
        "(?:summari[sz]e|recap) (?:our|this|the) (?:conversation|chat|discussion)",
    ))
)  # fmt: skip
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
_REPLIES: dict[Language, dict[str, str]] = {
    "zh": {
        "greeting": "你好！请就已上传的文档提问，我会给出附带出处的回答。",
        "thanks": "不客气。还有问题的话，请继续提问。",
        "farewell": "再见！",
        "assent": "好的。还有问题的话，请继续提问。",
        "about_product": "我是知识库问答助手：从你上传的文档中摘出能回答问题的句子，"
        "并标明每一句的出处；找不到依据时会直接说明。",
        "prompt": "我不能提供内部设置。请就已上传的文档提问。",
        "nothing_asked": "这次对话中还没有之前的问题。",
        "asked": "你之前问的是：",
    },
    "en": {
        "greeting": "Hello! Ask me about the uploaded documents; every answer names its sources.",
        "thanks": "You're welcome. Feel free to ask more.",
        "farewell": "Goodbye!",
        "assent": "All right. Feel free to ask more.",
        "about_product": "I answer questions from the documents you upload: I quote the sentences "
        "that answer and name the source of each, and I say so when there is no evidence.",
        "prompt": "I cannot show internal settings. Please ask about the uploaded documents.",
        "nothing_asked": "There is no earlier question in this conversation.",
        "asked": "You asked before: ",
    },
}
MAX_TALK_CHARS = 60
MAX_RECALLED = 5
MAX_RECALLED_CHARS = 80


def direct_reply(question: str, asked_before: Sequence[str]) -> str | None:
    """Return the fixed reply to small talk, None for everything that needs the documents.

    `asked_before` are the person's earlier messages, oldest first. The reply states no facts.
    """
    replies = _REPLIES[language_of(question)]
    if asks_for_prompt(question):
        return replies["prompt"]
    parts = _parts(question)
    if _ABOUT_CONVERSATION.fullmatch(_telling(question)):
        return _recalled(asked_before, replies)
    if asks_again(question) and last_question(asked_before) is None:
        return replies["nothing_asked"]
    kinds = [_talk_kind(part) for part in parts]
    if not kinds or None in kinds:
        return None
    return replies[max((kind for kind in kinds if kind), key=list(_TALK).index)]


def asks_again(message: str) -> bool:
    """Whether the message only wants the last answer once more, repeated or in other words."""
    return bool(_ASKS_AGAIN.fullmatch(_telling(message)))


def last_question(asked_before: Sequence[str]) -> int | None:
    """Return the index of the last message that asked the documents, None when there is none."""
    asking = (
        index
        for index in reversed(range(len(asked_before)))
        if not asks_again(asked_before[index])
        and direct_reply(asked_before[index], asked_before[:index]) is None
    )
    return next(asking, None)


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


def _recalled(asked_before: Sequence[str], replies: dict[str, str]) -> str:
    if not asked_before:
        return replies["nothing_asked"]
    recent = (_shortened(clean(text)) for text in asked_before[-MAX_RECALLED:])
    return replies["asked"] + "; ".join(recent)


def _shortened(text: str) -> str:
    """Return the beginning of `text`; a word that the cut would halve is left out."""
    cut = text[:MAX_RECALLED_CHARS]
    is_halved = text[MAX_RECALLED_CHARS : MAX_RECALLED_CHARS + 1].isascii() and len(text) > len(
        cut
    )
    return re.sub(r"[A-Za-z0-9]+\Z", "", cut) if is_halved else cut
