"""Lorebooks into a vault and out of it, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copy

import pytest
from typer.testing import Result

from lorestudio.exchange.lorebooks.crossing import LoreReport
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from tests.cli.provider import provider
from tests.llm.server import completion, reply

Run = Callable[..., Result]

SAMPLES = Path(__file__).parents[2] / "exchange/lorebooks"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "Sea.json"
    entries = {
        "0": {"uid": 0, **NEW_ENTRY, "key": ["bell"], "comment": "Bell", "content": "It rings.", "sticky": 3},
        "7": {"uid": 7, **NEW_ENTRY, "comment": "Nothing"},
    }
    path.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    return path


def test_a_book_goes_in_and_comes_out_as_it_was(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    place, report = tmp_path / "new vault", tmp_path / "report.json"
    looked = lorestudio("import", book, "--into", place, "--dry-run")
    assert (looked.exit_code, place.exists()) == (0, False)
    assert "left out: Nothing: It has no text and no keys." in looked.stdout
    done = lorestudio("import", book, "--into", place, "--yes", "--report", report)
    assert (done.exit_code, "The vault is new." in done.stderr) == (0, True)
    fields = {one["field"]: one["fate"] for one in json.loads(report.read_bytes())[0]["counts"]}
    assert fields == {"sticky": "carried", "key": "exact", "comment": "exact", "content": "exact"}
    again = lorestudio("import", book, "--into", place, "--yes")
    assert (again.exit_code, "lorestudio sync" in again.stderr) == (2, True)
    (place / "Not.md").write_text("---\ntags: [lorebook, lorebook-never]\n---\nNo.\n", encoding="utf-8")
    out = lorestudio("export", place, "--to", tmp_path / "out.json", "--yes")
    assert out.exit_code == 0, out.stderr
    assert "\nleft out: “Not.md” has the tag “lorebook-never”" in out.stdout
    entries = json.loads(book.read_bytes())["entries"]
    assert json.loads((tmp_path / "out.json").read_bytes()) == {"entries": {"0": entries["0"]}}


def test_what_carried_means_is_said_where_nothing_else_is(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    entry = {"text": "Grey.", "displayName": "Fog", "keys": ["fog"], "id": "6b-4f", "enabled": True}
    other = tmp_path / "own.lorebook"
    other.write_text(json.dumps({"lorebookVersion": 5, "entries": [entry]}), encoding="utf-8")
    told = [lorestudio("import", path, "--into", tmp_path / "v", "--dry-run").stdout for path in (other, book)]
    assert ["carried: There is nothing like it there" in each for each in told] == [True, False]


def test_what_is_to_be_said_of_several_books_is_said_once_with_a_number(
    lorestudio: Run, book: Path, tmp_path: Path
) -> None:
    document = {**json.loads(book.read_bytes()), "scan_depth": 4}
    several = [tmp_path / f"Sea {number}.json" for number in range(3)]
    for path in several:
        path.write_text(json.dumps(document), encoding="utf-8")
    said = lorestudio("import", *several, "--into", tmp_path / "v", "--dry-run").stdout
    notes = [line for line in " ".join(said.split()).split("note: ")[1:] if "scan_depth" in line]
    assert len(notes) == 1
    assert "(3 times)" in notes[0]


def test_what_nobody_asked_for_as_json_is_not_made(
    lorestudio: Run, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[LoreReport] = []
    monkeypatch.setattr(LoreReport, "as_json", lambda report: made.append(report) or {})
    place, report = tmp_path / "v", ("--report", tmp_path / "report.json")
    for command in (("import", book, "--into", place), ("export", place, "--to", tmp_path / "out.json")):
        for more, times in (((), 0), (("--json",), 1), (report, 1)):
            made.clear()
            assert lorestudio(*command, "--dry-run", *more).exit_code == 0
            assert len(made) == times
        assert lorestudio(*command, "--yes").exit_code == 0


def test_nothing_is_written_without_a_yes(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    result = lorestudio("import", book, "--into", tmp_path / "v")
    assert (result.exit_code, (tmp_path / "v").exists()) == (2, False)
    assert "--yes" in result.stderr


def test_no_folder_is_made_of_the_address_of_obsidian(
    lorestudio: Run, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = lorestudio("import", book, "--into", "http://127.0.0.1:27123/Demo", "--yes")
    assert (told.exit_code, "Give the vault's folder on this computer" in told.stderr) == (2, True)
    assert not (tmp_path / "http:").exists()


def test_a_folder_of_lorebooks_is_told_for_what_it_is(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    worlds = tmp_path / "worlds"
    (worlds / "below").mkdir(parents=True)
    for name in ("A.json", "B.json", "C.png", "D.json", "below/E.json", "F.txt"):
        (worlds / name).write_bytes(book.read_bytes())
    told = lorestudio("import", worlds, "--into", tmp_path / "v", "--yes")
    assert told.exit_code == 2
    assert "given as files, such as A.json, B.json, C.png and 1 more." in told.stderr
    (tmp_path / "settings.json").write_text("{}", encoding="utf-8")  # as in SillyTavern's folder
    told = lorestudio("import", tmp_path, "--into", tmp_path / "v", "--yes")
    assert "given as files, such as worlds/A.json, worlds/B.json, worlds/C.png and 2 more." in told.stderr
    (worlds / "below" / "E.json").unlink()
    nothing = lorestudio("import", worlds / "below", "--into", tmp_path / "v", "--yes")
    assert "Give a folder or an archive of notes." in nothing.stderr


def test_a_file_without_lore_keeps_no_other_one_waiting(
    lorestudio: Run, book: Path, chat: Path, tmp_path: Path
) -> None:
    place, other = tmp_path / "v", tmp_path / "Card.json"
    card = {"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Wren", "description": "A bird."}}
    other.write_text(json.dumps(card), encoding="utf-8")
    done = lorestudio("import", other, book, chat, "--into", place, "--yes")
    assert done.exit_code == 1
    assert f"{other}: " in done.stderr
    assert f"{chat}: this is a chat, and no lorebook." in done.stderr
    assert (place / "Sea/Bell.md").is_file()
    assert done.stdout.startswith("Sea: World Info → notes: ")
    third = Path(copy(book, tmp_path / "Third.json"))
    again = lorestudio("import", book, third, "--into", place, "--dry-run", "--json", "--duplicates", "keep-both")
    assert (again.exit_code, "linked to this book already" in again.stderr) == (1, True)
    assert [each["book"] for each in json.loads(again.stdout)] == ["Third"]
    nothing = lorestudio("import", other, chat, "--into", place)
    assert (nothing.exit_code, nothing.stdout) == (2, "")


def test_a_model_proposes_summaries_of_the_new_notes_and_of_no_others(
    lorestudio: Run, book: Path, tmp_path: Path
) -> None:
    place = tmp_path / "v"
    place.mkdir()
    (place / "Sea.md").write_text("---\ntags: [lorebook]\n---\nWide.\n", encoding="utf-8")
    off = {"uid": 3, **NEW_ENTRY, "key": ["off"], "comment": "Off", "content": "Not here.", "disable": True}
    document = json.loads(book.read_bytes())
    book.write_text(json.dumps({"entries": {**document["entries"], "3": off}}), encoding="utf-8")
    both = lorestudio("import", book, "--into", place, "--yes", "--json", "--summaries", "Local")
    assert (both.exit_code, "--summaries: not with --json" in both.stderr) == (2, True)
    with provider(reply(completion("A bell that rings."))) as server:
        lorestudio("profiles", "add", "Local", "--url", server.url, "--model", "tiny")
        done = lorestudio("import", book, "--into", place, "--yes", "--summaries", "Local")
        assert done.exit_code == 0, done.stderr
        assert len(server.calls) == 1
    assert "summary: A bell that rings." in (place / "Sea/Bell.md").read_text(encoding="utf-8")
    assert "summary" not in (place / "Sea.md").read_text(encoding="utf-8")
    assert lorestudio("undo", place, "--yes").exit_code == 0
    assert "summary" not in (place / "Sea/Bell.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["14-card-v2-sillytavern.json", "17-card-sillytavern.png", "21-card-risu.charx"])
def test_a_card_gets_its_book_again_and_stays_what_it_was(lorestudio: Run, tmp_path: Path, name: str) -> None:
    card = Path(copy(SAMPLES / "data" / name, tmp_path))
    assert lorestudio("import", card, "--into", tmp_path / "v", "--yes").exit_code == 0
    out = tmp_path / f"out{card.suffix}"
    result = lorestudio("export", tmp_path / "v", "--to", out, "--format", "card", "--card", card, "--yes")
    assert result.exit_code == 0, result.stderr
    assert out.read_bytes() == card.read_bytes() or card.suffix == ".charx"
    again = lorestudio("import", out, "--into", tmp_path / "w", "--json", "--dry-run")
    assert json.loads(again.stdout)[0]["from"]


def test_wrong_words_are_answered_with_what_there_is(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    assert lorestudio("import", book, "--into", tmp_path / "v", "--yes").exit_code == 0
    wrong = lorestudio("export", tmp_path / "v", "--to", tmp_path / "x.json", "--format", "docx")
    assert (wrong.exit_code, "novelai" in wrong.stderr) == (2, True)
    gone = lorestudio("import", tmp_path / "gone.json", "--into", tmp_path / "v")
    assert (gone.exit_code, "no such file" in gone.stderr) == (2, True)


def test_a_file_is_written_as_it_is_called(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    assert lorestudio("import", book, "--into", tmp_path / "v", "--yes").exit_code == 0

    def export(name: str, *more: object) -> str:
        result = lorestudio("export", tmp_path / "v", "--to", tmp_path / name, "--yes", *more)
        return "" if result.exit_code == 0 else result.stderr

    assert [export(name) for name in ("a.csv", "a.TSV", "a.lorebook", "a.json", "a.zip", "a.txt")] == [""] * 6
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").startswith("Title,Keys,")
    assert (tmp_path / "a.TSV").read_text(encoding="utf-8").startswith("Title\tKeys\t")
    assert lorestudio("import", tmp_path / "a.TSV", "--into", tmp_path / "again", "--yes").exit_code == 0
    made, again = ({note.name for note in (tmp_path / name).rglob("*.md")} for name in ("v", "again"))
    assert made == again != set()
    assert "lorebookVersion" in json.loads((tmp_path / "a.lorebook").read_bytes())
    assert isinstance(json.loads((tmp_path / "a.txt").read_bytes())["entries"], dict)
    assert "ends in .csv or .tsv" in export("b.json", "--format", "csv")
    assert "Name a card that the book goes into a copy of (--card FILE)" in export("b.png")
    card = SAMPLES / "data" / "17-card-sillytavern.png"
    assert export("b.png", "--card", card) == ""
    assert "ends in .png" in export("b.charx", "--card", card)
    assert sorted(each.name for each in tmp_path.glob("b.*")) == ["b.png"]


def test_a_book_becomes_one_of_another_format(lorestudio: Run, tmp_path: Path) -> None:
    kobold = SAMPLES / "data" / "27-kobold-lite-worldinfo.json"
    result = lorestudio("export", kobold, "--to", tmp_path / "out.json", "--yes")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "KoboldAI → World Info: 10 entries")
    refused = lorestudio("test", kobold, "--text", "x").stderr
    assert refused.endswith("or make World Info of it: “lorestudio export FILE --to NEW.json”.\n")
    again = lorestudio("search", tmp_path / "out.json", "is")
    assert again.exit_code == 0
    back = lorestudio("export", tmp_path / "out.json", "0", "3", "--to", tmp_path / "two.lorebook", "--yes")
    assert back.exit_code == 0
    assert len(json.loads((tmp_path / "two.lorebook").read_bytes())["entries"]) == 2


def test_a_chat_tells_what_the_book_does_in_the_place_of_the_vault(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    lorestudio("import", book, "--into", tmp_path / "v", "--yes")
    chat = tmp_path / "chat.txt"
    chat.write_text("You: The bell.\nAnna: It rings.\n", encoding="utf-8")
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"main_api": "openai", "oai_settings": {"chat_completion_source": "claude"}}))
    told = ["--chat", chat, "--settings", settings, "--dry-run"]
    result = lorestudio("export", tmp_path / "v", "--to", tmp_path / "x.json", *told)
    assert "replies the book gives the same entries." in result.stdout
    assert "No file of claude was found, so tokens are estimated." in result.stderr
    assert not (tmp_path / "x.json").exists()


def test_a_book_that_was_renamed_is_named_once(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    place = tmp_path / "v"
    assert lorestudio("import", book, "--into", place, "--yes").exit_code == 0
    renamed = book.rename(tmp_path / "Renamed.json")
    gone = lorestudio("sync", place)
    assert (gone.exit_code, "--with FILE" in gone.stderr) == (2, True)
    assert lorestudio("sync", place, "--with", renamed, "--yes").exit_code == 0
    assert f"Sea ({renamed}): 0 entries not as both last agreed." in lorestudio("sync", place).stdout


def test_a_book_that_is_gone_keeps_no_other_one_waiting(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    place, second, third = tmp_path / "v", tmp_path / "Moor.json", tmp_path / "Woods.json"
    copy(book, second)
    copy(book, third)
    assert (
        lorestudio("import", second, book, third, "--into", place, "--duplicates", "keep-both", "--yes").exit_code == 0
    )
    for path in (book, third):
        path.write_text(path.read_text(encoding="utf-8").replace("It rings.", "It is cracked."), encoding="utf-8")
    second.unlink()
    done = lorestudio("sync", place, "--yes")
    assert (done.exit_code, f"{second}: the lorebook Moor is gone from there" in done.stderr) == (1, True)
    texts = {path.parent.name: path.read_text(encoding="utf-8") for path in place.rglob("Bell*.md")}
    assert {name: "It is cracked." in text for name, text in texts.items()} == {
        "Moor": False, "Sea": True, "Woods": True
    }  # fmt: skip
    told = json.loads(lorestudio("sync", place, "--json").stdout)
    assert [(each["book"], "items" in each) for each in told] == [("Sea", True), ("Woods", True), ("Moor", False)]


def test_an_entry_that_is_left_says_why(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    place = tmp_path / "v"
    assert lorestudio("import", book, "--into", place, "--yes").exit_code == 0
    (place / "Sea/Bell.md").unlink()
    told = "gone here: Bell; left as it is: --gone says what becomes of it\n"
    assert told in lorestudio("sync", place, "--dry-run").stdout
    book.write_text(book.read_text(encoding="utf-8").replace("It rings.", "It is cracked."), encoding="utf-8")
    left = lorestudio("sync", place, "--gone", "follow", "--yes")
    told = "gone here: Bell; left as it is: the entry of the book was changed since both agreed\n"
    assert (left.exit_code, told in left.stdout) == (1, True)
    assert lorestudio("sync", place, "--gone", "unlink", "--yes").exit_code == 0


def test_a_book_and_its_notes_are_brought_together(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    place = tmp_path / "v"
    assert lorestudio("import", book, "--into", place, "--yes").exit_code == 0
    assert "0 entries not as both last agreed" in lorestudio("sync", place).stdout
    whole = json.loads(book.read_bytes())
    whole["entries"]["0"] |= {"order": 50, "depth": 9}
    book.write_text(json.dumps(whole), encoding="utf-8")
    note = place / "Sea/Bell.md"
    note.write_text(note.read_text(encoding="utf-8").replace("priority: 900", "priority: 800"), encoding="utf-8")
    looked = lorestudio("sync", place, "--dry-run", "--json")
    (item,) = json.loads(looked.stdout)[0]["items"]
    assert item["clashes"] == {"order": {"note": 200, "book": 50}}
    asked = lorestudio("sync", place, "--yes")
    assert (asked.exit_code, "the note says 200, the book 50; --decide 0.order=…" in asked.stdout) == (1, True)
    wrong = lorestudio("sync", place, "--yes", "--decide", "0.order=x")
    assert (wrong.exit_code, "UID.FIELD=note" in wrong.stderr) == (2, True)
    for told, said in (
        ("0.ordr=note", "entry 0 has no field “ordr”. Did you mean “order”?"),
        ("9.order=note", "no linked entry has the number “9”."),
    ):
        wrong = lorestudio("sync", place, "--yes", "--decide", told)
        assert (wrong.exit_code, f"--decide: {said}" in wrong.stderr) == (2, True)
    done = lorestudio("sync", place, "--yes", "--decide", "0.order=note")
    assert (done.exit_code, "What was there before is Sea.json." in done.stderr) == (0, True)
    assert json.loads(book.read_bytes())["entries"]["0"]["order"] == 200
    assert "wi_depth: 9" in note.read_text(encoding="utf-8")
    assert lorestudio("undo", place, "--list").stdout.splitlines()[0] == "Sync with Sea.json"
    undone = lorestudio("undo", place, "--yes")
    assert (undone.exit_code, "undone: Sync with Sea.json (2 files)." in undone.stderr) == (0, True)
    assert json.loads(book.read_bytes())["entries"]["0"]["order"] == 50
    assert lorestudio("undo", place, "--redo", "--yes").exit_code == 0
    assert json.loads(book.read_bytes())["entries"]["0"]["order"] == 200
    book.write_text("{}", encoding="utf-8")
    refused = lorestudio("undo", place, "--yes")
    assert (refused.exit_code, "“Sea.json” has changed on disk" in refused.stderr) == (2, True)
    none = lorestudio("sync", tmp_path, "--book", "Other")
    assert (none.exit_code, "not linked to the book" in none.stderr) == (2, True)
