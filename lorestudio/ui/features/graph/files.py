"""What of the graph goes to disk: pictures and data that the person asks for, and the layout that is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from lorestudio.studio.graph.export import graph_json
from lorestudio.studio.graph.preparing import LayoutStore, Prepared, SavedLayout
from lorestudio.ui.features.graph.view import GraphView
from lorestudio.ui.shell.words import Notice, sentence_of, tr
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs

SAVE_AFTER_MS: Final = 800
"""So long nothing may be moved before the layout is kept."""


def graph_bytes(view: GraphView, prepared: Prepared, fired: Mapping[int, int], kind: str) -> bytes:
    """The graph as `png` or `svg`, as it is shown, or all of it as `json`."""
    if kind == "json":
        data = graph_json(prepared.found, fired, prepared.positions)
        return (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "backslashreplace")
    return bytes(view.svg().data()) if kind == "svg" else view.png()


def ask_graph_file(parent: QWidget, name: str, kind: str, write: Callable[[Path, str], None]) -> None:
    """Ask where the graph of that vault is to be saved as `png`, `svg` or `json`, and have it written there."""
    title, start, filters = tr("Save the graph"), f"{name} graph.{kind}", f"{kind.upper()} (*.{kind})"
    dialogs.choose_new_file(parent, title, start, filters, kind, lambda path: write(path, kind))


class GraphKeeper(QObject):
    """Keeps positions and pins when nothing was moved for a moment.

    `to_keep` gives the places of the vault and the layout, None where there is none yet.
    """

    def __init__(
        self,
        session: Session,
        store: LayoutStore,
        to_keep: Callable[[], tuple[tuple[str, ...], SavedLayout] | None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._store, self._to_keep = session, store, to_keep
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_AFTER_MS)
        self._timer.timeout.connect(self._save)

    def later(self) -> None:
        """Something was moved, pinned or let go."""
        self._timer.start()

    def finish(self) -> None:
        """Keep at once what waits, because the window or the vault goes."""
        if not self._timer.isActive():
            return
        self._timer.stop()
        made = self._to_keep()
        if made is not None:
            try:
                self._store.save(*made)
            except OSError as error:
                self._failed(error)

    def _save(self) -> None:
        made = self._to_keep()
        if made is not None:
            store = self._store
            self._session.jobs.start(
                tr("Keeping the graph's layout"),
                lambda _report: store.save(*made),
                done=lambda _nothing: None,
                failed=self._failed,
            )

    def _failed(self, error: Exception) -> None:
        text = tr("The layout of the graph could not be kept: {error}", error=sentence_of(error))
        self._session.notice.emit(Notice(text, "warning", key="graph"))
