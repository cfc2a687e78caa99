"""Lorebooks in and out of the vault, from the window."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.state.note_changes import NoteWork

_IMPORTED: Final = "imported"
"""What is said after an import; it goes when that is undone."""


class LorebooksFeature(Feature):
    """Asks which books become notes, which notes become a book, and what brings both together."""

    def __init__(self, context: Context, work: NoteWork) -> None:
        super().__init__(context)
        self._work = work
        work.done.connect(lambda done: self.context.bars.drop(_IMPORTED) if done.undone else None)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now = self.context
        has_lore = now.project_idle.also(lambda: self._work.writes, "Open a vault in a folder, or a lorebook, first.")
        has_notes = now.project_idle.also(lambda: self._work.ready, "Open a vault in a folder first.")
        return (
            Action(
                "book.import", "Import lorebooks…", "File/Lorebooks", 100, self._import, when=now.idle, icon="plus",
                tip="Make notes of the entries of lorebooks and cards; what becomes of every field is shown first",
            ),
            Action(
                "book.export", "Export a lorebook…", "File/Lorebooks", 105, self._export, when=has_lore, icon="save",
                tip="Make a lorebook of the notes, or of the open book; what becomes of every field is shown first",
            ),
            Action(
                "book.sync", "Sync with a lorebook…", "File/Lorebooks", 110, self._sync, when=has_notes,
                icon="reload", tip="Bring a book and the notes that it became together; both sides are compared first",
            ),
        )  # fmt: skip

    def _import(self) -> None:
        from lorestudio.ui.features.lorebooks.dialogs import ImportBooksDialog

        now = self.context
        dialog = ImportBooksDialog(now.theme, self._work, now.session.project, now.window)
        dialog.made.connect(lambda folder: now.session.reading.open([folder]))
        dialog.accepted.connect(self._imported)
        dialog.open()

    def _imported(self) -> None:
        """What may follow: the entries of lorebooks have no summaries, by which AI selection chooses."""
        text = tr("The notes are there. AI selection chooses by summaries, which they do not have yet.")
        self.context.say(Notice(text, "good", actions=("propose.summaries", "vault.undo"), key=_IMPORTED))

    def _export(self) -> None:
        from lorestudio.ui.features.lorebooks.dialogs import ExportBookDialog

        now = self.context
        if now.session.project is not None:
            ExportBookDialog(now.theme, self._work, now.session.project, now.window).open()

    def _sync(self) -> None:
        from lorestudio.ui.features.lorebooks.dialogs import SyncDialog

        now = self.context
        if now.session.project is not None:
            dialog = SyncDialog(now.theme, self._work, now.session.project, now.window)
            dialog.bar.pressed.connect(lambda _action: dialog.reject())
            dialog.bar.pressed.connect(now.run)
            dialog.open()
