"""Making entries of ordinary notes: which notes look like lore and why, the keys to propose, and the plan.

An Obsidian vault that was not written as lore has no entry: what makes one is the lorebook tag in the front matter
(rules: deeplore 1.4).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Final

from msgspec import Struct

from lorestudio.domain.automaton import WordFinder, automaton_of
from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import NoteKey, OfNote, VaultIndex
from lorestudio.domain.javascript import Json, trim
from lorestudio.domain.records import grouped
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.batch_edit import ChangeItems, SetValue, plan_texts, property_edit
from lorestudio.studio.notes.note_files import template_folders, with_above
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.trace.wording import plural
from lorestudio.vault.links.index import LinkIndex
from lorestudio.vault.links.mentions import is_word, lower_in_place, stands_alone
from lorestudio.vault.links.targets import IndexedNote
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import apply_edits

_LEAST_LETTERS: Final = 3
"""Of a name in a script with spaces; shorter ones stand in too many messages."""
_MOST_WORDS: Final = 4
"""Of a link's text that is proposed as a key: longer ones are parts of sentences."""
_MOST_KEYS: Final = 6
_DRAWING: Final = re.compile(r"\A---[ \t]*\r?\n(?:(?!---).*\n)*?excalidraw-plugin[ \t]*:")


class PlainNote(OfNote, Struct, frozen=True):
    """An ordinary note, its present or proposed keys, and what speaks for making an entry of it.

    `named_in` counts the messages of the chat with one of the keys, and `alone` those with the key that does most of it
    by itself; `linked_from` counts the notes that link to it. `written` says that the keys stand in the note already.
    """

    vault: str
    filename: str
    title: str
    keys: tuple[str, ...]
    tags: tuple[str, ...] = ()
    named_in: int = 0
    linked_from: int = 0
    written: bool = False
    alone: tuple[str, int] = ("", 0)

    @property
    def folder(self) -> str:
        """Relative to the vault, "" for the vault itself."""
        return self.filename.rpartition("/")[0]

    @property
    def why(self) -> str:
        """What speaks for it, "" for nothing; a key other than the title that does most of it is called by name."""
        named = plural(self.named_in, "|named in # message|named in # messages")
        key, amount = self.alone
        if 2 * amount > self.named_in and key.lower() != self.title.lower():
            named += f" ({amount} only by “{key}”)"
        linked = plural(self.linked_from, "|linked from # note|linked from # notes")
        return ", ".join(filter(None, (named, linked)))

    def has_tag(self, tag: str) -> bool:
        """Whether it has this tag, or one below it, as Obsidian finds them."""
        return any(f"{own}/".startswith(f"{tag.strip('#/').lower()}/") for own in self.tags)

    def lies_in(self, folder: str) -> bool:
        """Whether it lies in this folder of the vault, or below it."""
        return f"{self.folder}/".startswith(f"{folder.strip('/')}/")


class NoteGroup(Struct, frozen=True):
    """Candidates that belong together: those of a folder, or those of a tag."""

    name: str
    notes: int
    is_tag: bool

    def has(self, candidate: PlainNote) -> bool:
        """Whether the candidate belongs to it."""
        return candidate.has_tag(self.name) if self.is_tag else candidate.lies_in(self.name)


def plain_notes(index: VaultIndex) -> tuple[NoteKey, ...]:
    """Vault and file name of the notes that only lack the tag; those switched off or broken are others."""
    return tuple(note.note_key for note in index.left_out if note.problem.untagged)


def candidates(vault: str, notes: VaultNotes, plain: Collection[str], chat: Chat | None = None) -> list[PlainNote]:
    """The notes of one vault that could become entries: those that the chat names most first, then the most linked.

    Templates and Excalidraw's drawings are none. Waits for the disk.
    """
    folders = template_folders(notes.folder)
    known = [
        note
        for filename in plain
        if not filename.lower().startswith(folders)
        if (note := notes.index.notes.get(filename)) is not None and not _DRAWING.match(note.text)
    ]
    sources, texts = _links(notes.index)
    meant = Counter(text.lower() for written in texts.values() for text in written)
    keys = {note.names.filename: _keys(note, texts.get(note.names.filename, Counter()), meant) for note in known}
    named = _named(keys, chat)
    found = [
        PlainNote(
            vault, name, note.names.title, keys[name], note.tags, named[name].total(), len(sources.get(name, ())),
            bool(note.keys), _alone(named[name], keys[name]),
        )
        for note in known
        for name in (note.names.filename,)
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-one.named_in, -one.linked_from, one.filename.casefold()))


