"""The catalogue has the vendors and models of the requirements, however often it is seeded."""

import pytest
import yaml
from django.core.management import CommandError, call_command

from apps.llm.endpoints import vendors
from apps.llm.endpoints.vendors import load_catalogue, request_url, vendor_of, vendor_of_model
from apps.llm.models import LLM, LLMFactory
from apps.llm.pricing.catalogue_file import CatalogueError
from apps.llm.pricing.seeding import seed_catalogue

VENDORS = ["deepseek", "doubao", "kimi", "minimax", "qwen", "zai"]


def state():
    return [
        list(model.objects.order_by("pk").values_list("pk", "updated_at"))
        for model in (LLMFactory, LLM)
    ]


@pytest.mark.django_db
def test_command_seeds_six_vendors_and_two_models_once():
    call_command("seed_catalogue")
    before = state()
    call_command("seed_catalogue")
    assert state() == before
    assert list(LLMFactory.objects.order_by("name").values_list("name", flat=True)) == VENDORS
    assert list(LLM.objects.order_by("model_code").values_list("model_code", "factory__name")) == [
        ("deepseek-chat", "deepseek"),
        ("qwen3.5-flash", "qwen"),
    ]
    assert LLMFactory.objects.get(name="qwen").request_url == (
        "https://dashscope.aliyuncs.com/compatible-mode/v1"
    )


@pytest.mark.django_db
def test_seeding_corrects_what_differs_and_leaves_other_rows_alone():
    seed_catalogue(load_catalogue())
    own = LLMFactory.objects.create(name="own", request_url="https://example.org/v1")
    LLMFactory.objects.filter(name="kimi").update(request_url="https://old.example", avatar=None)
    LLM.objects.filter(model_code="deepseek-chat").update(factory=own)
    seed_catalogue(load_catalogue())
    assert LLMFactory.objects.get(name="kimi").request_url == "https://api.moonshot.cn/v1"
    assert LLM.objects.get(model_code="deepseek-chat").factory.name == "deepseek"
    assert LLMFactory.objects.count() == 7


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (
            {
                "factories": [{"name": "a", "request_url": "https://a.example"}] * 2,
                "llms": [{"model_code": "m", "factory_id": "b"}] * 2,
            },
            [
                "c.yaml: factories: a is named twice",
                "c.yaml: llms: m is named twice",
                "c.yaml: llms: m: unknown factory b",
                "c.yaml: llms: m: unknown factory b",
            ],
        ),
        (
            {
                "factories": [{"name": "a"}],
                "llms": [{"model_code": "m", "factory_id": "a", "x": 1}],
            },
            [
                "c.yaml: factories.0.request_url: Field required",
                "c.yaml: llms.0.x: Extra inputs are not permitted",
            ],
        ),
        (None, None),
    ],
)
def test_mistake_in_the_catalogue_is_one_line(tmp_path, data, lines):
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(CatalogueError) as caught:
        load_catalogue(path)
    assert lines is None or caught.value.lines == lines


@pytest.mark.django_db
def test_command_names_the_file_that_is_missing(monkeypatch, tmp_path):
    missing = tmp_path / "llm_catalog.yaml"
    monkeypatch.setattr(vendors.load_catalogue, "__defaults__", (missing,))
    with pytest.raises(CommandError, match=r"^llm_catalog.yaml: is missing$"):
        call_command("seed_catalogue")


@pytest.mark.parametrize(
    ("url", "vendor"),
    [
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen"),
        ("https://api.deepseek.com", "deepseek"),
        ("http://127.0.0.1:9/v1", "127.0.0.1"),
        (None, ""),
    ],
)
def test_vendor_is_known_by_its_host(url, vendor):
    assert vendor_of(url) == vendor


def test_vendor_and_address_of_a_model_are_known():
    assert vendor_of_model("deepseek-chat") == "deepseek"
    assert request_url("deepseek") == "https://api.deepseek.com/v1"
    assert (vendor_of_model("unheard-of"), request_url("unheard-of")) == (None, None)
