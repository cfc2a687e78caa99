from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.studio.project.project import open_project

Run = Callable[..., Result]

NOTES = {
    "places/Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp]\n---\n# Lamp\n\nA lamp.\n",
    "Tale.md": "---\nrequires: [Lamp]\n---\nThe [[Lamp]] and the lamp by [[Nobody]].\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()
    }


def test_a_lorebooks_entries_are_searched(lorestudio: Run, tmp_path: Path) -> None:
    book = tmp_path / "Book.json"
    entry = {"uid": 7, "comment": "Lamp", "key": ["oil"], "content": "It burns.", "order": 1, "position": 0}
    book.write_text(json.dumps({"entries": {"7": entry}}), encoding="utf-8")
    result = lorestudio("search", book, "key:oil burns")
    assert (result.exit_code, result.stdout.splitlines()) == (0, ["uid 7 (Lamp)", "  8: It burns."])
    assert lorestudio("search", book, "water").exit_code == 1
    for command in ("sync", "entries"):
        refused = lorestudio(command, book)
        assert refused.exit_code == 2
        assert refused.stderr == (
            f"lorestudio: {book}: this is a lorebook, and no vault of notes. "
            "Bring its lore into a vault: “lorestudio import FILE --into VAULT”.\n"
        )


@pytest.fixture(params=["World Info", "card"])
def book(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Bell and tower, whose texts name each other, in a World Info file or in a card; the tower's order is higher."""
    entries = (("Bell", "bell", "It hangs in the tower.", 40), ("Tower", "tower", "The bell rings.", 90))
    path = tmp_path / "books" / "Book.json"
    path.parent.mkdir()
    if request.param == "card":
        listed = [
            {"id": uid, "name": title, "comment": title, "keys": [key], "content": text, "insertion_order": order,
             "enabled": True, "extensions": {}}
            for uid, (title, key, text, order) in enumerate(entries)
        ]  # fmt: skip
        card = {"name": "Ada", "character_book": {"entries": listed, "extensions": {}}}
        document: object = {"spec": "chara_card_v2", "spec_version": "2.0", "data": card}
    else:
        document = {
            "entries": {
                str(uid): {**NEW_ENTRY, "uid": uid, "comment": title, "key": [key], "content": text, "order": order}
                for uid, (title, key, text, order) in enumerate(entries)
            }
        }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def orders(book: Path) -> dict[str, float]:
    (read,) = open_project([book]).books
    return {entry.comment: entry.order for entry in read.entries}


def test_a_lorebooks_entry_is_renamed_and_that_is_undone(lorestudio: Run, book: Path) -> None:
    before = book.read_bytes()
    tried = lorestudio("rename", book, "Bell", "Great Bell", "--dry-run")
    shown = ["--- a/Book.json/uid 0", "+++ b/Book.json/uid 0"]
    assert (tried.exit_code, tried.stdout.splitlines()[:2], book.read_bytes()) == (0, shown, before), tried.output
    assert ("-comment: Bell\n+comment: Great Bell\n" in tried.stdout, tried.stdout.count("---")) == (True, 2)
    assert tried.stderr == "lorestudio: Rename Bell: 1 entry would change.\n"
    assert lorestudio("rename", book, "uid 0", "Great Bell").exit_code == 0
    assert orders(book) == {"Great Bell": 40, "Tower": 90}
    assert lorestudio("undo", book, "--list").stdout == "Rename Bell\n"
    undone = lorestudio("undo", book, "--yes")
    assert (undone.exit_code, book.read_bytes()) == (0, before), undone.output
    assert lorestudio("undo", book, "--redo", "--yes").exit_code == 0
    assert "Great Bell" in orders(book)


def test_undo_of_a_lorebook_leaves_the_others_in_its_folder_alone(lorestudio: Run, book: Path) -> None:
    before = book.read_bytes()
    other = book.with_name("Other.json")
    other.write_bytes(before)
    assert lorestudio("rename", other, "Bell", "Gong").exit_code == 0
    changed = other.read_bytes()
    assert "nothing to undo" in lorestudio("undo", book, "--list").stderr
    assert "nothing to undo" in lorestudio("undo", book, "--yes").stderr.lower()
    assert (book.read_bytes(), other.read_bytes()) == (before, changed)
    assert lorestudio("rename", book, "Bell", "Great Bell").exit_code == 0
    assert lorestudio("rename", other, "Tower", "Keep").exit_code == 0
    assert lorestudio("undo", book, "--yes").exit_code == 0
    assert (book.read_bytes(), "Keep" in other.read_text(encoding="utf-8")) == (before, True)
    assert lorestudio("undo", other, "--yes").exit_code == 0
    assert other.read_bytes() == changed
    table = book.with_name("Made.csv")
    assert lorestudio("export", book, "--to", table, "--yes").exit_code == 0
    assert table.exists()
    assert lorestudio("undo", book, "--yes").exit_code == 0
    assert not table.exists()


def test_an_export_of_a_lorebook_over_another_file_is_undone_by_that_book_alone(lorestudio: Run, book: Path) -> None:
    table = book.with_name("Made.csv")
    assert lorestudio("export", book, "--to", table, "--yes").exit_code == 0
    made = table.read_bytes()
    other = book.with_name("Other.json")
    other.write_bytes(book.read_bytes())
    assert lorestudio("rename", other, "Bell", "Gong").exit_code == 0
    assert lorestudio("export", other, "--to", table, "--yes").exit_code == 0
    assert table.read_bytes() != made
    assert lorestudio("undo", book, "--list").stdout == "Export 2 entries to Made.csv\n"
    assert lorestudio("undo", other, "--list").stdout == "Export 2 entries to Made.csv\nRename Bell\n"
    assert lorestudio("undo", other, "--yes").exit_code == 0
    assert table.read_bytes() == made


def test_a_lorebook_is_named_from_where_one_is(lorestudio: Run, book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(book.parent)
    for command, *more in (
        ("rename", "Bell", "Great Bell"), ("order", "Great Bell", "Tower"), ("change", "order=7", "Tower"),
        ("search", "rings", "--replace", "tolls"), ("links", "Tower"), ("delete", "Tower"), ("undo", "--yes"),
    ):  # fmt: skip
        result = lorestudio(command, book.name, *more)
        assert result.exit_code == 0, (command, result.output, result.exception)
    assert orders(book) == {"Great Bell": 50, "Tower": 7}


def test_a_change_of_a_lorebook_is_not_undone_over_another_ones(lorestudio: Run, book: Path) -> None:
    assert lorestudio("rename", book, "Bell", "Great Bell").exit_code == 0
    book.write_text(others := book.read_text("utf-8").replace("rings", "tolls"), "utf-8")
    refused = lorestudio("undo", book, "--yes")
    assert (refused.exit_code, "“Book.json” has changed on disk" in refused.stderr) == (2, True), refused.output
    assert book.read_text("utf-8") == others


def test_two_entries_of_one_number_keep_no_other_one_from_a_change(lorestudio: Run, tmp_path: Path) -> None:
    path = tmp_path / "Twins.json"
    entries = [
        {**NEW_ENTRY, "uid": uid, "comment": title, "key": ["a"]} for uid, title in ((1, "A"), (1, "B"), (2, "C"))
    ]
    path.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    assert lorestudio("rename", path, "C", "D").exit_code == 0
    assert '"D"' in path.read_text("utf-8")
    refused = lorestudio("rename", path, "uid 1", "E")
    assert (refused.exit_code, "2 entries with the uid 1" in refused.stderr) == (2, True), refused.output


def test_a_rename_in_a_lorebook_that_cannot_be(lorestudio: Run, book: Path) -> None:
    before = book.read_bytes()
    nobody = lorestudio("rename", book, "Nobody", "X")
    assert (nobody.exit_code, "no note has the title" in nobody.stderr) == (2, True)
    keyed = lorestudio("rename", book, "Bell", "Peal", "--old-key", "replace")
    assert (keyed.exit_code, "an entry of a lorebook keeps its keys" in keyed.stderr) == (2, True)
    assert book.read_bytes() == before


def test_order_numbers_a_lorebooks_orders_and_the_first_named_is_the_highest(lorestudio: Run, book: Path) -> None:
    assert lorestudio("order", book, "--step", 5).exit_code == 0
    assert orders(book) == {"Bell": 40, "Tower": 45}
    numbered = lorestudio("order", book, "Bell", "Tower")
    assert (numbered.exit_code, orders(book)) == (0, {"Bell": 50, "Tower": 40}), numbered.output
    assert "2 entries changed" in numbered.stderr
    assert "already" in lorestudio("order", book, "Bell", "Tower").stderr
    assert lorestudio("order", book, "Nobody").exit_code == 2


def test_links_of_a_lorebooks_entry_tell_what_wakes_what(lorestudio: Run, book: Path) -> None:
    told = lorestudio("links", book, "Bell")
    wakes = ["Wakes: 1", "  Tower (uid 1): “tower”", "", "Woken by: 1", "  Tower (uid 1): “bell”"]
    assert (told.exit_code, told.stdout.splitlines()) == (0, ["Bell (uid 0)", "", *wakes]), told.output
    found = json.loads(lorestudio("links", book, "uid 1", "--json").stdout)
    assert found["woken_by"] == [{"file": "uid 0", "title": "Bell", "key": "tower", "refine_key": None, "obstacle": ""}]
    assert lorestudio("links", book, "Nobody").exit_code == 2
    silent = lorestudio("links", book, "Bell", "--system", "context-window")
    assert "Context window does not say what wakes these entries" in silent.stderr


def test_what_is_found_in_a_lorebook_is_replaced_in_it(lorestudio: Run, book: Path) -> None:
    before = book.read_bytes()
    tried = lorestudio("search", book, "bell", "--where", "body", "--replace", "gong", "--dry-run")
    assert (tried.exit_code, "+The gong rings." in tried.stdout, book.read_bytes()) == (0, True, before), tried.output
    assert lorestudio("search", book, "bell", "--where", "body", "--replace", "gong").exit_code == 0
    (read,) = open_project([book]).books
    assert [(entry.comment, entry.content) for entry in read.entries] == [
        ("Bell", "It hangs in the tower."), ("Tower", "The gong rings."),
    ]  # fmt: skip
    assert lorestudio("undo", book, "--list").stdout == "Replace 1 place in 1 entry\n"


def test_a_property_of_lorebooks_entries_is_changed(lorestudio: Run, book: Path) -> None:
    changed = lorestudio("change", book, "disable=true", "Bell", "uid 1")
    assert (changed.exit_code, "Set disable in 2 entries: 2 entries changed." in changed.stderr) == (0, True)
    assert lorestudio("change", book, "key+=belfry", "Tower").exit_code == 0
    (read,) = open_project([book]).books
    assert [(entry.keys, entry.disabled) for entry in read.entries] == [(("bell",), True), (("tower", "belfry"), True)]
    before = book.read_bytes()
    wrong = lorestudio("change", book, "order=soon", "Tower")
    assert (wrong.exit_code, "order" in wrong.stderr, book.read_bytes()) == (2, True, before), wrong.output


@pytest.mark.parametrize("book", ["World Info"], indirect=True)
def test_a_field_that_world_info_does_not_know_is_told_once(lorestudio: Run, book: Path) -> None:
    odd = lorestudio("change", book, "keys+=belfry", "Bell")
    assert "“keys”, which the scan does not know: it changes nothing. Did you mean “key”?" in odd.stderr
    assert "“keys”" not in lorestudio("change", book, "order=7", "Bell").stderr


@pytest.mark.parametrize(
    ("change", "front"),
    [
        ("keys+=lantern", "keys: [lamp, lantern]\n"),
        ("keys -= lamp", "keys: []\n"),
        ("keys=", ""),
        ("priority=20", "keys: [lamp]\npriority: 20\n"),
        ("enabled=false", "keys: [lamp]\nenabled: false\n"),
    ],
)
def test_a_property_of_notes_is_changed(lorestudio: Run, notes: Path, change: str, front: str) -> None:
    assert lorestudio("change", notes, change, "Lamp", "--dry-run").exit_code == 0
    assert contents(notes) == NOTES
    changed = lorestudio("change", notes, change, "lamp")
    assert (changed.exit_code, "1 file changed" in changed.stderr) == (0, True), changed.output
    assert contents(notes)["places/Lamp.md"] == NOTES["places/Lamp.md"].replace("keys: [lamp]\n", front)
    assert lorestudio("undo", notes, "--yes").exit_code == 0
    assert contents(notes) == NOTES


@pytest.mark.parametrize("change", ["priority", "=3", "+=a", "keys+="])
def test_a_change_of_a_property_that_says_nothing_is_refused(lorestudio: Run, notes: Path, change: str) -> None:
    refused = lorestudio("change", notes, change, "Lamp")
    assert (refused.exit_code, "write NAME=VALUE" in refused.stderr, contents(notes)) == (2, True, NOTES)
    assert lorestudio("change", notes, "priority=3", "Nobody").exit_code == 2
    assert "Did you mean “Lamp”?" in lorestudio("change", notes, "priority=3", "Lamb").stderr


def test_where_nothing_changes_that_is_said_and_where_nothing_could_it_is_an_error(
    lorestudio: Run, notes: Path, book: Path
) -> None:
    for place, change, name in ((notes, "keys=[lamp]", "Lamp"), (book, "order=40", "Bell")):
        same = lorestudio("change", place, change, name)
        assert (same.exit_code, same.stderr.splitlines()[-1]) == (0, "lorestudio: nothing changed."), same.output
    for place, name in ((notes, "Lamp"), (book, "Bell")):
        wrong = lorestudio("change", place, "a:b=3", name, "--dry-run")
        assert (wrong.exit_code, "“a:b” cannot be the name of a property" in wrong.stderr) == (2, True), wrong.output


def test_notes_are_moved_with_what_refers_to_them(lorestudio: Run, notes: Path) -> None:
    tale = NOTES["Tale.md"].replace("[[Lamp]]", "[[places/Lamp]]")
    (notes / "Tale.md").write_text(tale, encoding="utf-8")
    tried = lorestudio("move", notes, "items/lost", "Lamp", "--dry-run")
    assert "rename to items/lost/Lamp.md" in tried.stdout
    assert "places/Lamp.md" in contents(notes)
    assert lorestudio("move", notes, "items/lost", "Lamp").exit_code == 0
    assert contents(notes) == {
        "items/lost/Lamp.md": NOTES["places/Lamp.md"],
        "Tale.md": tale.replace("places/Lamp", "items/lost/Lamp"),
    }
    assert lorestudio("move", notes, ".", "Lamp").exit_code == 0
    assert "Lamp.md" in contents(notes)
    assert lorestudio("move", notes, "../out", "Lamp").exit_code == 2


def test_notes_are_deleted_and_brought_back(lorestudio: Run, notes: Path) -> None:
    assert lorestudio("delete", notes, "Lamp", "--dry-run").exit_code == 0
    assert contents(notes) == NOTES
    deleted = lorestudio("delete", notes, "Lamp")
    assert (deleted.exit_code, contents(notes)) == (0, {"Tale.md": NOTES["Tale.md"]})
    assert "References to places/Lamp.md will lead nowhere: Tale.md." in deleted.stderr
    assert lorestudio("undo", notes, "--yes").exit_code == 0
    assert contents(notes) == NOTES


def test_a_lorebooks_entries_are_deleted_and_never_moved(lorestudio: Run, book: Path) -> None:
    before = book.read_bytes()
    moved = lorestudio("move", book, "items", "Bell")
    assert (moved.exit_code, "lie in no folder" in moved.stderr) == (2, True)
    deleted = lorestudio("delete", book, "Bell")
    assert (deleted.exit_code, "-It hangs in the tower." in deleted.stdout, orders(book)) == (0, True, {"Tower": 90})
    assert "Delete Bell: 1 entry changed." in deleted.stderr
    assert lorestudio("undo", book, "--yes").exit_code == 0
    assert book.read_bytes() == before


def test_what_is_found_is_replaced_as_one_step(lorestudio: Run, notes: Path) -> None:
    both = lorestudio("search", notes, "lamp", "--replace", "torch", "--json")
    assert (both.exit_code, "not with --replace" in both.stderr) == (2, True)
    two = lorestudio("search", notes, "lamp tale", "--replace", "torch")
    assert (two.exit_code, "only one thing can be replaced" in two.stderr) == (2, True)
    asked = ("search", notes, r"(l)amp\b", "--regex", "--case", "--where", "body", "--replace", "$1ight")
    tried = lorestudio(*asked, "--dry-run")
    assert ("+A light." in tried.stdout, contents(notes)) == (True, NOTES), tried.output
    assert lorestudio(*asked).exit_code == 0
    assert contents(notes) == {
        "places/Lamp.md": NOTES["places/Lamp.md"].replace("A lamp", "A light"),
        "Tale.md": NOTES["Tale.md"].replace("the lamp", "the light"),
    }
    assert lorestudio("undo", notes, "--list").stdout == "Replace 2 places in 2 notes\n"
    assert lorestudio("search", notes, "zzz", "--replace", "x").exit_code == 1


def test_search_prints_lines(lorestudio: Run, notes: Path) -> None:
    result = lorestudio("search", notes, "path:tale lamp")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "Tale.md", "  2: requires: [Lamp]", "  4: The [[Lamp]] and the lamp by [[Nobody]].",
        "  4: The [[Lamp]] and the lamp by [[Nobody]].",
    ]  # fmt: skip


def test_what_cannot_be_read_is_told_wherever_notes_are_looked_through(lorestudio: Run, notes: Path) -> None:
    (notes / "Odd.md").write_bytes(b"\xff lamp")
    for command in (
        ("search", notes, "lamp"),
        ("links", notes, "Lamp"),
        ("order", notes),
        ("export", notes, "--to", notes / "book.json", "--yes"),
    ):
        result = lorestudio(*command)
        assert result.exit_code == 0, command
        assert "“Odd.md” is not UTF-8 text" in result.stderr, command


def test_of_a_long_line_that_is_shown_a_third_stands_before_what_was_found(lorestudio: Run, notes: Path) -> None:
    before, after = "".join(map(str, range(60))), "".join(map(str, range(60, 120)))
    (notes / "Long.md").write_text(f"# Long\n\n{before}quay{after}\n", encoding="utf-8")
    _name, shown = lorestudio("search", notes, "path:long quay").stdout.splitlines()
    assert shown == f"  3: …{before[-33:]}quay{after[:63]}…"


def test_search_as_json(lorestudio: Run, notes: Path) -> None:
    result = lorestudio("search", notes, r"\blamps?\.", "--regex", "--json")
    (found,) = json.loads(result.stdout)
    assert (found["file"], found["title"]) == ("places/Lamp.md", "Lamp")
    (hit,) = found["hits"]
    assert (hit["line"], hit["text"], hit["where"]) == (7, "A lamp.", "body")
    assert hit["text"][hit["from"] : hit["to"]] == NOTES["places/Lamp.md"][hit["start"] : hit["end"]] == "lamp."


def test_search_without_a_find_ends_with_1(lorestudio: Run, notes: Path) -> None:
    result = lorestudio("search", notes, "zzz")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nothing was found" in result.stderr


def test_search_with_a_bad_expression_ends_with_2(lorestudio: Run, notes: Path) -> None:
    result = lorestudio("search", notes, "(", "--regex")
    assert result.exit_code == 2
    assert "character" in result.stderr


def test_rename_dry_run_shows_every_file_and_changes_none(lorestudio: Run, notes: Path) -> None:
    result = lorestudio("rename", notes, "lamp", "Torch", "--dry-run")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "--- a/Tale.md", "+++ b/Tale.md", "@@ -1,4 +1,4 @@", " ---", "-requires: [Lamp]", "+requires: [Torch]", " ---",
        "-The [[Lamp]] and the lamp by [[Nobody]].", "+The [[Torch]] and the lamp by [[Nobody]].",
        "rename from places/Lamp.md", "rename to places/Torch.md", "--- a/places/Lamp.md", "+++ b/places/Torch.md",
        "@@ -4,3 +4,3 @@", " ---", "-# Lamp", "+# Torch", " ",
    ]  # fmt: skip
    assert "2 files would change" in result.stderr
    assert contents(notes) == NOTES


