"""Running the checks: over a whole vault, over one note, and again after a change with what is still true kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from operator import attrgetter
from typing import Final, TypeVar

from msgspec import Struct, field

from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey, VaultIndex
from lorestudio.domain.lifecycle import heed, heeding
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.index import definition_path
from lorestudio.vault.lint import entry_config, keywords
from lorestudio.vault.lint.content import comments, dollars, idle_places, long_entries, macros, summaries
from lorestudio.vault.lint.facts import VaultFacts
from lorestudio.vault.lint.fixes import Repair, most_fixes, repair, work_out
from lorestudio.vault.lint.front_matter import (
    comma_lists,
    document_problems,
    idle_logic,
    parser_warnings,
    readings,
    strict_losses,
    switched_off,
    unread_names,
    unusable_values,
)
from lorestudio.vault.lint.gating import (
    chains,
    contradictions,
    dead_links,
    excluded_fixtures,
    field_values,
    missing_titles,
)
from lorestudio.vault.lint.keyforms import KeyRules
from lorestudio.vault.lint.model import CheckedBooks, CheckedEntry, Finding, Fix, Hit, Note, Rules, check_of
from lorestudio.vault.lint.settings import SettingsFile, settings_checks

_Known = TypeVar("_Known", Rules, VaultFacts)
NoteCheck = Callable[[Note, Rules], Iterator[Hit]]
VaultCheck = Callable[[Note, VaultFacts], Iterator[Hit]]
_Placed = tuple[Finding, Hit, Note]

NOTE_CHECKS: Final[tuple[NoteCheck, ...]] = (
    parser_warnings, strict_losses, unread_names, switched_off, idle_logic, unusable_values,
    comma_lists, readings, document_problems,
    entry_config.keyless, entry_config.empty_text, entry_config.idle_conditions, entry_config.short_warmup,
    entry_config.chances, entry_config.zero_priority, entry_config.guide_conflicts, entry_config.odd_titles,
    entry_config.sync_copies, entry_config.merge_marks,
    field_values, keywords.broad_keys, keywords.idle_keys, keywords.mistyped_keys, keywords.word_boundaries,
    long_entries, summaries, idle_places, macros, dollars, comments,
)  # fmt: skip
"""What an entry is asked by itself; the answers hold as long as the note and the settings do."""

VAULT_CHECKS: Final[tuple[VaultCheck, ...]] = (
    entry_config.same_titles, missing_titles, contradictions, excluded_fixtures, chains,
    keywords.shared_keys, dead_links,
)  # fmt: skip
"""What an entry is asked with regard to all the others."""

LEFT_OUT_CHECKS: Final[tuple[NoteCheck, ...]] = (
    entry_config.reasons, entry_config.near_misses, entry_config.merge_marks, document_problems,
)  # fmt: skip
"""What a note that gave no entry is asked."""

BOOK_CHECKS: Final[tuple[NoteCheck, ...]] = (
    keywords.broad_keys, keywords.idle_keys, keywords.mistyped_keys, keywords.word_boundaries, macros,
)  # fmt: skip
"""What an entry of a lorebook is asked by itself; more says the system that scans it."""

_OWN: Final = attrgetter(
    "title", "content", "keys", "refine_keys", "summary", "priority", "constant", "seed", "bootstrap", "guide",
    "tokens", "scan_depth", "exclude_recursion", "outlet", "position", "depth", "role", "cooldown", "warmup",
    "probability", "custom_fields", "warnings", "content_hash",
)  # fmt: skip
"""What the checks by itself look at."""

_JOINT: Final = attrgetter(*(
    name for name in Entry.__struct_fields__
    if name not in {"content", "summary", "tokens", "links", "resolved_links", "content_hash"}
))  # fmt: skip
"""What the checks with regard to others look at in those."""

MOST_HITS: Final = 200
"""Of a note with three hundred thousand of them the list takes longer than the checks."""


class Scope(Struct, frozen=True):
    """What is checked. `texts` are the notes as they are on disk (or in the editor), as far as they are known.

    `marks` are what equal texts have in common, where that is known without reading them; None: the texts themselves.
    `books` are the entries of lorebooks, which have other fields than notes and are looked at in their place. `keys`
    say how the system that decides searches the keys of notes, None: as the settings do. `file` is the settings file
    where there is one. Findings of a higher `rank` without a fix are counted only, and nothing is remembered then.
    """

    index: VaultIndex
    settings: DeepLoreSettings = field(default_factory=DeepLoreSettings)
    texts: Mapping[NoteKey, str] = {}
    file: SettingsFile | None = None
    counter: TokenCounter = CHARS_4
    books: CheckedBooks | None = None
    keys: KeyRules | None = None
    rank: int | None = None
    marks: Mapping[NoteKey, object] | None = None

    @property
    def of_books(self) -> Mapping[NoteKey, CheckedEntry]:
        """The entries of the lorebooks."""
        return self.books.notes if self.books is not None else {}

    def note(self, key: NoteKey, item: Entry | LeftOutNote | None) -> Note:
        """What is checked of a note; its text is read or made when it is wanted."""
        return Note(*key, partial(self.texts.get, key), item, self.books.names if self.books is not None else None)

    def mark(self, key: NoteKey) -> object:
        """What is the same as long as the note's text is; a lorebook's entry is compared by what it says."""
        return None if self.books is not None else (self.texts if self.marks is None else self.marks).get(key)


class Report(Struct, frozen=True):
    """All findings, the worst first, then by vault and file. `checked` counts notes, `passed` findings left out."""

    findings: tuple[Finding, ...] = ()
    checked: int = 0
    passed: Counter[str] = field(default_factory=Counter)


class _LintedNote:
    """What is known of one note: the hits that depend on nothing else, and the findings made so far.

    `told` are all its findings with regard to the `others`, `placed` the hits that they were made of.
    """

    __slots__ = ("hits", "item", "mark", "others", "placed", "told")

    def __init__(self, note: Note, rules: Rules, mark: object = None) -> None:
        self.item, self.mark = note.item, mark
        self.hits = tuple(_own_hits(note, rules))
        self.placed: tuple[Hit, ...] = ()
        self.others: VaultFacts | None = None
        self.told: tuple[Finding, ...] = ()

    def tell(self, note: Note, facts: VaultFacts, books: CheckedBooks | None) -> None:
        """Work out its findings; an entry of a lorebook may have others with the same facts."""
        self.item, self.told = note.item, tuple(_findings(self, note, facts, books))
        self.others = facts if books is None else None


class Linter:
    """Checks a vault and remembers what holds as long as a note stays as it is, so that the next time is quick.

    Not for several threads at once.
    """

    def __init__(self) -> None:
        self._rules: Rules | None = None
        self._known: dict[NoteKey, _LintedNote] = {}
        self._facts: VaultFacts | None = None
        self._prepared: Scope | None = None

    def run(self, scope: Scope, on_progress: Callable[[int, int], None] | None = None) -> Report:
        """All findings of the vault. `on_progress` gets notes done and their total. Raises Cancelled."""
        facts = self._prepare(scope)
        found = list(_settings_findings(scope))
        notes = tuple(_notes(scope))
        fresh: dict[NoteKey, _LintedNote] = {}
        passed: Counter[str] = Counter()
        for done, (key, item) in enumerate(notes):
            if done % 64 == 0:
                heed()
                if on_progress is not None:
                    on_progress(done, len(notes))
            known, mark = self._known.get(key), scope.mark(key)
            if known is None or known.mark != mark or not _same(known.item, item):
                note = scope.note(key, item)
                known = _LintedNote(note, facts.rules, mark)
                known.tell(note, facts, scope.books)
            elif known.others is not facts or known.item is not item:
                known.tell(scope.note(key, item), facts, scope.books)
            told = known.told
            if scope.rank is not None:
                left = [each for each in told if each.fix is None and each.severity.rank > scope.rank]
                passed.update(each.severity for each in left)
                told = tuple(each for each in told if each not in left)
            elif not isinstance(item, Entry) or key not in fresh:
                fresh[key] = known
            found += told
        self._known = fresh
        if on_progress is not None:
            on_progress(len(notes), len(notes))
        return Report(ordered(found, scope.index.vaults), len(notes), passed)

    def note(self, scope: Scope, key: NoteKey, text: str) -> tuple[Finding, ...]:
        """The findings of one note with another text, at once; of the other entries the index of `scope` tells."""
        return ordered(_with_fixes(self._placed(scope, key, text)), scope.index.vaults)

    def repair(self, scope: Scope, key: NoteKey, first: Sequence[Fix] = ()) -> Repair | None:
        """Make all safe fixes of a note; None where there are none or its text is unknown. Raises Cancelled.

        `first` are those of its text as it is, where they are known.
        """
        text = scope.texts.get(key)
        if text is None:
            return None
        return repair(*key, text, lambda now: first if first and now == text else self._safe_fixes(scope, key, now))

    def _safe_fixes(self, scope: Scope, key: NoteKey, text: str) -> Iterator[Fix]:
        """Those of a note with this text in the order of its findings, each worked out when it is asked for."""
        heed()
        safe = [each for each in self._placed(scope, key, text) if each[1].fix is not None and each[1].fix.safe]
        for placed in sorted(safe, key=lambda each: (each[0].severity.rank, each[0].line, each[0].code)):
            fix = _with_fix(*placed).fix
            if fix is not None:
                yield fix

    def _placed(self, scope: Scope, key: NoteKey, text: str) -> Iterator[_Placed]:
        """What the checks say of a note with another text; nothing where no entry can be read from it any more."""
        facts, books = self._prepare(scope), scope.books
        if books is not None:
            read = books.read(key, text)
            if read is None:
                return
            note = Note(*key, lambda: text, read.entry, books.names)
            books = replace(books, notes={key: read})
        else:
            note = _read_again(scope, facts, key, text)
        entry, hits = _all_hits(_LintedNote(note, facts.rules).hits, note, facts, books)
        for hit in hits:
            yield _finding(hit, note, entry), hit, note

    def _prepare(self, scope: Scope) -> VaultFacts:
        if self._facts is not None and scope is self._prepared:  # as for each fix of each note
            return self._facts
        self._prepared = scope
        rules = Rules(
            scope.settings, ParseRules.from_settings(scope.settings, scope.index.fields),
            scope.keys or KeyRules(scope.settings.case_sensitive, scope.settings.match_whole_words), _about(scope),
            {key: note.keys for key, note in scope.of_books.items()},
        )  # fmt: skip
        if rules != self._rules:
            self._rules, self._known = rules, {}
        if self._facts is None or self._facts.rules != rules or not _alike(self._facts.index, scope.index):
            self._facts = VaultFacts(scope.index, rules)
        return self._facts


def _notes(scope: Scope) -> Iterator[tuple[NoteKey, Entry | LeftOutNote | None]]:
    """Every note once per entry and once per left-out note, and those that the index knows nothing of."""
    known: set[NoteKey] = set()
    for item in heeding(scope.index.notes):
        known.add(item.note_key)
        yield item.note_key, item
    for key in scope.texts:
        if key not in known and key[1].endswith(".md"):
            yield key, None


def _alike(one: VaultIndex, other: VaultIndex) -> bool:
    """Whether both say the same of the entries as far as it concerns the others: mostly only a text has changed."""
    return one is other or (
        (one.vaults, one.left_out, len(one.entries)) == (other.vaults, other.left_out, len(other.entries))
        and all(
            before is entry or _JOINT(before) == _JOINT(entry)
            for before, entry in zip(one.entries, other.entries, strict=True)
        )
    )


def _same(before: Entry | LeftOutNote | None, item: Entry | LeftOutNote | None) -> bool:
    """Whether the note still says what it said."""
    if before is item:
        return True
    if isinstance(before, Entry) and isinstance(item, Entry):
        return bool(_OWN(before) == _OWN(item))
    return before == item


def _read_again(scope: Scope, facts: VaultFacts, key: NoteKey, text: str) -> Note:
    """A note as it would be with this text; as an entry it keeps the id that it has in the index."""
    parsed = parse_note(text, key[1], key[0], facts.rules.parse, scope.counter)
    item: Entry | LeftOutNote = parsed
    if isinstance(parsed, Entry):
        item = replace(parsed, id=facts.ids.get(key, -1))
    return Note(*key, lambda: text, item)


def _hits(checks: Iterable[Callable[[Note, _Known], Iterator[Hit]]], note: Note, known: _Known) -> Iterator[Hit]:
    """Of each check as many hits as anybody looks at in one note; the last of them says that there are more."""
    for check in checks:
        kept = list(islice(check(note, known), MOST_HITS + 1))
        if len(kept) > MOST_HITS:
            last = kept[MOST_HITS - 1]
            kept[-2:] = [replace(last, message=f"{last.message} There are more like this; mend these first.")]
        yield from kept


def _own_hits(note: Note, rules: Rules) -> Iterator[Hit]:
    if isinstance(note.item, Entry):
        hits = list(_hits(BOOK_CHECKS if note.note_key in rules.of_books else NOTE_CHECKS, note, rules))
        told = {hit.field for hit in hits if hit.code in {"P58", "P59"}}
        yield from (hit for hit in hits if hit.code != "P53" or hit.field not in told)
    elif isinstance(note.item, LeftOutNote):
        yield from _hits(LEFT_OUT_CHECKS, note, rules)
    else:
        yield from entry_config.lost_titles(note, rules)


def _findings(known: _LintedNote, note: Note, facts: VaultFacts, books: CheckedBooks | None) -> Iterator[Finding]:
    entry, hits = _all_hits(known.hits, note, facts, books)
    found = dict(zip(known.placed, known.told, strict=True))
    new = [hit for hit in hits if hit not in found]
    found |= zip(new, _with_fixes((_finding(hit, note, entry), hit, note) for hit in new), strict=True)
    known.placed = hits
    for finding in map(found.__getitem__, hits):
        yield finding if finding.entry == entry else replace(finding, entry=entry)


def _with_fixes(placed: Iterable[_Placed]) -> Iterator[Finding]:
    """The findings of a note, of each kind as many with their fix as are worked out for it."""
    tried: Counter[bool] = Counter()  # by whether they are safe: neither kind takes the room of the other
    for finding, hit, note in placed:
        if hit.fix is not None and tried[hit.fix.safe] < most_fixes(note.raw or ""):
            tried[hit.fix.safe] += 1
            yield _with_fix(finding, hit, note)
        else:
            yield finding


def _all_hits(
    own: tuple[Hit, ...], note: Note, facts: VaultFacts, books: CheckedBooks | None
) -> tuple[int | None, tuple[Hit, ...]]:
    """The id of the note's entry, if it has one, and its own hits together with those in which others have a part."""
    if not isinstance(note.item, Entry):
        return None, own
    checks = VAULT_CHECKS if books is None else (keywords.shared_keys,)
    read = books.notes[note.note_key].hits if books is not None else ()
    return note.item.id if note.item.id >= 0 else None, (*own, *read, *_hits(checks, note, facts))


