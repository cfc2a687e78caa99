"""While somebody types or moves a setting, the generation that is shown runs again with that."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from lorestudio.settings.declaration import Section
from lorestudio.studio.preview import NoteText, Preview, Previews
from lorestudio.studio.preview_queue import PreviewQueue
from lorestudio.studio.project import Project
from lorestudio.ui.drafts import Draft, Drafts
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.words import tr

logger = logging.getLogger(__name__)


class LivePreview(QObject):
    """Runs previews of all unsaved texts and the settings that are tried out, the newest only.

    `previewed` carries a `Preview`, None once there is none; `failed` the error where none could be made.
    """

    previewed = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        drafts: Drafts,
        jobs: Jobs,
        project: Callable[[], Project | None],
        make: Callable[[], Previews | None],
        parent: QObject | None = None,
    ) -> None:
        """`make` gives a previewer of the generation that is shown, None where it was not run."""
        super().__init__(parent)
        self._drafts, self._jobs, self._project, self._make = drafts, jobs, project, make
        self._previewer: Previews | None = None
        self._settings: Section | None = None
        self._queue = PreviewQueue()
        drafts.typed.connect(lambda _path: self.run())

    def forget(self) -> None:
        """Another project, generation or run is shown: what was previewed does not hold any more."""
        self._queue.cancel()
        self._previewer = None
        self.previewed.emit(None)
        self.run()

    def try_settings(self, settings: Section | None) -> None:
        """Try these settings from now on, with the unsaved texts; None goes back to those of the run.

        Settings of a system that is not the one that decides make no difference.
        """
        if settings != self._settings:
            self._settings = settings
            self.run()

    def run(self) -> None:
        """Preview what is tried out; where that is nothing, the trace of the real run is what holds."""
        notes = self._notes()
        if not notes and self._settings is None:
            self._queue.cancel()
            self.previewed.emit(None)
            return
        if self._previewer is None:
            self._previewer = self._make()
        previewer = self._previewer
        if previewer is None:
            return
        settings = self._settings if self._settings is not None and previewer.takes(self._settings) else None
        if not notes and settings is None:
            self._queue.cancel()
            self.previewed.emit(None)
        elif self._queue.submit(previewer, notes, settings):
            self._jobs.start(
                tr("Trying it out"),
                self._queue.work,
                done=lambda _none: None,
                failed=self._fail,
                reported=self._show,
            )

    def _fail(self, error: Exception) -> None:
        logger.warning("the preview failed: %s", error)
        self.failed.emit(error)

    def _notes(self) -> tuple[NoteText, ...]:
        project = self._project()
        return unsaved_notes(project, self._drafts.all) if project is not None else ()

    def _show(self, preview: object) -> None:
        if not isinstance(preview, Preview) or self._previewer is None:
            return
        if self._settings is not None or self._notes():  # else it was on its way when everything was taken back
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
