"""Changing notes without a window: what is written, what is refused and how that is said, and undo."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.changes.change_set import ChangedMeanwhileError, ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.vault_notes import Planned
from lorestudio.studio.project.project import open_project
from lorestudio.ui.state import note_changes
from lorestudio.ui.state.drafts import Draft, Drafts
from lorestudio.ui.state.note_changes import READ_ONLY, Done, NoteWork, paths_of, what_was_done
from lorestudio.vault.files import SaveError
from tests.ui.vaults import NOTES, write_vault

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.state.session import Session

BELL = NOTES["Bell.md"]
NEWER = BELL.replace("rings", "tolls")


class Stage:
    """Work on the notes of a session, what it says to others, and whether unsaved texts can be written."""

    def __init__(self, session: Session, folder: Path, keep_in: Path, qtbot: QtBot) -> None:
        self.session, self.bell, self.qtbot = session, folder / "Bell.md", qtbot
        self.drafts = Drafts()
        self.problems: list[str] = []
        self.work = NoteWork(session, self.drafts, self._save)
        self.told: list[str] = []
        self.done: list[Done] = []
        self.reading: list[str] = []
        self.offered: list[tuple[str, ...]] = []
        self.work.told.connect(lambda notice: self.told.append(notice.text))
        self.work.told.connect(lambda notice: self.offered.append(notice.actions))
        self.work.done.connect(self.done.append)
        self.work.reading.connect(self.reading.append)
        self.work.use(keep_in)

    def _save(self, paths: Collection[Path], then: Callable[[list[str]], None]) -> None:
        if not self.problems:
            for path in paths:
                draft = self.drafts.all[path]
                path.write_bytes(draft.text.encode())
                self.drafts.drop(path)
        then(self.problems)

    def open(self) -> None:
        self.session.set_project(open_project([self.bell.parent]))
        self.settle()

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: self.session.jobs.idle)

    def change(self, **more: Any) -> None:
        """Replace what stands in Bell, whatever that is."""

        def plan(_vaults: object) -> Planned:
            change = NoteFileChange(self.bell, self.bell.read_bytes().decode(), NEWER)
            return Planned(ChangeSet("Toll", (change,)), ("a remark",))

        self.work.carry_out(plan, **more)
        self.settle()

    @property
    def text(self) -> str:
        return self.bell.read_bytes().decode()


@pytest.fixture
def stage(make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot) -> Iterator[Stage]:
    made = Stage(make_session(replay=False), write_vault(tmp_path / "vault"), tmp_path / "kept", qtbot)
    yield made
    made.settle()
    made.work.deleteLater()


def test_without_a_vault_nothing_is_changed_and_that_is_said(stage: Stage) -> None:
    assert not stage.work.ready
    stage.change()
    assert stage.told == [READ_ONLY]
    refused: list[str] = []
    stage.change(refused=refused.append)
    stage.work.ask(lambda vaults: vaults, refused.append, refused.append)
    assert refused == [READ_ONLY, "No vault with a folder is open."]
    stage.work.ask(lambda vaults: vaults, refused.append)
    assert stage.told == [READ_ONLY, "No vault with a folder is open."]
    assert (stage.text, stage.done) == (BELL, [])


def test_a_change_is_written_undone_and_done_again(stage: Stage) -> None:
    stage.open()
    assert stage.work.ready
    assert not stage.work.has_books
    assert (stage.work.undo_title, stage.work.redo_title) == ("", "")
    then: list[Done] = []
    stage.change(then=then.append)
    assert stage.text == NEWER
    assert (stage.work.undo_title, stage.work.redo_title) == ("Toll", "")
    stage.work.undo()
    assert stage.work.undo_title == "", "while it is written, nothing else can be undone"
    stage.settle()
    assert stage.text == BELL
    assert (stage.work.undo_title, stage.work.redo_title) == ("", "Toll")
    stage.work.redo()
    stage.settle()
    assert stage.text == NEWER
    assert [(each.undone, each.again, each.saved) for each in stage.done] == [
        (False, False, False), (True, False, False), (False, True, False),
    ]  # fmt: skip
    assert then == stage.done[:1]
    assert then[0].remarks == ("a remark",)
    assert stage.told == []


def test_what_another_window_did_is_offered_for_undo(stage: Stage, tmp_path: Path) -> None:
    stage.open()
    stage.change()
    other = ChangeLog(tmp_path / "kept", [stage.bell.parent])
    other.apply(ChangeSet("Ring", (NoteFileChange(stage.bell, NEWER, BELL),)))
    assert stage.work.undo_title == "Toll"
    assert stage.session.project is not None
    stage.session.set_project(stage.session.project)  # as after the change was seen on disk
    stage.settle()
    assert stage.work.undo_title == "Ring"


def test_links_are_said_to_be_read_only_the_first_time(stage: Stage) -> None:
    stage.open()
    answers: list[object] = []
    for _ in range(2):
        stage.work.ask(len, answers.append)
        stage.settle()
        assert stage.reading == ["Reading the links of the vault…", ""]
    assert answers == [1, 1]


@pytest.mark.parametrize("with_drafts", [False, True])
def test_a_question_is_about_the_unsaved_texts_where_it_asks_for_them(stage: Stage, with_drafts: bool) -> None:
    stage.open()
    stage.drafts.keep(stage.bell, Draft("\ufeff" + NEWER, None))
    answers: list[str] = []
    stage.work.ask(lambda vaults: vaults[0].index.notes["Bell.md"].text, answers.append, with_drafts=with_drafts)
    stage.settle()
    assert answers == [NEWER if with_drafts else BELL]


@pytest.mark.parametrize("about", [False, True])
def test_unsaved_text_is_saved_first_and_the_change_says_so(stage: Stage, about: bool) -> None:
    stage.open()
    stage.drafts.keep(stage.bell, Draft(BELL + "Typed.\n", None))
    stage.change(about=[stage.bell] if about else ())
    assert stage.text == NEWER
    assert [each.saved for each in stage.done] == [True]
    assert not stage.drafts.all
    stage.work.undo()
    stage.settle()
    assert stage.text == BELL + "Typed.\n"


def test_only_the_unsaved_texts_that_a_change_is_about_are_saved(stage: Stage, tmp_path: Path) -> None:
    stage.open()
    skarn, elsewhere = stage.bell.with_name("Skarn.md"), write_vault(tmp_path / "other") / "Bell.md"
    for path in (skarn, elsewhere):
        stage.drafts.keep(path, Draft("Typed.\n", None))
    stage.drafts.keep(stage.bell, Draft(BELL + "Typed.\n", None))
    stage.change(about=[skarn])
    assert set(stage.drafts.all) == {elsewhere}, "what was looked at, and then what is written"
    assert [each.saved for each in stage.done] == [True]
    stage.drafts.keep(skarn, Draft("More.\n", None))
    stage.work.undo()
    stage.settle()
    stage.work.redo()
    stage.settle()
    assert (len(stage.done), stage.told) == (3, [])
    assert set(stage.drafts.all) == {skarn, elsewhere}, "undoing and doing again save nothing"


@pytest.mark.parametrize(("step", "words"), [("undo", "was not undone"), ("redo", "was not done again")])
def test_unsaved_text_is_in_the_way_of_a_step_and_stays_unsaved(stage: Stage, step: str, words: str) -> None:
    stage.open()
    stage.change()
    if step == "redo":
        stage.work.undo()
        stage.settle()
    before = stage.text
    stage.drafts.keep(stage.bell, Draft(before + "Typed.\n", None))
    getattr(stage.work, step)()
    stage.settle()
    (sentence,) = stage.told
    assert sentence.startswith(f"“Toll” {words}, and nothing was changed: “Bell.md” has unsaved text")
    assert stage.text == before
    stage.drafts.drop(stage.bell)
    getattr(stage.work, step)()
    stage.settle()
    assert stage.text != before


def test_where_unsaved_text_cannot_be_saved_nothing_is_changed(stage: Stage) -> None:
    stage.open()
    stage.problems = ["Bell.md is locked."]
    stage.drafts.keep(stage.bell, Draft(BELL + "Typed.\n", None))
    why = "Nothing was changed, because unsaved text could not be saved first: Bell.md is locked."
    refused: list[str] = []
    stage.change(refused=refused.append)
    assert (refused, stage.told) == ([why], [])
    stage.change()
    assert stage.told == [why]
    assert (stage.text, stage.done) == (BELL, [])
    stage.drafts.drop(stage.bell)
    stage.change()
    assert stage.text == NEWER, "what was refused must not be in the way of the next change"


def test_a_text_that_is_typed_while_it_saves_is_named(stage: Stage) -> None:
    """It is saved once; what is unsaved again by then is left to the person."""
    stage.open()
    stage.drafts.keep(stage.bell, Draft(BELL + "Typed.\n", None))
    stage.drafts.changed.connect(lambda path: stage.drafts.keep(path, Draft(BELL + "And more.\n", None)))
    stage.change()
    assert stage.told == ["Bell.md has unsaved text. Save it, and try again."]
    assert stage.done == []
    stage.drafts.changed.disconnect()


def test_of_two_undos_at_once_the_second_is_refused(stage: Stage) -> None:
    stage.open()
    stage.change()
    stage.work.undo()
    stage.work.undo()
    stage.settle()
    assert stage.told == ["Another change is still being written. Try again in a moment."]
    assert len(stage.done) == 2
    assert stage.text == BELL


def test_an_undo_that_finds_another_text_changes_nothing_and_says_so(stage: Stage) -> None:
    stage.open()
    stage.change()
    stage.bell.write_text("Somebody else's.\n", "utf-8")
    stage.work.undo()
    stage.settle()
    assert len(stage.told) == 1
    assert "Bell.md" in stage.told[0]
    assert stage.text == "Somebody else's.\n"
    assert stage.work.undo_title == "Toll"


def test_deleted_notes_lie_in_the_trash_come_back_or_go_for_good(stage: Stage) -> None:
    stage.open()

    def delete() -> list[Any]:
        gone = ChangeSet("Delete Bell", (NoteFileChange(stage.bell, BELL, None),))
        stage.work.carry_out(lambda _vaults: Planned(gone))
        stage.settle()
        return trashed()

    def trashed() -> list[Any]:
        found: list[Any] = []
        stage.work.trash(found.extend)
        stage.settle()
        return found

    assert trashed() == []
    (item,) = delete()
    assert not stage.bell.exists()
    stage.work.restore(item)
    stage.settle()
    assert stage.text == BELL
    assert stage.done[-1].made == (stage.bell,)
    items = delete()
    emptied: list[bool] = []
    stage.work.delete_for_good(items, lambda: emptied.append(True))
    stage.settle()
    assert emptied == [True]
    assert trashed() == []
    failed: list[Exception] = []
    stage.work.restore(items[0], failed=failed.append)
    stage.settle()
    assert len(failed) == 1
    assert stage.told == []


def test_the_trash_of_several_vaults_has_first_what_was_deleted_last(stage: Stage, tmp_path: Path) -> None:
    other = write_vault(tmp_path / "other") / "Bell.md"
    stage.session.set_project(open_project([stage.bell.parent, other.parent]))
    for path in (stage.bell, other):
        gone = ChangeSet("Delete Bell", (NoteFileChange(path, BELL, None),))
        stage.work.carry_out(lambda _vaults, gone=gone: Planned(gone))
        stage.settle()
    found: list[Any] = []
    stage.work.trash(found.extend)
    stage.settle()
    assert [each.path for each in found] == [other, stage.bell]


def test_a_note_behind_obsidians_plugin_has_no_file(stage: Stage) -> None:
    stage.open()
    bell = stage.session.note_at(stage.bell)
    assert paths_of(stage.session, [bell]) == [stage.bell]
    stage.session.project = None
    with pytest.raises(InputError, match="changed in Obsidian"):
        paths_of(stage.session, [bell])


@pytest.mark.parametrize(
    ("files", "more", "words"),
    [
        (1, {}, "Done: Toll."),
        (1, {"undone": True}, "Undone: Toll."),
        (1, {"again": True}, "Done again: Toll."),
        (2, {}, "Done: Toll. 2 files were written."),
        (1, {"saved": True}, "Done: Toll. Unsaved text was saved first."),
    ],
)
def test_what_was_done_in_words(files: int, more: dict[str, bool], words: str, tmp_path: Path) -> None:
    changes = tuple(NoteFileChange(tmp_path / f"{each}.md", "", "x") for each in range(files))
    assert what_was_done(Done(ChangeSet("Toll", changes), **more)) == words


def test_what_moved_and_what_is_new(tmp_path: Path) -> None:
    old, new, made, other = (tmp_path / name for name in ("old.md", "new.md", "made.md", "book.json"))
    changes = (
        NoteFileChange(old, "x", "x", new_path=new),
        NoteFileChange(made, None, "y"),
        NoteFileChange(other, None, "{}"),
    )
    done = Done(ChangeSet("Several", changes))
    assert done.moves == {old: new}
    assert done.made == (made,)


def test_what_waits_is_done_whatever_became_of_the_one_before(stage: Stage) -> None:
    stage.open()

    def refused(_vaults: object) -> Planned:
        raise InputError("Bell.md", "it cannot be so.")

    def nothing(_vaults: object) -> Planned:
        return Planned(ChangeSet("Nothing", ()))

    for plan in (refused, nothing):
        stage.work.carry_out(plan)
        stage.change()
        assert stage.text == NEWER
        stage.work.undo()
        stage.settle()
        assert stage.text == BELL
    assert stage.told == ["Bell.md: it cannot be so."]


def test_what_of_an_undo_can_still_be_done_is_asked(stage: Stage) -> None:
    stage.open()
    skarn = stage.bell.parent / "Skarn.md"
    before = skarn.read_bytes().decode()
    changes = tuple(NoteFileChange(path, path.read_bytes().decode(), NEWER) for path in (stage.bell, skarn))
    stage.work.carry_out(lambda _vaults: Planned(ChangeSet("Toll", changes)))
    stage.settle()
    stage.bell.write_text("Somebody else's.\n", "utf-8")
    clashed: list[ChangedMeanwhileError] = []
    stage.work.clashed.connect(clashed.append)
    stage.work.undo()
    stage.settle()
    (error,) = clashed
    assert (error.paths, error.others, stage.told) == ((stage.bell,), (skarn,), [])
    stage.work.undo(error)
    stage.settle()
    assert stage.done[-1].remarks == ("Not undone: Bell.md.",), "what stayed is named"
    assert (stage.text, skarn.read_bytes().decode()) == ("Somebody else's.\n", before)


def test_what_is_asked_for_while_the_log_is_still_read_is_done_after_it(stage: Stage) -> None:
    stage.session.set_project(open_project([stage.bell.parent]))
    stage.work.undo()
    stage.work.redo()
    stage.work.trash(stage.told.append)
    stage.work.delete_for_good([], lambda: stage.told.append("emptied"))
    stage.change()
    assert (stage.text, len(stage.done), stage.told) == (NEWER, 1, [])


def test_the_log_of_the_open_vaults_is_the_windows_own(stage: Stage) -> None:
    stage.open()
    stage.change()
    assert stage.work.log_of(stage.work.folders).undo_title == "Toll"
    assert stage.work.log_of(stage.work.folders) is stage.work.log_of(stage.work.folders)
    assert stage.work.log_of(()) is not stage.work.log_of(stage.work.folders)


def test_what_a_crash_left_half_done_is_mended_told_and_read_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended = ["Bell.md was put back as it was."]
    monkeypatch.setattr(ChangeLog, "mend_interrupted", lambda _log: (*mended,))
    read: list[bool] = []
    monkeypatch.setattr(stage.session.reading, "reload", lambda: read.append(True))
    stage.open()
    assert (stage.told, read) == (["Bell.md was put back as it was."], [True])
    mended.clear()
    stage.work.use(stage.bell.parent.parent / "elsewhere")
    stage.settle()
    assert len(read) == 1


def test_what_a_crash_left_and_what_is_broken_in_the_log_is_told_first(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(note_changes, "sweep", lambda folder, _now: [f"{folder.name} has a file left."])
    monkeypatch.setattr(ChangeLog, "mend_interrupted", lambda _log: ("Bell.md was put back as it was.",))
    monkeypatch.setattr(ChangeLog, "problems", ("A line of the log cannot be read.",), raising=False)
    monkeypatch.setattr(stage.session.reading, "reload", lambda: None)
    stage.open()
    assert stage.told == [
        "vault has a file left.", "A line of the log cannot be read.", "Bell.md was put back as it was.",
    ]  # fmt: skip


def fill_disk(patch: pytest.MonkeyPatch, stage: Stage) -> None:
    """From the second file of the vault on there is no room, neither for a change nor for taking one back."""
    real, written = Path.replace, list[Path]()

    def replace(self: Path, target: Path) -> Path:
        if Path(target).parent == stage.bell.parent:
            written.append(Path(target))
            if len(written) > 1:
                raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, target)

    patch.setattr(Path, "replace", replace)


def change_two(stage: Stage, **more: Any) -> None:
    """Change two notes, one after the other."""
    paths = [stage.bell, stage.bell.with_name("Skarn.md")]
    changes = tuple(NoteFileChange(path, path.read_bytes().decode(), "Other.\n") for path in paths)
    stage.work.carry_out(lambda _vaults: Planned(ChangeSet("Both", changes)), **more)
    stage.settle()


@pytest.fixture
def half_done(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A change of two notes stopped after the first, which could not be taken back."""
    stage.open()
    monkeypatch.setattr("lorestudio.studio.notes.changes.log._AT_ONCE", 1)
    with monkeypatch.context() as patch:
        fill_disk(patch, stage)
        change_two(stage)
        assert "Make room on the disk" in stage.told[-1]
        assert stage.offered[-1] == ("vault.take_back",)
        assert (stage.work.half_done, stage.text) == ("Both", "Other.\n")
        stage.work.take_back()
        stage.settle()
        assert "cannot be taken back yet" in stage.told[-1]
        assert stage.offered[-1] == ("vault.take_back",)
        refused: list[str] = []
        stage.told.clear()
        change_two(stage, refused=refused.append)
        assert "cannot be taken back yet" in stage.told[0]
        assert stage.told[1:] == refused, "the window says it beside the dialog, and offers to try again"
    return stage


