"""Lorebooks become notes: names, folders, what the vault has already, one step, and a link back."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lorestudio.exchange.lorebooks import reading
from lorestudio.exchange.lorebooks.crossing import Fidelity
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.reading import as_notes
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import json_bytes
from lorestudio.studio.lorebooks.exporting import ExportChoice, ExportPlan, plan_export
from lorestudio.studio.lorebooks.importing import ImportChoice, ImportPlan, Twin, both_lines, plan_import, read_books
from lorestudio.studio.lorebooks.links import BookLink, LinkedNote, links_of, read_link
from lorestudio.studio.lorebooks.syncing import SyncChoice, SyncPlan, plan_sync
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.exported_scenario import vault_files
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.vault.entries import ParseRules

RULES = ParseRules()
BELL = {"key": ["bell"], "comment": "Bell", "content": "It rings.\nAt night."}


def carry_out(plan: ExportPlan | SyncPlan, log: ChangeLog) -> Path | None:
    """Carry out a plan; the copy of what stood there before."""
    copy = plan.keep_copy()
    log.apply(plan.changes)
    return copy


def book(folder: Path, *entries: dict[str, Any], name: str = "Sea") -> Path:
    path = folder / f"{name}.json"
    whole = {str(uid): {"uid": uid, **NEW_ENTRY, **raw} for uid, raw in enumerate(entries)}
    path.write_text(json.dumps({"entries": whole, "description": "kept"}), encoding="utf-8")
    return path


def vault(folder: Path, **notes: str) -> Path:
    place = folder / "vault"
    place.mkdir(exist_ok=True)
    for name, text in notes.items():
        (place / f"{name}.md").write_text(text, encoding="utf-8")
    return place


def plan(place: Path, *books: Path, choice: ImportChoice | None = None) -> ImportPlan:
    return plan_import(read_books(books), read_vault_notes(place), RULES, choice or ImportChoice())


def files(place: Path) -> dict[str, str]:
    return {
        path.relative_to(place).as_posix(): path.read_text(encoding="utf-8")
        for path in place.rglob("*")
        if path.is_file()
    }  # fmt: skip


def test_an_import_is_one_step_that_can_be_undone(tmp_path: Path) -> None:
    place = vault(tmp_path, Old="# Old\n")
    before = files(place)
    made = plan(place, book(tmp_path, BELL, {"key": ["x"], "comment": "bell"}, {"comment": "empty"}))
    assert files(place) == before
    log = ChangeLog(tmp_path / "log", [place])
    log.apply(made.planned.changes)
    assert sorted(files(place)) == ["Old.md", "Sea/Bell.md", "Sea/Sea.book.json", "Sea/bell (2).md"]
    assert [entry.fate.left_out for entry in made.entries] == ["", "", "It has no text and no keys."]
    log.undo()
    assert files(place) == before


def test_a_link_is_spelled_for_who_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spelled: list[str] = []

    def data(link: BookLink) -> bytes:
        spelled.append(link.place)
        return b"{}"

    monkeypatch.setattr(BookLink, "data", property(data))
    made = plan(vault(tmp_path), book(tmp_path, BELL), book(tmp_path, {**BELL, "content": "Dry."}, name="Land"))
    assert (len(made.entries), spelled) == (2, [])
    order = [change.path.name for change in made.planned.changes.changes]
    assert order == ["Bell.md", "Sea.book.json", "Bell.md", "Land.book.json"]
    assert spelled == ["Sea/Sea.book.json", "Land/Land.book.json"]


@pytest.mark.parametrize("heads", [False, True])
@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 200_000])
def test_a_link_is_spelled_as_any_document(size: int, *, heads: bool) -> None:
    text = "".join('a\U0001f409\n"é'[place % 5] for place in range(size))
    note = LinkedNote("Sea/Bell.md", b"# Bell", {"uid": 0})
    link = BookLink("Sea", "/Sea.json", "x", "Sea", {"0": BELL}, {"0": note}, text.encode(), "", heads)
    assert link.data == json_bytes({
        "version": 1, "book": "Sea", "file": "/Sea.json", "format": "x", "folder": "Sea", "entries": {"0": BELL},
        "notes": {"0": {"note": "Sea/Bell.md", "text": "# Bell", "said": {"uid": 0}}}, "original": text,
        **({"heads": True} if heads else {}),
    })  # fmt: skip


@pytest.mark.parametrize("size", [0, 65534, 65535])
def test_half_a_character_in_a_link_is_read_and_written_as_it_is(tmp_path: Path, size: int) -> None:
    half = f"{'a' * size}\ud83d!"
    notes = {"0": {"note": "Sea/Bell.md", "text": half}}
    whole = {"version": 1, "book": half, "file": "/Sea.json", "format": "x", "folder": "Sea", "entries": {"0": BELL}}
    data = json_bytes({**whole, "notes": notes, "original": half})
    (tmp_path / "Sea.book.json").write_bytes(data)
    link = read_link(tmp_path, "Sea.book.json")
    assert (link.data, link.notes["0"].text) == (data, half)


def test_a_large_book_of_emoji_is_spelled_and_planned_in_its_bytes(tmp_path: Path) -> None:
    path = book(tmp_path, *({**BELL, "comment": f"B{uid}", "content": "\U0001f409 \n" * 400} for uid in range(500)))
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")), ensure_ascii=False), "utf-8")
    made = plan(vault(tmp_path), path)
    tracemalloc.start()
    spelled = [change.new or b"" for change in made.planned.changes.changes if change.path.suffix == ".json"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(spelled[0])


def test_what_becomes_of_a_field_is_held_once_for_all_entries(tmp_path: Path) -> None:
    made = plan(vault(tmp_path), book(tmp_path, BELL, {**BELL, "comment": "Gong", "key": ["gong"], "content": "Loud."}))
    one, other = (entry.fate.fields for entry in made.entries)
    assert one
    assert all(mine is theirs for mine, theirs in zip(one, other, strict=True))


def test_the_folder_of_the_book_in_other_capitals_is_the_one_that_is_there(tmp_path: Path) -> None:
    place = vault(tmp_path)
    (place / "SEA").mkdir()
    (place / "SEA" / "Old.md").write_text("# Old\n", encoding="utf-8")
    ChangeLog(tmp_path / "log", [place]).apply(plan(place, book(tmp_path, BELL)).planned.changes)
    assert sorted(files(place)) == ["SEA/Bell.md", "SEA/Old.md", "SEA/Sea.book.json"]


def test_the_link_remembers_which_entry_is_which(tmp_path: Path) -> None:
    place, path = vault(tmp_path), book(tmp_path, BELL)
    ChangeLog(tmp_path / "log", [place]).apply(plan(place, path).planned.changes)
    (link,) = links_of(read_vault_notes(place))
    assert (link.book, link.file, link.form, link.folder) == ("Sea", str(path), "sillytavern", "Sea")
    assert link.notes["0"].filename == "Sea/Bell.md"
    assert link.notes["0"].text == (place / "Sea/Bell.md").read_text(encoding="utf-8")
    assert link.original == path.read_bytes()
    with pytest.raises(InputError, match=r"linked to this book already \(Sea/Sea.book.json\)"):
        plan(place, path)


MINE = "---\n# mine\ntags: [lorebook, own]\nkeys: [bell]\nrequires: [Sea]\n---\n# The bell\n\nIt rings.\nIn fog.\n"


@pytest.mark.parametrize(("twin", "made"), [(None, True), (Twin.BOTH, True), (Twin.SKIP, False)])
def test_what_the_vault_has_already_is_found_by_its_keys(tmp_path: Path, twin: Twin | None, *, made: bool) -> None:
    place, path = vault(tmp_path, Mine=MINE), book(tmp_path, BELL, {"key": ["other"]})
    first = plan(place, path, choice=ImportChoice(twins=twin)).entries[0]
    assert (first.twin, first.alike, bool(first.filename)) == ("Mine.md", "the same keys", made)


def test_the_same_text_and_keys_are_left_out_unless_somebody_wants_them(tmp_path: Path) -> None:
    same = MINE.replace("In fog.\n", "At night.")
    place, path = vault(tmp_path, Mine=same), book(tmp_path, BELL, {"key": ["other"]})
    assert plan(place, path).entries[0].fate.left_out == "Mine.md has the same text and keys already."
    with pytest.raises(InputError, match="no entry is left"):
        plan(place, book(tmp_path, BELL, name="B"))


def test_replacing_keeps_what_no_entry_has(tmp_path: Path) -> None:
    place, path = vault(tmp_path, Mine=MINE), book(tmp_path, BELL)
    made = plan(place, path, choice=ImportChoice(twins=Twin.REPLACE)).planned.changes.changes[0]
    assert made.after == (
        "---\n# mine\ntags: [lorebook, own]\nkeys: [bell]\nrequires: [Sea]\npriority: 900\nposition: before\n"
        "wi_uid: 0\nwi_book: Sea\n---\n# Bell\n\nIt rings.\nAt night."
    )


def test_merging_adds_what_is_missing(tmp_path: Path) -> None:
    place, path = vault(tmp_path, Mine=MINE), book(tmp_path, {**BELL, "key": ["bell"], "sticky": 3})
    made = plan(place, path, choice=ImportChoice(twins=Twin.MERGE)).planned.changes.changes[0]
    assert made.after is not None
    assert made.after.endswith("# The bell\n\nIt rings.\nIn fog.\nAt night.")
    assert "requires: [Sea]\npriority: 900" in made.after
    assert "wi_sticky: 3\n" in made.after


def test_a_merged_note_keeps_what_it_says_and_the_report_tells(tmp_path: Path) -> None:
    own = MINE.replace("---\n", "---\ncooldown: 9\nprobability: 0.9\n", 1)
    more = {"key": ["bell"], "cooldown": 3, "probability": 40, "useProbability": True, "sticky": 3}
    place, path = vault(tmp_path, Mine=own), book(tmp_path, {**BELL, **more})
    made = plan(place, path, choice=ImportChoice(twins=Twin.MERGE))
    text = made.planned.changes.changes[0].after
    assert text is not None
    assert "cooldown: 9\nprobability: 0.9\n" in text
    assert "wi_cooldown" not in text  # it would count before the note's own on the way back
    fates = {one.field: one.fate for one in made.entries[0].fate.fields}
    assert {name for name, fate in fates.items() if fate is Fidelity.LOST} >= {"cooldown", "probability"}
    assert fates["sticky"] is Fidelity.CARRIED
    assert fates["key"] is Fidelity.EXACT


def test_two_texts_are_brought_together_line_by_line() -> None:
    assert both_lines("a\nb\nc\n", "a\nx\nc\n") == "a\nb\nx\nc\n"
    assert both_lines("a", "a\nb") == "a\nb"
    assert both_lines("", "a") == "a"


@pytest.mark.parametrize(
    ("mine", "theirs", "both"),
    [
        ("a", "a", "a"),
        ("a\n", "a", "a\n"),
        ("a", "a\n", "a"),
        ("a\nz", "a", "a\nz"),
        ("a\r\nb\r\n", "a\nb", "a\r\nb\r\n"),
        ("a\r\nb", "a\nx\nb\ny", "a\r\nx\r\nb\r\ny"),
        ("a\r\n\nb\n", "a\n\nb", "a\r\n\nb\n"),
    ],
)
def test_how_a_line_ends_is_no_reason_to_have_it_twice(mine: str, theirs: str, both: str) -> None:
    assert both_lines(mine, theirs) == both


def made_notes(place: Path, *paths: Path, heads: bool = False, split: int = 0, **choice: Any) -> dict[str, str]:
    read = read_books(paths, heads=heads, split=split)
    made = plan_import(read, read_vault_notes(place), RULES, ImportChoice(**choice))
    return {change.path.relative_to(place).as_posix(): change.after or "" for change in made.planned.changes.changes}


def test_titles_that_some_systems_take_for_one_name_become_two_files(tmp_path: Path) -> None:
    titles = ("Straße", "STRASSE", "Lamp", "lamp", "con.txt")
    entries: list[dict[str, Any]] = [{"key": [title], "comment": title, "content": title} for title in titles]
    made = made_notes(vault(tmp_path), book(tmp_path, *entries))
    assert list(made)[:5] == [
        "Sea/Straße.md", "Sea/STRASSE (2).md", "Sea/Lamp.md", "Sea/lamp (2).md", "Sea/con_.txt.md",
    ]  # fmt: skip


def test_groups_and_filters_become_what_deeplore_has_close_to_them(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = [
        {"key": ["a"], "comment": "Sun", "group": "sky, day", "characterFilter": {"names": ["Ann"], "tags": []}},
        {"key": ["b"], "comment": "Moon", "group": "sky", "characterFilter": {"names": ["Bob"], "isExclude": True}},
        {"key": ["c"], "comment": "Rain", "group": "day"},
    ]
    place, path = vault(tmp_path), book(tmp_path, *entries)
    plain = made_notes(place, path)
    assert not any("excludes" in text or "character_present" in text for text in plain.values())
    made = plan(place, path, choice=ImportChoice(excludes=True, gates=True))
    notes = {change.path.name: change.after or "" for change in made.planned.changes.changes}
    assert "excludes:\n  - Moon\n  - Rain\ncharacter_present:\n  - Ann\n" in notes["Sun.md"]
    assert ("excludes:\n  - Sun\n" in notes["Moon.md"], "character_present" in notes["Moon.md"]) == (True, False)
    fates = {one.field: one.fate.value for one in made.entries[0].fate.fields}
    assert (fates["group"], fates["characterFilter"]) == ("approximate", "approximate")
    ChangeLog(tmp_path / "log", [place]).apply(made.planned.changes)
    out = plan_export(read_vault_notes(place), tmp_path / "out.json", RULES, ExportChoice())
    assert json.loads(out.written.data) == json.loads(path.read_bytes())


def test_prefixes_of_novelai_are_part_of_the_text_and_come_out_again(tmp_path: Path) -> None:
    config = {"prefix": "[ ", "suffix": " ]\n", "budgetPriority": 400}
    raw = {"text": "Fog.", "displayName": "Fog", "keys": ["fog"], "enabled": True, "id": "a", "contextConfig": config}
    path, place = tmp_path / "book.lorebook", vault(tmp_path)
    path.write_text(json.dumps({"lorebookVersion": 5, "entries": [raw]}), encoding="utf-8")
    assert made_notes(place, path)["book/Fog.md"].endswith("# Fog\n\nFog.")
    read = plan_import(read_books([path], heads=True), read_vault_notes(place), RULES, ImportChoice())
    log = ChangeLog(tmp_path / "log", [place])
    log.apply(read.planned.changes)
    note = place / "book/Fog.md"
    assert note.read_text(encoding="utf-8").endswith("# Fog\n\n[ Fog. ]")
    notes = read_vault_notes(place)
    assert plan_sync(links_of(notes)[0], notes, RULES, SyncChoice()).is_idle
    note.write_text(note.read_text(encoding="utf-8").replace("Fog. ]", "Fog! ]"), encoding="utf-8")
    notes = read_vault_notes(place)
    carry_out(plan_sync(links_of(notes)[0], notes, RULES, SyncChoice()), log)
    (now,) = json.loads(path.read_bytes())["entries"]
    assert now == {**raw, "text": "[ Fog! ]", "contextConfig": {**config, "prefix": "", "suffix": "\n"}}


WORLD = """---
mood: grey
---
Before all.

