"""Settings that are being tried out: moved, looked at on the open reply, then kept or taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QObject, Signal

from lorestudio.settings.declaration import Declaration, Section, Value
from lorestudio.settings.deeplore import same, setting_value
from lorestudio.settings.sections import SettingChange, differences, value_text
from lorestudio.studio.tryout.preview import Preview
from lorestudio.systems.registry import MAIN
from lorestudio.trace.diff import EntryChange, TraceDiff, compare
from lorestudio.trace.text import turn_words
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.ui.state.choices import system_title
from lorestudio.ui.state.drafts import LivePreview
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session

MOST_NAMES: Final = 6


def diff_lines(diff: TraceDiff) -> list[str]:
    """The tokens first, then who enters, leaves, moves, and takes more or less room."""
    before, after = diff.tokens
    tokens = count(after, "token", "tokens")
    if not diff and diff.before.prompt != diff.after.prompt:
        return [
            tr("The same entries go in, {tokens}, but the text around them or their place is another.", tokens=tokens)
        ]
    if not diff:
        return [tr("No difference: the same entries go in, {tokens}.", tokens=tokens)]
    same = tr("{tokens} in the prompt, as before", tokens=tokens)
    moved = tr("{before} → {after} in the prompt", before=number(before), after=tokens)
    lines = [moved if before != after else same]
    for words, changes in (
        ("+ Enters: {titles}", diff.entered),
        ("− Leaves: {titles}", diff.left),
        ("↕ Moves: {titles}", diff.moved),
        ("~ Another length: {titles}", diff.resized),
        ("~ Another text: {titles}", diff.rewritten),
    ):
        if changes:
            lines.append(tr(words, titles=titles(changes)))
    return lines


def titles(changes: Sequence[EntryChange]) -> str:
    """The first titles, and how many more there are."""
    shown = ", ".join(change.title for change in changes[:MOST_NAMES])
    more = len(changes) - MOST_NAMES
    return tr("{titles} and {more}", titles=shown, more=count(more, "other", "others")) if more > 0 else shown


class Trial(QObject):
    """Runs the open reply with other settings of a system, off the GUI thread and the newest only.

    `changed` follows every step: other settings, a result, the end. Nothing is set or written.
    """

    changed = Signal()
    elsewhere = "The chat runs with {system}, so these settings are not tried out on it."
    """Why there is no result where another system is chosen."""

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
        live.whole.changed.connect(self._whole_changed)
        session.state_changed.connect(self._settled)

    @property
    def known(self) -> Section | None:
        """The settings that the chosen system has."""
        return self._session.choices.with_settings(self._session.choice).settings

    @property
    def pending(self) -> bool:
        """Whether something is tried out that is neither kept nor taken back."""
        return self.tried is not None

    @property
    def words(self) -> str:
        """What it would do to the open reply and to the whole chat, then to whom; why that is not known yet.

        A low pane shows the beginning.
        """
        here, more = self.waiting, list[str]()
        if self.diff is not None:
            first, *more = diff_lines(self.diff)
            here = tr("{reply}: {told}", reply=turn_words(self.diff.after.turn), told=first)
        return "\n".join(filter(None, (here, self._live.whole.words, *self.remarks, *more)))

    @property
    def waiting(self) -> str:
        """Why there is no result, "" where there is one."""
        session, generation = self._session, self._selection.generation
        if self.diff is not None or self.failure:
            return self.failure
        if session.choice.system != self._system:
            return tr(self.elsewhere, system=system_title(session.choice.system))
        if generation is None:
            return tr("Choose a reply in the chat to see what this would do to it.")
        if session.runs.replaying:
            return tr("The chat is being replayed; what this would do is shown when that is done.")
        if session.runs.previewer(generation) is None:
            return tr("This reply has not been run, so nothing can be tried out on it.")
        return tr("Trying it out…")

    def try_settings(self, settings: Section) -> None:
        """Try these from now on; those that the system has already end the trial."""
        if settings == self.known:
            self.end()
            return
        self.tried = settings
        self.failure, self.is_current = "", False
        self._live.try_settings(settings)
        self.changed.emit()

    def end(self) -> None:
        """Give up what is tried out."""
        if self.tried is not None:
            self.tried, self.diff, self.remarks, self.failure = None, None, (), ""
            self._live.try_settings(None)
            self.changed.emit()

    def _is_of(self, preview: Preview) -> bool:
        """Whether a preview is of the settings of now."""
        known, tried = self.known, self.tried
        if known is None or tried is None or type(known) is not type(tried):
            return False
        return preview.settings == differences(known, tried)

    def _previewed(self, preview: object) -> None:
        if self.tried is None:
            return
        if isinstance(preview, Preview):
            if not self._is_of(preview):
                return
            self.diff, self.remarks, self.failure = compare(preview.before, preview.trace), preview.remarks, ""
            self.is_current = True
        else:
            self.diff, self.remarks = None, ()
        self.changed.emit()

    def _whole_changed(self) -> None:
        if self.tried is not None:
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


class SettingTrial(Trial):
    """Moves one setting of the main system at a time; nothing of the project changes before `keep`."""

    elsewhere = "These are DeepLore's settings; the chat runs with {system}."

    def __init__(
        self, session: Session, selection: Selection, live: LivePreview, parent: QObject | None = None
    ) -> None:
        super().__init__(session, selection, live, MAIN.name, parent)
        self._base: Section | None = None
        self.change: SettingChange | None = None
        self.reading = False
        """Whether the vault is being read with the settings kept last; until then nothing else can be moved."""
        session.project_changed.connect(self._project_changed)

    @property
    def known(self) -> Section | None:
        """The settings of the project."""
        return self._session.project.settings if self._session.project is not None else None

    def move(self, declaration: Declaration, value: Value) -> None:
        """Try a value; one that the setting has already ends the trial."""
        project = self._session.project
        if project is None or self.reading:
            return
        before = setting_value(project.settings, declaration)
        if same(before, value):
            self.end()
            return
        self._base = project.settings
        self.change = SettingChange(declaration, before, value)
        self.try_settings(project.settings.model_copy(update={declaration.name: value}))

    def keep(self) -> None:
        """Apply the value as one step, and have the chat replayed."""
        change, project = self.change, self._session.project
        if change is None or project is None:
            return
        declaration = change.declaration
        settings = project.settings.model_copy(update={declaration.name: change.after})
        self.reading = not project.reads_alike(settings)
        self.end()
        title = f"{tr(declaration.title)}: {value_text(declaration, change.after)}"
        self._session.parts.adjust(title, settings=settings)

    def end(self) -> None:
        """Give the value up."""
        self.change, self._base = None, None
        super().end()

    def _is_of(self, preview: Preview) -> bool:
        return self.change in preview.settings

    def _settled(self) -> None:
        if self.reading:
            self.reading = False
            self.changed.emit()
        super()._settled()

    def _project_changed(self) -> None:
        self.reading = False
        if self.change is not None and self.known != self._base:
            self.end()
