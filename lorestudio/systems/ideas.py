"""What may bring an entry in, or keep it out, as far as a system's declared settings tell.

Every setting that a stage of the system reads is tried, towards both ends of its range: which of them help, only the
system can tell. Settings of the token counter, of one computer and those called advanced are left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.declaration import Declaration, Section, declared
from lorestudio.systems.changes import Change, NoteEdit, Option, Steps, declared_setting
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Trace
from lorestudio.trace.wording import quoted

_LEFT_ALONE: Final = frozenset({"Token counter"})
_MOST_KEYS: Final = 8
_HUNDREDTH: Final = 100


@dataclass(frozen=True, kw_only=True)
class Situation:
    """An entry in a run: how it ended for it, the note where it is one, and what can be changed.

    `controls` are those of the whole chat. `words` are words of the messages that were looked at, likely keys first;
    `aliases` the note's further names. Without `editable` no change of a note is offered. `keeps_out` asks for changes
    that keep it out.
    """

    settings: Section
    trace: Trace
    fate: Fate
    note: Entry | None
    controls: ChatControls = field(default_factory=ChatControls)
    words: Sequence[str] = ()
    aliases: tuple[str, ...] = ()
    editable: bool = True
    keeps_out: bool = False


def declared_options(s: Situation, never_zero: Collection[str] = ()) -> tuple[Option, ...]:
    """Everything to try: the chat's choices, the note, then settings, those of the stage that decided first.

    Settings `never_zero` mean something else altogether at 0.
    """
    note = s.note
    found: list[Option] = []
    if note is not None:
        found += _choices(s, note)
        if s.editable:
            found += _edits(s, note)
    stage = s.fate.stage.partition(" (")[0]
    known = [each for each in declared(type(s.settings)) if _counts(each)]
    known.sort(key=lambda each: stage not in each.affects)
    return (*found, *(option for each in known for option in _settings(s, each, never_zero)))


def without_property(note: Entry, name: str) -> Option:
    """The note without one of its properties."""
    edit = NoteEdit.of(note, name, removed=True)
    return Option((Change("drop_property", f"Take {name} from {quoted(note.title)}", note=edit),))


def left_out_options(note: LeftOutNote, lorebook_tag: str, never_tag: str) -> tuple[Option, ...]:
    """What makes an entry of a note that is none; nothing where its file is broken."""
    name = quoted(note.filename)
    if note.problem is NoteProblem.DISABLED:
        title, edit = f"Switch the note {name} on", NoteEdit.of(note, "enabled", removed=True)
    elif note.problem is NoteProblem.NEVER_INSERT:
        title, edit = f"Remove the tag {quoted(never_tag)} from {name}", NoteEdit.of(note, "tags", drop=(never_tag,))
    elif note.problem in {NoteProblem.NO_LOREBOOK_TAG, NoteProblem.NO_FRONT_MATTER}:
        title, edit = f"Give {name} the tag {quoted(lorebook_tag)}", NoteEdit.of(note, "tags", add=(lorebook_tag,))
    else:
        return ()
    return (Option((Change("enable", title, note=edit),)),)


def _counts(known: Declaration) -> bool:
    left_alone = known.advanced or known.local or known.group in _LEFT_ALONE
    return bool(known.affects) and not left_alone


def _choices(s: Situation, note: Entry) -> Iterator[Option]:
    blocks, name = s.controls.blocks, quoted(note.title)
    if s.keeps_out:
        blocked = replace(s.controls, blocks=(*blocks, EntryRule(note.title)))
        yield Option((Change("block", f"Block {name} in this chat", controls=blocked),))
    elif any(rule.matches(note) for rule in blocks):
        left = replace(s.controls, blocks=tuple(rule for rule in blocks if not rule.matches(note)))
        yield Option((Change("unblock", f"Remove {name} from the chat's blocks", controls=left),))


def _edits(s: Situation, note: Entry) -> Iterator[Option]:
    name = quoted(note.title)
    if s.keeps_out:
        key = s.fate.details.get("key")
        for each in note.keys:
            if key is None or each == key:
                edit = NoteEdit.of(note, "keys", drop=(each,))
                yield Option((Change("drop_key", f"Take the key {quoted(each)} from {name}", note=edit),), "key")
        return
    known = {each.lower() for each in note.keys}
    for word in [word for word in s.words if word.lower() not in known][:_MOST_KEYS]:
        edit = NoteEdit.of(note, "keys", add=(word,))
        yield Option((Change("add_key", f"Add the key {quoted(word)} to {name}", note=edit),), "key")


def _settings(s: Situation, known: Declaration, never_zero: Collection[str]) -> Iterator[Option]:
    before = getattr(s.settings, known.name)
    if known.type is bool:
        yield Option((declared_setting("switch", known, not before, before),))
    elif known.choices:
        for value in known.choices:
            if value != before:
                yield Option((declared_setting("choose", known, value, before),), f"setting {known.name}")
    elif known.low is not None and known.high is not None and known.type is not str:
        scale = 1 if known.type is int else _HUNDREDTH
        now, low, high = (round(value * scale) for value in (before, known.low, known.high))
        low += known.name in never_zero and low == 0

        def make(number: int) -> Change:
            value = number if scale == 1 else number / scale
            return declared_setting("amount", known, value, before)

        for numbers in (range(now + 1, high + 1), range(now - 1, low - 1, -1)):
            if numbers:
                yield Option(Steps(numbers, make))
