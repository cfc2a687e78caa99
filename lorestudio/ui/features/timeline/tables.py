"""The table twins of the timeline: turns, entries, and what costs prompt caches.

Turns, changes and prompt caches in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.studio.replay.timeline import TimelineTurn
from lorestudio.trace.diff import InjectionChanges, Key
from lorestudio.trace.prompt_cache import CacheTotals, CacheTurn, Cause, CauseKind, CauseTotal
from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.words import count, number, tr

_LISTED: Final = 6
_LINKED: Final = 3
"""So many entries of a kind are named above the map; the tables and the comparison have all of them."""

CAUSE_WORDS: Final[Mapping[CauseKind, str]] = {
    CauseKind.ENTERED: "entered",
    CauseKind.LEFT: "left",
    CauseKind.CHANGED: "has another text",
    CauseKind.MOVED: "moved",
    CauseKind.DEPTH: "moves on with the chat",
    CauseKind.CHAT: "was changed",
    CauseKind.ROOM: "has no room any more",
}


def change_groups(changes: InjectionChanges) -> tuple[tuple[str, str, tuple[Key, ...]], ...]:
    """Sign, word and entries of each kind of change that happened."""
    groups = (
        ("+", tr("entered"), changes.entered),
        ("−", tr("left"), changes.left),
        ("~", tr("shortened or longer"), changes.resized),
        ("↕", tr("moved"), changes.moved),
        ("≠", tr("another text"), changes.rewritten),
    )
    return tuple(group for group in groups if group[2])


def changes_text(changes: InjectionChanges, title: Callable[[Key], str]) -> str:
    """What changed, in plain text."""
    parts = [f"{sign} {_listed([title(key) for key in keys])}" for sign, _word, keys in change_groups(changes)]
    return "   ".join(parts)


def changes_html(
    turn: TimelineTurn, since: str, title: Callable[[Key], str], entry: Callable[[Key], int | None]
) -> str:
    """What changed since the turn before, each entry a link with its id."""
    groups = change_groups(turn.changes)
    head = tr("Since {reply}:", reply=since) if turn.before is not None else tr("First reply:")
    if not groups:
        same = tr("the same entries in the same order") if turn.summary.injected else tr("still nothing")
        return f"<b>{escape(head)}</b> {escape(same)}"
    parts = []
    for sign, word, keys in groups:
        names = [_link(title(key), entry(key)) for key in keys[:_LINKED]]
        more = tr(" and {more} more", more=number(len(keys) - _LINKED)) if len(keys) > _LINKED else ""
        parts.append(f"<span title='{escape(word)}'>{escape(sign)}&nbsp;{', '.join(names)}{escape(more)}</span>")
    return f"<b>{escape(head)}</b> {' &nbsp; '.join(parts)}"


def _link(title: str, entry: int | None) -> str:
    text = escape(title).replace(" ", "&nbsp;")
    return f"<a href='entry:{entry}'>{text}</a>" if entry is not None else text


def _listed(titles: Sequence[str]) -> str:
    more = tr(" and {more} more", more=number(len(titles) - _LISTED)) if len(titles) > _LISTED else ""
    return ", ".join(titles[:_LISTED]) + more


def cause_text(cause: Cause | CauseTotal) -> str:
    """What stands at a first difference: `Skarn entered`, `lore at depth 4 moves on with the chat`."""
    word = tr(CAUSE_WORDS[cause.kind])
    if cause.kind is CauseKind.DEPTH:
        depth = number(cause.depth or 0)
        if cause.host:
            return tr("{title} at depth {depth} {word}", title=cause.title, depth=depth, word=word)
        return tr("lore at depth {depth} {word}", depth=depth, word=word)
    if cause.kind in {CauseKind.CHAT, CauseKind.ROOM}:
        return tr("message {number} {word}", number=cause.title, word=word)
    return f"{cause.title} {word}"


def cache_text(turn: CacheTurn | None, since: str) -> str:
    """What a prompt cache could keep of a turn, in a sentence or two."""
    if turn is None:
        return tr("Prompt cache: nothing was sent before this.")
    head = tr(
        "Prompt cache: {kept} of {tokens} tokens are the same {since}; {missed} are read again",
        kept=number(turn.kept),
        tokens=number(turn.tokens),
        since=since,
        missed=number(turn.missed),
    )
    if turn.by_lore and turn.cause is not None:
        return tr(
            "{head}, {lore} of them because {cause}.",
            head=head,
            lore=number(turn.by_lore),
            cause=cause_text(turn.cause),
        )
    if turn.cause is not None and turn.cause.kind in {CauseKind.CHAT, CauseKind.ROOM}:
        return tr("{head}, because {cause}.", head=head, cause=cause_text(turn.cause))
    return tr("{head}: new messages only.", head=head) if turn.missed else f"{head}."


def totals_text(totals: CacheTotals) -> str:
    """The whole chat in a sentence."""
    if not totals.turns:
        return tr("Two turns have to be run before a prompt cache can be judged.")
    if not totals.by_lore:
        return tr(
            "Over {turns} neither lore nor another placed text cost prompt cache.",
            turns=count(totals.turns, "turn", "turns"),
        )
    host = any(cause.host for cause in totals.causes)
    text = tr(
        "{who} made {share:.0%} of the {missed} prompt tokens that a provider reads again over {turns}",
        who=tr("Lore and other placed texts") if host else tr("Lore"),
        share=totals.lore_share,
        missed=number(totals.missed),
        turns=count(totals.turns, "turn", "turns"),
    )
    worst = totals.causes[0]
    return tr(
        "{share}; the worst: {cause} ({turns}, {tokens}).",
        share=text,
        cause=cause_text(worst),
        turns=count(worst.turns, "turn", "turns"),
        tokens=count(worst.tokens, "token", "tokens"),
    )


def advice(causes: Iterable[CauseTotal]) -> str:
    """What to do about the worst cause, "" where there is none."""
    worst = next(iter(causes), None)
    if worst is None:
        return ""
    if worst.kind is CauseKind.DEPTH:
        return tr(
            "What is placed at a depth of the chat stands before the newest messages and moves on with them, so that "
            "all behind it is read again in every turn. Before or after the main prompt only changes count; depth 0 "
            "costs no more than the lore itself."
        )
    if worst.host:
        return tr(
            "{title} is a text of the host's own. A text that is the same in every turn costs nothing: look for macros "
            "in it that stand for something else each time, or let it come in every turn.",
            title=worst.title,
        )
    if worst.kind is CauseKind.MOVED:
        return tr("Another order costs as much as another text. Different priorities keep entries in their places.")
    return tr(
        "An entry that comes and goes costs all that stands behind it. Placed in the chat at depth 0 it costs no more "
        "than itself."
    )


_RIGHT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
_LEFT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_ALIGN: Final = int(Qt.ItemDataRole.TextAlignmentRole)


@dataclass(frozen=True, slots=True)
class Names:
    """Titles of entries by vault and file name."""

    titles: dict[Key, str] = field(default_factory=dict, repr=False)
    ids: dict[Key, int] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, index: VaultIndex) -> Names:
        """The names of an index."""
        return cls(
            {(entry.vault, entry.filename): entry.title for entry in index.entries},
            {(entry.vault, entry.filename): entry.id for entry in index.entries},
        )

    def title(self, key: Key) -> str:
        """The title, or the file name where there is no such entry any more."""
        return self.titles.get(key, key[1])

    def id(self, key: Key) -> int | None:
        """The entry's id, None where there is no such entry any more."""
        return self.ids.get(key)


