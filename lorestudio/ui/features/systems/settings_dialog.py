"""The settings of a system in a dialog, made from their declarations: a list with a search, and one to change."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from lorestudio.settings.declaration import Section, Value, declared
from lorestudio.settings.deeplore import same
from lorestudio.ui.features.settings.editor import SettingEditor
from lorestudio.ui.features.settings.tree import SettingsTree, SettingsView
from lorestudio.ui.features.settings.trial import Trial
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import answers, button, column, label, resize_for_letters, row, split

OUTCOME_LINES = 4


class SystemSettingsDialog(Dialog):
    """Changes a copy of the settings. `accepted_settings` carries it once the person wants it."""

    accepted_settings = Signal(object)  # Section

    def __init__(
        self,
        theme: Theme,
        title: str,
        intro: str,
        settings: Section,
        parent: QWidget,
        *,
        trial: Trial | None = None,
        brief: bool = False,
    ) -> None:
        """With a `trial`, what the settings would do to the open reply is shown while they are moved.

        With `brief`, settings that few people need have to be asked for.
        """
        super().__init__(parent, title)
        self._before = self.settings = settings
        """The settings as they are set here."""
        self._known = {each.name: each for each in declared(type(settings))}
        self.trial = trial
        self.view = SettingsView(
            theme, SettingsTree(theme, settings, tuple(self._known.values()), self), self, opened=True, brief=brief
        )
        hint = tr("Choose a setting in the list to read what it does and to change it.")
        self.editor = SettingEditor(theme, self, hint)
        self.outcome = self._make_outcome()
        """What the settings as they stand here would do to the open reply."""
        self.defaults = button(self, tr("All defaults"), self.set_defaults)
        self._told = label(self, kind="small", wrap=False)
        self.apply = QPushButton(tr("Apply and replay") if trial is not None else tr("Keep"), self, autoDefault=False)
        self._row = row(self.defaults, (self._told, 1), answers(self, self.apply))
        parts = split(self.view, self.editor, across=True, sizes=(480, 420))
        column(label(self, intro), (parts, 1), self.outcome, self._row, of=self)
        self.view.chosen.connect(lambda _setting: self._show_chosen())
        self.view.entered.connect(self.editor.focus_field)
        self.editor.moved.connect(lambda declaration, value: self.set_value(declaration.name, value))
        self.editor.kept.connect(self.view.tree.setFocus)
        self.editor.left.connect(self.reject)
        self.editor.stage_wanted.connect(self.view.show_stage)
        self.view.show_setting(next(iter(self._known)))
        self._tell()
        self._show_trial()
        resize_for_letters(self, 900, 620 if trial is not None else 560)

    def _make_outcome(self) -> QLabel:
        outcome = label(self)
        outcome.setMinimumHeight(OUTCOME_LINES * outcome.fontMetrics().lineSpacing())
        outcome.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        outcome.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        trial = self.trial
        outcome.setVisible(trial is not None)
        if trial is not None:
            trial.setParent(self)
            trial.changed.connect(self._show_trial)
            self.finished.connect(lambda _result: trial.end())
        return outcome

    # ---- what can be done -------------------------------------------------------------------------------------------

    def set_value(self, name: str, value: Value) -> None:
        """Change one setting."""
        self._change(self.settings.model_copy(update={name: value}))

    def choose(self, name: str) -> None:
        """Show one setting."""
        self.view.search.clear()
        self.view.show_setting(name)

    def set_defaults(self) -> None:
        """Put every setting back to its default."""
        self._change(self.settings.model_copy(update={name: each.default for name, each in self._known.items()}))

    def add_door(self, text: str, opened: Callable[[], None]) -> None:
        """A button for what has a dialog of its own."""
        self._row.insertWidget(1, button(self, text, opened))

    def accept(self) -> None:
        """Qt: hand the settings over and close."""
        self.accepted_settings.emit(self.settings)
        super().accept()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _change(self, settings: Section) -> None:
        self.settings = settings
        self.view.model.set_settings(settings)
        self.view.refill()
        self._show_chosen()
        self._tell()

    def _show_chosen(self) -> None:
        chosen = self.view.model.setting(self.view.tree.currentIndex())
        if chosen is None:
            self.editor.say_nothing()
        else:
            self.editor.show_setting(chosen, self.view.model.value(chosen))

    def _show_trial(self) -> None:
        """Say what the settings as they stand here would do, greyed where it is of those before."""
        trial = self.trial
        if trial is not None:
            hint = tr("Move a setting to see what it would do to the reply that you look at.")
            text = trial.words if trial.pending else hint
            self.outcome.setText(text)
            self.outcome.setAccessibleName(text)
            self.outcome.setEnabled(trial.pending and (trial.diff is None or trial.is_current))

    def _tell(self) -> None:
        if self.trial is not None:
            if self.settings == self._before:
                self.trial.end()
            else:
                self.trial.try_settings(self.settings)
        changed = sum(not same(getattr(self.settings, name), each.default) for name, each in self._known.items())
        self._told.setText(
            count(changed, "setting differs from its default", "settings differ from their defaults")
            if changed
            else tr("Every setting has its default.")
        )
        self.defaults.setEnabled(bool(changed))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Ctrl+Enter takes the settings; Enter alone stays in the list."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.accept()
            return
        super().keyPressEvent(event)
