"""What SillyTavern's folder has: chats, characters, lorebooks, and what belongs to them; some of it can be opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from lorestudio.studio.project.sillytavern import FoundChat, SillyTavernFolder
from lorestudio.ui.features.vault.table import when_words
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import SearchField, able, column, label
from lorestudio.ui.widgets.record_table import RecordTable, RecordView


class FolderThing(Struct, frozen=True):
    """A row: what it is, and what it opens, a chat or a lorebook's file; None where it only belongs to others."""

    kind: str
    name: str
    of: str = ""
    when: float = 0.0
    opens: FoundChat | Path | None = None


def things_of(folder: SillyTavernFolder) -> Iterator[FolderThing]:
    """Everything in it, the newest chats first; a character opens its newest chat."""
    newest: dict[str, FoundChat] = {}
    for chat in folder.chats:
        newest.setdefault(chat.path.parent.name if chat.group is None else str(chat.group), chat)
        yield FolderThing(tr("Chat"), chat.path.stem, chat.character, chat.when.timestamp(), chat)
    for path in folder.characters:
        yield FolderThing(tr("Character"), path.stem, opens=newest.get(path.stem))
    for path in folder.groups:
        known = newest.get(str(path))
        yield FolderThing(tr("Group"), known.character if known is not None else path.stem, opens=known)
    for path in folder.books:
        yield FolderThing(tr("Lorebook"), path.stem, opens=path)
    for persona in folder.personas:
        yield FolderThing(tr("Persona"), persona.name, persona.book)
    for path in folder.presets:
        yield FolderThing(tr("Preset"), path.stem)
    if folder.host:
        yield FolderThing(tr("Settings"), "settings.json", tr("with DeepLore's") if folder.settings is not None else "")


class FolderDialog(Dialog):
    """`wanted` carries the chat or the lorebook's file that is to be opened."""

    wanted = Signal(object)

    def __init__(self, theme: Theme, folder: SillyTavernFolder, parent: QWidget) -> None:
        super().__init__(parent, tr("SillyTavern"), (760, 520))
        columns = (
            Column("Kind", lambda each: each.kind, width=FIT),
            Column("Name", lambda each: each.name, tip=lambda each: each.name),
            Column("Of", lambda each: each.of, width=170, tip=lambda each: each.of),
            Column(
                "Last written", lambda each: when_words(each.when) if each.when else "", width=FIT,
                sort=lambda each: each.when or None,
            ),
        )  # fmt: skip
        rows = list(things_of(folder))
        self.model = RecordTable(columns, text=lambda each: f"{each.kind} {each.name} {each.of}".lower(), parent=self)
        self.list = RecordView(theme, self.model, tr("What the folder has"), self)
        tip = tr("Filter by kind, name or character")
        self.field = SearchField(self, tip, tip, self._filter)
        self.open_button = QPushButton(tr("Open"), self)
        chats, books = count(len(folder.chats), "chat", "chats"), count(len(folder.books), "lorebook", "lorebooks")
        more = tr("A chat brings its card or group, persona, preset, settings and the lorebooks in play. "
                  "The folder is only read.")  # fmt: skip
        said = tr("{chats} and {books} in {folder}.", chats=chats, books=books, folder=folder.user)
        told = [label(self, each, "warning") for each in folder.told]
        column(
            label(self, said), label(self, more, "muted"), *told, self.field, (self.list, 1),
            self.answers(self.open_button), of=self,
        )  # fmt: skip
        self.list.filtered_by(self.field)
        self.list.chosen.connect(lambda _row: self._settle())
        self.list.pressed.connect(lambda _row: self.accept())
        self.model.set_rows(rows)
        self.list.select_places([0] if rows else [], 0)

    def accept(self) -> None:
        """Qt: open what is chosen, where it can be opened."""
        row: FolderThing | None = self.list.current
        if row is not None and row.opens is not None:
            self.wanted.emit(row.opens)
            super().accept()

    def _filter(self, text: str) -> None:
        self.model.set_filter(text)
        self.list.select_places([0] if self.model.rowCount() else [], 0)

    def _settle(self) -> None:
        row: FolderThing | None = self.list.current
        may = row is not None and row.opens is not None
        able(self.open_button, may, tr("Choose something that can be opened first."))
