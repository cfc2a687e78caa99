"""Comparing runs in the window: turns, swipes, marks, changed settings, unsaved texts, files of settings, kept runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.compare.causes import Causes, DifferenceCause, What, effects
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import NoteText
from lorestudio.systems.differences import DifferenceKind, InputDifference
from lorestudio.trace.diff import compare
from lorestudio.trace.wording import place as place_words
from lorestudio.ui.features.compare.runs import ComparableRuns, change_columns, change_rows
from lorestudio.ui.features.compare.runs_pane import ComparePane, RunsPage
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.pane import Pane
from tests.ui.conftest import drain
from tests.ui.drawing import drawn, image_of
from tests.ui.features.timeline.test_pane import long_chat, project_with
from tests.ui.worlds import CROWN, make_trace

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def window(make_window: MakeWindow, qtbot: QtBot) -> MainWindow:
    made = make_window(project_with(long_chat(4)), make_simulator=Simulator)
    settle(made, qtbot)
    return made


def pane_of(window: MainWindow) -> RunsPage:
    return window.features.timeline.compare


def settle(window: MainWindow, qtbot: QtBot) -> None:
    def quiet() -> bool:
        waits = window.docks["compare"].made is not None and pane_of(window)._later.isActive()
        return not window.session.busy and window.session.jobs.idle and not waits

    qtbot.waitUntil(quiet)
    QApplication.processEvents()


def go(window: MainWindow, message: int, swipe: int = 0) -> None:
    window.features.timeline.jump(Generation(message, swipe), None)


def groups(pane: RunsPage) -> dict[str, list[list[str]]]:
    """The rows of each group as texts."""
    found = {}
    model = pane.model
    for group in (model.index(place, 0) for place in range(model.rowCount())):
        rows = range(model.rowCount(group))
        found[group.data()] = [[model.index(row, column, group).data() for column in range(5)] for row in rows]
    return found


def settings_of(window: MainWindow, **values: object) -> DeepLoreSettings:
    project = window.session.project
    assert project is not None
    return project.settings.model_copy(update=values)


def test_two_turns(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    pane = pane_of(window)
    assert window.current_pane().name == "compare"
    assert pane.isVisible()
    assert pane.compared is not None
    assert pane.compared.before.trace is window.session.runs.traces[Generation(2)]
    assert pane.compared.after.trace is window.session.runs.traces[Generation(4)]
    diff = compare(pane.compared.before.trace, pane.compared.after.trace)
    told = groups(pane)
    assert f"+ Entered ({len(diff.entered)})" in told
    entered = told[f"+ Entered ({len(diff.entered)})"]
    assert [row[0] for row in entered] == [change.title for change in diff.entered]
    assert f"{diff.tokens[0]:,} → {diff.tokens[1]:,} tokens" in pane.headline.text()
    assert pane.headline.textFormat() is Qt.TextFormat.RichText, "how much it grew stands in colour"


def test_messages_that_were_not_written_yet_were_stopped_by_nothing(window: MainWindow, qtbot: QtBot) -> None:
    window.session.replays.choose(system="recap")
    settle(window, qtbot)
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    assert pane_of(window).headline.text().startswith("No entry went in, in either run.")
    assert not any(group.startswith("Stopped") for group in groups(pane_of(window)))


def test_the_reply_to_come_is_called_so(window: MainWindow, qtbot: QtBot) -> None:
    *_, last, come = window.session.generations
    go(window, come.message)
    window.run("compare.before")
    settle(window, qtbot)
    found = pane_of(window).compared
    assert found is not None
    assert [side.title for side in (found.before, found.after)] == [
        f"reply #{last.message}", f"the next reply (#{come.message})",
    ]  # fmt: skip


@pytest.mark.dressed
def test_the_columns_have_room_beside_a_scroll_bar(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    tree = pane_of(window).tree
    tree.expandAll()
    for width, height in ((460, 90), (460, 900), (700, 90)):
        tree.setFixedSize(width, height)
        drain()
        assert (tree.verticalScrollBar().maximum() > 0) is (height < 900)
        assert tree.horizontalScrollBar().maximum() == 0


@pytest.mark.always
def test_what_was_different_is_read_whole(window: MainWindow, qtbot: QtBot) -> None:
    """“with messa…” and “Did 2 chan…” stood there, and the rest only for who points at it."""
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    tree, model = pane_of(window).tree, pane_of(window).model
    metrics, first = tree.fontMetrics(), model.index(0, 0)
    wraps, above = int(Qt.TextFlag.TextWordWrap), []
    for size in ((1280, 800), (1024, 640)):
        window.resize(*size)
        drain()
        for row in range(model.rowCount(first)):
            for column in (2, 4):
                index = model.index(row, column, first)
                wide = tree.columnWidth(column) - 6
                above.append(metrics.boundingRect(0, 0, wide, 1000, wraps, index.data()).height())
                assert above[-1] <= tree.visualRect(index).height(), index.data()
    assert max(above) > 2 * metrics.height()


@pytest.mark.dressed
@pytest.mark.parametrize("letters", [1.0, 1.5], indirect=True)
@pytest.mark.parametrize("size", [(1024, 640), (1280, 800)])
def test_names_and_tokens_of_both_runs_are_read_whole(
    letters: float, window: MainWindow, size: tuple[int, int], qtbot: QtBot
) -> None:
    window.resize(*size)
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    tree = pane_of(window).tree
    drain()
    room = tree.fontMetrics().horizontalAdvance
    assert tree.columnWidth(0) > 2 * tree.indentation() + room("Captain Ingram")
    sides = [column for column in (1, 2, 5) if not tree.isColumnHidden(column)]
    assert sides == ([5] if letters > 1 and size[0] < 1100 else [1, 2])  # in one column where two have no room
    assert min(map(tree.columnWidth, sides)) > room("113 tokens")
    assert tree.horizontalScrollBar().maximum() == 0
    tree.copy()
    assert QApplication.clipboard().text().splitlines()[0].split("\t") == ["Entry", "A", "B", "Tokens", "Because of"]
    changed = tree.model().index(0, 5, tree.model().index(0, 0)).data()
    assert changed == " → ".join(filter(None, groups(pane_of(window))["What was different (2)"][0][1:3]))


def test_the_comparison_follows_what_is_looked_at(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    go(window, 6)
    pane_of(window)._later.start()
    settle(window, qtbot)
    pane = pane_of(window)
    assert pane.compared is not None
    assert pane.compared.after.trace is window.session.runs.traces[Generation(6)]


def test_what_nobody_sees_is_not_compared_and_what_was_under_way_begins_anew(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    pane, traces = pane_of(window), window.session.runs.traces
    pane.choose("shown", "system:world-info")
    assert (pane.state.text(), pane.stop.isHidden()) == ("Comparing…", False)
    window.docks["compare"].hide()
    assert (pane.state.text(), pane.stop.isHidden()) == ("", True)
    settle(window, qtbot)
    assert pane.compared.after.trace is traces[Generation(4)], "the one before it"
    window.show_pane("compare")
    settle(window, qtbot)
    found, why = pane.compared, "Two systems decided: no single difference did it."
    assert (found.after.trace.system, pane.state.text()) == ("world-info", why)
    window.docks["compare"].hide()
    window.show_pane("compare")
    assert (pane.compared, pane.state.text(), pane.state.isVisible()) == (found, why, True), "it stands as it was"
    pane.choose("before", "shown")
    settle(window, qtbot)
    go(window, 6)
    window.docks["compare"].hide()
    settle(window, qtbot)
    assert pane.compared.after.trace is traces[Generation(4)]
    window.show_pane("compare")
    settle(window, qtbot)
    assert pane.compared.after.trace is traces[Generation(6)]


@pytest.mark.own_window
def test_a_run_that_was_replaced_can_be_compared_though_the_pane_was_never_open(
    window: MainWindow, qtbot: QtBot
) -> None:
    go(window, 4)
    before = window.session.runs.traces[Generation(4)]
    window.session.parts.adjust("one entry", settings=settings_of(window, max_entries=1, unlimited_entries=False))
    settle(window, qtbot)
    assert window.docks["compare"].made is None
    window.run("compare.former")
    settle(window, qtbot)
    compared = pane_of(window).compared
    assert compared is not None
    assert compared.before.trace is before


def test_after_a_message_was_deleted_no_reply_is_compared_with_the_run_of_another(
    window: MainWindow, qtbot: QtBot
) -> None:
    for message in (2, 6, 8):
        go(window, message)
    window.session.parts.adjust("one entry", settings=settings_of(window, max_entries=1, unlimited_entries=False))
    settle(window, qtbot)
    for message in (2, 6, 8):
        go(window, message)
    comparable = window.features.timeline.comparable
    assert comparable.last_former
    chat = window.session.project.chat
    assert chat is not None
    other = chat.with_message(3, replace(chat.messages[3], text="Tell me about Skarn and the crown."))
    window.session.parts.adjust("another text", chat=other)
    settle(window, qtbot)
    for message in (8, 6):
        go(window, message)
        assert comparable.last_former, "an edited text moves no reply"
    window.chat.choose(3)
    window.run("message.delete")
    settle(window, qtbot)
    chat = window.session.project.chat
    assert chat is not None
    assert len(chat.messages) == 8
    for message in (5, 7, 8):  # 8 is the next reply, which had another number
        go(window, message)
        assert not comparable.last_former, message
    go(window, 2)
    assert comparable.last_former, "nothing was changed before it"


def test_the_setting_that_did_it_is_told(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    before = window.session.runs.traces[Generation(4)]
    assert len(before.injections) > 1
    window.session.parts.adjust("one entry", settings=settings_of(window, max_entries=1, unlimited_entries=False))
    settle(window, qtbot)
    window.run("compare.former")
    settle(window, qtbot)
    pane = pane_of(window)
    assert pane.compared is not None
    assert pane.compared.before.trace is before
    assert "before “Most entries: " in pane.compared.before.title
    told = groups(pane)
    different = next(rows for name, rows in told.items() if name.startswith("What was different"))
    assert different[0][0] == "Most entries"
    assert different[0][4].startswith("Did ")
    left = next(rows for name, rows in told.items() if name.startswith("− Left"))
    assert all(row[4].startswith("Most entries: ") for row in left)
    assert all(row[3].startswith("−") for row in left)


@pytest.mark.always
def test_marking_and_comparing(window: MainWindow, qtbot: QtBot) -> None:
    window.commands.actions["compare.marked"].setShortcut("F9")
    window.run("compare.marked")  # nothing is marked yet
    assert pane_of(window).compared is None
    assert any("press M; then choose another one and press F9." in text for text in window.bars.texts)
    go(window, 2)
    window.chat.view.setFocus()
    qtbot.keyClick(window.chat.view, Qt.Key.Key_M)
    assert pane_of(window).comparable.marked is not None
    assert "is marked. F9 compares it" in window.status.currentMessage()
    assert window.commands.actions["compare.marked"].isEnabled()
    go(window, 8)
    window.run("compare.marked")
    settle(window, qtbot)
    compared = pane_of(window).compared
    assert compared is not None
    assert compared.before.trace is window.session.runs.traces[Generation(2)]
    assert compared.after.trace is window.session.runs.traces[Generation(8)]


@pytest.mark.always
def test_two_swipes_and_exchanging_them(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.show_pane("compare")
    pane = pane_of(window)
    pane.choose("swipe1", "shown")
    settle(window, qtbot)
    assert pane.compared is not None
    assert pane.compared.before.trace is window.session.runs.traces[Generation(4, 1)]
    qtbot.mouseClick(pane.swap, Qt.MouseButton.LeftButton)
    settle(window, qtbot)
    assert pane.compared.after.trace is window.session.runs.traces[Generation(4, 1)]


@pytest.mark.always
def test_the_settings_of_a_file(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(
        json.dumps({"enabled": True, "maxEntries": 1, "unlimitedEntries": False, "scanDepth": 2}), encoding="utf-8"
    )
    go(window, 4)
    window.show_pane("compare")
    pane = pane_of(window)
    assert pane.comparable.add_settings(path) == pane.comparable.add_settings(path)
    assert [choice.title for choice in pane.comparable.choices()].count("Settings of one.json") == 1
    pane.choose("shown", pane.comparable.add_settings(path))
    settle(window, qtbot)
    assert pane.compared is not None
    assert len(pane.compared.after.trace.injections) == 1
    assert pane.compared.causes is not None
    assert pane.compared.causes.causes[0].difference.title == "Most entries"


def test_a_file_of_settings_is_asked_for_from_the_menu_and_takes_the_side_it_was_asked_for(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.json"
    path.write_text('{"enabled": true, "maxEntries": 1, "unlimitedEntries": false, "scanDepth": 2}', encoding="utf-8")
    monkeypatch.setattr(dialogs, "choose_file", lambda *given: given[-1](path))
    go(window, 4)
    window.run("compare.settings")
    settle(window, qtbot)
    pane = pane_of(window)
    assert pane.isVisible()

    def sides() -> list[str]:
        return [side.currentText() for side in pane.sides]

    assert abs(pane.sides[0].width() - pane.sides[1].width()) <= 1
    shown, taken = sides()
    assert taken == "Settings of one.json"
    assert shown != taken
    for place, wanted in ((0, [taken, shown]), (1, [shown, taken])):
        side = pane.sides[place]
        side.activated.emit(side.findText("Settings of a file…"))
        settle(window, qtbot)
        assert sides() == wanted


@pytest.mark.always
def test_the_settings_of_a_file_are_those_of_the_chosen_system(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"useSemanticSearch": false}', encoding="utf-8")
    window.session.replays.choose(system="hybrid")
    settle(window, qtbot)
    go(window, 4)
    window.show_pane("compare")
    pane = pane_of(window)
    pane.choose("shown", pane.comparable.add_settings(path))
    settle(window, qtbot)
    assert pane.compared is not None
    assert pane.compared.after.trace.system == "hybrid"
    assert pane.compared.causes is not None
    assert [cause.difference.title for cause in pane.compared.causes.causes] == ["Rank by vectors"]


@pytest.mark.always
def test_a_file_that_cannot_be_read_is_said(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{", encoding="utf-8")
    go(window, 4)
    window.show_pane("compare")
    pane = pane_of(window)
    pane.choose("shown", pane.comparable.add_settings(path))
    settle(window, qtbot)
    assert "broken.json, line 1" in pane.state.text()


@pytest.mark.always
def test_runs_that_were_kept(make_window: MakeWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window = make_window(project_with(long_chat(2)), make_simulator=Simulator, keep_in=tmp_path / "runs")
    settle(window, qtbot)
    go(window, 4)
    window.show_pane("compare")
    pane = pane_of(window)
    pane.comparable.load_kept(lambda error: pytest.fail(str(error)))
    settle(window, qtbot)
    assert "kept0" in {choice.key for choice in pane.comparable.choices()}
    pane.choose("kept0", "before")
    settle(window, qtbot)
    assert pane.compared is not None
    assert "cannot be found out" in pane.state.text()


@pytest.mark.always
def test_copying(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    window.run("compare.copy")
    text = QApplication.clipboard().text()
    assert text.startswith("# reply #2 → reply #4, swipe 1\n")
    assert "## Entered" in text


@pytest.mark.always
def test_a_row_goes_to_its_entry_and_a_group_folds(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    pane = pane_of(window)
    tops = (pane.model.index(place, 0) for place in range(pane.model.rowCount()))
    group = next(top for top in tops if str(top.data()).startswith("+"))
    row = pane.model.index(0, 0, group)
    pane.tree.scrollTo(row)
    QTest.mouseClick(pane.tree.viewport(), Qt.MouseButton.LeftButton, pos=pane.tree.visualRect(row).center())
    entry = window.session.entry(window.selection.entry)
    assert entry is not None
    assert (entry.vault, entry.filename) == pane.model.node(row).key
    assert str(row.data(ACCESSIBLE_TEXT)).startswith("Entry: ")
    assert pane.tree.isExpanded(group)
    QTest.mouseClick(pane.tree.viewport(), Qt.MouseButton.LeftButton, pos=pane.tree.visualRect(group).center())
    assert not pane.tree.isExpanded(group)
    pane.tree.setFocus()
    pane.tree.setCurrentIndex(group)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert pane.tree.isExpanded(group)


def test_a_sign_before_each_group_says_whether_it_is_open_and_turns_it(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    pane = pane_of(window)
    model, tree = pane.model, pane.tree
    glyphs = {
        image_of(glyph(f"chevron-{way}", pane.theme.palette.text_muted, 12)): way == "down" for way in ("right", "down")
    }

    def signs() -> dict[int, bool]:
        """Whether the sign at the place of each group is that of an open one."""
        found = [(each.box.center().toPoint(), glyphs[each.image]) for each in drawn(tree.viewport())
                 if each.image in glyphs]  # fmt: skip
        assert all(not model.parent(tree.indexAt(at)).isValid() for at, _open in found)
        return {tree.indexAt(at).row(): is_open for at, is_open in found}

    told = [tree.isExpanded(model.index(place, 0)) for place in range(model.rowCount())]
    assert (signs(), set(told)) == (dict(enumerate(told)), {True, False})
    first = tree.visualRect(model.index(0, 0))
    for _click in range(2):
        at = QPoint(first.left() - 9, first.center().y())
        qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=at)
        told[0] = not told[0]
        assert signs() == dict(enumerate(told))


def test_unchanged_entries_are_folded(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    pane = pane_of(window)
    last = pane.model.rowCount() - 1
    assert str(pane.model.index(last, 0).data()).startswith("= Unchanged")
    assert not pane.tree.isExpanded(pane.model.index(last, 0, QModelIndex()))


@pytest.mark.always
def test_before_anything_was_run_it_says_what_to_do(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(project_with(long_chat(1)), make_simulator=Simulator, replay=False)
    window.show_pane("compare")
    assert pane_of(window).empty.isVisible()
    assert pane_of(window).empty.title.text() == "Nothing to compare yet"
    (run,) = pane_of(window).empty.page.findChildren(QPushButton)
    run.click()
    settle(window, qtbot)
    assert pane_of(window).empty.title.text() != "Nothing to compare yet"


def test_the_first_reply_has_no_turn_before(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 2)
    window.run("compare.before")
    settle(window, qtbot)
    assert pane_of(window).empty.title.text() == "Choose two runs"


@pytest.mark.long
def test_former_runs_are_bounded_and_forgotten_with_the_chat(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    comparable = pane_of(window).comparable
    for depth in range(3, 12):
        window.session.parts.adjust(f"depth {depth}", settings=settings_of(window, scan_depth=depth))
        settle(window, qtbot)
    former = [choice for choice in comparable.choices() if choice.key.startswith("former")]
    assert len(former) == 6
    assert former[0].title.startswith("Before “Scan depth: 10 → 11”")
    project = window.session.project
    assert project is not None
    window.session.set_project(replace(project, chat=long_chat(3)))
    settle(window, qtbot)
    assert not [choice for choice in comparable.choices() if choice.key.startswith("former")]


def test_former_runs_of_a_reply_are_forgotten_once_many_others_were_looked_at(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(project_with(long_chat(10)), make_simulator=Simulator)
    settle(window, qtbot)
    comparable = pane_of(window).comparable
    for depth in (3, 5):
        go(window, 4)
        window.session.parts.adjust(f"depth {depth}", settings=settings_of(window, scan_depth=depth))
        settle(window, qtbot)
    assert [choice for choice in comparable.choices() if choice.key.startswith("former")]
    others = [each for each in window.session.generations if each.message != 4]
    for each in others[:8]:
        go(window, each.message)
        settle(window, qtbot)
    go(window, 4)
    settle(window, qtbot)
    assert not [choice for choice in comparable.choices() if choice.key.startswith("former")]


@pytest.mark.always
def test_unsaved_texts_are_compared_with_what_is_saved(make_window: MakeWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    note = "---\ntags: [lorebook]\nkeys: [{key}]\n---\nIt is of stone.\n"
    (folder / "Tower.md").write_text(note.format(key="spire"), encoding="utf-8")
    window = make_window(make_simulator=Simulator)
    window.session.set_project(replace(open_project([folder]), chat=long_chat(2)))
    settle(window, qtbot)
    go(window, 4)
    previewer = window.session.runs.previewer(Generation(4))
    assert previewer is not None
    preview = previewer.preview([NoteText("vault", "Tower.md", note.format(key="skarn"))])
    window.session.runs.show_preview(preview)
    window.run("compare.former")
    settle(window, qtbot)
    pane = pane_of(window)
    assert pane.compared is not None
    assert pane.compared.before.trace is window.session.runs.traces[Generation(4)]
    assert pane.compared.after.trace is preview.trace
    assert [change.title for change in pane.compared.diff.entered] == ["Tower"]
    assert pane.compared.causes is not None
    assert pane.compared.causes.causes[0].difference.sentence == "Tower: keys changed"
    assert pane.comparable.mark()
    assert pane.comparable.marked.title == "reply #4, swipe 1 with unsaved texts"
    window.session.runs.toggle_preview()
    assert pane.comparable.mark()
    assert pane.comparable.marked.title == "reply #4, swipe 1"
    window.session.runs.show_preview(None)


@pytest.mark.long
def test_another_system_on_the_shown_reply(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.show_pane("compare")
    pane = pane_of(window)
    keys = {choice.key for choice in pane.comparable.choices()}
    assert {"system:hybrid", "system:world-info"} <= keys
    assert "system:deeplore" not in keys  # it is what is shown
    pane.choose("shown", "system:world-info")
    settle(window, qtbot)
    assert pane.compared is not None
    assert pane.compared.after.trace.system == "world-info"
    given = [each.title for each in pane.compared.after.trace.injections]
    window.features.systems.configure("world-info", WorldInfoSettings(depth=0))
    settle(window, qtbot)
    pane.choose("before", "system:world-info")
    settle(window, qtbot)
    deaf = [each.title for each in pane.compared.after.trace.injections]
    assert (len(given) > 1, deaf) == (True, ["Rules"]), "with the settings that the system has now"
    window.session.replays.choose(system="hybrid")
    settle(window, qtbot)
    pane.choose("shown", "system:deeplore")
    settle(window, qtbot)
    assert (pane.compared.before.trace.system, pane.compared.after.trace.system) == ("hybrid", "deeplore")


def test_both_comparisons_are_pages_of_one_pane(window: MainWindow, qtbot: QtBot) -> None:
    pages = window.features.timeline.comparisons
    assert [pages.tabs.tabText(place) for place in range(pages.tabs.count())] == ["Two runs", "Whole chat"]
    assert "systems" not in window.docks
    window.features.systems.show_page()
    assert pages.tabs.currentWidget() is window.features.systems.compare
    assert window.current_pane() is pages
    window.run("compare.before")
    settle(window, qtbot)
    assert pages.tabs.currentWidget() is pane_of(window)
    assert window.current_pane() is pages


def pick(pane: RunsPage, place: int, title: str) -> None:
    """Choose in the list of a side, as with the mouse."""
    side = pane.sides[place]
    row = side.findText(title)
    assert row >= 0, [side.itemText(each) for each in range(side.count())]
    side.setCurrentIndex(row)
    side.activated.emit(row)


def offered(pane: RunsPage) -> list[str]:
    """What can be chosen, without the line in between."""
    return [text for text in (pane.sides[0].itemText(each) for each in range(pane.sides[0].count())) if text]


@pytest.mark.long
def test_runs_are_chosen_from_the_lists(make_window: MakeWindow, qtbot: QtBot, tmp_path: Path, monkeypatch) -> None:
    window = make_window(project_with(long_chat(3)), make_simulator=Simulator, keep_in=tmp_path / "runs")
    settle(window, qtbot)
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    pane = pane_of(window)
    assert offered(pane)[-2:] == ["Settings of a file…", "Runs kept by earlier starts…"]
    pick(pane, 0, "Runs kept by earlier starts…")
    settle(window, qtbot)
    kept = [text for text in offered(pane) if text.startswith("Kept run")]
    assert [text.partition(":")[0] for text in kept] == ["Kept run 1"]
    assert "before something was changed" not in kept[0]
    pick(pane, 0, kept[0])
    settle(window, qtbot)
    assert pane.compared.before.title == kept[0]
    assert pane.sides[0].toolTip() == kept[0]
    window.session.parts.adjust("more", settings=settings_of(window, max_entries=1))
    settle(window, qtbot)
    pick(pane, 0, "Runs kept by earlier starts…")
    settle(window, qtbot)
    assert [text for text in offered(pane) if text.endswith(", before something was changed")]
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"enabled": True, "maxEntries": 1, "scanDepth": 2}), encoding="utf-8")

    begun = []

    def choose_file(dialog: QFileDialog) -> None:
        begun.append(dialog.directory().absolutePath())
        dialog.fileSelected.emit(str(path))
        dialog.deleteLater()

    monkeypatch.setattr(QFileDialog, "open", choose_file)
    for _ in range(2):
        pick(pane, 1, "Settings of a file…")
        settle(window, qtbot)
    assert begun[0] != begun[1] == str(tmp_path)  # the second time where the first file was
    assert "one.json" in pane.sides[1].currentText()
    assert "one.json" in pane.compared.after.title


@pytest.mark.always
def test_that_kept_runs_cannot_be_read_is_said(make_window: MakeWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window = make_window(project_with(long_chat(1)), make_simulator=Simulator, keep_in=tmp_path / "runs")
    settle(window, qtbot)
    window.show_pane("compare")
    shutil.rmtree(tmp_path / "runs")
    (tmp_path / "runs").write_text("a file where the folder was")
    pick(pane_of(window), 0, "Runs kept by earlier starts…")
    settle(window, qtbot)
    assert [text for text in window.bars.texts if str(tmp_path / "runs") in text]


def test_without_a_place_for_runs_none_are_offered_as_kept(window: MainWindow, qtbot: QtBot) -> None:
    go(window, 4)
    window.run("compare.before")
    settle(window, qtbot)
    pane = pane_of(window)
    assert offered(pane)[-1] == "Settings of a file…"
    pane.comparable.load_kept(lambda error: pytest.fail(str(error)))
    settle(window, qtbot)
    assert not [choice for choice in pane.comparable.choices() if choice.key.startswith("kept")]


def test_who_did_it_is_unknown_or_was_not_found() -> None:
    """Crown came in instead of Skarn; nobody knows why, or it was looked for and not found."""
    trace = make_trace()
    rules, skarn, dawnkeep = trace.injections
    crown = replace(skarn, entry=CROWN, title="Crown", tokens=158)
    other = replace(trace, injections=(rules, crown, replace(dawnkeep, truncated=False)))
    diff = compare(trace, other)

    def rows(causes: Causes | None) -> dict[str, list[tuple[str, ...]]]:
        return {group.cells[0]: [row.cells for row in group.children] for group in change_rows(diff, causes).children}

    told = rows(None)
    assert told["+ Entered (1)"] == [("Crown", "Cut by the budget", "158 tokens", "+158", "")]
    assert told["− Left (1)"] == [("Skarn", "60 tokens", "Not placed", "−60", "")]
    assert told["= Unchanged (1)"] == [("Rules", "10 tokens", "10 tokens", "", "")]
    keys = {row.cells[0]: row.key for group in change_rows(diff, None).children for row in group.children}
    entries = {each.title: trace.entries[each.entry].note_key for each in (*trace.injections, crown)}
    assert keys == {name: entries[name] for name in keys}, "each row leads to its entry"
    found = rows(Causes(()))
    assert found["What was different (0)"] == []
    assert [found[name][0][-1] for name in ("+ Entered (1)", "− Left (1)")] == ["not found"] * 2
    (effect,) = [each for each in effects(diff) if each[0] is What.ENTERED]
    two = [
        DifferenceCause(InputDifference(DifferenceKind.SETTING, name, "1", "2", lambda target, _source: target))
        for name in ("Depth", "Scan")
    ]
    causes = Causes((replace(two[0], alone=frozenset({effect})), two[1]))
    groups = change_rows(diff, causes).children
    inks = [[column.tone(row) for column in change_columns()] for row in groups[0].children]
    assert inks == [[""] * 6, ["text_faint"] * 6]
    assert groups[1].cells == ("+ Entered (1)",)
    assert [change_columns()[0].bold(row) for row in (groups[0], groups[0].children[0])] == [True, False]
    inks = [bool(column.tone(groups[1].children[0])) for column in change_columns()]
    assert inks == [False, False, False, True, False, False], "only its tokens are coloured"
    assert [group.cells[0] for group in groups if not group.opened] == ["= Unchanged (1)"]


def test_an_entry_that_moved_says_where_it_stood() -> None:
    """Skarn stands in the chat; of the two others only the order is another one."""
    trace = make_trace()
    rules, skarn, dawnkeep = trace.injections
    other = replace(trace, injections=(dawnkeep, replace(skarn, position=1, depth=2), rules))
    groups = {group.cells[0]: group.children for group in change_rows(compare(trace, other), None).children}
    moved = {row.cells[0]: row.cells[1:3] for name, rows in groups.items() if "Moved" in name for row in rows}
    assert moved["Skarn"] == (
        place_words(skarn.position, skarn.depth, skarn.role), place_words(1, 2, skarn.role),
    )  # fmt: skip
    del moved["Skarn"]
    assert set(moved.values()) == {("in order", "in another order")}


@pytest.fixture
def page(theme: Theme, make_session: Callable[..., Session], qtbot: QtBot) -> RunsPage:
    """The page without a window, with a chat of four replies that was run."""
    session, selection = make_session(project_with(long_chat(4)), make_simulator=Simulator), Selection()
    selection.choose_message(4, Generation(4))
    made = RunsPage(theme, session, selection, ComparableRuns(session, selection))
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_page_has_as_many_columns_as_there_is_room_for(page: RunsPage) -> None:
    letter = page.fontMetrics().averageCharWidth()
    for letters, hidden in ((59, {1, 2, 3}), (60, {3, 5}), (79, {3, 5}), (80, {5}), (200, {5})):
        page.resize(letters * letter, 400)
        assert {column for column in range(6) if page.tree.isColumnHidden(column)} == hidden
        assert page.tree.columnWidth(0) == max(22 * letter, round(page.width() * 0.27))


def test_the_lists_say_what_is_compared_or_ask_for_more(page: RunsPage, qtbot: QtBot) -> None:
    session, wanted = page._session, list[str]()
    page.wanted.connect(wanted.append)
    page.set_seen(True)
    qtbot.waitUntil(lambda: session.jobs.idle and page.compared is not None)
    assert page.compared is not None
    assert (page.compared.before.title, page.compared.after.title) == ("reply #2", "reply #4, swipe 1")
    for place, side in enumerate(page.sides):
        last = side.count() - 1
        side.setCurrentIndex(last)
        side.activated.emit(last)
        assert wanted == [f"compare.settings{each}" for each in range(place + 1)]
    before = page.sides[0]
    shown = before.findData("shown")
    before.setCurrentIndex(shown)
    before.activated.emit(shown)
    qtbot.waitUntil(lambda: session.jobs.idle and page.compared is not None)
    assert page.compared.before.title == "reply #4, swipe 1"
    assert page.state.text() == ""


def test_the_title_of_the_comparison_says_what_its_page_in_front_says(theme: Theme, qtbot: QtBot) -> None:
    pages = [Pane(name, name.title(), theme) for name in ("one", "two")]
    pane = ComparePane(theme, *pages)
    qtbot.addWidget(pane)
    told: list[str] = []
    pane.note_changed.connect(told.append)
    pages[0].note_changed.emit("3 runs")
    pages[1].note_changed.emit("4 chats")
    assert told == ["3 runs"]
    pane.turn_to(pages[1])
    assert told == ["3 runs", "4 chats"]
