"""What commands have in common that run whole chats and hold them against expectations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from lorestudio.cli.options import SYSTEMS, BookOption, ProjectOptions, with_books
from lorestudio.cli.output import say_all
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.compare.comparison import Candidate, candidate
from lorestudio.studio.project.project import Project
from lorestudio.studio.tuning.expectations import FILE_NAME, Expectations, expectations_path, load
from lorestudio.systems.registry import kind_of

NOTHING_EXPECTED: Final = "nothing is expected there yet. Say “Should be in…” in the window, or write the file."


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeChats(ProjectOptions):
    """A project, the chats that are run whole, what is expected of them, and who decides."""

    chat: Annotated[list[Path] | None, "A chat that is run whole. May be repeated. Default: no chat."] = None
    expectations: Annotated[Path | None, f"Default: {FILE_NAME} in the first vault, or beside the lorebook."] = None
    run: Annotated[
        list[str] | None,
        "SYSTEM[:FILE]",
        f"Who decides: a system ({SYSTEMS}), with a file of its settings. May be repeated. Default: the project's own.",
    ] = None
    book: BookOption = None

    def projects(self) -> Iterator[Project]:
        """The project with each chat in turn. Raises what opening it raises."""
        chats: list[Path | None] = [*(self.chat or ())]
        for path in chats or [None]:
            yield self.opened(path)

    def candidates(self, project: Project) -> tuple[Candidate, ...]:
        """Who runs the chats; lorebooks go to those that scan some. Raises InputError and SettingsError."""
        found = tuple(map(candidate, self.run or [project.system]))
        say_all(remark for each in found for remark in project.book_remarks(kind_of(each.system)))
        return tuple(candidates_with_books(found, self.book or ()))

    def expected(self, project: Project, *, needed: bool = False) -> tuple[Path | None, Expectations]:
        """The file of expectations, and what it says; nothing where there is none. Raises InputError for one that is
        named, or `needed`, and is not there.
        """
        file = self.expectations or expectations_path(project.changed_in)
        if (file is None and needed) or (self.expectations is not None and not self.expectations.exists()):
            raise InputError("--expectations", "there is no such file. Name the one that says what should be in.")
        return file, Expectations() if file is None else load(file)


def candidates_with_books(found: Sequence[Candidate], books: Sequence[str]) -> Iterator[Candidate]:
    """The candidates with these lorebooks besides those they name. Raises InputError where none of them scans any."""
    scanning = [kind_of(each.system).books is not None for each in found]
    for each, scans in zip(found, scanning, strict=True):
        kind = kind_of(each.system)
        takes = books and (scans or not any(scanning))  # where none does, `with_books` says who would
        yield replace(each, settings=with_books(kind, each.settings or kind.settings(), books)) if takes else each
