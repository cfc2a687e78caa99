"""How the chat is run: the system, its mode, who answers where a model decides, and the doors to what can be set."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from lorestudio.settings.sections import dump_section
from lorestudio.studio.project.answering import AnswerKind, Profile, Source
from lorestudio.studio.project.modes import Mode
from lorestudio.systems.registry import KINDS
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, shorten, tr
from lorestudio.ui.state.choices import (
    RunChoice,
    mode_caption,
    mode_help,
    source_help,
    source_title,
    system_help,
    system_title,
)

LEAST_WIDTH = 190
"""So wide the bar is at least, with icons alone (device-independent pixels)."""

LONGEST_NAME = 27
"""Characters of an answer source that its button shows."""


class ModeBar(QWidget):
    """Shows a `RunChoice`; a choice is told by signals. `wanted` carries the id of an action.

    Mode, answers and switches are DeepLore's own, so they are hidden while another system is chosen.
    """

    system_chosen = Signal(str)
    mode_chosen = Signal(object)  # Mode
    source_chosen = Signal(object)  # Source
    wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._choice = RunChoice()
        self._profiles: tuple[Profile, ...] = ()
        row = QHBoxLayout(self)
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)  # see resizeEvent
        row.setContentsMargins(8, 0, 8, 4)
        row.setSpacing(4)
        self.system = self._button()
        self.mode = self._button()
        self.source = self._button()
        self._sources = QActionGroup(self)  # one for all fillings of the menu
        self.switches = QToolButton(self)
        self.switches.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.switches.clicked.connect(lambda: self.wanted.emit(self._door))
        row.addWidget(self.system)
        row.addWidget(self.mode)
        row.addWidget(self.source)
        row.addStretch(1)
        row.addWidget(self.switches)
        self._fill_systems()
        self._fill_modes()
        theme.changed.connect(self._paint)
        self.show_choice(self._choice, ())

    def show_choice(self, choice: RunChoice, profiles: Sequence[Profile]) -> None:
        """Show what is chosen; `profiles` can be chosen too."""
        self._choice, self._profiles = choice, tuple(profiles)
        system = system_title(choice.system)
        self.system.setText(shorten(system, LONGEST_NAME))
        self.system.setAccessibleName(tr("System: {system}", system=system))
        self.system.setToolTip(tr("System: {system}. {help}", system=system, help=system_help(choice.system)))
        for action in self.system.menu().actions():
            action.setChecked(action.data() == choice.system)
        for button in (self.mode, self.source):
            button.setVisible(choice.is_main)
        self.mode.setText(mode_caption(choice.mode))
        self.mode.setAccessibleName(tr("Mode: {mode}", mode=mode_caption(choice.mode)))
        self.mode.setToolTip(tr("Mode. {help}", help=mode_help(choice.mode)))
        for action in self.mode.menu().actions():
            action.setChecked(action.data() == choice.mode.value)
        title = source_title(choice.source)
        self.source.setText(shorten(title, LONGEST_NAME))
        self.source.setAccessibleName(tr("Answers: {source}", source=title))
        idle = "" if choice.asks_model else " " + tr("Nobody is asked in keywords-only mode.")
        self.source.setToolTip(tr("Answers: {source}. {help}", source=title, help=source_help(choice.source)) + idle)
        self._show_door(choice)
        self._fill_sources()
        self._paint()
        self._fit()

    # ---- room -------------------------------------------------------------------------------------------------------

    def minimumSizeHint(self) -> QSize:
        """Qt: room for the icons alone."""
        return QSize(LEAST_WIDTH, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: where there is no room for words, the buttons have their icon alone, and their words as tool tips."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        styles = Qt.ToolButtonStyle
        buttons = [button for button in (self.system, self.mode, self.source) if not button.isHidden()]
        for button in buttons:
            button.setToolButtonStyle(styles.ToolButtonTextBesideIcon)
        room = self.width() - self.switches.sizeHint().width() - 32
        for button in reversed(buttons):
            if sum(each.sizeHint().width() + 4 for each in buttons) <= room:
                break
            button.setToolButtonStyle(styles.ToolButtonIconOnly)

    @property
    def _door(self) -> str:
        return "behaviour.edit" if self._choice.is_main else "system.settings"

    def _show_door(self, choice: RunChoice) -> None:
        """The button at the end: DeepLore's switches, or the settings of another system."""
        if choice.is_main:
            self.switches.setText(str(len(choice.fixed)) if choice.fixed else "")
            fixed = (
                count(len(choice.fixed), "switch fixed", "switches fixed") if choice.fixed else tr("all as DeepLore")
            )
            self.switches.setAccessibleName(tr("Behaviour switches: {fixed}", fixed=fixed))
        else:
            changed = len(dump_section(choice.settings)) if choice.settings is not None else 0
            self.switches.setText(tr("Settings ({changed} changed)", changed=changed) if changed else tr("Settings"))
            name = tr("Settings of {system}", system=system_title(choice.system))
            self.switches.setAccessibleName(name)
        self.switches.setToolTip(self.switches.accessibleName())

    def _button(self) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("kind", "text")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        menu.setToolTipsVisible(True)
        button.setMenu(menu)
        return button

    def _fill_systems(self) -> None:
        menu = self.system.menu()
        group = QActionGroup(menu)
        for system in KINDS:
            action = menu.addAction(system_title(system))
            action.setCheckable(True)
            action.setData(system)
            action.setToolTip(system_help(system))
            action.triggered.connect(partial(self._choose_system, system))
            group.addAction(action)
        menu.addSeparator()
        menu.addAction(tr("Settings of the system…")).triggered.connect(lambda: self.wanted.emit("system.settings"))
        menu.addAction(tr("Lorebooks of World Info…")).triggered.connect(lambda: self.wanted.emit("worldinfo.books"))
        menu.addAction(tr("Compare systems…")).triggered.connect(lambda: self.wanted.emit("systems.compare"))

    def _fill_modes(self) -> None:
        menu = self.mode.menu()
        group = QActionGroup(menu)
        for mode in Mode:
            action = menu.addAction(mode_caption(mode))
            action.setCheckable(True)
            action.setData(mode.value)
            action.setToolTip(mode_help(mode))
            action.triggered.connect(partial(self._choose_mode, mode))
            group.addAction(action)

    def _fill_sources(self) -> None:
        menu = self.source.menu()
        for action in self._sources.actions():
            self._sources.removeAction(action)
        menu.clear()
        kinds = AnswerKind
        known = [Source(kinds.STAND_IN), Source(kinds.RECORDED)]
        known += [Source(kinds.PROVIDER, profile.name) for profile in self._profiles]
        if self._choice.source.kind is kinds.PROVIDER and self._choice.source not in known:
            known.append(self._choice.source)
        for source in [*known, Source(kinds.TYPED)]:
            action = menu.addAction(source_title(source))
            action.setCheckable(True)
            action.setChecked(source == self._choice.source)
            action.setToolTip(source_help(source))
            action.triggered.connect(partial(self._choose_source, source))
            self._sources.addAction(action)
        menu.addSeparator()
        menu.addAction(tr("Provider profiles…")).triggered.connect(lambda: self.wanted.emit("profiles.edit"))
        menu.addAction(tr("Replay, asking everything again…")).triggered.connect(
            lambda: self.wanted.emit("replay.fresh")
        )

    def _choose_system(self, system: str, _checked: bool = False) -> None:
        self.system_chosen.emit(system)

    def _choose_mode(self, mode: Mode, _checked: bool = False) -> None:
        self.mode_chosen.emit(mode)

    def _choose_source(self, source: Source, _checked: bool = False) -> None:
        self.source_chosen.emit(source)

    def _paint(self) -> None:
        kinds = AnswerKind
        icons = {kinds.STAND_IN: "dash", kinds.RECORDED: "save", kinds.PROVIDER: "server", kinds.TYPED: "pencil"}
        self.system.setIcon(self._theme.icon("tree"))
        self.mode.setIcon(self._theme.icon("ai" if self._choice.asks_model else "search"))
        self.source.setIcon(self._theme.icon(icons[self._choice.source.kind]))
        self.switches.setIcon(self._theme.icon("switches", "accent" if self._choice.fixed else "text_muted"))
