"""Settings of a system beside DeepLore that are being tried out on the open reply while their dialog is open."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from lorestudio.settings.declaration import Section
from lorestudio.settings.differences import section_differences
from lorestudio.studio.preview import Preview
from lorestudio.trace.diff import TraceDiff, compare
from lorestudio.ui.editor.live_preview import LivePreview
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session
from lorestudio.ui.setting_trial import obstacle
from lorestudio.ui.words import sentence_of, tr


class SystemTrial(QObject):
    """Runs the open reply with other settings of the chosen system, the newest only.

    `changed` follows every step: other settings, a result, the end. Nothing is set or written.
    """

    changed = Signal()

    def __init__(
        self, session: Session, selection: Selection, live: LivePreview, system: str, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._selection, self._live, self._system = session, selection, live, system
        self.tried: Section | None = None
        self.diff: TraceDiff | None = None
        self.is_current = False
        """Whether `diff` is of the settings of now, not of those before them."""
        self.remarks: tuple[str, ...] = ()
        self.failure = ""
        live.previewed.connect(self._previewed)
        live.failed.connect(self._failed)
        session.state_changed.connect(self._settled)

    @property
    def waiting(self) -> str:
        """Why there is no result, "" where there is one."""
        session = self._session
        if self.diff is not None or self.failure:
            return self.failure
        if session.choice.system != self._system:
            text = tr("The chat runs with {system}, so these settings are not tried out on it.")
            return text.format(system=session.choice.title)
        return obstacle(session, self._selection.generation) or tr("Trying it out…")

    def try_settings(self, settings: Section) -> None:
        """Try these from now on; those that the system has already end the trial."""
        if settings == self._known:
            self.end()
            return
        self.tried = settings
        self.failure, self.is_current = "", False
        if self._session.choice.system == self._system:
            self._live.try_settings(settings)
        self.changed.emit()

    def end(self) -> None:
        """Give up what is tried out."""
        if self.tried is not None:
            self.tried, self.diff, self.remarks, self.failure = None, None, (), ""
            self._live.try_settings(None)
            self.changed.emit()

    @property
    def _known(self) -> Section | None:
        return self._session.choices.with_settings(self._session.choice).settings

    def _previewed(self, preview: object) -> None:
        known = self._known
        if self.tried is None or known is None:
            return
        if preview is None:
            self.diff, self.remarks = None, ()
        elif isinstance(preview, Preview):
            if type(known) is not type(self.tried) or preview.settings != section_differences(known, self.tried):
                return  # it is of the settings before these
            self.diff, self.remarks, self.failure = compare(preview.before, preview.trace), preview.remarks, ""
            self.is_current = True
        self.changed.emit()

    def _failed(self, error: object) -> None:
        if self.tried is not None and isinstance(error, Exception):
            self.diff, self.failure = None, sentence_of(error)
            self.changed.emit()

    def _settled(self) -> None:
        """Something has begun or ended: what could not be tried out may be so now."""
        if self.tried is not None and self.diff is None and not self.failure:
            self._live.run()
            self.changed.emit()
