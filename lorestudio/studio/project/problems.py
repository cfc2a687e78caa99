"""All problems of a project: of its notes and settings, and of its chat as far as it was run.

Notes are read again only where a file has changed. The chat tells which entries never come in, by the traces of its
runs, and which keys find too much or nothing: single keys are looked for as the system that decides finds them, those
of lorebooks as one that scans them does, which says itself what is wrong with its fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field as data_field
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey, VaultIndex
from lorestudio.domain.javascript import Json, is_finite_number, trim
from lorestudio.domain.json_text import object_in, objects_in
from lorestudio.domain.lifecycle import CancelToken, heeding, stoppable
from lorestudio.domain.records import grouped, replace
from lorestudio.domain.state import EntryRule, has_rule
from lorestudio.exchange.lorebooks.entry import entry_text
from lorestudio.exchange.lorebooks.reading import NAMED, Lorebook, with_texts
from lorestudio.settings.files import SettingsError
from lorestudio.settings.store import load
from lorestudio.studio.project.project import Project
from lorestudio.systems.base import Deciding, KeySearch
from lorestudio.systems.macros import has_macros
from lorestudio.trace.journey import FateState, Journeys
from lorestudio.trace.model import Phase, Trace
from lorestudio.trace.wording import lowered, plural
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.files import NoteFile, VaultError
from lorestudio.vault.folder import KnownFile, Stamp, list_folder, read_listed, settled_stamp
from lorestudio.vault.index import definition_path
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.lint.keyforms import KeyRules
from lorestudio.vault.lint.linter import Linter, Scope, ordered
from lorestudio.vault.lint.model import CheckedBooks, CheckGroup, Finding, Places, Severity, all_checks, check_of
from lorestudio.vault.lint.settings import SettingsFile
from lorestudio.vault.note.text_edits import apply_edits

BROAD: Final = 1 / 3
"""A key in more than this share of the messages is too broad: with the default scan depth of 4 it is in the scanned
text of 1 - (2/3)^4, four generations of five, and so the entry is as good as constant."""

ENOUGH_MESSAGES: Final = 12
"""In shorter chats shares mean little: three windows of the default scan depth."""

WANTED_TIMES: Final = 3
"""A search in vain counts from so many times on (rules: deeplore-tools 3.3 B01)."""


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
    search: KeySearch,
    chat: Chat | None,
    careers: Careers,
    unmet: Sequence[tuple[str, int]],
    scope: Scope,
    blocks: Sequence[EntryRule] = (),
) -> tuple[Finding, ...]:
    """The findings D51 to D55 and B01. `careers` are those in the chat, `unmet` searches in vain with their number.

    Of what the person keeps out with `blocks` nobody is told that it does not come in.
    `scope` has the texts for the line numbers, and how the keys of lorebooks are searched.
    """
    texts = scope.texts if scope.books is None else {}
    found = list(_careers_told([e for e in index.entries if not has_rule(blocks, e)], careers, texts))
    if chat is not None:
        found += _keys_told(index, search, chat, texts, scope.books)
        unmet = (*unmet, *_gaps(chat.metadata))
    return (*found, *_unmet_told(unmet))


def _line(texts: Mapping[NoteKey, str], entry: Entry, key: str = "") -> int:
    """The line of a key in its note, or of the note's beginning; 0 where the text is not known."""
    note = entry.note_key
    if not key:
        return int(note in texts)
    text = texts.get(note)
    return 0 if text is None else Places(text.removeprefix("\ufeff"), "").line("keys", key)


def _finding(code: str, entry: Entry | None, message: str, line: int = 0, name: str = "") -> Finding:
    check = check_of(code)
    vault, filename = entry.note_key if entry is not None else ("", "")
    place = entry.id if entry is not None else None
    return Finding(code, check.severity, vault, filename, place, name, line, message, check.advice)


# ---- entries that never come in --------------------------------------------------------------------------------------