class _Table(QAbstractTableModel):
    """A table of texts. Rows are computed when they are looked at."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.content = MapContent()
        self.names = Names()

    def headings(self) -> Sequence[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return ()

    def text(self, row: int, column: int) -> str:
        """The text of a cell."""
        return ""

    def rows(self) -> int:
        """How many rows there are."""
        return 0

    def item(self, row: int, column: int) -> object:
        """What a cell is about."""
        return None

    def set_content(self, content: MapContent, names: Names) -> None:
        """Show another timeline."""
        self.beginResetModel()
        self.content, self.names = content, names
        self.endResetModel()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the rows."""
        return 0 if parent.isValid() else self.rows()

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the headings."""
        return 0 if parent.isValid() else len(self.headings())

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: headings; rows have none."""
        if orientation is not HORIZONTAL or not 0 <= section < len(self.headings()):
            return None
        heading, right = self.headings()[section]
        if role == _ALIGN:
            return _RIGHT if right else _LEFT
        return heading if role in {DISPLAY, ACCESSIBLE_TEXT, TOOLTIP} else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a cell."""
        row, column = index.row(), index.column()
        if not (0 <= row < self.rows() and 0 <= column < len(self.headings())):
            return None
        if role in {DISPLAY, TOOLTIP}:
            return self.text(row, column)
        if role == ACCESSIBLE_TEXT:
            return f"{self.headings()[column][0]}: {self.text(row, column) or tr('nothing')}"
        if role == ITEM:
            return self.item(row, column)
        if role == _ALIGN:
            return _RIGHT if self.headings()[column][1] else _LEFT
        return None


class TurnTable(_Table):
    """A row for each turn: what went in, what changed, and what the prompt cache kept. `ITEM` is its generation."""

    _HEADINGS = (
        ("Reply", False), ("In", True), ("Tokens", True), ("Of budget", True), ("Entered", True), ("Left", True),
        ("What changed", False), ("Cache kept", True), ("Read again", True), ("By placed texts", True),
        ("Because", False),
    )  # fmt: skip

    def headings(self) -> Sequence[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return tuple((tr(heading), right) for heading, right in self._HEADINGS)

    def rows(self) -> int:
        """A row for each turn."""
        return len(self.content.turns)

    def item(self, row: int, column: int) -> Generation:
        """The turn's generation."""
        return self.content.generations[row]

    def text(self, row: int, column: int) -> str:
        """One cell; a turn that was not run has a name only."""
        turn = self.content.turns[row]
        if column == 0:
            return self.content.label(row)
        if turn is None:
            return tr("not run yet") if column == 1 else ""
        summary, changes, cache = turn.summary, turn.changes, turn.cache
        share = f"{summary.used / summary.budget:.0%}" if summary.budget else ""
        cells = (
            number(len(summary.injected)),
            number(summary.tokens),
            share,
            number(len(changes.entered)),
            number(len(changes.left)),
        )
        if column <= len(cells):
            return cells[column - 1]
        if column == 6:
            return changes_text(changes, self.names.title)
        if cache is None:
            return ""
        cause = cause_text(cache.cause) if cache.cause is not None else tr("new messages") if cache.missed else ""
        return (number(cache.kept), number(cache.missed), number(cache.by_lore), cause)[column - 7]


