"""The pane with what the checks found, and the way from there to the note and to a fix."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTextBrowser

from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project, demo_project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.problems.pane import (
    MOST,
    OPEN_UP_TO,
    SHOWN_NOTES,
    FixDialog,
    ProblemNode,
    ProblemsPane,
    ProblemTree,
    search_text,
)
from lorestudio.ui.shell.qt import ACCESSIBLE_DESCRIPTION, ACCESSIBLE_TEXT, DISPLAY, ENTRY_ID, LOOK
from lorestudio.ui.shell.theme import load_palettes
from lorestudio.ui.state.drafts import Draft, Drafts
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.widgets.cells import Glyph
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.lint.model import Finding, Severity
from tests.ui.conftest import drain, menu_of_row, settle, titles_of
from tests.ui.drawing import words_drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.main_window import MainWindow
    from lorestudio.ui.shell.theme import Theme
    from lorestudio.ui.state.session import Session


def note(front: str, body: str = "Some text.") -> str:
    return f"---\ntags: [lorebook]\n{front}\n---\n{body}\n"


def project_of(folder: Path, notes: dict[str, str]) -> Project:
    folder.mkdir(exist_ok=True)
    for name, text in notes.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8", newline="")
    return open_project([folder])


MESSY = {
    "Anchor": note("keys: [anchor]\nrequires: [Nobody, Buoy]"),
    "Buoy": note("Keys: [buoy]\nenabled: no"),
    "Crane": note("keys: [ai]"),
    "Dock": "Just text.",
}


@pytest.fixture
def messy(tmp_path: Path) -> Project:
    return project_of(tmp_path / "messy", MESSY)


class Stage:
    """A pane on a session, with what it says to others."""

    def __init__(self, theme: Theme, session: Session) -> None:
        self.session, self.selection, self.drafts = session, Selection(), Drafts()
        self.pane = ProblemsPane(theme, session, self.selection, self.drafts)
        self.pane.resize(520, 600)
        self.jumps: list[tuple[Any, int]] = []
        self.counts: list[tuple[int, int]] = []
        self.fixes: list[tuple[Repair, ...]] = []
        self.pane.jump.connect(lambda path, line, _field: self.jumps.append((path, line)))
        self.pane.counted.connect(lambda errors, warnings: self.counts.append((errors, warnings)))
        self.pane.wanted_fixes.connect(self.fixes.append)

    def settle(self, qtbot: QtBot) -> None:
        self.pane.look()
        qtbot.waitUntil(lambda: not self.pane.looking and self.session.jobs.idle)

    def choose(self, code: str) -> Finding:
        found = next(item for item in self.pane.model.findings() if item.code == code)
        self.pane.choose(found)
        return found

    def show_from(self, least: Severity) -> None:
        """Choose the least severity."""
        self.pane.head.severity.setCurrentIndex(self.pane.head.severity.findData(least.value))

    @property
    def codes(self) -> list[str]:
        return [item.code for item in self.pane.model.findings()]


@pytest.fixture
def stage(qtbot: QtBot, theme: Theme, make_session: Callable[..., Session]) -> Iterator[Stage]:
    made = Stage(theme, make_session(replay=False))
    yield made
    made.pane.stop()
    qtbot.waitUntil(lambda: made.session.jobs.idle)
    made.pane.deleteLater()


@pytest.fixture
def filled(qtbot: QtBot, stage: Stage, messy: Project) -> Stage:
    stage.session.set_project(messy)
    stage.settle(qtbot)
    stage.show_from(Severity.INFO)
    return stage


def test_without_a_vault_it_says_what_to_do(stage: Stage) -> None:
    assert stage.pane.empty.title.text() == "No vault"
    assert "Open the folder" in stage.pane.empty.text.text()
    assert not stage.pane.head.words.isEnabled()


def test_while_it_looks_it_says_so(qtbot: QtBot, stage: Stage, messy: Project) -> None:
    stage.session.set_project(messy)
    assert stage.pane.looking
    assert stage.pane.empty.title.text() == "Checking…"
    stage.settle(qtbot)
    assert "Checking" not in stage.pane.head.told.text()


def test_at_first_it_shows_what_has_to_be_mended(qtbot: QtBot, stage: Stage, messy: Project, tmp_path: Path) -> None:
    """Remarks are counted, and one choice away."""
    stage.session.set_project(messy)
    stage.settle(qtbot)
    shown = {item.severity for item in stage.pane.model.findings()}
    assert shown == {Severity.ERROR, Severity.WARNING}
    assert stage.pane.head.told.text() == "1 error, 2 warnings, 2 remarks; 3 shown."
    stage.session.set_project(project_of(tmp_path / "well", {"Crane": note("keys: [ai]")}))
    stage.settle(qtbot)
    assert stage.pane.empty.title.text() == "Nothing to mend"
    (remark,) = {item.severity for item in stage.pane.problems.findings}
    assert remark is Severity.INFO
    counts = "0 errors, 0 warnings, 1 remark; 0 shown"
    assert stage.pane.empty.text.text() == f"{counts}."
    (everything,) = stage.pane.empty.page.findChildren(QPushButton)
    everything.click()
    assert [each.severity for each in stage.pane.model.findings()] == [Severity.INFO]


def test_findings_come_by_severity_and_note(filled: Stage) -> None:
    model = filled.pane.model
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    tops = [model.index(row, 0) for row in range(model.rowCount())]
    assert [top.data(DISPLAY) for top in tops] == ["Errors   1", "Warnings   2", "Remarks   2"]
    notes = [model.index(row, 0, tops[1]) for row in range(model.rowCount(tops[1]))]
    assert [one.data(DISPLAY) for one in notes] == ["Buoy   2"]
    leaf = model.index(0, 0, notes[0])
    assert leaf.data(ACCESSIBLE_TEXT) == "warning: “Keys” was read as “keys”. line 3"
    assert leaf.siblingAtColumn(1).data(DISPLAY) == "line 3"
    assert filled.pane.tree.isExpanded(notes[0])
    assert filled.pane.head.told.text() == "1 error, 2 warnings, 2 remarks."
    assert filled.counts == [(1, 2)]
    assert filled.pane.last_note == "5 findings"


def test_a_sound_vault_says_what_was_checked(qtbot: QtBot, stage: Stage, tmp_path: Path) -> None:
    stage.session.set_project(project_of(tmp_path / "sound", {"A": note("keys: [harbour]")}))
    stage.settle(qtbot)
    assert stage.pane.empty.title.text() == "No problems found"
    assert "1 note and the settings" in stage.pane.empty.text.text()
    assert stage.counts == [(0, 0)]


def test_filters(qtbot: QtBot, filled: Stage) -> None:
    pane = filled.pane
    pane.head.words.setText("buoy CAPITALS")
    assert filled.codes == []  # no finding has both words
    assert pane.empty.title.text() == "Nothing found"
    pane.head.words.setText("buoy")
    assert set(filled.codes) == {"P59", "W_ALIAS_USED"}
    pane.head.words.setText("g01")
    assert filled.codes == ["G01"]
    assert "; 1 shown." in pane.head.told.text()
    pane.head.words.clear()
    filled.show_from(Severity.WARNING)
    assert set(filled.codes) == {"G01", "P59", "W_ALIAS_USED"}
    filled.settle(qtbot)
    assert len(filled.codes) == 3  # the filter holds over a new look


def test_the_chosen_one_is_explained(filled: Stage) -> None:
    filled.choose("G01")
    told = filled.pane.details.browser.toPlainText()
    assert "Requires a missing title" in told
    assert "DeepLore drops the requirement" in told
    assert "Remove “Nobody” from requires." in told
    assert "a check of DeepLore's" in told
    assert "Anchor.md:4" in told
    filled.choose("P59")
    told = filled.pane.details.browser.toPlainText()
    assert "the studio's own check" in told
    assert "if that is what you meant" in told


def test_enter_and_double_click_go_to_the_note(qtbot: QtBot, filled: Stage, tmp_path: Path) -> None:
    finding = filled.choose("G01")
    qtbot.keyClick(filled.pane.tree, Qt.Key.Key_Return)
    assert filled.selection.entry == finding.entry
    assert filled.jumps == [(tmp_path / "messy" / "Anchor.md", 4)]
    filled.choose("SKIP_NO_FRONTMATTER")
    filled.pane.tree.doubleClicked.emit(filled.pane.tree.currentIndex())
    assert filled.selection.left_out is not None
    assert filled.selection.left_out.filename == "Dock.md"
    assert filled.jumps[1:] == [(tmp_path / "messy" / "Dock.md", 1)]
    assert filled.pane.tree.currentIndex().data(ENTRY_ID) is None


def test_enter_on_a_heading_opens_and_closes_it(qtbot: QtBot, filled: Stage) -> None:
    tree = filled.pane.tree
    top = filled.pane.model.index(0, 0)
    tree.setCurrentIndex(top)
    qtbot.keyClick(tree, Qt.Key.Key_Return)
    assert not tree.isExpanded(top)
    qtbot.keyClick(tree, Qt.Key.Key_Return)
    assert tree.isExpanded(top)
    assert filled.jumps == []


def dialog_of(pane: ProblemsPane) -> FixDialog:
    (dialog,) = pane.findChildren(FixDialog)
    return dialog


def test_one_fix_is_shown_before_it_is_wanted(filled: Stage) -> None:
    filled.choose("G01")
    assert filled.pane.details.fix.isEnabled()
    filled.pane.details.fix.click()
    dialog = dialog_of(filled.pane)
    shown = dialog.browser.toPlainText().replace("\xa0", " ")
    assert "-requires: [Nobody, Buoy]" in shown
    assert "+requires: [Buoy]" in shown
    (head,) = (each for each in dialog.findChildren(QLabel) if "1 note:" in each.text())
    assert head.y() < dialog.browser.y(), "what changes stands below its title"
    assert filled.fixes == []
    dialog.apply_button.click()
    ((repair,),) = filled.fixes
    assert (repair.filename, repair.before) == ("Anchor.md", MESSY["Anchor"])
    assert repair.after == note("keys: [anchor]\nrequires: [Buoy]")


def test_that_a_note_has_changed_since_it_was_checked_is_said(
    qtbot: QtBot, filled: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, told = tmp_path / "messy" / "Anchor.md", []
    # As if it was written long ago: its text is read again for the fix.
    monkeypatch.setattr("lorestudio.studio.project.problems.settled_stamp", lambda path: path.stat().st_size)
    filled.pane.look()
    filled.settle(qtbot)
    filled.choose("G01")
    path.write_text(note("keys: [anchor]"), "utf-8")
    filled.session.notice.connect(lambda notice: told.append((notice.text, notice.actions)))
    filled.pane.details.fix.click()
    text = "Anchor.md has changed since it was checked, so nothing is fixed. Read it again."
    assert told == [(text, ("vault.reload",))]
    assert filled.pane.findChildren(FixDialog) == []


def test_a_fix_that_is_not_wanted_is_not_made(filled: Stage) -> None:
    filled.choose("G01")
    filled.pane.details.fix.click()
    dialog_of(filled.pane).reject()
    assert filled.fixes == []


def test_what_has_no_fix_offers_none(filled: Stage) -> None:
    filled.choose("K01")
    assert not filled.pane.details.fix.isEnabled()


def test_all_safe_fixes_leave_out_the_others(qtbot: QtBot, filled: Stage) -> None:
    filled.pane.details.fix_all.click()
    qtbot.waitUntil(lambda: bool(filled.pane.findChildren(FixDialog)))
    dialog_of(filled.pane).apply_button.click()
    (repairs,) = filled.fixes
    assert [repair.filename for repair in repairs] == ["Anchor.md", "Buoy.md"]
    assert repairs[1].after == note("keys: [buoy]\nenabled: no")


def test_all_safe_fixes_are_those_that_are_shown(qtbot: QtBot, filled: Stage) -> None:
    filled.pane.head.words.setText("W_ALIAS_USED")
    filled.pane.details.fix_all.click()
    qtbot.waitUntil(lambda: bool(filled.pane.findChildren(FixDialog)))
    assert [repair.filename for repair in dialog_of(filled.pane).repairs] == ["Buoy.md"]
    dialog_of(filled.pane).reject()
    filled.pane.head.words.setText("K01")
    assert not filled.pane.details.fix_all.isEnabled()


def test_unsaved_text_is_checked_instead(qtbot: QtBot, filled: Stage, tmp_path: Path) -> None:
    filled.drafts.keep(tmp_path / "messy" / "Anchor.md", Draft(note("keys: [anchor]"), "digest"))
    assert filled.pane.looking
    filled.settle(qtbot)
    assert "G01" not in filled.codes


def test_the_chosen_finding_stays_chosen(qtbot: QtBot, filled: Stage) -> None:
    filled.choose("P59")
    filled.settle(qtbot)
    chosen = filled.pane.chosen()
    assert chosen is not None
    assert chosen.code == "P59"


def test_looking_again_leaves_the_rows_as_they_are_where_nothing_changed(
    qtbot: QtBot, filled: Stage, tmp_path: Path
) -> None:
    top = filled.pane.model.index(0, 0)
    filled.pane.tree.collapse(top)
    filled.settle(qtbot)
    assert not filled.pane.tree.isExpanded(filled.pane.model.index(0, 0))
    (tmp_path / "messy" / "Anchor.md").write_text(MESSY["Anchor"].replace("Nobody", "Somebody"), encoding="utf-8")
    filled.session.set_project(open_project([tmp_path / "messy"]))
    filled.settle(qtbot)
    assert any("Somebody" in item.message for item in filled.pane.model.findings())
    assert filled.pane.tree.isExpanded(filled.pane.model.index(0, 0))


def test_a_newer_look_takes_the_place_of_one_under_way(qtbot: QtBot, stage: Stage, messy: Project) -> None:
    stage.session.set_project(messy)
    stage.pane.look()
    stage.pane.look()
    stage.settle(qtbot)
    assert stage.counts[-1] == (1, 2)


def test_a_failure_is_told(qtbot: QtBot, filled: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is on fire")

    monkeypatch.setattr(filled.pane.finder, "find", fail)
    filled.settle(qtbot)
    assert filled.pane.head.told.text() == "The checks failed: the disk is on fire"
    assert "G01" in filled.codes


def test_a_stop_is_no_failure(qtbot: QtBot, filled: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_project: object, _traces: object, _drafts: object, _far: object, token: CancelToken, _by: object) -> None:
        token.cancel()
        raise Cancelled

    monkeypatch.setattr(filled.pane.finder, "find", stop)
    filled.settle(qtbot)
    assert "failed" not in filled.pane.head.told.text()


def test_a_flat_pane_puts_the_explanation_beside_the_tree(filled: Stage) -> None:
    pane = filled.pane
    pane.show()
    for size in ((700, 400), (430, 200)):  # the other has no room below
        pane.resize(*size)
        assert pane.splitter.orientation() is Qt.Orientation.Horizontal
    for size in ((400, 600), (430, 300)):  # neither could be read beside each other
        pane.resize(*size)
        assert pane.splitter.orientation() is Qt.Orientation.Vertical
    pane.hide()


def test_everything_has_a_name(filled: Stage) -> None:
    pane = filled.pane
    for widget in (pane.tree, pane.head.words, pane.head.severity, pane.details.browser):
        assert widget.accessibleName()
    assert pane.focus_target() is pane.tree
    assert pane.open_search()


def test_the_window_has_the_pane_and_counts(
    qtbot: QtBot, make_window: Callable[..., MainWindow], messy: Project
) -> None:
    window = make_window(messy, replay=False)
    qtbot.waitUntil(lambda: not window.problems.looking and window.session.jobs.idle)
    assert window.status.problems.text() == "1 error, 2 warnings"
    window.status.problems.click()
    assert window.docks["problems"].isVisible()
    assert window.commands.actions["pane.problems"].text() == "Problems"


def test_the_window_closes_while_it_looks(make_window: Callable[..., MainWindow], messy: Project) -> None:
    window = make_window(messy, replay=False)
    window.problems.look()
    window.close()
    assert not window.problems.looking or window.session.jobs.wait(60_000)


BOOK = """{"entries": {
  "0": {"uid": 0, "comment": "Bell", "key": ["bell",  "bell"], "position": 0, "order": 100, "content": ""},
  "3": {"uid": 3, "comment": "Gate", "key": ["gate"], "position": 0, "order": 1e2, "content": "It opens.",
        "keysecondary": ["oak"], "selective": false},
  "4": {"uid": 4, "comment": "Weight", "key": ["/(/"], "position": 0, "order": 90, "content": "It is heavy."}
}}"""


@pytest.fixture
def of_book(qtbot: QtBot, make_window: Callable[..., MainWindow], tmp_path: Path) -> MainWindow:
    book = tmp_path / "Book.json"
    book.write_text(BOOK, encoding="utf-8")
    window = make_window(open_project([book]), replay=False)
    window.keep_notes_safe(tmp_path / "kept")
    qtbot.waitUntil(lambda: not window.problems.looking and window.session.jobs.idle)
    window.run("pane.problems")
    window.problems.head.severity.setCurrentIndex(0)
    return window


def choose_in(window: MainWindow, code: str) -> Finding:
    pane = window.problems
    finding = next(item for item in pane.model.findings() if item.code == code)
    pane.choose(finding)
    return finding


def test_of_a_lorebook_the_problems_are_counted_and_named_after_entries(of_book: MainWindow) -> None:
    assert of_book.status.problems.text() == "0 errors, 3 warnings"
    assert of_book.problems.head.told.text() == "0 errors, 3 warnings, 1 remark."
    top = of_book.problems.model.root.children[0]
    assert [node.title for node in top.children] == ["Bell", "Gate", "Weight"]


@pytest.mark.always
def test_a_finding_of_an_entry_leads_to_its_field_or_its_text(of_book: MainWindow) -> None:
    for code, title, field in (("W58", "Gate", "selective"), ("W56", "Weight", "key")):
        choose_in(of_book, code)
        QTest.keyClick(of_book.problems.tree, Qt.Key.Key_Return)
        settle(of_book)
        pane = of_book.features.notes.pane
        assert of_book.session.entry(of_book.selection.entry).title == title
        row = pane.editor.form.row(field)
        assert row is not None
        assert row.isAncestorOf(QApplication.focusWidget())
    choose_in(of_book, "W65")
    QTest.keyClick(of_book.problems.tree, Qt.Key.Key_Return)
    settle(of_book)
    assert QApplication.focusWidget() is of_book.features.notes.pane.editor.body


@pytest.mark.always
def test_fixes_of_entries_are_seen_made_in_the_book_and_taken_back(of_book: MainWindow, tmp_path: Path) -> None:
    pane, book = of_book.problems, tmp_path / "Book.json"
    choose_in(of_book, "W58")
    pane.details.fix.click()
    dialog = pane.findChildren(FixDialog)[-1]
    assert "Gate" in dialog.browser.toPlainText()
    dialog.accept()
    settle(of_book)
    mended = BOOK.replace('"selective": false', '"selective": true')
    assert book.read_text(encoding="utf-8") == mended
    pane.details.fix_all.click()
    settle(of_book)
    pane.findChildren(FixDialog)[-1].accept()
    settle(of_book)
    assert book.read_text(encoding="utf-8") == mended.replace('["bell",  "bell"]', '["bell"]')
    for _ in range(2):
        of_book.run("vault.undo")
        settle(of_book)
    assert book.read_text(encoding="utf-8") == BOOK


def test_the_settings_of_world_info_that_are_chosen_count(qtbot: QtBot, of_book: MainWindow) -> None:
    session = of_book.session
    session.replays.configure({session.choice.system: WorldInfoSettings(world_info_budget_cap=1)})
    settle(of_book)
    qtbot.waitUntil(lambda: not of_book.problems.looking and session.jobs.idle)
    assert "W72" in {item.code for item in of_book.problems.model.findings()}


def test_keys_are_looked_at_as_the_chosen_system_searches_them(qtbot: QtBot, stage: Stage, tmp_path: Path) -> None:
    stage.session.set_project(project_of(tmp_path, {"Lamp": note("keys: [/l.mp/]")}))
    stage.settle(qtbot)
    assert "K55" in stage.codes
    stage.session.replays.choose(system="world-info")
    stage.settle(qtbot)
    assert "K55" not in stage.codes


def test_an_empty_tree_has_no_rows() -> None:
    model = ProblemTree()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert model.rowCount() == 0
    assert model.data(QModelIndex()) is None


def test_what_a_filter_looks_in_takes_a_byte_a_letter() -> None:
    told = "\u201cPlace\u201d is \ud800. " * 100  # the quotation marks make four bytes of two letters
    finding, model = Finding("K01", Severity.INFO, "v", "n.md", 1, "keys", 1, told, ""), ProblemTree()
    assert sys.getsizeof(search_text(finding)) < 2300
    model.set_findings([finding])
    for words, shown in (("\ud800 \u201cplace\u201d", 1), ("\ud801", 0)):
        model.set_filter(words, Severity.INFO)
        assert model.shown == shown


def test_of_very_many_findings_the_first_have_rows_and_a_filter_finds_the_others() -> None:
    findings = [
        Finding(f"K{place:02}", Severity.INFO, "v", f"n{place}.md", place, "keys", 1, f"number {place}.", "")
        for place in range(MOST + 5)
    ]
    model = ProblemTree()
    model.set_findings(findings)
    assert model.shown == MOST + 5
    top = model.index(0, 0)
    assert top.data(DISPLAY) == "Remarks   2,005"
    assert model.rowCount(top) == MOST + 1
    assert model.index(MOST, 0, top).data(DISPLAY) == "5 more; filter to see them"
    model.set_filter(f"number {MOST + 4}.", Severity.INFO)
    assert [finding.entry for finding in model.findings()] == [MOST + 4]
    model.set_filter("", Severity.WARNING)
    assert model.rowCount() == 0


@pytest.mark.parametrize(
    ("least", "shown"),
    [
        (Severity.ERROR, ["Errors   1"]),
        (Severity.WARNING, ["Errors   1", "Warnings   2"]),
        (Severity.INFO, ["Errors   1", "Warnings   2", "Remarks   1"]),
    ],
)
def test_each_severity_has_its_own_findings_from_the_least_that_is_wanted(least: Severity, shown: list[str]) -> None:
    found = [
        Finding("G01", Severity.ERROR, "v", "a.md", 1, "keys", 3, "first.", ""),
        Finding("P59", Severity.WARNING, "v", "b.md", 2, "keys", None, "second.", ""),
        Finding("P59", Severity.WARNING, "v", "c.md", 3, "keys", 5, "third.", ""),
        Finding("K20", Severity.INFO, "v", "d.md", 4, "keys", 6, "fourth.", ""),
    ]
    model = ProblemTree()
    model.set_findings(found)
    model.set_filter("", least)
    tops = [model.index(row, 0) for row in range(model.rowCount())]
    assert [top.data(DISPLAY) for top in tops] == shown
    assert list(model.findings()) == [each for each in found if each.severity.rank <= least.rank]
    assert tops[0].data(ACCESSIBLE_TEXT) == "Errors: 1 finding"
    if least is not Severity.ERROR:
        without_line = model.index(0, 0, model.index(0, 0, tops[1]))
        assert without_line.siblingAtColumn(1).data(DISPLAY) == "keys"
    apart = replace(found[0], filename="Cafe\u0301.md")
    model.set_findings([apart, *found[1:]])
    model.set_filter("Caf\u00e9", least)
    assert list(model.findings()) == [apart]
    model.set_filter("", least)
    model.set_findings(found[:1])
    assert model.rowCount() == 1, "a severity without findings has no row"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("“a.md” has no text.", "Has no text."),
        ("“a.mdx” has no text.", "“a.mdx” has no text."),
        ("refine_keys is one key.", "refine_keys is one key."),
        ("The title “a.md” is a line of code.", "The title “a.md” is a line of code."),
    ],
)
def test_a_row_does_not_name_the_note_that_the_row_above_names(message: str, shown: str) -> None:
    model = ProblemTree()
    model.set_findings([Finding("E02", Severity.ERROR, "v", "a.md", 1, "body", 3, message, "")])
    row = model.index(0, 0, model.index(0, 0, model.index(0, 0)))
    assert row.data(DISPLAY) == shown
    assert row.data(ACCESSIBLE_TEXT) == f"error: {message} line 3"


def test_a_finding_is_found_again_by_what_it_says() -> None:
    """Its number and line may be others after the next look."""
    one = Finding("G01", Severity.ERROR, "v", "a.md", 1, "keys", 3, "first.", "")
    two = Finding("G01", Severity.ERROR, "v", "a.md", 1, "keys", 4, "second.", "")
    moved = Finding("G01", Severity.ERROR, "v", "a.md", 9, "keys", 8, "second.", "")
    model = ProblemTree()
    model.set_findings([one, two])
    assert model.index_of_finding(moved).data(DISPLAY) == "second."
    for gone in (None, Finding("P59", Severity.ERROR, "v", "a.md", 1, "keys", 4, "second.", "")):
        assert not model.index_of_finding(gone).isValid()


def test_a_row_says_its_advice_and_leads_to_its_entry(filled: Stage) -> None:
    model = filled.pane.model
    rows = [model.index_of_finding(finding) for finding in filled.pane.problems.findings]
    assert [row.data(ACCESSIBLE_DESCRIPTION) for row in rows] == [
        finding.advice for finding in filled.pane.problems.findings
    ]
    assert any(row.data(ACCESSIBLE_DESCRIPTION) for row in rows)
    head = model.index(0, 0)
    assert (head.data(ACCESSIBLE_DESCRIPTION) or "", head.data(ENTRY_ID)) == ("", None)


def test_while_fixes_are_worked_out_they_cannot_be_asked_for_again(qtbot: QtBot, filled: Stage) -> None:
    button = filled.pane.details.fix_all
    assert button.isEnabled()
    button.click()
    assert not button.isEnabled()
    filled.pane.fix_all()  # as from the menu
    qtbot.waitUntil(lambda: filled.session.jobs.idle)
    assert button.isEnabled()
    (dialog,) = filled.pane.findChildren(FixDialog)
    dialog.accept()
    assert len(filled.fixes) == 1


def test_working_out_fixes_can_be_stopped_and_begun_again(qtbot: QtBot, filled: Stage) -> None:
    pane, told = filled.pane, filled.pane.head.told.text()
    pane.fix_all()
    pane.stop()
    qtbot.waitUntil(lambda: filled.session.jobs.idle)
    qtbot.waitUntil(pane.details.fix_all.isEnabled)
    assert not pane.findChildren(FixDialog)
    assert (pane.looking, pane.head.told.text()) == (False, told)
    pane.fix_all()
    qtbot.waitUntil(lambda: bool(pane.findChildren(FixDialog)))


def test_it_looks_again_once_a_replay_has_ended_and_only_then(
    qtbot: QtBot, filled: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane, session = filled.pane, filled.session
    session.state_changed.emit()
    pane._settle.stop()
    session.state_changed.emit()
    assert not pane._settle.isActive(), "nothing was run since"
    monkeypatch.setattr(session.runs, "traces", dict.fromkeys(range(3)))
    monkeypatch.setattr(type(session), "busy", True)
    session.state_changed.emit()
    assert not pane._settle.isActive(), "a replay is under way"
    monkeypatch.setattr(type(session), "busy", False)
    session.state_changed.emit()
    assert pane._settle.isActive()
    pane._settle.stop()
    session.state_changed.emit()
    assert not pane._settle.isActive()
    session.choice_changed.emit()
    session.state_changed.emit()  # the replay by that choice has not begun
    pane._settle.stop()
    for busy in (True, False):  # its runs are as many as before
        monkeypatch.setattr(type(session), "busy", busy)
        session.state_changed.emit()
        assert pane._settle.isActive() is not busy


@pytest.mark.parametrize("ready", [False, True], ids=["under way", "ready, but not shown yet"])
def test_what_is_stopped_finds_nothing(qtbot: QtBot, stage: Stage, messy: Project, *, ready: bool) -> None:
    stage.session.set_project(messy)
    stage.pane.look()
    if ready:
        assert stage.session.jobs.wait()
    assert not stage.session.jobs.idle
    stage.pane.stop()
    qtbot.waitUntil(lambda: stage.session.jobs.idle)
    drain()
    assert (stage.pane.problems, stage.counts) == (None, [])
    stage.settle(qtbot)
    assert stage.pane.problems is not None


def test_what_is_found_in_a_vault_that_was_left_is_not_shown(
    qtbot: QtBot, stage: Stage, messy: Project, tmp_path: Path
) -> None:
    stage.session.set_project(messy)
    stage.pane.look()
    assert stage.session.jobs.wait()  # it is found, and nobody has heard of that yet
    stage.session.set_project(project_of(tmp_path / "sound", {"A": note("keys: [harbour]")}))
    qtbot.waitUntil(lambda: stage.session.jobs.idle)
    stage.settle(qtbot)
    assert set(stage.counts) == {(0, 0)}


# ---- what is said and drawn -----------------------------------------------------------------------------------------


def test_each_kind_of_row_has_its_sign(filled: Stage) -> None:
    model = filled.pane.model

    def signs(index: QModelIndex) -> list[tuple[str, str]]:
        return [(each.icon, each.tone) for each in index.data(LOOK).strips[0].left if isinstance(each, Glyph)]

    for row, sign in enumerate((("error", "error"), ("warning", "warning"), ("info", "neutral"))):
        top = model.index(row, 0)
        note = model.index(0, 0, top)
        leaf = model.index(0, 0, note)
        assert (signs(top), signs(note), signs(leaf)) == ([sign], [], [sign])


def test_a_finding_has_the_width_of_the_pane_and_its_place_behind_it(stage: Stage) -> None:
    """A column as wide as paths are stood beside them, and of most findings the end could not be read."""
    pane = stage.pane
    message = "Requires “The Lantern of the Outer Harbour”, which no entry is called"
    pane.model.set_findings((Finding("x", Severity.ERROR, "v", "places/Quay.md", None, "", 12, message, ""),))
    pane.tree.expandAll()
    pane.pages.setCurrentWidget(pane.splitter)
    pane.resize(560, 600)
    pane.show()
    drain()
    assert words_drawn(pane.tree) == ["Errors   1", "places/Quay.md   1", "line 12", message]
    assert pane.model.texts(list(pane.model.root.below()))[-1] == [message, "line 12"], "also who copies it has both"


def test_an_explanation_has_the_colours_of_the_theme(filled: Stage, theme: Theme) -> None:
    dark, light = (load_palettes()[name].text_muted.lower() for name in ("dark", "light"))
    said = filled.pane.details.browser
    assert light in said.toHtml()
    theme.palette = load_palettes()["dark"]
    theme.changed.emit()
    assert dark in said.toHtml()
    assert light not in said.toHtml()


def test_an_explanation_has_all_that_is_known_of_a_finding(filled: Stage) -> None:
    browser = filled.pane.details.browser
    finding = (
        filled.choose("requires-missing") if "requires-missing" in filled.codes else filled.choose(filled.codes[0])
    )
    text = browser.toPlainText()
    assert finding.message in text
    assert f"{finding.filename}:{finding.line}" in text if finding.line else finding.filename in text
    assert text.splitlines()[-1].split(" · ")[0] == finding.code
    assert ("To do:" in text) == bool(finding.advice)
    filled.pane.tree.setCurrentIndex(QModelIndex())
    assert browser.toPlainText() == "Choose a problem to read what it means. Enter goes to the note."


def test_a_fix_says_whether_it_is_meant_for_sure(filled: Stage) -> None:
    seen = set()
    for finding in list(filled.pane.model.findings()):
        filled.pane.choose(finding)
        text = filled.pane.details.browser.toPlainText()
        if finding.fix is None:
            assert "fix" not in text.split("\n")[-2].casefold() or not text.count("Fix:")
        else:
            assert ("Fix:" in text) == finding.fix.safe
            assert ("Possible fix, if that is what you meant:" in text) != finding.fix.safe
            seen.add(finding.fix.safe)
        assert filled.pane.details.fix.isEnabled() == (finding.fix is not None)
    assert True in seen


def test_all_differences_are_shown_before_a_fix_is_wanted(theme: Theme, qtbot: QtBot) -> None:
    def repair(place: int) -> Repair:
        return Repair("vault", f"{place}.md", "one\ntwo <b>\n", "one\nthree\n", ("Write it right", "Write it right"))

    one_more = FixDialog(tuple(repair(place) for place in range(SHOWN_NOTES + 1)), theme, None)
    qtbot.addWidget(one_more)
    assert "And 1 more note." in one_more.findChild(QTextBrowser).toPlainText()
    dialog = FixDialog(tuple(repair(place) for place in range(SHOWN_NOTES + 2)), theme, None)
    qtbot.addWidget(dialog)
    text = dialog.findChild(QTextBrowser).toPlainText()
    assert text.count("Write it right") == SHOWN_NOTES
    assert "two <b>" in text.replace("\xa0", " ")
    assert "And 2 more notes." in text
    html = dialog._body()
    palette = theme.palette
    assert html.count(f"bgcolor='{palette.good_soft}' style='color:{palette.good}'>+") == SHOWN_NOTES
    assert html.count(f"bgcolor='{palette.error_soft}' style='color:{palette.error}'>-") == SHOWN_NOTES
    assert f"bgcolor='{palette.panel}' style='color:{palette.text_faint}'>&nbsp;one" in html
    few = FixDialog((repair(0),), theme, None)
    qtbot.addWidget(few)
    assert "more notes" not in few.findChild(QTextBrowser).toPlainText()


def test_a_filter_that_hides_all_says_so(filled: Stage) -> None:
    pane = filled.pane
    pane.head.words.setText("nowhere to be found")
    assert (pane.empty.title.text(), pane.focus_target()) == ("Nothing found", pane.head.words)
    assert pane.empty.text.text() == "No problem has all these words and this severity."
    assert pane.head.told.text().endswith("; 0 shown.")
    (clear,) = pane.empty.page.findChildren(QPushButton)
    clear.click()
    assert pane.head.words.text() == ""
    assert pane.focus_target() is pane.tree
    assert not pane.head.told.text().startswith("5 shown")
    assert pane.open_search()


def test_the_note_of_the_title_counts_all_findings(qtbot: QtBot, stage: Stage, messy: Project) -> None:
    notes: list[str] = []
    stage.pane.note_changed.connect(notes.append)
    stage.session.set_project(messy)
    stage.settle(qtbot)
    assert notes[-1] == "5 findings"
    assert stage.counts == [(1, 2)]


def test_how_far_the_checks_are_is_said(stage: Stage) -> None:
    stage.pane._reported((3, 1200))
    assert stage.pane.head.told.text() == "Checking… 3 of 1,200 notes"


def test_a_note_that_is_no_entry_is_chosen_as_such(filled: Stage, tmp_path: Path) -> None:
    project = filled.session.project
    dock = next(item for item in project.index.left_out if item.filename == "Dock.md")
    others = (replace(dock, filename="Deck.md"), replace(dock, vault="elsewhere"), *project.index.left_out)
    filled.session.project = replace(project, index=replace(project.index, left_out=others))
    found = Finding("x", Severity.INFO, dock.vault, "Dock.md", None, "", 2, "It is none.", "")
    filled.pane.model.titles = filled.pane._title
    node = ProblemNode(found.message, found.severity, "", found)
    filled.pane.model.root.add(node)
    filled.pane._go(node)
    assert filled.selection.left_out == dock
    assert filled.jumps[-1] == (tmp_path / "messy" / "Dock.md", 2)


def test_a_finding_about_no_note_leads_to_no_file(filled: Stage) -> None:
    found = Finding("x", Severity.INFO, "", "", None, "", 0, "A setting.", "")
    node = ProblemNode(found.message, found.severity, "", found)
    filled.pane.model.root.add(node)
    filled.pane._go(node)
    filled.pane.tree.pressed.emit(ProblemNode("5 more; filter to see them", Severity.INFO))
    assert filled.jumps == []
    assert filled.pane._title(found) == "Settings, vault and chat"


def test_of_very_many_findings_the_notes_of_the_worst_are_seen(theme: Theme, stage: Stage) -> None:
    """A vault of a thousand notes showed one closed row, and said that 635 were shown."""
    model, tree = stage.pane.model, stage.pane.tree
    for amount, wholly in ((OPEN_UP_TO, True), (OPEN_UP_TO + 1, False)):
        model.set_findings([
            Finding("x", severity, "v", "a.md", None, "", 0, f"It is {place}.", "")
            for severity in (Severity.WARNING, Severity.INFO) for place in range(amount)
        ])  # fmt: skip
        model.set_filter("", Severity.INFO)
        tree.collapseAll()
        stage.pane._open()
        worst, other = model.index(0, 0), model.index(1, 0)
        assert (tree.isExpanded(worst), tree.isExpanded(other)) == (True, wholly)
        assert tree.isExpanded(model.index(0, 0, worst)) is wholly


def test_fixes_that_are_gone_meanwhile_are_told(filled: Stage) -> None:
    filled.pane._worked_out(())
    assert filled.pane.head.told.text() == "There is nothing left that can be fixed safely."
    assert filled.pane.details.fix_all.isEnabled()
    assert filled.pane.findChildren(FixDialog) == []


@pytest.mark.long
def test_of_the_runs_of_a_former_system_nothing_is_told(
    qtbot: QtBot, make_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    """World Info brings in no blocked note; recaps know no notes at all."""
    window = make_window(demo_project(tmp_path / "demo"), make_simulator=Simulator)
    for system, told in (("world-info", True), ("recap", False)):
        window.run(f"system.{system}")
        qtbot.waitUntil(lambda: window.session.busy)
        window.problems.look()  # as when the pause ends in the midst of the replay
        settle(window)
        qtbot.waitUntil(lambda: not window.problems.looking)
        shown = [each.message for each in window.problems.problems.findings if each.severity is Severity.WARNING]
        assert any("never went in" in each for each in shown) is told, system


def test_the_menu_of_a_row_is_about_its_note_and_has_its_fixes(filled: Stage) -> None:
    pane = filled.pane
    pane.show()
    fixable = next(item for item in pane.model.findings() if item.fix is not None and item.fix.safe and item.entry)
    other = next(item for item in pane.model.findings() if item.fix is None and item.entry not in {None, fixable.entry})
    for finding, can in ((fixable, ["Fix…"]), (other, [])):
        pane.choose(finding)
        menu = menu_of_row(pane.tree, pane.model.index_of_finding(finding))
        assert titles_of(menu, enabled=True) == ["Go to the note", *can, "Fix all safe…", "Copy", "Choose all"]
        assert filled.selection.entry == finding.entry
        menu.actions()[0].trigger()
        menu.close()
        assert filled.jumps.pop()[0].name == finding.filename
    menu = menu_of_row(pane.tree, pane.model.index(0, 0))
    assert "Go to the note" not in titles_of(menu, enabled=True)
    menu.close()


def test_while_the_checks_run_no_fix_is_worked_out(qtbot: QtBot, filled: Stage) -> None:
    pane, fixes = filled.pane, filled.pane.details
    fixable = next(item for item in pane.model.findings() if item.fix is not None and item.fix.safe)
    pane.choose(fixable)
    assert (fixes.fix.isEnabled(), fixes.fix_all.isEnabled()) == (True, True)
    pane.look()
    pane.choose(next(item for item in pane.model.findings() if item is not fixable))
    pane.choose(fixable)
    wait = "Wait until the notes are checked and the fixes worked out."
    for button in (fixes.fix, fixes.fix_all):
        assert (button.isEnabled(), button.toolTip().split("\n")[-1]) == (False, wait)
    pane.fix_all()
    assert not pane._fixing, "the texts that it would work with are being read again"
    filled.settle(qtbot)
    assert (fixes.fix.isEnabled(), fixes.fix_all.isEnabled()) == (True, True)
    assert pane.findChildren(FixDialog) == []
