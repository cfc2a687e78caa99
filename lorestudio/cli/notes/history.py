"""The history of notes: the versions of one, the newest change taken back, and what lies in the trash."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from rich.table import Table

from lorestudio.cli.command import Limits
from lorestudio.cli.notes.notes import LoreArgument, change_log, changed_in
from lorestudio.cli.options import DoItOption, JsonOption
from lorestudio.cli.output import ask_first, echo, print_json, say, say_all
from lorestudio.cli.screen import Screen, figure, filled, fixed, fold, listing
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import real_path
from lorestudio.studio.notes.book_entries import is_there
from lorestudio.studio.notes.changes.change_set import NameTakenError
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.changes.snapshots import NoteSnapshot
from lorestudio.studio.notes.renaming import checked_name
from lorestudio.studio.notes.trash import Trashed
from lorestudio.studio.tuning.expectations import about_books
from lorestudio.trace.wording import plural, time_words
from lorestudio.vault.files import SaveError, VaultError, default_folder
from lorestudio.vault.folder import no_folder
from lorestudio.vault.links.targets import NOTE_SUFFIX

NoteArgument = Annotated[
    Path, "<NOTE>", "The file of the note; it may be deleted by now. An entry of a lorebook: Book.json/uid 3."
]
ShowOption = Annotated[int | None, Limits(1), "Print version N."]
RestoreOption = Annotated[int | None, Limits(1), "Give the note the text of version N."]


def history(
    note: NoteArgument, show: ShowOption = None, restore: RestoreOption = None, *, as_json: JsonOption = False
) -> None:
    """List the earlier versions of a note, the newest first; print one, or put one back."""
    if show is not None and restore is not None:
        raise InputError("--restore", "it cannot go together with --show. Give one of them.")
    path = note.expanduser().absolute()
    log = ChangeLog(default_folder(), [changed_in(path.parent)])
    found = log.snapshots.list(path)
    if show is not None:
        echo(log.snapshots.read(_numbered(path, found, show, "--show")).encode(), nl=False)
    elif restore is not None:
        _restore(log, path, _numbered(path, found, restore, "--restore"))
    elif as_json:
        print_json([_json(number, each) for number, each in enumerate(found, 1)], 1)
    elif found:
        Screen().print(_table(found))
    else:
        echo(_no_versions(log, path))
    say_all(log.problems)


def undo(
    vault: LoreArgument,
    *,
    redo: Annotated[bool, "Do again what was undone last."] = False,
    listed: Annotated[bool, "--list", "Only list what can be undone, the newest first."] = False,
    yes: DoItOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take the newest change of a vault's notes back: an import, an export, a sync, fixes, a renaming.

    All files of it are what they were before, the lorebook of a sync included. Where a file was changed since, nothing
    is done, and the file is named. Of a lorebook: the newest change of it, of what is expected beside it, or an export
    to a new file.
    """
    folder = changed_in(vault)
    if vault.suffix == NOTE_SUFFIX and vault.is_file():
        undone = f"lorestudio undo {shlex.quote(str(folder))}"
        raise InputError(vault, f"this is a note. What was changed in it is undone by its folder: {undone}")
    place = real_path(vault)
    log = ChangeLog(default_folder(), [folder], about=about_books([place]) if place != folder else ())
    if not folder.is_dir() and not log.titles:  # of a folder that is gone, notes can still be brought back
        raise VaultError(no_folder(folder))
    say_all(log.mend_interrupted())
    if listed:
        if as_json:
            print_json(log.titles, 1)
        elif log.titles:
            echo("\n".join(log.titles))
        else:
            say(f"there is nothing to undo.{_gone(log)}")
        return
    if not log.titles and not redo:
        raise SaveError(f"There is nothing to undo.{_gone(log)}")
    if title := log.redo_title if redo else log.undo_title:
        ask_first(f"{'Do again' if redo else 'Undo'} “{title}”?", yes=yes)
    done = log.redo() if redo else log.undo()
    if as_json:
        print_json({"title": done.title, "files": [str(change.path) for change in done.changes]}, 1)
    files = plural(len(done.changes), "# file|# files")
    say(f"{'done again' if redo else 'undone'}: {done.title} ({files}).")
    say_all(log.problems)


