"""Plans that make links of names that stand in plain text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lorestudio.exchange.problems import InputError
from lorestudio.studio.change_set import ChangeSet, NoteChange
from lorestudio.studio.vault_notes import Planned, VaultNotes, home_of
from lorestudio.vault import VaultError, read_note
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.linking import link_edit
from lorestudio.vault.mentions import Mention
from lorestudio.vault.note_document import apply_edits


def plan_links(vaults: Sequence[VaultNotes], path: Path, mentions: Sequence[Mention]) -> Planned:
    """Link these mentions of a note to it, as one step. The remarks name the notes that stay as they are.

    Raises InputError where no mention is given or no link can name the note.
    """
    if not mentions:
        raise InputError("mentions", "no mention is chosen.")
    vault, filename = home_of(vaults, path)
    title = vault.index.notes[filename].names.title
    by_source: dict[str, list[Mention]] = {}
    for mention in mentions:
        by_source.setdefault(mention.source, []).append(mention)
    made: list[NoteChange] = []
    remarks: list[str] = []
    places = 0
    for source, found in by_source.items():
        known = vault.index.notes.get(source)
        try:
            before, _ = read_note(vault.path(source))
        except VaultError as error:
            remarks.append(str(error))
            continue
        if known is None or before.removeprefix(BOM) != known.text.removeprefix(BOM):
            remarks.append(f"{source} has changed meanwhile and stays as it is. Look at its mentions again.")
            continue
        offset = len(before) - len(known.text)
        try:
            edits = [link_edit(before, one.start + offset, one.end + offset, title) for one in found]
        except ValueError as error:
            raise InputError(filename, str(error)) from error
        places += len(edits)
        made.append(NoteChange(vault.path(source), before, apply_edits(before, edits)))
    where = "1 mention" if places == 1 else f"{places} mentions"
    return Planned(ChangeSet(f"Link {where} of {title}", tuple(made)), tuple(remarks))
