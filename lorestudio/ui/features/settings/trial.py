"""Settings of a system beside DeepLore that are being tried out on the open reply while their dialog is open.

One setting that is being tried out: moved, looked at on the open reply, then kept or taken back.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Generation
from lorestudio.settings.declaration import Declaration, Section, Value
from lorestudio.settings.deeplore import DeepLoreSettings, same, setting_value
from lorestudio.settings.differences import SettingChange, section_differences, value_text
from lorestudio.studio.tryout.preview import Preview
from lorestudio.trace.diff import TraceDiff, compare
from lorestudio.ui.shell.words import sentence_of, tr
from lorestudio.ui.state.drafts import LivePreview
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session


def obstacle(session: Session, generation: Generation | None) -> str:
    """Why nothing can be tried out on a reply, "" where it can."""
    if generation is None:
        return tr("Choose a reply in the chat to see what this would do to it.")
    if session.runs.replaying:
        return tr("The chat is being replayed; what this would do is shown when that is done.")
    if session.runs.previewer(generation) is None:
        return tr("This reply has not been run, so nothing can be tried out on it.")
    return ""


class SettingTrial(QObject):
    """Moves one setting at a time. `changed` follows every step: a move, a result, the end.

    The reply runs again off the GUI thread, the newest value only; nothing of the project changes before `keep`.
    """

    changed = Signal()

    def __init__(
        self, session: Session, selection: Selection, live: LivePreview, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._selection, self._live = session, selection, live
        self._base: DeepLoreSettings | None = None
        self.change: SettingChange | None = None
        self.diff: TraceDiff | None = None
        self.is_current = False
        """Whether `diff` is of the value of now, not of the one before it."""
        self.remarks: tuple[str, ...] = ()
        self.failure = ""
        self.reading = False
        """Whether the vault is being read with the settings kept last; until then nothing else can be moved."""
        live.previewed.connect(self._previewed)
        live.failed.connect(self._failed)
        session.project_changed.connect(self._project_changed)
        session.state_changed.connect(self._settled)

    @property
    def pending(self) -> bool:
        """Whether a value is tried out that is neither kept nor taken back."""
        return self.change is not None

    @property
    def waiting(self) -> str:
        """Why there is no result yet, "" where there is one."""
        session, generation = self._session, self._selection.generation
        if self.diff is not None or self.failure:
            return self.failure
        if generation is not None and not session.choice.is_main:
            text = tr("These are DeepLore's settings; the chat runs with {system}.")
            return text.format(system=session.choice.title)
        return obstacle(session, generation) or tr("Trying it out…")

    def move(self, declaration: Declaration, value: Value) -> None:
        """Try a value; one that the setting has already ends the trial."""
        project = self._session.project
        if project is None or self.reading:
            return
        before = setting_value(project.settings, declaration)
        if same(before, value):
            self.back()
            return
        if self.change is not None and self.change.declaration.name != declaration.name:
            self.keep()
            self.move(declaration, value)
            return
        self._base = project.settings
        self.change = SettingChange(declaration, before, value)
        self.failure, self.is_current = "", False
        self._live.try_settings(project.settings.model_copy(update={declaration.name: value}))
        self.changed.emit()

    def keep(self) -> None:
        """Apply the value as one step, and have the chat replayed."""
        change, project = self.change, self._session.project
        if change is None or project is None:
            return
        declaration = change.declaration
        settings = project.settings.model_copy(update={declaration.name: change.after})
        self.reading = not project.reads_alike(settings)
        self._end()
        title = f"{tr(declaration.title)}: {value_text(declaration, change.after)}"
        self._session.parts.adjust(title, settings=settings)

    def back(self) -> None:
        """Give the value up."""
        if self.change is not None:
            self._end()

    def _end(self) -> None:
        self.change, self.diff, self.remarks, self.failure, self._base = None, None, (), "", None
        self._live.try_settings(None)
        self.changed.emit()

    def _previewed(self, preview: object) -> None:
        if self.change is None:
            return
        if isinstance(preview, Preview) and self.change in preview.settings:
            self.diff, self.remarks, self.failure = compare(preview.before, preview.trace), preview.remarks, ""
            self.is_current = True
        elif preview is None:
            self.diff, self.remarks = None, ()
        self.changed.emit()

    def _failed(self, error: object) -> None:
        if self.change is not None and isinstance(error, Exception):
            self.diff, self.failure = None, sentence_of(error)
            self.changed.emit()

    def _settled(self) -> None:
        """Something has begun or ended: what could not be tried out may be so now."""
        if self.reading:
            self.reading = False
            self.changed.emit()
        if self.change is not None and self.diff is None:
            self._live.run()
            self.changed.emit()

    def _project_changed(self) -> None:
        self.reading = False
        project = self._session.project
        if self.change is not None and (project is None or project.settings != self._base):
            self._end()


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