def careers_in(traces: Iterable[Trace]) -> Careers:
    """What became of the entries in these runs, which are looked at one after the other."""
    careers: dict[NoteKey, Career] = {}
    runs = 0
    for trace in traces:
        if trace.skip_reason or not trace.of_notes:
            continue
        runs += 1
        offered = trace.ran(trace.words.whole_stage) is not None
        for entry, fate in Journeys(trace).fates.items():
            ref = trace.entries.get(entry)
            if ref is None:
                continue
            career = careers.setdefault(ref.note_key, Career())
            if fate.state.went_in:
                career.matched += 1
                career.injected += 1
            elif offered and fate.phase is Phase.SELECT:
                pass  # every entry is offered to the AI; not to be chosen is no match
            elif fate.state in {FateState.REMOVED, FateState.UNDECIDED} or (
                fate.state is FateState.REFUSED and fate.reason in trace.words.found
            ):
                career.matched += 1
                career.stops[fate.stage, trace.words.label(fate.reason)] += 1
    return Careers(careers, runs)


def _careers_told(entries: Iterable[Entry], careers: Careers, texts: Mapping[NoteKey, str]) -> Iterator[Finding]:
    if not careers.runs:
        return
    for entry in heeding(entries):
        if entry.guide:
            continue
        career = careers.by_note.get(entry.note_key)
        if career is None or not career.matched:
            told = f"“{entry.title}” matched in none of {plural(careers.runs, '# run|# runs')}."
            yield _finding("D51", entry, told, _line(texts, entry))
        elif not career.injected:
            (stage, label), times = career.stops.most_common(1)[0]
            why = f" ({lowered(label)})" if label else ""
            told = (
                f"“{entry.title}” matched in {plural(career.matched, '# run|# runs')} and never went in; "
                f"{plural(times, 'once|# times')} it was stopped in “{stage}”{why}."
            )
            yield _finding("D52", entry, told, _line(texts, entry))


# ---- keys ------------------------------------------------------------------------------------------------------------


def _keys_told(
    index: VaultIndex, search: KeySearch, chat: Chat, texts: Mapping[NoteKey, str], books: CheckedBooks | None
) -> Iterator[Finding]:
    messages = [message for message in chat.messages if message.scannable]
    owners = [
        (entry, key)
        for entry in heeding(index.entries)
        if not entry.guide and not entry.constant
        for key in dict.fromkeys(entry.keys)
        if trim(key) and not (books is not None and has_macros(key))  # what a lorebook's stand for, a run tells
    ]
    if not messages or not owners:
        return
    alike: dict[KeyRules | None, dict[str, list[int]]] = {}
    for place, (entry, key) in enumerate(heeding(owners)):
        rules = books.notes[entry.note_key].keys if books is not None else None
        alike.setdefault(rules, {}).setdefault(key, []).append(place)
    counts: Counter[int] = Counter()
    spoken: dict[int, str] = {}
    names = dict.fromkeys(message.name for message in messages if message.name)
    for rules, keys in alike.items():
        own = search if rules is None else search.of(rules)
        found_in, places = own.finder(tuple(keys)), tuple(keys.values())
        found = Counter(number for message in messages for number in found_in(own.line(message)))
        counts.update({place: found[number] for number in found for place in places[number]})
        for name in names:
            for number in found_in(own.line(Message(name, ""))):
                for place in places[number]:
                    spoken.setdefault(place, name or "")
    awake = {owners[place][0].id for place in counts}
    enough = len(messages) >= ENOUGH_MESSAGES
    name = books.names["keys"] if books is not None else "keys"
    for place, (entry, key) in enumerate(heeding(owners)):
        times = counts[place]
        if place in spoken:
            told = f"The key “{key}” is in the name of the speaker {spoken[place]}."
            yield _finding("D55", entry, told, _line(texts, entry, key), name)
        elif enough and times > BROAD * len(messages):
            told = f"The key “{key}” is in {times:,} of {len(messages):,} messages."
            yield _finding("D53", entry, told, _line(texts, entry, key), name)
        elif enough and not times and entry.id in awake:
            told = f"The key “{key}” is in none of {len(messages):,} messages."
            yield _finding("D54", entry, told, _line(texts, entry, key), name)


