"""How DeepLore reads a settings object (rules: deeplore 2.1; deeplore-tools 4.2)."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from lorestudio.settings.deeplore import (
    CARRIED,
    MOST_UNKNOWN,
    DeepLoreSettings,
    declarations,
    dump,
    effective_values,
    same,
    sanitise,
)

BY_ALIAS = {declaration.alias: declaration for declaration in declarations()}

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text("0123456789.-xe ", max_size=5)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2)
)


@pytest.mark.parametrize(
    ("key", "raw", "expected"),
    [
        ("scanDepth", -5, 0),
        ("scanDepth", 101, 100),
        ("scanDepth", 4.5, 5),
        ("scanDepth", 2.5, 3),
        ("scanDepth", 4.4, 4),
        ("scanDepth", "7", 7),
        ("scanDepth", "abc", 4),
        ("scanDepth", "", 0),
        ("scanDepth", None, 0),
        ("scanDepth", True, 1),
        ("scanDepth", [], 0),
        ("scanDepth", "1e1", 10),
        ("scanDepth", {}, 4),
        ("maxEntries", 0, 1),
        ("maxEntries", 1.5, 2),
        ("maxEntries", 100.6, 100),
        ("fuzzySearchMinScore", 0.05, 0.1),
        ("fuzzySearchMinScore", 5, 2),
        ("fuzzySearchMinScore", None, 0.1),
        ("hierarchicalAggressiveness", 0.9, 0.8),
        ("hierarchicalAggressiveness", -1, 0),
        ("newChatThreshold", 0, 1),
        ("newChatThreshold", 21, 20),
        ("injectionDepth", 10_000, 9999),
        ("maxTokensBudget", 50, 100),
        ("maxTokensBudget", None, 100),
        ("maxTokensBudget", "", 100),
        ("maxTokensBudget", 10**400, 100_000),
        ("maxTokensBudget", -math.inf, 100),
        ("injectionMode", "x", "extension"),
        ("injectionMode", None, "extension"),
        ("injectionMode", ["prompt_list"], "extension"),
        ("multiVaultConflictResolution", "x", "all"),
        ("librarianConnectionMode", "none", "inherit"),
        ("librarianSystemPromptMode", "replace", "default"),
        ("lorebookTag", "  ", "lorebook"),
        ("lorebookTag", "  Lore ", "Lore"),
    ],
)
def test_values_that_deeplore_corrects(key: str, raw: object, expected: object) -> None:
    result = sanitise({key: raw})
    assert result.corrected == {key: expected}
    assert same(getattr(result.settings, BY_ALIAS[key].name), expected)
    assert len(result.problems) == 1
    assert result.problems[0].startswith(f"{key}: ")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scanDepth", 7),
        ("scanDepth", 7.0),
        ("fuzzySearchMinScore", 0.333),
        ("injectionMode", "prompt_list"),
        ("multiVaultConflictResolution", "merge"),
        ("librarianSystemPromptMode", "strict-override"),
        ("lorebookTag", "Lore"),
        ("aiErrorFallback", "none"),
    ],
)
def test_values_in_order_stay_without_a_message(key: str, value: object) -> None:
    result = sanitise({key: value})
    assert getattr(result.settings, BY_ALIAS[key].name) == value
    assert (dict(result.corrected), dict(result.adapted), result.problems) == ({}, {}, ())


def test_an_empty_object_gives_the_defaults() -> None:
    result = sanitise({})
    assert result.settings == DeepLoreSettings()
    assert not result.corrected
    assert not result.problems


@pytest.mark.parametrize(
    ("raw", "expected"),
    [("false", True), ("", False), (0, False), (2, True), (None, False), ([], True), ({}, True), (math.nan, False)],
)
def test_switches_go_by_javascript_truth(raw: object, expected: bool) -> None:
    result = sanitise({"caseSensitive": raw})
    assert result.settings.case_sensitive is expected
    assert not result.corrected
    assert result.adapted == {"caseSensitive": expected}
    assert effective_values({"caseSensitive": raw})["caseSensitive"] is raw


@pytest.mark.parametrize(("raw", "expected"), [(False, False), (0, True), (None, True), ("", True), (True, True)])
def test_only_false_itself_turns_lenient_authoring_off(raw: object, expected: bool) -> None:
    assert sanitise({"lenientAuthoring": raw}).settings.lenient_authoring is expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [("2", 2), (" 0 ", 0), (2.0, 2), (-1, -1), (7, 7), ("abc", 1), (None, 1), ("", 1), (True, 1), (1.5, 1), ([2], 1)],
)
def test_positions_are_whole_numbers_here(raw: object, expected: int) -> None:
    result = sanitise({"injectionPosition": raw})
    assert result.settings.injection_position == expected
    assert type(result.settings.injection_position) is int
    assert not result.corrected  # DeepLore keeps whatever it finds


def test_a_role_written_as_text_counts() -> None:
    result = sanitise({"injectionRole": "2"})
    assert result.settings.injection_role == 2
    assert result.adapted == {"injectionRole": 2}


@pytest.mark.parametrize(
    ("raw", "expected"), [(None, ""), (0, ""), (False, ""), (7, "7"), (True, "true"), (["a"], "a")]
)
def test_unchecked_texts_keep_their_truth(raw: object, expected: str) -> None:
    assert sanitise({"aiSearchMode": raw}).settings.ai_search_mode == expected


def test_an_unchecked_value_that_means_nothing_is_kept_and_told() -> None:
    result = sanitise({"aiErrorFallback": "nothing", "injectionRole": 5})
    assert result.settings.ai_error_fallback == "nothing"
    assert result.settings.injection_role == 5
    assert not result.corrected
    assert [problem.split(":")[0] for problem in result.problems] == ["injectionRole", "aiErrorFallback"]


def test_a_tag_that_is_no_text_is_replaced() -> None:
    result = sanitise({"lorebookTag": None})
    assert result.settings.lorebook_tag == "lorebook"
    assert result.adapted == {"lorebookTag": "lorebook"}


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert sanitise({"injectionTemplate": "a\ud800b😀"}).settings.injection_template == "a\ufffdb😀"


def test_a_number_that_is_none_stays_none_for_deeplore_and_is_the_default_here() -> None:
    assert math.isnan(effective_values({"scanDepth": math.nan})["scanDepth"])
    result = sanitise({"scanDepth": math.nan})
    assert result.settings.scan_depth == 4
    assert result.adapted == {"scanDepth": 4}


def test_unknown_keys_are_kept_and_a_slip_is_recognised() -> None:
    raw = {"scan_depth": 3, "zzz": [1], "vaults": [{"apiKey": "secret"}], "debugMode": True}
    result = sanitise(raw)
    assert result.unknown == raw
    assert [problem for problem in result.problems if "Did you mean scanDepth?" in problem]
    assert len(result.problems) == 2  # the two that DeepLore itself has are no mistake
    assert "secret" not in repr(result) + "".join(result.problems)


def test_of_very_many_unknown_keys_the_first_are_told_and_all_are_kept() -> None:
    raw = {f"strange{number}": number for number in range(MOST_UNKNOWN + 1234)}
    result = sanitise(raw)
    assert result.unknown == raw
    told = [problem for problem in result.problems if "no such setting" in problem]
    assert [problem.partition(":")[0] for problem in told] == [*raw][:MOST_UNKNOWN]
    assert told[-1].endswith("1,234 more keys.")


def test_old_librarian_settings_are_brought_up_to_date() -> None:
    result = sanitise({"settingsVersion": 1, "librarianSessionModel": "m", "librarianConnectionMode": "profile"})
    assert result.settings.librarian_model == "m"
    assert result.settings.librarian_connection_mode == "inherit"
    assert result.corrected == {"settingsVersion": 3, "librarianModel": "m", "librarianConnectionMode": "inherit"}
    assert result.unknown == {"librarianSessionModel": "m"}


def test_a_librarian_profile_with_an_id_stays() -> None:
    raw = {"settingsVersion": 2, "librarianConnectionMode": "profile", "librarianProfileId": "p"}
    assert sanitise(raw).settings.librarian_connection_mode == "profile"


def test_current_librarian_settings_are_left_alone() -> None:
    assert sanitise({"librarianConnectionMode": "profile"}).settings.librarian_connection_mode == "profile"


def test_the_model_itself_refuses_what_is_out_of_range_or_of_another_type() -> None:
    with pytest.raises(ValidationError, match="less than or equal to 100"):
        DeepLoreSettings(scan_depth=101)
    with pytest.raises(ValidationError, match="valid integer"):
        DeepLoreSettings.model_validate({"scan_depth": "4"})
    with pytest.raises(ValidationError, match="frozen"):
        DeepLoreSettings().scan_depth = 3


def test_dump_holds_what_differs_from_the_defaults() -> None:
    settings = DeepLoreSettings(scan_depth=6, allow_wi_scan=True, cache_ttl=0, fuzzy_search_min_score=1.0)
    assert dump(settings) == {"scanDepth": 6, "cacheTTL": 0, "fuzzySearchMinScore": 1, "allowWIScan": True}
    assert dump(DeepLoreSettings()) == {}


def test_every_key_of_deeplore_has_a_place() -> None:
    # The table has 156 keys; four more occur in files (rules: deeplore-tools 4.2, 4.4). 21 came with 2.5
    # (rules: deeplore-newer 2), and the studio's own says whose rules hold.
    assert not CARRIED & BY_ALIAS.keys()
    assert len([each for each in BY_ALIAS.values() if each.since]) == 21
    assert len(BY_ALIAS) + len(CARRIED) == 156 + 4 + 21 + 1


@given(st.dictionaries(st.sampled_from([*BY_ALIAS, "scandepth", "vaults"]), values))
@example({"enabled": None, "settingsVersion": 9007199254740994.0})
@example({"settingsVersion": 5.5})
@example({"rules": "2.6", "vaults": None})
def test_any_object_can_be_read_and_the_result_is_stable(raw: dict[str, object]) -> None:
    result = sanitise(raw)
    again = sanitise(dump(result.settings))
    assert again.settings == result.settings
    assert not again.corrected
    assert not again.adapted
    assert result.unknown.keys() == raw.keys() - BY_ALIAS.keys()
    assert {problem.split(":")[0] for problem in result.problems} >= {*result.corrected, *result.adapted}
