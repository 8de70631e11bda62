import json
import uuid

from apps.agents.events import (
    AnswerStarted,
    ModelCalled,
    RunFinished,
    SourcesFound,
    StageStarted,
    TokenProduced,
    ToolCalled,
)
from apps.chat.streams.json_sse import encode
from apps.chat.turns.stream_events import AnswerFailed, AnswerSaved, NumberedEvent
from apps.core.passages import Passage, Source


def encoded(event):
    return encode(NumberedEvent(7, event))


def frame(name, data):
    return f"id: 7\nevent: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def test_execution_is_researching_and_other_stages_are_silent():
    assert encoded(StageStarted("execution")) == frame("status", {"phase": "researching"})
    assert encoded(StageStarted("intent")) == b""
    assert encoded(StageStarted("organization")) == b""


def test_answer_start_is_answering():
    assert encoded(AnswerStarted()) == frame("status", {"phase": "answering"})


def test_token_with_line_ends_stays_on_one_line():
    text = "第一行\n\ndata: fake\r\n\u2028第二行"
    assert encoded(TokenProduced(text)) == frame("token", {"content": text})
    assert encoded(TokenProduced(text)).count(b"\n") == 4


def test_empty_token_is_silent():
    assert encoded(TokenProduced("")) == b""


def test_source_has_the_documented_keys():
    passage = Passage(
        chunk_id=uuid.UUID(int=1),
        document_id=uuid.UUID(int=2),
        filename="a.pdf",
        order_index=2,
        page_number=3,
        start_char=10,
        end_char=14,
        heading_path="",
        content="正文",
        score=0.92,
    )
    assert encoded(SourcesFound((Source("S1", passage, "q"),))) == frame(
        "sources",
        {
            "sources": [
                {
                    "label": "S1",
                    "document_id": str(uuid.UUID(int=2)),
                    "chunk_id": str(uuid.UUID(int=1)),
                    "filename": "a.pdf",
                    "order_index": 2,
                    "page_number": 3,
                    "start_char": 10,
                    "end_char": 14,
                    "content": "正文",
                    "score": 0.92,
                }
            ]
        },
    )


def test_done_and_error_end_the_stream():
    message_id = uuid.UUID(int=5)
    assert encoded(AnswerSaved(message_id, "direct")) == frame(
        "done", {"message_id": str(message_id), "outcome": "direct"}
    )
    assert encoded(AnswerFailed(message_id, "MODEL_TIMEOUT", "超时", True)) == frame(
        "error",
        {
            "code": "MODEL_TIMEOUT",
            "message": "超时",
            "retryable": True,
            "message_id": str(message_id),
        },
    )


def test_inner_events_are_not_part_of_the_contract():
    inner = [
        RunFinished("answered", "x", (), "m"),
        ToolCalled("c", "search_knowledge_base", {"query": "q"}),
        ModelCalled("intent", "m"),
    ]
    assert [encoded(event) for event in inner] == [b"", b"", b""]