# ---- searches in vain ------------------------------------------------------------------------------------------------


def _gaps(metadata: Mapping[str, Json]) -> Iterator[tuple[str, int]]:
    """Searches in vain that the chat's metadata records (rules: deeplore-tools 2.9)."""
    for record in objects_in(metadata.get("deeplore_lore_gaps")):
        if record.get("type") != "search" or record.get("hadResults") is True:
            continue
        query, times = record.get("query"), record.get("frequency")
        if isinstance(query, str) and is_finite_number(times):
            yield query, int(times)


def unmet_queries(analytics: Json) -> tuple[tuple[str, int], ...]:
    """Searches in vain that DeepLore's settings count over all chats (rules: deeplore-tools 3.9)."""
    found: list[tuple[str, int]] = []
    for item in objects_in(object_in(analytics, "_librarian").get("topUnmetQueries")):
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


class EntryTexts(Mapping[NoteKey, str]):
    """The texts of lorebooks' entries, each made when it is wanted. Two of one number have none."""

    def __init__(self, books: Iterable[Lorebook]) -> None:
        entries = [((book.name, f"{NAMED}{entry.name}"), raw) for book in books
                   for entry, raw in zip(book.entries, book.raws, strict=True)]  # fmt: skip
        several = Counter(key for key, _ in entries)
        self._raws = {key: raw for key, raw in entries if several[key] == 1}

    def __getitem__(self, key: NoteKey) -> str:
        return entry_text(self._raws[key])

    def __contains__(self, key: object) -> bool:
        return key in self._raws

    def __iter__(self) -> Iterator[NoteKey]:
        return iter(self._raws)

    def __len__(self) -> int:
        return len(self._raws)


class NoteTexts(Mapping[NoteKey, str]):
    """The texts of the notes that were listed, a byte order mark included, each read when it is wanted.

    `marks` are stamps, or the text where a stamp does not tell whether the file changes. One that has changed since,
    or cannot be read, has no text. Notes behind Obsidian's plugin have none either.
    """

    def __init__(self, project: Project) -> None:
        """List them; `failures` are sentences about vaults that could not be. Raises Cancelled."""
        self._folders: dict[str, Path] = {}
        self.marks: dict[NoteKey, Stamp | str] = {}
        self.failures: tuple[str, ...] = ()
        for number, (vault, folder) in enumerate(project.folders.items()):
            if folder is None:
                continue
            try:
                listing = list_folder(folder, vault, definition_path=definition_path(project.settings))
            except VaultError as error:
                self.failures += (str(error),)
                continue
            self._folders[vault] = folder
            known = project.vault_state.files(number) if project.vault_state is not None else {}
            for filename, path in heeding(listing.found):
                if filename.endswith(".md"):
                    self._add((vault, filename), path, known.get(filename))

    def _add(self, key: NoteKey, path: Path, known: KnownFile | None) -> None:
        mark: Stamp | str | None = settled_stamp(path)
        if known is not None and known.stamp == mark:  # the very same: a large vault's take a quarter of its texts
            key, mark = (key[0], known.filename), known.stamp
        if mark is None and isinstance(read := _read(key, path), NoteFile):  # else the index says why it cannot be read
            mark = read.text
        if mark is not None:
            self.marks[key] = mark

    def __getitem__(self, key: NoteKey) -> str:
        mark, path = self.marks[key], self._folders[key[0]] / key[1]  # thousands of paths take as much as their notes
        if isinstance(mark, str):
            return mark
        read = _read(key, path)
        if isinstance(read, LeftOutNote) or settled_stamp(path) != mark:
            raise KeyError(key)
        return read.text

    def __contains__(self, key: object) -> bool:
        return key in self.marks

    def __iter__(self) -> Iterator[NoteKey]:
        return iter(self.marks)

    def __len__(self) -> int:
        return len(self.marks)


