"""The few dialogs of the window. None blocks: each is opened and answers by a signal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct
from PySide6.QtCore import QSettings, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeyEvent, QShowEvent, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QTextBrowser,
    QWidget,
)

from lorestudio.domain.resources import VERSION
from lorestudio.ui.shell.qt import move_keyboard, pressed_by_enter, stops
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.layouts import able, button, column, label, named, resize_for_letters, text_view


class Dialog(QDialog):
    """A dialog with a title, which is gone once it is closed; its `size` is right for usual letters."""

    writing = False
    """Whether it waits for what it has written, to tell of it: so long it cannot be closed."""

    def __init__(self, parent: QWidget | None, title: str, size: tuple[int, int] | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        if size is not None:
            resize_for_letters(self, *size)

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: the keyboard begins at the topmost part, not at what was made first, which may be Cancel."""
        super().showEvent(event)
        found = stops(self)
        if found and self.focusWidget() is None:
            found[0].setFocus()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Qt: Tab and Shift+Tab go as the parts lie."""
        return move_keyboard(self, forward=forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter presses the button that has the keyboard, not the one that accepts the dialog."""
        if not pressed_by_enter(self, event):
            super().keyPressEvent(event)

    def lost(self) -> str:
        """What of a person's would be lost if it were closed now, as a sentence; empty where nothing would."""
        return ""

    def reject(self) -> None:
        """Qt: close it, unless it is writing; what a person wrote here is not lost without a question."""
        lost = "" if self.writing else self.lost()
        if lost:
            confirm(self, tr("Close without keeping it?"), lost, tr("Close"), lambda: QDialog.reject(self))
        elif not self.writing:
            super().reject()

    def answers(self, accept: QPushButton | str = "") -> QDialogButtonBox:
        """Cancel, and the button that accepts the dialog; without one, Close alone."""
        kinds = QDialogButtonBox.StandardButton
        box = QDialogButtonBox(kinds.Cancel if accept else kinds.Close, self)
        if accept:
            yes = QPushButton(accept, self) if isinstance(accept, str) else accept
            box.addButton(named(yes, "", kind="primary"), QDialogButtonBox.ButtonRole.AcceptRole)
            box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        return box


def choose_file(parent: QWidget, title: str, start: str, filters: str, chosen: Callable[[Path], None]) -> QFileDialog:
    """Ask for a file that exists, or without filters for a folder."""
    mode = QFileDialog.FileMode.ExistingFile if filters else QFileDialog.FileMode.Directory
    dialog = QFileDialog(parent, title, start, filters, fileMode=mode)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, not filters)
    return open_file_dialog(dialog, chosen)


SETTINGS_FILES: Final = "Settings (*.json);;All files (*)"


def choose_again(
    parent: QWidget, remembered: QSettings, kind: str, title: str, filters: str, chosen: Callable[[Path], object]
) -> QFileDialog:
    """Ask for a file that exists, or without filters for a folder, beginning where the last one of its kind was."""
    key = f"folders/{kind}"

    def take(path: Path) -> None:
        remembered.setValue(key, str(path.parent if filters else path))
        chosen(path)

    return choose_file(parent, title, str(remembered.value(key, "")), filters, take)


def chooser(line: QLineEdit, title: str, filters: str) -> QPushButton:
    """A button that lets the path in a line be one of a file that exists, or without filters of a folder."""

    def ask() -> None:
        start = str(Path(line.text()).parent) if line.text() else ""
        choose_file(line.window(), title, start, filters, lambda path: line.setText(str(path)))

    return button(line.window(), tr("Choose…"), ask)


def choose_files(
    parent: QWidget, title: str, start: str, filters: str, chosen: Callable[[list[str]], object]
) -> QFileDialog:
    """Ask for files that exist, one or more."""
    dialog = QFileDialog(parent, title, start, filters, fileMode=QFileDialog.FileMode.ExistingFiles)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.filesSelected.connect(chosen)
    dialog.open()
    return dialog


