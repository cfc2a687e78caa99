from __future__ import annotations

import math
import sqlite3
import stat
import sys
import threading
import tracemalloc
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.entry import BUILT_IN_FIELDS, Entry, FieldDefinition, LeftOutNote, NoteProblem, Position, Role
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault import cache
from lorestudio.vault.cache import VaultCache
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.folder import KnownFile, KnownVault, ScannedVault, Stamp, parser_key
from lorestudio.vault.index import update
from tests.examples import examples
from tests.vault.plain import plain, said

SETTINGS = DeepLoreSettings()
DEFINITIONS = "DeepLore/field-definitions.yaml"
RICH = """---
tags: [lorebook, lorebook-seed, town]
keys: [a, b, "", ż]
refine_keys: [c]
Priority: "7"
summary: about
constant: true
scanDepth: %s
position: in_chat
role: assistant
depth: 0.5
cooldown: 2
warmup: 3
probability: .25
requires: [b]
excludes: [gone]
cascade_links: [b]
outlet: rules
era: [x, y]
location: north
sticky: [1, 2]
excludeRecursion: true
graph: false
---
# Title 😀
[[b]] text
""" % ("9" * 400)
TEXTS = {
    "a.md": RICH,
    "f/b.md": "---\ntags: [lorebook]\n---\n",
    "plain.md": "text",
    "off.md": "---\ntags: [lorebook]\nenabled: false\n---\n",
    DEFINITIONS: "fields:\n  - name: season\n",
}


