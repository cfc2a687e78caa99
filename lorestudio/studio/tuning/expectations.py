"""What a person expects of the prompt, kept as YAML beside the notes, and whether a run meets it.

    expectations:
      - note: Harbour.md
        should: be in
        whenever: the ferry
      - notes: constants
        should: take at most
        tokens: 800
      - note: Hat Wasps
        should: not be in
        reply: {chat: demo, number: 12, after: 3f2a9c81d0b4}

A reply is known by the message that it answers, so that it is found again where messages were moved; no text of the
chat stands in the file. One that cannot be read is told with its line, and the others hold. Of a run only so much is
kept, without texts, as is compared over whole chats and many settings (`TurnOutcome`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import Terse, grouped, replace
from lorestudio.domain.texts import comparable, meant, text_digest
from lorestudio.exchange.problems import InputError, said
from lorestudio.trace.budget import cut_tokens, cut_verdicts
from lorestudio.trace.journey import FOREIGN_IDS
from lorestudio.trace.model import Phase, Trace
from lorestudio.trace.timeline import fired_in
from lorestudio.trace.wording import plural
from lorestudio.vault.files import VaultError
from lorestudio.vault.note.spelling import plain_is_safe
from lorestudio.vault.note.text_edits import TextEdit, apply_edits
from lorestudio.vault.note.yaml_reading import TOO_LONG, too_deep, too_long
from lorestudio.vault.writer import read_note


class TurnOutcome(Terse, frozen=True):
    """One generation. `injected` and `cut` are ids with tokens; what went in is in the order of the prompt.

    `matched` were let in by a matching stage, `selected` went on from the last stage that selects or were let in behind
    it, both in ascending order: sets take six times as much, and of a long chat there are thousands. Where nothing
    selects, all that matched go on. `cut` is what the budget kept out. `strangers` are titles of entries that are none
    of the vault's.
    """

    unprinted = ("strangers",)

    message: int
    swipe: int
    number: int
    injected: tuple[tuple[int, int], ...] = ()
    matched: tuple[int, ...] = ()
    selected: tuple[int, ...] = ()
    shortened: frozenset[int] = frozenset()
    cut: tuple[tuple[int, int], ...] = ()
    ai_calls: int = 0
    strangers: tuple[tuple[int, str], ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of everything that went in."""
        return sum(tokens for _, tokens in self.injected)


def turn_outcome(trace: Trace) -> TurnOutcome:
    """What the run of a trace came to."""
    matched, _ = fired_in(trace)
    selecting = [place for place, record in enumerate(trace.stages) if record.phase is Phase.SELECT]
    selected = matched
    if selecting:
        behind, _ = fired_in(replace(trace, stages=trace.stages[selecting[-1] + 1 :], injections=()))
        selected = behind.union(trace.stages[selecting[-1]].left)
    return TurnOutcome(
        trace.turn.message,
        trace.turn.swipe,
        trace.turn.number,
        tuple((injection.entry, injection.tokens) for injection in trace.injections),
        tuple(sorted(matched)),
        tuple(sorted(selected)),
        frozenset(injection.entry for injection in trace.injections if injection.truncated),
        tuple((verdict.entry, cut_tokens(trace, verdict)) for verdict in cut_verdicts(trace)),
        sum(call.kind != "embedding" for call in trace.ai_calls),  # who makes vectors answers no question
        tuple((entry, ref.title) for entry, ref in trace.entries.items() if entry >= FOREIGN_IDS),
    )


FILE_NAME: Final = "lorestudio-expectations.yaml"
"""In the folder of the first vault; it is no note."""

CONSTANTS: Final = "constants"
"""In place of notes: all that are constant."""

_HEAD: Final = """\
# What should be in the prompt, and when. Checked by lorestudio in its window, and by `lorestudio check`.
expectations:
"""


class Should(StrEnum):
    """What is expected of notes. `BEFORE` and `APART` hold where not all of the notes are in."""

    IN = "be in"
    OUT = "not be in"
    MATCHED = "be matched"
    SELECTED = "be selected"
    WHOLE = "be in whole"
    BEFORE = "come before"
    APART = "never be together"
    WITHIN = "take at most"


_NOTES: Final[Mapping[Should, tuple[int, int | None]]] = {Should.BEFORE: (2, 2), Should.APART: (2, None)}
"""How many notes an expectation names, at least and at most, where one or more are not enough said."""


