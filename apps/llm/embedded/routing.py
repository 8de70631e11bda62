"""Tells small talk and questions about the conversation or the product from questions of fact.

Only a message that is small talk as a whole is answered directly, with a fixed text. Everything
else goes to the documents: a wrong "direct" hides an answer, a wrong search costs a second.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from apps.llm.embedded.sentences import clean
from apps.llm.embedded.words import folded, language_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.llm.embedded.words import Language

Talk = Literal["greeting", "thanks", "farewell", "assent", "about_product"]

_MARKS = ",，。.!！?？~～;；、…:：\n"
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
_ABOUT_CONVERSATION = re.compile(
    "|".join((
        "我(?:刚才|刚刚|之前|前面|上次|都)+(?:问|说)(?:了|过|的)?你?的?是?(?:些|几个)?(?:什么|哪些)(?:问题|话)?",
        "我?的?(?:上一?个?|刚才的)(?:问题|句话)是什么",
        "请?(?:总结|回顾|概括)(?:一下)?(?:我们|咱们|这次|刚才|本次)的?(?:对话|聊天|谈话|会话)(?:内容)?",
        "what (?:did|have) i (?:just )?(?:ask|asked|say|said)(?: you)?(?: before| so far)?",
        "what was my (?:last|previous|first) (?:question|message)",
        "(?:summari[sz]e|recap) (?:our|this|the) (?:conversation|chat|discussion)",
    ))
)  # fmt: skip
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
MAX_RECALLED = 5
MAX_RECALLED_CHARS = 80


def direct_reply(question: str, asked_before: Sequence[str]) -> str | None:
    """Return the fixed reply to small talk, None for everything that needs the documents.

    `asked_before` are the person's earlier messages, oldest first. The reply states no facts.
    """
    replies = _REPLIES[language_of(question)]
    if asks_for_prompt(question):
        return replies["prompt"]
    parts = [part.strip() for part in re.split(f"[{_MARKS}]+", folded(question)) if part.strip()]
    if len(parts) == 1 and _ABOUT_CONVERSATION.match(parts[0].rstrip("了呢吗呀啊")):
        return _recalled(asked_before, replies)
    kinds = [_talk_kind(part) for part in parts]
    if not kinds or None in kinds:
        return None
    return replies[max((kind for kind in kinds if kind), key=list(_TALK).index)]


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
