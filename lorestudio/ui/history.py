"""Back and forward through the entries that were looked at."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Signal

from lorestudio.ui.selection import Selection

LONGEST: Final = 200


class History(QObject):
    """Follows a selection; `changed` says that `can_go_back` or `can_go_forward` may differ."""

    changed = Signal()

    def __init__(self, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._entries: list[int] = []
        self._place = -1
        selection.entry_changed.connect(self._remember)

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier entry."""
        return self._place > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later entry."""
        return self._place < len(self._entries) - 1

    def back(self) -> None:
        """Look at the entry before."""
        self._move(-1)

    def forward(self) -> None:
        """Look at the entry after."""
        self._move(1)

    def clear(self) -> None:
        """Forget everything, as when another vault is opened."""
        self._entries, self._place = [], -1
        self.changed.emit()

    def _move(self, steps: int) -> None:
        place = self._place + steps
        if 0 <= place < len(self._entries):
            self._place = place
            self._selection.choose_entry(self._entries[place])
            self.changed.emit()

    def _remember(self) -> None:
        entry = self._selection.entry
        if entry is None or (self._place >= 0 and self._entries[self._place] == entry):
            return
        self._entries = [*self._entries[: self._place + 1], entry][-LONGEST:]
        self._place = len(self._entries) - 1
        self.changed.emit()
