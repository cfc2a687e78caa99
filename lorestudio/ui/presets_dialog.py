"""Scenario presets: saving what is chosen now under a name, and the list of those that there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.javascript import to_string
from lorestudio.domain.state import ChatControls
from lorestudio.exchange.problems import InputError
from lorestudio.studio.controls import Part, context_values
from lorestudio.studio.preset_folder import BrokenPreset, KnownPresets, PresetFolder, checked_name
from lorestudio.studio.presets import Preset
from lorestudio.ui import dialogs
from lorestudio.ui.control_chips import PART_WORDS
from lorestudio.ui.qt import ITEM
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import sentence_case, shorten, tr

LONGEST: Final = 60
"""Characters that are shown of a part."""


def part_words(controls: ChatControls, part: Part) -> str:
    """What a part holds, in one line; "" for nothing."""
    if part in {Part.PINS, Part.BLOCKS}:
        rules = controls.pins if part is Part.PINS else controls.blocks
        text = ", ".join(rule.title for rule in rules)
    elif part is Part.FOLDERS:
        text = ", ".join(controls.folders)
    elif part is Part.CONTEXT:
        values = {key: context_values(value) for key, value in controls.context.items()}
        text = "; ".join(f"{key}: {', '.join(map(to_string, each))}" for key, each in values.items() if each)
    elif part is Part.CHARACTER:
        text = controls.character or ""
    else:
        text = controls.notebook if part is Part.NOTEBOOK else controls.notepad
    return shorten(text, LONGEST)


class SavePresetDialog(QDialog):
    """`chosen` carries the preset, and whether it takes the place of one of that name."""

    chosen = Signal(object, bool)

    def __init__(self, controls: ChatControls, known: KnownPresets, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controls, self._known = controls, known
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Save as a scenario preset"))
        column = QVBoxLayout(self)
        intro = QLabel(
            tr(
                "A preset holds the ticked parts; where it is applied, the others stay as they are. It names entries "
                "by title, so it fits any vault that has them."
            ),
            self,
        )
        intro.setWordWrap(True)
        column.addWidget(intro)
        form = QFormLayout()
        self.name = QLineEdit(self)
        self.name.setAccessibleName(tr("Name of the preset"))
        self.name.setPlaceholderText(tr("such as Storm night"))
        form.addRow(tr("Name"), self.name)
        column.addLayout(form)
        self.parts: dict[Part, QCheckBox] = {}
        for part in Part:
            text = part_words(controls, part)
            words = sentence_case(tr(PART_WORDS[part]))
            box = QCheckBox(tr("{part}: {content}", part=words, content=text or _nothing(part)), self)
            box.setChecked(bool(text) and part is not Part.NOTEPAD)
            box.toggled.connect(self._show)
            self.parts[part] = box
            column.addWidget(box)
        self.told = QLabel(self)
        self.told.setProperty("kind", "small")
        self.told.setWordWrap(True)
        column.addWidget(self.told)
        column.addStretch(1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.take = QPushButton(tr("Replace"), self)
        self.take.setProperty("kind", "primary")
        self.take.setMinimumWidth(self.take.sizeHint().width() + 12)  # so that either word fits
        buttons.addButton(self.take, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.name.textChanged.connect(self._show)
        self._show()
        self.resize(520, 380)

    def accept(self) -> None:
        """Qt: hand the preset over and close."""
        parts = frozenset(part for part, box in self.parts.items() if box.isChecked())
        preset = Preset(checked_name(self.name.text()), self._controls, parts)
        self.chosen.emit(preset, self._taken is not None)
        super().accept()

    @property
    def _taken(self) -> str | None:
        pair = self._known.find(self.name.text())
        return pair[1].name if pair is not None else None

    def _show(self) -> None:
        problem = ""
        try:
            checked_name(self.name.text())
        except InputError as error:
            problem = sentence_case(error.message) if self.name.text() else ""
            ready = False
        else:
            ready = any(box.isChecked() for box in self.parts.values())
            problem = "" if ready else tr("Tick at least one part.")
        taken = self._taken
        if not problem and taken is not None:
            problem = tr("There is a preset “{name}”; it will be replaced.", name=taken)
        self.told.setText(problem)
        self.take.setText(tr("Replace") if taken is not None else tr("Save"))
        self.take.setEnabled(ready)


def _nothing(part: Part) -> str:
    if part is Part.CHARACTER:
        return tr("the chat's own")
    return (
        tr("none; applying it empties them") if part in {Part.PINS, Part.BLOCKS} else tr("none; applying it empties it")
    )


class PresetsDialog(QDialog):
    """The presets with what they hold. What is to be done is told by signals; whoever does it calls `show_presets`."""

    wanted = Signal(object)  # Preset: apply it
    renamed = Signal(str, str)
    deleted = Signal(str)

    def __init__(self, theme: Theme, folder: PresetFolder, known: KnownPresets, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Scenario presets"))
        column = QVBoxLayout(self)
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Scenario presets"))
        column.addWidget(self.list, 1)
        self.told = QLabel(self)
        self.told.setWordWrap(True)
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(self.told)
        place = QLabel(tr("One file each in {folder}; copy them to share them.", folder=folder.folder), self)
        place.setProperty("kind", "small")
        place.setWordWrap(True)
        place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(place)
        row = QHBoxLayout()
        self.rename = self._button(tr("Rename…"), self._ask_name)
        self.delete = self._button(tr("Delete…"), self._ask_delete)
        self.apply = self._button(tr("Apply"), self._apply)
        self.apply.setProperty("kind", "primary")
        row.addWidget(self.rename)
        row.addWidget(self.delete)
        row.addStretch(1)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        close.rejected.connect(self.reject)
        row.addWidget(self.apply)
        row.addWidget(close)
        column.addLayout(row)
        self.list.currentItemChanged.connect(lambda *_items: self._show())
        self.list.itemActivated.connect(lambda _item: self._apply())
        self.show_presets(known)
        self.resize(520, 360)

    def show_presets(self, known: KnownPresets, chosen: str = "") -> None:
        """Show what there is now; `chosen` is the one to go to."""
        self.list.clear()
        for _, preset in known.presets:
            item = QListWidgetItem(preset.name, self.list)
            item.setData(ITEM, preset)
            if preset.name == chosen:
                self.list.setCurrentItem(item)
        for broken in known.broken:
            words = tr("{file} cannot be used", file=broken.path.name)
            item = QListWidgetItem(self._theme.icon("warning", "warning"), words, self.list)
            item.setData(ITEM, broken)
        if self.list.currentRow() < 0:
            self.list.setCurrentRow(0)
        self._show()

    def _button(self, text: str, pressed: Callable[[], None]) -> QPushButton:
        button = QPushButton(text, self)
        button.setAutoDefault(False)
        button.clicked.connect(lambda _checked=False: pressed())
        return button

    @property
    def current(self) -> Preset | BrokenPreset | None:
        """What the list stands on."""
        found = self.list.currentIndex().data(ITEM)
        return found if isinstance(found, Preset | BrokenPreset) else None

    def _show(self) -> None:
        now = self.current
        for button in (self.rename, self.delete, self.apply):
            button.setEnabled(isinstance(now, Preset))
        if isinstance(now, Preset):
            lines = [
                f"{sentence_case(tr(PART_WORDS[part]))}: {part_words(now.controls, part) or _nothing(part)}"
                for part in Part
                if part in now.parts
            ]
            self.told.setText("\n".join(lines))
        elif now is not None:
            self.told.setText(now.problem)
        else:
            self.told.setText(
                tr("There are no presets yet. “Save as a scenario preset…” makes one of what is chosen now.")
            )

    def _apply(self) -> None:
        now = self.current
        if isinstance(now, Preset):
            self.wanted.emit(now)
            self.accept()

    def _ask_name(self) -> None:
        now = self.current
        if isinstance(now, Preset):
            name = now.name
            dialogs.ask_name(self, tr("Rename the preset"), tr("Name"), name, lambda new: self.renamed.emit(name, new))

    def _ask_delete(self) -> None:
        now = self.current
        if isinstance(now, Preset):
            name = now.name
            text = tr("Delete the preset “{name}”? Its file is removed.", name=name)
            dialogs.confirm(self, tr("Delete preset"), text, tr("Delete"), lambda: self.deleted.emit(name))
