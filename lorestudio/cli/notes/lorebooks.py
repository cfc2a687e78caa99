"""The commands that take lorebooks into a vault and make lorebooks of one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Generic, TypeVar

import typer

from lorestudio.cli.command import Limits, OutputFile, RulesOption, rules_named
from lorestudio.cli.notes.notes import FolderArgument, LoreArgument, change_log, notes_of
from lorestudio.cli.notes.propose import ProposalOptions, propose_summaries
from lorestudio.cli.options import DoItOption, SettingsOption
from lorestudio.cli.output import BAD_INPUT, FAILED, ask_first, echo, even_unread, json_bytes, print_json, say, say_all
from lorestudio.cli.screen import Screen, filled, fixed, fold, table
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import spell
from lorestudio.domain.texts import meant, shorten
from lorestudio.exchange.json_file import read_file
from lorestudio.exchange.lorebooks.crossing import CARRIED_ALONG, LoreReport, told_once
from lorestudio.exchange.lorebooks.formats import BY_NAME, form_called
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import real_path, write_atomically
from lorestudio.studio.lorebooks.exporting import WORLD_INFO, ExportChoice, Tried, lore_file, plan_export, try_book
from lorestudio.studio.lorebooks.importing import (
    ImportChoice,
    ImportPlan,
    Twin,
    check_unlinked,
    plan_import,
    read_books,
)
from lorestudio.studio.lorebooks.links import BookLink, link_to, links_of
from lorestudio.studio.lorebooks.syncing import Gone, Prefer, SyncChoice, SyncPlan, found_link, moved_link, plan_sync
from lorestudio.studio.notes.vault_notes import VaultNotes, find_note, read_vault_notes
from lorestudio.studio.project.project import open_project, read_settings
from lorestudio.trace.wording import plural
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.files import LOOK_THERE, VaultError, refused
from lorestudio.vault.folder import is_plugin
from lorestudio.vault.links.index import LinkIndex

_SHOWN: Final = 12
"""Entries that are listed one by one."""
_WIDTH: Final = 60
"""Characters of a value that are shown."""


ReportOption = Annotated[
    Path | None, "FILE.json", "Write what becomes of every entry and field.", OutputFile((".json",))
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossingOptions:
    """How notes are read on their way from and to lorebooks, and whether what is planned is written."""

    settings: SettingsOption = None
    rules: RulesOption = None
    yes: DoItOption = False
    dry_run: Annotated[bool, "Only say what would be done."] = False
    as_json: Annotated[bool, "--json", "Print the report as JSON."] = False

    @property
    def reading(self) -> ParseRules:
        """How the notes are read. Raises SettingsError."""
        return ParseRules.from_settings(read_settings(self.settings, rules_named(self.rules)).settings)

    def allows(self, question: str) -> bool:
        """Whether to write, which a person is asked; not in a dry run. Raises InputError where nobody is here."""
        if self.dry_run:
            say("nothing is written.")
        else:
            ask_first(question, yes=self.yes)
        return not self.dry_run


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What becomes of the entries of lorebooks."""

    folder: Annotated[str, "Put the books' folders into this one of the vault."] = ""
    flat: Annotated[bool, "All notes of a book in one folder."] = False
    skip_disabled: Annotated[bool, "Leave out what is switched off."] = False
    duplicates: Annotated[
        Twin | None,
        "What becomes of entries whose text or keys a note has already. Default: skip where both are the "
        "same, else keep both.",
    ] = None
    excludes: Annotated[bool, "Members of an inclusion group of up to 8 exclude each other."] = False
    gates: Annotated[bool, "The characters that an entry is for become its gate character_present."] = False
    heads: Annotated[bool, "--prefixes", "NovelAI's prefix and suffix of an entry become part of its text."] = False
    split: Annotated[int, "LEVEL", Limits(0, 6), "In Markdown each heading of this level begins an entry."] = 0

    def planned(self, files: Sequence[Path], vault: VaultNotes, reading: ParseRules, left: _Left[Path]) -> ImportPlan:
        """What importing the files would do, but for those that are `left`. Raises InputError."""
        choice = ImportChoice(
            self.folder, grouped=not self.flat, disabled=not self.skip_disabled, twins=self.duplicates,
            excludes=self.excludes, gates=self.gates,
        )  # fmt: skip
        books, links = [], links_of(vault)
        for file in files:
            with left.out(file):
                (book,) = read_books([file], heads=self.heads, split=self.split)
                check_unlinked(book, links)
                books.append(book)
        if not books:
            raise typer.Exit(BAD_INPUT)
        return plan_import(books, vault, reading, choice)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """Which notes become entries, and of what."""

    form: Annotated[str, "--format", f"One of {', '.join(BY_NAME)}. Default: as FILE ends, else {WORLD_INFO}."] = ""
    folder: Annotated[str, "Only notes or entries in this folder."] = ""
    card: Annotated[Path | None, "Put the book into a copy of this file."] = None
    as_written: Annotated[bool, "Texts as they stand, with comments and link marks."] = False
    skip_disabled: Annotated[bool, "Leave out what is switched off."] = False

    def choice(self, only: frozenset[str] | None, to: Path) -> ExportChoice:
        """The same for these notes, or for all."""
        return ExportChoice(
            self.form or form_called(to), self.folder, only, not self.skip_disabled, self.as_written, self.card
        )


