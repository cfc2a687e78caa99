"""An index that follows changes equals one that is built from nothing."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.records import field_names, replace
from lorestudio.domain.tokens import CHARS_3_35, CHARS_4, TokenCounter
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault.files import NoteFile, VaultError, VaultFiles
from lorestudio.vault.folder import SETTLING_NS, ScannedVault, scan_folder
from lorestudio.vault.index import (
    IndexChanges,
    Refreshed,
    VaultState,
    build_index,
    changes_between,
    current_parser,
    definition_path,
    state_of,
    update,
)
from tests.examples import examples
from tests.vault.folders import read_folder

SETTINGS = DeepLoreSettings()
DEFINITIONS = "DeepLore/field-definitions.yaml"
SEASON = "fields:\n  - name: season\n    label: Season\n"
FIELDS = field_names(Entry)


def refresh(
    previous: VaultState | None,
    folders: Sequence[Path],
    settings: DeepLoreSettings,
    counter: TokenCounter,
    *,
    clock_ns: Callable[[], int] = time.time_ns,
) -> Refreshed:
    """What has changed in the folders since `previous`, which is of the same folders."""
    path = definition_path(settings)
    scanned: list[ScannedVault] = []
    parser = None
    for number, folder in enumerate(folders):
        known = {} if previous is None else previous.files(number, parser)
        found = scan_folder(folder, known, definition_path=path, clock_ns=clock_ns)
        if parser is None:
            parser = current_parser(previous, found, settings)
            if previous is not None and known and not previous.files(number, parser):
                found = scan_folder(folder, {}, definition_path=path, clock_ns=clock_ns)
        scanned.append(found)
    return update(previous, scanned, settings, counter)


def lore(body: str = "", **front: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in front.items())
    return f"---\ntags: [lorebook]\n{lines}---\n{body}"


def vault(texts: dict[str, str], name: str = "V") -> ScannedVault:
    return ScannedVault.of(VaultFiles(name, tuple(NoteFile(*item) for item in texts.items())))


def look(previous: VaultState | None, *texts: dict[str, str], settings: DeepLoreSettings = SETTINGS) -> Refreshed:
    scanned = [vault(each, f"V{number}" if number else "V") for number, each in enumerate(texts)]
    return update(previous, scanned, settings, CHARS_4)


def changed(first: Refreshed, *texts: dict[str, str]) -> IndexChanges:
    return changes_between(first.state.index, look(first.state, *texts).state.index)


def titles(changes: IndexChanges) -> dict[str, list[str]]:
    return {
        name: [entry.title for entry in found]
        for name in field_names(type(changes))
        if (found := getattr(changes, name))
    }


def everything(index: VaultIndex) -> dict[str, Any]:
    """All of an index, entries included, as plain data."""
    values = {name: getattr(index, name) for name in field_names(type(index))}
    values["entries"] = [{name: getattr(entry, name) for name in FIELDS} for entry in index.entries]
    return values


# ---- what is told about changes -------------------------------------------------------------------------------------


def test_the_example_of_the_rules() -> None:
    old = {
        "a.md": lore("# A\ncontent 1", keys="[x]"), "b.md": lore("# B", keys="[b]"), "c.md": lore("# C", keys="[c]"),
    }  # fmt: skip
    new = {
        "a.md": lore("# A\ncontent 2", keys="[y]"), "b.md": lore("# B2", keys="[z]"), "d.md": lore("# D", keys="[d]"),
    }  # fmt: skip
    changes = changed(look(None, old), new)
    assert titles(changes) == {"added": ["D"], "removed": ["C"], "modified": ["A"], "keys_changed": ["B2"]}


def test_a_bare_new_title_is_no_change_for_deeplore() -> None:
    assert titles(changed(look(None, {"a.md": lore("# A\ntext")}), {"a.md": lore("# B\ntext")})) == {"other": ["B"]}


def test_other_front_matter_is_told_apart() -> None:
    first = look(None, {"a.md": lore("t", priority="1"), "b.md": lore("t")})
    assert titles(changed(first, {"a.md": lore("t", priority="2"), "b.md": lore("t")})) == {"other": ["a"]}


def test_files_with_one_name_in_two_vaults_are_two() -> None:
    first = look(None, {"a.md": lore("1")}, {"a.md": lore("1")})
    (modified,) = changed(first, {"a.md": lore("1")}, {"a.md": lore("2")}).modified
    assert (modified.vault, modified.filename, modified.title) == ("V1", "a.md", "a")


def test_the_same_index_has_no_changes() -> None:
    state = look(None, {"a.md": lore()}).state
    assert changes_between(state.index, state.index) == IndexChanges()


# ---- what is used again ---------------------------------------------------------------------------------------------


def test_unchanged_notes_are_neither_parsed_nor_made_again() -> None:
    first = look(None, {"a.md": lore("1"), "b.md": lore("2"), "c.md": lore("3")})
    second = look(first.state, {"a.md": lore("1"), "b.md": lore("new"), "c.md": lore("3")})
    assert (first.parsed, second.parsed) == (3, 1)
    old, new = first.state.index.entries, second.state.index.entries
    assert [before is after for before, after in zip(old, new, strict=True)] == [True, False, True]


def test_nothing_changed_gives_the_very_same_index() -> None:
    first = look(None, {"a.md": lore("1")})
    second = look(first.state, {"a.md": lore("1")})
    assert second.state.index is first.state.index
    assert second.parsed == 0


def test_a_target_that_appears_restores_the_reference() -> None:
    first = look(None, {"a.md": lore("[[b]]", requires="[b]")})
    assert (first.state.index.entries[0].requires, first.state.index.entries[0].resolved_links) == ((), ())
    second = look(first.state, {"a.md": lore("[[b]]", requires="[b]"), "b.md": lore()})
    assert (second.parsed, second.state.index.entries[0].requires) == (1, ("b",))
    assert second.state.index.entries[0].resolved_links == ("b",)
    third = look(second.state, {"a.md": lore("[[b]]", requires="[b]")})
    assert third.state.index.entries[0].written_requires == ("b",)


@pytest.mark.parametrize("change", [{"lorebook_tag": "x"}, {"lenient_authoring": False}, {"seed_tag": "lorebook"}])
def test_other_rules_parse_everything_again(change: dict[str, Any]) -> None:
    changed = DeepLoreSettings(**change)
    texts = {"a.md": lore("1"), "b.md": lore("2")}
    first = look(None, texts)
    assert look(first.state, texts, settings=changed).parsed == 2
    assert look(first.state, texts, settings=DeepLoreSettings(scan_depth=9)).parsed == 0


def test_another_counter_counts_everything_again_and_parses_nothing() -> None:
    first = look(None, {"a.md": lore("x" * 67)})
    second = update(first.state, [vault({"a.md": lore("x" * 67)})], SETTINGS, CHARS_3_35)
    assert (second.parsed, second.state.index.entries[0].tokens) == (0, 20)


def test_new_field_definitions_parse_everything_again() -> None:
    texts = {"a.md": lore(season="winter")}
    first = look(None, texts)
    second = look(first.state, texts | {DEFINITIONS: SEASON})
    assert second.parsed == 1
    assert second.state.index.entries[0].custom_fields == {"season": "winter"}
    third = look(second.state, texts | {DEFINITIONS: SEASON + "# a comment\n"})
    assert third.parsed == 0


def test_a_text_that_was_not_read_cannot_be_parsed_by_other_rules() -> None:
    first = look(None, {"a.md": lore()})
    unread = replace(vault({"a.md": lore()}).files[0], text=None)
    with pytest.raises(ValueError, match=r"a\.md"):
        update(first.state, [ScannedVault("V", [unread])], DeepLoreSettings(lorebook_tag="x"), CHARS_4)


# ---- vaults that fail -----------------------------------------------------------------------------------------------


def test_a_vault_that_fails_keeps_its_entries() -> None:
    first = look(None, {"a.md": lore()}, {"b.md": lore()})
    seen = [vault({"a.md": lore(), "new.md": lore()}), ScannedVault("V1", failure="It is away.")]
    second = update(first.state, seen, SETTINGS, CHARS_4)
    assert [entry.title for entry in second.state.index.entries] == ["a", "new", "b"]
    assert second.failures == ("It is away.",)


def test_a_partial_listing_keeps_the_previous_entries_and_nothing_else() -> None:
    first = look(None, {"a.md": lore(), "f/b.md": lore()})
    partial = replace(vault({"a.md": lore("new")}), failure="Not all was listed.")
    second = update(first.state, [partial], SETTINGS, CHARS_4)
    assert second.state.index is first.state.index


def test_a_partial_listing_is_better_than_nothing() -> None:
    partial = replace(vault({"a.md": lore()}), failure="Not all was listed.")
    result = update(None, [partial], SETTINGS, CHARS_4)
    assert [entry.title for entry in result.state.index.entries] == ["a"]
    assert result.failures == ("Not all was listed.",)


def test_the_definitions_of_a_first_vault_that_fails_go_on_to_hold() -> None:
    texts = {"a.md": lore(season="winter"), DEFINITIONS: SEASON}
    first = look(None, texts, {"b.md": lore(season="spring")})
    seen = [ScannedVault("V", failure="away"), vault({"b.md": lore("new", season="spring")}, "V1")]
    second = update(first.state, seen, SETTINGS, CHARS_4)
    assert [entry.custom_fields for entry in second.state.index.entries] == [{"season": "winter"}, {"season": "spring"}]


def test_notes_of_a_failing_vault_are_parsed_by_the_new_rules_once_it_is_back() -> None:
    first = look(None, {"a.md": lore()}, {"b.md": lore(season="spring")})
    seen = [vault({"a.md": lore(), DEFINITIONS: SEASON}), ScannedVault("V1", failure="away")]
    second = update(first.state, seen, SETTINGS, CHARS_4)
    assert second.state.index.entries[1].custom_fields == {}
    third = look(second.state, {"a.md": lore(), DEFINITIONS: SEASON}, {"b.md": lore(season="spring")})
    assert third.parsed == 1
    assert third.state.index.entries[1].custom_fields == {"season": "spring"}


# ---- folders --------------------------------------------------------------------------------------------------------


def settle(folder: Path) -> None:
    """Make all files look as if they had been written some time ago, each at a time of its own."""
    for number, path in enumerate(sorted(folder.rglob("*"))):
        os.utime(path, ns=(10**18 + number, 10**18 + number))


def later() -> int:
    return 2**62


def test_settled_files_are_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(lore("1"))
    (tmp_path / "b.md").write_text(lore("2"))
    scanned = scan_folder(tmp_path, {}, clock_ns=later)
    assert scanned.read == 2
    first = update(None, [scanned], SETTINGS, CHARS_4)
    assert (first.read, scanned.files) == (2, []), "no text is held beside the entry that it became"
    state = first.state
    (tmp_path / "b.md").write_text(lore("two"))
    again = scan_folder(tmp_path, state.files(0), clock_ns=later)
    assert again.read == 1
    assert [file.text is None for file in again.files] == [True, False]


def test_a_second_look_at_what_is_unchanged_holds_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(lore("1"))
    state = update(None, [scan_folder(tmp_path, {}, clock_ns=later)], SETTINGS, CHARS_4).state
    again = scan_folder(tmp_path, state.files(0), clock_ns=later)
    (file,), (known,) = again.files, state.vaults[0].files
    assert file.stamp is known.stamp
    assert file.filename is known.filename
    seen = update(state, [again], SETTINGS, CHARS_4).state.assembly
    assert seen.index is state.index
    assert seen.titles is state.assembly.titles
    counted = update(state, [scan_folder(tmp_path, state.files(0))], SETTINGS, CHARS_3_35).state.assembly
    assert (counted.index is state.index, counted.counter) == (True, CHARS_3_35.identity)


def test_files_that_changed_a_moment_ago_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(lore("1"))
    changed = path.stat().st_ctime_ns
    for age, trusted in ((SETTLING_NS, False), (SETTLING_NS + 1, True), (0, False), (-5, False)):
        scanned = scan_folder(tmp_path, {}, clock_ns=lambda age=age: changed + age)
        assert (scanned.files[0].stamp is not None) is trusted


def test_a_change_that_leaves_size_and_time_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(lore("one"))
    settle(tmp_path)
    state = update(None, [scan_folder(tmp_path, {}, clock_ns=later)], SETTINGS, CHARS_4).state
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        path.write_text(lore("two"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    again = scan_folder(tmp_path, state.files(0))
    assert update(state, [again], SETTINGS, CHARS_4).state.index.entries[0].content == "two"


def test_a_folder_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="no folder"):
        refresh(None, [tmp_path / "gone"], SETTINGS, CHARS_4)


def test_new_definitions_in_a_folder_reach_notes_that_were_not_read(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "a.md").write_text(lore(season="winter"))
    state = state_with_stamps(one, two)
    (one / "DeepLore").mkdir()
    (one / DEFINITIONS).write_text(SEASON)
    result = refresh(state, [one, two], SETTINGS, CHARS_4)
    assert [entry.custom_fields for entry in result.state.index.entries] == [{"season": "winter"}] * 2


def state_with_stamps(*folders: Path) -> VaultState:
    scanned = [scan_folder(folder, {}, clock_ns=later) for folder in folders]
    return update(None, scanned, SETTINGS, CHARS_4).state


NAMES = ["a.md", "B.md", "f/a.md", "f/g/c.md", "f g/d.md", "é.md", "plain.md", DEFINITIONS]
PIECES = ["# A", "# a", "# B", "text", "[[a]] [[B]]", "%%x%%", "[[c|d]]"]
FRONT = [
    "tags: [lorebook]", "tags: [lorebook, lorebook-guide]", "tags: none", "enabled: false", "keys: [a, b]", "keys: b",
    "requires: [a, c]", "excludes: [B]", "cascade_links: [d, é]", "era: [x, y]", "season: winter", "priority: 5",
    "Priority: '7'", "sticky: 3",
]  # fmt: skip
note_text = st.builds(
    lambda front, body: "---\n" + "\n".join(["tags: [lorebook]", *front]) + "\n---\n" + "\n".join(body),
    st.lists(st.sampled_from(FRONT), max_size=4),
    st.lists(st.sampled_from(PIECES), max_size=3),
)
other_text = st.sampled_from(["", "plain", "fields:\n  - name: season\n", "fields:\n  - name: 1\n", "\ufeff# B"])
any_text = st.one_of(note_text, note_text, other_text)
Edit = tuple[str, str | bytes | None]
edit = st.tuples(st.sampled_from(NAMES), st.one_of(any_text, any_text, st.just(None), st.just(b"\xff\xfe")))
edits = st.lists(st.lists(edit, min_size=1, max_size=5), min_size=1, max_size=5)


def apply(folder: Path, changes: list[Edit], ticks: Iterator[int]) -> None:
    for name, text in changes:
        path = folder / name
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            tick = next(ticks)
            os.utime(path, ns=(tick, tick))


@settings(deadline=None, max_examples=examples(80))
@given(edits, edits, st.sampled_from(["all", "first", "last", "merge"]), st.booleans())
def test_following_edits_equals_building_anew(
    first: list[list[Edit]], second: list[list[Edit]], mode: str, trusting: bool
) -> None:
    values = DeepLoreSettings(multi_vault_conflict_resolution=mode)
    clock = later if trusting else time.time_ns
    ticks = count(10**18, 10**9)
    with tempfile.TemporaryDirectory() as root:
        folders = [Path(root) / "one", Path(root) / "two"]
        for folder in folders:
            folder.mkdir()
        state: VaultState | None = None
        for rounds in zip_longest(first, second, fillvalue=[]):
            for folder, changes in zip(folders, rounds, strict=True):
                apply(folder, changes, ticks)
            old, state = state, refresh(state, folders, values, CHARS_4, clock_ns=clock).state
            full = build_index([read_folder(folder) for folder in folders], values, CHARS_4)
            assert everything(state.index) == everything(full)
            assert everything(state_of(state.vaults, values, CHARS_4).index) == everything(full)
            if old is not None and mode != "merge" and parsers(old) == parsers(state):
                assert_same_objects(old.index, state.index)


def assert_same_objects(old: VaultIndex, new: VaultIndex) -> None:
    """What says the same as before is the same."""
    before = {(entry.vault, entry.filename): entry for entry in old.entries}
    for entry in new.entries:
        earlier = before.get((entry.vault, entry.filename))
        if earlier is not None and all(getattr(earlier, name) == getattr(entry, name) for name in FIELDS):
            assert earlier is entry


def parsers(state: VaultState) -> list[str]:
    return [vault.parser for vault in state.vaults]
