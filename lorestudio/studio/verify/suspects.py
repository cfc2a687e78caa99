"""What may be behind a difference between a record and the run: each is tried alone, by running the reply with it.

A suspect is proposed by what differs (a note that is gone, a setting that a stage reads, a message in the window);
whether it explains anything only the run can tell (`studio.verify.causes`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVar

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.entry import OFF, Entry, NoteKey
from lorestudio.domain.history import HiddenSince, HistoryRule
from lorestudio.domain.javascript import Json, number_text
from lorestudio.domain.records import replace
from lorestudio.domain.state import EntryRule
from lorestudio.exchange.chats.recorded import PINNED, RecordedEntry, found_among, generated_at
from lorestudio.settings.declaration import Declaration, Section, Value, declared
from lorestudio.settings.rules import VERSIONS
from lorestudio.studio.project.basis import hidden_rows
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.verify.agreement import ComparedReply, WentIn
from lorestudio.systems.base import State, System
from lorestudio.trace.model import EntryRef, StageStatus
from lorestudio.trace.wording import quoted

Carry: TypeAlias = Callable[[Rerun], Rerun | None]
"""The inputs of a reply with the cause in them; None where it cannot concern that reply."""


class SuspectKind(StrEnum):
    """What sort of cause it is. What comes first counts as likelier where two explain the same."""

    RULES = "rules"
    NOTE = "note"
    SETTING = "setting"
    HIDDEN = "hidden message"
    CHOICE = "choices of then"
    UNKEPT = "kept by no file"


UNKNOWABLE: Final = frozenset({SuspectKind.CHOICE, SuspectKind.UNKEPT})
"""Files keep these as they are today, or not at all: what they explain may be, and is no contradiction."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """One thing that may have been otherwise, in a sentence.

    `subject` is the title, the name of the setting or the number of the message; `settings` and `hidden` are there
    where it can be taken over. `proven` says that the record itself shows it, whatever a run does.
    """

    kind: SuspectKind
    title: str
    carry: Carry = field(repr=False, compare=False)
    subject: str = ""
    settings: Mapping[str, Value] = field(default_factory=dict)
    hidden: tuple[HiddenSince, ...] = ()
    proven: bool = False

    @property
    def unknowable(self) -> bool:
        """Whether no file keeps what it says, since when a message is hidden included."""
        return self.kind in UNKNOWABLE or bool(self.hidden)


class Course:
    """What went in so far, so that states before a reply can be made without running what was before it."""

    def __init__(self, simulator: Simulator, replies: Mapping[Generation, ComparedReply]) -> None:
        self.generations = simulator.generations[:-1]
        self._simulator = simulator
        self._went_in: list[tuple[NoteKey, ...]] = []
        for each in self.generations:
            trace, reply = simulator.traces[each], replies.get(each)
            record = reply.record if reply is not None else None
            if record is not None and record.holds_for(anything_went_in=bool(trace.injections)):
                entries: Sequence[Entry | EntryRef] = record.found_in(simulator.project.index)
            else:
                entries = [trace.entries[injection.entry] for injection in trace.injections]
            self._went_in.append(tuple(entry.note_key for entry in entries))
        self._usual: dict[Generation, State] = {}
        self._moments = [simulator.moment(each) for each in self.generations]

    def state(self, run: Rerun, start: int = 0) -> State:
        """The state that a run begins with where only its system and its notes are other ones, or where everything
        began anew at place `start`: its own state where that makes no difference.
        """
        made = self._made(run.system, run.moment.index.entries, run.generation, start)
        if run.generation not in self._usual:
            usual = self._simulator.system, self._simulator.project.index.entries
            self._usual[run.generation] = self._made(*usual, run.generation, 0)
        return run.state if made == self._usual[run.generation] else made

    def _made(self, system: System, entries: Sequence[Entry], generation: Generation, start: int) -> State:
        state = system.first_state(self._simulator.project.seed)
        known = {entry.note_key: entry for entry in entries}
        for place in range(start, self._simulator.place(generation)):
            went_in = [known[key] for key in self._went_in[place] if key in known]
            state = system.recalled(self._moments[place], state, went_in)
        return state


def suspects(
    project: Project, simulator: Simulator, replies: Sequence[ComparedReply], course: Course
) -> tuple[Suspect, ...]:
    """Everything that may be behind what differs in these replies, each once."""
    if not replies:
        return ()
    made = _Suspects(project, simulator, replies, course)
    every = (
        *made.notes(), *made.settings(), *made.rules(), *made.hidden(), *made.choices(), *made.unkept(),
    )  # fmt: skip
    return tuple({(each.kind, each.title): each for each in reversed(every)}.values())[::-1]


SCREENED: Final = 4
"""On so many differing replies every suspect is tried first; only those that help there are tried on all."""

ItemT = TypeVar("ItemT")


def spread(items: Sequence[ItemT], most: int) -> Sequence[ItemT]:
    """At most so many of the items, from all over them."""
    return items[:: max(1, -(-len(items) // most))]


_WINDOW: Final = 24
_RELAXED: Final[Mapping[str, tuple[Any, str]]] = {
    "cooldown": (None, "no cooldown"),
    "warmup": (None, "no warmup"),
    "probability": (None, "no probability"),
    "requires": ((), "no requirements"),
    "excludes": ((), "no exclusions"),
    "refine_keys": ((), "no refine keys"),
    "scan_depth": (None, "no scan depth of its own"),
    "custom_fields": ({}, "no fields for gating"),
}
"""Properties of a note that may keep it out, and what it would have had without them."""
_STEPS: Final = 12
_TENTHS: Final = (0.5, 0.75, 0.9, 1.1, 1.25, 1.5, 2, 3)


class _Suspects:
    def __init__(
        self, project: Project, simulator: Simulator, replies: Sequence[ComparedReply], course: Course
    ) -> None:
        self._project, self._simulator, self._replies, self._course = project, simulator, replies, course
        self._chat = project.chat or Chat()
        self._what = "entry" if project.of_books else "note"
        records = [record for each in replies for record in simulator.traces[each.generation].stages]
        self._stages = {record.name for record in records}
        self._ran = {record.name for record in records if record.status is StageStatus.RAN}
        self._records = {each.generation: each.record.entries for each in replies if each.record is not None}

    # ---- notes ------------------------------------------------------------------------------------------------------

    def notes(self) -> Iterator[Suspect]:
        """Notes that are gone or read otherwise than recorded; then what a disputed note may have had."""
        entries = self._project.index.entries
        disputed = [(reply, each) for reply in self._replies for each in reply.differing]
        known: set[str] = set()
        for _reply, each in disputed:
            there = each.there
            if there is not None and each.title not in known and found_among(there, entries) is None:
                known.add(each.title)
                yield self._missing(there)
        for title, (facts, proven) in self._facts().items():
            words = "; ".join(facts)
            newer = self._newer(next(each for each in entries if each.title == title))
            yield Suspect(
                SuspectKind.NOTE, f"The {self._what} {quoted(title)} was another one then: {words}.{newer}",
                partial(self._edited, title, self._as_recorded), title, proven=proven,
            )  # fmt: skip
        for _reply, each in disputed:
            entry = None if each.there is None else found_among(each.there, entries)
            if entry is not None and each.where is WentIn.THERE and entry.title not in known:
                known.add(entry.title)
                yield from self._relaxed(entry, each.there)
            elif each.where is WentIn.HERE and each.title not in known and each.entry is not None:
                known.add(each.title)
                if each.entry < len(entries) and entries[each.entry].title == each.title:
                    yield from self._reduced(entries[each.entry])

    def _missing(self, there: RecordedEntry) -> Suspect:
        name = quoted(there.title or there.filename)
        left_out = next((each for each in self._project.index.left_out if each.filename == there.filename), None)
        where = "lorebooks" if self._project.of_books else "vault"
        gone = f"no {self._what} of that title is in the {where} now"
        why = gone if left_out is None else f"it is no entry now: {left_out.message}"

        def carry(run: Rerun) -> Rerun | None:
            own = next((each for each in self._records.get(run.generation, ()) if each.title == there.title), None)
            if own is None:
                return None
            index = run.moment.index
            ghost = Entry(len(index.entries), own.filename, index.vaults[0] if index.vaults else "", own.title,
                          content=own.title, constant=True)  # fmt: skip
            made = run.system.as_recorded(ghost, own)
            return run.at(index=replace(index, entries=(*index.entries, made)))

        return Suspect(
            SuspectKind.NOTE, f"The {self._what} {name} was there then: {why}.", carry, there.title, proven=True
        )  # fmt: skip

    def _facts(self) -> dict[str, tuple[list[str], bool]]:
        """For each note what the records say of it otherwise than the vault, in words, and whether that proves another
        note: fewer tokens there may also be those of one that was shortened there.
        """
        found: dict[str, dict[str, None]] = {}
        shortened: set[str] = set()
        for reply in self._replies:
            for each in reply.entries:
                entry = None if each.there is None else found_among(each.there, self._project.index.entries)
                if entry is None or each.there is None:
                    continue
                told = found.setdefault(entry.title, {})
                there = each.there
                if each.where is WentIn.TOKENS and each.here is not None and not each.here.truncated:
                    words = f"it had {there.tokens:,} tokens then, and {each.here.tokens:,} in the run"
                    told[words] = None
                    if (there.tokens or 0) < each.here.tokens:
                        shortened.add(words)
                if there.title and there.title != entry.title:
                    told[f"it was called {quoted(there.title)}"] = None
                if there.priority is not None and there.priority != entry.priority:
                    told[f"its priority was {number_text(there.priority)}, not {number_text(entry.priority)}"] = None
                then = self._simulator.system.as_recorded(entry, there)
                if entry.system_fields.get(OFF) and not then.system_fields.get(OFF):
                    told["it was switched on"] = None
                gained = [key for key in then.keys if key not in entry.keys]
                told |= {f"it came in by {quoted(key)}, which is no key of it now": None for key in gained}
                if each.where is WentIn.THERE:
                    own = {"", *(key.strip() for key in entry.keys)}
                    lost = [key for key in there.keys if key.strip() not in own]
                    told |= {f"it had the key {quoted(key)}, which it does not have now": None for key in lost}
        return {title: (list(told), not shortened.issuperset(told)) for title, told in found.items() if told}

    def _as_recorded(self, entry: Entry, run: Rerun) -> Entry:
        """The note as this reply's record says that it was, else as any record does."""
        records = chain(self._records.get(run.generation, ()), *self._records.values())
        there = next((each for each in records if found_among(each, [entry]) is not None), None)
        return entry if there is None else run.system.as_recorded(entry, there)

    def _edited(self, title: str, change: Callable[[Entry, Rerun], Entry], run: Rerun) -> Rerun:
        index = run.moment.index
        entries = tuple(change(each, run) if each.title == title else each for each in index.entries)
        made = run.at(index=replace(index, entries=entries))
        return made.begun_from(self._course.state(made))

    def _newer(self, entry: Entry) -> str:
        """That the note's file was changed after a reply in which it differs, in a sentence; "" where it was not."""
        path = self._project.note_path(entry.vault, entry.filename)
        written = [
            at
            for reply in self._replies
            if any(each.title == entry.title for each in reply.differing)
            and (at := generated_at(self._chat.messages[reply.generation.message])) is not None
        ]
        try:
            newer = path is not None and written and 1000 * path.stat().st_mtime > min(written)
        except OSError:  # it has gone since the vault was read
            newer = False
        return " Its file was changed after that reply." if newer else ""

    def _was(self, entry: Entry, how: str, newer: str, **values: Any) -> Suspect:  # noqa: ANN401  # fields of an entry
        """The note as it may have been: with these values."""
        told = f"The note {quoted(entry.title)} {how} then.{newer}"
        carry = partial(self._edited, entry.title, lambda each, _run: replace(each, **values))
        return Suspect(SuspectKind.NOTE, told, carry, entry.title)

    def _relaxed(self, entry: Entry, there: RecordedEntry | None) -> Iterator[Suspect]:
        newer = self._newer(entry)
        for attribute, (value, words) in _RELAXED.items():
            if getattr(entry, attribute) not in (value, (), {}, None):
                yield self._was(entry, f"had {words}", newer, **{attribute: value})
        for other in self._project.index.entries:
            if there is not None and other.title in there.reason and entry.title not in other.cascade_links:
                links = (*other.cascade_links, entry.title)
                yield self._was(other, f"led to {quoted(entry.title)}", "", cascade_links=links)

    def _reduced(self, entry: Entry) -> Iterator[Suspect]:
        newer = self._newer(entry)
        for key in entry.keys[:_STEPS]:
            left = tuple(own for own in entry.keys if own != key)
            yield self._was(entry, f"did not have the key {quoted(key)}", newer, keys=left)
        for attribute in ("constant", "bootstrap", "seed"):
            if getattr(entry, attribute):
                yield self._was(entry, f"was not {attribute}", newer, **{attribute: False})
        yield self._was(entry, "was no entry", newer, guide=True)

    # ---- settings ---------------------------------------------------------------------------------------------------

    def settings(self) -> Iterator[Suspect]:
        """Every setting that a stage of the runs reads, with other values."""
        settings: Section = self._simulator.system.settings
        for each in declared(type(settings)):
            # A stage that did not run can be switched on; how it would have run then is nobody's guess.
            stages = self._stages if each.type is bool or each.choices else self._ran
            if each.local or each.name == "rules" or stages.isdisjoint(each.affects):
                continue
            before = getattr(settings, each.name)
            for value in self._values(each, before):
                words = f"“{each.title}” was {_spelled(value)}, not {_spelled(before)}."
                changed = {each.name: value}
                yield Suspect(SuspectKind.SETTING, words, partial(self._set, changed), each.name, settings=changed)

    def _values(self, known: Declaration, before: Any) -> Iterator[Value]:  # noqa: ANN401  # a setting's
        if known.type is bool:
            yield not before
        elif known.choices:
            yield from (each for each in known.choices if each != before and isinstance(each, known.type))
        elif known.low is not None and known.high is not None and known.type is not str:
            found: dict[float, None] = {}
            if known.type is int and known.high - known.low <= 1000:
                found |= dict.fromkeys(range(int(known.low), int(known.low) + _STEPS))
                found |= dict.fromkeys(range(before - _STEPS // 2, before + _STEPS // 2))
            found |= dict.fromkeys(before * each for each in _TENTHS)
            found |= dict.fromkeys((known.low, known.high))
            if known.name == self._simulator.system.kind.budget:
                found |= dict.fromkeys(self._most_tokens())
            for each in dict.fromkeys(round(each) if known.type is int else round(float(each), 2) for each in found):
                if known.low <= each <= known.high and each != before:
                    yield each

    def _most_tokens(self) -> Iterator[int]:
        totals = [sum(each.tokens or 0 for each in records) for records in self._records.values()]
        yield from totals
        for step in (50, 100, 250, 500, 1000):
            yield -(-max(totals, default=0) // step) * step

    def _set(self, values: Mapping[str, Value], run: Rerun) -> Rerun:
        made = run.with_settings(run.system.settings.model_copy(update=dict(values)))
        return made.begun_from(self._course.state(made))

    def rules(self) -> Iterator[Suspect]:
        """The other versions of the system's rules, where it goes by such; notes are read by them where they lie."""
        system = self._simulator.system
        before = getattr(system.settings, "rules", None)
        for version in VERSIONS if isinstance(before, str) else ():
            if version == before:
                continue
            settings = system.settings.model_copy(update={"rules": version})
            reading = system.kind.reading(settings)
            there = self._project.places and reading is not None and not self._project.reads_alike(reading)
            index = self._project.with_settings_of(system.kind, settings).index if there else None
            make = partial(self._set, {"rules": version})

            def carry(run: Rerun, make: Carry = make, index: Any = index) -> Rerun | None:  # noqa: ANN401  # as causes have it
                return make(run if index is None else run.at(index=index))

            yield Suspect(
                SuspectKind.RULES, f"The rules of {version} decided, not those of {before}.", carry, version,
                settings={"rules": version},
            )  # fmt: skip

    # ---- the chat ---------------------------------------------------------------------------------------------------

    def hidden(self) -> Iterator[Suspect]:
        """Messages of the windows that were hidden then, or in sight."""
        said: dict[int, None] = {}
        for reply in spread(self._replies, SCREENED):
            said |= dict.fromkeys(range(max(0, reply.generation.message - _WINDOW), reply.generation.message))
        for place in sorted(said):
            message = self._chat.messages[place]
            today = " and is not today" if not message.is_system else " already"
            now = self._project.history.rule is HistoryRule.NOW  # then nobody can say it of one message
            since = (HiddenSince(place, place, place + 1),) if message.was_hidden and not now else ()
            words, without = f"Message #{place} was hidden{today}.", partial(_without, place)
            yield Suspect(SuspectKind.HIDDEN, words, without, str(place), hidden=since)
            if message.was_hidden:
                yield Suspect(
                    SuspectKind.HIDDEN, f"Message #{place} was still in sight.", partial(self._with, place), str(place),
                    hidden=() if now else (HiddenSince(place, place, len(self._chat.messages)),),
                )  # fmt: skip
        rows = hidden_rows(self._project.history)
        told = {
            "hidden already": (_without, [HiddenSince(each.first, each.last, each.first + 1) for each in rows]),
            "still in sight": (
                self._with,
                [HiddenSince(each.first, each.last, each.since) for each in rows if each.since is not None],
            ),
        }
        for words, (carry, when) in told.items():
            places = [place for each in when for place in range(each.first, each.last + 1)]
            if len(places) > 1:
                every = partial(_one_after_another, [partial(carry, place) for place in places])
                title = f"What is hidden today was {words}."
                yield Suspect(SuspectKind.HIDDEN, title, every, words, hidden=tuple(when))

    def _with(self, place: int, run: Rerun) -> Rerun | None:
        places = run.moment.numbers
        if place in places or place >= run.generation.message:
            return None
        at = sum(each < place for each in places)
        shown = replace(self._chat.messages[place], is_system=False)
        chat = (*run.moment.chat[:at], shown, *run.moment.chat[at:])
        return run.at(chat=chat, positions=(*places[:at], place, *places[at:]))

    def choices(self) -> Iterator[Suspect]:
        """Pins, blocks, folders and context as they may have been: a chat keeps only the last ones."""
        now = self._project.controls
        nothing: Mapping[str, Any] = {"pins": (), "blocks": (), "folders": (), "context": {}}
        for name, title in (("pins", "Nothing was pinned"), ("blocks", "Nothing was blocked"),
                            ("folders", "No folders were chosen"), ("context", "No context was set")):  # fmt: skip
            if getattr(now, name):
                yield _chosen(f"{title} yet.", **{name: nothing[name]})
        if sum(bool(getattr(now, name)) for name in nothing) > 1:
            yield _chosen("Nothing was pinned, blocked, filtered or set as context yet.", **nothing)
        for name, done in (("pins", "pinned"), ("blocks", "blocked")):
            rules = getattr(now, name)
            for rule in rules:
                others = tuple(each for each in rules if each != rule)
                yield _chosen(f"{quoted(rule.title)} was not {done} yet.", **{name: others})
        pinned = {each.title for records in self._records.values() for each in records if each.reason == PINNED}
        for title in sorted(pinned):
            yield _chosen(f"{quoted(title)} was pinned.", pins=(*now.pins, EntryRule(title)))
        if pinned:
            yield _chosen("Other entries were pinned.", pins=tuple(map(EntryRule, sorted(pinned))))
        if pinned - {each.title for each in now.pins}:
            yield Suspect(SuspectKind.CHOICE, "Other entries were pinned and blocked.", self._chosen_otherwise)
        yield from self._contexts(now.context)
        names = {each.name for each in self._chat.messages if each.name and not each.is_user}
        for name in sorted(names - {self._project.active_character}):
            yield _chosen(f"{name} was the active character.", character=name)

    def _chosen_otherwise(self, run: Rerun) -> Rerun | None:
        """What went in only there was pinned, and what would only go in here was blocked."""
        reply = next((each for each in self._replies if each.generation == run.generation), None)
        if reply is None:
            return None
        titles = {where: tuple(EntryRule(each.title) for each in reply.differing if each.where is where)
                  for where in (WentIn.THERE, WentIn.HERE)}  # fmt: skip
        controls = replace(run.moment.controls, pins=titles[WentIn.THERE], blocks=titles[WentIn.HERE])
        return run.at(controls=controls)

    def _contexts(self, now: Mapping[str, Json]) -> Iterator[Suspect]:
        values: dict[str, dict[str, None]] = {key: {} for key in now}
        for entry in self._project.index.entries:
            for key, value in entry.custom_fields.items():
                every = value if isinstance(value, list | tuple) else [value]
                values.setdefault(key, {}).update(dict.fromkeys(each for each in every if isinstance(each, str)))
        for key, several in values.items():
            others = {name: value for name, value in now.items() if name != key}
            if key in now:
                yield _chosen(f"The context “{key}” was not set yet.", context=others)
            for value in list(several)[:_STEPS]:
                yield _chosen(f"The context “{key}” was “{value}”.", context={**others, key: value})

    # ---- what no file keeps -----------------------------------------------------------------------------------------

    def unkept(self) -> Iterator[Suspect]:
        """Trackers that began anew, a reply that was continued, and what the system says that nobody keeps."""
        for start in range(1, len(self._course.generations)):
            first = self._course.generations[start]

            def anew(run: Rerun, start: int = start, first: Generation = first) -> Rerun | None:
                if run.generation < first or self._simulator.place(run.generation) - start > _STEPS:
                    return None
                state = self._course.state(run, start)
                return None if state is run.state else run.begun_from(state)

            if any(anew(Rerun.of(self._simulator, each.generation)) for each in self._replies):
                yield Suspect(SuspectKind.UNKEPT, f"The chat was opened again before #{first.message}.", anew)
        for behind, pausing in (("", False), (", and what went in for that paused", True)):
            title = f"The reply was continued, so that its beginning was read{behind}."
            yield Suspect(SuspectKind.UNKEPT, title, partial(self._continued, pausing))
        words: dict[str, None] = {}
        for reply in self._replies:
            run = Rerun.of(self._simulator, reply.generation)
            words |= dict.fromkeys(each for each, _run in run.system.unrecorded(run))
        for each in words:
            yield Suspect(SuspectKind.UNKEPT, f"{each[0].upper()}{each[1:]}.", partial(_as_nobody_kept, each))

    def _continued(self, pausing: bool, run: Rerun) -> Rerun | None:
        if run.generation.message >= len(self._chat.messages):
            return None
        begun = asyncio.run(run.system.decide(run.moment, run.state)).state if pausing else run.state
        return run.continued(self._chat.messages[run.generation.message]).begun_from(begun)


def _without(place: int, run: Rerun) -> Rerun | None:
    places = run.moment.numbers
    if place not in places:
        return None
    at = places.index(place)
    chat = (*run.moment.chat[:at], *run.moment.chat[at + 1 :])
    return run.at(chat=chat, positions=(*places[:at], *places[at + 1 :]))


def _one_after_another(carries: Sequence[Carry], run: Rerun) -> Rerun:
    for carry in carries:
        run = carry(run) or run
    return run


def _as_nobody_kept(words: str, run: Rerun) -> Rerun | None:
    return next((other for said, other in run.system.unrecorded(run) if said == words), None)


def _chosen(title: str, **values: Any) -> Suspect:  # noqa: ANN401  # fields of the choices
    return Suspect(SuspectKind.CHOICE, title, lambda run: run.at(controls=replace(run.moment.controls, **values)))


def _spelled(value: Any) -> str:  # noqa: ANN401  # a setting's
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int) else number_text(value) if isinstance(value, float) else f"“{value}”"
