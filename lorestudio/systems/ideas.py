"""Single changes to a project, and which may bring an entry in, or keep it out, as far as declared settings tell.

A change is one setting, one choice for the chat, or one property of one note. Every setting that a stage of the system
reads is tried, towards both ends of its range: which of them help, only the system can tell. Settings of the token
counter, of one computer and those called advanced are left alone.

Keys of a note are proposed as an author would choose them: its names, words of its title and its keys, proper names of
its text, and what its first sentence says that it is. Whether a key hits is only ever said by a run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar, overload

from msgspec import Struct, field

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, OfNote
from lorestudio.domain.javascript import Json, fold, trim
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule, has_rule
from lorestudio.domain.texts import figures
from lorestudio.llm.stand_in import COMMON_WORDS
from lorestudio.settings.declaration import Declaration, Section, Value, declared
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Trace
from lorestudio.trace.wording import quoted

_NOTHING: Final[Mapping[str, Value]] = MappingProxyType({})

SettingsT = TypeVar("SettingsT", bound=Section)


class RunPart(StrEnum):
    """The part of a project that a change is made in."""

    NOTE = "note"
    CHAT = "chat"
    SETTINGS = "settings"


class NoteEdit(OfNote, Struct, frozen=True):
    """One property of one note: it goes (`removed`), its list gains and loses items, or it gets `value`."""

    vault: str
    filename: str
    name: str
    value: Json = None
    removed: bool = False
    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        note: Entry | LeftOutNote,
        name: str,
        value: Json = None,
        *,
        removed: bool = False,
        add: tuple[str, ...] = (),
        drop: tuple[str, ...] = (),
    ) -> NoteEdit:
        """The edit of one property of that note."""
        return cls(note.vault, note.filename, name, value, removed, add, drop)


class Change(Struct, frozen=True):
    """One change: exactly one of `note`, `controls` and `settings` is there.

    `code` is the kind of change, `title` says what to do, e.g. "Raise “Scan depth” from 4 to 7". `controls` are all of
    the chat's choices with the change, `settings` values by the names of the settings of the system that it is for.
    `forced` ones bring an entry in, or keep it out, whatever is said from then on. `brief` is the title beside the
    entry's own, for a button.
    """

    code: str
    title: str
    note: NoteEdit | None = None
    controls: ChatControls | None = None
    settings: Mapping[str, Value] = field(default_factory=lambda: _NOTHING)
    forced: bool = False
    brief: str = ""

    @property
    def label(self) -> str:
        """The title as it stands in the row of the entry."""
        return self.brief or self.title

    @property
    def part(self) -> RunPart:
        """Where the change is made."""
        if self.note is not None:
            return RunPart.NOTE
        return RunPart.CHAT if self.controls is not None else RunPart.SETTINGS

    def set_in(self, settings: SettingsT) -> SettingsT:
        """The settings with the change."""
        return settings.model_copy(update=dict(self.settings)) if self.settings else settings

    def chosen_in(self, controls: ChatControls) -> ChatControls:
        """The chat's choices with the change, as `controls` have them at some moment of the chat."""
        if self.controls is None:
            return controls
        chosen = self.controls
        return replace(controls, pins=chosen.pins, blocks=chosen.blocks, folders=chosen.folders, context=chosen.context)


class Steps(Sequence[Change]):
    """Changes that differ in one number, made when they are asked for: a budget has a hundred thousand of them."""

    def __init__(self, numbers: Sequence[int], make: Callable[[int], Change]) -> None:
        self._numbers, self._make = numbers, make

    @overload
    def __getitem__(self, place: int) -> Change: ...

    @overload
    def __getitem__(self, place: slice) -> Steps: ...

    def __getitem__(self, place: int | slice) -> Change | Steps:
        if isinstance(place, slice):
            return Steps(self._numbers[place], self._make)
        return self._make(self._numbers[place])

    def __len__(self) -> int:
        return len(self._numbers)


class Option(Struct, frozen=True):
    """One way to try: `steps` are the same change from the least to the most, and the least that works is wanted.

    Of options in one `group` a few that work are enough. `through_history` says that the change works through what
    happened earlier in the chat, so a single reply cannot tell. `probing` is what is tried because it is there: that
    the same stage has another objection then is no step forward.
    """

    steps: Sequence[Change]
    group: str = ""
    through_history: bool = False
    probing: bool = False


