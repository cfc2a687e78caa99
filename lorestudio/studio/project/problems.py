"""All problems of a project: of its notes and settings, and of its chat as far as it was run.

Notes are read again only where a file has changed. The chat tells which entries never come in, by the traces of its
runs, and which keys find too much or nothing: single keys are looked for as the main system finds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json, is_finite_number, trim
from lorestudio.domain.json_text import object_in
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import SettingsError
from lorestudio.settings.store import load
from lorestudio.studio.notes.book_entries import is_book_entry
from lorestudio.studio.project.project import Project
from lorestudio.systems.registry import MAIN
from lorestudio.trace.journey import FateState, Journeys
from lorestudio.trace.model import Phase, StageStatus, Trace
from lorestudio.trace.wording import plural
from lorestudio.vault.files import VaultError
from lorestudio.vault.folder import StampedText, list_folder, read_stamped
from lorestudio.vault.index import definition_path
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.lint.linter import Linter, Scope, ordered
from lorestudio.vault.lint.model import CheckGroup, Finding, NoteKey, Places, Severity, all_checks, check_of
from lorestudio.vault.lint.settings import SettingsFile
from lorestudio.vault.note.text_edits import apply_edits

BROAD: Final = 1 / 3
"""A key in more than this share of the messages is too broad: with the default scan depth of 4 it is in the scanned
text of 1 - (2/3)^4, four generations of five, and so the entry is as good as constant."""

ENOUGH_MESSAGES: Final = 12
"""In shorter chats shares mean little: three windows of the default scan depth."""

WANTED_TIMES: Final = 3
"""A search in vain counts from so many times on (rules: deeplore-tools 3.3 B01)."""

_INJECTED: Final = frozenset({FateState.INJECTED, FateState.TRUNCATED})


class Career(Struct):
    """What became of one entry in all runs. `stops` counts by stage and reason."""

    matched: int = 0
    injected: int = 0
    stops: Counter[tuple[str, str]] = field(default_factory=Counter)


class Careers(Struct, frozen=True):
    """What became of each entry that a run decided about, in so many `runs`; those that never began do not count."""

    by_note: Mapping[NoteKey, Career] = {}
    runs: int = 0


def chat_problems(
    index: VaultIndex,
    settings: DeepLoreSettings,
    chat: Chat | None,
    careers: Careers,
    unmet: Sequence[tuple[str, int]] = (),
    texts: Mapping[NoteKey, str] | None = None,
) -> tuple[Finding, ...]:
    """The findings D51 to D55 and B01. `careers` are those in the chat, `unmet` searches in vain with their number.

    `texts` are for the line numbers.
    """
    texts = texts or {}
    found = list(_careers_told(index, careers, texts))
    if chat is not None:
        found += _keys_told(index, settings, chat, texts)
        unmet = (*unmet, *_gaps(chat.metadata))
    return (*found, *_unmet_told(unmet))


def _line(texts: Mapping[NoteKey, str], entry: Entry, key: str = "") -> int:
    """The line of a key in its note, or of the note's beginning; 0 where the text is not known."""
    text = texts.get((entry.vault, entry.filename))
    if text is None:
        return 0
    return Places(text.removeprefix("\ufeff"), "").line("keys", key) if key else 1


def _finding(code: str, entry: Entry | None, message: str, line: int = 0, name: str = "") -> Finding:
    check = check_of(code)
    vault, filename = (entry.vault, entry.filename) if entry is not None else ("", "")
    place = entry.id if entry is not None else None
    return Finding(code, check.severity, vault, filename, place, name, line, message, check.advice)


# ---- entries that never come in --------------------------------------------------------------------------------------


def careers_in(traces: Iterable[Trace]) -> Careers:
    """What became of the entries in these runs, which are looked at one after the other."""
    careers: dict[NoteKey, Career] = {}
    runs = 0
    for trace in traces:
        if trace.skip_reason:
            continue
        runs += 1
        whole = trace.stage(trace.words.whole_stage)
        offered = whole is not None and whole.status is StageStatus.RAN
        for entry, fate in Journeys(trace).fates.items():
            ref = trace.entries.get(entry)
            if ref is None:
                continue
            career = careers.setdefault((ref.vault, ref.filename), Career())
            if fate.state in _INJECTED:
                career.matched += 1
                career.injected += 1
            elif offered and fate.phase is Phase.SELECT:
                pass  # every entry is offered to the AI; not to be chosen is no match
            elif fate.state in {FateState.REMOVED, FateState.UNDECIDED} or (
                fate.state is FateState.REFUSED and fate.phase is Phase.MATCH
            ):
                career.matched += 1
                career.stops[fate.stage, trace.words.label(fate.reason)] += 1
    return Careers(careers, runs)