def _finding(hit: Hit, note: Note, entry: int | None) -> Finding:
    """A hit in its place; what can be done about it is not worked out yet."""
    check = check_of(hit.code)
    line = hit.line or (note.places.line(hit.field, hit.item) if note.text is not None else 0)
    field = note.names.get(hit.field, hit.field)
    return Finding(
        hit.code, check.severity, *note.note_key, entry, field, line, hit.message, hit.advice or check.advice
    )


def _with_fix(finding: Finding, hit: Hit, note: Note) -> Finding:
    """The finding with its fix, which takes as long as writing the note does."""
    if hit.fix is None or note.document is None:
        return finding
    return replace(finding, fix=work_out(hit.fix, note.document, note.filename))


def _about(scope: Scope) -> str:
    """What stands before a number of tokens."""
    return "" if scope.counter.exact else "≈ "


def _settings_findings(scope: Scope) -> Iterator[Finding]:
    about = _about(scope)
    of_notes = settings_checks(scope.settings, scope.index, scope.file, about)
    for hit in of_notes if scope.books is None else scope.books.hits:
        check = check_of(hit.code)
        yield Finding(hit.code, check.severity, "", "", None, hit.field, 0, hit.message, hit.advice or check.advice)
    vault = scope.index.vaults[0] if scope.index.vaults else ""
    path = definition_path(scope.settings)
    check = check_of("F51")
    for message in scope.index.field_errors:
        told = message.removeprefix(f"{path}: ")
        line = entry_config.line_in(told)
        yield Finding("F51", check.severity, vault, path, None, "", line, told, check.advice)


def ordered(findings: Iterable[Finding], vaults: Sequence[str]) -> tuple[Finding, ...]:
    """Findings in the order of a report."""
    places = {vault: place for place, vault in enumerate(vaults)}
    numbered = cache(_numbered)
    return tuple(
        sorted(
            findings,
            key=lambda one: (one.severity.rank, places.get(one.vault, -1), numbered(one.filename), one.line, one.code),
        )
    )


def _numbered(filename: str) -> tuple[str, int, str]:
    """A name that ends in a number, as those of a lorebook's entries do, stands in the order of numbers."""
    name, _, number = filename.rpartition(" ")
    return (name, len(number), number) if number.isdecimal() else (filename, 0, "")
