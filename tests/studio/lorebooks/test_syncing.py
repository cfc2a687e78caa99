"""A lorebook and its notes brought together: every pair of changes, what is asked, and both sides alike afterwards."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.exchange.lorebooks.crossing import LoreReport
from lorestudio.exchange.lorebooks.documents import Lore
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.formats import FORMATS, parse_lore, write_lore
from lorestudio.exchange.lorebooks.notes import entry_of, meaning
from lorestudio.exchange.problems import InputError
from lorestudio.settings import files as settings_files
from lorestudio.studio.lorebooks.links import known_entries, links_of, numbers_in
from lorestudio.studio.lorebooks.syncing import (
    Gone,
    Prefer,
    SyncChoice,
    SyncItem,
    SyncPlan,
    SyncState,
    found_link,
    moved_link,
    plan_sync,
)
from lorestudio.studio.notes.changes import plan as change_plan
from lorestudio.studio.notes.changes.change_set import ChangedMeanwhileError, ChangeSet
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.files import SaveError
from lorestudio.vault.writer import save_note
from tests.examples import examples, some_at_once
from tests.exchange.test_character_card import V2
from tests.studio.lorebooks.test_exporting import MADE_NEW, a_vault, export, imported
from tests.studio.lorebooks.test_importing import MINE, book, carry_out, files, vault

RULES = ParseRules()
CARDS = Path(__file__).parents[2] / "exchange/lorebooks/data"
BELL = {"key": ["bell"], "comment": "Bell", "content": "One.\nTwo.\nThree.", "sticky": 0}
SEA = {"key": ["sea"], "comment": "Sea", "content": "Wide."}


class Pair:
    """A book, the vault that it was imported into, and ways to change either."""

    def __init__(self, folder: Path, path: Path | None = None) -> None:
        self.path = path or book(folder, BELL, SEA)
        self.place = imported(folder, self.path)
        self.log = ChangeLog(folder / "log", [self.place])

    def note(self, *changes: tuple[str, str], name: str = "Bell") -> None:
        path = self.place / f"Sea/{name}.md"
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")

    @property
    def entries(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path.read_bytes())["entries"]
        return found

    def entry(self, uid: str = "0", **members: Any) -> None:
        whole = json.loads(self.path.read_bytes())
        whole["entries"].setdefault(uid, {"uid": int(uid), **NEW_ENTRY}).update(members)
        self.path.write_text(json.dumps(whole), encoding="utf-8")

    def drop(self, uid: str) -> None:
        whole = json.loads(self.path.read_bytes())
        del whole["entries"][uid]
        self.path.write_text(json.dumps(whole), encoding="utf-8")

    def plan(self, **choice: Any) -> SyncPlan:
        vault_notes = read_vault_notes(self.place)
        (link,) = links_of(vault_notes)
        return plan_sync(link, vault_notes, RULES, SyncChoice(**choice))

    def sync(self, **choice: Any) -> tuple[SyncItem, ...]:
        plan = self.plan(**choice)
        carry_out(plan, self.log)
        return plan.items


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


def text(pair: Pair, name: str = "Bell") -> str:
    return (pair.place / f"Sea/{name}.md").read_text(encoding="utf-8")


def test_nothing_is_written_where_nothing_changed(pair: Pair) -> None:
    plan = pair.plan()
    assert (plan.items, plan.is_idle) == ((), True)


def test_what_changed_here_goes_there_member_for_member(pair: Pair) -> None:
    before = pair.entries["0"]
    pair.note(("priority: 900", "priority: 850"), ("Two.", "Second."))
    (item,) = pair.sync()
    assert (item.found, item.members, item.settled) == (SyncState.HERE, ("content", "order"), True)
    wanted = {**before, "order": 150, "content": "One.\nSecond.\nThree."}
    assert json.dumps(pair.entries["0"]) == json.dumps(wanted)
    assert pair.plan().is_idle


def test_a_book_that_is_written_keeps_its_old_bytes_beside_it(pair: Pair) -> None:
    pair.entry(content="One.\nTwo.\nThird.")
    before = pair.path.read_bytes()
    assert carry_out(pair.plan(), pair.log) is None  # only the note is written
    pair.note(("Two.", "Second."))
    copy = carry_out(pair.plan(), pair.log)
    assert copy is not None
    assert (copy.parent, copy.read_bytes()) == (pair.path.parent, before)
    assert pair.path.read_bytes() != before


OWN_WORDS: dict[str, tuple[tuple[str, str], Any]] = {
    "key": (("wi_uid:", "keys: [harbour]\nwi_uid:"), ["harbour"]),
    "probability": (("wi_uid:", "probability: 0.3\nwi_uid:"), 30),
    "position": (("position: in_chat", "position: after"), 1),
    "order": (("wi_uid:", "priority: 700\nwi_uid:"), 300),
}


@pytest.mark.parametrize(
    ("member", "value", "carried"),
    [
        ("key", ["/be[l]+/"], "wi_key"), ("probability", 250, "wi_probability"), ("position", 2, "wi_position"),
        ("order", "x", "wi_order"), ("order", None, "wi_missing"), ("probability", {"a": 1}, "wi_extra"),
    ],
)  # fmt: skip
def test_what_a_note_says_in_its_own_words_stays_said(tmp_path: Path, member: str, value: Any, carried: str) -> None:
    """What the import had to carry beside them counted again at the next change, and took it back."""
    path = book(tmp_path, {**BELL, member: value})
    if value is None:
        whole = json.loads(path.read_bytes())
        del whole["entries"]["0"][member]
        path.write_text(json.dumps(whole), encoding="utf-8")
    pair = Pair(tmp_path, path)
    edit, wanted = OWN_WORDS[member]
    assert carried in text(pair)
    pair.note(edit)
    pair.sync()
    assert carried not in text(pair)
    pair.note(("Two.", "Second."))
    (item,) = pair.sync()
    assert item.members == ("content",)
    assert pair.entries["0"][member] == wanted


def test_what_changed_there_changes_only_its_lines_here(pair: Pair) -> None:
    pair.note(("keys:", "# mine\nmood: dark\nkeys:"))
    pair.sync()
    before = text(pair)
    pair.entry(order=20, sticky=4, comment="Tower")
    (item,) = pair.sync()
    assert (item.found, item.members) == (SyncState.THERE, ("comment", "order", "sticky"))
    assert text(pair) == before.replace("priority: 900", "priority: 980").replace("# Bell", "# Tower").replace(
        "wi_book: Sea\n", "wi_book: Sea\nwi_sticky: 4\n"
    )
    assert pair.plan().is_idle


def test_both_are_merged_field_by_field_and_texts_line_by_line(pair: Pair) -> None:
    pair.note(("One.", "First."), ("priority: 900", "priority: 800"))
    pair.entry(content="One.\nTwo.\nThird.", position=1)
    (item,) = pair.sync()
    assert (item.found, item.clashes) == (SyncState.BOTH, {})
    assert "First.\nTwo.\nThird." in text(pair)
    assert "position: after" in text(pair)
    entry = pair.entries["0"]
    assert (entry["content"], entry["order"], entry["position"]) == ("First.\nTwo.\nThird.", 200, 1)
    assert pair.plan().is_idle


@pytest.mark.parametrize(("prefer", "order"), [(Prefer.NOTE, 150), (Prefer.BOOK, 30)])
def test_what_both_changed_differently_is_asked(pair: Pair, prefer: Prefer, order: int) -> None:
    pair.note(("priority: 900", "priority: 850"), ("Two.", "Mine."))
    pair.entry(order=30, depth=7)
    for _round in range(2):  # it is asked until somebody answers
        (item,) = pair.sync()
        assert (item.clashes, item.settled) == ({"order": (150, 30)}, False)
        assert ("priority: 850" in text(pair), pair.entries["0"]["order"]) == (True, 30)
    assert "Mine." in pair.entries["0"]["content"]
    assert "wi_depth: 7" in text(pair)
    (item,) = pair.sync(prefer=prefer)
    assert item.settled
    assert (f"priority: {1000 - order}" in text(pair), pair.entries["0"]["order"]) == (True, order)
    assert pair.plan().is_idle


def test_new_ones_are_taken_over_both_ways(pair: Pair) -> None:
    (pair.place / "Sea/New.md").write_text(MINE, encoding="utf-8")
    (pair.place / "Else.md").write_text(MINE, encoding="utf-8")
    pair.entry("9", key=["fog"], comment="Fog", content="Grey.")
    assert {item.found for item in pair.plan(new=False).items} == {SyncState.NEW_HERE, SyncState.NEW_THERE}
    assert pair.plan(new=False).is_idle
    pair.sync()
    assert pair.entries["10"]["comment"] == "The bell"
    assert "# Fog\n\nGrey." in text(pair, "Fog")
    assert pair.plan().is_idle


@pytest.mark.parametrize("here", [True, False])
def test_what_is_gone_is_left_followed_or_unlinked(tmp_path: Path, *, here: bool) -> None:
    for number, gone in enumerate(Gone):
        (tmp_path / str(number)).mkdir()
        pair = Pair(tmp_path / str(number))
        if here:
            (pair.place / "Sea/Bell.md").unlink()
        else:
            pair.drop("0")
        (item,) = pair.sync(gone=gone)
        assert item.found is (SyncState.GONE_HERE if here else SyncState.GONE_THERE)
        assert item.settled is (gone is not Gone.LEAVE)
        stays = gone is not Gone.FOLLOW
        assert ("0" in pair.entries if here else (pair.place / "Sea/Bell.md").exists()) is stays
        assert bool(pair.plan().items) is (gone is Gone.LEAVE)


def test_what_was_changed_is_not_deleted_because_the_other_is_gone(pair: Pair) -> None:
    (pair.place / "Sea/Bell.md").unlink()
    pair.entry(order=1)
    (item,) = pair.sync(gone=Gone.FOLLOW)
    assert (item.settled, pair.entries["0"]["order"]) == (False, 1)
    assert item.why_left == "the entry of the book was changed since both agreed"
    (item,) = pair.sync(gone=Gone.UNLINK)
    assert item.why_left == ""


def test_a_note_that_was_changed_is_left_and_says_so(pair: Pair) -> None:
    pair.note(("priority: 900", "priority: 850"))
    whole = json.loads(pair.path.read_bytes())
    del whole["entries"]["0"]
    pair.path.write_text(json.dumps(whole), encoding="utf-8")
    (item,) = pair.sync(gone=Gone.FOLLOW)
    assert (item.settled, item.why_left) == (False, "the note was changed since both agreed")


@pytest.mark.parametrize(("right", "order"), [(Prefer.BOOK, 100), (Prefer.NOTE, 150)])
def test_what_is_decided_holds_where_only_one_side_changed(pair: Pair, right: Prefer, order: int) -> None:
    pair.note(("priority: 900", "priority: 850"))
    (item,) = pair.sync(decided={"0": {"order": right}})
    assert item.settled
    assert pair.entries["0"]["order"] == order
    assert f"priority: {1000 - order}" in text(pair)
    assert pair.plan().is_idle


def test_a_note_that_was_moved_is_found_by_its_number(pair: Pair) -> None:
    (pair.place / "Other").mkdir()
    (pair.place / "Sea/Bell.md").rename(pair.place / "Other/Renamed.md")
    assert pair.sync() == ()
    pair.entry(order=5)
    pair.sync()
    assert "priority: 995" in (pair.place / "Other/Renamed.md").read_text(encoding="utf-8")


def test_another_book_stops_it(pair: Pair, tmp_path: Path) -> None:
    other = {"key": ["x"], "comment": "X", "content": "Y"}
    book(tmp_path, other, {**other, "key": ["z"], "comment": "Z", "content": "Z"})
    with pytest.raises(InputError, match="another book than Sea"):
        pair.plan()
    pair.path.unlink()
    with pytest.raises(InputError, match="the lorebook Sea is gone from there"):
        pair.plan()


def brought_in(place: Path, folder: Path) -> bytes:
    """The note of a vault that was exported, once the book says rain for fog and both were synced."""
    target = folder / "out.json"
    plan = export(place, target)
    target.write_bytes(plan.written.data)
    assert plan.link is not None
    log = ChangeLog(folder / "log", [place])
    log.apply(ChangeSet("Link", (plan.link,)))
    whole = json.loads(target.read_bytes())
    whole["entries"]["0"]["content"] = whole["entries"]["0"]["content"].replace("In fog.", "In rain.")
    target.write_text(json.dumps(whole), encoding="utf-8")
    notes = read_vault_notes(place)
    carry_out(plan_sync(links_of(notes)[0], notes, RULES, SyncChoice()), log)
    return (place / "A.md").read_bytes()


def test_an_exported_vault_keeps_its_comments_when_the_book_changes(tmp_path: Path) -> None:
    place = vault(tmp_path, A=MINE.replace("It rings.", "%%why%%\n\nIt rings."))
    assert brought_in(place, tmp_path).decode().endswith("%%why%%\n\nIt rings.\nIn rain.\n")


def test_the_book_is_what_it_was_where_the_notes_cannot_be_written(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    pair.note(("priority: 900", "priority: 850"))
    pair.entry(depth=7)
    before, notes = pair.path.read_bytes(), files(pair.place)

    def save(path: Path, *given: Any, **more: Any) -> str:
        if path.suffix == ".md":
            raise SaveError("no room")
        return save_note(path, *given, **more)

    monkeypatch.setattr(change_plan, "save_note", save)
    with pytest.raises(SaveError, match="everything is as it was"):
        pair.sync()
    assert (pair.path.read_bytes(), files(pair.place)) == (before, notes)


def test_single_fields_are_decided_and_texts_piece_by_piece(pair: Pair) -> None:
    pair.note(("priority: 900", "priority: 850"), ("One.", "First."), ("wi_book:", "wi_sticky: 5\nwi_book:"))
    pair.entry(order=30, content="Eins.\nTwo.\n3.", sticky=7)
    (item,) = pair.plan().items
    assert (item.clashes.keys(), item.before["order"]) == ({"order", "content", "sticky"}, 100)
    (item,) = pair.sync(decided={"0": {"order": Prefer.NOTE}})
    assert item.clashes.keys() == {"content", "sticky"}
    (item,) = pair.sync(decided={"0": {"content": "First.\nEins.\nTwo.\n3.", "sticky": Prefer.BOOK}})
    assert item.settled
    entry = pair.entries["0"]
    assert (entry["order"], entry["content"], entry["sticky"]) == (150, "First.\nEins.\nTwo.\n3.", 7)
    assert text(pair).endswith("# Bell\n\nFirst.\nEins.\nTwo.\n3.")
    assert "wi_sticky: 7" in text(pair)
    assert pair.plan().is_idle


def test_what_was_written_here_is_read_however_large_it_is(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """The link of a book holds it three times."""
    pair.note(("priority: 900", "priority: 850"))
    before = files(pair.place)
    monkeypatch.setattr(settings_files, "TEXT_AT_MOST", len(pair.path.read_bytes()) + 100)
    pair.sync()
    assert pair.plan().is_idle
    pair.log.undo()
    assert files(pair.place) == before


@pytest.mark.parametrize("data", [None, b"changed since"])
def test_one_undo_takes_notes_and_book_back(pair: Pair, data: bytes | None) -> None:
    pair.note(("priority: 900", "priority: 850"))
    pair.entry(depth=7)
    before, notes = pair.path.read_bytes(), files(pair.place)
    pair.sync()
    after = files(pair.place)
    if data is not None:  # somebody has written the book meanwhile
        pair.path.write_bytes(data)
        with pytest.raises(ChangedMeanwhileError, match=r"“Sea\.json” has changed on disk"):
            pair.log.undo()
        assert (pair.path.read_bytes(), files(pair.place)) == (data, after)
        return
    other = ChangeLog(pair.path.parent / "log", [pair.path.parent / "elsewhere"])
    assert not other.can_undo
    pair.log.undo()
    assert (pair.path.read_bytes(), files(pair.place)) == (before, notes)
    pair.log.redo()
    assert (pair.entries["0"]["order"], files(pair.place)) == (150, after)


def test_a_card_goes_back_with_its_notes(tmp_path: Path) -> None:
    card = tmp_path / "card.png"
    card.write_bytes((CARDS / "17-card-sillytavern.png").read_bytes())
    before = card.read_bytes()
    place = imported(tmp_path, card)
    log = ChangeLog(tmp_path / "log", [place])
    note = next(place.rglob("*.md"))
    note.write_text(note.read_text(encoding="utf-8") + " It is new.", encoding="utf-8")
    notes = read_vault_notes(place)
    carry_out(plan_sync(links_of(notes)[0], notes, RULES, SyncChoice()), log)
    assert any("It is new." in str(raw["content"]) for raw in parse_lore(card.read_bytes(), card).entries)
    log.undo()
    assert card.read_bytes() == before


def test_a_sync_that_was_stopped_behind_the_book_ends_alike(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    pair.note(("priority: 900", "priority: 850"))
    pair.entry(depth=7)
    plan = pair.plan()
    assert plan.book is not None
    pair.path.write_bytes(plan.book)  # and the power goes out here
    pair.sync()
    assert (pair.entries["0"]["order"], pair.entries["0"]["depth"]) == (150, 7)
    assert "priority: 850" in text(pair)
    assert "wi_depth: 7" in text(pair)
    assert pair.plan().is_idle


NOTE_EDITS: dict[str, tuple[str, str]] = {
    "order": ("priority: 900", "priority: 700"), "position": ("position: before", "position: after"),
    "content": ("Two.", "2."), "comment": ("# Bell", "# Tower"), "sticky": ("wi_book:", "wi_sticky: 9\nwi_book:"),
}  # fmt: skip
BOOK_EDITS: dict[str, Any] = {
    "order": 1, "position": 4, "content": "One.\nTwo.\n3.", "comment": "Gate", "sticky": 2, "role": None, "mine": {},
}  # fmt: skip


@given(
    st.sets(st.sampled_from(sorted(NOTE_EDITS))), st.sets(st.sampled_from(sorted(BOOK_EDITS))), st.sampled_from(Prefer)
)
@settings(max_examples=examples(60))
def test_after_any_changes_both_sides_say_the_same(
    tmp_path_factory: Any, here: set[str], there: set[str], prefer: Prefer
) -> None:
    pair = Pair(tmp_path_factory.mktemp("pair"))
    before = pair.entries["0"]
    pair.note(*(NOTE_EDITS[name] for name in here))
    pair.entry(**{name: BOOK_EDITS[name] for name in there})
    pair.sync(prefer=prefer)
    assert pair.plan().items == ()
    said = entry_of(text(pair), "Bell.md", RULES).raw  # by itself, without what it said before
    assert meaning({**said, "uid": 0}) == meaning(pair.entries["0"])
    values = {"order": 300, "position": 1, "comment": "Tower", "sticky": 9}
    for name, edit in BOOK_EDITS.items():
        mine = name in here and (prefer is Prefer.NOTE or name not in there)
        wanted = values[name] if mine and name in values else edit if name in there else before.get(name)
        if name == "content":
            wanted = f"One.\n{'2.' if 'content' in here else 'Two.'}\n{'3.' if 'content' in there else 'Three.'}"
        if name == "content" and here >= {"content"} and "content" in there:
            continue  # neighbouring lines: who is preferred decides
        assert pair.entries["0"].get(name) == wanted, name


def test_only_what_is_chosen_is_brought_together(pair: Pair) -> None:
    pair.entry(order=1)
    pair.entry("1", order=2)
    (pair.place / "Sea/New.md").write_text(MINE, encoding="utf-8")
    items = pair.sync(only={"1"})
    assert [item.uid for item in items] == ["1"]
    assert set(pair.entries) == {"0", "1"}
    assert ("priority: 900" in text(pair), "priority: 998" in text(pair, "Sea")) == (True, True)


def test_a_lost_link_is_found_by_the_numbers_of_the_notes(pair: Pair) -> None:
    (pair.place / "Sea/Sea.book.json").unlink()
    pair.note(("priority: 900", "priority: 850"))
    pair.entry(order=30, sticky=0)
    before = pair.entries
    notes = read_vault_notes(pair.place)
    plan = plan_sync(found_link(notes, pair.path, RULES), notes, RULES, SyncChoice())
    (item,) = plan.items
    assert (item.title, item.clashes, item.settled) == ("Bell", {"order": (150, 30)}, False)
    carry_out(plan, pair.log)
    assert json.dumps(pair.entries) == json.dumps(before)
    assert pair.sync(prefer=Prefer.NOTE)[0].settled
    assert pair.entries["0"]["order"] == 150
    assert pair.plan().is_idle
    with pytest.raises(InputError, match="wi_book: Sea"):
        found_link(read_vault_notes(vault(pair.path.parent / "log", A=MINE)), pair.path, RULES)


def test_of_a_renamed_book_a_lost_link_is_found_by_what_half_of_the_notes_say(pair: Pair, tmp_path: Path) -> None:
    moved = pair.path.rename(tmp_path / "Renamed.json")
    with pytest.raises(InputError, match="no note"):  # its notes are linked yet
        found_link(read_vault_notes(pair.place), moved, RULES)
    next(pair.place.rglob("*.book.json")).unlink()
    notes = read_vault_notes(pair.place)
    link = found_link(notes, moved, RULES)
    assert (link.book, link.file, sorted(link.notes)) == ("Sea", str(moved), ["0", "1"])
    assert plan_sync(link, notes, RULES, SyncChoice(), moved).items == ()
    other = {"uid": 0, **NEW_ENTRY, "key": ["fog"], "comment": "Fog", "content": "Grey."}
    moved.write_text(json.dumps({"entries": {"0": other}}), encoding="utf-8")
    with pytest.raises(InputError, match="wi_book: Renamed"):
        found_link(notes, moved, RULES)


def test_a_book_that_was_moved_stays_linked_and_keeps_what_both_last_said(pair: Pair, tmp_path: Path) -> None:
    pair.note(("Two.", "Second."))
    pair.entry(order=30)
    moved = pair.path.rename(tmp_path / "Renamed.json")
    with pytest.raises(InputError, match="--with FILE"):
        pair.plan()
    pair.path, notes = moved, read_vault_notes(pair.place)
    links = links_of(notes)
    assert moved_link(links, pair.path) == links[0]
    plan = plan_sync(links[0], notes, RULES, SyncChoice(), pair.path)
    carry_out(plan, pair.log)
    (item,) = plan.items
    assert (item.members, item.clashes) == (("content", "order"), {})
    assert (pair.entries["0"]["content"], "priority: 970" in text(pair)) == ("One.\nSecond.\nThree.", True)
    assert pair.plan().is_idle


def test_another_book_or_a_copy_does_not_take_the_place_of_a_linked_one(pair: Pair, tmp_path: Path) -> None:
    links = links_of(read_vault_notes(pair.place))
    (copy := tmp_path / "Copy.json").write_bytes(pair.path.read_bytes())
    assert moved_link(links, copy) is None
    pair.path.unlink()
    (other := tmp_path / "Other.json").write_text(
        json.dumps({"entries": {"0": {"uid": 0, **NEW_ENTRY, "comment": "Fog"}}}), encoding="utf-8"
    )
    (table := tmp_path / "Table.csv").write_text("comment,key,content\nBell,bell,Rings.\n", encoding="utf-8")
    assert (moved_link(links, other), moved_link(links, table), moved_link(links, copy)) == (None, None, links[0])
    (empty := tmp_path / "Empty.json").write_text('{"entries": {}}', encoding="utf-8")
    assert moved_link(links, empty) is None  # all its notes would be taken for gone there
    with pytest.raises(InputError, match="another book"):
        plan_sync(links[0], read_vault_notes(pair.place), RULES, SyncChoice(), empty)


@pytest.mark.parametrize("form", MADE_NEW)
def test_a_note_keeps_what_its_book_cannot_say(tmp_path: Path, form: str) -> None:
    """Once it is changed, and once more: neither does the book take it back, nor is it a change of the note."""
    said = {"probability: 0.255", "position: in_chat\ndepth: 2\nrole: user", "wi_sticky: 2", "requires: [Sea]"}
    place, target = a_vault(tmp_path, [said, set()]), tmp_path / "book.file"
    note, log = place / "N0.md", ChangeLog(tmp_path / "log", [place])
    whole = export(place, tmp_path / "out.json").entries["N0.md"]
    carry_out(export(place, target, form=form), log)
    for old, new in (("rings", "sings"), ("[bell, quay]", "[bell]")):
        text = note.read_text(encoding="utf-8").replace(old, new)
        note.write_text(text, encoding="utf-8")
        for members in ({"content" if old == "rings" else "key"}, set()):
            notes = read_vault_notes(place)
            plan = plan_sync(links_of(notes)[0], notes, RULES, SyncChoice())
            assert {name for item in plan.items for name in item.members} == members
            carry_out(plan, log)
            assert note.read_text(encoding="utf-8") == text
    wanted = {**whole, "key": ["bell"], "content": "It sings."}
    assert export(place, tmp_path / "out.json").entries["N0.md"] == wanted
    assert export(place, target, form=form).entries["N0.md"] == wanted


# ---- formats whose entries have no number but their place -----------------------------------------------------------

NO_IDS = "card without ids"
COPIES: dict[str, Any] = {
    "card": {**V2, "data": {**V2["data"], "character_book": {"name": "Sea", "entries": []}}},
    "risu-module": {"type": "risuModule", "name": "Sea", "lorebook": [{"mode": "folder", "key": "f", "comment": "F"}]},
    "character-book": {"name": "Sea", "entries": [{"keys": ["x"], "content": "x"}]},
}
SYNCED = [*(kind.name for kind in FORMATS), NO_IDS]
PLACED = [form for form in SYNCED if form not in {"sillytavern", "card", "character-book", "lorebook-v3"}]
RANKED = [kind.name for kind in FORMATS if any(form.ranked for form in kind.forms)]


class Placed:
    """A book of any format with entries of these titles, and the notes that it became, in the order of then."""

    def __init__(self, folder: Path, form: str, titles: list[str]) -> None:
        self.path, self.form = folder / "Sea.file", form.removesuffix(" without ids")
        entries = [
            {**NEW_ENTRY, "uid": place, "comment": title, "key": [title.lower()], "order": 100 - place,
             "content": f"It is {place}."}
            for place, title in enumerate(titles)
        ]  # fmt: skip
        copy = COPIES.get(self.form)
        original = None if copy is None else (self.path, json.dumps(copy).encode())
        data = write_lore(self.form, "Sea", entries, original).data
        if form == NO_IDS:
            whole = json.loads(data)
            for entry in whole["data"]["character_book"]["entries"]:
                del entry["id"]
            data = json.dumps(whole).encode()
        self.path.write_bytes(data)
        self.place = imported(folder, self.path)
        self.log = ChangeLog(folder / "log", [self.place])
        self.notes = [self.place / note.filename for note in links_of(read_vault_notes(self.place))[0].notes.values()]

    def sync(self, **choice: Any) -> tuple[SyncItem, ...]:
        notes = read_vault_notes(self.place)
        plan = plan_sync(links_of(notes)[0], notes, RULES, SyncChoice(**choice))
        carry_out(plan, self.log)
        return plan.items

    def entries(self) -> list[dict[str, Any]]:
        return [dict(raw) for raw in parse_lore(self.path.read_bytes(), self.path).entries]

    def texts(self) -> list[str]:
        return [str(raw["content"]).strip() for raw in self.entries()]

    def write(self, entries: list[dict[str, Any]]) -> None:
        """As the other program does it, which knows nothing of numbers."""
        given = [{**raw, "uid": there["uid"]} for raw, there in zip(entries, self.entries(), strict=False)]
        if self.form in RANKED:
            given = [{**raw, "order": 100 - place} for place, raw in enumerate(given)]
        original = None if self.form == "markdown" else (self.path, self.path.read_bytes())
        self.path.write_bytes(write_lore(self.form, "Sea", given, original).data)

    def edit(self, text: str, more: str) -> None:
        entries = self.entries()
        for raw in entries:
            if str(raw["content"]).strip() == text:
                raw["content"] = f"{text}{more}"
        self.write(entries)

    def note(self, place: int, pattern: str, new: str) -> None:
        text = self.notes[place].read_text(encoding="utf-8")
        changed, amount = re.subn(f"(?m)^{pattern}", new, text)
        assert amount == 1
        self.notes[place].write_text(changed, encoding="utf-8")

    def bodies(self) -> list[str]:
        return [path.read_text(encoding="utf-8").partition("\nIt is")[2] for path in self.notes]


@pytest.mark.parametrize("form", some_at_once(SYNCED, str))
@given(
    titles=st.lists(st.sampled_from(["Bell", "Quay", "Fog"]), min_size=2, max_size=4),
    priorities=st.lists(st.sampled_from([None, 500, 899, 901, 950]), min_size=4, max_size=4),
    changed=st.integers(0, 3),
    both=st.booleans(),
)
@settings(max_examples=examples(40))
def test_what_moves_in_the_book_stays_the_entry_of_its_note(
    tmp_path_factory: Any, form: str, titles: list[str], priorities: list[int | None], changed: int, *, both: bool
) -> None:
    book = Placed(tmp_path_factory.mktemp("placed"), form, titles)
    bodies, changed = book.bodies(), changed % len(titles)
    for place, priority in enumerate(priorities[: len(titles)]):
        if priority is not None:
            book.note(place, "priority: .*", f"priority: {priority}")
    book.sync()
    texts, notes = book.texts(), files(book.place)
    assert book.sync() == ()
    assert files(book.place) == notes
    assert sorted(texts) == [f"It is {place}." for place in range(len(titles))]
    book.edit(f"It is {changed}.", "\nIn fog.")
    if both:
        book.note(changed, "priority: .*", "priority: 10")
    (item,) = book.sync()
    assert "content" in item.members
    bodies[changed] = bodies[changed].rstrip() + "\nIn fog."
    assert [body.rstrip() for body in book.bodies()] == [body.rstrip() for body in bodies]
    book.note(0, "It is 0", "It was 0")
    book.sync()
    assert sorted(text.replace("\nIn fog.", "") for text in book.texts()) == sorted(
        text.replace("It is 0", "It was 0") for text in texts
    )
    assert book.sync() == ()


@pytest.mark.parametrize("form", PLACED)
def test_entries_that_change_places_in_the_book_keep_their_notes(tmp_path: Path, form: str) -> None:
    book = Placed(tmp_path, form, ["Bell", "Quay", "Fog"])
    bodies, before = book.bodies(), [path.read_text(encoding="utf-8") for path in book.notes]
    book.write(list(reversed(book.entries())))
    book.edit("It is 2.", "\nIn fog.")
    with pytest.raises(InputError, match="changed since"):
        export(book.place, book.path, form=book.form)
    items = book.sync()
    assert [item.found for item in items if "content" in item.members] == [SyncState.THERE]
    assert [body.rstrip() for body in book.bodies()] == [bodies[0].rstrip(), bodies[1].rstrip(), " 2.\nIn fog."]
    first = before[0].replace("priority: 900", "priority: 902") if form in RANKED else before[0]
    assert [path.read_text(encoding="utf-8") for path in book.notes[:2]] == [first, before[1]]
    assert book.sync() == ()
    carry_out(export(book.place, book.path, form=book.form), book.log)
    assert sorted(book.texts()) == ["It is 0.", "It is 1.", "It is 2.\nIn fog."]
    assert book.sync() == ()


def ranked(folder: Path, form: str) -> tuple[Pair, Callable[[], tuple[list[str], list[str]]]]:
    """Three notes whose priorities are far apart, linked to a book that has the place as the order.

    And a look at them: titles in the book's order, and the priorities.
    """
    place = vault(folder, **{
        name: f"---\ntags: [lorebook]\nkeys: [{name}]\npriority: {priority}\n---\n# {name}\n\nA {name}.\n"
        for name, priority in {"Bell": 10, "Sea": 50, "Fog": 500}.items()
    })  # fmt: skip
    pair = Pair.__new__(Pair)
    pair.path, pair.place, pair.log = folder / "book.json", place, ChangeLog(folder / "log", [place])
    carry_out(export(place, pair.path, form=form), pair.log)

    def look() -> tuple[list[str], list[str]]:
        there = [str(raw["content"]).strip()[2:-1] for raw in parse_lore(pair.path.read_bytes(), pair.path).entries]
        said = [(place / f"{name}.md").read_text(encoding="utf-8") for name in ("Bell", "Sea", "Fog")]
        return there, [re.findall("(?m)^priority: (.*)", text)[0] for text in said]

    return pair, look


@pytest.mark.parametrize("form", RANKED)
@pytest.mark.parametrize(
    ("name", "priority", "order"),
    [
        ("Sea", 400, ["Bell", "Sea", "Fog"]),
        ("Sea", 600, ["Bell", "Fog", "Sea"]),
        ("Bell", 450, ["Sea", "Bell", "Fog"]),
        ("Fog", 1, ["Fog", "Bell", "Sea"]),
    ],
)
def test_a_note_whose_priority_changed_moves_its_entry_among_the_others_by_what_their_notes_say(
    tmp_path: Path, form: str, name: str, priority: int, order: list[str]
) -> None:
    pair, look = ranked(tmp_path, form)
    note = pair.place / f"{name}.md"
    note.write_text(re.sub("priority: .*", f"priority: {priority}", note.read_text(encoding="utf-8")), encoding="utf-8")
    (item,) = pair.sync()
    assert (item.found, item.members) == (SyncState.HERE, ("order",))
    assert look()[0] == order
    assert pair.sync() == ()
    export(pair.place, pair.path, form=form)  # the link knows the book as it is


@pytest.mark.parametrize("form", RANKED)
def test_what_moves_in_a_book_that_has_the_place_as_the_order_changes_no_other_priority(
    tmp_path: Path, form: str
) -> None:
    pair, look = ranked(tmp_path, form)

    def entries(*order: int, new: tuple[dict[str, Any], ...] = ()) -> None:
        was = parse_lore(pair.path.read_bytes(), pair.path).entries
        given = (*new, *(was[place] for place in order))
        given = tuple({**raw, "order": 100 - place} for place, raw in enumerate(given))
        pair.path.write_bytes(write_lore(form, "Sea", given, (pair.path, pair.path.read_bytes())).data)

    entries(1, 0, 2)
    assert {item.title for item in pair.sync()} == {"Bell", "Sea"}
    assert look() == (["Sea", "Bell", "Fog"], ["50", "10", "500"])
    assert pair.sync() == ()
    entries(0, 1, 2, new=({"uid": 9, **NEW_ENTRY, "comment": "Kite", "key": ["kite"], "content": "A Kite."},))
    assert [item.found for item in pair.sync()] == [SyncState.NEW_THERE]
    assert look() == (["Kite", "Sea", "Bell", "Fog"], ["50", "10", "500"])
    note = pair.place / "Fog.md"
    note.write_text(note.read_text(encoding="utf-8").replace("A Fog", "Grey Fog"), encoding="utf-8")
    assert [item.members for item in pair.sync()] == [("content",)]
    assert look()[1] == ["50", "10", "500"]
    assert [str(raw["content"]).split()[-1] for raw in parse_lore(pair.path.read_bytes(), pair.path).entries] == [
        "Kite.", "Sea.", "Bell.", "Fog.",
    ]  # fmt: skip
    assert pair.sync() == ()
    export(pair.place, pair.path, form=form)


@pytest.mark.parametrize("form", SYNCED)
@pytest.mark.parametrize("here", [True, False])
def test_what_is_gone_takes_no_other_entry_along(tmp_path: Path, form: str, *, here: bool) -> None:
    book = Placed(tmp_path, form, ["Bell", "Quay", "Fog"])
    if here:
        book.notes[0].unlink()
    else:
        entries = book.entries()
        book.path.write_bytes(write_lore(book.form, "Sea", entries[1:], (book.path, book.path.read_bytes())).data)
    gone = [item for item in book.sync(gone=Gone.FOLLOW) if item.found in {SyncState.GONE_HERE, SyncState.GONE_THERE}]
    assert [item.title for item in gone] == ["Bell"]
    assert (book.texts(), book.notes.pop(0).exists()) == (["It is 1.", "It is 2."], False)
    assert book.sync() == ()
    book.edit("It is 2.", "\nIn fog.")
    book.sync()
    assert [body.strip() for body in book.bodies()] == ["1.", "2.\nIn fog."]
    new = book.notes[0].with_name("New.md")
    new.write_text(MINE, encoding="utf-8")
    book.sync()
    assert (len(book.entries()), book.sync()) == (3, ())


@pytest.mark.parametrize("form", PLACED)
def test_a_lost_link_is_found_by_what_the_notes_say_where_numbers_are_places(tmp_path: Path, form: str) -> None:
    book = Placed(tmp_path, form, ["Bell", "Quay", "Fog"])
    book.note(2, "priority: .*", "priority: 500")
    book.sync()
    next(book.place.rglob("*.book.json")).unlink()
    notes = read_vault_notes(book.place)
    link = found_link(notes, book.path, RULES)
    assert {book.place / note.filename: link.entries[uid]["comment"] for uid, note in link.notes.items()} == dict(
        zip(book.notes, ["Bell", "Quay", "Fog"], strict=True)
    )
    plan = plan_sync(link, notes, RULES, SyncChoice())
    assert {name for item in plan.items for name in item.members} <= {"order"}


def test_a_number_of_thousands_of_digits_is_a_name() -> None:
    assert [*numbers_in(["7", "9" * 5000, "٣", "a", ""])] == [7]


def test_an_entry_without_a_number_is_known_by_what_it_says_then_by_its_place() -> None:
    """Of several alike the one in the same place comes first; what nothing tells of stands behind the same one."""
    same = {"comment": "Bell", "content": "One.", "key": ["bell"]}
    sea, fog = {"comment": "Sea", "content": "Wide.", "key": ["sea"]}, {"comment": "", "content": "Grey.", "key": []}
    known = {uid: {"uid": int(uid), **raw} for uid, raw in {"4": same, "7": same, "5": sea, "9": fog}.items()}

    def found(*entries: dict[str, Any]) -> list[str]:
        read = tuple({"uid": place, **raw} for place, raw in enumerate(entries))
        placed = frozenset(str(place) for place in range(len(read)))
        numbered = known_entries(Lore("x", "x", read, LoreReport("", ""), placed=placed), known)
        assert [raw["uid"] for raw in numbered.values()] == list(map(int, numbered))
        return list(numbered)

    assert found(same, same, sea, fog) == ["4", "7", "5", "9"]
    assert found({**same, "content": "Two."}, same, sea, fog) == ["4", "7", "5", "9"]
    assert found(fog, sea, same) == ["9", "5", "4"]
    assert found({**sea, "content": "Deep."}, fog, {**same, "comment": "Tower"}) == ["5", "9", "4"]
    other = {"comment": "Kite", "content": "Red.", "key": ["kite"]}
    assert found(same, same, sea, other) == ["4", "7", "5", "9"]
    assert found(other, sea, fog, same) == ["0", "5", "9", "4"]
    assert found(*[{"content": str(place)} for place in range(6)]) == ["4", "7", "5", "9", "10", "11"]


def test_an_exported_note_with_windows_line_ends_follows_its_book(tmp_path: Path) -> None:
    place = vault(tmp_path, A=MINE.replace("It rings.", "%%why%%\n\nIt rings."))
    note = place / "A.md"
    note.write_bytes(note.read_bytes().replace(b"\n", b"\r\n"))
    assert brought_in(place, tmp_path).endswith(b"%%why%%\r\n\r\nIt rings.\r\nIn rain.\r\n")
    notes = read_vault_notes(place)
    assert plan_sync(links_of(notes)[0], notes, RULES, SyncChoice()).items == ()


def test_other_line_ends_of_the_whole_file_are_no_change(pair: Pair) -> None:
    note = pair.place / "Sea/Bell.md"
    note.write_bytes(note.read_bytes().replace(b"\n", b"\r\n"))
    assert pair.sync() == ()
    pair.entry(content="One.\nTwo.\n3.\nFour.")
    (item,) = pair.sync()
    assert (item.found, item.settled) == (SyncState.THERE, True)
    assert note.read_bytes().endswith(b"# Bell\r\n\r\nOne.\r\nTwo.\r\n3.\r\nFour.")
    note.write_bytes(note.read_bytes().replace(b"One.", b"First."))
    pair.sync()
    assert pair.entries["0"]["content"] == "First.\nTwo.\n3.\nFour."
    assert pair.plan().is_idle