class EntryTable(_Table):
    """A row for each entry of the heat map, with a column for each turn behind its totals. `ITEM` is the entry's id."""

    _FIXED = (("Entry", False), ("In", True), ("Candidate", True), ("First in", False), ("Last in", False))

    def set_content(self, content: MapContent, names: Names) -> None:
        """Show another timeline."""
        self._injected = content.grid.injected(content.columns)
        self._candidates = content.grid.candidates(content.columns)
        super().set_content(content, names)

    def headings(self) -> Sequence[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return tuple((tr(heading), right) for heading, right in self._FIXED)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the totals and the turns."""
        return 0 if parent.isValid() else len(self._FIXED) + len(self.content.columns)

    def rows(self) -> int:
        """A row for each entry."""
        return len(self.content.rows)

    def item(self, row: int, column: int) -> object:
        """The entry, and for a turn's column its generation."""
        place = column - len(self._FIXED)
        return self.content.entry(row), self.content.generations[place] if place >= 0 else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: headings, then the turns."""
        place = section - len(self._FIXED)
        if place < 0 or orientation is not HORIZONTAL:
            return super().headerData(section, orientation, role)
        return self.content.label(place) if role in {DISPLAY, ACCESSIBLE_TEXT} else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a total, or how a turn ended for the entry."""
        row, place = index.row(), index.column() - len(self._FIXED)
        if place < 0 or not (0 <= row < self.rows() and place < len(self.content.columns)):
            return super().data(index, role)
        if role == DISPLAY:
            ending = self.content.ending(row, place)
            return self.content.word(row, place) if ending is not None or self.content.turns[place] is None else ""
        if role in {ACCESSIBLE_TEXT, TOOLTIP}:
            return self.content.describe(row, place)
        return self.item(row, index.column()) if role == ITEM else None

    def text(self, row: int, column: int) -> str:
        """A total."""
        content = self.content
        place = content.rows[row]
        if column == 0:
            return content.titles[row]
        if column == 1:
            return number(int(self._injected[place]))
        if column == 2:
            return number(int(self._candidates[place]))
        turns = [
            at for at in range(len(content.columns)) if (end := content.ending(row, at)) is not None and end.injected
        ]
        return content.label(turns[0 if column == 3 else -1]) if turns else ""


class CauseTable(_Table):
    """What costs prompt caches, the worst first. `ITEM` is a `CauseTotal`."""

    _HEADINGS = (("Because", False), ("Turns", True), ("Tokens read again", True), ("Share", True))

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._causes: tuple[CauseTotal, ...] = ()
        self._missed = 0

    def set_totals(self, totals: CacheTotals) -> None:
        """Show other totals."""
        self.beginResetModel()
        self._causes, self._missed = totals.causes, totals.missed
        self.endResetModel()

    def headings(self) -> Sequence[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return tuple((tr(heading), right) for heading, right in self._HEADINGS)

    def rows(self) -> int:
        """A row for each cause."""
        return len(self._causes)

    def item(self, row: int, column: int) -> CauseTotal:
        """The cause."""
        return self._causes[row]

    def text(self, row: int, column: int) -> str:
        """One cell."""
        cause = self._causes[row]
        share = f"{cause.tokens / self._missed:.0%}" if self._missed else ""
        return (cause_text(cause), number(cause.turns), number(cause.tokens), share)[column]


def as_rows(model: QAbstractTableModel) -> list[list[str]]:
    """Everything that a table shows, headings first, for files."""
    columns = range(model.columnCount())
    found = [[str(model.headerData(column, HORIZONTAL, DISPLAY) or "") for column in columns]]
    found += [
        [str(model.data(model.index(row, column), DISPLAY) or "") for column in columns]
        for row in range(model.rowCount())
    ]
    return found


def how_many(content: MapContent) -> str:
    """`24 turns · 31 entries`, for the pane's title."""
    if not content.columns:
        return ""
    turns = count(len(content.columns), "turn", "turns")
    return f"{turns} · {count(len(content.rows), 'entry', 'entries')}"