def declared_setting(code: str, known: Declaration, value: Value, before: Value) -> Change:
    """One setting with another value."""
    title = _setting_title(f"“{known.title}”", value, before)
    brief = "" if isinstance(value, bool | str) else f"“{known.title}” {figures(value)}"
    return Change(code, title, settings=MappingProxyType({known.name: value}), brief=brief)


def _setting_title(what: str, value: Value, before: Value) -> str:
    if isinstance(value, bool):
        return f"Switch {what} {'on' if value else 'off'}"
    if isinstance(value, str) or isinstance(before, str):
        return f"Set {what} to {str(value).replace('_', ' ')}"
    verb = "Raise" if value > before else "Lower"
    return f"{verb} {what} from {figures(before)} to {figures(value)}"


_LEFT_ALONE: Final = frozenset({"Token counter"})
_MOST_KEYS: Final = 8
_HUNDREDTH: Final = 100


class Situation(Struct, frozen=True, kw_only=True):
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


def declared_options(
    s: Situation, never_zero: Collection[str] = (), keys: str = "keys", unrefined: Option | None = None
) -> tuple[Option, ...]:
    """Everything to try: the chat's choices, the note, then settings, those of the stage that decided first.

    Settings `never_zero` mean something else altogether at 0. `keys` is the property that holds the note's keys,
    `unrefined` takes its refine keys away, where that is another option than for any note.
    """
    note = s.note
    found: list[Option] = []
    if note is not None:
        found += _choices(s, note)
        if s.editable:
            found += _edits(s, note, keys, unrefined or without_property(note, "refine_keys"))
    stage = s.fate.stage.partition(" (")[0]
    known = [each for each in declared(type(s.settings)) if _counts(each)]
    known.sort(key=lambda each: stage not in each.affects)
    return (*found, *(option for each in known for option in _settings(s, each, never_zero)))


def without_property(note: Entry, name: str, words: str = "") -> Option:
    """The note without one of its properties; `words` is what people call it, where that is not its name."""
    edit = NoteEdit.of(note, name, removed=True)
    return Option((Change("drop_property", f"Take {words or name} from {quoted(note.title)}", note=edit),))


def left_out_options(note: LeftOutNote, lorebook_tag: str, never_tag: str) -> tuple[Option, ...]:
    """What makes an entry of a note that is none; nothing where its file is broken."""
    name = quoted(note.filename)
    if note.problem is NoteProblem.DISABLED:
        title, edit = f"Switch the note {name} on", NoteEdit.of(note, "enabled", removed=True)
    elif note.problem is NoteProblem.NEVER_INSERT:
        title, edit = f"Remove the tag {quoted(never_tag)} from {name}", NoteEdit.of(note, "tags", drop=(never_tag,))
    elif note.problem.untagged:
        title, edit = f"Give {name} the tag {quoted(lorebook_tag)}", NoteEdit.of(note, "tags", add=(lorebook_tag,))
    else:
        return ()
    return (Option((Change("enable", title, note=edit),)),)


def always(note: Entry) -> Change:
    """The note in at every reply."""
    title = f"Make {quoted(note.title)} a constant, which goes in at every reply"
    edit = NoteEdit.of(note, "constant", True)
    return Change("constant", title, note=edit, forced=True, brief="Make it a constant")


def _counts(known: Declaration) -> bool:
    left_alone = known.advanced or known.local or known.group in _LEFT_ALONE
    return bool(known.affects) and not left_alone


def _choices(s: Situation, note: Entry) -> Iterator[Option]:
    blocks, name = s.controls.blocks, quoted(note.title)
    if s.keeps_out:
        blocked = replace(s.controls, blocks=(*blocks, EntryRule(note.title)))
        yield Option((Change("block", f"Block {name} in this chat", controls=blocked, forced=True),))
    elif has_rule(blocks, note):
        left = replace(s.controls, blocks=tuple(rule for rule in blocks if not rule.matches(note)))
        yield Option((Change("unblock", f"Remove {name} from the chat's blocks", controls=left),))


