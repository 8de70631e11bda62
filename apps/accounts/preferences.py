"""A person's settings in versions: read any version, write the latest (002).

Pure. Language tags are BCP-47 (the parts known to CLDR, through babel), zones are IANA's and
countries ISO 3166-1 (both through tzdata); what is none of these is refused and never corrected by
guessing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal

from babel import Locale, UnknownLocaleError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

LATEST_VERSION = 2
UNSPECIFIED = frozenset({"und", "mul", "zxx", "Zzzz", "ZZ"})  # CLDR's codes for "none of these"

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
    is_known = (
        _is_language(parts[0])
        and (not script or parts[1] in _cldr().scripts)
        and (not region or parts[-1] in _cldr().territories)
    )
    if not is_known or not UNSPECIFIED.isdisjoint(parts):
        raise ValueError("must be a known language tag like zh-CN")
    return "-".join(parts)


def _is_language(code: str) -> bool:
    """Whether CLDR names the language or has data for it, also under a newer code."""
    if code in _cldr().languages:
        return True
    try:
        Locale.parse(code)
    except (UnknownLocaleError, ValueError):
        return False
    return True


@lru_cache(maxsize=1)
def _cldr() -> Locale:
    """Return the English locale: its names cover all languages, scripts and regions."""
    return Locale("en")


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
    """Return the zones of the time zone database, whatever the machine itself has besides."""
    names = (files("tzdata") / "zones").read_text(encoding="utf-8").split()
    return frozenset(names) - {"Factory"}  # stands for "not set"


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
    raw: object,
) -> ProfileSettingsV1 | ProfileSettingsV2:
    """Return the settings of any version; without a version they are of the first.

    Raises:
        ValidationError: pydantic's, naming the fields that are wrong.
    """
    given = {} if raw is None else raw
    return _ADAPTER.validate_python({"version": 1, **given} if isinstance(given, dict) else given)


def upgraded(settings: ProfileSettingsV1 | ProfileSettingsV2) -> ProfileSettingsV2:
    """Return the settings in the latest version."""
    if isinstance(settings, ProfileSettingsV2):
        return settings
    return ProfileSettingsV2(
        preferences=settings.preferences,
        privacy=settings.privacy,
        notification=settings.notification,
    )
