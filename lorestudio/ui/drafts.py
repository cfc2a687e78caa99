"""Texts that were edited and not saved yet, kept per file so that looking elsewhere loses nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsaved text and the digest of the file that it started from, None for a file that does not exist."""

    text: str
    digest: str | None


class Drafts(QObject):
    """All unsaved texts of the window.

    `changed` names a file that has an unsaved text now, or has none any more; `typed` a file whose unsaved text is
    another one than before.
    """

    changed = Signal(object)
    typed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drafts: dict[Path, Draft] = {}

    @property
    def all(self) -> Mapping[Path, Draft]:
        """The unsaved texts by file."""
        return self._drafts

    def get(self, path: Path) -> Draft | None:
        """The unsaved text of a file, None where there is none."""
        return self._drafts.get(path)

    def keep(self, path: Path, draft: Draft) -> None:
        """Remember the text of a file."""
        before = self._drafts.get(path)
        self._drafts[path] = draft
        if before is None:
            self.changed.emit(path)
        if before is None or before.text != draft.text:
            self.typed.emit(path)

    def drop(self, path: Path) -> None:
        """Forget the text of a file: it was saved, or thrown away on purpose."""
        if self._drafts.pop(path, None) is not None:
            self.changed.emit(path)
            self.typed.emit(path)
