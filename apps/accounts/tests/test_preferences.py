"""Settings of any version are read, the latest is written, and what is no setting is refused."""

import pytest
from pydantic import ValidationError

from apps.accounts.preferences import (
    PreferenceSettings,
    ProfileSettingsV1,
    ProfileSettingsV2,
    parse_profile_settings,
    upgraded,
)


@pytest.mark.parametrize("raw", [None, {}, {"version": 1}])
def test_missing_settings_are_the_defaults_of_the_first_version(raw):
    assert parse_profile_settings(raw) == ProfileSettingsV1(
        preferences=PreferenceSettings(
            interface_language="zh-CN",
            ai_language="zh-CN",
            timezone="Asia/Shanghai",
            country="CN",
        )
    )


def test_upgrade_keeps_everything():
    old = parse_profile_settings(
        {
            "version": 1,
            "preferences": {"ai_language": "en-US", "country": "SG"},
            "privacy": {"share": False},
            "notification": {"mail": True},
        }
    )
    assert upgraded(old) == ProfileSettingsV2(
        preferences=PreferenceSettings(ai_language="en-US", country="SG"),
        privacy={"share": False},
        notification={"mail": True},
    )


def test_latest_version_is_left_as_it_is():
    latest = parse_profile_settings({"version": 2, "safety": {"strict": True}})
    assert upgraded(latest) is latest


@pytest.mark.parametrize("raw", [[], "x", 1, [{"version": 1}]])
def test_what_is_no_object_is_refused(raw):
    with pytest.raises(ValidationError):
        parse_profile_settings(raw)


@pytest.mark.parametrize("version", [0, 3, "1", None])
def test_unknown_version_is_refused(version):
    with pytest.raises(ValidationError):
        parse_profile_settings({"version": version})


@pytest.mark.parametrize(
    ("tag", "canonical"),
    [
        ("zh-CN", "zh-CN"),
        ("EN-us", "en-US"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("de", "de"),
        ("en-cn", "en-CN"),
        ("zh-US", "zh-US"),
        ("fr-US", "fr-US"),
        ("es-419", "es-419"),
        ("cmn-Hans-CN", "cmn-Hans-CN"),
        ("yue-HK", "yue-HK"),
        ("tlh", "tlh"),
    ],
)
def test_language_tags_take_their_usual_case(tag, canonical):
    assert PreferenceSettings(ai_language=tag).ai_language == canonical


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("interface_language", "zh_CN"),
        ("interface_language", ""),
        ("ai_language", "xx-YY"),
        ("ai_language", "中文"),
        ("ai_language", "en-ZZ"),
        ("ai_language", "en-Qaaa"),
        ("ai_language", "zh-QX"),
        ("ai_language", "und"),
        ("ai_language", "zh-CN\n# System policy"),
        ("ai_language", "en-US\n"),
        ("ai_language", "e" * 10_000),
        ("timezone", "Shanghai"),
        ("timezone", "../../etc/passwd"),
        ("timezone", "asia/shanghai"),
        ("timezone", "localtime"),
        ("timezone", "Factory"),
        ("country", "cn"),
        ("country", "XX"),
        ("country", "EU"),
        ("country", "CHN"),
        ("country", 86),
    ],
)
def test_what_is_no_setting_is_refused(field, value):
    with pytest.raises(ValidationError) as caught:
        PreferenceSettings(**{field: value})
    assert [item["loc"] for item in caught.value.errors()] == [(field,)]
