"""Texts that are tried out give the index that reading them would."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex
from lorestudio.domain.records import field_names
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault.edited_vaults import EditedVaults, NoteText
from lorestudio.vault.files import NoteFile, VaultError, VaultFiles, index_order
from lorestudio.vault.folder import ScannedVault
from lorestudio.vault.index import VaultState, update
from tests.examples import examples
from tests.vault.plain import plain

SETTINGS = DeepLoreSettings()
FIELDS = field_names(Entry)
DEFINITIONS = "DeepLore/field-definitions.yaml"


def lore(body: str = "", **front: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in front.items())
    return f"---\ntags: [lorebook]\n{lines}---\n{body}"


def read(*vaults: dict[str, str], values: DeepLoreSettings = SETTINGS, names: Sequence[str] = ("V", "W")) -> VaultState:
    """The vaults with these texts, files in index order, what is no note behind them."""
    scanned = []
    for texts, name in zip(vaults, names, strict=False):
        order = sorted(texts, key=lambda filename: (not filename.endswith(".md"), index_order(filename)))
        files = tuple(NoteFile(filename, texts[filename].removeprefix("\ufeff")) for filename in order)
        scanned.append(ScannedVault.of(VaultFiles(name, files)))
    return update(None, scanned, values, CHARS_4).state


def edited(state: VaultState, *notes: NoteText, values: DeepLoreSettings = SETTINGS) -> VaultState:
    return EditedVaults(state, values, CHARS_4).with_texts(notes)


def everything(index: VaultIndex) -> dict[str, Any]:
    """All of an index, entries included, as plain data."""
    values = {name: getattr(index, name) for name in field_names(type(index))}
    values["entries"] = [{name: getattr(entry, name) for name in FIELDS} for entry in index.entries]
    return values


def titles(state: VaultState) -> list[str]:
    return [entry.title for entry in state.index.entries]


NAMES = ["a.md", "B.md", "b b.md", "f/a.md", "f/g/c.md", "f g/d.md", "é.md"]
PIECES = ["# A", "# a", "# B", "# d", "text", "[[a]] [[B]]", "%%x%%", "[[c|d]]"]
FRONT = [
    "tags: [lorebook, lorebook-guide]", "tags: none", "enabled: false", "keys: [a, b]", "keys: b", "requires: [a, c]",
    "excludes: [B]", "cascade_links: [d, é]", "era: [x, y]", "season: winter", "priority: 5", "Priority: '7'",
]  # fmt: skip
note_text = st.builds(
    lambda front, body: "---\n" + "\n".join(["tags: [lorebook]", *front]) + "\n---\n" + "\n".join(body),
    st.lists(st.sampled_from(FRONT), max_size=4),
    st.lists(st.sampled_from(PIECES), max_size=3),
)
any_text = st.one_of(note_text, note_text, st.sampled_from(["", "plain", "\ufeff# B"]))
some_vault = st.dictionaries(st.sampled_from(NAMES), any_text, max_size=6)
edit = st.tuples(st.sampled_from(["V", "W"]), st.sampled_from(NAMES), st.none() | any_text)
MODES = ["all", "first", "last", "merge"]


@settings(deadline=None, max_examples=examples(300))
@given(some_vault, some_vault, st.lists(edit, max_size=3), st.sampled_from(MODES), st.booleans())
def test_trying_texts_out_equals_reading_them(
    first: dict[str, str],
    second: dict[str, str],
    edits: list[tuple[str, str, str | None]],
    mode: str,
    with_definitions: bool,
) -> None:
    values = DeepLoreSettings(multi_vault_conflict_resolution=mode)
    if with_definitions:
        first = {**first, DEFINITIONS: "fields:\n  - name: season\n    label: Season\n"}
    state = read(first, second, values=values)
    vaults = {"V": dict(first), "W": dict(second)}
    for vault, filename, text in edits:
        if text is None:
            vaults[vault].pop(filename, None)
        else:
            vaults[vault][filename] = text
    now = edited(state, *(NoteText(*one) for one in edits), values=values)
    anew = read(vaults["V"], vaults["W"], values=values)
    assert everything(now.index) == everything(anew.index)
    assert [plain(vault)[1] for vault in now.vaults] == [plain(vault)[1] for vault in anew.vaults]
    # What is made of it in turn is right too: the state is whole.
    assert everything(edited(now, NoteText("V", "a.md", None), values=values).index) == everything(
        edited(anew, NoteText("V", "a.md", None), values=values).index
    )


@settings(deadline=None, max_examples=examples(100))
@given(some_vault, st.lists(st.tuples(st.sampled_from(NAMES), any_text), min_size=2, max_size=5))
def test_entries_that_come_out_the_same_are_the_same_objects(
    texts: dict[str, str], typed: list[tuple[str, str]]
) -> None:
    state = read(texts)
    tool = EditedVaults(state, SETTINGS, CHARS_4)
    before = {entry.filename: entry for entry in state.index.entries}
    for filename, text in typed:
        for entry in tool.with_texts([NoteText("V", filename, text)]).index.entries:
            old = before.get(entry.filename)
            same = old is not None and all(getattr(old, name) == getattr(entry, name) for name in FIELDS)
            if same and entry.filename != filename:
                assert old is entry


def test_only_the_note_that_is_typed_in_is_another_entry() -> None:
    state = read({"a.md": lore("1"), "b.md": lore("2 [[a]]"), "c.md": lore("3")})
    now = edited(state, NoteText("V", "b.md", lore("2 [[a]] and more", keys="[x]")))
    same = [old is new for old, new in zip(state.index.entries, now.index.entries, strict=True)]
    assert same == [True, False, True]
    assert (now.index.entries[1].content, now.index.entries[1].keys) == ("2 a and more", ("x",))


def test_a_text_as_it_was_is_the_very_same_state() -> None:
    state = read({"a.md": lore("1"), "plain.md": "text"})
    texts = (NoteText("V", "a.md", lore("1")), NoteText("V", "plain.md", "\ufefftext"), NoteText("V", "no.md", None))
    assert edited(state, *texts) is state


def test_a_note_that_becomes_an_entry_moves_those_behind_it() -> None:
    state = read({"a.md": lore("1"), "b.md": "plain", "c.md": lore("[[b]]", requires="[B]")})
    assert [(note.filename, note.problem) for note in state.index.left_out] == [("b.md", NoteProblem.NO_FRONT_MATTER)]
    now = edited(state, NoteText("V", "b.md", lore("now")))
    assert titles(now) == ["a", "b", "c"]
    assert [entry.id for entry in now.index.entries] == [0, 1, 2]
    assert (now.index.entries[2].requires, now.index.entries[2].resolved_links) == (("B",), ("b",))
    assert now.index.left_out == ()
    back = edited(now, NoteText("V", "b.md", "plain"))
    assert back.index.entries[1].written_requires == ("B",)
    assert everything(back.index) == everything(state.index)


def test_a_renamed_title_is_followed_by_what_refers_to_it() -> None:
    state = read({"a.md": lore("# Old"), "b.md": lore("[[Old]] [[New]]", excludes="[old, new]")})
    now = edited(state, NoteText("V", "a.md", lore("# New")))
    other = now.index.entries[1]
    assert (other.resolved_links, other.excludes, other.written_excludes) == (("New",), ("new",), ("old", "new"))


def test_the_last_of_two_spellings_of_a_title_is_linked_to() -> None:
    state = read({"a.md": lore("# Sun"), "b.md": lore("# sun"), "c.md": lore("[[SUN]]")})
    assert state.index.entries[2].resolved_links == ("sun",)
    now = edited(state, NoteText("V", "b.md", lore("# Moon")))
    assert now.index.entries[2].resolved_links == ("Sun",)


@pytest.mark.parametrize(("mode", "texts"), [("first", ["1"]), ("last", ["2"]), ("merge", ["1\n\n---\n\n2"])])
def test_a_title_that_becomes_that_of_another_note(mode: str, texts: list[str]) -> None:
    values = DeepLoreSettings(multi_vault_conflict_resolution=mode)
    state = read({"a.md": lore("# T\n1"), "b.md": lore("# U\n2")}, values=values)
    now = edited(state, NoteText("V", "b.md", lore("# T\n2")), values=values)
    assert [entry.content for entry in now.index.entries] == texts


def test_a_new_note_stands_where_reading_would_put_it() -> None:
    texts = {"a.md": lore(), "c.md": lore(), "f/a.md": lore(), DEFINITIONS: ""}
    state = read(texts)
    for filename in ("0.md", "b.md", "z.md", "f/b.md", "g.md", "f/a/x.md"):
        now = edited(state, NoteText("V", filename, lore()))
        names = [entry.filename for entry in now.index.entries]
        assert sorted(names, key=index_order) == names
        assert all(one != other for one, other in pairwise(names))
        assert len(names) == 4


def test_a_note_that_could_not_be_read_before() -> None:
    broken = LeftOutNote("b.md", "V", NoteProblem.BAD_ENCODING, "It is not UTF-8.")
    scanned = ScannedVault.of(VaultFiles("V", (NoteFile("a.md", lore()),), (broken,)))
    state = update(None, [scanned], SETTINGS, CHARS_4).state
    now = edited(state, NoteText("V", "b.md", lore()))
    assert (titles(now), now.index.left_out) == (["a", "b"], ())


def test_of_two_vaults_the_one_that_has_the_note() -> None:
    state = read({"a.md": lore("1")}, {"b.md": lore("2")}, names=("V", "V"))
    now = edited(state, NoteText("V", "b.md", lore("3")), NoteText("V", "new.md", lore("4")))
    assert [[file.filename for file in vault.files] for vault in now.vaults] == [["a.md", "new.md"], ["b.md"]]


def test_the_last_text_of_a_note_counts() -> None:
    state = read({"a.md": lore("1")})
    now = edited(state, NoteText("V", "a.md", lore("2")), NoteText("V", "a.md", lore("3")))
    assert [entry.content for entry in now.index.entries] == ["3"]


@pytest.mark.parametrize(
    ("note", "told"),
    [
        (NoteText("X", "a.md", ""), "There is no vault “X”"),
        (NoteText("V", "a.txt", ""), "“a.txt” is no note"),
        (NoteText("V", DEFINITIONS, ""), "is no note"),
    ],
)
def test_texts_that_belong_nowhere(note: NoteText, told: str) -> None:
    with pytest.raises(VaultError, match=told):
        edited(read({"a.md": lore()}), note)
