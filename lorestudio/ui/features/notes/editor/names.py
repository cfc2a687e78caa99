"""What notes may be called in a link, what each name leads to, and offering names while one is typed.

Links may use titles, file names and aliases.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView

from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey, VaultIndex
from lorestudio.domain.javascript import length
from lorestudio.domain.records import replace
from lorestudio.domain.texts import comparable
from lorestudio.studio.notes.vault_notes import alias_key
from lorestudio.ui.features.notes.editor.body import BodyEdit
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.picker import ranked
from lorestudio.vault.links.references import Reference, headings, references
from lorestudio.vault.links.targets import NOTE_SUFFIX, LinkTargets, NoteNames, base_name, is_file_name

MOST: Final = 40
"""Nobody reads more offers than that."""


class Name(Struct, frozen=True):
    """A name that a link may use, and its file by vault and name. `alias_of` is the title where the name is an alias.

    `path` is what a link names where the name leads to another file; `shared` says whether other files have it, too.
    `is_title` says that it is an entry's title, `is_file` that of a picture or the like.
    """

    text: str
    place: NoteKey
    alias_of: str = ""
    path: str = ""
    shared: bool = False
    is_title: bool = False
    is_file: bool = False

    @property
    def link(self) -> str:
        """What stands between the brackets of a link by this name."""
        named = self.path or self.alias_of
        return f"{named}|{self.text}" if named and not self.is_file else named or self.text

    @property
    def offer(self) -> str:
        """What a person chooses by."""
        folder = self.place[1].rpartition("/")[0] or tr("the vault's own folder")
        return (
            self.text + (f"   → {self.alias_of}" if self.alias_of else "") + (f"   ({folder})" if self.shared else "")
        )


class TitleBook:
    """Names by what they lead to, as every other part of the studio reads links. Made anew when the vault changes."""

    def __init__(
        self,
        index: VaultIndex | None = None,
        aliases: Mapping[str, Iterable[str]] | None = None,
        files: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """`aliases` are further names of notes by their `alias_key`, `files` what else lies in each vault."""
        index, aliases, files = index or VaultIndex(), aliases or {}, files or {}
        found: list[Name] = []
        self._notes: dict[NoteKey, Entry | LeftOutNote] = {}
        tags = Counter(tag for entry in index.entries for tag in entry.tags)
        called: dict[str, list[NoteNames]] = {}
        for note in index.notes:
            is_entry, others = isinstance(note, Entry), tuple(aliases.get(alias_key(note), ()))
            if not is_entry and not note.filename.endswith(NOTE_SUFFIX):
                continue  # a folder that cannot be read
            title = note.title if isinstance(note, Entry) else base_name(note.filename)
            self._notes[note.note_key] = note
            called.setdefault(note.vault, []).append(NoteNames(note.filename, title, others))
            found.append(Name(title, note.note_key, is_title=is_entry))
            found += [Name(alias, note.note_key, title) for alias in others]
        beside = [(vault, path) for vault in called for path in files.get(vault, ()) if is_file_name(path)]
        found = [Name(base_name(place[1]), place, is_file=True) for place in beside] + found
        self._links = {vault: LinkTargets(names, files.get(vault, ())) for vault, names in called.items()}
        alike = [(name.place[0], comparable(name.text)) for name in found]
        several, pairs = Counter(alike), zip(found, alike, strict=True)
        self._names = [self._told_apart(name) if several[key] > 1 else name for name, key in pairs]
        self._titles = frozenset(entry.title.lower() for entry in index.entries)
        self.tags = tuple(sorted(tags, key=lambda tag: (-tags[tag], tag)))

    def _told_apart(self, name: Name) -> Name:
        """A name that several files have, with the path where it leads to another one."""
        vault, filename = name.place
        found = self._links[vault].resolve(name.alias_of or name.text, "").filename
        path = "" if found == filename else filename.removesuffix(NOTE_SUFFIX)
        return replace(name, path=path, shared=True)

    def find(self, link: Reference, source: NoteKey = ("", "")) -> Entry | LeftOutNote | None:
        """The note that a link in the note `source` (its vault and file) leads to, in its own vault first."""
        return self._notes.get(self.place(link, source) or ("", ""))

    def place(self, link: Reference, source: NoteKey = ("", "")) -> NoteKey | None:
        """The vault and the name of the file that a link leads to, which need not be a note; see `find`."""
        for vault in sorted(self._links, key=lambda each: each != source[0]) if link.target else ():
            filename = self._links[vault].find(link, source[1]).filename
            if filename is not None:
                return vault, filename
        return None

    def is_title(self, name: str) -> bool:
        """Whether an entry has this title; only titles count in requires, excludes and cascade links
        (rules: deeplore 1.13).
        """
        return name.strip().lower() in self._titles

    def offers(self, typed: str, *, titles_only: bool = False, files: bool = False) -> list[Name]:
        """Names that fit what was typed, best first, at most `MOST`; with `files`, also pictures and the like."""
        meant = [name for name in self._names if (name.is_title if titles_only else files or not name.is_file)]
        return [meant[place] for place in ranked(typed, [name.text for name in meant])[:MOST]]


_OPEN: Final = re.compile(r"\[\[([^\[\]|\n]*)$")


def half_typed(before: str) -> str | None:
    """What was typed behind the last `[[` that is still open, None where there is none."""
    found = _OPEN.search(before)
    return found[1] if found is not None else None


_KEYS: Final = Qt.Key
_MOVES: Final = {
    _KEYS.Key_Up, _KEYS.Key_Down, _KEYS.Key_Left, _KEYS.Key_Right, _KEYS.Key_Escape, _KEYS.Key_Home, _KEYS.Key_End,
}  # fmt: skip
_TAKES: Final = {_KEYS.Key_Return, _KEYS.Key_Enter, _KEYS.Key_Tab}

Offers = Callable[[str], Sequence[str]]
"""What fits a typed text, best first."""


def _offer_all(completer: QCompleter, names: QStringListModel, title: str) -> QListView:
    """Let a completer show all names of the model as they stand, in a popup that is called so."""
    completer.setModel(names)
    completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
    completer.setMaxVisibleItems(10)
    popup = QListView()
    popup.setObjectName("Offers")
    popup.setAccessibleName(title)
    completer.setPopup(popup)
    return popup


class OffersCompleter(QCompleter):
    """Shows what `offers` gives for the text typed into a line, in that order; Qt's own search is not used."""

    def __init__(self, line: QLineEdit, offers: Offers, parent: QObject) -> None:
        super().__init__(parent)
        self._offers = offers
        self._names = QStringListModel(self)
        _offer_all(self, self._names, tr("Suggestions"))
        line.textEdited.connect(self.fill)

    def fill(self, text: str) -> None:
        """Offer what fits a text."""
        self._names.setStringList(list(self._offers(text)) if text else [])

    def splitPath(self, path: str) -> list[str]:
        """Qt: a name is one piece, whatever signs it has."""
        return [path]


