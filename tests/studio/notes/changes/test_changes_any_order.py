"""Any sequence of changes, undos, redos, restarts and edits by others: nothing is lost, and undo leads back."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lorestudio.studio.notes.changes.change_set import ChangedMeanwhileError, ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.vault.files import ChangedOnDisk, SaveError
from tests.examples import examples

NAMES = ("a.md", "b.md", "c.md", "sub/a.md", "sub/deep/d.md")
names = st.sampled_from(NAMES)
texts = st.sampled_from(["", "x", "ä\r\n", "\ufeff---\nkeys: [a]\n---\n"])
changes = st.lists(st.tuples(names, st.none() | texts, st.none() | names), min_size=1, max_size=4)


class Vault(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.vault = self.place / "vault"
        self.vault.mkdir()
        (self.vault / "a.md").write_bytes(b"first")
        (self.vault / "b.md").write_bytes(b"second")
        self.log = ChangeLog(self.place / "data", [self.vault])
        self.past = [self.files()]  # after each step that can be undone
        self.future: list[dict[str, bytes]] = []
        self.outside = False
        self.foreign: set[bytes] = set()

    def teardown(self) -> None:
        if not self.outside:
            first = self.past[0]
            while self.log.can_undo:
                self.log.undo()
            assert self.files() == first
        shutil.rmtree(self.place)

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.vault).as_posix(): path.read_bytes()
            for path in self.vault.rglob("*")
            if path.is_file()
        }

    @rule(wanted=changes)
    def apply(self, wanted: list[tuple[str, str | None, str | None]]) -> None:
        before = self.files()
        made = tuple(self.change(*one) for one in wanted)
        change_set = ChangeSet("step", made)
        expected = outcome(before, change_set, self.vault)
        if expected is None:
            with pytest.raises((SaveError, ChangedOnDisk)):
                self.log.apply(change_set)
            assert self.files() == before
            return
        inverse = self.log.apply(change_set)
        assert self.files() == expected
        if inverse.changes:
            self.past.append(expected)
            self.future.clear()

    def change(self, name: str, after: str | None, target: str | None) -> NoteFileChange:
        path = self.vault / name
        before = path.read_bytes().decode() if path.exists() else None
        moved = before is not None and after is not None and target is not None
        return NoteFileChange(path, before, after, self.vault / target if moved and target is not None else None)

    @precondition(lambda self: self.log.can_undo)
    @rule()
    def undo(self) -> None:
        before = self.files()
        try:
            self.log.undo()
        except ChangedMeanwhileError:
            assert self.outside
            assert self.files() == before
            return
        if not self.outside:
            self.future.append(self.past.pop())
            assert self.files() == self.past[-1]

    @precondition(lambda self: self.log.can_redo)
    @rule()
    def redo(self) -> None:
        before = self.files()
        try:
            self.log.redo()
        except ChangedMeanwhileError:
            assert self.outside
            assert self.files() == before
            return
        if not self.outside:
            self.past.append(self.future.pop())
            assert self.files() == self.past[-1]

    @rule()
    def restart(self) -> None:
        self.log = ChangeLog(self.place / "data", [self.vault])
        assert self.log.mend_interrupted() == ()
        assert self.log.problems == ()

    @rule(name=names, number=st.integers(0, 9))
    def somebody_else_writes(self, name: str, number: int) -> None:
        path = self.vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.foreign.discard(path.read_bytes() if path.exists() else b"")
        text = b"somebody else %d in %s" % (number, name.encode())
        path.write_bytes(text)
        self.foreign.add(text)
        self.outside = True

    @invariant()
    def what_others_wrote_is_not_lost(self) -> None:
        """It is in the vault, in the history, or in the trash."""
        if not self.foreign:
            return
        kept = set(self.files().values())
        for text in self.foreign - kept:
            assert any(text == self.log.snapshots.blobs.read(path.stem) for path in self.blobs())

    @invariant()
    def nothing_is_left_lying_about(self) -> None:
        for _, _, files in os.walk(self.vault):
            assert not [name for name in files if name.endswith(".tmp")]

    def blobs(self) -> list[Path]:
        return list((self.place / "data" / "history" / "blobs").glob("*/*.gz"))


def outcome(before: dict[str, bytes], wanted: ChangeSet, vault: Path) -> dict[str, bytes] | None:
    """What plain reasoning expects of a change set; None where it cannot be done."""
    gone: set[str] = set()
    put: dict[str, bytes] = {}
    written: dict[Path, str | None] = {}
    for change in wanted.changes:
        if change.before is None and change.after is None:
            return None
        if change.before is not None and change.before == change.after and change.place == change.path:
            continue
        if None not in {change.before, change.after} and change.new_path is None:
            if written.get(change.path) == change.after:
                continue  # the same text twice for one file, as through a link, is written once
            written[change.path] = change.after
        if change.before is not None:
            name = change.path.relative_to(vault).as_posix()
            if name in gone:
                return None
            gone.add(name)
        if change.after is not None:
            name = change.place.relative_to(vault).as_posix()
            if name in put:
                return None
            put[name] = change.after.encode()
    if any(name in before and name not in gone for name in put):
        return None
    return {name: data for name, data in before.items() if name not in gone} | put


TestVault = Vault.TestCase
TestVault.settings = settings(
    max_examples=examples(25), stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
