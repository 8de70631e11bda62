"""Finding passages: of the asker's indexed documents only, best first, each text once."""

from __future__ import annotations

import uuid

import pytest

from apps.accounts.local_user import local_user
from apps.accounts.models import User
from apps.documents.errors import IndexOutdatedError
from apps.documents.models import Document, DocumentStatus, VectorIndex
from apps.documents.search import search_passages
from apps.documents.tests.conftest import LEAVE_RULES, index, markdown_file, text_file
from apps.documents.vectors.access import vector_store
from apps.documents.vectors.records import VectorRecord, user_scope

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "入职三年有多少天年假？"


def test_search_returns_whole_passages_best_first(indexed):
    passages = search_passages(QUESTION, owner=local_user(), limit=5)
    chunks = {chunk.pk: chunk for chunk in indexed.chunks.all()}

    assert "十五天年假" in passages[0].content
    assert [p.score for p in passages] == sorted((p.score for p in passages), reverse=True)
    assert {passage.chunk_id for passage in passages} == set(chunks)
    for passage in passages:
        chunk = chunks[passage.chunk_id]
        assert (passage.document_id, passage.filename) == (indexed.pk, "假期.md")
        assert passage.content == chunk.content
        assert (passage.start_char, passage.end_char) == (chunk.start_char, chunk.end_char)


def test_search_finds_nothing_of_another_person(indexed):
    stranger = User.objects.create(username="stranger")
    index(stranger, text_file("別.txt", "停车证每年三月更新。"))

    assert search_passages(QUESTION, owner=stranger, limit=5) != []
    assert {p.filename for p in search_passages(QUESTION, owner=stranger, limit=5)} == {"別.txt"}
    assert {p.filename for p in search_passages("停车证", owner=local_user(), limit=5)} == {
        "假期.md"
    }


def test_search_finds_nothing_of_documents_that_are_not_indexed(indexed):
    for status in set(DocumentStatus.values) - {DocumentStatus.INDEXED}:
        Document.objects.update(status=status)

        assert search_passages(QUESTION, owner=local_user(), limit=5) == []


def test_search_returns_the_same_text_of_two_documents_once(indexed):
    index(local_user(), markdown_file("副本.md", LEAVE_RULES))

    passages = search_passages(QUESTION, owner=local_user(), limit=5)

    assert len({p.content for p in passages}) == len(passages) == indexed.chunk_count
    assert {p.filename for p in passages} == {"假期.md"}


def test_search_leaves_out_chunks_of_headings_alone(vector_server):
    text = "# 停车证\n\n" + "停车证每年三月更新，到物业办理。" * 40
    document = index(local_user(), markdown_file("停车.md", text))

    passages = search_passages("停车证", owner=local_user(), limit=5)

    assert document.chunks.first().content == "# 停车证"
    assert passages != []
    assert "# 停车证" not in {passage.content for passage in passages}


def test_search_looks_further_when_the_nearest_hits_are_stale(indexed):
    owner = local_user()
    model_vector = search_vector(QUESTION)
    stale = [
        VectorRecord(uuid.uuid4(), uuid.uuid4(), user_scope(owner.pk), i, model_vector)
        for i in range(60)
    ]
    vector_store().upsert(stale)

    passages = search_passages(QUESTION, owner=owner, limit=2)

    assert len(passages) == min(2, indexed.chunk_count)


@pytest.mark.parametrize("query", ["", "  \n", "\x00", "\ud800"])
def test_search_for_nothing_finds_nothing(indexed, query):
    assert search_passages(query, owner=local_user(), limit=5) == []


def test_search_with_controls_and_surrogates_is_cleaned(indexed):
    passages = search_passages("年假\x00\ud800", owner=local_user(), limit=1)

    assert [passage.document_id for passage in passages] == [indexed.pk]


def test_search_refuses_an_index_of_another_model(indexed):
    VectorIndex.objects.update(embedding_model="another-model")

    with pytest.raises(IndexOutdatedError) as caught:
        search_passages(QUESTION, owner=local_user(), limit=5)

    assert "another-model → multilingual-e5-small (embedded)" in caught.value.text


def test_search_needs_one_query_for_the_rows(indexed, django_assert_num_queries):
    owner = local_user()
    index(owner, text_file("more.txt", "\n\n".join(f"第{i}条规定。" * 40 for i in range(3))))

    with django_assert_num_queries(3):  # are there documents, the index, the rows
        search_passages(QUESTION, owner=owner, limit=5)


def search_vector(text):
    from apps.llm.factory import embedding_model  # noqa: PLC0415 - loads the model

    return embedding_model().embed_query(text)


def test_search_adds_the_chunks_that_are_asked_for(indexed):
    owner = local_user()
    index(owner, text_file("more.txt", "打卡时间是九点。"))
    every = search_passages(QUESTION, owner=owner, limit=50)
    assert len(every) == 2

    found = search_passages(QUESTION, owner=owner, limit=1, also=[p.chunk_id for p in every])

    assert found == every


def test_search_adds_nothing_that_the_asker_may_not_see(indexed):
    stranger = User.objects.create(username="stranger")
    other = index(stranger, text_file("別.txt", "停车证每年三月更新。"))
    index(local_user(), text_file("gone.txt", "打卡时间是九点。"))
    gone = Document.objects.get(filename="gone.txt")
    wanted = [chunk.pk for document in (other, gone) for chunk in document.chunks.all()]
    Document.objects.filter(pk=gone.pk).update(status=DocumentStatus.DELETING)

    found = search_passages(QUESTION, owner=local_user(), limit=1, also=[*wanted, uuid.uuid4()])

    assert [passage.filename for passage in found] == ["假期.md"]


def test_invisible_characters_hide_nothing_and_stay_in_the_passage(indexed):
    plain = "The deposit for a locker is 300 euros."
    broken = "The de\u00adpo\u200bsit for a lock\u2060er is 300 eu\u200bros."
    index(local_user(), text_file("locker.txt", broken))

    (found,) = search_passages("lock\u200ber de\u00adposit", owner=local_user(), limit=1)

    assert found.content == broken
    assert (found.start_char, found.end_char) == (0, len(broken))
    (query,) = search_passages("locker deposit", owner=local_user(), limit=1)
    assert query.score == pytest.approx(found.score)
    document = index(local_user(), text_file("plain.txt", plain))
    (same,) = search_passages("locker deposit", owner=local_user(), limit=1)
    assert (same.score, document.chunk_count) == (pytest.approx(found.score), 1)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("退房時退還押金三百元。", "退房时退还押金"),
        ("退房时退还押金三百元。", "退房時退還押金"),
    ],
)
def test_traditional_and_simplified_chinese_find_each_other(indexed, written, asked):
    index(local_user(), text_file("客房.txt", written))

    (found,) = search_passages(asked, owner=local_user(), limit=1)
    (same,) = search_passages("退房时退还押金", owner=local_user(), limit=1)

    assert (found.content, same) == (written, found)
