"""The timeline as tables and in words: turns, entries, changes, and what costs prompt caches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Final

from PySide6.QtCore import QObject

from lorestudio.domain.entry import NoteKey, VaultIndex
from lorestudio.domain.records import Terse
from lorestudio.studio.replay.timeline import TimelineTurn
from lorestudio.trace.diff import InjectionChanges
from lorestudio.trace.prompt_cache import CacheMiss, CacheTotals, CacheTurn, CauseKind, CauseTotal
from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.cells import FIT, Column, same_words, titled
from lorestudio.ui.widgets.record_table import RecordTable

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


def change_groups(changes: InjectionChanges) -> tuple[tuple[str, str, tuple[NoteKey, ...]], ...]:
    """Sign, word and entries of each kind of change that happened."""
    groups = (
        ("+", tr("entered"), changes.entered),
        ("−", tr("left"), changes.left),
        ("~", tr("shortened or longer"), changes.resized),
        ("↕", tr("moved"), changes.moved),
        ("≠", tr("another text"), changes.rewritten),
    )
    return tuple(group for group in groups if group[2])


def changes_text(changes: InjectionChanges, title: Callable[[NoteKey], str]) -> str:
    """What changed, in plain text."""
    return "   ".join([f"{sign} {', '.join(map(title, keys))}" for sign, _word, keys in change_groups(changes)])


def changes_html(
    turn: TimelineTurn, since: str, title: Callable[[NoteKey], str], entry: Callable[[NoteKey], int | None]
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


def cause_text(cause: CacheMiss | CauseTotal) -> str:
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


def cache_text(turn: TimelineTurn, since: str) -> str:
    """What a prompt cache could keep of a turn, in a sentence or two."""
    cache = turn.cache
    if cache is None:
        return tr("Prompt cache: {why}.", why=_no_cache(turn))
    head = tr(
        "Prompt cache: {kept} of {tokens} tokens are the same {since}; {missed} are read again",
        kept=number(cache.kept),
        tokens=number(cache.tokens),
        since=since,
        missed=number(cache.missed),
    )
    if cache.by_lore and cache.cause is not None:
        lore = number(cache.by_lore)
        return tr("{head}, {lore} of them because {cause}.", head=head, lore=lore, cause=cause_text(cache.cause))
    if cache.cause is not None and cache.cause.kind in {CauseKind.CHAT, CauseKind.ROOM}:
        return tr("{head}, because {cause}.", head=head, cause=cause_text(cache.cause))
    return tr("{head}: new messages only.", head=head) if cache.missed else f"{head}."


def _no_cache(turn: TimelineTurn | None) -> str:
    """Why nothing is known of what a cache could keep; prompts are compared behind all else."""
    if turn is None:
        return tr("not run yet")
    return tr("nothing was sent before this") if turn.sent_before is None else tr("not compared yet")


def cache_bar_words(content: MapContent, column: int) -> str:
    """A turn's bar of what a prompt cache keeps, in words."""
    turn = content.turns[column]
    if turn is None or turn.cache is None:
        return f"{content.label(column)}: {_no_cache(turn)}"
    return tr(
        "{reply}: {kept} kept (grey), {new} new (blue), {lore} read again because of placed texts (purple)",
        reply=content.label(column),
        kept=count(turn.cache.kept, "token", "tokens"),
        new=number(turn.cache.new),
        lore=number(turn.cache.by_lore),
    )


def totals_text(totals: CacheTotals) -> str:
    """The whole chat in a sentence."""
    if not totals.turns:
        return tr("Two turns have to be run before a prompt cache can be judged.")
    if not totals.by_lore:
        turns = count(totals.turns, "turn", "turns")
        return tr("Over {turns} neither lore nor another placed text cost prompt cache.", turns=turns)
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


class Names(Terse, frozen=True):
    """Titles of entries, and their ids, by vault and file name."""

    unprinted = ("entries",)

    entries: Mapping[NoteKey, tuple[str, int]] = {}

    @classmethod
    def of(cls, index: VaultIndex, turns: Iterable[TimelineTurn] = ()) -> Names:
        """The names of an index, and of what went into these turns and is no note: memories, recaps."""
        known = {entry.note_key: (entry.title, entry.id) for entry in index.entries}
        for summary in (turn.summary for turn in turns if turn.summary.strangers):
            for key, each in summary.injected.items():
                if each.entry in summary.strangers:
                    known[key] = summary.strangers[each.entry], each.entry
        return cls(known)

    def title(self, key: NoteKey) -> str:
        """The title, or the file name where there is no such entry any more."""
        return self.entries[key][0] if key in self.entries else key[1]

    def id(self, key: NoteKey) -> int | None:
        """The entry's id, None where there is no such entry any more."""
        return self.entries[key][1] if key in self.entries else None


