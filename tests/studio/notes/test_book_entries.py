"""Entries of World Info files as notes: what is saved, what stays as it is, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.javascript import Json
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.formats import parse_lore
from lorestudio.exchange.lorebooks.reading import load_lorebook, with_texts
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes import book_entries
from lorestudio.studio.notes.book_entries import (
    BookNotes,
    changed_entry,
    entry_changes,
    entry_text,
    is_there,
    plan_copies,
    plan_new_entry,
    plan_removal,
    plan_switch,
    plan_title,
    read_text,
    save_text,
)
from lorestudio.studio.notes.changes.change_set import ChangeSet
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.changes.snapshots import Snapshots
from lorestudio.studio.project.problems import ProblemFinder
from lorestudio.studio.project.project import open_project
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.files import ChangedOnDisk, VaultError
from lorestudio.vault.links.index import index_note
from lorestudio.vault.links.targets import IndexedNote
from lorestudio.vault.note.yaml_handler import HANDLER

_ODD = """{
  "entries": {
    "0": {"uid": 0, "key": ["bell",  "gate"], "comment": "The B\\u0065ll", "content": "It rings.", "order": 1.50e2,
          "position": 4, "depth": 4, "scanDepth": null, "mine": {"a": 1.0}},
    "1": {"uid": 1, "key": [], "comment": "", "content": "Two\\r\\nlines\\n"},
    "7": {"uid": 7, "key": ["/a,b/i"], "comment": "x", "content": "", "order": 1, "position": 0, "disable": true,
          "characterFilter": {"isExclude": false, "names": ["Ottoline"], "tags": []}}
  },   "extra": [1,2]
}
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "Book.json"
    path.write_bytes(_ODD.encode())
    return path


def test_an_entry_is_a_note_with_world_infos_own_fields(book: Path) -> None:
    text, _ = read_text(book / "uid 0")
    assert text == "---\ncomment: The Bell\nkey:\n  - bell\n  - gate\norder: 150\nposition: 4\n---\nIt rings."
    text, _ = read_text(book / "uid 7")
    assert "disable: true\n" in text
    assert "characterFilter.names:\n  - Ottoline\n" in text
    assert "isExclude" not in text  # as in a new entry


def test_what_older_sillytaverns_write_for_nothing_is_not_shown() -> None:
    """The form had five rows more for each entry, one of them with “False” and a warning about it."""
    raw = {
        "comment": "Bell", "key": ["bell"], "content": "It rings.", "order": 100, "position": 0, "role": None,
        "delayUntilRecursion": False, "sticky": 0, "cooldown": 0, "delay": 0, "triggers": None, "depth": 4,
    }  # fmt: skip
    text = "---\ncomment: Bell\nkey:\n  - bell\norder: 100\nposition: 0\n---\nIt rings."
    assert entry_text(raw) == text
    assert changed_entry(raw, text.replace("100", "90")) == {**raw, "order": 90}
    waits = {**raw, "delayUntilRecursion": True}
    assert "delayUntilRecursion: 1\n" in entry_text(waits)
    assert changed_entry(waits, entry_text(waits)) == waits


@pytest.mark.parametrize(
    "odd", ["Bell: loud", "# bell", "[bell", "yes", "1e3", " bell ", "'bell", "bell #1", "- bell", "%"]
)
def test_yaml_reads_the_texts_of_an_entry_as_they_are(odd: str) -> None:
    raw = {"comment": odd, "key": [odd, "gate"], "content": "", "order": 1, "position": 0}
    properties, _ = frontmatter.parse(entry_text(raw), handler=HANDLER)
    assert (properties["comment"], properties["key"]) == (odd, [odd, "gate"])


def test_what_no_property_can_say_takes_nothing_else_with_it() -> None:
    raw = {"comment": "Gate", "key": ["gate"], "we: ird": "x", "a\nb": 1, "depth": 7, "content": "Iron."}
    text = entry_text(raw)
    properties, _ = frontmatter.parse(text, handler=HANDLER)
    assert (properties["comment"], properties["key"], properties["depth"]) == ("Gate", ["gate"], 7)
    assert "ird" not in text


def test_what_changes_nothing_leaves_every_byte(book: Path) -> None:
    for uid in (0, 1, 7):
        text, digest = read_text(book / f"uid {uid}")
        assert save_text(book / f"uid {uid}", text, digest) == digest
    assert book.read_bytes() == _ODD.encode()