def _careers_told(index: VaultIndex, careers: Careers, texts: Mapping[NoteKey, str]) -> Iterator[Finding]:
    if not careers.runs:
        return
    for entry in index.entries:
        if entry.guide:
            continue
        career = careers.by_note.get((entry.vault, entry.filename))
        if career is None or not career.matched:
            told = f"“{entry.title}” matched in none of {plural(careers.runs, '# run|# runs')}."
            yield _finding("D51", entry, told, _line(texts, entry))
        elif not career.injected:
            (stage, label), times = career.stops.most_common(1)[0]
            why = f" ({label.lower()})" if label else ""
            told = (
                f"“{entry.title}” matched in {plural(career.matched, '# run|# runs')} and never went in; "
                f"{plural(times, 'once|# times')} it was stopped in “{stage}”{why}."
            )
            yield _finding("D52", entry, told, _line(texts, entry))


# ---- keys ------------------------------------------------------------------------------------------------------------


def _keys_told(
    index: VaultIndex, settings: DeepLoreSettings, chat: Chat, texts: Mapping[NoteKey, str]
) -> Iterator[Finding]:
    messages = [message for message in chat.messages if message.scannable]
    owners = [
        (entry, key)
        for entry in index.entries
        if not entry.guide and not entry.constant
        for key in dict.fromkeys(entry.keys)
        if trim(key)
    ]
    if not messages or not owners:
        return
    search = MAIN.key_search(settings)
    found_in = search.finder([key for _, key in owners])
    counts: Counter[int] = Counter()
    for message in messages:
        counts.update(found_in(search.line(message)))
    spoken: dict[int, str] = {}
    for name in dict.fromkeys(message.name for message in messages if message.name):
        for place in found_in(search.line(Message(name, ""))):
            spoken.setdefault(place, name or "")
    awake = {owners[place][0].id for place in counts}
    enough = len(messages) >= ENOUGH_MESSAGES
    for place, (entry, key) in enumerate(owners):
        times = counts[place]
        line = _line(texts, entry, key)
        if place in spoken:
            told = f"The key “{key}” is in the name of the speaker {spoken[place]}."
            yield _finding("D55", entry, told, line, "keys")
        elif enough and times > BROAD * len(messages):
            told = f"The key “{key}” is in {times:,} of {len(messages):,} messages."
            yield _finding("D53", entry, told, line, "keys")
        elif enough and not times and entry.id in awake:
            yield _finding("D54", entry, f"The key “{key}” is in none of {len(messages):,} messages.", line, "keys")


# ---- searches in vain ------------------------------------------------------------------------------------------------


def _gaps(metadata: Mapping[str, Json]) -> Iterator[tuple[str, int]]:
    """Searches in vain that the chat's metadata records (rules: deeplore-tools 2.9)."""
    records = metadata.get("deeplore_lore_gaps")
    for record in records if isinstance(records, list | tuple) else ():
        if not isinstance(record, Mapping) or record.get("type") != "search" or record.get("hadResults") is True:
            continue
        query, times = record.get("query"), record.get("frequency")
        if isinstance(query, str) and is_finite_number(times):
            yield query, int(times)


def unmet_queries(analytics: Json) -> tuple[tuple[str, int], ...]:
    """Searches in vain that DeepLore's settings count over all chats (rules: deeplore-tools 3.9)."""
    queries = object_in(analytics, "_librarian").get("topUnmetQueries")
    found: list[tuple[str, int]] = []
    for item in queries if isinstance(queries, list | tuple) else ():
        if isinstance(item, Mapping):
            query, times = item.get("query"), item.get("count")
            if isinstance(query, str) and is_finite_number(times):
                found.append((query, int(times)))
    return tuple(found)


def _unmet_told(unmet: Iterable[tuple[str, int]]) -> Iterator[Finding]:
    most: dict[str, tuple[str, int]] = {}
    for query, times in unmet:
        key = trim(query).lower()
        if key and times > most.get(key, ("", 0))[1]:
            most[key] = (trim(query), times)
    for query, times in most.values():
        if times >= WANTED_TIMES:
            yield _finding("B01", None, f"The Librarian searched {times:,} times for “{query}” and found nothing.")


_OF_BOOKS: Final = (
    "The checks are for a vault's notes: of a lorebook is told what its chat shows. "
    "lorestudio import makes notes of its entries."
)


class NoteTexts:
    """Reads and remembers. Notes behind Obsidian's plugin have no text here. Not for several threads at once."""

    def __init__(self) -> None:
        self._known: dict[Path, StampedText] = {}

    def read(
        self, project: Project, cancelled: Callable[[], bool] | None = None
    ) -> tuple[dict[NoteKey, str], tuple[str, ...]]:
        """Every note's text by vault and file name, a byte order mark included, and sentences about what failed.

        Raises Cancelled.
        """
        texts: dict[NoteKey, str] = {}
        failures: list[str] = []
        fresh: dict[Path, StampedText] = {}
        for vault, folder in project.folders.items():
            if folder is None:
                continue
            try:
                listing = list_folder(folder, vault, cancelled, definition_path=definition_path(project.settings))
            except VaultError as error:
                failures.append(str(error))
                continue
            for filename, path in listing.found:
                if cancelled is not None and cancelled():
                    raise Cancelled
                if not filename.endswith(".md"):
                    continue
                read = read_stamped(filename, path, vault, self._known.get(path), keep_bom=True)
                if isinstance(read, StampedText):  # else the index says why it cannot be read
                    fresh[path] = read
                    texts[vault, filename] = read.text
        self._known = fresh
        return texts, tuple(failures)