def turn_columns(content: MapContent, names: Names) -> list[Column]:
    """What is said of a turn by its place: what went in, what changed, and what the prompt cache kept.

    A turn that was not run has a name only.
    """

    def of_turn(read: Callable[[TimelineTurn], str], nothing: str = "") -> Callable[[int], str]:
        def words(place: int) -> str:
            turn = content.turns[place]
            return read(turn) if turn is not None else nothing

        return words

    def of_cache(read: Callable[[CacheTurn], str]) -> Callable[[int], str]:
        return of_turn(lambda turn: read(turn.cache) if turn.cache is not None else "")

    def share(turn: TimelineTurn) -> str:
        return f"{turn.summary.used / turn.summary.budget:.0%}" if turn.summary.budget else ""

    def cause(cache: CacheTurn) -> str:
        return cause_text(cache.cause) if cache.cause is not None else tr("new messages") if cache.missed else ""

    inside = of_turn(lambda turn: number(len(turn.summary.injected)), tr("not run yet"))
    in_all = "Of all that went in, also where no budget counts it, as in outlets"
    in_budget = "What counts against the budget, as a part of it"
    return [
        Column("Reply", content.label, width=FIT),
        Column("In", inside, width=40, numeric=True),
        Column("Tokens", of_turn(lambda turn: number(turn.summary.tokens)), width=60, numeric=True, help=in_all),
        Column("Of budget", of_turn(share), width=70, numeric=True, help=in_budget),
        Column("Entered", of_turn(lambda turn: number(len(turn.changes.entered))), width=60, numeric=True),
        Column("Left", of_turn(lambda turn: number(len(turn.changes.left))), width=44, numeric=True),
        Column("What changed", of_turn(lambda turn: changes_text(turn.changes, names.title)), width=260),
        Column("Cache kept", of_cache(lambda cache: number(cache.kept)), width=76, numeric=True),
        Column("Read again", of_cache(lambda cache: number(cache.missed)), width=76, numeric=True),
        Column("By placed texts", of_cache(lambda cache: number(cache.by_lore)), width=64, numeric=True),
        Column("Because", of_cache(cause), width=220),
    ]


def entry_columns(content: MapContent) -> list[Column]:
    """What is said of an entry by its place: its totals, and behind them how each turn ended for it."""
    injected, candidates = content.grid.injected(content.columns), content.grid.candidates(content.columns)

    def edge(place: int) -> Callable[[int], str]:
        def words(row: int) -> str:
            endings = ((at, content.ending(row, at)) for at in range(len(content.columns)))
            turns = [at for at, end in endings if end is not None and end.injected]
            return content.label(turns[place]) if turns else ""

        return words

    def turn(at: int) -> Column:
        def words(row: int) -> str:
            there = content.ending(row, at) is not None or content.turns[at] is None
            return content.word(row, at) if there else ""

        def told(row: int) -> str:
            return content.describe(row, at)

        return Column(content.label(at), words, width=_TURN_WIDTH, spoken=told, tip=told)

    return [
        Column("Entry", lambda row: content.titles[row], width=170),
        Column("In", lambda row: number(int(injected[content.rows[row]])), width=40, numeric=True),
        Column("Candidate", lambda row: number(int(candidates[content.rows[row]])), width=74, numeric=True),
        Column("First in", edge(0), width=64),
        Column("Last in", edge(-1), width=64),
        *map(turn, range(len(content.columns))),
    ]


TOTALS: Final = 5
"""Columns of an entry's totals; those of the turns come behind them."""

_TURN_WIDTH: Final = 100


def cause_columns(totals: CacheTotals) -> list[Column]:
    """What is said of a cause."""

    def share(cause: CauseTotal) -> str:
        return f"{cause.tokens / totals.missed:.0%}" if totals.missed else ""

    return [
        Column("Because", cause_text),
        Column("Turns", lambda cause: number(cause.turns), width=FIT, numeric=True),
        Column("Tokens read again", lambda cause: number(cause.tokens), width=FIT, numeric=True),
        Column("Share", share, width=FIT, numeric=True),
    ]


def place_table(parent: QObject | None = None, columns: Sequence[Column] = ()) -> RecordTable:
    """A table whose rows are places in a timeline, or causes; cells are worked out when they are looked at."""
    return RecordTable(columns, key=lambda row: row, spoken=titled(), tip=same_words, parent=parent)


def how_many(content: MapContent) -> str:
    """`24 turns · 31 entries`, for the pane's title."""
    if not content.columns:
        return ""
    turns = count(len(content.columns), "turn", "turns")
    return f"{turns} · {count(len(content.rows), 'entry', 'entries')}"
