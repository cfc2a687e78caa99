from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.reading import load_lorebook
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.book_entries import BookNotes
from lorestudio.studio.notes.search import (
    FoundNote,
    Replacer,
    SearchOptions,
    SearchPlace,
    parse_query,
    plan_replace,
    search,
)
from lorestudio.studio.notes.vault_notes import VaultNotes
from tests.studio.note_worlds import applied, write_vault

REGEX = SearchOptions(regex=True)


def searched(
    vault: VaultNotes, query: str, words: str, options: SearchOptions | None = None
) -> tuple[Replacer, list[FoundNote]]:
    parsed = parse_query(query, options)
    return Replacer(parsed, words), list(search(vault, parsed))


@pytest.mark.parametrize(
    ("query", "words", "options", "text", "expected"),
    [
        ("bell", "gong", None, "A bell, BELL, bells", "A gong, gong, gongs"),
        ("bell", "$1 \\n", None, "A bell", "A $1 \\n"),
        ('"the bell"', "it", None, "the\nbell", "it"),
        ("bell", "gong", SearchOptions(word=True), "bell bells", "gong bells"),
        (r"(\w+) of (?P<place>\w+)", "$2: $1 ${place} $$5", REGEX, "king of Ys", "Ys: king Ys $5"),
        (r"a(b)?", r"[$1]\t\\", REGEX, "ab a", "[b]\t\\ []\t\\"),
        (r"^(?=x)x", "y", REGEX, "x\nx", "y\ny"),
        (r"ends\.$", "stops.", REGEX, "A\r\nit ends.\r\n\r\nIt ends.\r\n", "A\r\nit stops.\r\n\r\nIt stops.\r\n"),
        (r"^(.+)\n(b.*)", r"$2\n$1", REGEX, "x\r\na\r\nbc\r\nd", "x\r\nbc\r\na\r\nd"),
        (r"a\n", "", REGEX, "a\r\nb\na\nc", "b\nc"),
    ],
)
def test_replacing_all(
    tmp_path: Path, query: str, words: str, options: SearchOptions | None, text: str, expected: str
) -> None:
    vault = write_vault(tmp_path / "vault", {"N.md": text, "M.md": "zzz"})
    replacer, notes = searched(vault, query, words, options)
    assert applied(plan_replace(replacer, notes), vault) == {"N.md": expected, "M.md": "zzz"}


def test_places_in_entries_of_a_lorebook_are_replaced_in_its_file(tmp_path: Path) -> None:
    book = tmp_path / "Book.json"
    entries = {
        "0": {"uid": 0, "comment": "Bell", "key": ["bell"], "content": "The bell.", "order": 1, "position": 0},
        "1": {"uid": 1, "comment": "Oak", "key": [], "content": "No bell here.", "order": 1, "position": 0},
    }
    book.write_text(json.dumps({"entries": entries, "kept": 1.50}), encoding="utf-8")
    (vault,) = BookNotes().of([load_lorebook(book)])
    replacer, notes = searched(vault, "bell", "gong")
    assert [note.title for note in notes] == ["Bell", "Oak"]
    entries["1"]["content"] = "A bell was here."
    text = json.dumps({"entries": entries, "kept": 1.50})
    book.write_text(text, encoding="utf-8")
    planned = plan_replace(replacer, notes)
    assert planned.changes.title == "Replace 3 places in 1 entry"
    assert planned.remarks == ("uid 1 has changed since the search and stays as it is. Search again.",)
    (change,) = planned.changes.changes
    wanted = text.replace('"Bell"', '"gong"').replace('["bell"]', '["gong"]').replace("The bell.", "The gong.")
    assert (change.path, change.after) == (book, wanted)


def test_the_preview_and_the_chosen_hits_only(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": "\ufeff---\nkeys: [bell]\n---\nbell bell\n", "B.md": "bell"})
    replacer, notes = searched(vault, "bell", "gong")
    (first, second) = notes
    assert [one.text for one in replacer.replacements(first)] == ["gong"] * 3
    chosen = [replace(first, hits=first.hits[1:2]), replace(second, hits=())]
    planned = plan_replace(replacer, chosen)
    assert planned.changes.title == "Replace 1 place in 1 note"
    assert applied(planned, vault) == {"A.md": "\ufeff---\nkeys: [bell]\n---\ngong bell\n", "B.md": "bell"}


def test_names_and_titles_are_told(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"Bell.md": "x", "B.md": "# Bell\n"})
    replacer, notes = searched(vault, "bell", "Gong")
    planned = plan_replace(replacer, notes)
    assert applied(planned, vault) == {"Bell.md": "x", "B.md": "# Gong\n"}
    titled, named = planned.remarks
    assert titled.startswith("B.md: its title changes")
    assert named.startswith("Bell.md: its name stays")


def test_a_property_that_breaks_is_told(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"B.md": '---\nkeys: ["bell"]\n---\n'})
    replacer, notes = searched(vault, "bell", 'go"ng')
    (remark,) = plan_replace(replacer, notes).remarks
    assert remark.startswith("B.md, line 2:")


def test_a_note_that_changed_meanwhile_stays(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": "bell", "B.md": "bell", "C.md": "bell"})
    replacer, notes = searched(vault, "bell", "gong")
    vault.path("A.md").write_text("bell bell")
    vault.path("C.md").unlink()
    planned = plan_replace(replacer, notes)
    assert applied(planned, vault) == {"A.md": "bell bell", "B.md": "gong"}
    assert [remark.split(" ", 1)[0] for remark in planned.remarks] == ["A.md", "“C.md”"]


@pytest.mark.parametrize("query", ["bell gong", "bell OR gong", "path:x"])
def test_only_one_thing_can_be_replaced(query: str) -> None:
    with pytest.raises(InputError, match="only one thing"):
        Replacer(parse_query(query), "x")


@pytest.mark.parametrize(("words", "place"), [("$2", 1), ("ab ${no}", 4)])
def test_groups_that_are_not_there(words: str, place: int) -> None:
    with pytest.raises(InputError, match=f"character {place}"):
        Replacer(parse_query("(a)", REGEX), words)


def test_hits_outside_the_chosen_parts_stay(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": "---\nkeys: [bell]\n---\n# bell\nbell"})
    replacer, notes = searched(vault, "bell", "gong", SearchOptions(where=frozenset({SearchPlace.BODY})))
    assert applied(plan_replace(replacer, notes), vault) == {"A.md": "---\nkeys: [bell]\n---\n# bell\ngong"}
