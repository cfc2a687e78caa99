"""The plan that carries out what the problem checks offer to mend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lorestudio.studio.notes.change_set import ChangeSet, NoteChange
from lorestudio.studio.notes.vault_notes import Planned
from lorestudio.vault.files import VaultError
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.writer import read_note


def plan_repairs(folders: Mapping[str, Path], repairs: Sequence[Repair]) -> Planned:
    """Mend these notes as one step. `folders` are those of the vaults by name.

    A note whose file is no longer what was looked at stays as it is, and a remark says so.
    """
    made: list[NoteChange] = []
    remarks: list[str] = []
    titles: list[str] = []
    for repair in repairs:
        folder = folders.get(repair.vault)
        if folder is None:
            remarks.append(f"{repair.filename} lies behind Obsidian's plugin and stays as it is. Mend it there.")
            continue
        path = folder / repair.filename
        try:
            before, _ = read_note(path)
        except VaultError as error:
            remarks.append(str(error))
            continue
        if before.removeprefix(BOM) != repair.before.removeprefix(BOM):
            remarks.append(f"{repair.filename} has changed meanwhile and stays as it is. Look at its problems again.")
            continue
        mark = BOM if before.startswith(BOM) else ""
        made.append(NoteChange(path, before, mark + repair.after.removeprefix(BOM)))
        titles += repair.titles
    title = titles[0] if len(titles) == 1 else f"Mend {len(titles)} problems"
    return Planned(ChangeSet(title, tuple(made)), tuple(remarks))