def import_books(
    files: Annotated[list[Path], "<FILE...>", "Lorebooks and cards of any known format."],
    *,
    into: Annotated[Path, "VAULT", "The vault; a new folder is made."],
    choice: ImportOptions,
    summaries: Annotated[
        str,
        "WHO",
        "Afterwards have a summary proposed for each new note by stand-in, recorded or a profile; you are "
        "asked about each, with --yes those that nothing speaks against are written.",
    ] = "",
    report: ReportOption = None,
    given: CrossingOptions,
) -> None:
    """Make notes of the entries of lorebooks, as one step that can be undone.

    First it says what becomes of every entry and field. What notes have no place for is carried in properties that
    begin with `wi_`, and comes out again when the notes become a lorebook. A file without lore keeps no other one
    waiting; it ends with 1 then.
    """
    if summaries and given.as_json:
        raise InputError("--summaries", "not with --json: `lorestudio propose summaries --json` tells of them.")
    vault = _vault(into)
    left: _Left[Path] = _Left(alone=len(files) == 1)
    plan = choice.planned(files, vault, given.reading, left)
    reports = plan.reports
    with even_unread():
        _tell(reports, lambda: [each.as_json() for each in reports], report, as_json=given.as_json)
        if not given.as_json:
            for one in [one for one in plan.entries if one.twin and one.filename][:_SHOWN]:
                echo(f"{one.fate.title}: {one.twin} has {one.alike} ({one.way})")
    if not given.allows(f"Import them into {vault.folder}?"):
        left.end()
        return
    changes, made, notes = plan.planned.changes, into.exists(), plan.notes
    del plan  # its books take more than what is written
    with refused(lambda reason: InputError(into, reason), "the folder cannot be made ({reason})."):
        into.mkdir(parents=True, exist_ok=True)
    log = change_log([vault.folder])
    log.apply(changes)
    say_all(log.problems)
    say(f"{changes.title}: done.{'' if made else ' The vault is new.'}")
    if summaries:
        wanted = ProposalOptions(
            vault=[str(vault.folder)], settings=given.settings, rules=given.rules, answers=summaries,
            apply=not given.yes, accept_all=given.yes, yes=given.yes,
        )  # fmt: skip
        propose_summaries(wanted, lambda project: [one for one in project.index.entries if one.filename in notes])
    else:
        say("AI selection chooses by summaries: `lorestudio propose summaries` has some proposed.")
    left.end()


def export_notes(
    vault: LoreArgument,
    notes: Annotated[list[str] | None, "<NOTE...>", "These notes or entries, and no others."] = None,
    *,
    to: Annotated[Path, "The lorebook's file."],
    choice: ExportOptions,
    chat: Annotated[Path | None, "Run this chat with the vault and with the book, and compare."] = None,
    report: ReportOption = None,
    given: CrossingOptions,
) -> None:
    """Make a lorebook of a vault's notes, or of another lorebook: in another format, or with some of its entries.

    First it says what becomes of every entry and field. A note that says `wi_export: false` stays at home. Entries that
    came from a lorebook and were not touched go out member for member.
    """
    # what notes name is asked only to find those that are named here
    read = lore_file(vault) if vault.is_file() else notes_of(vault, wanted=None if notes else lambda _note: True)
    only = frozenset(note if vault.is_file() else find_note(read, note) for note in notes) if notes else None
    plan = plan_export(read, real_path(to), given.reading, choice.choice(only, to))
    tried = None
    if chat is not None:
        project = open_project([str(vault)], chat, given.settings, rules=rules_named(given.rules))
        say_all(project.problems)
        tried = asyncio.run(try_book(project, plan.entries))
    trial: dict[str, Json] = {} if tried is None else {"tried": tried.as_json()}
    fates = plan.report
    with even_unread():
        _tell([fates], lambda: fates.as_json() | trial, report, as_json=given.as_json)
        if tried is not None and not given.as_json:
            _say_tried(tried)
    if not given.allows(f"Write {plan.target}?"):
        return
    log = change_log([plan.vault])
    copy, changes, target = plan.keep_copy(), plan.changes, plan.target
    done = plural(len(plan.entries), "# entry|# entries")
    del read, plan  # of a large vault as much again as what is written
    log.apply(changes)
    say_all(log.problems)
    kept = f" What was there before is {copy.name}." if copy is not None else ""
    say(f"{done} written to {target}.{kept}")


