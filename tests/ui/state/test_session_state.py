"""What a session knows of the project that is shown: its notes by number and by file, its replies by message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.exchange.problems import Belongs, InputError, WrongFileError
from lorestudio.studio.project.answering import AnsweringError
from lorestudio.systems.vectors import EmbedderError, embedder_named
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.state.session import Session
from tests.ui.worlds import BELL, CROWN, LEFT_OUT, make_project


@pytest.fixture
def session(make_session: Callable[..., Session], tmp_path: Path) -> Session:
    made = make_session(replay=False)
    made.set_project(make_project(tmp_path / "vault"))
    return made


def test_notes_by_number_and_by_file(session: Session, tmp_path: Path) -> None:
    crown, folder = session.entry(CROWN), tmp_path / "vault"
    assert crown is not None
    assert crown.title == "Crown"
    assert [session.entry(number) for number in (None, -1, BELL + 1)] == [None] * 3
    assert session.entry(BELL) is not None
    assert session.note_path(crown) == folder / "items" / "Crown.md"
    assert session.note_at(folder / "items" / "Crown.md") is crown
    assert session.note_at(folder / "bad.md") == LEFT_OUT[0]
    assert session.note_at(folder / "new.md") is session.note_at(tmp_path / "elsewhere.md") is None


def test_an_answer_source_that_cannot_be_used_is_no_fault(session: Session, caplog: pytest.LogCaptureFixture) -> None:
    told: list[Notice] = []
    session.notice.connect(told.append)
    session.jobs.failed.emit(AnsweringError("There is no provider profile called “Home”."))  # as jobs nobody waits for
    assert told == [Notice("There is no provider profile called “Home”.", "error", actions=("profiles.edit",))]
    assert caplog.text == ""


def test_replies_by_message(session: Session) -> None:
    assert [session.shown(message) for message in range(8)] == [
        None, None, Generation(2, 1), None, None, Generation(5), None, Generation(7),
    ]  # fmt: skip
    assert [session.generation_for(message) for message in (0, 2, 3, 6, 7)] == [
        Generation(2, 1), Generation(2, 1), Generation(5), Generation(7), Generation(7),
    ]  # fmt: skip
    assert session.generation_for(8) is None
    assert [session.swipes(message) for message in (2, 5, 1)] == [
        (Generation(2, 0), Generation(2, 1)), (Generation(5),), (),
    ]  # fmt: skip


TOLD = ("project_replaced", "project_changed", "choice_changed", "traces_changed", "state_changed", "project_shown")


def test_another_project_is_told_to_whoever_follows_any_part_of_it(session: Session, tmp_path: Path) -> None:
    told: list[str] = []
    for name in TOLD:
        getattr(session, name).connect(lambda *_given, name=name: told.append(name))
    session.set_project(make_project(tmp_path / "other"))
    assert told == [*TOLD]


def test_a_project_that_is_closed_leaves_nothing(session: Session, tmp_path: Path) -> None:
    crown = session.entry(CROWN)
    told: list[str] = []
    for name in TOLD:
        getattr(session, name).connect(lambda *_given, name=name: told.append(name))
    session.close_project()
    assert told == [*TOLD[:-1]]
    assert (session.project, session.generations, session.renewed) == (None, (), False)
    assert session.entry(CROWN) is None
    assert session.note_path(crown) is None
    assert session.note_at(tmp_path / "vault" / "Bell.md") is None
    assert session.shown(2) is session.generation_for(2) is None
    assert session.swipes(2) == ()


@pytest.mark.parametrize(
    ("belongs", "more"),
    [(Belongs.CARD, " A card without one is chosen in the prompt view, once its chat is open."), (Belongs.CHAT, "")],
)
def test_a_file_in_the_wrong_place_says_what_it_is(session: Session, belongs: Belongs, more: str) -> None:
    told: list[Notice] = []
    session.notice.connect(told.append)
    session.set_activity("Reading…")
    session.fail(WrongFileError("/home/wren/x.json", "a thing", belongs))
    assert (told[0].text, told[0].tone, told[0].key) == (f"x.json: a thing.{more}", "warning", "wrong-file")
    assert not session.busy
    session.report(InputError("depth", "it is no number. Use another one."))
    assert told.pop() == Notice("depth: it is no number. Use another one.", "error"), "no traceback"
    with pytest.raises(EmbedderError) as missing:
        embedder_named("Home", session.connections)
    session.report(missing.value)
    assert told.pop() == Notice(str(missing.value), "error", actions=("profiles.edit",))
    assert "there is no profile “Home” to make the vectors" in str(missing.value)
    session.report(ValueError("the tap drips"))
    assert (told[1].text, told[1].tone) == ("the tap drips", "error")
    assert "ValueError: the tap drips" in told[1].details