class ReplyMark(Struct, frozen=True):
    """A reply of a chat: by the digest of the message that it answers; `chat` and `number` say what it was called."""

    chat: str
    number: int
    after: str

    def among(self, answers: Mapping[str, Sequence[int]]) -> int | None:
        """The index of the reply by the `answers_of` a chat, None where none answers that message; of several the
        nearest one.
        """
        return min(answers.get(self.after, ()), key=lambda place: abs(place - self.number), default=None)


def answers_of(chat: Chat) -> Mapping[str, Sequence[int]]:
    """The indices of a chat's replies, the one to come too, by the digest of the message that each answers."""
    return grouped((answered(chat, place), place) for place in (*chat.replies, len(chat.messages)))


def answered(chat: Chat, place: int) -> str:
    """The digest of the message before this place: 12 hexadecimal figures, "" at the beginning."""
    if not 0 < place <= len(chat.messages):
        return ""
    message = chat.messages[place - 1]
    return _digest(message.name, message.text)


@lru_cache(maxsize=16_384)
def _digest(name: str | None, text: str) -> str:
    return text_digest(f"{name}\0{text}")[:12]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What should be so for one reply, whenever a text is in the message that is answered, or always.

    `notes` are file names or titles. `tokens` go with `Should.WITHIN`. `because` is the person's own remark. `line` is
    where it stands in its file, from 1, 0 for one that stands in none.
    """

    should: Should
    notes: tuple[str, ...]
    tokens: int | None = None
    whenever: str = ""
    reply: ReplyMark | None = None
    because: str = ""
    line: int = field(default=0, compare=False)

    @property
    def sentence(self) -> str:
        """The expectation in words, as its file says it."""
        names = [name.removesuffix(".md").rpartition("/")[2] if name.endswith(".md") else name for name in self.notes]
        if self.should is Should.BEFORE:
            what = f"{names[0]} should come before {names[1]}"
        elif self.should is Should.WITHIN:
            what = f"{', '.join(names)} should take at most {plural(self.tokens or 0, '# token|# tokens')}"
        else:
            what = f"{', '.join(names)} should {self.should.value}"
        if self.reply is not None:
            of_chat = f" of {self.reply.chat}" if self.reply.chat else ""
            return f"{what} (reply #{self.reply.number}{of_chat})"
        return f"{what} whenever “{self.whenever}” is said" if self.whenever else what

    def speaks_of(self, chat: Chat, reply: int) -> bool:
        """Whether one that stands for no single reply says something about a reply of this chat, by its place."""
        if not self.whenever:
            return True
        before = chat.messages[reply - 1].text if 0 < reply <= len(chat.messages) else ""
        return comparable(self.whenever) in comparable(before)

    def broken_by(self, notes: Sequence[frozenset[int]], outcome: TurnOutcome) -> frozenset[int] | None:
        """The entries by which a run breaks it, None where it is met. `notes` are the ids that each name stands for."""
        places = {entry: place for place, (entry, _) in enumerate(outcome.injected)}
        inside = [ids & places.keys() for ids in notes]
        held: Mapping[Should, Collection[int]] = {
            Should.IN: places,
            Should.MATCHED: outcome.matched,
            Should.SELECTED: outcome.selected,
            Should.WHOLE: places.keys() - outcome.shortened,
        }
        if self.should in held:
            lacking = [ids for ids in notes if ids.isdisjoint(held[self.should])]
            return frozenset[int]().union(*lacking) if lacking else None
        present = frozenset[int]().union(*inside)
        if self.should is Should.OUT:
            return present or None
        if self.should is Should.APART:
            return present if sum(map(bool, inside)) > 1 else None
        if self.should is Should.BEFORE:
            first, then = ([places[entry] for entry in ids] for ids in inside)
            return present if first and then and min(first) > min(then) else None
        taken = sum(tokens for entry, tokens in outcome.injected if entry in present)
        return present if taken > (self.tokens or 0) else None


class _NamedEntries:
    """The entries by everything that an expectation may call them; `strangers` are titles of those that are no notes.

    All are gone through once, and not for each name.
    """

    def __init__(self, index: VaultIndex, strangers: Mapping[int, str]) -> None:
        self._entries = {entry.id: entry for entry in index.entries}
        self._strangers = strangers

    @cached_property
    def _constants(self) -> Sequence[int]:
        return [entry.id for entry in self._entries.values() if entry.constant]

    @cached_property
    def _files(self) -> Mapping[str, Sequence[int]]:
        entries = self._entries.values()
        return grouped((name, each.id) for each in entries for name in (each.filename, f"{each.vault}:{each.filename}"))

    @cached_property
    def _files_alike(self) -> Mapping[str, Sequence[int]]:
        return grouped((comparable(name), entry) for name, ids in self._files.items() for entry in ids)

    @cached_property
    def _titles(self) -> Mapping[str, Sequence[int]]:
        return grouped((comparable(entry.title), entry.id) for entry in self._entries.values())

    @cached_property
    def _strange_titles(self) -> Mapping[str, Sequence[int]]:
        return grouped((comparable(title), entry) for entry, title in self._strangers.items())

    def ids(self, name: str) -> frozenset[int]:
        """Those of a note by its file or title, of all constants, or of entries that are no notes; none: unknown."""
        if name == CONSTANTS:
            return frozenset(self._constants)
        found = self._files.get(name)
        if found is None and name.endswith(".md"):  # as Windows and macOS take it for the same
            found = self._files_alike.get(comparable(name))
        if found is None:
            title = comparable(name.removesuffix(".md").rpartition("/")[2])
            found = self._titles.get(title) or self._strange_titles.get(title, ())
        return frozenset(found)

    def called(self, name: str, ids: frozenset[int]) -> str:
        """What people call a note: by its title, as everywhere; by its file where another one has the same title."""
        entry = self._entries.get(min(ids, default=-1))
        if entry is None or name == CONSTANTS:
            return name
        alone = len(self._titles[comparable(entry.title)]) == 1
        return entry.title if alone or not entry.filename.endswith(".md") else name  # in a lorebook that is a number


# ---- judging --------------------------------------------------------------------------------------------------------


class JudgedTurn(Struct, frozen=True):
    """A reply of which an expectation speaks. `entries` are those by which it is broken, none where it is met."""

    generation: Generation
    met: bool
    entries: frozenset[int] = frozenset()


class Judged(Struct, frozen=True):
    """An expectation with every reply that it speaks of. `problem` says why it could not be judged, "" where it was.

    `notes` are the ids that each of its names stands for. `names` is what people call its notes, `reply` what its reply
    is called in this chat.
    """

    expectation: Expectation
    turns: tuple[JudgedTurn, ...] = ()
    problem: str = ""
    notes: tuple[frozenset[int], ...] = ()
    reply: ReplyMark | None = None
    names: tuple[str, ...] = ()

    @property
    def called(self) -> Expectation:
        """The expectation with its notes and its reply as they are called in this project and chat."""
        told = self.expectation
        return replace(told, reply=self.reply or told.reply, notes=self.names or told.notes)

    @property
    def broken(self) -> tuple[JudgedTurn, ...]:
        """The replies in which it is not met."""
        return tuple(turn for turn in self.turns if not turn.met)

    @property
    def met(self) -> bool:
        """Whether it was judged and holds in every reply that it speaks of."""
        return not self.problem and not self.broken


def judge(
    expectations: Sequence[Expectation], chat: Chat, chat_name: str, index: VaultIndex, outcomes: Sequence[TurnOutcome]
) -> tuple[Judged, ...]:
    """Each expectation against the outcomes of a chat: of a reply the swipe that is active, and the reply to come.

    Expectations of single replies of other chats have no turns.
    """
    strangers = {entry: title for outcome in outcomes for entry, title in outcome.strangers}
    shown = shown_swipes(chat, outcomes)
    answers, named = answers_of(chat), _NamedEntries(index, strangers)
    return tuple(_judged(each, chat, chat_name, named, shown, answers) for each in expectations)


def shown_swipes(chat: Chat, outcomes: Sequence[TurnOutcome]) -> tuple[TurnOutcome, ...]:
    """Of each reply the swipe that is active, and the reply to come."""
    messages = chat.messages
    return tuple(
        each for each in outcomes if each.swipe == (messages[each.message].swipe if each.message < len(messages) else 0)
    )


def _judged(
    expectation: Expectation,
    chat: Chat,
    chat_name: str,
    named: _NamedEntries,
    outcomes: Sequence[TurnOutcome],
    answers: Mapping[str, Sequence[int]],
) -> Judged:
    mark = expectation.reply
    place = None if mark is None else mark.among(answers)
    if mark is not None and place is None:
        if mark.chat != chat_name:
            return Judged(expectation)
        gone = f"The message before reply #{mark.number} is another one than when this was written, or is gone."
        return Judged(expectation, problem=f"{gone} Say it again for the reply that you mean.")
    found = None if mark is None or place is None else ReplyMark(chat_name, place, mark.after)
    notes = [named.ids(name) for name in expectation.notes]
    known = (bool(ids) or name == CONSTANTS for name, ids in zip(expectation.notes, notes, strict=True))
    unknown = next((name for name, there in zip(expectation.notes, known, strict=True) if not there), None)
    if unknown is not None:
        return Judged(
            expectation, problem=f"There is no entry “{unknown}”. Name it by its file or its title.", reply=found
        )
    turns = []
    for outcome in outcomes:
        if outcome.message == place if mark is not None else expectation.speaks_of(chat, outcome.message):
            entries = expectation.broken_by(notes, outcome)
            turns.append(
                JudgedTurn(Generation(outcome.message, outcome.swipe), entries is None, entries or frozenset())
            )
    names = tuple(named.called(name, ids) for name, ids in zip(expectation.notes, notes, strict=True))
    return Judged(expectation, tuple(turns), notes=tuple(notes), reply=found, names=names)


# ---- the file -------------------------------------------------------------------------------------------------------


class _Reply(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid")
    chat: str = ""
    number: int = Field(ge=0)
    after: str


class _Item(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid")
    should: Should
    note: str = ""
    notes: list[str] | str = Field(default_factory=list)
    tokens: int | None = Field(default=None, ge=0)
    whenever: str = ""
    reply: _Reply | None = None
    because: str = ""

    def expectation(self, line: int) -> Expectation:
        """As the rest of the program knows it. Raises ValueError where parts do not go together."""
        several = [self.notes] if isinstance(self.notes, str) else self.notes
        notes = tuple(name for name in (self.note, *several) if name)
        least, most = _NOTES.get(self.should, (1, None))
        if len(notes) < least or (most is not None and len(notes) > most):
            wanted = f"{least} notes" if most is not None else plural(least, "one note|# notes") + " or more"
            message = f"“{self.should.value}” needs {wanted}, under `note` or `notes`"
            raise ValueError(message)
        if (self.tokens is None) is (self.should is Should.WITHIN):
            raise ValueError("`tokens` is needed with “take at most”, and with nothing else")
        if CONSTANTS in notes and self.should is not Should.WITHIN:
            raise ValueError(f"“{CONSTANTS}” goes with “take at most” only")
        if self.reply is not None and self.whenever:
            raise ValueError("`reply` and `whenever` do not go together")
        mark = ReplyMark(self.reply.chat, self.reply.number, self.reply.after) if self.reply is not None else None
        return Expectation(self.should, notes, self.tokens, self.whenever, mark, self.because, line)


class Expectations(Struct, frozen=True):
    """The text of a file, what it expects, and sentences on what cannot be read there. `digest` None: no file yet."""

    text: str = _HEAD
    every: tuple[Expectation, ...] = ()
    problems: tuple[str, ...] = ()
    digest: str | None = None

    def with_added(self, expectation: Expectation) -> Expectations:
        """With one more at the end; everything else stays to the letter. Raises InputError for an unreadable text."""
        if _items(self.text, FILE_NAME) is None:
            lead = self.text if not self.text or self.text.endswith("\n") else self.text + "\n"
            lead += "" if any(line.startswith("expectations:") for line in lead.splitlines()) else "expectations:\n"
        else:
            lead = self.text if self.text.endswith("\n") else self.text + "\n"
        return parse(lead + _spelled(expectation), FILE_NAME, self.digest)

    def with_names(self, renamed: Callable[[str], str], path: Path | str = FILE_NAME) -> Expectations:
        """With other names of notes; everything else stays to the letter. Raises InputError for an unreadable text."""
        edits = []
        for node in _name_nodes(self.text) if _items(self.text, path) is not None else ():
            name = renamed(node.value)
            if name != node.value:
                spelled = name if node.style is None and plain_is_safe(name, flow=True) else json.dumps(name)
                edits.append(TextEdit(node.start_mark.index, node.end_mark.index, spelled))
        return parse(apply_edits(self.text, edits), path, self.digest)

    def without(self, expectation: Expectation) -> Expectations:
        """Without one of them, found by its line; everything else stays to the letter."""
        lines = self.text.splitlines(keepends=True)
        items = _items(self.text, FILE_NAME)
        begins = [items.lc.item(place)[0] + 1 for place in range(len(items))] if items is not None else []
        after = next((line for line in begins if line > expectation.line), None)
        end = after - 1 if after is not None else len(lines)
        while after is not None and end > expectation.line and lines[end - 1].lstrip().startswith("#"):
            end -= 1  # a comment above the next one is about that
        return parse("".join(lines[: expectation.line - 1] + lines[end:]), FILE_NAME, self.digest)


def expectations_path(folders: Sequence[Path]) -> Path | None:
    """Where the expectations are kept of a project whose notes or lorebooks lie in these folders, None without any."""
    return folders[0] / FILE_NAME if folders else None


def about_books(books: Sequence[Path]) -> tuple[Path, ...]:
    """What a `ChangeLog` of lorebooks is about: the files, what is expected beside them, and new files there.

    Other lorebooks lie in the same folders.
    """
    folders = {book.parent for book in books}
    return (*books, *folders, *(folder / FILE_NAME for folder in folders))


def load(path: Path) -> Expectations:
    """What a file expects, nothing where there is none. Raises InputError where it is no such file at all."""
    if not path.exists():
        return Expectations()
    try:
        text, digest = read_note(path)
    except VaultError as error:
        raise InputError(path, str(error)) from error
    return parse(text, path, digest)


def parse(text: str, path: Path | str = FILE_NAME, digest: str | None = None) -> Expectations:
    """Read a text. Raises InputError where it is no YAML of this kind; single items that are wrong become problems."""
    found: list[Expectation] = []
    problems: list[str] = []
    items = _items(text, path) or CommentedSeq()
    for place, item in enumerate(items):
        line = (items.lc.item(place) or (0,))[0] + 1  # a list with a tag does not know its lines
        if not isinstance(item, Mapping):
            problems.append(f"{path}, line {line}: write it as in {{note: Lamp, should: be in}}.")
            continue
        try:
            found.append(_Item.model_validate(item).expectation(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "it"
            unknown = meant(where, _Item.model_fields) if first["type"] == "extra_forbidden" else ""
            problems.append(f"{path}, line {line}: {where}: {said(first)}.{unknown}")
        except ValueError as error:
            problems.append(f"{path}, line {line}: {error}.")
    return Expectations(text, tuple(found), tuple(problems), digest)


def _items(text: str, path: Path | str) -> CommentedSeq | None:
    if too_long(text) or too_deep(text):
        raise InputError(path, f"{TOO_LONG}. Take some out." if too_long(text) else "it is nested too deeply.")
    try:
        document = YAML().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{path}{line}", f"this is no YAML: {error.problem}.") from error
    except (YAMLError, ValueError, KeyError) as error:
        raise InputError(path, f"this is no YAML: {error}.") from error
    except RecursionError as error:
        raise InputError(path, "it is nested too deeply.") from error
    items = document.get("expectations") if isinstance(document, CommentedMap) else document
    if items is not None and not isinstance(items, CommentedSeq):
        raise InputError(path, "write a list under `expectations:`, each with `note` and `should`.")
    return items


def _name_nodes(text: str) -> Iterator[ScalarNode]:
    """Where names of notes stand in a text that can be read."""
    root = YAML().compose(text)
    if isinstance(root, MappingNode):
        root = next(value for key, value in root.value if key.value == "expectations")
    for item in root.value:
        for key, value in item.value if isinstance(item, MappingNode) else ():
            if key.value in {"note", "notes"}:
                names = value.value if isinstance(value, SequenceNode) else [value]
                yield from (name for name in names if isinstance(name, ScalarNode))


def _spelled(expectation: Expectation) -> str:
    """An item of the list, as it stands in the file."""
    item = CommentedMap()
    if len(expectation.notes) == 1 and expectation.notes[0] != CONSTANTS:
        item["note"] = expectation.notes[0]
    else:
        item["notes"] = CONSTANTS if expectation.notes == (CONSTANTS,) else list(expectation.notes)
    item["should"] = expectation.should.value
    if expectation.tokens is not None:
        item["tokens"] = expectation.tokens
    if expectation.whenever:
        item["whenever"] = expectation.whenever
    if (mark := expectation.reply) is not None:
        # what writes YAML leaves texts bare in braces that what reads it stumbles over: ?0
        chat = mark.chat if plain_is_safe(mark.chat, flow=True) else DoubleQuotedScalarString(mark.chat)
        item["reply"] = CommentedMap(chat=chat, number=mark.number, after=mark.after)
        item["reply"].fa.set_flow_style()
    if expectation.because:
        item["because"] = expectation.because
    yaml = YAML()
    yaml.width = 10_000
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.dump(CommentedSeq([item]), stream)
    return stream.getvalue()
