"""The few dialogs of the window. None blocks: each is opened and answers by a signal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.resources import VERSION
from lorestudio.ui.shell.theme import fixed_font
from lorestudio.ui.shell.words import count, tr


def choose_folder(parent: QWidget, title: str, start: str, chosen: Callable[[Path], None]) -> QFileDialog:
    """Ask for a folder."""
    dialog = QFileDialog(parent, title, start)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return open_file_dialog(dialog, chosen)


def choose_file(parent: QWidget, title: str, start: str, filters: str, chosen: Callable[[Path], None]) -> QFileDialog:
    """Ask for a file that exists."""
    dialog = QFileDialog(parent, title, start, filters)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return open_file_dialog(dialog, chosen)


def choose_new_file(
    parent: QWidget, title: str, start: str, filters: str, suffix: str, chosen: Callable[[Path], object]
) -> QFileDialog:
    """Ask where to save something; `suffix` is added to a name that has none."""
    dialog = QFileDialog(parent, title, start, filters)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(suffix)
    return open_file_dialog(dialog, chosen)


def open_file_dialog(dialog: QFileDialog, chosen: Callable[[Path], object]) -> QFileDialog:
    """Show a file dialog without waiting; `chosen` is called with what was chosen."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.open()
    return dialog


def ask_obsidian(parent: QWidget, answered: Callable[[str, str], None]) -> QDialog:
    """Ask where Obsidian's REST plugin listens, and for its key; an empty key stands for the one known already."""
    dialog = _dialog(parent, tr("Open Obsidian vault"))
    column = QVBoxLayout(dialog)
    form = QFormLayout()
    address = QLineEdit("http://127.0.0.1:27123", dialog)
    address.setAccessibleName(tr("Address of the plugin"))
    key = QLineEdit(dialog)
    key.setEchoMode(QLineEdit.EchoMode.Password)
    key.setPlaceholderText(tr("empty: the key that is known already"))
    key.setAccessibleName(tr("Key of the plugin"))
    form.addRow(tr("Address"), address)
    form.addRow(tr("Key"), key)
    hint = QLabel(tr("The Local REST API plugin shows both in its settings. Add /Name to name the vault."), dialog)
    hint.setWordWrap(True)
    form.addRow(hint)
    column.addLayout(form)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel, dialog)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    column.addWidget(buttons)
    dialog.accepted.connect(lambda: answered(address.text().strip(), key.text()))
    dialog.open()
    return dialog


def ask_unsaved(parent: QWidget, names: Sequence[str], answered: Callable[[str], None]) -> QMessageBox:
    """Ask what to do with unsaved notes: `answered` is called with save, discard or cancel."""
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(tr("Unsaved changes"))
    box.setText(tr("{notes} not been saved.", notes=count(len(names), "note has", "notes have")))
    box.setInformativeText("\n".join(names[:10]) + ("\n…" if len(names) > 10 else ""))
    kinds = QMessageBox.StandardButton
    box.setStandardButtons(kinds.SaveAll | kinds.Discard | kinds.Cancel)
    box.setDefaultButton(kinds.SaveAll)
    words = {kinds.SaveAll: "save", kinds.Discard: "discard"}
    box.finished.connect(lambda result: answered(words.get(kinds(result), "cancel")))
    box.open()
    return box


