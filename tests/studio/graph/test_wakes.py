from __future__ import annotations

import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.graph.recursion_links import Wakes, all_wakes, wakes_of
from lorestudio.systems.deeplore.index import DeepLoreIndex
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
    chosen = DeepLoreSettings().model_copy(update=settings)
    files = [
        NoteFile(f"{title}.md", f"---\n{'' if 'tags' in front else 'tags: [lorebook]'}\n{front}\n---\n{body}\n")
        for title, (front, body) in NOTES.items()
    ]
    return DeepLoreIndex(build_index([VaultFiles("v", tuple(files))], chosen, CHARS_4)), chosen


def told(wakes: Wakes, vault: DeepLoreIndex) -> dict[str, list[tuple[str, str, str | None, str]]]:
    """By title of the source: title, key, refine key and obstacle of what it wakes."""
    entries = vault.vault.entries
    return {
        entries[source].title: [
            (entries[wake.target].title, wake.key, wake.refine_key, wake.obstacle) for wake in found
        ]
        for source, found in wakes.by_source.items()
    }


def test_wakes_by_the_rules_of_recursion() -> None:
    vault, settings = index()
    assert told(all_wakes(vault, settings), vault) == {
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
    ("settings", "woken"),
    [
        ({"case_sensitive": True}, []),
        ({"match_whole_words": True}, ["Lamp", "Never"]),
    ],
)
def test_the_settings_for_case_and_whole_words_count(settings: dict[str, bool], woken: list[str]) -> None:
    vault, chosen = index(**settings)
    titles = [vault.vault.entries[wake.target].title for wake in wakes_of(vault, chosen, vault.by_title["Bell"])]
    assert [title for title in titles if title in ("Lamp", "Never")] == woken


def test_woken_by() -> None:
    vault, settings = index()
    wakes = all_wakes(vault, settings)
    bell, lamp = vault.by_title["Bell"], vault.by_title["Lamp"]
    assert [vault.vault.entries[wake.source].title for wake in wakes.woken_by(bell.id)] == ["Tide", "Never"]
    assert wakes.wakes(lamp.id) == ()  # excludeRecursion
    assert wakes.woken_by(vault.by_title["Always"].id) == ()


def test_changed_for_one_entry() -> None:
    vault, settings = index()
    wakes = all_wakes(vault, settings)
    bell, tide = vault.by_title["Bell"], vault.by_title["Tide"]
    without = wakes.changed(tide.id, ())
    assert [vault.vault.entries[wake.source].title for wake in without.woken_by(bell.id)] == ["Never"]
    again = without.changed(tide.id, wakes_of(vault, settings, tide))
    assert again.woken_by(bell.id) == wakes.woken_by(bell.id)
    assert wakes.wakes(tide.id) != ()


def test_progress_and_cancelling() -> None:
    vault, settings = index()
    seen: list[tuple[int, int]] = []
    all_wakes(vault, settings, lambda done, total: seen.append((done, total)))
    assert seen == [(number, 6) for number in range(1, 7)]
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        all_wakes(vault, settings, cancel=cancel)
