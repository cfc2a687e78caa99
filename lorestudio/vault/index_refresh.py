"""Following a vault's changes: only changed files are parsed again, and the index is that of a full build.

The original leaves a stripped reference stripped when its target appears; here the whole index is always finalised,
but for `kept_as_indexed` (rules: deeplore 1.13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import TokenCounter
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.files import VaultFiles
from lorestudio.vault.folder_scan import KnownFile, KnownVault, ScannedVault, parser_key
from lorestudio.vault.index import Assembly, FieldDefinitions, assemble, definition_path, field_definitions


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


NO_CHANGES: Final = IndexChanges()


@dataclass(frozen=True, slots=True)
class VaultState:
    """The vaults as they were last read, and the index made of them."""

    vaults: tuple[KnownVault, ...]
    assembly: Assembly = field(repr=False)

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
    changes: IndexChanges = NO_CHANGES
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
    are new must have been read; raises ValueError otherwise.
    """
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
    state = VaultState(tuple(vaults), assembly)
    return Refreshed(
        state,
        NO_CHANGES if previous is None else changes_between(previous.index, assembly.index),
        read=sum(vault.read for vault in scanned),
        parsed=parsed,
        failures=tuple(failures),
    )


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
    indexed = {(entry.vault, entry.filename): entry for entry in before.index.entries}
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
    return field_definitions(primary[0].text(path) if primary else "", path, tabs=tabs)


def changes_between(old: VaultIndex, new: VaultIndex) -> IndexChanges:
    """What a person is told about a new index (rules: deeplore 1.13 step 6)."""
    if old is new:
        return NO_CHANGES
    before = {(entry.vault, entry.filename): entry for entry in old.entries}
    after = {(entry.vault, entry.filename) for entry in new.entries}
    added, modified, keys_changed, other = [], [], [], []
    modified_titles: set[str] = set()
    for entry in new.entries:
        earlier = before.get((entry.vault, entry.filename))
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
    removed = [entry for entry in old.entries if (entry.vault, entry.filename) not in after]
    return IndexChanges(tuple(added), tuple(removed), tuple(modified), tuple(keys_changed), tuple(other))


def _rules(
    previous: VaultState | None, primary: ScannedVault, settings: DeepLoreSettings
) -> tuple[FieldDefinitions, ParseRules]:
    """The field definitions of the first vault and the rules that they and the settings make."""
    path = definition_path(settings)
    before = _before(previous, 0, primary.name)
    text = before.text(path) if primary.failure and before.files else primary.text(path)
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
    for file in vault.files:
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
