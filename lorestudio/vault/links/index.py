"""All notes of one vault with their references: who links to a note, and where its name merely stands in the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from lorestudio.domain.javascript import fold
from lorestudio.vault import cleaning, front_matter
from lorestudio.vault.files import NoteFile
from lorestudio.vault.links.mentions import Mention, MentionIndex
from lorestudio.vault.links.references import Excerpt, Reference, aliases, excerpt, listed, references
from lorestudio.vault.links.targets import FoundBy, IndexedNote, LinkTargets, NoteNames, Target, base_name


class Backlink(Struct, frozen=True):
    """One reference to a note. `by` says what it names of it, `in_deeplore` whether DeepLore finds the note too."""

    source: str
    reference: Reference
    by: FoundBy
    in_deeplore: bool
    excerpt: Excerpt


class OutgoingLink(Struct, frozen=True):
    """One reference of a note and the file that it leads to."""

    reference: Reference
    target: Target
    in_deeplore: bool
    excerpt: Excerpt


def index_note(filename: str, text: str, *, linked: bool = True) -> IndexedNote:
    """One note on its own, without what it names unless it is `linked`. Never raises, whatever the text is."""
    values, body = front_matter.read(text)
    lower = {name.lower(): value for name, value in reversed(values.items())}
    names = NoteNames(filename, cleaning.title(body, filename), aliases(text))
    keys = listed(values.get("keys", lower.get("keys")))
    tags = tuple(tag.lower() for tag in listed(values.get("tags", lower.get("tags"))))
    found = references(text) if linked else ()
    return IndexedNote(filename, text, names, keys, tags, found, _by_name(found))


class LinkIndex:
    """The notes of one vault and how they name each other. Immutable: `changed` makes another that shares the rest.

    Building it and `changed` take their time and belong off the thread of the window; the questions are quick.
    """

    def __init__(
        self,
        notes: Mapping[str, IndexedNote],
        targets: LinkTargets,
        naming: Mapping[str, frozenset[str]],
        mentions: MentionIndex | None,
    ) -> None:
        """Without `mentions` the notes are searched for them when somebody asks first."""
        self.notes = notes
        self.targets = targets
        self._naming = naming
        self._mentions = mentions

    @classmethod
    def build(cls, files: Iterable[NoteFile], attachments: Iterable[str] = (), *, searched: bool = True) -> LinkIndex:
        """The index of these notes (others than `.md` are passed over); `attachments` are the vault's other files.

        Unless they are `searched`, the first who asks for mentions waits for that.
        """
        notes: dict[str, IndexedNote] = {}
        naming: dict[str, set[str]] = {}
        for file in files:
            if not file.filename.endswith(".md"):
                continue
            note = notes[file.filename] = index_note(file.filename, file.text)
            for name in note.naming:
                naming.setdefault(name, set()).add(file.filename)
        return cls(
            notes,
            LinkTargets([note.names for note in notes.values()], attachments),
            {name: frozenset(sources) for name, sources in naming.items()},
            MentionIndex.build(notes.values()) if searched else None,
        )

    @classmethod
    def unlinked(cls, notes: Iterable[IndexedNote]) -> LinkIndex:
        """These notes as if none named another one."""
        return cls({note.filename: note for note in notes}, LinkTargets(()), {}, MentionIndex.build(()))

    def changed(self, filename: str, text: str | None) -> LinkIndex:
        """With this text of the note; None takes the note out. Names and keys that come or go are looked up anew."""
        before = self.notes.get(filename)
        after = None if text is None else index_note(filename, text)
        notes = dict(self.notes)
        naming = dict(self._naming)
        if before is not None:
            del notes[filename]
            for name in before.naming:
                naming[name] -= {filename}
        if after is not None:
            notes[filename] = after
            for name in after.naming:
                naming[name] = naming.get(name, frozenset()) | {filename}
        targets = self.targets
        if before is None or after is None or before.names != after.names:
            targets = targets.changed({filename: None if after is None else after.names})
        mentions = None if self._mentions is None else self._mentions.changed(before, after, notes.values())
        return LinkIndex(notes, targets, naming, mentions)

    def backlinks(self, filename: str) -> tuple[Backlink, ...]:
        """The references of other notes to this one, in the order of the notes' names and of their texts."""
        names = self.targets.notes.get(filename)
        if names is None:
            return ()
        found = []
        wanted = _keys_of(names)
        for source in sorted(self.naming(names)):
            if source == filename:
                continue
            note = self.notes[source]
            known = (0, 1)
            named = {reference.start: reference for key in wanted for reference in note.naming.get(key, ())}
            for start in sorted(named):
                reference = named[start]
                target = self.targets.find(reference, source)
                in_deeplore = self._deeplore_target(reference) == filename
                if target.filename == filename or in_deeplore:
                    place = excerpt(note.text, reference.start, reference.end, known)
                    known = (reference.start, place.line)
                    by = target.by if target.filename == filename else FoundBy.TITLE
                    found.append(Backlink(source, reference, by, in_deeplore, place))
        return tuple(found)

    def naming(self, names: NoteNames) -> set[str]:
        """The notes with a reference that could mean this one."""
        sources: set[str] = set()
        for key in _keys_of(names):
            sources |= self._naming.get(key, frozenset())
        return sources

    def outgoing(self, filename: str) -> tuple[OutgoingLink, ...]:
        """The references of this note in the order of its text, links into itself left out."""
        note = self.notes.get(filename)
        if note is None:
            return ()
        return tuple(
            OutgoingLink(
                reference,
                target := self.targets.find(reference, filename),
                target.exists and self._deeplore_target(reference) == target.filename,
                excerpt(note.text, reference.start, reference.end),
            )
            for reference in note.references
            if reference.target
        )

    def mentions(self, filename: str) -> tuple[Mention, ...]:
        """Where other notes have a name or a key of this one in plain text, in the order of names and texts."""
        note = self.notes.get(filename)
        if self._mentions is None:
            self._mentions = MentionIndex.build(self.notes.values())
        return () if note is None else self._mentions.of(note, lambda source: self.notes[source].text)

    def _deeplore_target(self, reference: Reference) -> str | None:
        """The note that DeepLore finds for the reference; whether that note is an entry is not asked here."""
        if reference.deeplore_name is None:
            return None
        target = self.targets.by_title(reference.deeplore_name)
        return None if target is None else target.filename


def _key(name: str) -> str:
    return fold(base_name(name))


def _keys_of(names: NoteNames) -> set[str]:
    return {_key(name) for name in (names.base_name, names.title, *names.aliases)}


def _by_name(found: Iterable[Reference]) -> dict[str, tuple[Reference, ...]]:
    """References by target and by DeepLore's name for it. Of a path the last part counts."""
    named: dict[str, tuple[Reference, ...]] = {}
    for reference in found:
        for key in {_key(name) for name in (reference.target, reference.deeplore_name) if name}:
            named[key] = (*named.get(key, ()), reference)
    return named