@dataclass(frozen=True, slots=True)
class Problems:
    """What was found, the worst first, and what was looked at.

    `notes` counts files, `unread` those whose text is not known here because their vault has no folder, `runs` the
    generations that were taken into account. `failures` are sentences about what could not be looked at.
    """

    findings: tuple[Finding, ...] = ()
    notes: int = 0
    entries: int = 0
    unread: int = 0
    runs: int = 0
    failures: tuple[str, ...] = ()
    _counts: Counter[Severity] = data_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Count once: a large vault has tens of thousands of findings."""
        object.__setattr__(self, "_counts", Counter(finding.severity for finding in self.findings))

    def count(self, severity: Severity) -> int:
        """How many findings are of this severity."""
        return self._counts[severity]

    @property
    def checked(self) -> str:
        """What was looked at, as a sentence."""
        checks = sum(check.group is not CheckGroup.CHAT or bool(self.runs) for check in all_checks().values())
        told = f"{checks} checks over {plural(self.notes, '# note|# notes')} and the settings"
        return f"{told}, and over {plural(self.runs, '# run|# runs')} of the chat." if self.runs else f"{told}."


class ProblemFinder:
    """Finds problems, and remembers what holds until a note changes. Its methods wait for the disk or compute.

    It is for one thread at a time.
    """

    def __init__(self) -> None:
        self._linter = Linter()
        self._texts = NoteTexts()
        self._scope: Scope | None = None

    def find(
        self,
        project: Project,
        traces: Iterable[Trace] = (),
        drafts: Mapping[Path, str] | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Problems:
        """Everything there is to say about the project. `drafts` are unsaved texts by file, which count instead.

        Raises Cancelled.
        """
        scope, unmet, failures = self._look(project, cancelled)
        report = self._linter.run(scope, on_progress, cancelled)
        self._scope = scope
        found = list(report.findings)
        for path, text in (drafts or {}).items():
            key = project.note_place(path)
            if key is not None and not is_book_entry(path):  # what is checked are notes
                found = [finding for finding in found if finding.note != key]
                found += self._linter.note(scope, key, text)
        careers = careers_in(traces)
        found += chat_problems(project.index, project.settings, project.chat, careers, unmet, scope.texts)
        folderless = {vault for vault, folder in project.folders.items() if folder is None}
        vaults = [item.vault for part in (project.index.entries, project.index.left_out) for item in part]
        return Problems(
            ordered(found, project.index.vaults),
            report.checked,
            len(project.index.entries),
            sum(vault in folderless for vault in vaults),
            careers.runs,
            failures,
        )

    def repairs(self, project: Project, notes: Iterable[NoteKey] | None = None) -> tuple[Repair, ...]:
        """The notes with all their safe fixes made, as they are on disk now: all notes, or those named."""
        scope, _, _ = self._look(project, None)
        wanted = scope.texts if notes is None else [key for key in dict.fromkeys(notes) if key in scope.texts]
        found = [self._linter.repair(scope, key) for key in wanted]
        return tuple(repair for repair in found if repair is not None)

    def text(self, note: NoteKey) -> str | None:
        """The text of a note as it was read for the last findings."""
        return self._scope.texts.get(note) if self._scope is not None else None

    def _look(
        self, project: Project, cancelled: Callable[[], bool] | None
    ) -> tuple[Scope, tuple[tuple[str, int], ...], tuple[str, ...]]:
        texts, failures = self._texts.read(project, cancelled)
        file, unmet, more = _settings_file(project)
        index = project.index
        if project.of_books:  # their keys and fields go by other rules
            index, failures = VaultIndex(()), (*failures, _OF_BOOKS)
        scope = Scope(index, project.settings, texts, file, counter=project.counter)
        return scope, unmet, (*failures, *more)


def preview(finding: Finding, text: str) -> Repair | None:
    """What the fix of one finding makes of its note's text; None where it has none."""
    fix = finding.fix
    edits = fix.edits.get(finding.filename) if fix is not None else None
    if fix is None or edits is None:
        return None
    return Repair(finding.vault, finding.filename, text, apply_edits(text, edits), (fix.title,))


def _settings_file(
    project: Project,
) -> tuple[SettingsFile | None, tuple[tuple[str, int], ...], tuple[str, ...]]:
    """What the project's settings file says beside the settings, and why it could not be read."""
    if project.settings_path is None:
        return None, (), ()
    try:
        read = load(project.settings_path)
    except SettingsError as error:
        return None, (), (str(error),)
    return SettingsFile(read.settings, read.unknown.get("vaults")), unmet_queries(read.unknown.get("analyticsData")), ()
