import json

import pytest

from lorestudio.settings.declaration import declared
from lorestudio.settings.files import SettingsError
from lorestudio.settings.recap import RecapSettings, extension_settings, load_recap_settings, read_recap_settings


def test_the_defaults_to_ship():
    settings = RecapSettings()
    assert (settings.message_recap_context_limit, settings.message_recap_context_type) == (10, "percent")
    assert (settings.auto_hide_scene_count, settings.position_dialect) == (2, "seed")
    assert (settings.running_scene_recap_position, settings.running_scene_recap_depth) == (2, 2)
    assert (settings.auto_scene_break_message_offset, settings.auto_scene_break_minimum_scene_length) == (8, 10)
    assert "{{running_recap}}" in settings.running_scene_recap_template


def test_every_setting_is_named_in_files_as_here_and_says_what_it_does():
    for known in declared(RecapSettings):
        assert known.alias == known.name
        assert known.title
        assert known.help.endswith(".")
        assert known.default == getattr(RecapSettings(), known.name)


def test_titles_are_not_used_twice_in_a_group():
    named = [(known.group, known.title) for known in declared(RecapSettings)]
    assert len(named) == len(set(named))


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("message_recap_context_limit", 12.5, 12.5), ("message_recap_context_limit", 12, 12.0),
        ("message_recap_context_type", "tokens", "absolute"), ("auto_hide_scene_count", -1, -1),
        ("auto_hide_scene_count", 3.0, 3), ("show_prefill", True, True),
        ("position_dialect", "sillytavern", "sillytavern"),
        ("running_scene_recap_role", 2, 2), ("show_prefill", None, False),
    ],
)  # fmt: skip
def test_values_that_can_be_used(key, value, kept):
    read = read_recap_settings({key: value})
    assert read.problems == ()
    assert getattr(read.settings, key) == kept


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("auto_hide_scene_count", 1.5, "no whole number"), ("auto_hide_scene_count", -2, "-1 to 1000"),
        ("show_prefill", 1, "neither true nor false"), ("message_length_threshold", True, "no number"),
        ("position_dialect", "host", "seed, sillytavern"), ("running_scene_recap_role", 7, "0, 1, 2"),
        ("prefill", 3, "no text"), ("max_retries", [1], "is no value"),
    ],
)  # fmt: skip
def test_values_that_cannot_be_used_give_way_to_the_default_and_are_told(key, value, told):
    read = read_recap_settings({key: value})
    assert getattr(read.settings, key) == getattr(RecapSettings(), key)
    assert len(read.problems) == 1
    assert told in read.problems[0]


def test_settings_are_found_in_sillytaverns_file(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"extension_settings": {"auto_recap": {"recap_delay": 4}}}), encoding="utf-8")
    assert load_recap_settings(path).settings.recap_delay == 4
    groups = {"1700": ["tom.png", "ada.png"], "1701": ["tom.png"], "1702": "odd"}
    inside = {"disabled_group_characters": groups}
    path.write_text(json.dumps({"extension_settings": {"auto_recap": inside}}), encoding="utf-8")
    assert load_recap_settings(path).settings.disabled_members == "tom.png, ada.png"
    assert extension_settings(path) == load_recap_settings(path).settings
    path.write_text(json.dumps({"extension_settings": {}}), encoding="utf-8")
    with pytest.raises(SettingsError, match="no settings of recap memory"):
        load_recap_settings(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(SettingsError, match="no object"):
        load_recap_settings(path)
