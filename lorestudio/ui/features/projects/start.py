"""The start screen: everything that can be opened, with what comes of it, and what was open before.

What was open before is kept in the window's settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, structs
from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QPushButton, QScrollArea, QSizePolicy, QWidget

from lorestudio.domain.json_text import parse_json
from lorestudio.domain.texts import shorten
from lorestudio.studio.project.places import is_address
from lorestudio.studio.project.project import Project, is_demo
from lorestudio.trace.storage.serialize import record_from_json
from lorestudio.ui.shell.qt import later, plain
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.layouts import column, holding, label, named, row
from lorestudio.ui.widgets.pane import drop_all

KEPT: Final = 8
"""So many projects are remembered."""

_KEY: Final = "projects/recent"
_BESIDE: Final = 900
"""A screen of this width (device-independent pixels) has room for the recent projects beside the doors."""


class RecentProject(Struct, frozen=True):
    """What a project was opened from; "" for a chat or settings that it had not. `roles` are those of lorebooks, which
    may be `read_only`.
    """

    places: tuple[str, ...]
    chat: str = ""
    settings: str = ""
    roles: Mapping[str, str] = {}
    read_only: bool = False

    @property
    def title(self) -> str:
        """The names of its vaults, or of its chat where it has none."""
        return " + ".join(Path(place).name for place in self.places) or Path(self.chat).stem

    @property
    def detail(self) -> str:
        """The chat, and where the vault lies."""
        where = shorten(str(Path(self.places[0]).parent), 60) if self.places else tr("without notes")
        return " · ".join(filter(None, (Path(self.chat).name if self.chat and self.places else "", where)))

    @property
    def missing(self) -> str:
        """The first of its files that is not there any more, "" where all are, or where their disk is away."""
        files = [place for place in (*self.places, self.chat, self.settings) if place and not is_address(place)]
        return next((name for name in files if _is_gone(name)), "")


def _is_gone(name: str) -> bool:
    try:
        return not Path(name).exists()
    except OSError:  # its disk is away: the project stays on the list, and reading says why it cannot be read
        return False


class RecentProjects:
    """The list in the window's settings, the last one first. Of an unreadable list nothing is known."""

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings

    def load(self) -> list[RecentProject]:
        """What was open before."""
        try:
            kept: Any = parse_json(str(self._settings.value(_KEY, "[]")))
            return [record_from_json(RecentProject, one, "project") for one in kept]
        except (ValueError, TypeError):
            return []

    def add(self, project: Project) -> None:
        """This one is open now: with a chat it stands for its notes alone, too. The demo has a door of its own."""
        places = (*project.places, *map(str, project.book_paths))
        if is_demo(project) or not (places or project.chat_path):
            return
        paths = {str(path) for path in project.book_paths}
        roles = {book.place: book.whose for book in project.books if book.place in paths}
        chat, settings = str(project.chat_path or ""), str(project.settings_path or "")
        now = RecentProject(places, chat, settings, roles, project.read_only)
        self._keep([now, *(one for one in self.load() if one.places != now.places or one.chat not in {"", now.chat})])

    def drop(self, gone: RecentProject) -> None:
        """Remember it no longer."""
        self._keep([one for one in self.load() if one != gone])

    def _keep(self, projects: Sequence[RecentProject]) -> None:
        self._settings.setValue(_KEY, json.dumps([structs.asdict(one) for one in projects[:KEPT]]))


