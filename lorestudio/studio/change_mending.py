"""Bringing files back to what they held before a run that stopped in the middle, even where the studio was killed."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lorestudio.studio.change_journal import LoggedChange
from lorestudio.studio.change_plan import read_bytes
from lorestudio.studio.note_data import reason_of
from lorestudio.vault import VaultError, save_note
from lorestudio.vault.writer import digest_of, move_note, remove_note, same_place


@dataclass(frozen=True, slots=True)
class Expected:
    """What a path held before a run, and what it may hold in the middle of it: digests, None for no file."""

    path: Path
    before: str | None
    ours: frozenset[str | None]


def expectations(changes: Sequence[LoggedChange]) -> tuple[Expected, ...]:
    """What every path of a run held before it."""
    before: dict[Path, str | None] = {}
    ours: dict[Path, set[str | None]] = {}
    for change in changes:
        for path in {change.path, change.place}:
            before.setdefault(path, None)
            ours.setdefault(path, {None}).update((change.before, change.after))
        if change.before is not None:
            before[change.path] = change.before
    return tuple(Expected(path, digest, frozenset(ours[path])) for path, digest in before.items())


def is_done(changes: Sequence[LoggedChange]) -> bool:
    """Whether all files are as the changes leave them."""
    try:
        return all(_is_done(change, changes) for change in changes)
    except OSError:
        return False


def _is_done(change: LoggedChange, changes: Sequence[LoggedChange]) -> bool:
    if change.after is not None and digest_at(change.place) != change.after:
        return False
    if same_place(change.path, change.place):
        return change.place.name in os.listdir(change.place.parent)  # noqa: PTH208  # as the disk spells them
    if change.before is None or (change.after is not None and change.place == change.path):
        return True
    taken_over = any(other.after is not None and other.place == change.path for other in changes)
    return taken_over or not os.path.lexists(change.path)


def mend(
    changes: Sequence[LoggedChange], read: Callable[[str], bytes], touched: Collection[Path] | None = None
) -> Mapping[Path, str]:
    """Bring every file of a half done run back to what it held before; `read` gives kept contents by digest.

    A file that holds what nobody here has written is left alone; that is a failure where it was `touched` (None: where
    that is not known). Returns what could not be mended and why.
    """
    failures: dict[Path, str] = {}
    aliases: set[Path] = set()
    for change in changes:
        if change.new_path is not None and same_place(change.path, change.new_path):
            aliases.add(change.new_path)
            try:
                if change.path.name not in os.listdir(change.path.parent):  # noqa: PTH208  # as the disk spells them
                    move_note(change.new_path, change.path)
            except OSError as error:
                failures[change.path] = reason_of(error)
    # Texts come back before anything is taken away.
    ordered = sorted(expectations(changes), key=lambda one: one.before is None)
    for expected in ordered:
        if expected.path in aliases or (failures and expected.before is None):
            continue
        try:
            _mend(expected, read, foreign_is_wrong=touched is None or expected.path in touched)
        except OSError as error:
            failures[expected.path] = reason_of(error)
    return failures


def _mend(expected: Expected, read: Callable[[str], bytes], *, foreign_is_wrong: bool) -> None:
    """Raises OSError with a sentence."""
    found = digest_at(expected.path)
    if found == expected.before:
        return
    if found not in expected.ours:
        if not foreign_is_wrong:
            return
        raise VaultError(f"“{expected.path.name}” was changed by somebody else meanwhile")
    if expected.before is not None:
        text = read(expected.before).decode("utf-8")
        save_note(expected.path, text, found)
    elif found is not None:
        remove_note(expected.path, found)


def digest_at(path: Path) -> str | None:
    """The digest of the file at `path`, None where there is none. Raises SaveError where it cannot be read."""
    data = read_bytes(path)
    return None if data is None else digest_of(data)
