"""All problems of a project: of its notes and settings, and of its chat as far as it was run.

The texts of a project's notes as they are on disk, read again only where a file has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.settings.files import SettingsError
from lorestudio.settings.store import load
from lorestudio.studio.chat.problems import chat_problems, unmet_queries
from lorestudio.studio.notes.book_entries import is_book_entry
from lorestudio.studio.project.project import Project
from lorestudio.trace.model import Trace
from lorestudio.trace.wording import plural
from lorestudio.vault.files import VaultError
from lorestudio.vault.folder import list_folder
from lorestudio.vault.folder_scan import StampedText, read_stamped
from lorestudio.vault.index import definition_path
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.lint.linter import Linter, Scope, ordered
from lorestudio.vault.lint.model import CheckGroup, Finding, NoteKey, Severity
from lorestudio.vault.lint.settings import SettingsFile
from lorestudio.vault.lint.table import all_checks
from lorestudio.vault.note.text_edits import apply_edits

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
    _counts: Counter[Severity] = field(init=False, repr=False, compare=False)

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
        traces: Collection[Trace] = (),
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
        found += chat_problems(project.index, project.settings, project.chat, traces, unmet, scope.texts)
        folderless = {vault for vault, folder in project.folders.items() if folder is None}
        vaults = [item.vault for part in (project.index.entries, project.index.left_out) for item in part]
        return Problems(
            ordered(found, project.index.vaults),
            report.checked,
            len(project.index.entries),
            sum(vault in folderless for vault in vaults),
            sum(not trace.skip_reason for trace in traces),
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
        if project.books and not project.places:  # their keys and fields go by other rules
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