# Places
## Skarn
Keys: skarn, isle

An isle.
### Harbour
Deep.
```
## no heading
```
## The bell ##
It rings.
# People
## Skarn
A man.
"""


@pytest.mark.parametrize("name", ["World.md", "all"])
def test_markdown_is_split_at_its_headings(tmp_path: Path, name: str) -> None:
    file = tmp_path / "all" / "World.md"
    file.parent.mkdir()
    file.write_text(WORLD, encoding="utf-8")
    made = made_notes(vault(tmp_path), file if name == "World.md" else file.parent, split=2)
    texts = {path.rpartition("/")[2]: text for path, text in made.items()}
    assert sorted(texts) == ["Skarn (2).md", "Skarn.md", "The bell.md", "World.md"]
    assert "keys:\n  - skarn\n  - isle\n" in texts["Skarn.md"]
    assert texts["Skarn.md"].endswith("An isle.\n### Harbour\nDeep.\n```\n## no heading\n```\n")
    assert texts["The bell.md"].endswith("# The bell\n\nIt rings.\n")
    assert "keys:\n  - Skarn\n" in texts["Skarn (2).md"]
    assert not any(path.endswith(".book.json") for path in made)
    with pytest.raises(InputError, match="no note"):
        read_books([tmp_path / "vault"], split=2)


# ---- a lorebook that stands in the place of a vault -----------------------------------------------------------------

_WORDS = ("bell", "gate", "tide", "lamp")
_ENTRIES = st.lists(
    st.fixed_dictionaries(
        {
            "comment": st.sampled_from(("Bell", "Bell tower", "bell", "Tide", "The (old) gate", "Ä")),
            "key": st.lists(st.sampled_from((*_WORDS, "/gat(e|es)/i")), max_size=2),
            "content": st.sampled_from(("", "Of the bell.", "A gate of iron. " * 9, "The tide comes in.")),
            "order": st.integers(0, 300),
            "disable": st.sampled_from((False, False, False, True)),
        },
        optional={
            "constant": st.booleans(),
            "keysecondary": st.lists(st.sampled_from(_WORDS), max_size=2),
            "selective": st.booleans(),
            "probability": st.integers(0, 100),
            "position": st.integers(0, 6),
            "cooldown": st.integers(0, 5),
            "scanDepth": st.integers(0, 4),
            "excludeRecursion": st.booleans(),
        },
    ),
    min_size=1,
    max_size=7,
)


def went_in(project: Project, system: str) -> list[list[tuple[str, int, str, str]]]:
    """Of each reply what went in, and what was said of every entry that was decided about."""
    kind = kind_of(system)
    simulator = Simulator(project, system_of(project.scene(), kind))
    return [
        [(each.title, each.tokens, "", "") for each in trace.injections]
        + [
            (trace.title(verdict.entry), 0, record.name, verdict.reason)
            for record in trace.stages
            for verdict in record.verdicts
        ]
        for trace in asyncio.run(simulator.replay())
    ]


def test_a_book_that_is_read_as_notes_holds_no_text_twice_and_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bell = {"comment": "Bell", "content": "It rings at low water.", "key": ["bell"], "order": 0}
    project = open_project([book(tmp_path, bell, {"comment": "Gate", "content": "", "key": []})])
    read = project.read_for(kind_of("deeplore"))
    state = read.as_notes
    assert state is not None
    assert [file.text for file in state.vaults[0].files] == [None, ""]
    assert state.index.entries[0].content is project.books[0].raws[0]["content"]
    whole = as_notes(project.books, project.settings, project.counter, whole=True)
    assert "# Bell\n\nIt rings at low water." in (whole.vaults[0].files[0].text or "")
    monkeypatch.delattr(reading, "parse_note")
    (vault,), _ = vault_files(read)  # for a scenario
    assert [note.text for note in vault.files] == [file.text for file in whole.vaults[0].files]


@pytest.mark.parametrize("system", ["deeplore", "hybrid", "context-window"])
@given(entries=_ENTRIES)
@example(
    entries=[{"comment": "Bell", "content": "", "key": [], "order": 0, "disable": False}] * 2
    + [{"comment": "Bell", "content": text, "key": ["bell"], "order": 0, "disable": False} for text in ("", "It.")]
)
@example(  # what is switched off and empty is not imported either
    entries=[{"comment": "Bell", "content": "", "key": [], "order": 0, "disable": True}]
    + [{"comment": name, "content": "", "key": ["bell"], "order": 0} for name in ("Bell", "Bell tower")]
)
def test_a_book_alone_is_decided_about_as_the_notes_that_importing_it_makes(
    system: str, entries: list[dict[str, Any]]
) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder)
        path = book(place, *entries)
        chat = place / "chat.txt"
        chat.write_text("Ada: The bell, by the gate.\n\nWren: A lamp.\n\nAda: Tide?\n\nWren: Yes.\n", "utf-8")
        vault(place)
        try:
            planned = plan(place / "vault", path)
        except InputError:  # nothing of it is imported
            assert open_project([path], chat).read_for(kind_of(system)).index.entries == ()
            return
        for change in planned.planned.changes.changes:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            change.path.write_text(change.after or "", "utf-8")
        assert went_in(open_project([path], chat), system) == went_in(open_project([place / "vault"], chat), system)
