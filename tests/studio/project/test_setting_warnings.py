from __future__ import annotations

import asyncio

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings, sanitise
from lorestudio.studio.project.settings import setting_warnings
from lorestudio.studio.replay.simulator import Simulator
from tests.studio.previews import project_of

EMPTY = VaultIndex()


def by_alias(settings: DeepLoreSettings, index: VaultIndex = EMPTY) -> dict[str, bool]:
    return {each.alias: each.is_error for each in setting_warnings(settings, index)}


def test_settings_that_let_nothing_match_are_an_error() -> None:
    assert by_alias(DeepLoreSettings()) == {}
    assert by_alias(DeepLoreSettings(scan_depth=0)) == {"scanDepth": True}


def test_settings_are_held_against_the_vault() -> None:
    entries = tuple(Entry(n, f"{n}.md", "v", f"N{n}", "x", (), constant=True, tokens=2000) for n in range(2))
    assert set(by_alias(DeepLoreSettings(max_entries=2), VaultIndex(entries))) == {"maxTokensBudget", "maxEntries"}


def test_what_a_file_says_oddly_and_what_a_run_warned_about_is_there_too() -> None:
    problems = (*sanitise({"scanDepth": 400, "nope": 1}).problems, "chat.jsonl: line 3 was left out.")
    simulator_trace = replace(_trace(), warnings=("Lore takes 90 % of the context.",))
    found = setting_warnings(DeepLoreSettings(), VaultIndex(), problems, simulator_trace)
    assert [(each.alias, each.text) for each in found] == [
        ("", "Lore takes 90 % of the context."),
        ("scanDepth", "400 is used as 100 (allowed: 0 to 100 messages)."),
    ]


def test_what_a_run_of_another_system_warned_about_is_not_of_these_settings() -> None:
    trace = replace(_trace(), system="world-info", warnings=("The budget of 2048 tokens was full.",))
    assert setting_warnings(DeepLoreSettings(), VaultIndex(), (), trace) == ()


def _trace():

    simulator = Simulator(project_of())
    return asyncio.run(simulator.generate(simulator.generations[0]))