def known(texts: dict[str, str], name: str = "V") -> KnownVault:
    left_out = (LeftOutNote("bad.md", name, NoteProblem.BAD_ENCODING, "Line 1 …"),)
    files = VaultFiles(name, tuple(NoteFile(*item) for item in texts.items()), left_out)
    return update(None, [ScannedVault.of(files)], SETTINGS, CHARS_4).state.vaults[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vaults.sqlite"


def stored(path: Path, **texts: str) -> KnownVault:
    vault = known({f"{name}.md": f"---\ntags: [lorebook]\n---\n{text}" for name, text in texts.items()})
    with VaultCache(path) as target:
        target.store("v", vault)
        assert target.problems == ()
    return vault


def types(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [type(value), *map(types, value)]
    if isinstance(value, dict):
        return {name: types(item) for name, item in value.items()}
    return type(value)


def test_a_vault_comes_back_as_it_was(path: Path) -> None:
    vault = known(TEXTS)
    with VaultCache(path) as target:
        target.store("v", vault)
    with VaultCache(path) as target:
        back = target.hydrate("v", "V", vault.parser)
        assert target.text("v", DEFINITIONS) == TEXTS[DEFINITIONS]
        assert target.problems == ()
    assert plain(back) == plain(vault)
    assert back is not None
    assert [types(said(file.note)) for file in back.files[:2]] == [types(said(file.note)) for file in vault.files[:2]]
    note: Any = back.files[0].note
    assert (note.position, note.role, note.scan_depth) == (Position.IN_CHAT, Role.ASSISTANT, math.inf)
    assert isinstance(note.position, Position)
    assert [warning.code for warning in note.warnings] == ["W_ALIAS_USED", "W_COERCED_NUM", "W_NOT_IMPLEMENTED"]


def test_a_vault_can_have_another_name(path: Path) -> None:
    vault = stored(path, a="text")
    with VaultCache(path) as target:
        back = target.hydrate("v", "New", vault.parser)
    assert back is not None
    assert (back.name, back.files[0].note.vault) == ("New", "New")  # type: ignore[index,call-overload]  # it is an entry


def test_what_is_not_there(path: Path) -> None:
    vault = stored(path, a="text")
    with VaultCache(path) as target:
        assert target.hydrate("other", "V", vault.parser) is None
        assert target.hydrate("v", "V", "another parser") is None
        assert target.text("other", DEFINITIONS) is None
        assert target.text("v", DEFINITIONS) == ""


def test_stamps_and_places_come_back(path: Path) -> None:
    vault = known({"a.md": "text", "b.md": "text"})
    stamp = Stamp(2**62, 123_456_789_012_345_678, 5)
    vault = replace(vault, files=(replace(vault.files[0], stamp=stamp), vault.files[1]))
    with VaultCache(path) as target:
        target.store("v", vault)
        back = target.hydrate("v", "V", vault.parser)
        assert back is not None
        assert [file.stamp for file in back.files] == [stamp, None]
        touched = replace(vault, files=(replace(vault.files[1], stamp=stamp), replace(vault.files[0], stamp=None)))
        target.store("v", touched)
        assert plain(target.hydrate("v", "V", vault.parser)) == plain(touched)
        turned = replace(vault, files=touched.files[::-1])
        target.store("v", turned)
        assert plain(target.hydrate("v", "V", vault.parser)) == plain(turned)
        target.store("v", replace(turned, files=(replace(turned.files[0], text="fields: []"), turned.files[1])))
        assert target.text("v", turned.files[0].filename) == "fields: []"


def rows(path: Path) -> dict[str, int]:
    """The row of each file: it changes when the file is written again."""
    with sqlite3.connect(path) as connection:
        found = dict(connection.execute("SELECT filename, checksum FROM files").fetchall())
    connection.close()
    return found


def test_only_what_changed_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(path, a="1", c="3")
    written: list[str] = []
    real = cache._row
    monkeypatch.setattr(
        cache, "_row", lambda number, place, file: written.append(file.filename) or real(number, place, file)  # type: ignore[func-returns-value]  # a spy
    )  # fmt: skip
    vault = stored(path, a="1", b="2", c="3")
    assert written == ["b.md"]
    with VaultCache(path) as target:
        assert plain(target.hydrate("v", "V", vault.parser)) == plain(vault)
    vault = stored(path, c="new")
    assert written == ["b.md", "c.md"]
    assert list(rows(path)) == ["c.md"]


def test_other_rules_write_everything(path: Path) -> None:
    vault = stored(path, a="1", b="2")
    other = replace(vault, parser="other", files=(replace(vault.files[0], note=None), vault.files[1]))
    with VaultCache(path) as target:
        target.store("v", other)
        assert target.hydrate("v", "V", vault.parser) is None
        assert plain(target.hydrate("v", "V", "other")) == plain(other)


# ---- damage and trouble ---------------------------------------------------------------------------------------------


def overwrite(path: Path, data: bytes, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def damage(path: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement, values)
    connection.close()


def put(path: Path, payload: bytes) -> None:
    damage(path, "UPDATE files SET payload = ?, checksum = ?", payload, zlib.crc32(payload))


DAMAGES = {
    "no database": lambda path: path.write_bytes(b"this is no database at all" * 100),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "header": lambda path: overwrite(path, b"\0" * 16, 0),
    "pages": lambda path: overwrite(path, b"\xaa" * (path.stat().st_size - 4096), 4096),
    "payload": lambda path: damage(path, "UPDATE files SET payload = X'00'"),
    "no JSON": lambda path: put(path, b"\0"),
    "other values": lambda path: put(path, b"[[1,2,3],null]"),
    "left out": lambda path: damage(path, "UPDATE vaults SET left_out = X'00'"),
    "other table": lambda path: damage(path, "ALTER TABLE files RENAME COLUMN payload TO content"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_thrown_away(path: Path, kind: str) -> None:
    vault = stored(path, **{f"n{number}": "text " * 100 for number in range(50)})
    DAMAGES[kind](path)
    with VaultCache(path) as target:
        assert target.hydrate("v", "V", vault.parser) is None
        (problem,) = target.problems
        assert "was damaged" in problem
        assert str(path) in problem
        target.store("v", vault)
        assert plain(target.hydrate("v", "V", vault.parser)) == plain(vault)
        assert len(target.problems) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_the_texts_of_notes_are_for_their_owner_only(path: Path) -> None:
    stored(path, a="what nobody else may read")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with VaultCache(tmp_path / "file" / "vaults.sqlite") as target:
        target.store("v", known(TEXTS))
        assert target.hydrate("v", "V", "") is None
        (problem,) = target.problems
    assert "cannot be used" in problem


def test_a_busy_cache_is_passed_over_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = stored(path, a="1")
    monkeypatch.setattr(cache, "_BUSY_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    with VaultCache(path) as target:
        other.execute("BEGIN IMMEDIATE")
        target.store("v", replace(vault, parser="other"))
        (problem,) = target.problems
        assert "busy" in problem
        other.execute("ROLLBACK")
        assert plain(target.hydrate("v", "V", vault.parser)) == plain(vault)
    other.close()


def test_a_file_name_that_is_no_text(path: Path) -> None:
    vault = known({"a.md": "text"})
    odd = KnownFile("\ud800.md", "0", None)
    with VaultCache(path) as target:
        target.store("v", replace(vault, files=(*vault.files, odd)))
        assert target.hydrate("v", "V", vault.parser) is None
        (problem,) = target.problems
    assert "not valid text" in problem


def test_many_threads(path: Path) -> None:
    vaults = [known({f"{number}.md": RICH}) for number in range(8)]
    with VaultCache(path) as target:

        def work(number: int) -> None:
            for _ in range(5):
                target.store(f"v{number}", vaults[number])
                assert plain(target.hydrate(f"v{number}", "V", vaults[number].parser)) == plain(vaults[number])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert target.problems == ()
    assert counted(path)[0] == 8


def counted(path: Path) -> tuple[int, int]:
    """How many vaults and files are in the cache."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT (SELECT COUNT(*) FROM vaults), (SELECT COUNT(*) FROM files)").fetchone()


# ---- size -----------------------------------------------------------------------------------------------------------


def test_vanished_folders_are_pruned(path: Path, tmp_path: Path) -> None:
    vault = known(TEXTS)
    folder = tmp_path / "vault"
    folder.mkdir()
    with VaultCache(path) as target:
        target.store("here", vault, folder)
        target.store("gone", vault, tmp_path / "gone")
        target.store("remote", vault)  # storing a vault that is new prunes
        assert [target.text(each, "x") for each in ("here", "gone", "remote")] == ["", None, ""]
    assert counted(path)[1] == 2 * len(vault.files)


def test_the_vaults_unused_for_longest_go_first(path: Path) -> None:
    vault = known({f"{number}.md": "---\ntags: [lorebook]\n---\n" + "x" * 1000 for number in range(10)})
    with VaultCache(path, max_bytes=30_000) as target:
        for name in ("one", "two"):
            target.store(name, vault)
        target.hydrate("one", "V", vault.parser)
        target.store("three", vault)
        assert [target.text(each, "x") for each in ("one", "two", "three")] == ["", None, ""]


def test_the_vault_in_use_stays_however_large(path: Path) -> None:
    vault = known(TEXTS)
    with VaultCache(path, max_bytes=1) as target:
        target.store("v", vault)
        assert plain(target.hydrate("v", "V", vault.parser)) == plain(vault)


# ---- the key --------------------------------------------------------------------------------------------------------


def test_whatever_decides_how_a_note_is_read_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    season = FieldDefinition("season", "Season")
    keys = {
        parser_key(rules)
        for rules in [
            ParseRules(),
            ParseRules(lorebook_tag="x"),
            ParseRules(lenient=False),
            ParseRules(fields=(*BUILT_IN_FIELDS, season)),
            ParseRules(fields=(*BUILT_IN_FIELDS, replace(season, multi=True))),
        ]
    }
    assert len(keys) == 5
    assert parser_key(ParseRules()) in keys
    monkeypatch.setattr("lorestudio.vault.folder._parser_digest", lambda: "a newer parser")
    assert parser_key(ParseRules()) not in keys


front = st.text(max_size=80).map("---\ntags: [lorebook]\nera: 1e5\n{}\n---\n".format)
any_text = st.one_of(st.text(max_size=200), front)


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(any_text))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    vault = known({f"{number}.md": text for number, text in enumerate(texts)})
    with VaultCache(tmp_path_factory.mktemp("c") / "v.sqlite") as target:
        target.store("v", vault)
        assert plain(target.hydrate("v", "V", vault.parser)) == plain(vault)
        assert target.problems == ()


def test_a_large_vault_is_not_held_once_more_while_it_is_stored(tmp_path: Path) -> None:
    texts = ScannedVault.of(
        VaultFiles("v", tuple(NoteFile(f"{n}.md", f"---\ntags: [lorebook]\n---\n{n:020000}") for n in range(100)))
    )
    vault = update(None, [texts], SETTINGS, CHARS_4).state.vaults[0]
    with VaultCache(tmp_path / "cache.sqlite") as opened:
        tracemalloc.start()
        opened.store("v", vault)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert opened.hydrate("v", "v", vault.parser) is not None
    assert peak < 500_000  # all of it has two million


def test_what_many_notes_say_alike_comes_back_once(tmp_path: Path) -> None:
    text = "---\ntags: [lorebook, old-town]\n---\n[[Old Quay]]"
    vault = known({"some/place/a.md": text, "some/place/b.md": text})
    with VaultCache(tmp_path / "cache.sqlite") as opened:
        opened.store("v", vault)
        back = opened.hydrate("v", "V", vault.parser)
    assert back is not None
    one, other = (file.note for file in back.files)
    assert isinstance(one, Entry)
    assert isinstance(other, Entry)
    for name in ("folder", "selective_logic"):
        assert getattr(one, name) is getattr(other, name)
    assert one.tags[0] is other.tags[0]
    assert one.links[0] is other.links[0]


def test_the_rows_of_a_large_vault_are_looked_at_one_by_one(tmp_path: Path) -> None:
    vault = known({f"{number:050}.md": "text" for number in range(2000)})
    with VaultCache(tmp_path / "cache.sqlite") as opened:
        opened.store("v", vault)
        tracemalloc.start()
        opened.store("v", replace(vault, files=vault.files[1:]))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        back = opened.hydrate("v", "V", vault.parser)
    assert back is not None
    assert [file.filename for file in back.files] == [file.filename for file in vault.files[1:]]
    assert peak < 900_000, peak  # with all rows at once more than a million