def trash(
    vault: Annotated[Path, "<VAULT>", "The folder whose deleted notes are listed; it may be gone by now."],
    *,
    show: Annotated[int | None, Limits(1), "Print note N."] = None,
    restore: Annotated[int | None, Limits(1), "Put note N back where it lay."] = None,
    name: Annotated[str | None, "--as", "NAME", "With --restore: under this file name, in the same folder."] = None,
    delete: Annotated[int | None, Limits(1), "Delete note N for good."] = None,
    empty: Annotated[bool, "Delete all of them for good."] = False,
    yes: DoItOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the deleted notes of a vault, the newest first; print one, put one back, or delete them for good."""
    given = [each for each in (show, restore, delete) if each is not None]
    if len(given) + empty > 1:
        raise InputError("trash", "--show, --restore, --delete and --empty do not go together. Give one of them.")
    if name is not None and restore is None:
        raise InputError("--as", "it is the new file name of the note that --restore puts back. Give both.")
    log = change_log([changed_in(vault)])
    found = log.trash.list(changed_in(vault))
    if given and given[0] > len(found):
        there = f"The last one is {len(found)}" if found else "The trash has none"
        raise InputError(vault, f"the trash has no note {given[0]} of this vault. {there}.")
    chosen = found[given[0] - 1 : given[0]] if given else found
    if show is not None:
        echo(log.trash.read(chosen[0]).encode(), nl=False)
    elif restore is not None:
        say(f"{_put_back(log, chosen[0], name)} is back.")
    elif chosen and (given or empty):
        what = f"{len(chosen)} notes" if len(chosen) > 1 else f"“{chosen[0].filename}”"
        ask_first(f"Delete {what} for good?", yes=yes, nothing="nothing was deleted")
        for each in chosen:
            log.trash.remove(each)
        say(f"deleted for good: {what}.")
    elif as_json:
        rows = enumerate(found, 1)
        print_json([{"note": n, "deleted": each.time.isoformat(), **picked(each, "filename")} for n, each in rows], 1)
    elif found:
        lines = ((str(number), each.filename, _when(each)) for number, each in enumerate(found, 1))
        Screen().print(filled(listing(figure("note"), fold("file"), fixed("deleted")), lines))
    else:
        say("the trash has no note of this vault.")
    say_all(log.problems)


def _put_back(log: ChangeLog, item: Trashed, name: str | None) -> Path:
    ending, path = item.path.suffix, None
    if name is not None:
        path = item.path.with_name(checked_name(name.removesuffix(ending)) + ending)
    try:
        return log.restore(item, path)
    except NameTakenError as error:
        raise InputError(error.path, f"{error} To do so: --as {shlex.quote(error.offer.name)}") from error


def _numbered(path: Path, found: tuple[NoteSnapshot, ...], number: int, option: str) -> NoteSnapshot:
    """The version with this number, the newest being 1. Raises InputError where there is none."""
    if number > len(found):
        there = f"The oldest is {len(found)}" if found else "None was kept"
        raise InputError(option, f"“{path.name}” has no version {number}. {there}.")
    return found[number - 1]


def _restore(log: ChangeLog, path: Path, snapshot: NoteSnapshot) -> None:
    wanted = log.snapshots.restoring(path, snapshot)
    if all(change.is_idle for change in wanted.changes):
        echo(f"“{path.name}” has this text already.")
        return
    existed = is_there(path)
    log.apply(wanted)
    echo(f"“{path.name}” has the text of {_when(snapshot)} again.")
    if existed:
        say(f"to undo this: lorestudio history {shlex.quote(str(path))} --restore 1, or undo it in the window.")


def _table(found: tuple[NoteSnapshot, ...]) -> Table:
    shown = listing(figure("version"), fixed("kept"), figure("bytes"), fold("why"))
    return filled(shown, ((str(n), _when(each), f"{each.size:,}", each.reason) for n, each in enumerate(found, 1)))


def _json(number: int, each: NoteSnapshot) -> dict[str, Json]:
    return {"version": number, "kept": each.time.isoformat(), **picked(each, "size", "digest", "reason")}


def _when(kept: NoteSnapshot | Trashed) -> str:
    return time_words(kept.time.timestamp() * 1000)


def _gone(log: ChangeLog) -> str:
    """A sentence about changes in folders that are gone, "" where there are none."""
    if not log.gone:
        return ""
    others = plural(len(log.gone) - 1, "|, and in another folder|, and in # other folders")
    return (
        f" Changes are kept of notes in “{log.gone[0]}”, which is gone{others}. If this vault was moved from there, "
        "they can be undone once it lies there again."
    )


def _no_versions(log: ChangeLog, path: Path) -> str:
    target = log.snapshots.moved_to(path)
    if target is not None:
        return f"“{path.name}” was moved, and its history with it: {target}"
    nothing = f"Nothing is kept of “{path.name}” in this folder. A version is kept before each change from here."
    gone = log.snapshots.gone(path)
    if not gone:
        return f"{nothing} Check its path, too."
    there = plural(len(log.snapshots.list(gone[0])), "is # version|are # versions")
    return f"{nothing} Of “{gone[0]}”, which is gone, there {there}: if that is where it lay, give that path."
