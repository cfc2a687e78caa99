"""The behaviour switches: known quirks of DeepLore, each as it is there or fixed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from lorestudio.settings.behaviour import Switch, switches
from lorestudio.ui.words import count, tr

_DEEPLORE, _FIXED = 0, 1


class BehaviourDialog(QDialog):
    """A list of all switches. `accepted_switches` carries the names of those that are fixed, in reading order."""

    accepted_switches = Signal(object)

    def __init__(self, fixed: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Behaviour switches"))
        self._groups: dict[str, QButtonGroup] = {}
        column = QVBoxLayout(self)
        intro = QLabel(
            tr(
                "What is tuned here runs in DeepLore, so every known quirk is reproduced. Set one to “fixed” to see "
                "what it costs; the trace says where that changed the outcome."
            ),
            self,
        )
        intro.setWordWrap(True)
        column.addWidget(intro)
        page = QWidget(self)
        rows = QVBoxLayout(page)
        rows.setContentsMargins(0, 0, 8, 0)
        rows.setSpacing(0)
        for switch in switches():
            rows.addWidget(self._row(switch, switch.name in set(fixed), page))
        rows.addStretch(1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(page)
        area.setAccessibleName(tr("Switches"))
        column.addWidget(area, 1)
        column.addLayout(self._buttons())
        self._tell()
        self.resize(680, 560)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The switches that are set to fixed."""
        return tuple(name for name, group in self._groups.items() if group.checkedId() == _FIXED)

    def set_all(self, fixed: bool) -> None:
        """Set every switch."""
        for group in self._groups.values():
            group.button(_FIXED if fixed else _DEEPLORE).setChecked(True)

    def choose(self, name: str, *, fixed: bool) -> None:
        """Set one switch."""
        self._groups[name].button(_FIXED if fixed else _DEEPLORE).setChecked(True)

    def accept(self) -> None:
        """Qt: hand the choice over and close."""
        self.accepted_switches.emit(self.fixed)
        super().accept()

    def _row(self, switch: Switch, is_fixed: bool, parent: QWidget) -> QWidget:
        box = QFrame(parent)
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 7, 0, 7)
        row.setSpacing(14)
        words = QVBoxLayout()
        words.setSpacing(2)
        title = QLabel(tr("{title}  ·  {stage}", title=switch.title, stage=switch.affects), box)
        title.setProperty("kind", "summary")
        text = QLabel(switch.help.replace(" Fixed: ", "\nFixed: "), box)
        text.setProperty("kind", "small")
        text.setWordWrap(True)
        words.addWidget(title)
        words.addWidget(text)
        row.addLayout(words, 1)
        group = QButtonGroup(box)
        for place, name in ((_DEEPLORE, tr("As DeepLore")), (_FIXED, tr("Fixed"))):
            button = QRadioButton(name, box)
            button.setAccessibleName(tr("{switch}: {choice}", switch=switch.title, choice=name))
            button.setAccessibleDescription(switch.help)
            button.setChecked(is_fixed is (place == _FIXED))
            button.toggled.connect(self._tell)
            group.addButton(button, place)
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self._groups[switch.name] = group
        return box

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        for name, fixed in ((tr("All as DeepLore"), False), (tr("All fixed"), True)):
            button = QPushButton(name, self)
            button.setAutoDefault(False)
            button.clicked.connect(partial(self.set_all, fixed))
            row.addWidget(button)
        self._told = QLabel(self)
        self._told.setProperty("kind", "small")
        row.addWidget(self._told, 1)
        kinds = QDialogButtonBox.StandardButton
        box = QDialogButtonBox(kinds.Cancel, self)
        apply = QPushButton(tr("Apply and replay"), self)
        apply.setProperty("kind", "primary")
        box.addButton(apply, QDialogButtonBox.ButtonRole.AcceptRole)
        box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        row.addWidget(box)
        return row

    def _tell(self) -> None:
        if hasattr(self, "_told"):
            self._told.setText(count(len(self.fixed), "switch fixed", "switches fixed"))
