"""The only reader of the process environment: every KBQA_ and LANGSMITH_ variable, validated.

Values come from the environment and then from `.env` beside `manage.py` (or from the file that
KBQA_ENV_FILE names); an empty value counts as unset. `load()` raises `ConfigurationError` with
one line per mistake and never shows a value, since a value may be a secret.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    AliasChoices,
    AnyHttpUrl,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

BASE_DIR = Path(__file__).resolve().parent.parent
PREFIX = "KBQA_"
ENV_FILE_VARIABLE = "KBQA_ENV_FILE"

INHERITED_VARIABLES = (
    "PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "TMPDIR", "LANG",
)  # fmt: skip
ORIGIN = re.compile(r"https?://[\w.-]+(:\d+)?")
HEADER_TOKEN = re.compile(r"[!-~]+")
MILVUS_REMOTE_SCHEMES = ("http", "https")
TRACING_SWITCHES = (
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING_V2",
    "LANGSMITH_TRACING",
    "LANGCHAIN_TRACING",
)
SQLITE_SCHEMES = ("sqlite", "sqlite+aiosqlite")  # 003 §16 writes the SQLAlchemy form


class ConfigurationError(Exception):
    """The environment holds invalid values; `lines` has one sentence per mistake."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def _split_commas(value: object) -> object:
    if not isinstance(value, str):
        return value
    return [part.strip() for part in value.split(",") if part.strip()]


def _check_key(key: SecretStr) -> SecretStr:
    """Refuse what cannot stand in a header, so that no vendor would ever see it."""
    if not HEADER_TOKEN.fullmatch(key.get_secret_value()):
        raise ValueError("holds a space, a line break or a character that no key has")
    return key


