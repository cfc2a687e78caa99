"""While somebody types, the generation that is shown runs again with the unsaved texts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from lorestudio.studio.preview import NoteText, Preview, Previewer
from lorestudio.studio.preview_queue import PreviewQueue
from lorestudio.studio.project import Project
from lorestudio.ui.drafts import Draft, Drafts
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.words import tr

logger = logging.getLogger(__name__)


class LivePreview(QObject):
    """Runs previews of all unsaved texts, the newest only. `previewed` carries a `Preview`, None once there is none."""

    previewed = Signal(object)

    def __init__(
        self,
        drafts: Drafts,
        jobs: Jobs,
        project: Callable[[], Project | None],
        make: Callable[[], Previewer | None],
        parent: QObject | None = None,
    ) -> None:
        """`make` gives a previewer of the generation that is shown, None where it was not run."""
        super().__init__(parent)
        self._drafts, self._jobs, self._project, self._make = drafts, jobs, project, make
        self._previewer: Previewer | None = None
        self._queue = PreviewQueue()
        drafts.typed.connect(lambda _path: self.run())

    def forget(self) -> None:
        """Another project, generation or run is shown: what was previewed does not hold any more."""
        self._queue.cancel()
        self._previewer = None
        self.previewed.emit(None)
        self.run()

    def run(self) -> None:
        """Preview the unsaved texts; without any, the trace of the real run is what holds."""
        project = self._project()
        notes = unsaved_notes(project, self._drafts.all) if project is not None else ()
        if not notes:
            self._queue.cancel()
            self.previewed.emit(None)
            return
        if self._previewer is None:
            self._previewer = self._make()
        previewer = self._previewer
        if previewer is not None and self._queue.submit(previewer, notes):
            self._jobs.start(
                tr("Trying the text"),
                self._queue.work,
                done=lambda _none: None,
                failed=lambda error: logger.warning("the preview failed: %s", error),
                reported=self._show,
            )

    def _show(self, preview: object) -> None:
        if isinstance(preview, Preview) and self._previewer is not None:
            self.previewed.emit(preview)


def unsaved_notes(project: Project, drafts: Mapping[Path, Draft]) -> tuple[NoteText, ...]:
    """The unsaved texts of notes that lie in the project's vaults."""
    found = []
    for path, draft in drafts.items():
        for vault, folder in zip(project.index.vaults, project.vault_folders, strict=False):
            if folder is not None and path.is_relative_to(folder):
                found.append(NoteText(vault, path.relative_to(folder).as_posix(), draft.text))
                break
    return tuple(found)