def choose_new_file(
    parent: QWidget, title: str, start: str, filters: str, suffix: str, chosen: Callable[[Path], object]
) -> QFileDialog:
    """Ask where to save something; `suffix` is added to a name that has none.

    `start` is the name that is offered: without a folder, in the one where a file was chosen last.
    """
    save, offered = QFileDialog.AcceptMode.AcceptSave, Path(start)
    folder = str(offered.parent) if offered.is_absolute() else ""
    dialog = QFileDialog(parent, title, folder, filters, acceptMode=save, defaultSuffix=suffix)
    dialog.selectFile(offered.name)
    return open_file_dialog(dialog, chosen)


def open_file_dialog(dialog: QFileDialog, chosen: Callable[[Path], object]) -> QFileDialog:
    """Show a file dialog without waiting; `chosen` is called with what was chosen."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.open()
    return dialog


def ask_obsidian(parent: QWidget, answered: Callable[[str, str], None]) -> QDialog:
    """Ask where Obsidian's REST plugin listens, and for its key; an empty key stands for the one known already."""
    address = named(QLineEdit("http://127.0.0.1:27123"), tr("Address of the plugin"))
    key = QLineEdit(echoMode=QLineEdit.EchoMode.Password, placeholderText=tr("empty: the known key"))
    named(key, tr("Key of the plugin")).setMinimumWidth(260)
    dialog, form = Dialog(parent, tr("Open Obsidian vault")), QFormLayout()
    column(form, dialog.answers(tr("Open")), of=dialog)
    form.addRow(tr("Address"), address)
    form.addRow(tr("Key"), key)
    hint = tr("The Local REST API plugin shows both in its settings. Add /Name to name the vault.")
    form.addRow(label(dialog, hint))
    dialog.accepted.connect(lambda: answered(address.text().strip(), key.text()))
    dialog.open()
    return dialog


def ask_name(
    parent: QWidget, title: str, name: str, start: str, answered: Callable[[str], None], *, accept: str = ""
) -> QDialog:
    """Ask for a short name; `answered` is called with it. The button says the title, or `accept`."""
    line = named(QLineEdit(start), name)
    line.setMinimumWidth(260)
    line.selectAll()
    dialog, form = Dialog(parent, title), QFormLayout()
    yes = QPushButton(accept or title, dialog)

    def settle(text: str) -> None:
        able(yes, bool(text.strip()), tr("Write a name first."))

    settle(start)
    line.textChanged.connect(settle)
    column(form, dialog.answers(yes), of=dialog)
    form.addRow(name, line)
    dialog.accepted.connect(lambda: answered(line.text().strip()))
    dialog.open()
    return dialog


def _box(parent: QWidget, title: str, text: str, more: str) -> QMessageBox:
    box = QMessageBox(parent, icon=QMessageBox.Icon.NoIcon, text=text, informativeText=more)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle(title)
    return box