def _read(key: NoteKey, path: Path) -> NoteFile | LeftOutNote:
    return read_listed(key[1], path, key[0], keep_bom=True)


@dataclass(frozen=True, slots=True)
class Problems:
    """What was found, the worst first, and what was looked at.

    `notes` counts files, `unread` those whose text is not known here because their vault has no folder, `runs` the
    generations that were taken into account. `failures` are sentences about what could not be looked at. Of lorebooks
    `notes` counts the entries that are on. `of_note` counts the findings of each note, `passed` those left out.
    """

    findings: tuple[Finding, ...] = ()
    notes: int = 0
    entries: int = 0
    unread: int = 0
    runs: int = 0
    failures: tuple[str, ...] = ()
    of_books: bool = False
    passed: Counter[str] = data_field(default_factory=Counter)
    of_note: Counter[NoteKey] = data_field(init=False, repr=False, compare=False)
    _counts: Counter[str] = data_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Count once: a large vault has tens of thousands of findings."""
        object.__setattr__(self, "of_note", Counter(finding.note_key for finding in self.findings))
        object.__setattr__(self, "_counts", Counter(finding.severity for finding in self.findings) + self.passed)

    def count(self, severity: Severity) -> int:
        """How many findings are of this severity."""
        return self._counts[severity]

    @property
    def checked(self) -> str:
        """What was looked at, as a sentence."""
        checks = sum(check.group is not CheckGroup.CHAT or bool(self.runs) for check in all_checks().values())
        told = f"{checks} checks over {plural(self.notes, '# note|# notes')} and the settings"
        if self.of_books:
            told = f"The checks of lorebooks over {plural(self.notes, '# entry|# entries')}"
        return f"{told}, and over {plural(self.runs, '# run|# runs')} of the chat." if self.runs else f"{told}."


class ProblemFinder:
    """Finds problems, and remembers what holds until a note changes. Its methods wait for the disk or compute.

    It is for one thread at a time.
    """

    def __init__(self) -> None:
        self._linter = Linter()
        self._scope: Scope | None = None

    def find(
        self,
        project: Project,
        traces: Iterable[Trace] = (),
        drafts: Mapping[Path, str] | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        cancel: CancelToken | None = None,
        by: Deciding | None = None,
        least: Severity = Severity.INFO,
    ) -> Problems:
        """Everything there is to say about the project. `drafts` are unsaved texts by file, which count instead.

        `by` decides, None for the project's own system. What is milder than `least` is only counted. `on_progress` gets
        notes done and their total; lorebooks are gone through twice, entry by entry and then together.

        Raises Cancelled.
        """
        with stoppable(cancel):
            return self._found(project, traces, drafts or {}, on_progress, by, least)

    def _found(
        self,
        project: Project,
        traces: Iterable[Trace],
        drafts: Mapping[Path, str],
        on_progress: Callable[[int, int], None] | None,
        by: Deciding | None,
        least: Severity,
    ) -> Problems:
        by = project.searching(by)
        written = (_with_drafts(project, drafts) if project.of_books and drafts else project).read_for(by.kind)
        scope, unmet, failures = self._look(written, by, on_progress)
        rank = least.rank if least is not Severity.INFO else None  # of a large vault remarks are most of what is held
        report = self._linter.run(replace(scope, rank=rank), on_progress)
        self._scope = scope
        found = list(report.findings)
        for path, text in drafts.items():
            key = project.note_place(path)
            if key is not None and scope.books is None:
                found = [finding for finding in found if finding.note_key != key]
                found += self._linter.note(scope, key, text)
        careers = careers_in(traces)
        entries, choices = _taking_part(written.index, scope), project.controls
        found += chat_problems(entries, by.key_search, project.chat, careers, unmet, scope, choices.blocks)
        if written is not project:
            numbers = {entry.note_key: entry.id for entry in project.index.entries}
            found = [replace(finding, entry=numbers.get(finding.note_key)) for finding in found]
        folderless = {vault for vault, folder in project.folders.items() if folder is None}
        index, ranked = project.index, ordered(found, project.index.vaults)
        unread = sum(item.vault in folderless for part in (index.entries, index.left_out) for item in part)
        return Problems(
            ranked, report.checked, len(index.entries), unread, careers.runs, failures, project.of_books, report.passed
        )

    def repairs(
        self,
        project: Project,
        notes: Iterable[NoteKey] | None = None,
        by: Deciding | None = None,
        on_progress: Callable[[int, int], None] = lambda _done, _total: None,
        cancel: CancelToken | None = None,
    ) -> tuple[Repair, ...]:
        """The notes with all their safe fixes made, as they are on disk now: all notes, or those named.

        `on_progress` gets notes done and their total. Raises Cancelled.
        """
        with stoppable(cancel):
            scope, _, _ = self._look(project, project.searching(by))
            findings = self._linter.run(scope).findings if notes is None else ()
            safe = grouped((each.note_key, each.fix) for each in findings if each.fix is not None and each.fix.safe)
            keys = [key for key in dict.fromkeys(safe if notes is None else notes) if key in scope.texts]
            found = []
            for done, key in enumerate(heeding(keys)):
                on_progress(done, len(keys))
                found.append(self._linter.repair(scope, key, safe.get(key, ())))
        return tuple(repair for repair in found if repair is not None)

    def text(self, note: NoteKey) -> str | None:
        """The text of a note as it was read for the last findings."""
        return self._scope.texts.get(note) if self._scope is not None else None

    def _look(
        self, project: Project, by: Deciding, on_progress: Callable[[int, int], None] | None = None
    ) -> tuple[Scope, tuple[tuple[str, int], ...], tuple[str, ...]]:
        file, unmet, more = _settings_file(project)
        if project.of_books and by.kind.books is not None:
            scene = project.read_for(by.kind).scene()
            books = by.kind.books.checked(by.settings, scene, project.known_context, on_progress)
            index = VaultIndex(tuple(note.entry for note in books.notes.values()), vaults=project.index.vaults)
            texts = EntryTexts(project.books)
            return Scope(index, project.settings, texts, counter=project.counter, books=books), unmet, more
        of_notes = NoteTexts(project)
        counter, keys, marks = project.counter, by.key_search.rules, of_notes.marks
        scope = Scope(project.index, project.settings, of_notes, file, counter=counter, keys=keys, marks=marks)
        return scope, unmet, (*of_notes.failures, *more)


def _with_drafts(project: Project, drafts: Mapping[Path, str]) -> Project:
    """The project with these texts in its lorebooks; one that makes no entry is left out."""
    books = project.books
    for path, text in drafts.items():
        place = project.note_place(path)
        if place is not None:
            with suppress(VaultError):
                books = with_texts(books, [NoteText(*place, text)])
    return project.with_books(books)


def _taking_part(index: VaultIndex, scope: Scope) -> VaultIndex:
    """The entries that the chat is asked about: of lorebooks those that are on."""
    if scope.books is None:
        return index
    on = (entry for entry in index.entries if entry.note_key in scope.of_books)
    return VaultIndex(tuple(on), vaults=index.vaults)


def preview(finding: Finding, text: str) -> Repair | None:
    """What the fix of one finding makes of its note's text; None where it has none."""
    fix = finding.fix
    edits = fix.edits.get(finding.filename) if fix is not None else None
    if fix is None or edits is None:
        return None
    return Repair(finding.vault, finding.filename, text, apply_edits(text, edits), (fix.title,))


def _settings_file(project: Project) -> tuple[SettingsFile | None, tuple[tuple[str, int], ...], tuple[str, ...]]:
    """What the project's settings file says beside the settings, and why it could not be read."""
    if project.settings_path is None:
        return None, (), ()
    try:
        read = load(project.settings_path)
    except SettingsError as error:
        return None, (), (str(error),)
    return SettingsFile(read.settings, read.unknown.get("vaults")), unmet_queries(read.unknown.get("analyticsData")), ()
