"""Tells small talk and questions about the conversation or the product from questions of fact.

Only a message that is small talk as a whole is answered directly, with a fixed text. Everything else
goes to the documents: a wrong "direct" would hide an answer, a wrong search costs a second.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.llm.embedded.words import folded, language_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = re.compile(r"[\s,，。.!！?？~～;；、…:：]+")
_TALK: tuple[tuple[str, str], ...] = (
    (
        "greeting",
        r"(?:你|您|大家)好[啊呀哦]?|哈喽|嗨+|hello|hi|hey|早安|早上好|上午好|中午好|下午好|晚上好|晚安|在吗|在不在"
        r"|good (?:morning|afternoon|evening|day)|greetings|hi there|hello there|how are you(?: doing)?(?: today)?|你好吗|最近好吗|nice to meet you|很高兴认识你",
    ),
    (
        "thanks",
        r"(?:非常|十分|太|多)?(?:感谢|谢谢|谢了|多谢|谢啦)(?:你|您|了|啦|啊)?(?:的?(?:帮助|回答|解答))?|辛苦(?:你|您)?了"
        r"|(?:many )?thanks?(?: you)?(?: so much| very much| a lot)?|thank you(?: for (?:your|the) (?:help|answer))?|thx|cheers|much appreciated",
    ),
    ("farewell", r"再见|拜拜|回头见|下次见|good ?bye|bye(?: bye)?|see you(?: later| soon)?|good night|take care"),
    (
        "assent",
        r"好的?[呢吧啊呀]?|行|可以|没问题|明白了?|知道了|懂了|了解了?|收到|嗯+|哦+|ok(?:ay)?|got it|i see|understood|great|cool|perfect|nice"
        r"|all right|alright|sure|no problem|没事了?|没有了|不用了|that'?s all|never ?mind",
    ),
    (
        "about_product",
        r"(?:请问)?(?:你|您)(?:是谁|是什么|叫什么(?:名字)?|是(?:什么|哪个)?(?:模型|机器人|助手|ai|人工智能)|能(?:做|干|帮我做)?(?:些)?什么|会(?:做|干)?(?:些)?什么|可以(?:做|帮我做)(?:些)?什么|有什么(?:功能|用|能力))"
        r"|(?:请)?(?:介绍一下|自我介绍|介绍)(?:你|您)?自?己?(?:吧)?|怎么(?:使用|用)(?:你|这个(?:系统|助手|工具|产品))?|(?:帮助|使用帮助|使用说明|help)"
        r"|who are you|what are you|what(?:'s| is) your name|what can you do(?: for me)?|how (?:do i|to|can i) use (?:you|this(?: (?:app|tool|product|assistant))?)|introduce yourself|are you (?:an? )?(?:ai|bot|robot|human|language model|chatgpt|person)",
    ),
)  # fmt: skip
_TALK_PATTERNS = tuple((name, re.compile(rf"(?:{pattern})\Z")) for name, pattern in _TALK)
_ABOUT_CONVERSATION = re.compile(
    r"(?:我(?:刚才|刚刚|之前|前面|上次|都)?(?:问|说)(?:了|过|的)?(?:你)?(?:的)?(?:是)?(?:些|几个)?(?:什么|哪些)(?:问题|话)?|(?:我)?(?:的)?上一?个?(?:问题|句话)是什么"
    r"|(?:请)?(?:总结|回顾|概括)(?:一下)?(?:我们|咱们|这次|刚才|本次)的?(?:的)?(?:对话|聊天|谈话|会话)(?:内容)?"
    r"|what (?:did|have) i (?:just )?(?:ask|asked|say|said)(?: you)?(?: before| so far)?|what was my (?:last|previous|first) (?:question|message)"
    r"|(?:summari[sz]e|recap) (?:our|this|the) (?:conversation|chat|discussion))(?:了|呢|吗|呀|啊)?\Z"
)
_ABOUT_PROMPT = re.compile(
    r"(?:输出|显示|告诉|说出|打印|重复|泄露|展示|公布).{0,12}(?:系统)?(?:提示词|系统提示|初始指令|内部指令)"
    r"|(?:reveal|show|print|repeat|output|tell me|give me|what is|what's).{0,20}(?:system prompt|your (?:prompt|instructions))"
)
_REPLIES = {
    "zh": {
        "greeting": "你好！请就已上传的文档提问，我会给出附带出处的回答。",
        "thanks": "不客气。还有问题的话，请继续提问。",
        "farewell": "再见！",
        "assent": "好的。还有问题的话，请继续提问。",
        "about_product": "我是知识库问答助手：从你上传的文档中查找内容，摘出能回答问题的句子，并标明每一句的出处；找不到依据时会直接说明。",
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
MAX_RECALLED_CHARS = 100


def direct_reply(question: str, asked_before: Sequence[str]) -> str | None:
    """Return the fixed reply to small talk, None for everything that needs the documents.

    `asked_before` are the person's earlier messages, oldest first. The reply states no facts.
    """
    replies = _REPLIES[language_of(question)]
    text = folded(question).strip()
    if asks_for_prompt(question):
        return replies["prompt"]
    if _ABOUT_CONVERSATION.match(_PARTS.sub(" ", text).strip()):
        return _recalled(asked_before, replies)
    kinds = [_talk_kind(part) for part in _parts(text)]
    if not kinds or any(kind is None for kind in kinds):
        return None
    order = [name for name, _ in _TALK]
    return replies[max((k for k in kinds if k), key=lambda kind: _weight(kind, order))]


def asks_for_prompt(question: str) -> bool:
    """Whether the message asks for the instructions that a model is given."""
    return bool(_ABOUT_PROMPT.search(folded(question)))


def _weight(kind: str, order: list[str]) -> int:
    """Return how much the part tells: a question about the product more than a greeting."""
    return order.index(kind)


def _parts(text: str) -> list[str]:
    """Return the whole text if it is small talk as it is, else its parts between marks."""
    whole = " ".join(part for part in _PARTS.split(text) if part)
    if _talk_kind(whole):
        return [whole]
    return [part for part in re.split(r"[,，。.!！?？~～;；、…:：\n]+", text) if part.strip()]


def _talk_kind(part: str) -> str | None:
    return next((n for n, pattern in _TALK_PATTERNS if pattern.match(part.strip())), None)


def _recalled(asked_before: Sequence[str], replies: dict[str, str]) -> str:
    if not asked_before:
        return replies["nothing_asked"]
    recent = [" ".join(text.split())[:MAX_RECALLED_CHARS] for text in asked_before[-MAX_RECALLED:]]
    return replies["asked"] + "; ".join(recent)
