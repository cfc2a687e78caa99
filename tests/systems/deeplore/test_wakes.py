from __future__ import annotations

import pytest

from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.base import Wake
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.key_search import DeepLoreWakes
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index

NOTES = {
    "Bell": ("keys: [bell]", "The Lamp and the LAMPS burn; the tide comes."),
    "Lamp": ("keys: [glow, lamp]\nexcludeRecursion: true", "A bell."),
    "Tide": ("keys: [tide]\nrefine_keys: [flood]", "bell"),
    "Flood": ("keys: [flood, tide]\nwarmup: 2", "A tide, a flood."),
    "Never": ("keys: [lamp]\nprobability: 0", "Bell, bell."),
    "Always": ("keys: [lamp]\nconstant: true", "A glow."),
    "Guide": ("tags: [lorebook-guide]\nkeys: [lamp]", "lamp"),
}


def index(**settings: object) -> tuple[DeepLoreIndex, DeepLoreSettings]:
    chosen = DeepLoreSettings(recursive_scan=True).model_copy(update=settings)
    files = [
        NoteFile(f"{title}.md", f"---\n{'' if 'tags' in front else 'tags: [lorebook]'}\n{front}\n---\n{body}\n")
        for title, (front, body) in NOTES.items()
    ]
    return DeepLoreIndex(build_index([VaultFiles("v", tuple(files))], chosen, CHARS_4)), chosen


def told(wakes: dict[str, tuple[Wake, ...]], vault: DeepLoreIndex) -> dict[str, list[tuple[str, str, str | None, str]]]:
    """By title of the source: title, key, refine key and obstacle of what it wakes."""
    entries = vault.vault.entries
    return {
        source: [(entries[wake.target].title, wake.key, wake.refine_key, wake.obstacle) for wake in found]
        for source, found in wakes.items()
        if found
    }


def test_wakes_by_the_rules_of_recursion() -> None:
    vault, settings = index()
    finder = DeepLoreWakes(vault.vault, settings)
    assert told({entry.title: finder.wakes(entry) for entry in vault.visible}, vault) == {
        "Bell": [
            ("Lamp", "lamp", None, ""),
            ("Flood", "tide", None, "warmup_short"),
            ("Never", "lamp", None, "probability_zero"),
        ],
        "Tide": [("Bell", "bell", None, "")],
        "Flood": [("Tide", "tide", "flood", "")],
        "Never": [("Bell", "bell", None, "")],
        "Always": [("Lamp", "glow", None, "")],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "woken"), [({"case_sensitive": True}, []), ({"match_whole_words": True}, ["Lamp", "Never"])]
)
def test_the_settings_for_case_and_whole_words_count(settings: dict[str, bool], woken: list[str]) -> None:
    vault, chosen = index(**settings)
    titles = [
        vault.vault.entries[wake.target].title
        for wake in DeepLoreWakes(vault.vault, chosen).wakes(vault.of_title["Bell"][-1])
    ]
    assert [title for title in titles if title in ("Lamp", "Never")] == woken


def test_woken_by() -> None:
    vault, settings = index()
    finder = DeepLoreWakes(vault.vault, settings)
    woken = finder.woken_by(vault.of_title["Bell"][-1])
    assert [vault.vault.entries[wake.source].title for wake in woken] == ["Tide", "Never"]
    assert finder.wakes(vault.of_title["Lamp"][-1]) == ()  # excludeRecursion
    assert finder.woken_by(vault.of_title["Always"][-1]) == ()


@pytest.mark.parametrize("setting", [{"recursive_scan": False}, {"scan_depth": 0}])
def test_without_recursion_nothing_is_woken(setting: dict[str, int]) -> None:
    vault, settings = index(**setting)
    finder = DeepLoreWakes(vault.vault, settings)
    assert not any((*finder.wakes(entry), *finder.woken_by(entry)) for entry in vault.visible)
    assert (finder.off, DeepLoreWakes(vault.vault, index()[1]).off) == (True, False)