def ask_unsaved(parent: QWidget, names: Sequence[str], answered: Callable[[str], None]) -> QMessageBox:
    """Ask what to do with unsaved notes: `answered` is called with save, discard or cancel."""
    text = tr("{notes} not been saved.", notes=count(len(names), "note has", "notes have"))
    box = _box(parent, tr("Unsaved changes"), text, "\n".join(names[:10]) + ("\n…" if len(names) > 10 else ""))
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
    box = _box(parent, title, text, more)
    yes = box.addButton(button, QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    yes.clicked.connect(agreed)
    box.open()
    return box


Way: TypeAlias = tuple[str, Callable[[], object]]
"""What a button says, and what it does."""


def ask_either(parent: QWidget, title: str, text: str, more: str, safe: Way, lossy: Way) -> QMessageBox:
    """Ask which of two is to be done, if any; Enter takes the safe one."""
    box, roles = _box(parent, title, text, more), QMessageBox.ButtonRole
    box.addButton(QMessageBox.StandardButton.Cancel)
    yes, anyway = box.addButton(safe[0], roles.AcceptRole), box.addButton(lossy[0], roles.DestructiveRole)
    box.setDefaultButton(yes)
    yes.clicked.connect(lambda _on: safe[1]())
    anyway.clicked.connect(lambda _on: lossy[1]())
    box.open()
    return box


def propose(
    parent: QWidget, title: str, text: str, button: str, answered: Callable[[bool], object], more: str = ""
) -> QMessageBox:
    """Ask for leave to do something; `answered` hears of it however the question ends."""
    box = _box(parent, title, text, more)
    yes = box.addButton(button, QMessageBox.ButtonRole.AcceptRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(yes)
    box.finished.connect(lambda _result: answered(box.clickedButton() is yes))
    box.open()
    return box


class ModelCost(Struct, frozen=True):
    """What a person has to agree to before a model is asked; `answered` hears of it however the question ends."""

    name: str
    sentence: str
    more: str
    answered: Callable[[bool], object]

    def ask(self, parent: QWidget) -> QMessageBox:
        """Ask the person."""
        title, yes = tr("Ask {name}?", name=self.name), tr("Ask {name}", name=self.name)
        return propose(parent, title, self.sentence, yes, self.answered, self.more)


def show_text(parent: QWidget, title: str, text: str) -> QDialog:
    """A text to read and copy, such as the details of a problem."""
    dialog = Dialog(parent, title, (720, 420))
    field = text_view(dialog, title, fixed=True)
    field.setPlainText(text)
    return _opened(dialog, field, copied=text)


class _Pages(QTextBrowser):
    """A text, and the pages that it links to; their folder is that of `page`. What is no page the desktop opens."""

    def __init__(self, parent: QWidget, text: str, page: Path) -> None:
        super().__init__(parent)
        self._text = text
        self._first = QUrl.fromLocalFile(str(page))
        self._first.setQuery("part")  # the whole page is another one
        self.setSource(self._first)

    def doSetSource(
        self,
        name: QUrl | str,
        type: QTextDocument.ResourceType = QTextDocument.ResourceType.UnknownResource,  # noqa: A002  # Qt's name
    ) -> None:
        """Qt: go to a page."""
        path = Path(QUrl(name).toLocalFile())
        if name == self._first or (path.suffix == ".md" and path.is_file()):
            super().doSetSource(name, type)
        else:
            QDesktopServices.openUrl(name)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Qt: what stands on a page."""
        return self._text if name == self._first else super().loadResource(kind, name)


def show_markdown(parent: QWidget, title: str, text: str, page: Path) -> QDialog:
    """A text of help to read, with the pages it links to; it is from the file `page`."""
    dialog = Dialog(parent, title, (620, 560))
    pages = named(_Pages(dialog, text, page), title)
    buttons = dialog.answers()
    back = buttons.addButton(tr("Back"), QDialogButtonBox.ButtonRole.ActionRole)

    def settle(further: bool) -> None:
        able(back, further, tr("This is the first page."))

    settle(further=False)
    back.clicked.connect(pages.backward)
    pages.backwardAvailable.connect(settle)
    column((pages, 1), buttons, of=dialog)
    dialog.open()
    return dialog


def show_about(parent: QWidget) -> QDialog:
    """What this is."""
    dialog = Dialog(parent, tr("About lorestudio"), (420, 200))
    text = tr(
        "lorestudio {version}\n\nSee, for every turn of a chat, which lore reached the model's prompt, which did "
        "not, and why. MIT licence.",
        version=VERSION,
    )
    said = label(dialog, text)
    said.setMargin(12)
    return _opened(dialog, said)


def _opened(dialog: Dialog, content: QWidget, copied: str = "") -> QDialog:
    """The dialog with this content and a button to close it, shown; another button puts `copied` on the clipboard."""
    buttons = dialog.answers()
    if copied:
        copy = buttons.addButton(tr("Copy"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda _on: QGuiApplication.clipboard().setText(copied))
    column((content, 1), buttons, of=dialog)
    dialog.open()
    return dialog