@pytest.mark.parametrize(
    ("uid", "old", "new", "was", "becomes"),
    [
        (0, "order: 150", "order: 151", "1.50e2", "151"),
        (0, "position: 4\n", "position: 4\nsticky: 3\n", '{"a": 1.0}}', '{"a": 1.0}, "sticky": 3}'),
        (0, "  - gate\n", "  - gate\n  - oak\n", '"bell",  "gate"]', '"bell",  "gate", "oak"]'),
        (0, "It rings.", "It rings. “Loud”", '"It rings."', '"It rings. “Loud”"'),
        (7, "  - Ottoline\n", "  - Wren\n", '["Ottoline"]', '["Wren"]'),
        (7, "disable: true\n", "", '"disable": true', '"disable": false'),
        (7, "key:\n  - /a,b/i\n", "", '["/a,b/i"]', "[]"),
    ],
)
def test_only_what_was_changed_is_written(book: Path, uid: int, old: str, new: str, was: str, becomes: str) -> None:
    text, digest = read_text(book / f"uid {uid}")
    assert old in text
    save_text(book / f"uid {uid}", text.replace(old, new), digest)
    assert book.read_text("utf-8") == _ODD.replace(was, becomes, 1)


def test_another_entry_may_change_meanwhile_and_this_one_not(book: Path) -> None:
    path = book / "uid 0"
    text, digest = read_text(path)
    book.write_text(_ODD.replace("lines", "rows"), "utf-8")
    digest = save_text(path, text + "!", digest)
    assert json.loads(book.read_text("utf-8"))["entries"]["1"]["content"] == "Two\r\nrows\n"
    book.write_text(_ODD, "utf-8")
    with pytest.raises(ChangedOnDisk, match="has changed on disk"):
        save_text(path, text + "?", digest)
    assert book.read_text("utf-8") == _ODD


@pytest.mark.parametrize(("line", "told"), [("depth: high", "“depth” takes a number"), ("disable: 3", "true or false")])
def test_a_value_that_its_field_cannot_have_is_refused(book: Path, line: str, told: str) -> None:
    text, digest = read_text(book / "uid 1")
    with pytest.raises(VaultError, match=told):
        save_text(book / "uid 1", text.replace("---\n", f"---\n{line}\n", 1), digest)
    assert book.read_text("utf-8") == _ODD


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"entries": {"0": {"uid": 1, "key": []}, "1": {"uid": 1, "key": []}}}, "2 entries with the uid 1"),
        ({"entries": {}}, "no entry with the uid 1"),
        ({"data": 1}, "this is no lore that is known here"),
    ],
)
def test_what_cannot_be_edited_says_why(tmp_path: Path, document: Any, told: str) -> None:
    path = tmp_path / "Book.json"
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(VaultError, match=told):
        read_text(path / "uid 1")


def test_a_card_as_a_picture_says_why(tmp_path: Path) -> None:
    path = tmp_path / "Hob.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    with pytest.raises(VaultError, match="the picture holds no character"):
        read_text(path / "uid 1")


DATA = Path(__file__).parents[2] / "exchange/lorebooks/data"


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "14-card-v2-sillytavern.json", "15-card-v3-decorators.json", "16-lorebook-v3.json", "17-card-sillytavern.png",
        "18-risu-folders.json", "22-novelai-v4.lorebook", "26-agnai-book.json",
    ],
)  # fmt: skip
def test_an_entry_of_a_card_or_another_program_is_edited_in_its_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    before = (DATA / name).read_bytes()
    path.write_bytes(before)
    uids = [entry.name for entry in load_lorebook(path).entries]
    uids = [uid for uid in uids if is_there(path / f"uid {uid}")]  # a folder of Risu's is none
    texts = {uid: read_text(path / f"uid {uid}")[0] for uid in uids}
    uid = next(uid for uid, text in texts.items() if "@@" not in text)
    text, digest = read_text(path / f"uid {uid}")
    assert save_text(path / f"uid {uid}", text, digest) == digest
    assert path.read_bytes() == before
    again = save_text(path / f"uid {uid}", f"{text} It is new.", digest)
    assert read_text(path / f"uid {uid}") == (f"{text} It is new.", again)
    assert {each: read_text(path / f"uid {each}")[0] for each in texts if each != uid} == {
        each: text for each, text in texts.items() if each != uid
    }
    old, new = parse_lore(before, path), parse_lore(path.read_bytes(), path)
    assert [raw for raw in new.entries if str(raw["uid"]) != uid] == [
        raw for raw in old.entries if str(raw["uid"]) != uid
    ]
    planned = plan_title(path / f"uid {uid}", "Another name")
    (change,) = planned.changes.changes
    ChangeLog(tmp_path / "log", [tmp_path]).apply(planned.changes)
    assert "comment: Another name" in read_text(path / f"uid {uid}")[0]
    assert path.read_bytes() == change.new or b""


