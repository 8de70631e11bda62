"""The environment: every variable has its placeholder, every mistake its line."""

from __future__ import annotations

import re
import tomllib

import pytest

import kbqa_project
from apps.llm.endpoints.vendors import load_catalogue
from kbqa_project.env import BASE_DIR, ConfigurationError, Environment, load
from tests.server_process import manage

EXAMPLE = BASE_DIR / ".env.example"


def variable_names() -> set[str]:
    return {
        field.validation_alias.choices[0] if field.validation_alias else f"KBQA_{name.upper()}"
        for name, field in Environment.model_fields.items()
    }


def test_example_has_a_placeholder_for_every_variable():
    named = re.findall(r"^(?:# )?([A-Z][A-Z0-9_]+)=", EXAMPLE.read_text(), re.MULTILINE)

    assert (set(named), len(named)) == (variable_names(), len(variable_names()))


def test_example_holds_no_secret():
    secrets = re.findall(
        r"^.*(?:KEY|PASSWORD|SECRET|TOKEN)=(.*)$", EXAMPLE.read_text(), re.MULTILINE
    )

    assert set(secrets) == {""}


def test_copied_example_means_the_defaults(monkeypatch):
    monkeypatch.delenv("KBQA_DATA_DIR")
    monkeypatch.delenv("LANGSMITH_TRACING")
    monkeypatch.setenv("KBQA_ENV_FILE", "")
    defaults = load().model_dump() | {"langsmith_tracing": True}
    monkeypatch.setenv("KBQA_ENV_FILE", str(EXAMPLE))

    assert load().model_dump() == defaults


def test_commented_lines_of_the_example_show_the_defaults(monkeypatch, tmp_path):
    monkeypatch.delenv("KBQA_DATA_DIR")
    monkeypatch.setenv("KBQA_ENV_FILE", "")
    defaults = load()
    shown = re.sub(r"^# ([A-Z0-9_]+=)", r"\1", EXAMPLE.read_text(), flags=re.MULTILINE)
    (tmp_path / "env").write_text(shown)
    monkeypatch.setenv("KBQA_ENV_FILE", str(tmp_path / "env"))

    read = load()

    paths = ("root", "database_path", "milvus_path")
    assert [getattr(read, p) for p in paths] == [getattr(defaults, p) for p in paths]
    same = {"data_dir", "database_url", "milvus_uri", "langsmith_tracing"}
    assert read.model_dump(exclude=same) == defaults.model_dump(exclude=same)


