"""Entries made of the notes of a vault that was not written as lore."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.making_entries import PlainNote, candidates, groups, plain_notes, plan_entries
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.studio.project.project import open_project

NOTES = {
    "People/Aldric.md": "---\naliases: [The Grey]\ntags: npc, king\nage: 0040 # old\n---\n"
    "# Aldric\r\n\nBorn in [[Vale]].\n",
    "People/North/Mira.md": "Sister of [[Aldric|Al the Bold]], [[Vale|there]] and [[Aldric|there]].\n",
    "Vale.md": "---\nkeys: [the vale]\n---\nA valley. [[Aldric|old king]] rules; [[Mira|she]] left.\n",
    "Daily/2024-05-01.md": "[[Aldric|old king]] again.\n",
    "Off.md": "---\ntags: [lorebook]\nenabled: false\n---\nNot now.\n",
}  # fmt: skip
CHAT = Chat((
    Message("C", "The old KING waits."),
    Message("U", "In Aldrichtown?", is_user=True),
    Message("U", "Where is Mira?", is_user=True),
    Message("C", "Aldric and the old king. On 2024-05-01."),
    Message("C", "Mira.", is_thoughts=True),
))  # fmt: skip


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path / "vault"


def found_in(vault: Path, chat: Chat | None = CHAT) -> dict[str, PlainNote]:
    plain = {filename for _, filename in plain_notes(open_project([vault]).index)}
    return {one.filename: one for one in candidates("vault", read_vault_notes(vault), plain, chat)}


def test_keys_are_title_aliases_and_what_only_links_to_this_note_say(vault) -> None:
    found = found_in(vault)
    assert found["People/Aldric.md"].keys == ("Aldric", "The Grey", "old king", "Al the Bold")
    assert found["People/North/Mira.md"].keys == ("Mira",)  # “she” is small and said once
    assert (found["Vale.md"].keys, found["Vale.md"].written) == (("the vale",), True)
    assert "Off.md" not in found  # its author switched it off


def test_templates_and_drawings_are_no_candidates(vault) -> None:
    (vault / ".obsidian" / "plugins" / "templater-obsidian").mkdir(parents=True)
    (vault / ".obsidian" / "templates.json").write_text('{"folder": "/Meta/Forms"}')
    (vault / ".obsidian" / "plugins" / "templater-obsidian" / "data.json").write_text('{"templates_folder": "Scripts"}')
    drawing = "---\n\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n"
    texts = {
        "Templates/NPC.md": "# {{title}}\n", "meta/forms/Place.md": "# {{title}}\n", "Scripts/Day.md": "x",
        "Map.excalidraw.md": drawing, "Plain map.md": drawing, "Meta/On templates.md": "How to.\n",
        "Drawn.md": "---\ntags: [art]\n---\nexcalidraw-plugin: is what draws it.\n",
    }  # fmt: skip
    for name, text in texts.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(text)
    assert set(found_in(vault)) & set(texts) == {"Meta/On templates.md", "Drawn.md"}
    (vault / ".obsidian" / "templates.json").write_text("[")
    assert "meta/forms/Place.md" in found_in(vault)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_a_pipe_in_the_place_of_obsidians_settings_is_not_waited_for(vault) -> None:
    (vault / ".obsidian").mkdir()
    os.mkfifo(vault / ".obsidian" / "templates.json")
    assert "Vale.md" in found_in(vault)


def test_a_tag_has_the_notes_of_those_below_it(vault) -> None:
    for name, tags in (("Royal", "npc/royal, npc"), ("Rogue", "npc/minor/rogue"), ("Npcs", "npcs")):
        (vault / f"{name}.md").write_text(f"---\ntags: {tags}\n---\n{name}.\n")
    found = found_in(vault)
    offered = {group.name: group for group in groups(found.values()) if group.is_tag}
    assert {name: offered[name].notes for name in ("npc", "npc/royal", "npc/minor", "npcs")} == {
        "npc": 3, "npc/royal": 1, "npc/minor": 1, "npcs": 1
    }  # fmt: skip
    assert [one.title for one in found.values() if offered["npc"].has(one)] == ["Aldric", "Rogue", "Royal"]


def test_notes_that_the_story_names_come_first(vault) -> None:
    found = found_in(vault)
    assert list(found)[:2] == ["People/Aldric.md", "People/North/Mira.md"]
    assert [(one.named_in, one.linked_from) for one in found.values()] == [(2, 3), (1, 1), (0, 2), (0, 0)]
    assert found["People/Aldric.md"].why == "named in 2 messages, linked from 3 notes"
    assert {one.named_in for one in found_in(vault, None).values()} == {0}


def test_a_key_that_does_most_of_it_is_called_by_name_unless_it_is_the_title(vault) -> None:
    more = (Message("C", "The old king sleeps."), Message("C", "An old king. Mira."), Message("C", "Mira!"))
    found = found_in(vault, Chat((*CHAT.messages, *more)))
    told = "named in 4 messages (3 only by “old king”), linked from 3 notes"
    assert (found["People/Aldric.md"].why, found["People/North/Mira.md"].named_in) == (told, 3)
    assert found["People/North/Mira.md"].why == "named in 3 messages, linked from 1 note"


def test_folders_count_what_lies_below_and_tags_are_beside_them(vault) -> None:
    found = found_in(vault).values()
    named = {(group.name, group.is_tag): group for group in groups(found)}
    assert named["People", False].notes == sum(map(named["People", False].has, found)) == 2
    assert ("People/North", False) in named
    assert not any(one.lies_in("Peop") for one in found)


def test_made_entries_fire_and_one_undo_gives_every_byte_back(vault, tmp_path) -> None:
    assert any("“lorebook”" in each and "4 notes are left out" in each for each in open_project([vault]).problems)
    chosen = [one for one in found_in(vault).values() if one.named_in or one.written]
    log = ChangeLog(tmp_path / "kept", [vault])
    log.apply(plan_entries({"vault": read_vault_notes(vault)}, chosen, "lorebook").changes)
    made = open_project([vault])
    assert {entry.title: entry.keys for entry in made.index.entries} == {
        "Aldric": ("Aldric", "The Grey", "old king", "Al the Bold"), "Mira": ("Mira",), "Vale": ("the vale",),
    }  # fmt: skip
    assert [entry.tags for entry in made.index.entries if entry.title == "Aldric"] == [("npc", "king")]
    text = (vault / "People/Aldric.md").read_bytes().decode()
    assert "age: 0040 # old\n" in text
    assert text.endswith("# Aldric\r\n\nBorn in [[Vale]].\n")
    assert not made.problems
    log.undo()
    assert {name: (vault / name).read_bytes().decode() for name in NOTES} == NOTES


def test_a_tag_that_stands_among_others_in_one_text_is_there_once_afterwards(vault) -> None:
    (vault / "Vale.md").write_text("---\ntags: lorebook, place/valley\nkeys: [the vale]\n---\nA valley.\n", "utf-8")
    planned = plan_entries({"vault": read_vault_notes(vault)}, [found_in(vault)["Vale.md"]], "lorebook")
    assert [change.after for change in planned.changes.changes] == [
        "---\ntags: [lorebook, place/valley]\nkeys: [the vale]\n---\nA valley.\n"
    ]


def test_nothing_chosen_is_said() -> None:
    with pytest.raises(InputError, match="no note is chosen"):
        plan_entries({}, [], "lorebook")