def test_rename(lorestudio: Run, notes: Path) -> None:
    result = lorestudio("rename", notes, "places/Lamp.md", "Torch")
    assert result.exit_code == 0
    assert contents(notes) == {
        "places/Torch.md": NOTES["places/Lamp.md"].replace("# Lamp", "# Torch"),
        "Tale.md": NOTES["Tale.md"].replace("Lamp", "Torch"),
    }
    assert "Rename Lamp to Torch: 2 files changed." in result.stderr


def test_rename_can_be_taken_back_note_by_note(lorestudio: Run, notes: Path) -> None:
    lorestudio("rename", notes, "Lamp", "Torch")
    result = lorestudio("history", notes / "Tale.md", "--restore", "1")
    assert result.exit_code == 0
    assert contents(notes)["Tale.md"] == NOTES["Tale.md"]


@pytest.mark.parametrize(("note", "new", "message"), [("Nobody", "X", "no note"), ("Lamp", "a|b", "cannot stand")])
def test_rename_that_cannot_be(lorestudio: Run, notes: Path, note: str, new: str, message: str) -> None:
    result = lorestudio("rename", notes, note, new)
    assert result.exit_code == 2
    assert message in result.stderr
    assert contents(notes) == NOTES


def test_links(lorestudio: Run, notes: Path) -> None:
    result = lorestudio("links", notes, "Lamp")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "Lamp (places/Lamp.md)"
    assert "References to it: 2" in lines
    assert "  Tale.md:2: requires: [Lamp]" in lines
    assert "  Tale.md:4 (title): The [[Lamp]] and the lamp by [[Nobody]]." in lines
    assert "  4: wikilink Nobody -> does not exist yet" in lorestudio("links", notes, "Tale").stdout
    (notes / "Oil.md").write_text("---\ntags: [lorebook]\nkeys: [oil]\n---\nFor a lamp.\n", encoding="utf-8")
    (settings := notes.with_name("recursive.json")).write_text('{"recursiveScan": true}', encoding="utf-8")
    woken = lorestudio("links", notes, "Lamp", "--settings", settings).stdout.splitlines()
    assert woken[-4:] == ["Wakes: 0", "", "Woken by: 1", "  Oil (Oil.md): “lamp”"]
    off = lorestudio("links", notes, "Lamp")
    assert (off.stdout.splitlines()[-1], "Recursion is off" in off.stderr) == ("Woken by: 0", True)


