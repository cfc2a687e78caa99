"""The one selection that all panes share: a message with its generation, an entry, and a stage of its journey."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.entry import LeftOutNote
from lorestudio.studio.generation import Generation


class Selection(QObject):
    """What is looked at. Panes write it through the `choose_` methods and follow its signals, nothing else.

    `message` is a row of the chat, `generation` the run that belongs to it, `entry` an id of the index, `left_out` a
    note that gave no entry (then `entry` is None), `stage` the name of a stage. Each may be None.
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

    def clear(self) -> None:
        """Look at nothing, as when another vault is opened."""
        self.choose_message(None, None)
        self.choose_entry(None)