def test_what_the_form_of_another_program_has_no_place_for_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.lorebook"
    path.write_bytes((DATA / "22-novelai-v4.lorebook").read_bytes())
    text, digest = read_text(path / "uid 0")
    with pytest.raises(VaultError, match=r"its form \(NovelAI\) has no place for sticky that SillyTavern would read"):
        save_text(path / "uid 0", text.replace("---\n", "---\nsticky: 3\n", 1), digest)
    with pytest.raises(VaultError, match="no place for constant"):  # SillyTavern's import does not take it over
        save_text(path / "uid 0", text.replace("---\n", "---\nconstant: true\n", 1), digest)
    assert path.read_bytes() == (DATA / "22-novelai-v4.lorebook").read_bytes()
    charx = tmp_path / "card.charx"
    charx.write_bytes((DATA / "21-card-risu.charx").read_bytes())
    with pytest.raises(VaultError, match=r"take its module\.risum away"):
        read_text(charx / "uid 0")


def _apply(changes: ChangeSet) -> None:
    for change in changes.changes:
        assert change.before == change.path.read_bytes().decode()
        change.path.write_bytes((change.after or "").encode())


@pytest.mark.parametrize("title", ["", " \t\n"])
def test_an_entry_needs_a_title(book: Path, title: str) -> None:
    for planned in (partial(plan_new_entry, book), partial(plan_title, book / "uid 0")):
        with pytest.raises(InputError, match="an entry needs a title"):
            planned(title)


def test_entries_are_made_copied_switched_and_deleted(book: Path) -> None:
    planned, path = plan_new_entry(book, "Oak")
    _apply(planned.changes)
    entries = json.loads(book.read_text("utf-8"))["entries"]
    assert path == book / "uid 2"
    assert entries["2"] == {"uid": 2, **NEW_ENTRY, "comment": "Oak"}
    _apply(plan_copies([book / "uid 0", book / "uid 7"]).changes)
    after = json.loads(book.read_text("utf-8"))["entries"]
    assert after["3"] == {**entries["0"], "uid": 3}
    assert after["4"] == {**entries["7"], "uid": 4}
    off = plan_switch([book / "uid 0", book / "uid 7"]).changes
    assert off.title == "Switch 2 entries off"
    _apply(off)
    on = plan_switch([book / "uid 0", book / "uid 7"]).changes
    assert on.title == "Switch 2 entries on"
    _apply(on)
    assert json.loads(book.read_text("utf-8"))["entries"]["7"]["disable"] is False
    _apply(plan_removal([book / "uid 1", book / "uid 0"]).changes)
    assert list(json.loads(book.read_text("utf-8"))["entries"]) == ["7", "2", "3", "4"]
    with pytest.raises(VaultError, match="no entry with the uid 1"):
        plan_removal([book / "uid 1"])
    with pytest.raises(InputError):
        plan_removal([])


def test_entries_of_a_list_without_numbers_are_taken_out_together(tmp_path: Path) -> None:
    path = tmp_path / "List.json"
    path.write_text('[{"key": "a"}, {"key": "b"}, {"key": "c"}]', "utf-8")
    _apply(plan_removal([path / "uid 0", path / "uid 1"]).changes)
    assert path.read_text("utf-8") == '[{"key": "c"}]'