def _edits(s: Situation, note: Entry, keys: str, unrefined: Option) -> Iterator[Option]:
    name = quoted(note.title)
    if s.keeps_out:
        key = s.fate.details.get("key")
        for each in note.keys:
            if key is None or each == key:
                edit = NoteEdit.of(note, keys, drop=(each,))
                yield Option((Change("drop_key", f"Take the key {quoted(each)} from {name}", note=edit),), "key")
        if note.constant:
            edit = NoteEdit.of(note, "constant", removed=True)
            yield Option((Change("constant", f"Make {name} no constant", note=edit),))
        return
    if note.refine_keys:
        yield unrefined
    known = {each.lower() for each in note.keys}
    for word in [word for word in s.words if word.lower() not in known][:_MOST_KEYS]:
        edit = NoteEdit.of(note, keys, add=(word,))
        brief = f"Add the key {quoted(word)}"
        yield Option((Change("add_key", f"{brief} to {name}", note=edit, brief=brief),), "key")
    if not note.constant:
        yield Option((always(note),))


def _settings(s: Situation, known: Declaration, never_zero: Collection[str]) -> Iterator[Option]:
    before = getattr(s.settings, known.name)
    if known.type is bool:
        yield Option((declared_setting("switch", known, not before, before),), probing=True)
    elif known.choices:
        for value in known.choices:
            if value != before:
                yield Option((declared_setting("choose", known, value, before),), f"setting {known.name}", probing=True)
    elif known.low is not None and known.high is not None and known.type is not str:
        scale = 1 if known.type is int else _HUNDREDTH
        now, low, high = (round(value * scale) for value in (before, known.low, known.high))
        low += known.name in never_zero and low == 0

        def make(number: int) -> Change:
            value = number if scale == 1 else number / scale
            return declared_setting("amount", known, value, before)

        for numbers in (range(now + 1, high + 1), range(now - 1, low - 1, -1)):
            if numbers:
                yield Option(Steps(numbers, make), probing=True)


# ---- words that could be keys ---------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_NAME: Final = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w'’-]+(?: [^\W\d_a-zß-öø-ÿ][\w'’-]+)*")
_THING: Final = re.compile(
    r"\b(?:an?|the)\s+((?:[\w'’-]+\s+){0,2}?[\w'’-]+)"
    r"(?=\s+(?:of|that|which|who|where|in|with|for|on|at|to|from|by|and|is|was|are)\b|\s*[.,;:()–—]|\s*$)",
    re.IGNORECASE,
)
"""An article and what it stands before, up to three words."""

_VERB: Final = re.compile(r"(?:ed|ing|[^s]s)$")
"""How a word ends that may be a verb."""

_MARKUP: Final = " \t*_#>|-“”\"'(["
_SHORTEST: Final = 4
_ENDING: Final = re.compile(r"(?<=\w{3})(?:e?s|ies|y|e|e?d|ing)$")
"""What the forms of a regular word differ in."""

_PER_SOURCE: Final = 4
_TOO_COMMON: Final = 0.2
"""A word in a larger share of the messages brings the note in all the time; a few messages are always too few."""
_FEW: Final = 4
_IN_NOTES: Final = 3
"""What more notes than these speak of belongs to none of them."""


