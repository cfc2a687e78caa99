"""Turns, changes and prompt caches in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Final

from lorestudio.studio.chat_timeline import TimelineTurn
from lorestudio.trace.diff import InjectionChanges, Key
from lorestudio.trace.prompt_cache import CacheTotals, CacheTurn, Cause, CauseKind, CauseTotal
from lorestudio.ui.words import count, number, tr

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