def sync_books(
    vault: FolderArgument,
    *,
    book: Annotated[str, "Only this book of the vault."] = "",
    lies_at: Annotated[
        Path | None, "--with", "The book, where it was moved or renamed, or NAME.book.json is lost."
    ] = None,
    prefer: Annotated[Prefer | None, "Who is right where both changed the same. Default: neither."] = None,
    decide: Annotated[
        list[str] | None,
        "UID.FIELD=note|book|@FILE",
        "Who is right in one field of one entry; @FILE: the text that was made of both. May be repeated.",
    ] = None,
    gone: Annotated[
        Gone, "What becomes of the other one where an entry or a note is gone. follow: it goes, too."
    ] = Gone.LEAVE,
    new: Annotated[bool, "--new/--no-new", "Take new entries and notes over."] = True,
    given: CrossingOptions,
) -> None:
    """Bring lorebooks and the notes they became together: what changed here, there, in both, is new or gone.

    Both sides are compared with how they last agreed, field by field, texts line by line. A copy of the book stays
    beside it; both sides are written as one step, and `lorestudio undo` takes both back.
    A book that is gone or cannot be used keeps no other one waiting. Ends with 1 where something is left open.
    """
    read = notes_of(vault)
    links = [link for link in links_of(read) if book in {"", link.book}]
    path = None if lies_at is None else real_path(lies_at)
    if path is not None:
        links = [link_to(links, path) or moved_link(links, path) or found_link(read, path, given.reading)]
    if not links:
        which = f"the book “{book}”" if book else "a lorebook"
        raise InputError(vault, f"the vault is not linked to {which}. Import or export one first.")
    choice = SyncChoice(prefer, _decided(decide or ()), gone, new)
    left: _Left[BookLink] = _Left(alone=len(links) == 1)
    reading, plans = given.reading, []
    for link in links:
        with left.out(link):
            plans.append(plan_sync(link, read, reading, choice, path))
    if not left.items:
        _check_decided(choice.decided, plans)
    with even_unread():
        if given.as_json:
            print_json([*map(_sync_json, plans), *({"book": link.book, "file": link.file} for link in left.items)], 1)
        else:
            for plan in plans:
                _say_sync(plan)
    waiting = [plan for plan in plans if not plan.is_idle]
    if waiting and not given.allows("Write both sides?"):
        return
    log = change_log([read.folder])
    for plan in waiting:
        with left.out(plan.link):
            copy = plan.keep_copy()
            log.apply(plan.changes)
            kept = f" What was there before is {copy.name}." if copy is not None else ""
            say(f"{plan.changes.title}: done.{kept} `lorestudio undo` takes both sides back.")
            say_all(plan.remarks)
    say_all(log.problems)
    left.end(also=any(not item.settled for plan in plans for item in plan.items))


_Book = TypeVar("_Book")


@dataclass(frozen=True, slots=True)
class _Left(Generic[_Book]):
    """The books that cannot be taken along; what stops one that is `alone` ends the command."""

    alone: bool
    items: list[_Book] = field(default_factory=list)

    def end(self, *, also: bool = False) -> None:
        """End with 1 where one is left out, or something else is left open."""
        if self.items or also:
            raise typer.Exit(FAILED)

    @contextmanager
    def out(self, book: _Book) -> Iterator[None]:
        """Say what stops a book, and go on with the others."""
        try:
            yield
        except (InputError, VaultError) as error:
            if self.alone:
                raise
            self.items.append(book)
            say(str(error))


def _decided(answers: Sequence[str]) -> dict[str, dict[str, Json | Prefer]]:
    """What a person says of single fields. Raises InputError."""
    decided: dict[str, dict[str, Json | Prefer]] = {}
    for told in answers:
        (uid, _point, name), (_name, _sign, answer) = told.partition("=")[0].rpartition("."), told.partition("=")
        if not (uid and name and (answer in {*Prefer} or answer.startswith("@"))):
            raise InputError("--decide", f"“{told}” is not UID.FIELD=note, UID.FIELD=book or UID.FIELD=@FILE.")
        text = None if answer in {*Prefer} else read_file(Path(answer[1:])).decode("utf-8", "replace")
        decided.setdefault(uid, {})[name] = Prefer(answer) if text is None else text
    return decided


