"""A minute on one note: each step really does what it says, and it ends where it began."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest

from lorestudio.studio.project.project import DEMO_LOOK
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.layout import WORKSPACES
from tests.ui.conftest import settle


@pytest.fixture
def demo(make_window, tmp_path):
    window = make_window(make_simulator=Simulator, demo_in=tmp_path / "demo")
    window.session.reading.open_demo()
    settle(window)
    return window


def is_in(window) -> bool:
    trace = window.session.runs.trace(window.session.generation_for(DEMO_LOOK[0]))
    return any(injection.title == DEMO_LOOK[1] for injection in trace.injections)


def press(window) -> None:
    QTest.mouseClick(window.features.projects.coach.go, Qt.MouseButton.LeftButton)
    settle(window)


@pytest.mark.always
def test_it_leads_from_the_question_to_the_change_and_back(demo) -> None:
    coach, before = demo.features.projects.coach, demo.session.project.settings
    assert coach.isVisible()
    assert "1 of 6" in coach.count.text()
    assert not is_in(demo)
    press(demo)  # why
    assert demo.session.entry(demo.selection.entry).title == DEMO_LOOK[1]
    press(demo)  # what would bring it in
    assert demo.features.why_not.search.note.title == DEMO_LOOK[1]
    press(demo)  # raise the budget
    assert is_in(demo)
    assert "4 of 6" in coach.count.text()
    press(demo)  # before and after
    assert not demo.docks["compare"].isHidden()
    press(demo)  # undo
    assert not is_in(demo)
    assert demo.session.project.settings == before
    press(demo)  # done
    assert not coach.isVisible()


@pytest.mark.long
@pytest.mark.parametrize(("keys", "back"), [("F9", " (F9 in the chat)"), ("", "")], ids=["another key", "no key"])
def test_it_names_the_key_that_is_set(demo, keys, back) -> None:
    demo.context.action("adjust.undo").setShortcut(keys)
    for _ in range(4):
        press(demo)
    said = demo.features.projects.coach.text.text()
    assert said == f"It was one step, and no file was written. Undo takes it back{back}."


@pytest.mark.long
@pytest.mark.parametrize("size", [(1280, 800), (1024, 640)], ids=str)
def test_it_and_the_panes_never_cover_each_other(demo, size) -> None:
    coach = demo.features.projects.coach
    demo.resize(*size)
    for workspace in WORKSPACES:
        demo.context.layout.enter(workspace)
        for name, dock in demo.docks.items():
            demo.context.uncover(name)
            settle(demo)
            assert not dock.visibleRegion().isEmpty(), (workspace.name, name)
            mine, its = (QRect(each.mapTo(demo, QPoint()), each.size()) for each in (coach, dock))
            assert not mine.intersects(its), (workspace.name, name)
    mine = QRect(coach.mapTo(demo, QPoint()), coach.size())
    assert demo.rect().contains(mine)
    assert coach.text.height() >= coach.text.heightForWidth(coach.text.width())


@pytest.mark.long
def test_it_waits_until_the_note_is_in_whoever_brought_it_in(demo) -> None:
    coach = demo.features.projects.coach
    press(demo)
    press(demo)
    settings = demo.session.project.settings
    demo.session.parts.adjust("fewer tokens", settings=settings.model_copy(update={"max_tokens_budget": 1200}))
    settle(demo)
    assert "3 of 6" in coach.count.text()
    demo.session.parts.adjust("more tokens", settings=settings.model_copy(update={"max_tokens_budget": 4000}))
    settle(demo)
    assert "4 of 6" in coach.count.text()


@pytest.mark.long
def test_it_can_be_skipped_comes_once_by_itself_and_is_in_the_help_menu(demo, make_window) -> None:
    coach = demo.features.projects.coach
    QTest.keyClick(coach.go, Qt.Key.Key_Escape)
    assert not coach.isVisible()
    assert demo.trace.answers.hasFocus()
    demo.session.reading.open_demo()
    settle(demo)
    assert not coach.isVisible()
    demo.run("help.coach")
    assert coach.isVisible()
    demo.close()
    again = make_window(make_simulator=Simulator)
    again.run("help.coach")
    settle(again)
    assert again.features.projects.coach.isVisible()
    assert again.session.project is not None, "it opens the demo that it needs"


@pytest.mark.long
def test_a_key_is_added_and_saved_by_the_keyboard_alone(demo) -> None:
    """The keyboard stays with the keys when the note is saved and the vault is read anew."""
    demo.features.projects.coach.end()
    demo.run("entry.keys")
    keys = demo.entry.editor.form.row("keys").field
    for text in ("harbour", "tide"):
        assert keys.focusProxy().hasFocus()
        for letter in text:
            QTest.keyClick(demo.windowHandle(), letter)
        QTest.keyClick(demo.windowHandle(), Qt.Key.Key_Return)
        settle(demo)
        QTest.keyClick(demo.windowHandle(), Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        settle(demo)
    entry = demo.session.entry(demo.selection.entry)
    assert entry.keys[-2:] == ("harbour", "tide")
    assert f"- {entry.keys[-1]}\n" in demo.entry.path.read_text("utf-8") or ", tide]" in demo.entry.path.read_text(
        "utf-8"
    )


@pytest.mark.long
def test_the_prompt_is_one_key_away(demo) -> None:
    demo.features.projects.coach.end()
    QTest.keyClick(demo.windowHandle(), Qt.Key.Key_P)
    settle(demo)
    assert demo.trace.tabs.tabText(demo.trace.tabs.currentIndex()) == "Prompt"
    assert demo.trace.prompt.prompt is not None


def test_a_note_that_is_in_already_needs_no_larger_budget(demo, monkeypatch) -> None:
    coach = demo.features.projects.coach
    monkeypatch.setattr(coach, "_is_in", lambda: True)
    coach._apply()
    assert demo.session.parts.adjustments.undo_title == ""
    monkeypatch.setattr(coach, "_is_in", lambda: False)
    coach._apply()
    settle(demo)
    assert demo.session.parts.adjustments.undo_title.startswith("token budget of ")
    coach._undo()
    settle(demo)
    assert demo.session.parts.adjustments.undo_title == ""