def test_links_as_json(lorestudio: Run, notes: Path) -> None:
    found = json.loads(lorestudio("links", notes, "Tale.md", "--json").stdout)
    assert [(link["kind"], link["file"], link["deeplore"]) for link in found["links"]] == [
        ("requires", "places/Lamp.md", True), ("wikilink", "places/Lamp.md", True), ("wikilink", None, False),
    ]  # fmt: skip
    assert (found["references"], found["mentions"]) == ([], [])


def test_order_numbers_priorities(lorestudio: Run, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, number in (("A", 20), ("B", 20), ("C", 90)):
        (vault / f"{name}.md").write_text(f"---\ntags: [lorebook]\npriority: {number}\n---\n{name}.\n", "utf-8")
    result = lorestudio("order", vault, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "+priority: 30" in result.stdout
    assert "2 files would change" in result.stderr
    assert "priority: 20" in contents(vault)["B.md"]
    assert lorestudio("order", vault, "C", "A", "--step", 1).exit_code == 0
    assert ["priority: 21" in contents(vault)["A.md"], "priority: 20" in contents(vault)["C.md"]] == [True, True]
    assert "already" in lorestudio("order", vault, "B", "A", "--step", 1).stderr
    assert "already" in lorestudio("order", vault, "B", "B", "A", "--step", 1).stderr  # one note has one place
    assert lorestudio("order", vault, "Nobody").exit_code == 2


def test_entries_says_the_tag_proposes_and_makes_what_is_chosen(lorestudio: Run, notes: Path) -> None:
    listed = lorestudio("entries", notes)
    assert (listed.exit_code, "the tag “lorebook”" in listed.stdout, "keys: Tale" in listed.stdout) == (0, True, True)
    assert "say which notes" in lorestudio("entries", notes, "--make").stderr
    assert "no chat" in lorestudio("entries", notes, "--named").stderr
    assert "an entry already" in lorestudio("entries", notes, "Lamp", "--make").stderr
    form = notes / "Templates" / "Form.md"
    form.parent.mkdir()
    form.write_text("# {{title}}\n", encoding="utf-8")
    assert "1 template or drawing is left out. Chosen: " in lorestudio("entries", notes).stdout
    assert "which becomes no entry" in lorestudio("entries", notes, "Templates/Form.md", "--make").stderr
    form.unlink()
    (notes / "people").mkdir()
    (notes / "people" / "Osk.md").write_text("Old.", encoding="utf-8")
    none = lorestudio("entries", notes, "--folder", "poeple")
    assert (none.exit_code, "no notes in a folder “poeple”" in none.stderr, "“people”?" in none.stderr) == (
        2,
        True,
        True,
    )
    assert "Chosen: 1." in lorestudio("entries", notes, "--folder", "people/").stdout
    (notes / "people" / "Osk.md").unlink()
    tried = lorestudio("entries", notes, "Tale", "--make", "--dry-run")
    assert "+keys:" in tried.stdout
    assert contents(notes) == NOTES
    assert lorestudio("entries", notes, "Tale", "--make").exit_code == 0
    assert "requires: [Lamp]\ntags:" in contents(notes)["Tale.md"]
    assert lorestudio("entries", notes, "--json").exit_code == 1  # no ordinary note is left


def test_without_entries_no_order_is_said_to_be_right(lorestudio: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/A.md").write_text("# A\n\nA.\n", encoding="utf-8")
    result = lorestudio("order", tmp_path / "plain")
    assert "already" not in result.stderr
    assert "no note has the tag “lorebook”" in result.stderr


def test_notes_and_entries_are_copied_as_one_step(lorestudio: Run, notes: Path, book: Path) -> None:
    assert lorestudio("duplicate", notes, "Lamp", "--dry-run").exit_code == 0
    assert contents(notes) == NOTES
    copied = lorestudio("duplicate", notes, "Lamp")
    assert (copied.exit_code, contents(notes)["places/Lamp 2.md"]) == (
        0,
        NOTES["places/Lamp.md"].replace("# Lamp", "# Lamp 2"),
    )
    lorestudio("undo", notes, "--yes")
    assert contents(notes) == NOTES
    assert lorestudio("duplicate", book, "Bell").exit_code == 0
    assert lorestudio("search", book, "hangs").stdout.count("(Bell)") == 2


def test_where_a_note_is_named_links_are_made(lorestudio: Run, notes: Path, book: Path) -> None:
    assert lorestudio("links", notes, "Lamp", "--link", "--dry-run").exit_code == 0
    assert contents(notes) == NOTES
    linked = lorestudio("links", notes, "Lamp", "--link")
    assert (linked.exit_code, contents(notes)["Tale.md"].endswith("and the [[Lamp|lamp]] by [[Nobody]].\n")) == (
        0,
        True,
    )
    for lore, name in ((notes, "Lamp"), (book, "Bell")):
        nothing = lorestudio("links", lore, name, "--link")
        assert (nothing.exit_code, nothing.stderr.splitlines()[-1]) == (
            2, "lorestudio: --link: no other note names it without a link.",
        )  # fmt: skip


def test_a_note_is_made_from_a_template_and_that_is_undone(lorestudio: Run, notes: Path) -> None:
    before = contents(notes)
    (notes / "Templates").mkdir()
    (notes / "Templates" / "Inn.md").write_text("---\ntags: [lorebook]\n---\n# {{title}}\n\nBeds:\n", encoding="utf-8")
    tried = lorestudio("new", notes, "Anchor", "--folder", "places", "--template", "inn", "--dry-run")
    assert (tried.exit_code, contents(notes).keys() - before) == (0, {"Templates/Inn.md"}), tried.output
    assert "+++ b/places/Anchor.md\n" in tried.stdout
    assert tried.stderr == "lorestudio: New note Anchor: 1 file would change.\n"
    assert lorestudio("new", notes, "Anchor", "--folder", "places", "--template", "inn").exit_code == 0
    made = (notes / "places/Anchor.md").read_text("utf-8")
    assert made == "---\ntags: [lorebook]\n---\n# Anchor\n\nBeds:\n"
    assert lorestudio("undo", notes, "--yes").exit_code == 0
    assert not (notes / "places/Anchor.md").exists()


def test_a_new_note_has_the_template_of_its_folder_or_the_one_that_is_named(lorestudio: Run, notes: Path) -> None:
    (notes / "places/Quay.md").write_text("---\ntags: [lorebook, location]\n---\n# Quay\n", encoding="utf-8")
    for name in ("Ada", "Wren"):
        (notes / f"{name}.md").write_text("---\ntags: [lorebook, character]\n---\nText.\n", encoding="utf-8")
    assert lorestudio("new", notes, "Anchor", "--folder", "./places/").exit_code == 0
    assert "location" in (notes / "places/Anchor.md").read_text("utf-8")
    assert lorestudio("new", notes, "Bare", "--template", "none").exit_code == 0
    assert (notes / "Bare.md").read_text("utf-8") == "# Bare\n"
    strange = lorestudio("new", notes, "Other", "--template", "ship")
    assert strange.exit_code == 2
    told = "there is no template “ship”. There are: none, character, place, faction, item, event, rule."
    assert strange.stderr == f"lorestudio: --template: {told}\n"
    taken = lorestudio("new", notes, "Lamp")
    assert (taken.exit_code, "has this title already" in taken.stderr) == (2, True)


def test_a_new_entry_of_a_lorebook(lorestudio: Run, book: Path) -> None:
    made = lorestudio("new", book, "Quay")
    assert (made.exit_code, orders(book).keys()) == (0, {"Bell", "Tower", "Quay"}), made.output
    assert made.stderr == "lorestudio: New entry Quay: 1 entry changed.\n"
    refused = lorestudio("new", book, "Inn", "--template", "place")
    told = "an entry of a lorebook has neither folder nor template. Leave the option out."
    assert (refused.exit_code, refused.stderr) == (2, f"lorestudio: --template: {told}\n")


@pytest.mark.parametrize("asked", [("new",), ("rename", "Bell")], ids=" ".join)
def test_an_entry_of_a_lorebook_has_a_title(lorestudio: Run, book: Path, asked: tuple[str, ...]) -> None:
    before = book.read_bytes()
    command, *name = asked
    refused = lorestudio(command, book, *name, "  ")
    assert (refused.exit_code, refused.stderr) == (2, "lorestudio: title: an entry needs a title. Write one.\n")
    assert book.read_bytes() == before
