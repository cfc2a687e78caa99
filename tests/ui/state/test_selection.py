"""The one selection: who is told of what, the same note in a newer index, the way back, and the place kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSettings

from lorestudio.domain.chat import Generation, Message
from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.ui.state.selection import LONGEST, MOST_RECENT, History, KeptPlace, Selection, same_numbers
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, SKARN, make_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from lorestudio.studio.project.project import Project
    from lorestudio.ui.state.session import Session

BROKEN = LeftOutNote("Broken.md", "World", NoteProblem.NO_FRONT_MATTER, "No tag.")


def index(*names: str, left_out: tuple[LeftOutNote, ...] = ()) -> VaultIndex:
    entries = tuple(Entry(place, f"{name}.md", "World", name) for place, name in enumerate(names))
    return VaultIndex(entries=entries, left_out=left_out)


@pytest.fixture
def selection(qapp: object) -> Selection:
    return Selection()


@pytest.fixture
def told(selection: Selection) -> list[str]:
    heard: list[str] = []
    selection.entry_changed.connect(lambda: heard.append("entry"))
    selection.stage_changed.connect(lambda: heard.append("stage"))
    selection.generation_changed.connect(lambda: heard.append("generation"))
    return heard


def test_only_what_changed_is_told(selection: Selection, told: list[str]) -> None:
    def hears(*what: str) -> bool:
        heard, told[:] = tuple(told), []
        return heard == what

    selection.choose_entry(3)
    assert hears("entry", "stage")
    selection.choose_entry(3)
    assert hears()
    selection.choose_entry(3, "budget")
    assert hears("stage")
    selection.choose_left_out(BROKEN)
    assert hears("entry", "stage")
    assert (selection.entry, selection.left_out, selection.stage) == (None, BROKEN, None)
    selection.choose_left_out(BROKEN)
    assert hears()
    selection.choose_entry(None)
    assert hears("entry", "stage")
    selection.choose_message(2, Generation(2))
    selection.choose_message(2, Generation(2))
    assert hears("generation")
    selection.choose_message(2, Generation(2, 1))
    assert hears("generation")
    selection.clear()
    assert hears("generation")


BEFORE = index("Gate", "Wall", "Tower")


@pytest.mark.parametrize(
    ("chosen", "after", "found"),
    [
        (1, index("Wall", "Gate"), 0),
        (1, index("Gate", "Wall", "Tower"), 1),
        (1, index("Gate"), None),
        (2, index("Attic", "Gate", "Wall", "Tower"), 3),
        (3, index("Attic"), 3),  # the first number behind the index is what another system chose from
        (7, index("Attic"), 7),
        (None, index("Attic"), None),
    ],
)
def test_the_same_note_is_found_in_a_newer_index(
    selection: Selection, chosen: int | None, after: VaultIndex, found: int | None
) -> None:
    selection.choose_entry(chosen)
    selection.find_again(BEFORE, after)
    assert selection.entry == found


def test_a_note_that_becomes_an_entry_or_is_none_any_more_is_the_same(selection: Selection) -> None:
    wall = replace(BROKEN, filename="Wall.md")
    without = index("Gate", "Tower", left_out=(BROKEN, wall))
    selection.choose_entry(1)
    selection.find_again(BEFORE, without)
    assert (selection.entry, selection.left_out) == (None, wall)
    selection.find_again(without, BEFORE)
    assert (selection.entry, selection.left_out) == (1, None)


def test_a_note_of_the_same_name_in_another_vault_is_another(selection: Selection) -> None:
    other = VaultIndex(entries=(Entry(0, "Gate.md", "Elsewhere", "Gate"),))
    selection.choose_entry(0)
    selection.find_again(BEFORE, other)
    assert selection.entry is None


def test_numbers_are_the_same_where_every_entry_has_its_own() -> None:
    assert same_numbers(BEFORE, index("Gate", "Wall", "Tower"))
    assert not same_numbers(BEFORE, index("Gate", "Tower", "Wall"))
    assert not same_numbers(BEFORE, index("Gate", "Wall"))


# ---- back and forward -----------------------------------------------------------------------------------------------


@pytest.fixture
def looked_at(selection: Selection, make_session: Callable[..., Session]) -> Callable[..., History]:
    """Follow the way over these entries of a project."""
    session = make_session(make_project(), replay=False)

    def look(*entries: int | None) -> History:
        history = History(session, selection, selection)
        for entry in entries:
            selection.choose_entry(entry)
        return history

    return look


def test_back_and_forward_lead_the_way_that_was_gone(looked_at: Callable[..., History], selection: Selection) -> None:
    history = looked_at(SKARN, BELL, CROWN)
    assert (history.can_go_back, history.can_go_forward) == (True, False)
    seen = []
    for step in (history.back, history.back, history.back, history.forward, history.forward, history.forward):
        step()
        seen.append((selection.entry, history.can_go_back, history.can_go_forward))
    assert seen == [
        (BELL, True, True),
        (SKARN, False, True),
        (SKARN, False, True),  # there is nothing before the first
        (BELL, True, True),
        (CROWN, True, False),
        (CROWN, True, False),
    ]


def test_of_nothing_looked_at_there_is_no_way(looked_at: Callable[..., History], selection: Selection) -> None:
    history = looked_at()
    assert (history.can_go_back, history.can_go_forward) == (False, False)
    history.back()
    history.forward()
    assert selection.entry is None


def test_a_new_entry_ends_the_way_forward(looked_at: Callable[..., History], selection: Selection) -> None:
    history = looked_at(SKARN, BELL, CROWN)
    history.back()
    selection.choose_entry(DAWNKEEP)
    assert not history.can_go_forward
    history.back()
    assert selection.entry == BELL


def test_nothing_and_the_same_entry_again_are_no_steps(looked_at: Callable[..., History], selection: Selection) -> None:
    history = looked_at(SKARN, None, SKARN, BELL)
    history.back()
    assert selection.entry == SKARN
    assert not history.can_go_back


def test_the_oldest_are_forgotten_and_all_of_another_vault(
    looked_at: Callable[..., History], selection: Selection
) -> None:
    history = looked_at(*range(LONGEST + 5))
    while history.can_go_back:
        history.back()
    assert selection.entry == 5
    history.clear()
    assert (history.can_go_back, history.can_go_forward) == (False, False)


# ---- finding it again -----------------------------------------------------------------------------------------------


@pytest.fixture
def kept(make_session: Callable[..., Session], tmp_path: Path) -> KeptPlace:
    session = make_session(make_project(tmp_path / "vault"))
    place = KeptPlace(session, Selection(session), session)
    place.restore()
    return place


def file_of(place: KeptPlace, entry: int) -> Path:
    path = place._session.note_path(place._session.entry(entry))
    assert path is not None
    return path


def test_what_was_looked_at_last_stands_first_and_once(kept: KeptPlace) -> None:
    for entry in (SKARN, BELL, SKARN, CROWN):
        kept._selection.choose_entry(entry)
    assert kept.recent == [file_of(kept, entry) for entry in (CROWN, SKARN, BELL)]
    for number in range(MOST_RECENT + 5):
        kept._selection.choose_entry((BELL, CROWN)[number % 2])
    assert len(kept.recent) == 3
    kept.recent = [Path(str(number)) for number in range(MOST_RECENT)]
    kept._selection.choose_entry(SKARN)
    assert kept.recent == [file_of(kept, SKARN), *(Path(str(number)) for number in range(MOST_RECENT - 1))]


def test_a_file_that_was_renamed_is_found_by_its_new_name(kept: KeptPlace) -> None:
    kept._selection.choose_entry(SKARN)
    path = file_of(kept, SKARN)
    one, two = path.with_name("One.md"), path.with_name("Two.md")
    kept.moved({path: one})
    kept.moved({one: two})
    assert (kept.now(path), kept.now(one), kept.recent) == (two, two, [two])
    assert kept.now(path.with_name("Other.md")) == path.with_name("Other.md")
    assert kept.restore()  # everybody has found by its old name what they looked for
    assert kept.now(path) == path


def test_the_same_project_read_again_shows_what_was_looked_at(kept: KeptPlace) -> None:
    kept._selection.choose_entry(SKARN, "contextual gating")
    with kept.held():
        kept._selection.choose_entry(BELL)  # nobody chose that
    assert kept.is_same
    assert kept.restore()
    assert (kept._selection.entry, kept._selection.stage) == (SKARN, "contextual gating")
    kept.want(file_of(kept, CROWN))
    assert kept.restore()
    assert (kept._selection.entry, kept._selection.stage) == (CROWN, None)


def test_another_project_begins_anew(kept: KeptPlace, tmp_path: Path) -> None:
    kept._selection.choose_entry(SKARN)
    kept._selection.choose_message(1, Generation(1))
    kept._session.set_project(make_project(tmp_path / "other"))
    assert not kept.is_same
    with kept.held():
        kept._selection.clear()
    assert not kept.restore()
    assert kept.recent == []
    assert kept.is_same
    assert kept.restore()
    assert (kept._selection.message, kept._selection.entry) == (None, None)


LAST = 5, Generation(5)


def test_a_project_that_is_opened_another_time_shows_what_was_looked_at(
    make_session: Callable[..., Session], tmp_path: Path
) -> None:
    settings, project = (
        QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat),
        make_project(tmp_path / "a"),
    )

    def opened(now: Project) -> KeptPlace:
        session = make_session(now)
        place = KeptPlace(session, Selection(session), session, settings)
        place.restored.connect(lambda _same: place._selection.choose_message(*LAST))  # as the chat does
        assert not place.restore()
        return place

    def looked_at(place: KeptPlace) -> tuple[int | None, Generation | None, int | None]:
        return place._selection.message, place._selection.generation, place._selection.entry

    first = opened(project)
    assert looked_at(first) == (*LAST, None)
    first._selection.choose_message(2, first._session.generation_for(2))
    first._selection.choose_entry(SKARN)
    first._session.set_project(make_project(tmp_path / "b"))  # leaving keeps it
    with first.held():
        first._selection.clear()
    assert not first.restore()
    assert looked_at(first) == (*LAST, None), "another project has a place of its own"
    again = opened(project)
    assert looked_at(again) == (2, again._session.generation_for(2), SKARN)
    again.keep()
    assert project.chat is not None
    longer = replace(project, chat=replace(project.chat, messages=(*project.chat.messages, Message("Ann", "More."))))
    assert looked_at(opened(longer)) == (*LAST, SKARN), "where the chat went on, its end is asked about"
    (key,) = settings.allKeys()
    nonsense = {project: [7, "two", ""] for project in json.loads(str(settings.value(key)))}
    for wrong in (json.dumps(nonsense), "[1]", "no JSON"):
        settings.setValue(key, wrong)
        assert looked_at(opened(project)) == (*LAST, None)


def test_of_so_many_projects_it_is_kept_where_they_were_left(
    make_session: Callable[..., Session], tmp_path: Path
) -> None:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    project = make_project(tmp_path / "a")
    session = make_session(project)
    selection = Selection(session)

    def opened(number: int) -> int | None:
        session.set_project(replace(project, chat_path=tmp_path / f"{number}.jsonl"))
        selection.clear()
        place = KeptPlace(session, selection, session, settings)
        assert not place.restore()
        found = selection.message
        selection.choose_message(2, session.generation_for(2))
        place.keep()
        return found

    assert [opened(number) for number in range(MOST_RECENT)] == [None] * MOST_RECENT
    assert [opened(0), opened(MOST_RECENT)] == [2, None]
    assert [opened(0), opened(2), opened(MOST_RECENT), opened(1)] == [2, 2, 2, None], "the one left longest ago is gone"


def test_the_demo_begins_each_time_with_its_first_look(make_session: Callable[..., Session], tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    session = make_session(replace(make_project(tmp_path / "a"), chat_path=resource("demo", "chat.jsonl")))
    for _ in range(2):
        place = KeptPlace(session, Selection(session), session, settings)
        place.restore()
        assert place._selection.message is None
        place._selection.choose_message(2, session.generation_for(2))
        place.keep()


def test_a_chat_that_is_saved_under_another_name_is_the_same_chat_and_left_under_that_name(
    make_session: Callable[..., Session], tmp_path: Path
) -> None:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    project = make_project(tmp_path / "a")
    assert project.chat is not None
    new = replace(project, chat_path=None)
    session = make_session(new)
    place = KeptPlace(session, Selection(session), session, settings)
    assert not place.restore()
    place._selection.choose_message(2, session.generation_for(2))
    place._selection.choose_entry(SKARN)
    saved = session.project = replace(new, chat_path=tmp_path / "saved.jsonl")
    place.keep()  # and the window is closed
    session.set_project(replace(saved, settings=saved.settings), renewed="changed")
    assert place.is_same
    assert place.restore()
    assert (place._selection.message, place._selection.entry) == (2, SKARN)
    for now, found in ((saved, (2, SKARN)), (new, (None, None))):
        session = make_session(now)
        again = KeptPlace(session, Selection(session), session, settings)
        again.restore()
        assert (again._selection.message, again._selection.entry) == found


def test_the_reply_that_is_to_come_is_looked_at_again(kept: KeptPlace) -> None:
    chat = kept._session.chat
    assert chat is not None
    kept._selection.choose_message(len(chat.messages), None)
    with kept.held():
        kept._selection.clear()
    assert kept.restore()
    assert kept._selection.message == len(chat.messages)