class LinkCompleter(QObject):
    """Offers titles and aliases behind `[[` in a body, behind `![[` files as well, and a note's headings behind `#`.

    `text_of` gives the text of the note that a link leads to, maybe later; nothing where there is none.
    """

    def __init__(self, editor: BodyEdit, book: Callable[[], TitleBook]) -> None:
        super().__init__(editor)
        self._editor, self._book = editor, book
        self.text_of: Callable[[Reference, Callable[[str], object]], None] = lambda _link, _take: None
        self._links: list[str] = []
        self.completer = QCompleter(self)
        self._model = QStringListModel(self)
        self._popup = _offer_all(self.completer, self._model, tr("Notes to link to"))
        self.completer.setWidget(editor)
        self.completer.activated.connect(self._take_text)
        editor.installEventFilter(self)
        self._popup.installEventFilter(self)  # it has the keys while it is there; the editor gets them past its filters
        editor.textChanged.connect(self._text_changed)
        editor.cursorPositionChanged.connect(self._moved)
        self._typing = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: Enter and Tab take the offer while there is one."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            self._typing = event.key() not in _MOVES
            if self._popup.isVisible() and event.key() in _TAKES:
                self.take(max(self._popup.currentIndex().row(), 0))
                return True
        return super().eventFilter(watched, event)

    def take(self, row: int) -> None:
        """Write the offered name in place of what was typed, and close the link."""
        self._popup.hide()
        typed = half_typed(self._before())
        if typed is None or not 0 <= row < len(self._links):
            return
        cursor = self._editor.textCursor()
        cursor.clearSelection()
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, length(typed))
        rest = cursor.block().text().encode("utf-16-le")[2 * self._editor.textCursor().positionInBlock() :]
        closed = rest.decode("utf-16-le", "replace").startswith("]]")
        cursor.insertText(self._links[row] + ("" if closed else "]]"))
        if closed:
            cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, 2)
        self._editor.setTextCursor(cursor)

    def _text_changed(self) -> None:
        if self._editor.hasFocus() and self._typing:
            self._offer()

    def _moved(self) -> None:
        if self._popup.isVisible() and half_typed(self._before()) is None:
            self._popup.hide()

    def _offer(self) -> None:
        before = self._before()
        typed = half_typed(before)
        if typed is not None and "#" in typed:
            if typed.endswith("#"):
                self._popup.hide()  # of notes, whose headings may come later
            for link in references(f"[[{typed}]]"):
                self.text_of(link, partial(self._offer_headings, typed))
        else:
            names = self._book().offers(typed, files=before.endswith(f"![[{typed}")) if typed is not None else ()
            self._show([(name.offer, name.link) for name in names])

    def _offer_headings(self, typed: str, text: str) -> None:
        if half_typed(self._before()) != typed:
            return  # something else was typed meanwhile
        note, _mark, words = typed.partition("#")
        found = list(dict.fromkeys(each for _line, each in headings(text)))
        self._show([(found[place], f"{note}#{found[place]}") for place in ranked(words, found)[:MOST]])

    def _show(self, offers: Sequence[tuple[str, str]]) -> None:
        """Show these, each with what is written between the brackets."""
        self._links = [link for _shown, link in offers]
        self._model.setStringList([shown for shown, _link in offers])
        if not offers:
            self._popup.hide()
            return
        box = self._editor.cursorRect()
        box.translate(self._editor.viewport().pos())
        box.setWidth(min(420, max(240, self._editor.width() - box.x())))
        self.completer.complete(box)
        self._popup.setCurrentIndex(self._model.index(0, 0))

    def _take_text(self, text: str) -> None:
        rows = self._model.stringList()
        if text in rows:
            self.take(rows.index(text))

    def _before(self) -> str:
        """The line as far as the caret."""
        cursor = self._editor.textCursor()
        units = cursor.block().text().encode("utf-16-le", "surrogatepass")[: 2 * cursor.positionInBlock()]
        return units.decode("utf-16-le", "replace")