def key_ideas(
    entry: Entry,
    window: str,
    chat: Sequence[Message],
    known: Iterable[str],
    aliases: Iterable[str] = (),
    notes: Sequence[Entry] = (),
) -> tuple[str, ...]:
    """Words and names that occur in `window`, best first; none of `known`, the keys that there are already.

    `window` is the searched text, `chat` all messages so far, `notes` all notes: what these are called, or have as
    their keys, belongs to them, and of several words those come first that fewer notes have. A name that the entry's
    title shares with them comes last, however often it is said: entries about one person are woken by that name.
    """
    others = [note for note in notes if note.note_key != entry.note_key]
    texts = [f"{note.title}\n{note.content}" for note in others]
    folded = [fold(text) for text in texts]
    owned = {fold(name) for note in others for name in (note.title, *note.keys)}
    said = Counter(word for message in chat for word in {fold(each) for each in _words(message.text)})
    searched, taken, most = fold(window), {fold(key) for key in known}, max(_FEW, len(chat) * _TOO_COMMON)

    def in_notes(word: str) -> int:
        return sum(fold(word) in text for text in folded)

    def rare(words: Iterable[str]) -> list[str]:
        there = [word for word in dict.fromkeys(words) if _stands(fold(word), searched) and fold(word) not in owned]
        few = [word for word in there if said[fold(word)] <= most and in_notes(word) <= _IN_NOTES]
        return sorted(few, key=lambda word: (in_notes(word), said[fold(word)]))

    def is_proper(word: str) -> bool:
        return not _written_small(word[:1].upper() + word[1:], spoken)

    def is_its_own(word: str) -> bool:
        """Whether a word out of a name says of itself whose it is: a proper name, or what no other note speaks of."""
        return is_proper(word) or not in_notes(word)

    names = [entry.title, *aliases, *_without_article([entry.title, *aliases])]
    own = [*_words(entry.title), *(word for key in entry.keys for word in _words(key))]
    text = f"{entry.summary}\n{entry.content}"
    spoken = [text, *texts, *(message.text for message in chat)]
    sources = (
        names,
        [word for word in rare([*own, *_other_forms(own, window)]) if is_its_own(word)],
        rare(name for name in dict.fromkeys(_names(text)) if name in window and not _written_small(name, spoken)),
        rare(_things(text)),
        [word for word in _words(entry.title) if fold(word) in owned and is_proper(word)],
    )
    found: dict[str, str] = {}
    for source in sources:
        wanted = (word for word in source if _is_new(fold(word), searched, taken, found))
        for word, _number in zip(wanted, range(_PER_SOURCE), strict=False):
            found.setdefault(fold(word), trim(word))
    return tuple(found.values())


def _is_new(word: str, searched: str, taken: set[str], found: dict[str, str]) -> bool:
    return bool(trim(word)) and word not in taken and word not in found and _stands(word, searched)


def _stands(word: str, text: str) -> bool:
    """Whether a word or name is in a text as such; in scripts without capitals words need not be apart."""
    if word[:1].upper() == word[:1]:
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _words(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = re.sub(r"['’]s$", "", found[0]).rstrip("'’-")
        if len(word) >= _SHORTEST and not {"'", "’"} & set(word) and word.casefold() not in COMMON_WORDS:
            yield word


def _names(text: str) -> Iterator[str]:
    """Runs of words that begin with a capital letter, but for single words at the beginning of a sentence or line."""
    for found in _NAME.finditer(text):
        lead = text[: found.start()].rstrip(_MARKUP)
        begins = not lead or lead[-1] in ".!?:\n"
        first, _, rest = found[0].rstrip("'’-").partition(" ")
        name = f"{first} {rest}".strip()
        if begins and first.casefold() in COMMON_WORDS:  # "When Ottoline": the name alone
            name = rest
        alone = begins and name == first
        if not alone and len(name) >= _SHORTEST and name.casefold() not in COMMON_WORDS:
            yield name


def _written_small(name: str, texts: Iterable[str]) -> bool:
    """Whether a single word is written without its capital somewhere, and so is no proper name."""
    small = name[:1].lower() + name[1:]
    if " " in name or small == name:
        return False
    word = re.compile(rf"(?<!\w){re.escape(small)}(?!\w)")
    return any(small in text and word.search(text) for text in texts)


def _things(text: str) -> Iterator[str]:
    """What the first sentence of each part of a text says that it is about."""
    for part in text.split("\n"):
        if part.strip() and not part.lstrip().startswith("#"):
            for found in _THING.finditer(re.split(r"(?<=[.!?])\s", part.strip())[0]):
                *before, last = found[1].split()
                if not (before and _VERB.search(last)):  # "the water pours from"
                    yield from (word for word in _words(last) if word == last)
            return


def _without_article(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        first, _, rest = name.partition(" ")
        if first.lower() in {"the", "a", "an"} and rest:
            yield rest


def _other_forms(words: Iterable[str], window: str) -> Iterator[str]:
    """Words of the window that are `words` with another ending, such as the plural."""
    stems = {_stem(word) for word in words}
    yield from (word for word in _words(window) if _stem(word) in stems)


def _stem(word: str) -> str:
    return _ENDING.sub("", fold(word))
