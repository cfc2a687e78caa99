"""DeepLore's rule sets: their names, and which settings object shows which (rules: deeplore-newer 4)."""

from __future__ import annotations

import pytest

from lorestudio.settings.deeplore import DeepLoreSettings, dump, rules_in, sanitise
from lorestudio.settings.rules import NEW, OLD, OLD_RULES, RuleSet, changed_rules, name_of, rules_of, with_rule


def test_2_0_2_has_none_of_the_changed_rules_and_2_6_all() -> None:
    assert rules_of(OLD) == OLD_RULES == RuleSet()
    assert all(rules_of(NEW).model_dump().values())
    assert {rule.name for rule in changed_rules()} == set(RuleSet.model_fields)


def test_single_rules_are_added_and_taken_back() -> None:
    one = rules_of("2.0.2+kept_log")
    assert one.model_dump(exclude_defaults=True) == {"kept_log": True}
    assert name_of(one) == "2.0.2+kept_log"
    assert with_rule("2.0.2+kept_log", "kept_log", holds=False) == OLD
    assert with_rule(NEW, "answer_slot", holds=False) == "2.6-answer_slot"
    assert name_of(rules_of("2.6-answer_slot-kept_log")) == "2.6-answer_slot-kept_log"


@pytest.mark.parametrize("name", ["", "2.5", "2.6+", "2.0.2+stripping", "2.6 kept_log", "3"])
def test_a_name_that_there_is_not_is_refused_with_what_can_be_written(name: str) -> None:
    with pytest.raises(ValueError, match=r"Write 2\.0\.2 or 2\.6"):
        rules_of(name)


@pytest.mark.parametrize(
    ("raw", "version"),
    [
        ({}, OLD),
        ({"settingsVersion": 3}, OLD),
        ({"settingsVersion": 4}, NEW),
        ({"settingsVersion": "5"}, OLD),  # DeepLore writes a number
        ({"priorityReversed": False}, NEW),
        ({"_proxyMigrationV2_5_notice": []}, NEW),
        ({"librarianPerMessageActivity": True, "aiSearchConnectionMode": "proxy"}, OLD),  # 2.0.2 has them too
        ({"settingsVersion": 5, "rules": OLD}, OLD),
        ({"rules": NEW}, NEW),
        ({"rules": "2.5", "settingsVersion": 5}, NEW),
    ],
)
def test_where_nothing_is_said_the_settings_show_whose_they_are(raw: dict[str, object], version: str) -> None:
    assert rules_in(raw) == sanitise(raw).settings.rules == version


def test_the_person_is_told_how_the_rules_were_found() -> None:
    (told,) = sanitise({"settingsVersion": 5}).problems
    assert "settingsVersion" in told
    (told,) = sanitise({"rules": "9"}).problems
    assert told.startswith('rules: "9" is used as "2.0.2"')
    assert sanitise({"rules": NEW}).problems == ()


def test_rules_that_were_chosen_are_kept_whatever_the_other_keys_show() -> None:
    chosen = sanitise({"settingsVersion": 5}).settings.model_copy(update={"rules": OLD})
    assert sanitise(dump(chosen)).settings.rules == OLD
    assert dump(DeepLoreSettings(rules=NEW))["rules"] == NEW


@pytest.mark.parametrize(
    ("rules", "raw", "settings"),
    [
        (OLD, {"maxEntries": None, "settingsVersion": 3}, {"max_entries": 1, "settings_version": 3}),
        (NEW, {"maxEntries": None}, {"max_entries": 0, "settings_version": 5}),
        (NEW, {"maxEntries": float("nan")}, {"max_entries": 1}),
        (NEW, {"aiSearchConnectionMode": "st"}, {"ai_search_connection_mode": "profile"}),
        (NEW, {"aiSearchConnectionMode": "proxy"}, {"ai_search_connection_mode": "proxy"}),
        (NEW, {"aiSearchConnectionMode": "proxy", "settingsVersion": 3}, {"ai_search_connection_mode": "profile"}),
        (NEW, {}, {"librarian_per_message_activity": True}),
        (OLD, {}, {"librarian_per_message_activity": False}),
        (NEW, {"aiManifestIncludeFields": ["era", " mood "]}, {"ai_manifest_include_fields": "era, mood"}),
        (NEW, {"librarianSessionToolCallCap": "5"}, {"librarian_session_tool_call_cap": "5"}),
    ],
)
def test_settings_are_repaired_as_their_version_does(
    rules: str, raw: dict[str, object], settings: dict[str, object]
) -> None:
    """Rules: deeplore-newer 1.15, 2."""
    read = sanitise({**raw, "rules": rules}).settings
    assert {name: getattr(read, name) for name in settings} == settings


def test_lists_and_numbers_that_may_be_missing_are_written_as_files_have_them() -> None:
    settings = DeepLoreSettings(rules=NEW, ai_manifest_include_fields="era, mood", librarian_session_tool_call_cap="7")
    written = dump(settings)
    assert written["aiManifestIncludeFields"] == ["era", "mood"]
    assert written["librarianSessionToolCallCap"] == 7
