"""A person's settings in versions: read any version, write the latest (002).

Pure. Language tags are BCP-47, zones are IANA's, countries ISO 3166-1; what is none of these is
refused and never corrected by guessing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from babel import Locale, UnknownLocaleError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

LATEST_VERSION = 2

# Language, script and region of BCP-47 (RFC 5646); variants and extensions choose no prompt.
_TAG = re.compile(r"([A-Za-z]{2,3})(?:-([A-Za-z]{4}))?(?:-([A-Za-z]{2}|[0-9]{3}))?")


def _language_tag(value: str) -> str:
    match = _TAG.fullmatch(value)
    if match is None:
        raise ValueError("must be a language tag like zh-CN")
    language, script, region = match.groups()
    parts = [language.lower()]
    parts += [script.title()] if script else []
    parts += [region.upper()] if region else []
    try:
        Locale.parse("-".join(parts), sep="-")
    except (UnknownLocaleError, ValueError):
        raise ValueError("must be a known language tag like zh-CN") from None
    return "-".join(parts)


def _time_zone(value: str) -> str:
    if value not in _zones():
        raise ValueError("must be a time zone like Asia/Shanghai")
    return value


def _country(value: str) -> str:
    if value not in _countries():
        raise ValueError("must be a country code like CN")
    return value


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())  # looks at hundreds of files


@lru_cache(maxsize=1)
def _countries() -> frozenset[str]:
    """Return the codes of ISO 3166-1 alpha-2, from the time zone database."""
    table = (files("tzdata.zoneinfo") / "iso3166.tab").read_text(encoding="utf-8")
    lines = [line for line in table.splitlines() if line and not line.startswith("#")]
    return frozenset(line.split("\t")[0] for line in lines)


LanguageTag = Annotated[str, AfterValidator(_language_tag)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
Country = Annotated[str, AfterValidator(_country)]


class PreferenceSettings(BaseModel):
    """Languages of the pages and of the answers, zone of the days, country of the billing."""

    model_config = ConfigDict(frozen=True)

    interface_language: LanguageTag = "zh-CN"
    ai_language: LanguageTag = "zh-CN"
    timezone: TimeZone = "Asia/Shanghai"
    country: Country = "CN"


class ProfileSettingsV1(BaseModel):
    """The first version."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    preferences: PreferenceSettings = Field(default_factory=PreferenceSettings)
    privacy: dict[str, Any] = Field(default_factory=dict)
    notification: dict[str, Any] = Field(default_factory=dict)


class ProfileSettingsV2(BaseModel):
    """The latest version: with room for settings of safety."""

    model_config = ConfigDict(frozen=True)

    version: Literal[2] = 2
    preferences: PreferenceSettings = Field(default_factory=PreferenceSettings)
    privacy: dict[str, Any] = Field(default_factory=dict)
    notification: dict[str, Any] = Field(default_factory=dict)
    safety: dict[str, Any] = Field(default_factory=dict)


ProfileSettings = Annotated[ProfileSettingsV1 | ProfileSettingsV2, Field(discriminator="version")]

_ADAPTER: TypeAdapter[ProfileSettingsV1 | ProfileSettingsV2] = TypeAdapter(ProfileSettings)


def warm_up() -> None:
    """Load the lists of languages, zones and countries; callable in any thread."""
    PreferenceSettings.model_validate(PreferenceSettings().model_dump())


def parse_profile_settings(
    raw: dict[str, Any] | None,
) -> ProfileSettingsV1 | ProfileSettingsV2:
    """Return the settings of any version; without a version they are of the first.

    Raises:
        ValidationError: pydantic's, naming the fields that are wrong.
    """
    return _ADAPTER.validate_python({"version": 1, **(raw or {})})


def upgraded(settings: ProfileSettingsV1 | ProfileSettingsV2) -> ProfileSettingsV2:
    """Return the settings in the latest version."""
    if isinstance(settings, ProfileSettingsV2):
        return settings
    return ProfileSettingsV2(
        preferences=settings.preferences,
        privacy=settings.privacy,
        notification=settings.notification,
    )