ApiKey = Annotated[SecretStr, AfterValidator(_check_key)]
CommaList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class Environment(BaseSettings):
    """All configuration. Names are the variable names without `KBQA_`, in lower case."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )

    # Where and for whom
    data_dir: Path = BASE_DIR / "data"
    auth: Literal["local", "login"] = "local"
    secret_key: SecretStr | None = None
    debug: bool = False
    tls: bool = False
    proxies: Annotated[int, Field(ge=0, le=10)] | None = None
    sign_in_attempts: Annotated[int, Field(ge=1, le=100)] = 5
    sign_in_lock_s: Seconds = 900
    allowed_hosts: CommaList = ()
    cors_origins: CommaList = ()
    language: Literal["zh-hans", "en"] = "zh-hans"
    time_zone: str = "Asia/Shanghai"
    settings_upgrade: Literal["eager", "lazy"] = "eager"

    # Models (003 §16); without a key the embedded models are used
    dashscope_api_key: ApiKey | None = None  # KBQA_DASHSCOPE_API_KEY
    dashscope_base_url: AnyHttpUrl | None = None  # KBQA_DASHSCOPE_BASE_URL
    chat_api_key: ApiKey | None = None  # KBQA_CHAT_API_KEY
    chat_base_url: AnyHttpUrl | None = None  # KBQA_CHAT_BASE_URL
    chat_model: str = "qwen3.5-flash"
    intent_model: str | None = None
    execution_model: str | None = None
    organization_model: str | None = None
    embedding_api_key: ApiKey | None = None  # KBQA_EMBEDDING_API_KEY
    embedding_base_url: AnyHttpUrl | None = None  # KBQA_EMBEDDING_BASE_URL
    embedding_model: str = "text-embedding-v4"
    embedding_dim: Annotated[int, Field(ge=2, le=4096)] = 1024
    evidence_threshold: Annotated[float, Field(ge=-1, le=1)] | None = None
    embedding_threads: Annotated[int, Field(ge=1, le=64)] = 2

    # Keys of the catalogue's vendors, for models that they serve
    qwen_api_key: ApiKey | None = None  # KBQA_QWEN_API_KEY
    qwen_base_url: AnyHttpUrl | None = None  # KBQA_QWEN_BASE_URL
    minimax_api_key: ApiKey | None = None  # KBQA_MINIMAX_API_KEY
    minimax_base_url: AnyHttpUrl | None = None  # KBQA_MINIMAX_BASE_URL
    kimi_api_key: ApiKey | None = None  # KBQA_KIMI_API_KEY
    kimi_base_url: AnyHttpUrl | None = None  # KBQA_KIMI_BASE_URL
    deepseek_api_key: ApiKey | None = None  # KBQA_DEEPSEEK_API_KEY
    deepseek_base_url: AnyHttpUrl | None = None  # KBQA_DEEPSEEK_BASE_URL
    doubao_api_key: ApiKey | None = None  # KBQA_DOUBAO_API_KEY
    doubao_base_url: AnyHttpUrl | None = None  # KBQA_DOUBAO_BASE_URL
    zai_api_key: ApiKey | None = None  # KBQA_ZAI_API_KEY
    zai_base_url: AnyHttpUrl | None = None  # KBQA_ZAI_BASE_URL

    prices_file: Path | None = None

    # Storage
    database_url: str | None = None
    milvus_uri: str | None = None
    milvus_token: SecretStr | None = None
    milvus_database: Annotated[str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]{0,254}$")] | None = None

    # Documents
    chunk_size: Annotated[int, Field(ge=50, le=4000)] = 500
    chunk_overlap: Annotated[int, Field(ge=0, le=1000)] = 50
    max_upload_mib: Annotated[int, Field(ge=1, le=1024)] = 20
    max_pages: Annotated[int, Field(ge=1)] = 5000
    max_text_chars: Annotated[int, Field(ge=1000)] = 20_000_000
    extraction_timeout_s: Seconds = 90
    extraction_memory_mib: Annotated[int, Field(ge=128)] = 900

    # Questions
    retrieval_top_k: Annotated[int, Field(ge=1, le=20)] = 5
    max_research_searches: Annotated[int, Field(ge=1, le=10)] = 3
    max_sources: Annotated[int, Field(ge=1, le=8)] = 8
    history_message_limit: Annotated[int, Field(ge=0, le=200)] = 20
    max_question_chars: Annotated[int, Field(ge=10, le=100_000)] = 4000

    # Time-outs
    connect_timeout_s: Seconds = 5
    first_token_timeout_s: Seconds = 30
    idle_timeout_s: Seconds = 20
    run_timeout_s: Seconds = 180
    embedding_timeout_s: Seconds = 30
    heartbeat_s: Seconds = 15
    page_grace_s: Seconds = 15
    job_lease_s: Seconds = 60

    # Tests and tracing
    run_live_tests: bool = False
    live_test_file: Path | None = None
    langsmith_tracing: bool = Field(
        default=False, validation_alias=AliasChoices("LANGSMITH_TRACING")
    )
    langsmith_api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("LANGSMITH_API_KEY")
    )
    langsmith_endpoint: AnyHttpUrl | None = Field(
        None, validation_alias=AliasChoices("LANGSMITH_ENDPOINT")
    )
    langsmith_project: str = Field(
        "kbqa-local", validation_alias=AliasChoices("LANGSMITH_PROJECT")
    )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        mistakes = [*self._document_mistakes(), *self._storage_mistakes(), *self._model_mistakes()]
        if not all(ORIGIN.fullmatch(origin) for origin in self.cors_origins):
            mistakes.append(
                "KBQA_CORS_ORIGINS: write origins like http://localhost:5173, without wildcards"
            )
        if self.time_zone not in available_timezones():
            mistakes.append("KBQA_TIME_ZONE: no such time zone (write it like Asia/Shanghai)")
        if mistakes:
            raise ValueError("\n".join(mistakes))
        return self

    def _document_mistakes(self) -> list[str]:
        if self.chunk_overlap >= self.chunk_size:
            return ["KBQA_CHUNK_OVERLAP: must be smaller than KBQA_CHUNK_SIZE"]
        return []

    def _storage_mistakes(self) -> list[str]:
        mistakes = []
        if self.database_url and not _is_sqlite_url(self.database_url):
            mistakes.append("KBQA_DATABASE_URL: must have the form sqlite:///path/to/file")
        scheme = urlsplit(self.milvus_uri or "").scheme
        if "://" in (self.milvus_uri or "") and scheme not in MILVUS_REMOTE_SCHEMES:
            mistakes.append("KBQA_MILVUS_URI: must be a folder or start with http:// or https://")
        if (self.milvus_token or self.milvus_database) and not self.milvus_is_remote:
            mistakes.append(
                "KBQA_MILVUS_TOKEN, KBQA_MILVUS_DATABASE: need the address of a cluster in"
                " KBQA_MILVUS_URI"
            )
        return mistakes

    def _model_mistakes(self) -> list[str]:
        endpoints = (("CHAT", self.chat_endpoint), ("EMBEDDING", self.embedding_endpoint))
        return [
            f"KBQA_{kind}_BASE_URL (or KBQA_DASHSCOPE_BASE_URL): must be set with the key"
            for kind, endpoint in endpoints
            if endpoint is not None and endpoint.base_url is None
        ]

    @cached_property
    def chat_endpoint(self) -> Endpoint | None:
        """Key, base URL and model for chat, or None when only the embedded model serves."""
        return self.general_endpoint(self.chat_model)

    def general_endpoint(self, model: str) -> Endpoint | None:
        """Return a model's endpoint at the address that serves all stages, or None."""
        return self._endpoint(self.chat_api_key, self.chat_base_url, model)

    @property
    def vendor_settings(self) -> dict[str, tuple[SecretStr | None, AnyHttpUrl | None]]:
        """The own key and address of each vendor of the catalogue, as far as they are set."""
        return {
            "qwen": (self.qwen_api_key, self.qwen_base_url),
            "minimax": (self.minimax_api_key, self.minimax_base_url),
            "kimi": (self.kimi_api_key, self.kimi_base_url),
            "deepseek": (self.deepseek_api_key, self.deepseek_base_url),
            "doubao": (self.doubao_api_key, self.doubao_base_url),
            "zai": (self.zai_api_key, self.zai_base_url),
        }

    def vendor_endpoint(self, vendor: str, model: str, default_url: str) -> Endpoint | None:
        """Return a model's endpoint at a vendor whose own key is set, or None."""
        key, url = self.vendor_settings.get(vendor, (None, None))
        if key is None:
            return None
        return Endpoint(key, str(url or default_url).rstrip("/"), model)

    @cached_property
    def embedding_endpoint(self) -> Endpoint | None:
        """Key, base URL and model for embeddings, or None for the embedded model."""
        return self._endpoint(
            self.embedding_api_key, self.embedding_base_url, self.embedding_model
        )

    def _endpoint(
        self, key: SecretStr | None, base_url: AnyHttpUrl | None, model: str
    ) -> Endpoint | None:
        chosen = key or self.dashscope_api_key
        if chosen is None:
            return None
        url = base_url or self.dashscope_base_url
        return Endpoint(chosen, str(url).rstrip("/") if url else None, model)

    @cached_property
    def root(self) -> Path:
        """The data directory as an absolute path."""
        path = self.data_dir.expanduser()
        return path if path.is_absolute() else (BASE_DIR / path).resolve()

    @cached_property
    def database_path(self) -> Path:
        """The SQLite file of the application."""
        if self.database_url is None:
            return self.root / "kbqa.sqlite3"
        return _absolute(self.database_url.partition(":///")[2] or "kbqa.sqlite3")

    @property
    def milvus_is_remote(self) -> bool:
        """Whether a Milvus cluster serves the vectors instead of the local owner process."""
        return urlsplit(self.milvus_uri or "").scheme in MILVUS_REMOTE_SCHEMES

    @cached_property
    def milvus_path(self) -> Path:
        """The Milvus Lite folder (meaningless when `milvus_is_remote`)."""
        return _absolute(self.milvus_uri) if self.milvus_uri else self.root / "milvus" / "kbqa.db"

    def bare_environment(self) -> dict[str, str]:
        """What a child needs that must not see our configuration: how to find its libraries."""
        return {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}

    @property
    def is_traced(self) -> bool:
        """Whether LangSmith gets the runs: the flag and the key are both set."""
        return self.langsmith_tracing and self.langsmith_api_key is not None

    @property
    def proxy_count(self) -> int:
        """How many proxies of ours a request passes; one where TLS is declared."""
        return int(self.tls) if self.proxies is None else self.proxies

    @property
    def trusted_origins(self) -> list[str]:
        """The origins of pages behind a TLS proxy, whose forms arrive here as plain HTTP."""
        hosts = (host for host in self.allowed_hosts if host != "*")
        return [f"https://{'*' if host.startswith('.') else ''}{host}" for host in hosts]

    @property
    def unknown_variables(self) -> list[str]:
        """The given names that start with KBQA_ but mean nothing here: most likely misspelt."""
        file = _env_file()
        given = {*os.environ, *(dotenv_values(file) if file else ())}
        known = {PREFIX + name.upper() for name in type(self).model_fields}
        known.add(ENV_FILE_VARIABLE)
        return sorted(name for name in given if name.startswith(PREFIX) and name not in known)

    def child_environment(self) -> dict[str, str]:
        """Return the process environment for the children of `serve`.

        Two malloc arenas instead of eight per core keep the memory of threaded processes low;
        output is unbuffered, so that log lines arrive when they are written.
        """
        return {**os.environ, "MALLOC_ARENA_MAX": "2", "PYTHONUNBUFFERED": "1"}