def test_what_a_full_disk_left_half_done_is_taken_back_when_the_person_says_so(half_done: Stage) -> None:
    half_done.work.take_back()
    half_done.settle()
    assert "was taken back" in half_done.told[-1]
    assert half_done.offered[-1] == ()
    assert (half_done.work.half_done, half_done.text) == ("", BELL)
    half_done.work.take_back()
    assert half_done.session.jobs.idle, "there is nothing left to do"


def test_what_is_half_done_is_taken_back_before_the_next_change(half_done: Stage) -> None:
    half_done.change()
    assert "was taken back" in half_done.told[-1]
    assert half_done.text == NEWER
    half_done.work.undo()
    half_done.settle()
    assert half_done.text == BELL


def test_what_is_half_done_is_taken_back_before_an_undo(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.open()
    monkeypatch.setattr("lorestudio.studio.notes.changes.log._AT_ONCE", 1)
    skarn = stage.bell.with_name("Skarn.md")
    before = skarn.read_bytes().decode()
    stage.work.carry_out(lambda _vaults: Planned(ChangeSet("Skarn", (NoteFileChange(skarn, before, "Grey.\n"),))))
    stage.settle()
    with monkeypatch.context() as patch:
        fill_disk(patch, stage)
        change_two(stage)
    stage.work.undo()
    stage.settle()
    assert (stage.text, skarn.read_bytes().decode()) == (BELL, before)


def test_taking_back_that_cannot_be_written_down_is_told(half_done: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_log: ChangeLog) -> tuple[str, ...]:
        raise SaveError("The log cannot be written.")

    monkeypatch.setattr(ChangeLog, "mend_interrupted", full)
    refused: list[str] = []
    half_done.change(refused=refused.append)
    assert refused == ["The log cannot be written."]
    half_done.work.take_back()
    half_done.settle()
    assert half_done.told[-1] == "The log cannot be written."
    assert half_done.work.half_done == "Both"


def test_the_log_of_a_vault_that_was_left_meanwhile_is_not_used(stage: Stage, tmp_path: Path) -> None:
    changed: list[bool] = []
    stage.session.set_project(open_project([stage.bell.parent]))
    other = write_vault(tmp_path / "other")
    stage.work.changed.connect(lambda: changed.append(True))
    stage.session.set_project(open_project([other]))
    stage.settle()
    assert stage.work.folders == (other,)
    assert len(changed) == 2  # the other vault, and its log; nothing of the first


def test_questions_are_about_the_notes_as_they_are_after_a_change_and_its_undo(stage: Stage) -> None:
    stage.open()
    answers: list[str] = []

    def ask() -> None:
        stage.work.ask(lambda vaults: vaults[0].index.notes["Bell.md"].text, answers.append)
        stage.settle()

    ask()
    stage.change()
    ask()
    stage.work.undo()
    stage.settle()
    ask()
    assert answers == [BELL, NEWER, BELL]


def test_what_cannot_be_written_is_said_and_the_next_change_goes_on(stage: Stage) -> None:
    stage.open()

    def elsewhere(_vaults: object) -> Planned:
        change = NoteFileChange(stage.bell, "what does not stand there\n", NEWER)
        return Planned(ChangeSet("Toll", (change,)))

    told: list[str] = []
    stage.work.carry_out(elsewhere, refused=told.append)
    stage.settle()
    assert len(told) == 1
    assert (stage.text, stage.done, stage.work.undo_title) == (BELL, [], "")
    stage.change()
    assert stage.text == NEWER
