"""The one selection that all panes share: a message with its generation, an entry, and a stage of its journey."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex


class Selection(QObject):
    """What is looked at. Panes write it through the `choose_` methods and follow its signals, nothing else.

    `message` is a row of the chat, `generation` the run that belongs to it, `left_out` a note that gave no entry (then
    `entry` is None), `stage` the name of a stage. `entry` is an id of the index, or one of the run's own behind those
    (`trace.journey.FOREIGN_IDS`). Each may be None.
    """

    generation_changed = Signal()
    entry_changed = Signal()
    stage_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.message: int | None = None
        self.generation: Generation | None = None
        self.entry: int | None = None
        self.left_out: LeftOutNote | None = None
        self.stage: str | None = None

    def choose_message(self, message: int | None, generation: Generation | None) -> None:
        """Look at a message and the generation that belongs to it; the entry and the stage stay."""
        if (message, generation) != (self.message, self.generation):
            self.message, self.generation = message, generation
            self.generation_changed.emit()

    def choose_entry(self, entry: int | None, stage: str | None = None) -> None:
        """Look at an entry, and at what one stage did with it where `stage` is given."""
        entry_is_new = entry != self.entry or self.left_out is not None
        stage_is_new = stage != self.stage
        self.entry, self.left_out, self.stage = entry, None, stage
        if entry_is_new:
            self.entry_changed.emit()
        if stage_is_new or entry_is_new:
            self.stage_changed.emit()

    def choose_left_out(self, note: LeftOutNote) -> None:
        """Look at a note that gave no entry."""
        if note is not self.left_out:
            self.entry, self.left_out, self.stage = None, note, None
            self.entry_changed.emit()
            self.stage_changed.emit()

    def find_again(self, before: VaultIndex, after: VaultIndex) -> None:
        """Look at the same note in a newer index, where its number may be another one; at none where it is gone.

        A note that became an entry, or is none any more, is the same note.
        """
        chosen: Entry | LeftOutNote | None = self.left_out
        if self.entry is not None:
            if self.entry >= len(before.entries):  # what another system than DeepLore chose from; its number stays
                return
            chosen = before.entries[self.entry]
        if chosen is None:
            return
        entry = next((each for each in after.entries if _same(each, chosen)), None)
        if entry is not None:
            if self.entry != entry.id:
                self.choose_entry(entry.id)
            return
        left_out = next((each for each in after.left_out if _same(each, chosen)), None)
        if left_out is not None:
            self.choose_left_out(left_out)
        else:
            self.choose_entry(None)

    def clear(self) -> None:
        """Look at nothing, as when another vault is opened."""
        self.choose_message(None, None)
        self.choose_entry(None)


def _same(one: Entry | LeftOutNote, other: Entry | LeftOutNote) -> bool:
    return (one.vault, one.filename) == (other.vault, other.filename)


def same_numbers(before: VaultIndex, after: VaultIndex) -> bool:
    """Whether every entry has the number that it had, so that older traces and choices mean the same ones."""
    return [(each.vault, each.filename) for each in before.entries] == [
        (each.vault, each.filename) for each in after.entries
    ]
