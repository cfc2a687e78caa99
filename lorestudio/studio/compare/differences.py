"""What differs between the inputs of two runs, each difference able to be carried from one run's inputs to the other's.

Notes are compared as they are written: a reference that leads nowhere because another note is gone is that other note's
difference. Settings that no stage of a run reads are left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, NoteKey, VaultIndex
from lorestudio.domain.records import field_names, replace
from lorestudio.domain.texts import text_digest
from lorestudio.settings.sections import differences
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.systems.base import Moment
from lorestudio.systems.differences import Carry, DifferenceKind, InputDifference, words_of
from lorestudio.trace.diff import moved_keys
from lorestudio.trace.wording import first_few

_REFERENCES: Final = ("requires", "excludes", "cascade_links")
_NOT_WRITTEN: Final = {
    "id", "tokens", "resolved_links", "warnings", *_REFERENCES, *(f"written_{name}" for name in _REFERENCES),
}  # fmt: skip
_FOLLOWING: Final = {"content_hash", "links"}
"""Fields that follow from the text; they are not named beside it."""
_CALLED: Final = {"filename": "place in the vault", "content": "text", **dict.fromkeys(_FOLLOWING, "text")}
_WRITTEN: Final = tuple(name for name in field_names(Entry) if name not in _NOT_WRITTEN)


def note_changes(before: VaultIndex, after: VaultIndex) -> Iterator[tuple[NoteKey, str, str]]:
    """The notes that are another entry, or an entry in one index only: key, title, and words on what is different.

    They come in the order of the first index, then of the second. Of notes with the same vault and file name the last
    one counts. A note that lies elsewhere now has the key of there.
    """
    if before is after:
        return
    old, new = _by_key(before), _by_key(after)
    moves = _moves(old, new)
    old = {moves.get(key, key): entry for key, entry in old.items()}
    for key in {**old, **new}:
        one, other = old.get(key), new.get(key)
        if one is None and other is not None:
            yield (key, other.title, "is an entry only now")
        elif other is None and one is not None:
            yield (key, one.title, "is no entry any more")
        elif one is not None and other is not None and one is not other:
            names = list(_changed(one, other))
            if names:
                yield (key, other.title, f"{', '.join(names)} changed")


def _moves(old: Mapping[NoteKey, Entry], new: Mapping[NoteKey, Entry]) -> dict[NoteKey, NoteKey]:
    """Which notes lie elsewhere in the second index, with where."""
    titles = ({key: entry.title for key, entry in index.items()} for index in (old, new))
    return moved_keys(*titles)


def carried_notes(old: VaultIndex, new: VaultIndex, keys: Iterable[NoteKey]) -> VaultIndex:
    """The old index with these notes as the new one has them: changed, added in their place, or gone.

    References of other notes to them stay as the old index resolved them.
    """
    wanted = set(keys)
    theirs = _by_key(new)
    moves = _moves(_by_key(old), theirs)
    entries: list[Entry] = []
    for entry in old.entries:
        key = entry.note_key
        if key not in wanted and moves.get(key) not in wanted:  # one that lies elsewhere is put in its place there
            entries.append(entry)
        elif key in theirs:
            entries.append(theirs[key])
    known = {entry.note_key for entry in entries}
    before: NoteKey | None = None
    for entry in new.entries:
        key = entry.note_key
        if key in wanted and key not in known:
            place = next((at for at, each in enumerate(entries) if each.note_key == before), -1) + 1
            entries.insert(place, entry)
            known.add(key)
        if key in known:
            before = key
    numbered = tuple(entry if entry.id == place else replace(entry, id=place) for place, entry in enumerate(entries))
    told = f"{old.digest} with {sorted(wanted)} of {new.digest}"
    return replace(old, entries=numbered, digest=text_digest(told))


def counted_as(old: VaultIndex, new: VaultIndex) -> VaultIndex:
    """The old index with the tokens that the new one has for the same texts, which another tokenizer counted."""
    theirs = _by_key(new)

    def tokens(entry: Entry) -> int:
        other = theirs.get(entry.note_key)
        return other.tokens if other is not None and other.content == entry.content else entry.tokens

    entries = tuple(replace(entry, tokens=tokens(entry)) for entry in old.entries)
    digest = hashlib.sha256(f"{old.digest} counted as {new.digest}".encode()).hexdigest()
    return replace(old, entries=entries, digest=digest)


def renamed(index: VaultIndex, names: Sequence[str]) -> VaultIndex:
    """The index with its vaults called otherwise, in order, so that two copies of a vault can be compared."""
    called = dict(zip(index.vaults, names, strict=False))
    entries = tuple(replace(entry, vault=called.get(entry.vault, entry.vault)) for entry in index.entries)
    return replace(index, entries=entries, vaults=tuple(called.get(name, name) for name in index.vaults))


def _by_key(index: VaultIndex) -> dict[NoteKey, Entry]:
    return {entry.note_key: entry for entry in index.entries}


def _changed(one: Entry, other: Entry) -> Iterator[str]:
    """What an author would call the fields that differ; the text stands for what follows from it."""
    found = [name for name in _WRITTEN if getattr(one, name) != getattr(other, name)]
    found += [name for name in _REFERENCES if _reference(one, name) != _reference(other, name)]
    named = [name for name in found if name not in _FOLLOWING and (name != "folder" or one.filename == other.filename)]
    yield from (_CALLED.get(name, name.replace("_", " ")) for name in named or found)


def _reference(entry: Entry, name: str) -> object:
    """The titles that the note itself names."""
    written = getattr(entry, f"written_{name}")
    return getattr(entry, name) if written is None else written


MOST_MESSAGES: Final = 12
"""So many edited messages are told one by one; more are one difference."""


def same_system(before: Rerun | None, after: Rerun | None) -> bool:
    """Whether the inputs of both are known, and are of one kind: only these can be carried from one to the other."""
    return before is not None and after is not None and before.system.kind is after.system.kind


def input_differences(before: Rerun, after: Rerun) -> tuple[InputDifference, ...]:
    """All differences, those that people make on purpose first: settings, notes, choices, the chat, then the system's
    own and what follows from earlier turns. Raises ValueError for two systems.
    """
    if not same_system(before, after):
        message = "Two systems decided, each by inputs of its own, so nothing can be carried from one to the other."
        raise ValueError(message)
    own = tuple(before.system.differences(before, after))
    purposeful = {DifferenceKind.SWITCH, DifferenceKind.RULE}
    told = {each.setting for each in own}
    return (
        *(each for each in _settings(before, after) if each.setting not in told),
        *(each for each in own if each.kind in purposeful),
        *_notes(before, after),
        *(replace(each, carry=_of_moment(each.carry)) for each in choice_differences(before.moment, after.moment)),
        *(replace(each, carry=_of_chat(each.carry)) for each in chat_differences(before.moment, after.moment)),
        *(each for each in own if each.kind not in purposeful),
        *_others(before, after),
    )


def _settings(before: Rerun, after: Rerun) -> Iterator[InputDifference]:
    for change in differences(before.system.settings, after.system.settings):
        declaration = change.declaration
        if declaration.affects:

            def carry(target: Rerun, source: Rerun, name: str = declaration.name) -> Rerun:
                update = {name: getattr(source.system.settings, name)}
                return target.with_settings(target.system.settings.model_copy(update=update))

            words = words_of(change.before), words_of(change.after)
            yield InputDifference(
                DifferenceKind.SETTING, declaration.title, *words, carry, declaration.affects, setting=declaration.name
            )


def _notes(before: Rerun, after: Rerun) -> Iterator[InputDifference]:
    for note, title, words in note_changes(before.moment.index, after.moment.index):

        def carry(target: Rerun, source: Rerun, key: NoteKey = note) -> Rerun:
            index = carried_notes(target.moment.index, source.moment.index, [key])
            return target.at(index=index)

        yield InputDifference(DifferenceKind.NOTE, title, "", words, carry, note=note)


def _others(before: Rerun, after: Rerun) -> Iterator[InputDifference]:
    one, other = before.moment, after.moment
    if one.context_size != other.context_size:
        yield InputDifference(
            DifferenceKind.OTHER, "Context size", words_of(one.context_size), words_of(other.context_size),
            _of_moment(lambda target, source: replace(target, context_size=source.context_size)),
        )  # fmt: skip
    if (one.counter.name, one.counter.identity) != (other.counter.name, other.counter.identity):
        yield InputDifference(
            DifferenceKind.OTHER, "Token counter", one.counter.name, other.counter.name,
            _of_moment(lambda target, source: replace(
                target, counter=source.counter, index=counted_as(target.index, source.index)
            )),
        )  # fmt: skip


def _of_moment(carry: Carry) -> Carry:
    """A part of the moment, carried between whole inputs."""
    return lambda target, source: replace(target, moment=carry(target.moment, source.moment))


def _of_chat(carry: Carry) -> Carry:
    """The chat, with what the system itself knows of it: who wrote which message, and the recaps in it."""

    def carried(target: Rerun, source: Rerun) -> Rerun:
        now: Moment = carry(target.moment, source.moment)
        if now.turn.message != target.moment.turn.message:
            now = replace(now, clock_ms=source.moment.clock_ms)
        system = target.system.with_chat_of(source.system)
        return replace(target, moment=now, project=replace(target.project, chat=source.project.chat), system=system)

    return carried


# ---- choices for the chat -------------------------------------------------------------------------------------------

_CHOICES: Final = {
    "pins": "Pins",
    "blocks": "Blocks",
    "folders": "Folder filter",
    "notebook": "Notebook",
    "notepad": "Notepad",
    "scribe_summary": "Session notes",
}


def choice_differences(before: Moment, after: Moment) -> Iterator[InputDifference]:
    """What a person chose for the chat, and who the active character is."""
    old, new = before.controls, after.controls
    for name, title in _CHOICES.items():
        one, other = getattr(old, name), getattr(new, name)
        if one != other:

            def carry(target: Moment, source: Moment, name: str = name) -> Moment:
                changed: dict[str, Any] = {name: getattr(source.controls, name)}
                return replace(target, controls=replace(target.controls, **changed))

            yield InputDifference(DifferenceKind.CHOICE, title, words_of(one), words_of(other), carry)
    for name in dict.fromkeys((*old.context, *new.context)):
        if old.context.get(name) != new.context.get(name):

            def carry_field(target: Moment, source: Moment, name: str = name) -> Moment:
                context = {**target.controls.context}
                context.pop(name, None)
                if name in source.controls.context:
                    context[name] = source.controls.context[name]
                return replace(target, controls=replace(target.controls, context=context))

            words = words_of(old.context.get(name)), words_of(new.context.get(name))
            yield InputDifference(DifferenceKind.CHOICE, f"Context: {name}", *words, carry_field)
    one, other = _active(before), _active(after)
    if one != other:
        yield InputDifference(
            DifferenceKind.CHOICE,
            "Active character",
            words_of(one),
            words_of(other),
            lambda target, source: replace(target, controls=replace(target.controls, character=_active(source))),
        )


def _active(moment: Moment) -> str:
    chosen = moment.controls.character
    return moment.character if chosen is None else chosen


# ---- the chat -------------------------------------------------------------------------------------------------------


def chat_differences(before: Moment, after: Moment) -> Iterator[InputDifference]:
    """Messages that were edited, each by itself where they are few; else the chat as a whole."""
    old, new = _by_number(before), _by_number(after)
    edited = [number for number in old if number in new and not _same(old[number], new[number])]
    gone = [number for number in old if number not in new]
    added = [number for number in new if number not in old]
    if edited and not gone and not added and len(edited) <= MOST_MESSAGES:
        for number in edited:

            def carry(target: Moment, source: Moment, number: int = number) -> Moment:
                theirs = _by_number(source)[number]
                mine = zip(target.numbers, target.chat, strict=True)
                return replace(target, chat=tuple(theirs if place == number else each for place, each in mine))

            words = words_of(old[number].text), words_of(new[number].text)
            yield InputDifference(DifferenceKind.CHAT, f"Message #{number}", *words, carry)
        return
    if not (edited or gone or added):
        return
    told = [
        f"{word} {_listed(numbers)}"
        for word, numbers in (("without", gone), ("with", added), ("other words in", edited))
        if numbers
    ]
    yield InputDifference(DifferenceKind.CHAT, "Chat", "", "; ".join(told), _carry_chat)


def _carry_chat(target: Moment, source: Moment) -> Moment:
    turn = replace(target.turn, message=source.turn.message, swipe=source.turn.swipe, kind=source.turn.kind)
    return replace(target, chat=source.chat, positions=source.positions, turn=turn, seen=source.seen)


def _by_number(moment: Moment) -> dict[int, Message]:
    return dict(zip(moment.numbers, moment.chat, strict=True))


def _same(one: Message, other: Message) -> bool:
    told = attrgetter("name", "text", "is_user", "is_system", "scannable")
    return one is other or bool(told(one) == told(other))


def _listed(numbers: list[int]) -> str:
    """`#4`, `#4 to #7`, or `#4, #6, #9 and 3 more`."""
    if len(numbers) == 1:
        return f"message #{numbers[0]}"
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"messages #{numbers[0]} to #{numbers[-1]}"
    return f"messages {first_few([f'#{number}' for number in numbers], 4)}"
