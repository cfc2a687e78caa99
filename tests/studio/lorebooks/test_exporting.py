"""A vault becomes a lorebook: numbers, what stays at home, untouched entries as they were, and a chat run with both."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.exchange.lorebooks.crossing import Fidelity
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.formats import FORMATS, read_lore
from lorestudio.exchange.problems import InputError
from lorestudio.studio.lorebooks.exporting import ExportChoice, ExportPlan, lore_file, plan_export, try_book
from lorestudio.studio.lorebooks.importing import ImportChoice, plan_import, read_books
from lorestudio.studio.lorebooks.links import links_of
from lorestudio.studio.lorebooks.syncing import SyncChoice, plan_sync
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.studio.project.project import open_project
from lorestudio.vault.entries import ParseRules
from tests.examples import examples
from tests.studio.lorebooks.test_importing import MINE, book, carry_out, vault

RULES = ParseRules()


MADE_NEW = [kind.name for kind in FORMATS if kind.makes_new]
SAMPLES = sorted((Path(__file__).parents[2] / "exchange/lorebooks/samples").glob("*.json"))


def imported(folder: Path, path: Path) -> Path:
    place = vault(folder)
    plan = plan_import(read_books([path]), read_vault_notes(place), RULES, ImportChoice())
    ChangeLog(folder / "log", [place]).apply(plan.planned.changes)
    return place


def export(place: Path, target: Path, **choice: Any) -> ExportPlan:
    return plan_export(read_vault_notes(place), target, RULES, ExportChoice(**choice))


def written(plan: ExportPlan) -> Any:
    return json.loads(plan.written.data)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_book_that_nobody_touched_goes_out_as_it_came(tmp_path: Path, path: Path) -> None:
    before = json.loads(path.read_text(encoding="utf-8"))
    plan = export(imported(tmp_path, path), tmp_path / "out.json")
    after = written(plan)
    kept = {uid: raw for uid, raw in before["entries"].items() if raw.get("content") or raw.get("key")}
    assert json.dumps(after) == json.dumps({**before, "entries": kept})
    without_notes = plan_export(lore_file(path), tmp_path / "out.json", RULES, ExportChoice())
    assert json.dumps(written(without_notes)) == json.dumps(before)


@pytest.mark.parametrize("form", ["sillytavern", "lorebook-v3", "csv", "markdown"])
@pytest.mark.parametrize("uid", [1.0, 1e300, True, "", " ", None, [1], {}])
def test_a_number_that_is_none_goes_out_as_it_came(tmp_path: Path, uid: object, form: str) -> None:
    path = book(tmp_path, {"uid": uid, "key": ["bell"], "content": "A"}, {"uid": 7, "key": ["x"], "content": "B"})
    before, place = path.read_bytes(), imported(tmp_path, path)
    plan = export(place, tmp_path / "out", form=form)
    assert [each.left_out for each in plan.report.entries] == ["", ""]
    assert export(place, path).written.data == before


@given(st.lists(st.sampled_from(["order", "sticky", "comment", "content", "position"]), max_size=3))
@settings(max_examples=examples(40))
def test_only_the_members_that_a_note_changes_are_changed(tmp_path_factory: Any, members: list[str]) -> None:
    tmp_path = tmp_path_factory.mktemp("book")
    raw = {"key": ["bell"], "comment": "Bell", "content": "A\nB", "sticky": 0, "role": None, "order": 100}
    path = book(tmp_path, raw, {"key": ["x"], "selective": 1})
    place = imported(tmp_path, path)
    note = place / "Sea/Bell.md"
    lines = {
        "order": ("priority: 900", "priority: 850"), "sticky": ("wi_book:", "wi_sticky: 4\nwi_book:"),
        "comment": ("# Bell", "# Tower"), "content": ("\nB", "\nC"),
        "position": ("position: before", "position: after"),
    }  # fmt: skip
    values = {"order": 150, "sticky": 4, "comment": "Tower", "content": "A\nC", "position": 1}
    for member in dict.fromkeys(members):
        note.write_text(note.read_text(encoding="utf-8").replace(*lines[member]), encoding="utf-8")
    wanted = json.loads(path.read_text(encoding="utf-8"))
    wanted["entries"]["0"] |= {member: values[member] for member in members}
    assert json.dumps(written(export(place, tmp_path / "out.json"))) == json.dumps(wanted)


OTHERS = sorted((Path(__file__).parents[2] / "exchange/lorebooks/data").glob("*"))


@pytest.mark.parametrize(
    "path", [each for each in OTHERS if each.suffix not in {".risum", ".md"}], ids=lambda each: each.name
)
def test_a_book_of_any_format_becomes_world_info_without_a_vault(tmp_path: Path, path: Path) -> None:
    lore = read_lore(path)
    plan = plan_export(lore_file(path), tmp_path / "out.json", RULES, ExportChoice())
    assert [raw["content"] for raw in written(plan)["entries"].values()] == [raw["content"] for raw in lore.entries]
    assert plan.report.counts() == lore.report.counts()
    assert set(lore.report.remarks) <= set(plan.report.remarks)
    assert (plan.link, plan.before, plan.vault) == (None, None, path.parent)
    for folder in {*lore.folders.values()}:
        inside = plan_export(lore_file(path), tmp_path / "out.json", RULES, ExportChoice(folder=folder))
        assert [note.fate.uid for note in inside.notes] == [uid for uid in lore.folders if lore.folders[uid] == folder]


def test_some_entries_of_a_book_go_into_another_one(tmp_path: Path) -> None:
    raws = ({"key": [f"k{n}"], "comment": f"N{n}", "content": "x", "own": n, "disable": n == 3} for n in range(4))
    path, target = book(tmp_path, *raws), tmp_path / "out.json"
    plan = plan_export(lore_file(path), target, RULES, ExportChoice(only={"N1", "2", "uid 3"}, disabled=False))
    assert {uid: raw["own"] for uid, raw in written(plan)["entries"].items()} == {"1": 1, "2": 2}
    assert {fate.title: fate.left_out for fate in plan.report.entries}["N3"] == "It is switched off."
    with pytest.raises(InputError, match=r"no entry with this title or number\. Did you mean “N1”"):
        plan_export(lore_file(path), target, RULES, ExportChoice(only={"N11"}))
    with pytest.raises(InputError, match="this is the book itself"):
        plan_export(lore_file(path), path, RULES, ExportChoice())
    table = plan_export(lore_file(path), tmp_path / "out.csv", RULES, ExportChoice(form="csv"))
    assert table.report.source == "World Info"
    assert ("own", Fidelity.LOST) in {(each.field, each.fate) for each in table.report.counts()}


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    place = imported(tmp_path, book(tmp_path, {"key": ["bell"], "comment": "Bell", "content": "A"}))
    with pytest.raises(InputError, match=rf"{place}: there is no entry in a folder “sea”\. Did you mean “Sea”"):
        export(place, tmp_path / "out.json", folder="sea")
    for folder in ("Sea", "Sea/"):  # it is there, and has none of the notes that are asked for
        with pytest.raises(InputError, match="no note is left to export"):
            export(place, tmp_path / "out.json", folder=folder, only={"Other.md"})


def test_numbers_are_kept_and_never_used_again(tmp_path: Path) -> None:
    place = imported(tmp_path, book(tmp_path, *({"key": [f"k{n}"], "comment": f"N{n}"} for n in range(3))))
    (place / "Sea/N2.md").unlink()
    text = (place / "Sea/N0.md").read_text(encoding="utf-8")
    (place / "Sea/Twin.md").write_text(text.replace("# N0", "# Twin"), encoding="utf-8")
    (place / "Sea/New.md").write_text(MINE, encoding="utf-8")
    plan = export(place, tmp_path / "out.json")
    numbers = {raw["comment"]: (uid, raw["uid"]) for uid, raw in written(plan)["entries"].items()}
    assert numbers == {"N0": ("0", 0), "N1": ("1", 1), "The bell": ("3", 3), "Twin": ("4", 4)}
    assert plan.report.remarks == (
        "1 note has the number of another one and got a new one.", "1 entry of the book has no note here: left out.",
        "The notes stay linked to Sea.json: a sync will not know this file.",
    )  # fmt: skip


def test_what_stays_at_home_is_said(tmp_path: Path) -> None:
    place = vault(
        tmp_path, A=MINE, B=MINE.replace("requires", "wi_export: false\nrequires"), C="# Plain\n",
        D=MINE.replace("requires", "enabled: false\nrequires"),
    )  # fmt: skip
    plan = export(place, tmp_path / "out.json", disabled=False)
    assert {note.filename: note.fate.left_out for note in plan.notes} == {
        "A.md": "", "B.md": "It says wi_export: false.", "D.md": "It is switched off.",
    }  # fmt: skip
    (raw,) = written(plan)["entries"].values()
    assert raw == {
        "uid": 0, **NEW_ENTRY, "key": ["bell"], "comment": "The bell", "content": "It rings.\nIn fog.", "order": 900,
        "addMemo": True, "extensions": raw["extensions"],
    }  # fmt: skip
    assert raw["extensions"]["lorestudio"]["deeplore"]["requires"] == ["Sea"]
    with pytest.raises(InputError, match="no note is left"):
        export(place, tmp_path / "out.json", only={"C.md"})
    with pytest.raises(InputError, match="no format “x”"):
        export(place, tmp_path / "out.json", form="x")


def test_an_export_is_remembered_and_a_book_changed_since_is_not_written_over(tmp_path: Path) -> None:
    place, target = vault(tmp_path, A=MINE), tmp_path / "out.json"
    plan, log = export(place, target), ChangeLog(tmp_path / "log", [place])
    assert carry_out(plan, log) is None
    (link,) = links_of(read_vault_notes(place))
    assert (link.file, link.notes["0"].filename) == (str(target), "A.md")
    (place / "A.md").write_text(MINE.replace("[bell]", "[bell, tower]"), encoding="utf-8")
    again = export(place, target)
    assert written(again)["entries"]["0"]["key"] == ["bell", "tower"]
    copy = carry_out(again, log)
    assert copy is not None
    assert json.loads(copy.read_bytes()) == written(plan)
    log.undo()
    assert json.loads(target.read_bytes()) == written(plan)
    assert links_of(read_vault_notes(place)) == (link,)
    log.undo()
    assert (target.exists(), links_of(read_vault_notes(place))) == (False, ())
    log.redo()
    log.redo()
    assert json.loads(target.read_bytes()) == written(again)
    target.write_text(target.read_text(encoding="utf-8").replace("In fog", "In rain"), encoding="utf-8")
    with pytest.raises(InputError, match="lorestudio sync"):
        export(place, target)


def test_notes_of_one_book_are_linked_to_no_second_one_and_that_is_said(tmp_path: Path) -> None:
    place, told = vault(tmp_path, A=MINE), "The notes stay linked to first.json: a sync will not know this file."
    log = ChangeLog(tmp_path / "log", [place])
    first = export(place, tmp_path / "first.json")
    carry_out(first, log)
    second = export(place, tmp_path / "second.json")
    carry_out(second, log)
    assert (told in first.report.remarks, told in second.report.remarks) == (False, True)
    assert [Path(link.file).name for link in links_of(read_vault_notes(place))] == ["first.json"]


def test_a_book_that_is_too_large_to_be_read_again_is_written_without_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, target = vault(tmp_path, A=MINE), tmp_path / "out.json"
    log, size = ChangeLog(tmp_path / "log", [place]), len(export(place, target).written.data)
    for most, links in ((size - 1, 0), (size, 1)):
        monkeypatch.setattr("lorestudio.studio.lorebooks.exporting.TEXT_AT_MOST", most)
        plan = export(place, target)
        carry_out(plan, log)
        assert "not linked to it" in "".join(plan.report.remarks) or links
        assert (target.read_bytes(), len(links_of(read_vault_notes(place)))) == (plan.written.data, links)
    monkeypatch.setattr("lorestudio.studio.lorebooks.exporting.TEXT_AT_MOST", size - 1)
    with pytest.raises(InputError, match="Export fewer notes, or under another name"):
        export(place, target)
    assert export(place, tmp_path / "other.json").link is None
    of_a_book = plan_export(lore_file(target), tmp_path / "other.json", RULES, ExportChoice())
    assert of_a_book.report.remarks == (), "it has no vault that could be linked"


def test_a_book_that_is_too_large_to_be_read_again_is_written_over_when_it_is_exported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, target = vault(tmp_path, A=MINE), tmp_path / "out.json"
    log, before = ChangeLog(tmp_path / "log", [place]), export(place, target).written.data
    for module in ("settings.files", "studio.lorebooks.exporting"):
        monkeypatch.setattr(f"lorestudio.{module}.TEXT_AT_MOST", len(before) - 1)
    for _ in range(2):
        plan = export(place, target)
        copy = plan.keep_copy()
        carry_out(plan, log)
    assert (target.read_bytes(), copy and copy.read_bytes()) == (before, before)
    assert "out.json is there already. It is replaced; a copy stays beside it." in plan.report.remarks


def test_a_note_with_a_number_that_no_book_can_hold_is_named(tmp_path: Path) -> None:
    place = vault(tmp_path, A=MINE, B=MINE.replace("---\n", "---\npriority: 1e999\n", 1))
    with pytest.raises(InputError, match=r"B\.md: it holds a number such as 1e999"):
        export(place, tmp_path / "out.json")


def test_a_book_that_was_changed_while_the_export_was_looked_at_is_told(tmp_path: Path) -> None:
    """It goes out as it came, so nothing is written, and nothing else would notice: it was said to be written."""
    place = imported(tmp_path, SAMPLES[0])
    target = tmp_path / "again.json"
    target.write_bytes(export(place, target).written.data)
    plan = export(place, target)
    assert plan.written.data == plan.before
    target.write_text('{"entries": {}}', encoding="utf-8")
    with pytest.raises(InputError, match=r"again\.json: the file was changed meanwhile, so nothing was written"):
        plan.keep_copy()
    assert [each.name for each in tmp_path.glob("again*")] == ["again.json"]


def test_an_export_leaves_one_word_in_the_notes_for_what_was_said_in_two(tmp_path: Path) -> None:
    path = book(tmp_path, {"key": ["/be[l]+/"], "sticky": 3, "comment": "Bell", "content": "One."})
    place, log = imported(tmp_path, path), ChangeLog(tmp_path / "log", [tmp_path / "vault"])
    note = place / "Sea/Bell.md"
    said = note.read_text(encoding="utf-8").replace("wi_uid:", "keys: [harbour]\nwi_uid:")
    note.write_text(said, encoding="utf-8")
    elsewhere = export(place, tmp_path / "other.json")
    assert [change.path for change in elsewhere.changes.changes] == [tmp_path / "other.json"]
    plan = export(place, path)
    (lost,) = [field for field in plan.report.entries[0].fields if field.fate is Fidelity.LOST]
    assert lost.field == "wi_key"
    assert lost.how.endswith('["/be[l]+/"]')
    carry_out(plan, log)
    assert written(plan)["entries"]["0"]["key"] == ["harbour"]
    assert note.read_text(encoding="utf-8") == said.replace("wi_key:\n  - /be[l]+/\n", "")
    notes = read_vault_notes(place)
    assert plan_sync(links_of(notes)[0], notes, RULES, SyncChoice()).is_idle
    note.write_text(note.read_text(encoding="utf-8").replace("One.", "Two."), encoding="utf-8")
    assert written(export(place, path))["entries"]["0"] | {"content": "One."} == written(plan)["entries"]["0"]


def test_a_place_that_deeplore_has_noted_gives_way_to_another_one(tmp_path: Path) -> None:
    noted = MINE.replace("# mine\n", "# original_st_position: 4\nposition: before\n")
    place, target = vault(tmp_path, A=noted), tmp_path / "out.json"
    log = ChangeLog(tmp_path / "log", [place])
    carry_out(export(place, target), log)
    for old, new, at in (("fog", "rain", 4), ("before", "after", 1), ("rain", "snow", 1)):
        changed = (place / "A.md").read_text(encoding="utf-8").replace(old, new)
        (place / "A.md").write_text(changed, encoding="utf-8")
        carry_out(export(place, target), log)
        assert json.loads(target.read_bytes())["entries"]["0"]["position"] == at, new
    assert (place / "A.md").read_text(encoding="utf-8") == noted.replace("# original_st_position: 4\n", "").replace(
        "before", "after"
    ).replace("fog", "snow")


def test_a_book_keeps_its_numbers_where_most_notes_are_of_another_one(tmp_path: Path) -> None:
    first = book(tmp_path, {"key": ["bell"], "comment": "Bell", "content": "One."})
    more = [{"key": [key], "comment": key, "content": key} for key in ("quay", "reef")]
    second = book(tmp_path, *more, name="Other")
    place, log = imported(tmp_path, first), ChangeLog(tmp_path / "log", [tmp_path / "vault"])
    log.apply(plan_import(read_books([second]), read_vault_notes(place), RULES, ImportChoice()).planned.changes)
    plan = export(place, first)
    assert {entry["comment"]: entry["uid"] for entry in written(plan)["entries"].values()} == {
        "Bell": 0, "quay": 1, "reef": 2,
    }  # fmt: skip
    assert "2 notes of other books get numbers here." in plan.report.remarks
    carry_out(plan, log)
    links = links_of(read_vault_notes(place))
    assert {link.book: len(link.entries) for link in links} == {"Sea": 3, "Other": 2}
    assert plan_sync(links[1], read_vault_notes(place), RULES, SyncChoice()).items == ()


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ('{"entries": {"0": {}, "5": {}}}', "out.json is there already, with 2 entries."),
        ("x", "out.json is there already."),
    ],
)
def test_what_is_written_over_is_said_before(tmp_path: Path, there: str, said: str) -> None:
    place, target, log = (
        vault(tmp_path, A=MINE),
        tmp_path / "out.json",
        ChangeLog(tmp_path / "log", [tmp_path / "vault"]),
    )
    target.write_text(there, encoding="utf-8")
    plan = export(place, target)
    assert plan.report.remarks == (f"{said} It is replaced; a copy stays beside it.",)
    copy = carry_out(plan, log)
    assert copy is not None
    assert copy.read_text(encoding="utf-8") == there
    assert export(place, target).report.remarks == (), "it is ours now"


@pytest.mark.parametrize("form", ["sillytavern", "novelai", "risu", "agnaistic", "lorebook-v3", "csv"])
def test_every_format_that_can_be_made_is_made(tmp_path: Path, form: str) -> None:
    target = tmp_path / "out.file"
    place = vault(tmp_path, A=MINE)
    carry_out(export(place, target, form=form), ChangeLog(tmp_path / "log", [place]))
    (read,) = read_books([target])
    assert [entry["content"] for entry in read.lore.entries] == ["It rings.\nIn fog."]


@pytest.mark.parametrize("kind", MADE_NEW)
def test_what_was_just_written_is_not_changed_there(tmp_path: Path, kind: str) -> None:
    """Whatever the format cannot say: a sync finds nothing, and a second export writes the same file."""
    target = tmp_path / "out.file"
    other = MINE.replace("The bell", "Sea").replace("In fog", "At sea").replace("requires:", "wi_order: 300\nrequires:")
    place = vault(tmp_path, A=MINE, B=other)
    log = ChangeLog(tmp_path / "log", [place])
    carry_out(export(place, target, form=kind), log)
    first, notes = target.read_bytes(), read_vault_notes(place)
    (link,) = links_of(notes)
    assert plan_sync(link, notes, RULES, SyncChoice()).items == ()
    carry_out(export(place, target, form=kind), log)
    assert target.read_bytes() == first


SAID = st.sets(
    st.sampled_from([
        "constant: true", "enabled: false", "refine_keys: [wet, 'a, b']", "probability: 0.255", "scanDepth: 3",
        "position: in_chat\ndepth: 2\nrole: user", "cooldown: 2", "excludeRecursion: true", "requires: [Sea]",
        "wi_key: ['/r(e)g/i', reg]", "wi_secondary: [m, n]\nwi_logic: 3", "wi_sticky: 2", "wi_match_whole_words: false",
    ])
)  # fmt: skip
"""Properties of a note; there is no format but World Info's own and a card's that can say all of them."""


def a_vault(folder: Path, notes: list[set[str]]) -> Path:
    """Notes in the order in which lists put them that have the order as their place."""
    return vault(folder, **{
        f"N{place}": "\n".join((
            "---", "tags: [lorebook]", "keys: [bell, quay]", f"priority: {900 + place}", *sorted(said), "---",
            f"# N{place}", "", "It [[rings]].", "",
        ))
        for place, said in enumerate(notes)
    })  # fmt: skip


@pytest.mark.parametrize("first", MADE_NEW)
@given(notes=st.lists(SAID, min_size=1, max_size=3), second=st.sampled_from(MADE_NEW), as_written=st.booleans())
@settings(max_examples=examples(40))
def test_an_export_takes_nothing_away_from_the_next_one(
    tmp_path_factory: Any, first: str, notes: list[set[str]], second: str, as_written: bool
) -> None:
    folder = tmp_path_factory.mktemp("book")
    place, target = a_vault(folder, notes), folder / "second" / "book.file"
    target.parent.mkdir()
    alone = export(place, target, form=second, as_written=as_written)
    log = ChangeLog(folder / "log", [place])
    carry_out(export(place, folder / "book.file", form=first), log)
    after = export(place, target, form=second, as_written=as_written)
    assert after.written.data == alone.written.data
    assert (after.report.counts(), after.link) == (alone.report.counts(), None)
    (place / "N0.md").write_text((place / "N0.md").read_text("utf-8").replace("rings", "sings"), encoding="utf-8")
    touched = {**alone.entries["N0.md"], "content": alone.entries["N0.md"]["content"].replace("rings", "sings")}
    assert export(place, target, form=second, as_written=as_written).entries == {**alone.entries, "N0.md": touched}


def test_what_a_format_cannot_say_is_not_forgotten_of_a_note_that_came_from_it(tmp_path: Path) -> None:
    path = tmp_path / "Sea.lorebook"
    entry = {"text": "Wet.", "displayName": "Quay", "keys": ["quay"], "id": "x", "enabled": True}
    path.write_text(json.dumps({"lorebookVersion": 5, "entries": [entry]}), encoding="utf-8")
    place, log = imported(tmp_path, path), ChangeLog(tmp_path / "log", [tmp_path / "vault"])
    note = place / "Sea/Quay.md"
    note.write_text(note.read_text(encoding="utf-8").replace("wi_uid:", "wi_sticky: 4\nwi_uid:"), encoding="utf-8")
    carry_out(export(place, path, form="novelai"), log)
    assert written(export(place, tmp_path / "out.json"))["entries"]["0"]["sticky"] == 4


def test_notes_of_another_book_keep_the_number_that_they_went_out_with(tmp_path: Path) -> None:
    """A running effect is found by it: a second export says what the first one said."""
    first = book(tmp_path, *({"key": [key], "comment": key, "content": key} for key in ("bell", "reef")))
    second = book(tmp_path, {"key": ["quay"], "comment": "Quay", "content": "Wet."}, name="Other")
    place, log = imported(tmp_path, first), ChangeLog(tmp_path / "log", [tmp_path / "vault"])
    plan = plan_import(read_books([second]), read_vault_notes(place), RULES, ImportChoice())
    log.apply(plan.planned.changes)
    carry_out(export(place, first), log)
    once = first.read_bytes()
    again = export(place, first)
    assert again.written.data == once
    assert not [remark for remark in again.report.remarks if "no note here" in remark]


def test_a_chat_is_run_with_the_vault_and_with_the_book(tmp_path: Path) -> None:
    gated = MINE.replace("requires: [Sea]", "requires: [Nobody, Bell]\nwarmup: 5").replace("The bell", "Gated")
    sea = "---\ntags: [lorebook]\nkeys: [sea]\n---\n# Sea\n\nWide."
    place = vault(tmp_path, Gated=gated, Sea=sea)
    chat = tmp_path / "chat.txt"
    chat.write_text("You: The bell by the sea.\nAnna: It rings.\nYou: And the sea?\n", encoding="utf-8")
    project = open_project([str(place)], chat)
    tried = asyncio.run(try_book(project, export(place, tmp_path / "out.json").entries))
    assert tried.replies == 2
    assert tried.counts == {"Gated.md": (0, tried.counts["Gated.md"][1])}
    assert tried.counts["Gated.md"][1] > 0
    assert all(turn.vault_only == () and turn.book_only == ("Gated.md",) for turn in tried.turns)
    assert tried.sentence == f"In {2 - len(tried.turns)} of 2 replies the book gives the same entries."


def test_a_text_that_is_known_is_not_held_a_second_time(tmp_path: Path) -> None:
    place = imported(tmp_path, book(tmp_path, {"key": ["bell"], "content": "It rings."}))
    notes = read_vault_notes(place)
    (note,) = plan_export(notes, tmp_path / "out.json", RULES, ExportChoice()).notes
    assert "It rings." in note.text
    assert note.text is notes.index.notes[note.filename].text
