"""What a report tells: runs, the messages they looked at, and the settings that the system has otherwise by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.history import shown_again
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import grouped, replace
from lorestudio.domain.resources import VERSION
from lorestudio.settings.sections import differences
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import trace_of
from lorestudio.systems.base import Deciding
from lorestudio.trace.found_keys import FoundKey, keys_of_verdict
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.redaction import Pseudonyms, of_length, redacted
from lorestudio.trace.wording import number_words, plural, quoted

MESSAGES_SHOWN = 12
"""Messages before a reply that a report quotes; scan depths beyond it are rare."""


class ReportMark(Struct, frozen=True):
    """Characters `start` up to `end` of a message's text that are a key; `words` say whose.

    `refine` marks a refine key, `lacking` a key that was not enough for want of refine keys.
    """

    start: int
    end: int
    words: str = ""
    refine: bool = False
    lacking: bool = False


class ReportMessage(Struct, frozen=True):
    """A message of the chat. `marks` are the keys that were found in it, in order; none lies over another."""

    number: int
    speaker: str
    text: str
    hidden: bool = False
    marks: tuple[ReportMark, ...] = ()


class ReportSetting(Struct, frozen=True):
    """A setting that the system has otherwise by itself, in words; `written`: in those of a person."""

    title: str
    value: str
    usual: str
    written: bool = False


class ReportTurn(Struct, frozen=True):
    """One run, with the messages before its reply."""

    trace: Trace
    messages: tuple[ReportMessage, ...] = ()


class ReportSource(Struct, frozen=True):
    """A whole report as data. `system` names who decided; `redacted` says that no word of the person's is in it."""

    vault: str
    chat: str
    turns: tuple[ReportTurn, ...]
    system: str = ""
    settings: tuple[ReportSetting, ...] = ()
    redacted: bool = False
    version: str = field(default=VERSION)

    @property
    def whole_chat(self) -> bool:
        """Whether there are several turns, so that some texts are told once or left out for their size."""
        return len(self.turns) > 1


def gather(
    project: Project, traces: Mapping[Generation, Trace], chosen: Generation | None = None, by: Deciding | None = None
) -> ReportSource:
    """The report of one generation, or of all that were run, in the order of the mapping.

    `by` has decided, None for the project's own system.
    Raises ValueError for a generation that was not run.
    """
    runs = [trace_of(traces, chosen)] if chosen is not None else list(traces.values())
    chat = project.chat or Chat()
    turns = tuple(ReportTurn(trace, _messages(chat, trace) if chosen is not None else ()) for trace in runs)
    name = project.chat_path.name if project.chat_path is not None else ""
    by = by or project.searching()
    return ReportSource(project.name, name, turns, by.kind.title, _settings(by))


def without_words(source: ReportSource) -> ReportSource:
    """The same report without anything that a person wrote: safe to post where everybody reads it."""
    names = Pseudonyms()
    turns = tuple(
        ReportTurn(redacted(turn.trace, names), tuple(_silent(message, names) for message in turn.messages))
        for turn in source.turns
    )
    settings = tuple(replace(one, value=of_length(one.value)) if one.written else one for one in source.settings)
    vault = names.of("Vault", source.vault) if source.vault else ""
    return replace(
        source, vault=vault, chat="Chat 1" if source.chat else "", turns=turns, settings=settings, redacted=True
    )


def _silent(message: ReportMessage, names: Pseudonyms) -> ReportMessage:
    speaker = names.of("Speaker", message.speaker) if message.speaker else ""
    found = f", {plural(len(message.marks), '# key|# keys')} found" if message.marks else ""
    return replace(message, speaker=speaker, text=of_length(message.text) + found, marks=())


def _settings(by: Deciding) -> tuple[ReportSetting, ...]:
    """What was set otherwise, of the settings that have a part in retrieval."""
    return tuple(
        ReportSetting(
            each.declaration.title,
            _worded(each.after),
            _worded(each.before),
            written=isinstance(each.after, str) and each.after not in {"", *map(str, each.declaration.choices)},
        )
        for each in differences(by.kind.settings(), by.settings)
        if each.declaration.affects
    )


def _worded(value: Json) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return number_words(value)
    return str(value) or "empty"


def _messages(chat: Chat, trace: Trace) -> tuple[ReportMessage, ...]:
    """The messages that the keys were searched in, as they were searched, with the keys that were found.

    At least the last one is there.
    """
    chat = shown_again(chat, trace.seen.shown)
    read = {each.message: each.text for each in trace.seen.read}
    depths = (record.details.get("messages") for record in trace.stages)
    wanted = min(max((each for each in depths if isinstance(each, int) and each), default=1), MESSAGES_SHOWN)
    marks = found_keys(trace)
    first, seen = trace.turn.message, 0
    while first > 0 and seen < wanted:
        first -= 1
        seen += chat.messages[first].scannable
    return tuple(
        ReportMessage(
            place,
            chat.messages[place].name or "",
            read.get(place, chat.messages[place].text),
            chat.messages[place].is_system,
            _apart(marks.get(place, ()), len(read.get(place, chat.messages[place].text))),
        )
        for place in range(first, trace.turn.message)
    )


def found_keys(trace: Trace) -> dict[int, tuple[ReportMark, ...]]:
    """The keys that were found in texts of the chat, by message; of two that meet, keys stand before refine keys."""
    found: dict[int, list[ReportMark]] = {}
    for record in trace.stages:
        for verdict in record.verdicts:
            for key in keys_of_verdict(verdict, trace.words):
                if key.message is not None and key.place is not None:  # a hit in the speaker's name has no place
                    found.setdefault(key.message, []).append(_mark(trace, key, *key.place))
    return {message: tuple(_joined(marks)) for message, marks in found.items()}


def _mark(trace: Trace, key: FoundKey, start: int, end: int) -> ReportMark:
    ref = trace.entries.get(key.entry)
    whose = f" of {quoted(ref.title)}" if ref is not None else ""
    words = f"{'Refine key' if key.refine else 'Key'}{whose}."
    return ReportMark(start, end, f"{words} {key.missing}".strip(), key.refine, bool(key.missing))


def _joined(marks: Sequence[ReportMark]) -> Iterator[ReportMark]:
    """The marks in the order of the text; those of one place are one, a key where any of them is a key."""
    places = grouped(((mark.start, mark.end), mark) for mark in marks)
    for (start, end), here in sorted(places.items()):
        words = " ".join(dict.fromkeys(mark.words for mark in here))
        keys = [mark for mark in here if not mark.refine]
        yield ReportMark(start, end, words, not keys, bool(keys) and all(mark.lacking for mark in keys))


def _apart(marks: Sequence[ReportMark], size: int) -> tuple[ReportMark, ...]:
    """The marks without those that lie in another one, or beyond the text."""
    kept: list[ReportMark] = []
    for mark in marks:
        if 0 <= mark.start < mark.end <= size and (not kept or mark.start >= kept[-1].end):
            kept.append(mark)
    return tuple(kept)