@pytest.mark.parametrize("name", ["18-risu-folders.json", "22-novelai-v4.lorebook", "26-agnai-book.json"])
def test_an_entry_is_taken_out_of_a_file_where_its_number_is_its_place(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes((DATA / name).read_bytes())
    before = parse_lore(path.read_bytes(), path).entries
    uid = str(before[1]["uid"])
    planned = plan_removal([path / f"uid {uid}"])
    (change,) = planned.changes.changes
    after = parse_lore(change.new or b"", path).entries
    assert [raw["comment"] for raw in after] == [raw["comment"] for raw in before if str(raw["uid"]) != uid]
    (told,) = entry_changes(change)  # the others are as they were
    assert (told.path, told.after) == (path / f"uid {uid}", None)


def test_the_history_has_what_the_entry_was(book: Path, tmp_path: Path) -> None:
    kept, path = Snapshots(tmp_path / "history"), book / "uid 1"
    text, digest = read_text(path)
    kept.save(path, text + "more", digest)
    assert [kept.read(version) for version in kept.list(path)] == [text]


def test_a_project_knows_the_paths_of_its_books_entries(book: Path) -> None:
    project = open_project([book])
    path = project.note_path("Book", "uid 7")
    assert path == book / "uid 7"
    assert project.note_place(book / "uid 7") == ("Book", "uid 7")
    text, digest = read_text(book / "uid 7")
    save_text(book / "uid 7", text + "New text.", digest)
    again = project.with_books_reread()
    assert [entry.content for entry in again.index.entries if entry.filename == "uid 7"] == ["New text."]


def test_an_entry_is_not_checked_as_a_note(book: Path) -> None:
    project, path = open_project([book]), book / "uid 0"
    found = ProblemFinder().find(project, drafts={path: read_text(path)[0]})
    assert [each for each in found.findings if each.filename == "uid 0"] == []


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "key": st.lists(_TEXTS, max_size=3), "comment": _TEXTS, "content": _TEXTS, "order": st.integers() | st.none(),
    "position": st.integers(0, 8), "constant": st.booleans() | st.integers(0, 1), "selective": st.booleans(),
    "scanDepth": st.none() | st.integers(0, 9), "probability": st.floats(0, 100),
    "caseSensitive": st.none() | st.booleans(), "group": _TEXTS, "extensions": st.just({"a": [1]}),
    "own": _TEXTS | st.lists(st.integers(), max_size=2),
    "characterFilter": st.just({"isExclude": True, "names": ["a"], "tags": [], "more": 1}),
}  # fmt: skip


@given(st.fixed_dictionaries({}, optional=_VALUES))
def test_an_entry_that_nobody_touched_is_the_same(raw: dict[str, Any]) -> None:
    assert changed_entry(raw, entry_text(raw)) == raw


@given(st.fixed_dictionaries({}, optional=_VALUES), st.integers(-50, 2000), st.text("ab c\n", max_size=9))
def test_of_a_changed_entry_everything_else_is_the_same(raw: dict[str, Any], depth: int, content: str) -> None:
    body = entry_text({**raw, "content": content})
    text = body.replace("---\n", f"---\ndepth: {depth}\n", 1)
    wanted = {**raw, "depth": depth, "content": content}
    assert changed_entry({"content": "", **raw}, text) == wanted


def test_an_entry_is_spelled_once_for_what_was_read(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spelled: list[object] = []

    def counted(raw: Mapping[str, Json]) -> str:
        spelled.append(raw["uid"])
        return entry_text(raw)

    monkeypatch.setattr(book_entries, "entry_text", counted)
    read, notes = load_lorebook(book), BookNotes()
    (first,) = notes.of([read])
    (again,) = notes.of([read], {book / "uid 1": "---\n---\nOther words."})
    assert spelled == [0, 1, 7]
    assert again.index.notes["uid 0"] == first.index.notes["uid 0"]
    assert again.index.notes["uid 1"].text == "---\n---\nOther words."
    (changed,) = with_texts([read], [NoteText(read.name, "uid 7", "---\nkey: [gate]\n---\n")])
    (other,) = notes.of([changed])
    assert (spelled.pop(), spelled, other.index.notes["uid 7"].keys) == (7, [0, 1, 7], ("gate",))
    notes.of([load_lorebook(book)])
    assert spelled == [0, 1, 7, 0, 1, 7]


def test_only_an_entry_with_tags_is_read_for_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = tmp_path / "Book.json", list[str]()
    entries = {"0": {"uid": 0, "key": ["bell"], "content": "It rings."}, "1": {"uid": 1, "Tags": ["Sea", "Lore"]}}
    path.write_text(json.dumps({"entries": entries}), encoding="utf-8")

    def counted(name: str, text: str, *, linked: bool = True) -> IndexedNote:
        read.append(name)
        return index_note(name, text, linked=linked)

    monkeypatch.setattr(book_entries, "index_note", counted)
    notes = BookNotes().of([load_lorebook(path)])[0].index.notes
    assert [(note.keys, note.tags) for note in notes.values()] == [(("bell",), ()), ((), ("sea", "lore"))]
    assert read == ["uid 1"]