@pytest.mark.parametrize(
    ("variables", "lines"),
    [
        (
            {"CHUNK_SIZE": "lots"},
            [
                "KBQA_CHUNK_SIZE: Input should be a valid integer, "
                "unable to parse string as an integer"
            ],
        ),
        ({"AUTH": "open"}, ["KBQA_AUTH: Input should be 'local' or 'login'"]),
        (
            {"CHUNK_SIZE": "100", "CHUNK_OVERLAP": "100", "TIME_ZONE": "Mars"},
            [
                "KBQA_CHUNK_OVERLAP: must be smaller than KBQA_CHUNK_SIZE",
                "KBQA_TIME_ZONE: no such time zone (write it like Asia/Shanghai)",
            ],
        ),
        (
            {"DATABASE_URL": "mysql://host/name", "MILVUS_URI": "tcp://host"},
            [
                "KBQA_DATABASE_URL: must have the form sqlite:///path/to/file",
                "KBQA_MILVUS_URI: must be a folder or start with http:// or https://",
            ],
        ),
        (
            {"MILVUS_TOKEN": "root:never-shown", "MILVUS_URI": "./vectors"},
            [
                "KBQA_MILVUS_TOKEN, KBQA_MILVUS_DATABASE: need the address of a cluster in"
                " KBQA_MILVUS_URI"
            ],
        ),
        (
            {"MILVUS_DATABASE": "my-kb", "MILVUS_URI": "http://milvus.test"},
            ["KBQA_MILVUS_DATABASE: String should match pattern '^[A-Za-z_][A-Za-z0-9_]{0,254}$'"],
        ),
        (
            {"CORS_ORIGINS": "*"},
            [
                "KBQA_CORS_ORIGINS: write origins like http://localhost:5173, without wildcards",
            ],
        ),
        (
            {"DASHSCOPE_API_KEY": "sk-never-shown"},
            [
                "KBQA_CHAT_BASE_URL (or KBQA_DASHSCOPE_BASE_URL): must be set with the key",
                "KBQA_EMBEDDING_BASE_URL (or KBQA_DASHSCOPE_BASE_URL): must be set with the key",
            ],
        ),
        (
            {"DASHSCOPE_API_KEY": "sk-never shown", "DEEPSEEK_API_KEY": "“sk-never-shown”"},
            [
                "KBQA_DASHSCOPE_API_KEY: holds a space, a line break or a character that no key"
                " has",
                "KBQA_DEEPSEEK_API_KEY: holds a space, a line break or a character that no key"
                " has",
            ],
        ),
        (
            {"CHAT_API_KEY": "sk-never-shown", "CHAT_BASE_URL": "not a url"},
            ["KBQA_CHAT_BASE_URL: Input should be a valid URL, relative URL without a base"],
        ),
        (
            {"RUN_TIMEOUT_S": "0", "RETRIEVAL_TOP_K": "21"},
            [
                "KBQA_RETRIEVAL_TOP_K: Input should be less than or equal to 20",
                "KBQA_RUN_TIMEOUT_S: Input should be greater than 0",
            ],
        ),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_each_mistake_is_one_line(monkeypatch, variables, lines):
    for name, value in variables.items():
        monkeypatch.setenv(f"KBQA_{name}", value)

    with pytest.raises(ConfigurationError) as raised:
        load()

    assert raised.value.lines == lines


def test_mistake_ends_a_command_without_a_traceback(tmp_path):
    result = manage(tmp_path, "check", KBQA_DEBUG="perhaps")

    assert (result.returncode, result.stdout, result.stderr) == (
        1,
        "",
        "Configuration: KBQA_DEBUG: Input should be a valid boolean, unable to interpret input\n",
    )


def test_data_folder_that_cannot_be_made_ends_a_command_without_a_traceback(tmp_path):
    (tmp_path / "file").touch()

    result = manage(tmp_path / "file" / "data", "check")

    assert (result.returncode, result.stdout, result.stderr) == (
        1,
        "",
        f"Configuration: KBQA_DATA_DIR: cannot make {tmp_path}/file/data (Not a directory)\n",
    )


@pytest.mark.parametrize("url", ["sqlite:///{}", "sqlite+aiosqlite:///{}"])
def test_database_url_names_the_file(tmp_path, url):
    path = tmp_path / "own.sqlite3"

    assert load(database_url=url.format(path)).database_path == path


def test_empty_values_count_as_unset(monkeypatch):
    monkeypatch.setenv("KBQA_DASHSCOPE_API_KEY", "")
    monkeypatch.setenv("KBQA_CHUNK_SIZE", "")

    environment = load()

    assert (environment.chat_endpoint, environment.chunk_size) == (None, 500)


def test_pages_behind_a_tls_proxy_are_trusted():
    environment = load(allowed_hosts="kb.example, .example.org, *")

    assert environment.trusted_origins == ["https://kb.example", "https://*.example.org"]


def test_one_key_serves_chat_and_embeddings():
    environment = load(dashscope_api_key="sk-test", dashscope_base_url="https://models.test/v1/")

    endpoints = environment.chat_endpoint, environment.embedding_endpoint
    assert [(e.base_url, e.model) for e in endpoints] == [
        ("https://models.test/v1", "qwen3.5-flash"),
        ("https://models.test/v1", "text-embedding-v4"),
    ]


def test_names_of_vendor_variables_stand_where_they_are_read():
    source = (BASE_DIR / "kbqa_project" / "env.py").read_text()
    general = ("dashscope", "chat", "embedding")
    expected = {
        f"KBQA_{vendor}_{kind}".upper(): f"{vendor}_{kind}"
        for vendor in (*general, *load().vendor_settings)
        for kind in ("api_key", "base_url")
    }

    named = re.findall(r"^    (\w+): .* # (KBQA_\w+)$", source, re.MULTILINE)

    assert {variable: field for field, variable in named} == expected


def test_each_vendor_of_the_catalogue_may_have_its_key():
    vendors = [factory.name for factory in load_catalogue().factories]

    assert sorted(load().vendor_settings) == sorted(vendors)


@pytest.mark.parametrize(
    ("variables", "traced"),
    [
        ({"LANGSMITH_TRACING": "true"}, "false"),
        ({"LANGSMITH_API_KEY": "ls-test"}, "false"),
        ({"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "ls-test"}, "true"),
    ],
    ids=["flag only", "key only", "both"],
)
def test_tracing_needs_the_flag_and_the_key(tmp_path, variables, traced):
    code = "from os import environ; print(environ['LANGSMITH_TRACING'])"

    result = manage(tmp_path, "shell", "--no-imports", "--command", code, **variables)

    assert result.stdout == f"{traced}\n"


def test_version_is_that_of_the_project():
    project = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]

    assert kbqa_project.__version__ == project["version"]


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe"], ids=["empty", "blank", "binary"])
def test_key_file_without_a_key_is_one_clear_line(tmp_path, content):
    (tmp_path / "secret_key").write_bytes(content)

    result = manage(tmp_path, "prepare")

    assert (result.returncode, result.stderr) == (
        1,
        f"Configuration: {tmp_path / 'secret_key'}: empty or unreadable; "
        "delete it to get a new key\n",
    )