def groups(found: Iterable[PlainNote]) -> tuple[NoteGroup, ...]:
    """The folders and the tags of the candidates, those with most notes first; both count what lies below them."""
    counts: Counter[tuple[str, bool]] = Counter()
    for one in found:
        counts.update((name, False) for name in with_above(one.folder))
        counts.update((name, True) for name in {name for tag in one.tags for name in with_above(tag)})
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0][1], item[0][0]))
    return tuple(NoteGroup(name, amount, is_tag) for (name, is_tag), amount in order)


def plan_entries(vaults: Mapping[str, VaultNotes], chosen: Sequence[PlainNote], tag: str) -> Planned:
    """Give each note the tag, and its keys where it has none; all else in it stays as it is, byte for byte.

    Raises InputError where no note is chosen. The remarks name the notes that cannot be changed.
    """
    if not chosen:
        raise InputError("notes", "no note is chosen.")
    planned = plan_texts(
        (vaults[one.vault].path(one.filename), one.filename, partial(_as_entry, one=one, tag=tag)) for one in chosen
    )
    return planned.titled(f"Make {plural(planned.count, 'an entry of # note|entries of # notes')}")


def _as_entry(text: str, one: PlainNote, tag: str) -> str:
    tags = NoteDocument(text).find("tags")
    value: Json = None if tags is None else tags.value
    change: SetValue | ChangeItems = ChangeItems(add=(tag,))
    if isinstance(value, str) and "," in value:  # several for Obsidian, but one single tag for DeepLore
        change = SetValue(list(dict.fromkeys((*filter(None, map(trim, value.split(","))), tag))))
    steps = [("tags", change)] if one.written else [("tags", change), ("keys", SetValue(list(one.keys)))]
    for name, wanted in steps:
        edit = property_edit(NoteDocument(text), name, wanted)
        text = text if edit is None else apply_edits(text, [edit])
    return text


def _links(index: LinkIndex) -> tuple[dict[str, set[str]], dict[str, Counter[str]]]:
    """For each note those that link to it, and what the links show in its place with how many links do."""
    sources: dict[str, set[str]] = {}
    texts: dict[str, Counter[str]] = {}
    for source, note in index.notes.items():
        for reference in note.references:
            target = index.targets.find(reference, source).filename
            if target is None or target == source:
                continue
            sources.setdefault(target, set()).add(source)
            if reference.alias is not None and (shown := trim(reference.alias)):
                texts.setdefault(target, Counter())[shown] += 1
    return sources, texts


def _keys(note: IndexedNote, shown: Counter[str], meant: Counter[str]) -> tuple[str, ...]:
    """The note's own keys; without any, its title, its aliases, and what links show in its place, where that is a name.

    A text that links to other notes show too says nothing, and one in small letters has to be shown twice.
    """
    if note.keys:
        return note.keys
    spelled = [
        text
        for text, amount in shown.most_common()
        if len(text.split()) <= _MOST_WORDS and _tells(text)
        if meant[text.lower()] == sum(text.lower() == other.lower() for other in shown)
        if amount > 1 or text != text.lower()
    ]
    names = (note.names.title, *note.names.aliases, *spelled)
    found = {name.lower(): name for name in reversed(names) if name}
    return tuple(dict.fromkeys(found[name.lower()] for name in names if name))[:_MOST_KEYS]


def _tells(name: str) -> bool:
    """Whether a name is long enough to tell something where it stands in a text, and is no number or date."""
    letters = [char for char in name if char.isalpha()]
    return len(letters) >= _LEAST_LETTERS or (len(letters) > 1 and not all(map(is_word, letters)))


def _named(keys: Mapping[str, tuple[str, ...]], chat: Chat | None) -> Mapping[str, Counter[frozenset[str]]]:
    """For each note how many messages of the story have which of its keys, in small letters."""
    by_key = grouped(
        (lower_in_place(name), filename) for filename, names in keys.items() for name in filter(_tells, names)
    )
    found: defaultdict[str, Counter[frozenset[str]]] = defaultdict(Counter)
    automaton = automaton_of({key: key for key in by_key})
    if chat is None or automaton is None:
        return found
    for message in chat.messages:
        if message.is_speech:
            said = {(filename, key) for key in _keys_in(automaton, message.text) for filename in by_key[key]}
            for filename, some in grouped(said).items():
                found[filename][frozenset(some)] += 1
    return found


def _alone(named: Counter[frozenset[str]], keys: Iterable[str]) -> tuple[str, int]:
    """The key that alone names the note in most messages, and in how many; "" and 0 where none does."""
    counts = ((key, named[frozenset({lower_in_place(key)})]) for key in keys)
    return max(counts, key=itemgetter(1), default=("", 0))


def _keys_in(automaton: WordFinder, text: str) -> Iterator[str]:
    lower = lower_in_place(text)
    for last, key in automaton.iter(lower):
        if stands_alone(lower, last + 1 - len(key), last + 1):
            yield key
