from __future__ import annotations

import time
import unicodedata
from itertools import count, islice
from pathlib import Path

import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes import search as searching
from lorestudio.studio.notes.search import FoundNote, SearchOptions, SearchPlace, parse_query, search
from lorestudio.studio.notes.vault_notes import VaultNotes, read_vault_notes
from lorestudio.vault.links import index as link_index
from lorestudio.vault.links.references import Excerpt, excerpt
from tests.studio.note_worlds import write_vault

NOTES = {
    "people/Hob.md": (
        "---\ntags: [lorebook, npc/thief]\nkeys: [Hob, Thistlewick]\nsummary: A ferry thief.\n---\n"
        "# Hob Thistlewick\n\nHob stole the long\nflood bell. Hobbled?\n"
    ),
    "places/Ferry Quay.md": "---\ntags: npc, place\n---\nThe ferry. THE FERRY! Ferryman.\n",
    "Bell.md": "# Old Bell\n渡ferry口 and a long flood.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> VaultNotes:
    return write_vault(tmp_path / "vault", NOTES)


def words(note: FoundNote) -> list[str]:
    return [note.excerpt(hit).text[note.excerpt(hit).start : note.excerpt(hit).end] for hit in note.hits]


def found(vault: VaultNotes, query: str, options: SearchOptions | None = None) -> dict[str, list[str]]:
    return {note.filename: words(note) for note in search(vault, parse_query(query, options))}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("hob", {"people/Hob.md": ["Hob", "Hob", "Hob", "Hob", "Hob"]}),
        ("ferry thistlewick", {"people/Hob.md": ["Thistlewick", "ferry", "Thistlewick"]}),
        ('"the ferry"', {"places/Ferry Quay.md": ["The ferry", "THE FERRY"]}),
        ('"long flood"', {"Bell.md": ["long flood"], "people/Hob.md": ["long"]}),
        ("quay OR stole", {"people/Hob.md": ["stole"], "places/Ferry Quay.md": ["Quay"]}),
        ("flood -hob", {"Bell.md": ["flood"]}),
        ("path:people/ bell", {"people/Hob.md": ["bell"]}),
        ("-path:people/ flood", {"Bell.md": ["flood"]}),
        ('path:"ferry quay" the', {"places/Ferry Quay.md": ["The", "THE"]}),
        ("file:quay", {"places/Ferry Quay.md": []}),
        ("tag:npc", {"people/Hob.md": [], "places/Ferry Quay.md": []}),
        ("tag:#npc/thief", {"people/Hob.md": []}),
        ("tag:thief", {}),
        ("key:thistle", {"people/Hob.md": []}),
        ("-tag:npc", {"Bell.md": []}),
        ("nobody", {}),
    ],
)
def test_queries(vault: VaultNotes, query: str, expected: dict[str, list[str]]) -> None:
    assert found(vault, query) == expected


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        ("FERRY", SearchOptions(case=True), {"places/Ferry Quay.md": ["FERRY"]}),
        (
            "ferry",
            SearchOptions(word=True),
            {"people/Hob.md": ["ferry"], "places/Ferry Quay.md": ["Ferry", "ferry", "FERRY"], "Bell.md": ["ferry"]},
        ),
        ("hob", SearchOptions(where=frozenset({SearchPlace.TITLE})), {"people/Hob.md": ["Hob", "Hob"]}),
        ("hob", SearchOptions(where=frozenset({SearchPlace.PROPERTIES})), {"people/Hob.md": ["Hob"]}),
        ("hob", SearchOptions(where=frozenset({SearchPlace.BODY})), {"people/Hob.md": ["Hob", "Hob"]}),
        (
            "thief -bell",
            SearchOptions(where=frozenset({SearchPlace.PROPERTIES})),
            {"people/Hob.md": ["thief", "thief"]},
        ),
        ("lorebook ferry", SearchOptions(where=frozenset({SearchPlace.BODY})), {}),
        (r"hob\w+", SearchOptions(regex=True), {"people/Hob.md": ["Hobbled"]}),
        (r"^the (\w+)", SearchOptions(regex=True), {"places/Ferry Quay.md": ["The ferry"]}),
        (r"path:places  f\w+y\b", SearchOptions(regex=True), {"places/Ferry Quay.md": ["Ferry", "ferry", "FERRY"]}),
        (
            r"hob|hobbled",
            SearchOptions(regex=True, word=True),
            {"people/Hob.md": ["Hob", "Hob", "Hob", "Hob", "Hobbled"]},
        ),
        (r"x*", SearchOptions(regex=True), {}),
    ],
)
def test_options(vault: VaultNotes, query: str, options: SearchOptions, expected: dict[str, list[str]]) -> None:
    assert found(vault, query, options) == expected


@pytest.mark.parametrize("query", ["café", '"un café"', "path:île", "file:café", "key:café", "tag:été"])
@pytest.mark.parametrize("typed", ["NFC", "NFD"])
@pytest.mark.parametrize("written", ["NFC", "NFD"])
def test_how_accents_are_encoded_does_not_matter(tmp_path: Path, query: str, typed: str, written: str) -> None:
    name, text = "Île/Café.md", "---\ntags: [été]\nkeys: [Café]\n---\n# Café\n\nUn café.\n"
    vault = write_vault(tmp_path, {unicodedata.normalize(written, name): unicodedata.normalize(written, text)})
    assert len(found(vault, unicodedata.normalize(typed, query))) == 1


