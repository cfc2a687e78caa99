from __future__ import annotations

import pytest

from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import NO_STAGE, Grouping, Section, declared, matching, setting_groups
from lorestudio.settings.deeplore import DeepLoreSettings, declarations
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.sections import differences, value_text
from lorestudio.settings.worldinfo import WorldInfoSettings


def named(name: str):
    return next(each for each in declarations() if each.name == name)


def test_every_setting_is_in_one_section_and_the_sections_are_as_declared() -> None:
    groups = setting_groups(declarations())
    assert [group.title for group in groups][:3] == ["General", "Tags", "Index"]
    assert setting_groups(declared(ContextWindowSettings))[0].title == "Context window", (
        "not how a word list is counted"
    )
    listed = [each.name for group in groups for each in group.settings]
    assert sorted(listed) == sorted(each.name for each in declarations())


@pytest.mark.parametrize(
    "section",
    [DeepLoreSettings, ContextWindowSettings, FactsSettings, HybridSettings, RecapSettings, WorldInfoSettings],
)
def test_by_stage_a_setting_stands_under_each_stage_that_it_changes(section: type[Section]) -> None:
    groups = {group.title: group for group in setting_groups(declared(section), Grouping.STAGE, section.stages)}
    for each in declared(section):
        under = {title for title, group in groups.items() if each in group.settings}
        assert under == (set(each.affects) or {NO_STAGE}), each.name
    order = [title for title in groups if title != NO_STAGE]
    assert order == [stage for stage in section.stages if stage in groups]
    assert NO_STAGE not in list(groups)[:-1]


def test_every_word_has_to_occur_somewhere() -> None:
    def names(words: str) -> set[str]:
        return {each.name for each in matching(words, declarations())}

    assert names("scanDepth") == {
        "scan_depth",
        "ai_search_scan_depth",
        "scribe_scan_depth",
    }  # keys end so, in any capitals
    assert "max_tokens_budget" in names("TOKEN room")  # title and help, whatever the capitals
    assert "fuzzy_search_min_score" in names("bm25 least")  # a stage
    assert names("no such thing") == set()
    assert names("") == {each.name for each in declarations()}


def test_differences_are_listed_in_reading_order_with_both_values() -> None:
    found = differences(DeepLoreSettings(), DeepLoreSettings(max_entries=3, scan_depth=1, case_sensitive=True))
    assert [(each.declaration.name, each.before, each.after) for each in found] == [
        ("scan_depth", 4, 1),
        ("case_sensitive", False, True),
        ("max_entries", 10, 3),
    ]
    assert found[0].declaration.label == "Matching: Scan depth"
    values = [value_text(found[0].declaration, each) for each in (found[0].before, found[0].after)]
    assert values == ["4 messages", "1 message"]
    assert differences(DeepLoreSettings(), DeepLoreSettings()) == ()


def test_values_are_written_for_people() -> None:
    assert value_text(named("max_tokens_budget"), 3072) == "3,072 tokens"
    assert value_text(named("max_tokens_budget"), 3072.5) == "3,072.5 tokens"
    assert value_text(named("max_entries"), 1) == "1 entry"
    assert value_text(named("scan_depth"), 0) == "keys off (0)"
    assert value_text(named("scan_depth"), 1) == "1 message"
    assert value_text(named("case_sensitive"), True) == "on"
    assert value_text(named("injection_position"), 1) == "1 (In the chat, at the depth below)"
    assert value_text(named("injection_position"), 7) == "7"
    assert value_text(named("ai_search_mode"), "ai-only") == "ai-only"
    assert value_text(named("lorebook_tag"), "lore") == "“lore”"
    assert value_text(named("scribe_prompt"), "") == "(empty)"
    assert value_text(named("scribe_prompt"), "a\n" + "b" * 90) == "“a " + "b" * 57 + "…”"
    assert value_text(named("hierarchical_aggressiveness"), 0.25) == "0.25"
    exchanges = next(each for each in declared(HybridSettings) if each.name == "exchanges")
    assert [value_text(exchanges, value) for value in (1, 10)] == ["1 exchange", "10 exchanges"]
    assert value_text(named("scan_depth"), "six") == "“six”"  # as a file may say


def test_what_belongs_to_one_computer_is_declared_so() -> None:
    local = {each.alias for each in declarations() if each.local}
    assert {"obsidianPort", "aiSearchProfileId", "scribeProxyUrl", "librarianModel", "graphGravity"} <= local
    assert not {"enabled", "scanDepth", "aiSearchTimeout", "scribeMaxTokens"} & local


def test_prompts_and_templates_are_long() -> None:
    assert {each.name for each in declarations() if each.long} == {
        "injection_template", "ai_search_system_prompt", "ai_notepad_prompt", "ai_notepad_extract_prompt",
        "scribe_prompt", "auto_suggest_prompt", "optimize_keys_prompt", "librarian_custom_system_prompt",
        "summary_system_prompt", "response_prefill_seed",
    }  # fmt: skip
