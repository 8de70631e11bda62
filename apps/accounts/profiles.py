"""A person's profile: who they say they are and what they prefer.

Nobody needs a row: without one the installation's defaults hold. A stored row is upgraded when it
is read, or, with KBQA_SETTINGS_UPGRADE=lazy, when the person changes something.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import get_supported_language_variant
from pydantic import ValidationError

from apps.accounts.models import Profile
from apps.accounts.preferences import (
    LATEST_VERSION,
    PreferenceSettings,
    ProfileSettingsV2,
    parse_profile_settings,
    upgraded,
)
from apps.core.errors import ValidationFailedError
from apps.core.text.cleaning import clean_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from apps.accounts.models import User

logger = logging.getLogger(__name__)

USERNAME_MAX_CHARS = 150
BIO_MAX_CHARS = 2000
LANGUAGE_TAGS = {"zh-hans": "zh-CN", "en": "en-US"}  # Django's language codes to BCP-47


@dataclass(frozen=True, slots=True)
class Person:
    """What the product reads of a profile; `chosen` names the preferences that are no default."""

    username: str
    bio: str | None
    preferences: PreferenceSettings
    chosen: frozenset[str]


def read_person(user: User) -> Person:
    """Return a person's profile; settings that cannot be read give the defaults and a log line."""
    profile = Profile.objects.filter(user=user).first()
    if profile is None:
        return Person(user.get_username(), None, _with_defaults({}), frozenset())
    chosen = _chosen(_settings_of(profile))
    if _is_outdated(profile) and settings.ENV.settings_upgrade == "eager":
        _store_upgrade(profile)
    return Person(
        profile.username or user.get_username(),
        profile.bio,
        _with_defaults(chosen),
        frozenset(chosen),
    )


def stored_preferences(user: User) -> dict[str, str]:
    """Return by name what a stored profile prefers, defaults left out; one query."""
    profile = Profile.objects.filter(user=user).first()
    return {} if profile is None else _chosen(_settings_of(profile))


def page_language(tag: str) -> str | None:
    """Return the language of the pages that a BCP-47 tag asks for, None when we have none."""
    try:
        return get_supported_language_variant(tag.lower())
    except LookupError:
        return None


@transaction.atomic
def change_profile(
    user: User, *, username: str | None = None, bio: str | None = None, **preferences: str | None
) -> Person:
    """Change what is not None and store nothing else; settings get the latest version.

    Raises:
        ValidationFailedError: a text is too long or a preference is not of its form.
    """
    profile = Profile.objects.filter(user=user).first() or Profile(user=user)
    if username is not None:
        name = " ".join(clean_text(username).split())  # one line, in a header or a prompt
        profile.username = _text(name, "username", USERNAME_MAX_CHARS)
    if bio is not None:
        profile.bio = _text(bio, "bio", BIO_MAX_CHARS) or None
    changes = {name: value for name, value in preferences.items() if value is not None}
    profile.settings = _changed(_settings_of(profile), changes)
    profile.save()
    return read_person(user)


def _with_defaults(chosen: Mapping[str, str]) -> PreferenceSettings:
    """Return the preferences with the installation's defaults for what is not chosen."""
    language = LANGUAGE_TAGS.get(settings.ENV.language, settings.ENV.language)
    defaults = {
        "interface_language": language,
        "ai_language": language,
        "timezone": settings.ENV.time_zone,
    }
    return PreferenceSettings(**defaults | dict(chosen))


def _chosen(kept: ProfileSettingsV2) -> dict[str, str]:
    return kept.preferences.model_dump(exclude_unset=True)


def _settings_of(profile: Profile) -> ProfileSettingsV2:
    try:
        return upgraded(parse_profile_settings(profile.settings))
    except ValidationError:
        logger.warning("settings of the profile of %s are unreadable", profile.user_id)
        return ProfileSettingsV2()


def _is_outdated(profile: Profile) -> bool:
    kept = profile.settings
    return isinstance(kept, dict) and bool(kept.get("version", 1) != LATEST_VERSION)


def _store_upgrade(profile: Profile) -> None:
    """Write the latest version, unless the settings changed or cannot be read."""
    try:
        latest = upgraded(parse_profile_settings(profile.settings))
    except ValidationError:
        return
    Profile.objects.filter(pk=profile.pk, settings=profile.settings).update(
        settings=_stored_form(latest)
    )


def _changed(kept: ProfileSettingsV2, changes: Mapping[str, str]) -> dict[str, Any]:
    try:
        preferences = PreferenceSettings(**_chosen(kept) | dict(changes))
    except ValidationError as error:
        mistakes = [
            f"{item['loc'][0]}: {item['msg'].removeprefix('Value error, ')}"
            for item in error.errors()
        ]
        raise ValidationFailedError(detail="; ".join(mistakes)) from None
    return _stored_form(kept.model_copy(update={"preferences": preferences}))


def _stored_form(kept: ProfileSettingsV2) -> dict[str, Any]:
    """Return the settings as JSON, without the preferences that nobody chose."""
    return kept.model_dump(mode="json") | {"preferences": _chosen(kept)}


def _text(value: str, name: str, max_chars: int) -> str:
    text = clean_text(value).strip()
    if len(text) > max_chars:
        raise ValidationFailedError(detail=f"{name}: at most {max_chars} characters")
    return text