def _check_decided(decided: Mapping[str, Mapping[str, object]], plans: Sequence[SyncPlan]) -> None:
    """Raises InputError where something is decided that no entry has: what was meant would be left as it is."""
    fields: dict[str, set[str]] = {}
    for plan in plans:
        for uid, entry in plan.link.entries.items():
            fields.setdefault(uid, set()).update(entry)
        for item in plan.items:
            fields.setdefault(item.uid, set()).update(item.members)
    for uid, names in decided.items():
        if uid not in fields:
            raise InputError("--decide", f"no linked entry has the number “{uid}”.{meant(uid, fields)}")
        for name in names:
            if name not in fields[uid]:
                raise InputError("--decide", f"entry {uid} has no field “{name}”.{meant(name, fields[uid])}")


def _sync_json(plan: SyncPlan) -> dict[str, Json]:
    items: list[Json] = [
        {
            "uid": item.uid, "title": item.title, "note": item.filename, "found": item.found.value,
            "fields": list(item.members), "settled": item.settled,
            "clashes": {name: {"note": mine, "book": theirs} for name, (mine, theirs) in item.clashes.items()},
        }
        for item in plan.items
    ]  # fmt: skip
    return {"book": plan.link.book, "file": str(plan.path), "items": items}


def _say_sync(plan: SyncPlan) -> None:
    found = plural(len(plan.items), "# entry|# entries")
    echo(f"{plan.link.book} ({plan.path}): {found} not as both last agreed.")
    for item in plan.items:
        members = f" ({', '.join(item.members)})" if item.members else ""
        why = item.why_left or ("--gone says what becomes of it" if item.found.is_gone else "")
        left = "" if item.settled else f"; left as it is{why and f': {why}'}"
        echo(f"  {item.found}: {item.title}{members}{left}")
        for name, (mine, theirs) in item.clashes.items():
            echo(f"    {name}: the note says {_short(mine)}, the book {_short(theirs)}; --decide {item.uid}.{name}=…")


def _short(value: Json) -> str:
    return shorten(spell(value), _WIDTH)


def _say_tried(tried: Tried) -> None:
    echo(tried.sentence)
    for turn in tried.turns[:_SHOWN]:
        only = [
            *(f"only the vault: {name}" for name in turn.vault_only),
            *(f"only the book: {name}" for name in turn.book_only),
        ]
        echo(f"  reply #{turn.turn.message}: {'; '.join(only)}")
    if len(tried.turns) > _SHOWN:
        echo(f"  … and {len(tried.turns) - _SHOWN:,} more; --report has them all.")
    for title, (vault, book) in [*tried.counts.items()][:_SHOWN]:
        echo(f"  {title}: in {vault:,} from the vault, in {book:,} from the book")


def _vault(folder: Path) -> VaultNotes:
    if folder.exists() or is_plugin(folder):  # no folder is made of an address
        return read_vault_notes(folder)
    return VaultNotes(real_path(folder), LinkIndex.build([]))


def _tell(reports: Sequence[LoreReport], make: Callable[[], Json], file: Path | None, *, as_json: bool) -> None:
    """The reports on the screen, and what is said of them as JSON in its place and in a file."""
    document = make() if as_json or file is not None else None  # of 100,000 entries it takes 200 MB
    if file is not None:
        unwritten = f"the report cannot be written ({{reason}}). {LOOK_THERE}"
        with refused(lambda reason: InputError(file, reason), unwritten):
            write_atomically(file, json_bytes(document, 1))
    if as_json:
        print_json(document, 1)
        return
    for report in reports:
        print_report(report)
    for remark in told_once(remark for report in reports for remark in report.remarks):
        echo(f"note: {remark}")


def print_report(report: LoreReport) -> None:
    """The fates of fields, the worst first, and what is left out."""
    going = sum(not entry.left_out for entry in report.entries)
    book = f"{report.book}: " if report.book else ""
    echo(f"{book}{report.source} → {report.target}: {plural(going, '# entry|# entries')}")
    counts = report.counts()
    rows = [
        (one.fate.value, one.field, f"{one.entries:,}", one.how) for one in counts if one.how or one.fate != "exact"
    ]
    exact = len(counts) - len(rows)
    if rows:
        told = f"carried: {CARRIED_ALONG}" if any(one.fate == "carried" and not one.how for one in counts) else ""
        shown = table(fixed("what becomes"), fixed("field"), fixed("entries"), fold("how"), caption=told)
        Screen().print(filled(shown, rows))
    echo(f"{plural(exact, '# field is|# fields are')} exact." if exact else "No field says anything.")
    for entry in (left_out := [entry for entry in report.entries if entry.left_out])[:_SHOWN]:
        named = entry.left_out.startswith(f"“{entry.title}”")
        echo(f"left out: {entry.left_out if named else f'{entry.title}: {entry.left_out}'}")
    if len(left_out) > _SHOWN:
        echo(f"… and {len(left_out) - _SHOWN:,} more; --report has them all.")
