"""The settings, generated from their declarations: found by words, in sections or by stage, tried out before kept."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from lorestudio.domain.chat import Generation
from lorestudio.settings.declaration import Declaration
from lorestudio.settings.deeplore import DeepLoreSettings, declarations
from lorestudio.studio.project.settings import setting_warnings
from lorestudio.ui.features.settings.editor import SettingEditor, SettingsTree, SettingsView
from lorestudio.ui.features.settings.trial import SettingTrial
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr
from lorestudio.ui.state.drafts import LivePreview
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.layouts import named, split, tight
from lorestudio.ui.widgets.pane import MessageBar, Pane


class SettingsPane(Pane):
    """The list of settings above the one that is chosen. Nothing here knows a single setting."""

    def __init__(
        self, theme: Theme, session: Session, selection: Selection, live: LivePreview, parent: QWidget | None = None
    ) -> None:
        super().__init__("settings", tr("Settings"), theme, parent)
        self._session, self._selection = session, selection
        self.trial = SettingTrial(session, selection, live, self)
        settings = session.project.settings if session.project is not None else DeepLoreSettings()
        self.model = SettingsTree(theme, settings, declarations(), self)
        self.view = SettingsView(theme, self.model, self)
        self.search_field = self.view.search
        self._origin = ""
        self.profile_button = named(QToolButton(self), "", kind="text")
        """Opens the menu of profiles, exports and imports; the window fills it."""
        self.profile_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.view.choices.insertWidget(self.view.choices.count() - 1, self.profile_button)
        self.elsewhere = MessageBar(theme, self, stacked=True)
        self._system = ""
        """The system of which `elsewhere` speaks."""
        self.warned = MessageBar(theme, self, stacked=True)
        self.editor = SettingEditor(theme, self)
        self._dismissed: frozenset[str] = frozenset()
        self._behind = False
        # The tree may be short, a field and what it does have to be seen together.
        content = QWidget(self)
        self.column.addWidget(self.or_empty("switches", content), 1)
        parts = split(self.view, self.editor, of=content, sizes=(150, 190))
        self.view.setMinimumHeight(110)
        self.editor.setMinimumHeight(130)
        tight(self.elsewhere, self.warned, (parts, 1), of=content)
        self.empty.say(tr("No settings"), tr("Open a vault first; its settings are shown and tried out here."))
        self._connect()
        self.show_settings()
        self._say_elsewhere()

    def _connect(self) -> None:
        session = self._session
        self.view.chosen.connect(self._choose)
        self.view.entered.connect(self.editor.focus_field)
        self.editor.moved.connect(self.trial.move)
        self.editor.kept.connect(self.trial.keep)
        self.editor.given_up.connect(self.trial.end)
        self.editor.left.connect(self.view.tree.setFocus)
        self.editor.stage_wanted.connect(self.view.show_stage)
        self.trial.changed.connect(self._show_trial)
        self.warned.closed.connect(self._dismiss)
        self.elsewhere.pressed.connect(self.wanted)
        session.choice_changed.connect(self._say_elsewhere)
        session.project_changed.connect(self.show_settings)
        session.traces_changed.connect(self._traces_changed)
        self._selection.generation_changed.connect(self.show_settings)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_changed)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def focus_target(self) -> QWidget:
        """The search line, for whoever comes here with a word in mind."""
        return self if self._session.project is None else self.view.search

    def set_origin(self, text: str, tip: str) -> None:
        """Say where the settings came from: in the title, and whole to whoever points at the profiles."""
        self._origin = text
        self.profile_button.setToolTip("\n".join(filter(None, (text, tip))))
        self._say_origin()

    def _say_origin(self) -> None:
        changed = self.model.changed if self._session.project is not None else 0
        amount = tr("{amount} not default", amount=changed) if changed else ""
        self.note_changed.emit(" · ".join(filter(None, (self._origin, amount))))

    def _say_elsewhere(self) -> None:
        """Say that another system decides, and lead to its settings."""
        choice = self._session.choice
        if choice.system == self._system:
            return  # it may have been dismissed
        self._system = choice.system
        if choice.is_main:
            self.elsewhere.hide()
        else:
            way = ("system.settings", tr("Settings of {system}…", system=choice.title))
            self.elsewhere.say(tr(SettingTrial.elsewhere, system=choice.title), buttons=(way,))

    def show_settings(self) -> None:
        """Show the settings of the project, with what speaks against them."""
        project = self._session.project
        self.pages.setCurrentIndex(0 if project is not None else 1)
        if project is None:
            self.note_changed.emit("")
            return
        if not self.isVisible():
            self._behind = True
            return
        self._behind = False
        trace = self._session.runs.traces.get(self._selection.generation) if self._selection.generation else None
        self.model.set_settings(
            project.settings,
            setting_warnings(project.settings, project.index, project.problems, trace, exact=project.counter.exact),
        )
        self.view.refill()
        self._say_origin()
        shown = [text for text in self.model.general_warnings if text not in self._dismissed]
        if shown:
            self.warned.say("\n".join(shown), "warning")
        else:
            self.warned.hide()
        self._show_trial()

    def _choose(self, setting: object) -> None:
        change = self.trial.change
        if change is not None and not (isinstance(setting, Declaration) and setting.name == change.declaration.name):
            self.trial.keep()
        self._show_trial()

    def _show_trial(self) -> None:
        """Show the chosen setting, and what a value that is tried out would do."""
        trial, change = self.trial, self.trial.change
        tried = change.declaration if change is not None else None
        setting = self.model.setting(self.view.tree.currentIndex()) or tried
        self.model.try_value(tried, change.after if change else 0)
        if setting is None:
            self.editor.hide()
            return
        if not self.editor.isVisibleTo(self):
            self.editor.show()
            self.view.tree.scrollTo(self.view.tree.currentIndex())
        enabled = not trial.reading
        self.editor.show_setting(setting, self.model.value(setting), self.model.warnings(setting), enabled=enabled)
        if trial.reading:
            self.editor.show_result(tr("The vault is being read with these settings…"), pending=False)
        elif change is None:
            self.editor.show_result("", pending=False)
        else:
            tone = "error" if trial.failure else "good" if trial.diff and trial.is_current else "neutral"
            current = trial.diff is None or trial.is_current
            self.editor.show_result(trial.words, pending=True, tone=tone, current=current)

    def _dismiss(self) -> None:
        self._dismissed |= set(self.model.general_warnings)

    def _traces_changed(self, generations: Collection[Generation] | None) -> None:
        if generations is None or self._selection.generation in generations:
            self.show_settings()

    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        """Leaving the field keeps the value; another program's window is no leaving."""
        if self.trial.pending and new is not None and self.editor.holds(old) and not self.editor.holds(new):
            self.trial.keep()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: what happened while nobody looked."""
        super().showEvent(event)
        if self._behind:
            self.show_settings()