class Card(QPushButton):
    """A button with a line about what comes of it; its words wrap."""

    def __init__(self, theme: Theme, icon: str, title: str, detail: str, parent: QWidget) -> None:
        super().__init__(parent, autoDefault=False)
        named(self, title, kind="card").setAccessibleDescription(detail)
        self._theme, self._icon = theme, icon
        self._picture = QLabel(self)
        words = column(label(self, title, "strong"), label(self, detail, "muted"), spacing=2)
        self._content = column(row(self._picture, (words, 1), spacing=12), of=self, margins=(14, 8, 14, 8))
        for part in self.findChildren(QLabel):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        theme.changed.connect(self._paint)
        self._paint()

    def sizeHint(self) -> QSize:
        """Qt: a button does not ask its content by itself."""
        return self._content.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Qt: as narrow as its longest word."""
        return self._content.minimumSize()

    def _paint(self) -> None:
        self._picture.setPixmap(glyph(self._icon, self._theme.palette.accent, 22))


DOORS: Final = (
    ("demo.open", "lorestudio", "Look around in the demo",
     "A small world and a finished chat. It runs at once, offline, on a copy of your own."),
    ("vault.open", "folder", "Open your vault…",
     "A folder of Markdown notes, as Obsidian has them. Nothing is changed until you change it."),
    ("book.open", "list", "Open a lorebook…",
     "A World Info file, or a card with a book in it, alone. World Info runs over it as SillyTavern does."),
    ("sillytavern.open", "server", "Open SillyTavern's folder…",
     "Pick one of your chats there; card, persona, lorebooks and settings come along. Only read, never written."),
    ("chat.open", "chat", "Open a chat…", "A chat of SillyTavern's, or a text. Then choose the lore for it."),
    ("chat.paste", "copy", "Paste a chat…", "Any text in which “Name:” begins a message."),
)  # fmt: skip
"""Action, icon, title and what comes of it."""


class StartScreen(QScrollArea):
    """`pressed` carries the id of an action, `wanted` a `RecentProject`, `dropped` one that is not to be offered again.

    Its content is made when it is seen first.
    """

    pressed = Signal(str)
    wanted = Signal(object)
    dropped = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setObjectName("StartScreen")
        self.setAccessibleName(tr("Start"))
        self._theme = theme
        self._offered: Sequence[RecentProject] = ()

    def _build(self) -> None:
        title = label(self, tr("See what your lore does"), "hero")
        text = tr(
            "For every reply of a chat: which notes went into the prompt, which did not, and why. "
            "Change a key or a setting, and see at once what it does. "
            "A folder of notes, a chat or a lorebook can also be dropped on this window."
        )
        self.cards = {name: Card(self._theme, icon, tr(head), tr(more), self) for name, icon, head, more in DOORS}
        for name, card in self.cards.items():
            card.clicked.connect(partial(self.pressed.emit, name))
        self._recent = column(spacing=6)
        self._before = holding(column(label(self, tr("Open again"), "title"), self._recent, 1, spacing=8, margins=0))
        doors = holding(column(*self.cards.values(), 1, spacing=8, margins=0))
        self._sides = row((doors, 3), (self._before, 2), spacing=28)
        page = column(1, title, label(self, text, "muted"), self._sides, 2, spacing=10, margins=(36, 24, 36, 24))
        self._page = holding(page)
        self._page.setMaximumWidth(1080)
        self.setWidget(holding(row(1, (self._page, 20), 1, margins=0)))
        self.show_recent(self._offered)

    def show_recent(self, projects: Sequence[RecentProject]) -> None:
        """Offer these again."""
        self._offered = projects
        if self.widget() is None:
            return
        drop_all(self._recent)
        for project in projects:
            card = Card(self._theme, "entry" if project.places else "chat", project.title, project.detail, self)
            card.setToolTip(plain("\n".join(filter(None, (*project.places, project.chat, project.settings)))))
            card.clicked.connect(partial(self.wanted.emit, project))
            card.addAction(tr("Take off the list"), partial(self.dropped.emit, project))
            card.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
            self._recent.addWidget(card)
        self._before.setVisible(bool(projects))

    def focus_first(self) -> None:
        """The keyboard goes to what was open last, or to the demo, while they are in sight."""
        if self.widget() is None or not self.isVisible():
            return
        item = self._recent.itemAt(0)
        first = item.widget() if item is not None else None
        (first or self.cards["demo.open"]).setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: from now on it has a content."""
        if self.widget() is None:
            self._build()
            self._turn()
            later(self, self.focus_first).start()  # cards that are not in sight yet cannot take the keyboard

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: what was open before stands below in a narrow window."""
        super().resizeEvent(event)
        if self.widget() is not None:
            self._turn()

    def _turn(self) -> None:
        directions = QBoxLayout.Direction
        wide = self.width() >= _BESIDE
        self._sides.setDirection(directions.LeftToRight if wide else directions.BottomToTop)