def confirm(
    parent: QWidget, title: str, text: str, button: str, agreed: Callable[[], None], more: str = ""
) -> QMessageBox:
    """Ask before something that cannot be undone; `more` is said below in smaller letters."""
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(title)
    box.setText(text)
    box.setInformativeText(more)
    yes = box.addButton(button, QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    yes.clicked.connect(agreed)
    box.open()
    return box


def ask_model(parent: QWidget, name: str, cost: str, more: str, answered: Callable[[bool], object]) -> QMessageBox:
    """Say what asking a model costs before it is asked; `answered` hears of it however the question ends."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(tr("Ask {name}?", name=name))
    box.setText(cost)
    box.setInformativeText(more)
    yes = box.addButton(tr("Ask {name}", name=name), QMessageBox.ButtonRole.AcceptRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(yes)
    box.finished.connect(lambda _result: answered(box.clickedButton() is yes))
    box.finished.connect(box.deleteLater)
    box.open()
    return box


def ask_name(parent: QWidget, title: str, label: str, start: str, answered: Callable[[str], None]) -> QDialog:
    """Ask for a short name; `answered` is called with it unless it is empty."""
    dialog = _dialog(parent, title)
    column = QVBoxLayout(dialog)
    form = QFormLayout()
    line = QLineEdit(start, dialog)
    line.setAccessibleName(label)
    line.setMinimumWidth(260)
    line.selectAll()
    form.addRow(label, line)
    column.addLayout(form)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, dialog)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    column.addWidget(buttons)
    dialog.accepted.connect(lambda: answered(line.text().strip()) if line.text().strip() else None)
    dialog.open()
    return dialog


def show_text(parent: QWidget, title: str, text: str) -> QDialog:
    """A text to read and copy, such as the details of a problem."""
    dialog = _dialog(parent, title)
    field = QPlainTextEdit(dialog)
    field.setReadOnly(True)
    field.setFont(fixed_font(parent.font().pointSizeF()))
    field.setPlainText(text)
    field.setAccessibleName(title)
    _finish(dialog, field)
    dialog.resize(720, 420)
    return dialog


def show_shortcuts(parent: QWidget, groups: Mapping[str, Sequence[tuple[str, str]]]) -> QDialog:
    """All shortcuts by the place where they work."""
    dialog = _dialog(parent, tr("Keyboard shortcuts"))
    page = QWidget(dialog)
    columns = QHBoxLayout(page)
    columns.setSpacing(32)
    halves = [QVBoxLayout(), QVBoxLayout()]
    sizes = [0, 0]
    for place, items in groups.items():
        side = 0 if sizes[0] <= sizes[1] else 1
        sizes[side] += len(items) + 2
        halves[side].addWidget(_shortcut_group(place, items, page))
    for half in halves:
        half.addStretch(1)
        columns.addLayout(half)
    area = QScrollArea(dialog)
    area.setWidgetResizable(True)
    area.setWidget(page)
    area.setAccessibleName(tr("Keyboard shortcuts"))
    _finish(dialog, area)
    dialog.resize(820, 560)
    return dialog


def _shortcut_group(place: str, items: Sequence[tuple[str, str]], parent: QWidget) -> QWidget:
    box = QWidget(parent)
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 4, 0, 10)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(4)
    head = QLabel(tr(place).capitalize(), box)
    head.setProperty("kind", "title")
    grid.addWidget(head, 0, 0, 1, 2)
    for row, (title, keys) in enumerate(items, start=1):
        grid.addWidget(QLabel(title, box), row, 0)
        holder = QHBoxLayout()
        holder.addStretch(1)
        for key in keys.split("  "):
            label = QLabel(key, box)
            label.setProperty("kind", "key")
            holder.addWidget(label)
        grid.addLayout(holder, row, 1)
    grid.setColumnStretch(0, 1)
    box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
    return box


def show_about(parent: QWidget) -> QDialog:
    """What this is."""
    dialog = _dialog(parent, tr("About lorestudio"))
    label = QLabel(dialog)
    label.setWordWrap(True)
    label.setMargin(12)
    label.setText(
        tr(
            "lorestudio {version}\n\nSee, for every turn of a chat, which lore reached the model's prompt, which did "
            "not, and why. MIT licence.",
            version=VERSION,
        )
    )
    _finish(dialog, label)
    dialog.resize(420, 200)
    return dialog


def _dialog(parent: QWidget, title: str) -> QDialog:
    dialog = QDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    return dialog


def _finish(dialog: QDialog, content: QWidget) -> None:
    column = QVBoxLayout(dialog)
    column.addWidget(content, 1)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, dialog)
    buttons.rejected.connect(partial(dialog.done, 0))
    column.addWidget(buttons)
    dialog.open()
