"""From the files of the vaults to the index that a run takes (rules: deeplore 1.12, 1.13).

Entries of the same title are settled on the way, in one vault or in several. Where a vault changes, only changed files
are parsed again, and the index is that of a full build: the original leaves a stripped reference stripped when its
target appears; here the whole index is always finalised, but for `kept_as_indexed` (rules: deeplore 1.13).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial, reduce
from operator import attrgetter

from msgspec import Struct

from lorestudio.domain.entry import (
    BUILT_IN_FIELDS,
    Entry,
    FieldDefinition,
    Folder,
    LeftOutNote,
    ParserWarning,
    VaultIndex,
)
from lorestudio.domain.javascript import Json, to_string, trim, truthy
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault import fields as field_file
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.files import VaultFiles
from lorestudio.vault.folder import KnownFile, KnownVault, ScannedVault, parser_key, text_among


def resolve(
    entries: Sequence[Entry], mode: str, counter: TokenCounter = CHARS_4, *, across: bool = False
) -> list[Entry]:
    """The entries that remain: titles are equal when their lower-case forms are.

    `first` keeps the first of each title; `last` the last one, at the first one's place; `merge` folds all into the
    first; every other mode keeps all. With `across`, only titles of several vaults are settled
    (rules: deeplore-newer 1.11).
    """
    if mode not in ("first", "last", "merge"):
        return list(entries)
    if across:
        return _resolved_across(entries, mode, counter)
    chosen: dict[str, Entry] = {}
    for entry in entries:
        title = entry.title.lower()
        first = chosen.get(title)
        if first is None or mode == "last":
            chosen[title] = entry
        elif mode == "merge":
            chosen[title] = _merged(first, entry)
    return list(chosen.values())


def _resolved_across(entries: Sequence[Entry], mode: str, counter: TokenCounter) -> list[Entry]:
    """Copies in one vault are kept apart; `merge` takes the first of each vault."""
    copies: dict[str, dict[str, list[Entry]]] = {}
    for entry in entries:
        copies.setdefault(entry.title.lower(), {}).setdefault(entry.vault, []).append(entry)
    found: list[Entry] = []
    for entry in entries:
        by_vault = copies[entry.title.lower()]
        vaults = list(by_vault)
        place = next(place for place, copy in enumerate(by_vault[entry.vault]) if copy is entry)
        if len(vaults) == 1:
            found.append(entry)
        elif mode == "merge":
            if place:
                found.append(entry)
            elif entry.vault == vaults[0]:
                found.append(reduce(partial(_merged, summed_by=counter), (each[0] for each in by_vault.values())))
        elif mode == "first" and entry.vault == vaults[0]:
            found.append(entry)
        elif mode == "last" and entry.vault == vaults[0] and not place:
            found += by_vault[vaults[-1]]
    return found


def _merged(first: Entry, later: Entry, *, summed_by: TokenCounter | None = None) -> Entry:
    """A copy of `first` with what `later` adds; all that is not named here stays the first one's.

    With `summed_by` tokens are summed, and refine keys and cascade links are united too (rules: deeplore-newer 1.11).
    """
    content, tokens = first.content, first.tokens
    if trim(later.content):
        content = f"{first.content}\n\n---\n\n{later.content}"
        tokens = CHARS_4.count(content)
        if summed_by is not None:
            tokens = sum(each.tokens or summed_by.count(each.content) for each in (first, later))
    if summed_by is not None:
        first = replace(
            first,
            refine_keys=_union(first.refine_keys, later.refine_keys),
            cascade_links=_union(first.cascade_links, later.cascade_links),
        )
    warnings: list[ParserWarning] = []
    custom_fields = _merged_fields(first, later, warnings)
    return replace(
        first,
        keys=_union(first.keys, later.keys),
        tags=_union(first.tags, later.tags),
        links=_union(first.links, later.links),
        resolved_links=_union(first.resolved_links, later.resolved_links),
        requires=_union(first.requires, later.requires),
        excludes=_union(first.excludes, later.excludes),
        constant=first.constant or later.constant,
        seed=first.seed or later.seed,
        bootstrap=first.bootstrap or later.bootstrap,
        guide=first.guide or later.guide,
        summary=first.summary or later.summary,
        content=content,
        tokens=tokens,
        custom_fields=custom_fields,
        warnings=(*first.warnings, *warnings),
    )


def _union(first: tuple[str, ...], later: tuple[str, ...]) -> tuple[str, ...]:
    """Each text once, in order of appearance; a list that nothing is added to keeps its repetitions."""
    return tuple(dict.fromkeys((*first, *later))) if later else first


def _merged_fields(first: Entry, later: Entry, warnings: list[ParserWarning]) -> Mapping[str, Json]:
    fields = dict(first.custom_fields)
    for name, value in later.custom_fields.items():
        present = fields.get(name)
        if not isinstance(value, tuple):
            if present is None and value is not None:
                fields[name] = value
        elif value and isinstance(present, int | float) and truthy(present):
            # The original gives up on the whole index here.
            warnings.append(_merge_conflict(name, present, first, later))
        elif value or present is None:
            # A text counts as the list of its characters.
            existing = present if isinstance(present, str | tuple) else ()
            fields[name] = tuple(dict.fromkeys((*existing, *value)))
    return fields


def _merge_conflict(name: str, value: float, first: Entry, later: Entry) -> ParserWarning:
    return ParserWarning(
        "W_MERGE_CONFLICT",
        name,
        f"The list in “{later.filename}” cannot be merged with the value {to_string(value)} in "
        f"“{first.filename}”, so that value stays. DeepLore itself cannot build its index from these two notes.",
        f"Write {name} as a list in both notes.",
    )


class Assembly(Terse, frozen=True):
    """An index and, entry by entry, the parsed notes that each entry was made of; `counter` names who counted.

    `titles` are those that links lead to, by lower case: of several spellings of one, the last entry's.
    """

    unprinted = ("parsed", "titles")

    index: VaultIndex
    parsed: tuple[Entry, ...] = ()
    counter: str = ""
    titles: Mapping[str, str] = {}


def _notes_of(vaults: Sequence[KnownVault]) -> tuple[list[Entry], tuple[LeftOutNote, ...]]:
    """The notes that could become entries, in index order, and all that cannot."""
    parsed: list[Entry] = []
    left_out: list[LeftOutNote] = []
    for vault in vaults:
        for file in vault.files:
            if isinstance(file.note, LeftOutNote):
                left_out.append(file.note)
            elif file.note is not None:
                parsed.append(file.note)
        left_out.extend(vault.left_out)
    return parsed, tuple(left_out)


def assemble(
    vaults: Sequence[KnownVault],
    definitions: FieldDefinitions,
    settings: DeepLoreSettings,
    counter: TokenCounter,
    previous: Assembly | None = None,
) -> Assembly:
    """The index of parsed vaults, finalised (rules: deeplore 1.12, 1.13); settings say what becomes of equal titles.

    An entry of `previous` that would come out the same is taken over as the same object, and so is the whole index.
    """
    parsed, left_out = _notes_of(vaults)
    across = settings.rule_set.conflicts_across
    resolved = tuple(resolve(parsed, settings.multi_vault_conflict_resolution, counter, across=across))
    titles = {note.title.lower(): note.title for note in resolved}
    entries = _finalized(resolved, titles, counter, previous)
    index = VaultIndex(
        entries=entries,
        left_out=left_out,
        folders=_folders_of(entries),
        fields=definitions.fields,
        field_errors=definitions.errors,
        vaults=tuple(vault.name for vault in vaults),
        digest=_digest_of(vaults),
    )
    if previous is not None and previous.index == index:
        return replace(previous, counter=counter.identity)  # two of a large vault would be held: the old one is in use
    return Assembly(index, resolved, counter.identity, titles)


class FieldDefinitions(Struct, frozen=True):
    """The gating fields that hold and what is wrong with their file (rules: deeplore 5.4)."""

    fields: tuple[FieldDefinition, ...] = BUILT_IN_FIELDS
    errors: tuple[str, ...] = ()


def definition_path(settings: DeepLoreSettings) -> str:
    """Where in a vault the gating fields are defined."""
    return settings.field_definitions_path or field_file.DEFAULT_PATH


def field_definitions(text: str, path: str, *, tabs: bool = False) -> FieldDefinitions:
    """The definitions in the text of the file at `path`; an empty text stands for no file. `tabs` may indent."""
    definitions, errors = field_file.parse(text, tabs=tabs)
    if not definitions and trim(text):
        advice = (
            "No field is defined, so the four built-in fields hold. Begin the file with the line “fields:” and each "
            "field with two spaces, a dash and its name, as in “  - name: season”."
        )
        errors = (*errors, advice)
    return FieldDefinitions(definitions or BUILT_IN_FIELDS, tuple(f"{path}: {error}" for error in errors))


def _finalized(
    parsed: Sequence[Entry], titles: Mapping[str, str], counter: TokenCounter, previous: Assembly | None
) -> tuple[Entry, ...]:
    same_titles = previous is not None and titles == previous.titles
    same_counter = previous is not None and previous.counter == counter.identity
    # Parsed notes are compared by identity: only what was not parsed again can come out the same.
    earlier = {} if previous is None else dict(zip(map(id, previous.parsed), previous.index.entries, strict=True))
    entries = []
    for place, note in enumerate(parsed):
        before = earlier.get(id(note))
        if before is None or before.id != place or not same_titles or not same_counter:
            before = _final(note, titles, place, counter, before)
        entries.append(before)
    return tuple(entries)


def _final(note: Entry, titles: Mapping[str, str], place: int, counter: TokenCounter, earlier: Entry | None) -> Entry:
    """The entry at that place of the index; `earlier`, made of the same note, where it would come out the same.

    Only a merged note was counted before, as DeepLore counts it whatever the tokenizer (rules: deeplore 1.12).
    References that no title answers to are taken out, and kept as written beside them (rules: deeplore 1.13).
    """
    links = tuple([titles[name] for link in note.links if (name := link.lower()) in titles])
    requires = _existing(note.requires, titles)
    excludes = _existing(note.excludes, titles)
    cascade_links = _existing(note.cascade_links, titles)
    tokens = note.tokens or counter.count(note.content)
    if earlier is not None and (
        (earlier.id, earlier.resolved_links, earlier.requires, earlier.excludes, earlier.cascade_links, earlier.tokens)
        == (place, links, requires, excludes, cascade_links, tokens)
    ):  # fmt: skip
        return earlier
    return replace(
        note,
        id=place,
        tokens=tokens,
        resolved_links=links,
        requires=requires,
        excludes=excludes,
        cascade_links=cascade_links,
        written_requires=note.written_requires if requires is note.requires else note.requires,
        written_excludes=note.written_excludes if excludes is note.excludes else note.excludes,
        written_cascade_links=note.written_cascade_links if cascade_links is note.cascade_links else note.cascade_links,
    )


def _existing(names: tuple[str, ...], titles: Mapping[str, str]) -> tuple[str, ...]:
    """The names that are titles; the very same tuple where all are."""
    if all(name.lower() in titles for name in names):
        return names
    return tuple([name for name in names if name.lower() in titles])


def _folders_of(entries: Sequence[Entry]) -> tuple[Folder, ...]:
    """Every folder above an entry, most entries first, else in order of appearance (outer before inner)."""
    counts: dict[str, int] = {}
    for folder, count in Counter([entry.folder for entry in entries if entry.folder]).items():
        parts = folder.split("/")
        for size in range(1, len(parts) + 1):
            path = "/".join(parts[:size])
            counts[path] = counts.get(path, 0) + count
    return tuple(Folder(path, count) for path, count in sorted(counts.items(), key=lambda item: -item[1]))


def _digest_of(vaults: Sequence[KnownVault]) -> str:
    """SHA-256 over the names and contents of everything that was read."""
    digest = hashlib.sha256()
    for vault in vaults:
        digest.update(f"vault {vault.name}\0".encode("utf-8", "surrogatepass"))
        files = "".join([f"{file.digest} {file.filename}\0" for file in vault.files])
        digest.update(files.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class IndexChanges(Struct, frozen=True):
    """What differs between two indexes (rules: deeplore 1.13 step 6, 12.4).

    Entries are the same when vault and file name are; a removed one is as it was last known. `modified` have another
    text, `keys_changed` other keys and a title that is not among the modified ones. DeepLore reports these four.
    `other` are entries whose file differs in something else, which DeepLore does not mention.
    """

    added: tuple[Entry, ...] = ()
    removed: tuple[Entry, ...] = ()
    modified: tuple[Entry, ...] = ()
    keys_changed: tuple[Entry, ...] = ()
    other: tuple[Entry, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.modified or self.keys_changed or self.other)

    @property
    def moves(self) -> dict[tuple[str, str], str]:
        """What files that were renamed or moved are called now, by vault and file before.

        One that is gone and one that is new are the same where no other has its title, else where no other has its
        text.
        """
        found: dict[tuple[str, str], str] = {}
        for trait in (attrgetter("title"), attrgetter("content")):
            there: dict[tuple[str, str], tuple[list[Entry], list[Entry]]] = {}
            for number, entries in enumerate((self.removed, self.added)):
                for entry in entries:
                    there.setdefault((entry.vault, trait(entry)), ([], []))[number].append(entry)
            for (vault, words), (gone, new) in there.items():
                if words and len(gone) == len(new) == 1:
                    found.setdefault((vault, gone[0].filename), new[0].filename)
        return found


class VaultState(Terse, frozen=True):
    """The vaults as they were last read, and the index made of them."""

    unprinted = ("assembly",)

    vaults: tuple[KnownVault, ...]
    assembly: Assembly

    @property
    def index(self) -> VaultIndex:
        """The snapshot that a run takes."""
        return self.assembly.index

    def files(self, number: int, parser: str | None = None) -> dict[str, KnownFile]:
        """The files of a vault by name; none where `parser` is given and they were parsed with other rules."""
        vault = self.vaults[number] if number < len(self.vaults) else KnownVault("")
        return {file.filename: file for file in vault.files} if parser in (None, vault.parser) else {}


class Refreshed(Struct, frozen=True):
    """The state after a look at the vaults.

    `read` and `parsed` count files; a file whose stamp is the known one is not read. `failures` are sentences about
    vaults and files that could not be read, whose previous entries were kept.
    """

    state: VaultState
    read: int = 0
    parsed: int = 0
    failures: tuple[str, ...] = ()


def current_parser(previous: VaultState | None, primary: ScannedVault, settings: DeepLoreSettings) -> str:
    """The key of the rules that hold now; `primary` is the first vault as it is now.

    Files of a vault whose key is another one have to be scanned with nothing known.
    """
    return parser_key(_rules(previous, primary, settings)[1])


def update(
    previous: VaultState | None, scanned: Sequence[ScannedVault], settings: DeepLoreSettings, counter: TokenCounter
) -> Refreshed:
    """Take in what was seen of the vaults, in vault order.

    A vault with a failure keeps its previous files, also when other rules hold now. Every text whose digest or rules
    are new must have been read; raises ValueError otherwise. The files are taken out of `scanned` one by one: the texts
    of a large vault are as much again as its entries.
    """
    read = sum(vault.read for vault in scanned)
    definitions, rules = _rules(previous, scanned[0] if scanned else ScannedVault(""), settings)
    parser = parser_key(rules)
    vaults: list[KnownVault] = []
    parsed = 0
    failures: list[str] = []
    for number, vault in enumerate(scanned):
        before = _before(previous, number, vault.name)
        failures += [vault.failure] * bool(vault.failure) + list(vault.remarks)
        if vault.failure and before.files:
            vaults.append(before)
            continue
        known = {file.filename: file for file in before.files} if before.parser == parser else {}
        files, fresh = _known_files(vault, known, rules, definition_path(settings))
        parsed += fresh
        vaults.append(KnownVault(vault.name, files, vault.left_out, parser))
    assembly = assemble(vaults, definitions, settings, counter, previous.assembly if previous else None)
    return Refreshed(VaultState(tuple(vaults), assembly), read=read, parsed=parsed, failures=tuple(failures))


def build_index(files_by_vault: Sequence[VaultFiles], settings: DeepLoreSettings, counter: TokenCounter) -> VaultIndex:
    """The index of `state_of_files`."""
    return state_of_files(files_by_vault, settings, counter).index


def state_of_files(
    files_by_vault: Sequence[VaultFiles], settings: DeepLoreSettings, counter: TokenCounter
) -> VaultState:
    """Every entry of the vaults in their order, links resolved, references to missing titles taken out.

    The first vault's definition file decides which gating fields exist. Notes that gave no entry, or could not be
    read, are in `left_out`, vault by vault. Equal files and names give an equal digest.
    """
    return update(None, [ScannedVault.of(files) for files in files_by_vault], settings, counter).state


def kept_as_indexed(
    before: VaultState, files_by_vault: Sequence[VaultFiles], settings: DeepLoreSettings, counter: TokenCounter
) -> VaultState:
    """What DeepLore's own look for changes leaves: an indexed note with the same text stays as it was indexed.

    So a reference that was taken out stays out, and a merged text is merged once more (rules: deeplore 1.13).
    """
    now = update(before, [ScannedVault.of(files) for files in files_by_vault], settings, counter).state
    indexed = {entry.note_key: entry for entry in before.index.entries}
    same = {
        (vault.name, file.filename)
        for number, vault in enumerate(now.vaults)
        for file in vault.files
        if (known := before.files(number, vault.parser).get(file.filename)) and known.digest == file.digest
    }
    if same == indexed.keys() == {(vault.name, file.filename) for vault in now.vaults for file in vault.files}:
        return before  # a file that is no entry counts as a change each time
    vaults = [
        replace(
            vault,
            files=tuple(
                replace(file, note=indexed.get((vault.name, file.filename), file.note))
                if (vault.name, file.filename) in same
                else file
                for file in vault.files
            ),
        )
        for vault in now.vaults
    ]
    return state_of(vaults, settings, counter)


def state_of(
    vaults: Sequence[KnownVault], settings: DeepLoreSettings, counter: TokenCounter, previous: Assembly | None = None
) -> VaultState:
    """The state made of known vaults alone; they must have been parsed under the rules that now hold."""
    definitions = known_definitions(vaults[:1], settings)
    return VaultState(tuple(vaults), assemble(vaults, definitions, settings, counter, previous))


def known_definitions(primary: Sequence[KnownVault], settings: DeepLoreSettings) -> FieldDefinitions:
    """The gating fields that the first vault defined when it was last read; the built-in ones without a vault."""
    path = definition_path(settings)
    tabs = settings.rule_set.tabbed_definitions
    return field_definitions(text_among(primary[0].files, path) if primary else "", path, tabs=tabs)


def changes_between(old: VaultIndex, new: VaultIndex) -> IndexChanges:
    """What a person is told about a new index (rules: deeplore 1.13 step 6)."""
    if old is new:
        return IndexChanges()
    before = {entry.note_key: entry for entry in old.entries}
    after = {entry.note_key for entry in new.entries}
    added, modified, keys_changed, other = [], [], [], []
    modified_titles: set[str] = set()
    for entry in new.entries:
        earlier = before.get(entry.note_key)
        if earlier is None:
            added.append(entry)
            continue
        if earlier is entry:
            continue
        if earlier.content != entry.content:
            modified.append(entry)
            modified_titles.add(entry.title)
        if earlier.keys != entry.keys and entry.title not in modified_titles:
            keys_changed.append(entry)
        elif earlier.content == entry.content and earlier.content_hash != entry.content_hash:
            other.append(entry)
    removed = [entry for entry in old.entries if entry.note_key not in after]
    return IndexChanges(tuple(added), tuple(removed), tuple(modified), tuple(keys_changed), tuple(other))


def _rules(
    previous: VaultState | None, primary: ScannedVault, settings: DeepLoreSettings
) -> tuple[FieldDefinitions, ParseRules]:
    """The field definitions of the first vault and the rules that they and the settings make."""
    path = definition_path(settings)
    before = _before(previous, 0, primary.name)
    text = text_among((before if primary.failure and before.files else primary).files, path)
    definitions = field_definitions(text, path, tabs=settings.rule_set.tabbed_definitions)
    return definitions, ParseRules.from_settings(settings, definitions.fields)


def _before(previous: VaultState | None, number: int, name: str) -> KnownVault:
    """What was known of the vault at that place; nothing where another vault stood there."""
    if previous is not None and number < len(previous.vaults) and previous.vaults[number].name == name:
        return previous.vaults[number]
    return KnownVault(name)


def _known_files(
    vault: ScannedVault, known: dict[str, KnownFile], rules: ParseRules, definitions: str
) -> tuple[tuple[KnownFile, ...], int]:
    """The files of a vault, known or newly parsed, and how many were parsed."""
    files: list[KnownFile] = []
    parsed = 0
    vault.files.reverse()
    while vault.files:
        file = vault.files.pop()
        kept_text = file.text if file.filename == definitions else None
        before = known.get(file.filename)
        if before is not None and before.digest == file.digest:
            same = before.stamp == file.stamp and before.text == kept_text
            files.append(before if same else replace(before, stamp=file.stamp, text=kept_text))
            continue
        if file.text is None:
            raise ValueError(f"The text of {file.filename} is needed and was not read.")
        note = None
        if file.filename.endswith(".md"):
            note = parse_note(file.text, file.filename, vault.name, rules)
            parsed += 1
        files.append(KnownFile(file.filename, file.digest, note, file.stamp, kept_text))
    return tuple(files), parsed


class RefreshReason(StrEnum):
    """Why the vaults are looked at."""

    OPENED = "opened"
    POLL = "poll"
    CHANGED_ON_DISK = "changed on disk"
    MANUAL = "manual"


def polling_seconds(settings: DeepLoreSettings) -> float | None:
    """How often the vaults are looked at in the background, None for never (setting `syncPollingInterval`)."""
    return settings.sync_polling_interval if settings.sync_polling_interval > 0 else None
