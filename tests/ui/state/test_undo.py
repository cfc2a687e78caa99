"""Changing settings, choices and texts of a chat in the window: one step each, taken back and done again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.deeplore import DeepLoreSettings, sanitise
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.project.settings import Mode
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.state.session import Session
from lorestudio.ui.state.undo import Adjustment, Adjustments, Parts, SystemStep
from tests.ui.worlds import make_chat, make_project

PIN = EntryRule("Skarn")


def ready(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: session.jobs.idle and not session.busy, timeout=20_000)


@pytest.fixture
def session(make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot) -> Session:
    session = make_session(make_project(tmp_path / "vault"))
    ready(session, qtbot)
    return session


def test_a_step_is_taken_taken_back_and_done_again(session: Session, qtbot: QtBot) -> None:
    assert session.project is not None
    settings = session.project.settings
    session.parts.adjust("scan depth 9", settings=settings.model_copy(update={"scan_depth": 9}))
    session.parts.adjust("pin Skarn", controls=replace(session.project.controls, pins=(PIN,)))
    assert (session.project.settings.scan_depth, session.project.controls.pins) == (9, (PIN,))
    assert session.parts.adjustments.undo_title == "pin Skarn"
    session.parts.undo()
    assert (session.project.settings.scan_depth, session.project.controls.pins) == (9, ())
    session.parts.undo()
    assert session.project.settings == settings
    assert (session.parts.adjustments.undo_title, session.parts.adjustments.redo_title) == ("", "scan depth 9")
    session.parts.redo()
    assert session.project.settings.scan_depth == 9
    ready(session, qtbot)


def test_a_new_step_ends_the_way_forward(session: Session, qtbot: QtBot) -> None:
    assert session.project is not None
    settings = session.project.settings
    for depth in (7, 9):
        session.parts.adjust(f"scan depth {depth}", settings=settings.model_copy(update={"scan_depth": depth}))
    session.parts.undo()
    session.parts.adjust("pin Skarn", controls=replace(session.project.controls, pins=(PIN,)))
    assert session.parts.adjustments.redo_title == ""
    session.parts.redo()
    assert session.project.settings.scan_depth == 7
    assert [session.parts.adjustments.undo().title for _ in range(2)] == ["pin Skarn", "scan depth 7"]
    assert session.parts.adjustments.undo() is None
    ready(session, qtbot)


def test_what_changes_nothing_is_no_step(session: Session) -> None:
    assert session.project is not None
    session.parts.adjust("nothing", settings=session.project.settings, controls=session.project.controls)
    assert session.parts.adjustments.undo_title == ""


def test_taking_a_step_back_leaves_what_was_chosen_meanwhile(session: Session, qtbot: QtBot) -> None:
    assert session.project is not None
    settings = session.project.settings
    session.parts.adjust("scan depth 9", settings=settings.model_copy(update={"scan_depth": 9}))
    session.replays.choose(mode=Mode.TWO_STAGE)
    session.parts.undo()
    assert session.project.settings.scan_depth == settings.scan_depth
    assert session.choice.mode is Mode.TWO_STAGE
    assert session.project.settings.ai_search_enabled
    ready(session, qtbot)


def test_a_setting_that_chooses_the_mode_is_shown_as_the_mode(session: Session, qtbot: QtBot) -> None:
    assert session.project is not None
    settings = session.project.settings.model_copy(update={"ai_search_enabled": True, "ai_search_mode": "ai-only"})
    session.parts.adjust("AI only", settings=settings)
    assert session.choice.mode is Mode.AI_ONLY
    ready(session, qtbot)


def test_the_chat_is_run_again_and_until_then_the_traces_are_results_from_before(
    session: Session, qtbot: QtBot
) -> None:
    assert session.project is not None
    before = dict(session.runs.traces)
    session.parts.adjust("pin Skarn", controls=replace(session.project.controls, pins=(PIN,)))
    assert session.runs.traces.keys() == before.keys()
    assert "pin Skarn" in session.runs.outdated(session.generations[0])
    ready(session, qtbot)
    assert session.runs.outdated(session.generations[0]) == ""


def test_of_a_changed_chat_the_runs_before_the_change_stay(session: Session, qtbot: QtBot) -> None:
    assert session.project is not None
    chat = session.project.chat
    assert chat is not None
    messages = list(chat.messages)
    messages[3] = replace(messages[3], text="Something else.")
    session.parts.adjust("edit #3", chat=replace(chat, messages=tuple(messages)))
    assert session.runs.traces
    assert all(generation.message <= 3 for generation in session.runs.traces)
    ready(session, qtbot)
    assert set(session.runs.traces) == set(session.generations)


def test_another_chat_begins_without_steps(session: Session, tmp_path: Path, qtbot: QtBot) -> None:
    assert session.project is not None
    session.parts.adjust("pin Skarn", controls=replace(session.project.controls, pins=(PIN,)))
    session.set_project(make_project(tmp_path / "vault"))
    assert session.parts.adjustments.undo_title == ""
    ready(session, qtbot)


def test_reading_again_keeps_what_is_in_no_file(make_session: Callable[..., Session], qtbot: QtBot) -> None:
    session = make_session(demo_project(), make_simulator=Simulator)
    ready(session, qtbot)
    assert session.project is not None
    session.parts.adjust("scan depth 2", settings=session.project.settings.model_copy(update={"scan_depth": 2}))
    ready(session, qtbot)
    session.reading.reload()
    ready(session, qtbot)
    assert session.project.settings.scan_depth == 2
    assert session.parts.on_disk is not None
    assert session.parts.on_disk.settings.scan_depth != 2
    session.parts.undo()
    assert session.project.settings == session.parts.on_disk.settings
    ready(session, qtbot)


def test_settings_that_decide_how_notes_are_read_read_them_again(
    make_session: Callable[..., Session], qtbot: QtBot
) -> None:
    session = make_session(demo_project(), make_simulator=Simulator)
    ready(session, qtbot)
    assert session.project is not None
    entries = len(session.project.index.entries)
    # Notes with a tag of another kind, such as guides, do not need the lorebook's.
    others = [entry for entry in session.project.index.entries if "lorebook" not in entry.tags]
    session.parts.adjust(
        "another tag", settings=session.project.settings.model_copy(update={"lorebook_tag": "no-such-tag"})
    )
    ready(session, qtbot)
    assert {entry.title for entry in session.project.index.entries} <= {entry.title for entry in others}
    session.parts.undo()
    ready(session, qtbot)
    assert len(session.project.index.entries) == entries


@pytest.mark.long
def test_what_is_looked_at_stays_where_it_still_is(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    session, selection = window.session, window.selection
    ready(session, qtbot)
    chat = session.project.chat
    window.chat.choose(3)
    shorter = replace(chat, messages=chat.messages[:-1])
    session.parts.adjust("delete the last message", chat=shorter)
    assert selection.message == 3
    window.chat.choose(len(shorter.messages))
    session.parts.adjust("delete two more", chat=replace(chat, messages=chat.messages[:-3]))
    assert selection.message == len(chat.messages) - 3
    assert selection.generation is None or isinstance(selection.generation, Generation)
    ready(session, qtbot)


settings = st.builds(
    lambda depth, budget: sanitise({"scanDepth": depth, "maxTokensBudget": budget}).settings,
    st.integers(0, 9),
    st.integers(100, 900),
)
controls = st.builds(
    ChatControls,
    pins=st.lists(st.builds(EntryRule, st.sampled_from("ABC")), max_size=2).map(tuple),
    notebook=st.text(max_size=3),
)


@given(settings, controls, settings, controls)
def test_back_undoes_forward(
    one: DeepLoreSettings, two: ChatControls, three: DeepLoreSettings, four: ChatControls
) -> None:
    chat = make_chat()
    before, after = Parts(one, two, Behaviour(), chat), Parts(three, four, Behaviour(), chat)
    step = Adjustment("", before, after)
    assert step.forward(before) == after
    assert step.back.forward(after) == before


def test_a_step_of_a_system_takes_back_its_own_settings_only() -> None:
    before, after = HybridSettings(), HybridSettings(limit=1)
    step = SystemStep("limit", {"hybrid": before}, {"hybrid": after})
    now = HybridSettings(limit=1, exchanges=3)  # another setting was changed meanwhile
    assert step.back.forward({"hybrid": now}) == {"hybrid": HybridSettings(exchanges=3)}
    assert step.forward({"hybrid": HybridSettings(exchanges=3)}) == {"hybrid": now}
    assert step.back.forward({}) == {"hybrid": before}


def parts(chat: Chat | None) -> Parts:
    return Parts(DeepLoreSettings(), ChatControls(), Behaviour(), chat)


def test_a_chat_of_another_program_takes_the_steps_that_changed_it() -> None:
    one, two = make_chat(), replace(make_chat(), user_name="Ann")
    steps = Adjustments()
    steps.add(SystemStep("system", {"hybrid": HybridSettings()}, {"hybrid": HybridSettings()}))
    steps.add(Adjustment("text", parts(one), parts(two)))
    steps.add(Adjustment("setting", parts(two), parts(two)))
    steps.rebase(lambda _chat: None)
    assert [step.title for step in iter(steps.undo, None)] == ["setting", "system"]
    assert [step.title for step in iter(steps.redo, None)] == ["system", "setting"]


def test_chats_of_all_steps_become_what_they_are_by_now() -> None:
    one, two = make_chat(), replace(make_chat(), user_name="Ann")
    steps = Adjustments()
    steps.add(Adjustment("text", parts(None), parts(one)))
    steps.add(SystemStep("system", {"hybrid": HybridSettings()}, {"hybrid": HybridSettings()}))
    steps.undo()
    steps.rebase(lambda _chat: two)
    taken = steps.undo()
    assert isinstance(taken, Adjustment)
    assert (taken.before.chat, taken.after.chat) == (None, two)
    assert (steps.undo_title, steps.redo_title) == ("", "text")
    steps.clear()
    assert (steps.undo_title, steps.redo_title, steps.undo(), steps.redo()) == ("", "", None, None)