def test_where_a_hit_is(vault: VaultNotes) -> None:
    (note,) = search(vault, parse_query("hob path:people"))
    places = [(hit.where, note.excerpt(hit).line, hit.in_name) for hit in note.hits]
    assert places == [
        (SearchPlace.TITLE, 0, True), (SearchPlace.PROPERTIES, 3, False), (SearchPlace.TITLE, 6, False),
        (SearchPlace.BODY, 8, False), (SearchPlace.BODY, 9, False),
    ]  # fmt: skip
    assert note.excerpt(note.hits[3]).text == "Hob stole the long"
    assert note.text[note.hits[3].start : note.hits[3].end] == "Hob"
    assert (note.title, note.path) == ("Hob Thistlewick", vault.path("people/Hob.md"))


def test_every_hit_has_its_line_and_no_line_is_counted_twice(
    vault: VaultNotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (note,) = search(vault, parse_query("hob path:people"))
    apart = [(hit, note.excerpt(hit)) for hit in note.hits]
    known: list[tuple[int, int]] = []

    def counted(text: str, start: int, end: int, place: tuple[int, int]) -> Excerpt:
        known.append(place)
        return excerpt(text, start, end, place)

    monkeypatch.setattr(searching, "excerpt", counted)
    assert list(note.excerpts()) == apart
    assert known == [(0, 1), *((hit.start, place.line) for hit, place in apart[1:-1])]


def test_a_search_alone_reads_no_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linked = write_vault(tmp_path / "vault", NOTES)
    monkeypatch.setattr(link_index, "references", None)
    for query in ("ferry OR hob", "tag:npc key:hob", "e -path:x"):
        alone = read_vault_notes(linked.folder, wanted=parse_query(query).may_find)
        assert found(alone, query) == found(linked, query) != {}


def test_a_search_alone_looks_closer_only_at_notes_that_have_the_words(tmp_path: Path) -> None:
    notes = {"A.md": "One ferry.", "B.md": "No boat.", "C.md": "A bell.", "The ferry.md": ""}
    folder = write_vault(tmp_path / "vault", notes).folder
    wanted = parse_query("ferry OR bell").may_find
    assert list(read_vault_notes(folder, wanted=wanted).index.notes) == ["A.md", "C.md", "The ferry.md"]
    slow = parse_query("ferr+y", SearchOptions(regex=True)).may_find
    assert len(read_vault_notes(folder, wanted=slow).index.notes) == 4, "an expression is looked for once"


def test_notes_come_one_by_one_and_the_search_can_be_stopped(vault: VaultNotes) -> None:
    cancel = CancelToken()
    stream = search(vault, parse_query("e"), cancel)
    assert next(stream).hits
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(stream)


@pytest.mark.parametrize("query", ["", "  ", "path:", '""', "tag:  "])
def test_nothing_to_look_for(query: str) -> None:
    with pytest.raises(InputError, match="nothing to look for"):
        parse_query(query)


@pytest.mark.parametrize("regex", [True, False])
def test_more_than_can_be_looked_for_is_told(regex: bool) -> None:
    with pytest.raises(InputError, match="more than 20,000 characters"):
        parse_query("a" * 150_000, SearchOptions(regex=regex))


@pytest.mark.parametrize(("query", "place"), [("(ab", 4), ("path:x (ab", 11), ("a{2,1}", 3), ("*a", 1), ("ab\\", 4)])
def test_a_bad_expression_is_told_with_its_place(query: str, place: int) -> None:
    with pytest.raises(InputError, match="not well formed") as caught:
        parse_query(query, SearchOptions(regex=True))
    said = int(caught.value.message.split("character ")[1].split(":")[0])
    assert abs(said - place) <= 1


def test_an_expression_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorestudio.studio.notes.search._PATIENCE_SECONDS", 0.2)
    vault = write_vault(tmp_path / "vault", {"A.md": "a" * 60 + "b"})
    with pytest.raises(InputError, match=r"A\.md.*takes too long"):
        list(search(vault, parse_query("(a|aa|c?a)+$", SearchOptions(regex=True))))


def test_an_expression_that_takes_a_little_too_long_in_many_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "thread_time", count(0, 0.25).__next__)
    vault = write_vault(tmp_path / "vault", {f"{number}.md": "A lamp." for number in range(20)})
    hits = search(vault, parse_query("lamp", SearchOptions(regex=True)))
    assert len(list(islice(hits, 8))) == 8  # two seconds
    with pytest.raises(InputError, match="the regular expression takes too long"):
        next(hits)


@pytest.mark.parametrize("regex", [True, False])
def test_a_long_line_is_looked_for_at_once(tmp_path: Path, *, regex: bool) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": "=" * 90_000})
    begun = time.process_time()
    assert [len(note.hits) for note in search(vault, parse_query("=" * 3000, SearchOptions(regex=regex)))] == [30]
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("expression", ["(?R)", "(a)(?1)", "(?P<x>a)(?&x)", "(?P<x>a)(?P>x)"])
def test_an_expression_that_calls_its_groups_is_refused(expression: str) -> None:
    with pytest.raises(InputError, match="called"):
        parse_query(expression, SearchOptions(regex=True))


def test_a_regular_expression_of_more_than_twenty_thousand_characters_is_refused() -> None:
    with pytest.raises(InputError, match="20,000"):
        parse_query("a" * 20_001, SearchOptions(regex=True))
