"""All about the chosen setting, with its field: help, range, default, stages, warnings, and a trial's result."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from lorestudio.settings.declaration import Declaration, Value
from lorestudio.settings.deeplore import same
from lorestudio.settings.differences import value_text
from lorestudio.studio.project.settings import SettingWarning
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.widgets.bars import TonedBar
from lorestudio.ui.widgets.layouts import button, column, label, row, small_button, tight
from lorestudio.ui.widgets.setting_fields import SettingField, make_field


class SettingEditor(QWidget):
    """Shows one setting at a time. `moved` carries a declaration and a value; `kept` and `given_up` end a trial.

    `stage_wanted` carries a stage that somebody wants to see the settings of, `left` follows Escape without a trial.
    """

    moved = Signal(object, object)
    kept = Signal()
    given_up = Signal()
    stage_wanted = Signal(str)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, hint: str = "") -> None:
        """`hint` is what is said while no setting is chosen, if it is shown then."""
        super().__init__(parent)
        self._hint, self.bar = hint, TonedBar(theme, self)
        self.declaration: Declaration | None = None
        self.field: SettingField | None = None
        self._trial = False
        self._build()
        self.say_nothing()

    def _build(self) -> None:
        self._area = QScrollArea(self, widgetResizable=True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page = QWidget(self._area)
        page.setObjectName("FormPage")
        self.title, self.key = label(page, kind="title"), label(page, kind="small", wrap=False, selectable=True)
        self.help, self.range, self.stages, self.against = (label(page, kind=k) for k in ("", "small", "small", ""))
        self.against.setObjectName("FormProblems")
        self.stages.setTextFormat(Qt.TextFormat.RichText)
        self.stages.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.stages.linkActivated.connect(self.stage_wanted)
        self.reset = small_button(page, tr("Reset"), clicked=self._reset)
        head = row((self.title, 1), spacing=8)
        head.addWidget(self.key, 0, Qt.AlignmentFlag.AlignBaseline)
        line = row((self.range, 1), spacing=8)
        line.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignTop)
        self._place = QVBoxLayout()
        column(
            head, self._place, line, self.help, self.against, self.stages, 1, of=page, spacing=6, margins=(10, 8, 10, 8)
        )
        self._area.setWidget(page)
        tight((self._area, 1), self._make_bar(), of=self)

    def _make_bar(self) -> QWidget:
        self.result = label(self.bar)
        self.result.setTextFormat(Qt.TextFormat.PlainText)
        self.result.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.result.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        tip = tr("Take the value and replay the chat; it can be undone (Enter, or by leaving the field)")
        self.keep = button(self.bar, tr("Keep"), self.kept, kind="primary", tip=tip)
        self.back = button(self.bar, tr("Back"), self.given_up, tip=tr("Give the value up (Esc)"))
        line = row((self.result, 1), spacing=8, margins=(10, 6, 8, 6))
        for each in (self.keep, self.back):
            line.addWidget(each, 0, Qt.AlignmentFlag.AlignTop)
        self.bar.setLayout(line)
        return self.bar

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def say_nothing(self) -> None:
        """No setting is chosen."""
        self.declaration = None
        self._drop_field()
        self.title.setText(tr("No setting chosen"))
        self.help.setText(self._hint)
        self.key.clear()
        for part in (self.range, self.stages, self.against, self.reset):
            part.hide()
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
            self.key.setToolTip(tr("What it is called in files: {key}", key=declaration.alias))
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
        for each in (self.keep, self.back):
            each.setVisible(pending)
        self.bar.set_tone(tone)

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
