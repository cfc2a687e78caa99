"""All about the chosen setting, with its field: help, range, default, stages, warnings, and a trial's result.

What differs between two runs of a reply, in short lines. Qt is not needed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from lorestudio.settings.declaration import Declaration, Value
from lorestudio.settings.deeplore import same
from lorestudio.settings.differences import value_text
from lorestudio.studio.project.settings import SettingWarning
from lorestudio.trace.diff import EntryChange, TraceDiff
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.setting_fields import SettingField, make_field

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
    lines = [
        tr("{before} → {after} in the prompt", before=number(before), after=tokens)
        if before != after
        else tr("{tokens} in the prompt, as before", tokens=tokens)
    ]
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


class SettingEditor(QWidget):
    """Shows one setting at a time. `moved` carries a declaration and a value; `kept` and `given_up` end a trial.

    `stage_wanted` carries a stage that somebody wants to see the settings of, `left` follows Escape without a trial.
    """

    moved = Signal(object, object)
    kept = Signal()
    given_up = Signal()
    stage_wanted = Signal(str)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.declaration: Declaration | None = None
        self.field: SettingField | None = None
        self._trial = False
        self._build()
        self.say_nothing()

    def _build(self) -> None:
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page = QWidget(self._area)
        page.setObjectName("FormPage")
        column = QVBoxLayout(page)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(6)
        head = QHBoxLayout()
        head.setSpacing(8)
        self.title, self.key, self.help, self.range, self.stages, self.against = (QLabel(page) for _ in range(6))
        self.title.setProperty("kind", "title")
        self.key.setProperty("kind", "small")
        self.key.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.range.setProperty("kind", "small")
        self.stages.setProperty("kind", "small")
        self.against.setObjectName("FormProblems")
        self.stages.setTextFormat(Qt.TextFormat.RichText)
        self.stages.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.stages.linkActivated.connect(self.stage_wanted)
        for label in (self.title, self.help, self.range, self.stages, self.against):
            label.setWordWrap(True)
        head.addWidget(self.title, 1)
        head.addWidget(self.key, 0, Qt.AlignmentFlag.AlignBaseline)
        column.addLayout(head)
        self._place = QVBoxLayout()
        column.addLayout(self._place)
        line = QHBoxLayout()
        line.setSpacing(8)
        self.reset = QPushButton(tr("Reset"), page)
        self.reset.setProperty("kind", "small")
        self.reset.clicked.connect(self._reset)
        line.addWidget(self.range, 1)
        line.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(line)
        column.addWidget(self.help)
        column.addWidget(self.against)
        column.addWidget(self.stages)
        column.addStretch(1)
        self._area.setWidget(page)
        whole.addWidget(self._area, 1)
        whole.addWidget(self._make_bar())

    def _make_bar(self) -> QWidget:
        self.bar = QFrame(self)
        self.bar.setObjectName("Bar")
        self.bar.setProperty("tone", "neutral")
        row = QHBoxLayout(self.bar)
        row.setContentsMargins(10, 6, 8, 6)
        row.setSpacing(8)
        self.result = QLabel(self.bar)
        self.result.setWordWrap(True)
        self.result.setTextFormat(Qt.TextFormat.PlainText)
        self.result.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.result.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.keep = QPushButton(tr("Keep"), self.bar)
        self.keep.setProperty("kind", "primary")
        self.keep.setToolTip(
            tr("Take the value and replay the chat; it can be undone (Enter, or by leaving the field)")
        )
        self.keep.clicked.connect(self.kept)
        self.back = QPushButton(tr("Back"), self.bar)
        self.back.setToolTip(tr("Give the value up (Esc)"))
        self.back.clicked.connect(self.given_up)
        row.addWidget(self.result, 1)
        for button in (self.keep, self.back):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return self.bar

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def say_nothing(self) -> None:
        """No setting is chosen."""
        self.declaration = None
        self._drop_field()
        self.title.setText(tr("No setting chosen"))
        self.help.setText(tr("Choose one above. Moving it shows at once what it would do to the reply you look at."))
        self.key.clear()
        for label in (self.range, self.stages, self.against, self.reset):
            label.hide()
        self.show_result("", pending=False)

    def show_setting(
        self, declaration: Declaration, value: Value, warnings: Sequence[SettingWarning] = (), *, enabled: bool = True
    ) -> None:
        """Show a setting with its value. The same setting keeps its field, and with it keyboard and cursor."""
        if self.declaration is None or self.declaration.name != declaration.name or self.field is None:
            self._drop_field()
            self.declaration = declaration
            self.field = make_field(declaration, self)
            self.field.moved.connect(self._moved)
            self.field.accepted.connect(self.kept)
            self._place.addWidget(self.field)
            self.title.setText(tr(declaration.title))
            self.key.setText(declaration.alias)
            self.key.setToolTip(tr("What DeepLore calls it: {key}", key=declaration.alias))
            self.help.setText(tr(declaration.help))
            self.stages.setText(_stages(declaration))
            self.setAccessibleName(tr(declaration.label))
            self._area.verticalScrollBar().setValue(0)
        self.field.set_value(value)
        self.field.setEnabled(enabled)
        default = value_text(declaration, declaration.default)
        self.range.setText(_range(declaration) + tr("default {default}", default=default))
        changed = not same(value, declaration.default)
        self.reset.setVisible(changed)
        self.reset.setAccessibleName(tr("Reset {setting} to {default}", setting=tr(declaration.title), default=default))
        self.reset.setToolTip(tr("Put it back to {default}", default=default))
        self.against.setText("\n".join(" ".join(filter(None, (one.text, one.advice))) for one in warnings))
        self.against.setVisible(bool(warnings))
        self.range.show()
        self.stages.show()

    def show_result(self, text: str, *, pending: bool, tone: str = "neutral", current: bool = True) -> None:
        """Say what a trial came to; `pending` shows the buttons that end it.

        A result that is not `current` is that of the value before, greyed until the new one is there.
        """
        self.result.setEnabled(current)
        self._trial = pending
        self.result.setText(text)
        self.bar.setVisible(bool(text))
        self.bar.setAccessibleName(text)
        for button in (self.keep, self.back):
            button.setVisible(pending)
        if self.bar.property("tone") != tone:
            self.bar.setProperty("tone", tone)
            self.bar.style().unpolish(self.bar)
            self.bar.style().polish(self.bar)

    def focus_field(self) -> None:
        """Give the keyboard to the field."""
        if self.field is not None:
            self.field.focus_target().setFocus(Qt.FocusReason.TabFocusReason)

    def holds(self, widget: QWidget | None) -> bool:
        """Whether a widget is part of this one."""
        return widget is not None and (widget is self or self.isAncestorOf(widget))

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _drop_field(self) -> None:
        if self.field is not None:
            self.field.hide()
            self.field.deleteLater()
            self.field = None

    def _moved(self, value: object) -> None:
        if self.declaration is not None:
            self.moved.emit(self.declaration, value)

    def _reset(self) -> None:
        if self.declaration is not None:
            self.moved.emit(self.declaration, self.declaration.default)
            self.focus_field()  # the button goes away

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Escape gives a trial up, or leaves."""
        if event.key() == Qt.Key.Key_Escape:
            (self.given_up if self._trial else self.left).emit()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Qt: links take their colour from the palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.declaration is not None:
            self.stages.setText(_stages(self.declaration))


def _range(declaration: Declaration) -> str:
    if declaration.low is None or declaration.high is None:
        return ""
    unit = f" {tr(declaration.unit)}" if declaration.unit else ""
    return tr("{low} to {high}{unit} · ", low=number(declaration.low), high=number(declaration.high), unit=unit)


def _stages(declaration: Declaration) -> str:
    if not declaration.affects:
        return escape(tr("Changes nothing in a run."))
    links = ", ".join(f'<a href="{escape(stage)}">{escape(tr(stage))}</a>' for stage in declaration.affects)
    return tr("Changes these stages: {stages}", stages=links)