class Endpoint:
    """An OpenAI-compatible endpoint: `api_key`, `base_url` (no trailing slash), `model`."""

    def __init__(self, api_key: SecretStr, base_url: str | None, model: str) -> None:
        self.api_key, self.base_url, self.model = api_key, base_url, model


def _absolute(text: str) -> Path:
    path = Path(text).expanduser()
    return path if path.is_absolute() else (BASE_DIR / path).resolve()


def _is_sqlite_url(url: str) -> bool:
    return urlsplit(url).scheme in SQLITE_SCHEMES and bool(url.partition(":///")[2])


def load(**overrides: object) -> Environment:
    """Return the validated environment.

    Raises:
        ConfigurationError: with one line per invalid variable; values are never shown.
    """
    try:
        return Environment(_env_file=_env_file(), **overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        lines = [line for item in error.errors() for line in _sentences(dict(item))]
        raise ConfigurationError(lines) from None


def export_for_sdks(environment: Environment) -> None:
    """Put into the process environment what third-party code reads there by itself.

    Tracing without a key would hold the exit of the process for minutes, so it is on only when the
    flag and the key are both set; then the SDK gets threads that no exit waits for, which it has
    without compression only. The embedding engine reads its thread count when it is imported.
    """
    for name in TRACING_SWITCHES:
        os.environ[name] = "true" if environment.is_traced else "false"
    if environment.is_traced and environment.langsmith_api_key is not None:
        os.environ["LANGSMITH_API_KEY"] = environment.langsmith_api_key.get_secret_value()
        os.environ["LANGSMITH_PROJECT"] = environment.langsmith_project
        os.environ["LANGSMITH_USE_DAEMON"] = "true"
        os.environ["LANGSMITH_DISABLE_RUN_COMPRESSION"] = "true"
        if environment.langsmith_endpoint is not None:
            os.environ["LANGSMITH_ENDPOINT"] = str(environment.langsmith_endpoint).rstrip("/")
    os.environ["OMP_NUM_THREADS"] = str(environment.embedding_threads)
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # waiting threads sleep instead of spinning


def _env_file() -> Path | None:
    chosen = os.environ.get(ENV_FILE_VARIABLE)
    if chosen is None:
        return BASE_DIR / ".env"
    return Path(chosen) if chosen else None


def _sentences(item: dict[str, object]) -> list[str]:
    location = item.get("loc")
    name = str(location[0]) if isinstance(location, tuple) and location else ""
    message = str(item["msg"]).removeprefix("Value error, ")
    if not name:
        return message.splitlines()
    variable = name if name.isupper() else PREFIX + name.upper()
    return [f"{variable}: {message}"]
