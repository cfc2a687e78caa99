"""Every action of the window, as people know it: name, place in the menus, keys, and when it can be used."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QMenu,
    QMenuBar,
    QTabBar,
    QToolButton,
    QWidget,
)

from lorestudio import ui
from lorestudio.domain.chat import Generation
from lorestudio.domain.state import ChatControls
from lorestudio.ui.shell.actions import always
from lorestudio.ui.widgets.layouts import able, button
from tests.ui.conftest import drain, settle
from tests.ui.worlds import CROWN, make_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from lorestudio.ui.shell.main_window import MainWindow

UI = Path(ui.__file__).parent
EXPECTED = json.loads(Path(__file__).with_name("action_table.json").read_text(encoding="utf-8"))


def actions_of(window: MainWindow) -> dict[str, list[Any]]:
    """Title, tip but for why it is grey, whether it has a tick and an icon, where its keys work, and the keys."""
    return {
        name: [
            action.text(), action.toolTip().partition("\n")[0], action.isCheckable(), not action.icon().isNull(),
            action.shortcutContext().name,
            *(key.toString(QKeySequence.SequenceFormat.PortableText) for key in action.shortcuts()),
        ]
        for name, action in sorted(window.commands.actions.items())
    }  # fmt: skip


def lines_of(menu: QMenu) -> list[Any]:
    """Ids, "-" for a line that is seen, and submenus under their titles."""
    found: list[Any] = []
    for action in menu.actions():
        below = action.menu()
        if action.isSeparator():
            if found and found[-1] != "-":
                found.append("-")
        elif isinstance(below, QMenu):
            found.append({action.text(): lines_of(below)})
        else:
            found.append(action.objectName())
    return found


def menus_of(window: MainWindow) -> dict[str, list[Any]]:
    bar = window.findChild(QMenuBar).actions()
    return {action.text(): lines_of(below) for action in bar if isinstance(below := action.menu(), QMenu)}


def usable(window: MainWindow) -> list[str]:
    window.update_actions()
    return sorted(name for name, action in window.commands.actions.items() if action.isEnabled())


def ticked(window: MainWindow) -> list[str]:
    window.update_actions()
    return sorted(name for name, action in window.commands.actions.items() if action.isChecked())


# ---- situations -----------------------------------------------------------------------------------------------------


def _nothing(_window: MainWindow, _folder: Path) -> None:
    """No project is open."""


def _no_chat(window: MainWindow, folder: Path) -> None:
    window.session.set_project(make_project(folder / "vault", chat=False))


def _replayed(window: MainWindow, folder: Path) -> None:
    window.session.set_project(make_project(folder / "vault"))


def _entry_chosen(window: MainWindow, folder: Path) -> None:
    _replayed(window, folder)
    settle(window)
    window.chat.show_generation(Generation(2, 0))
    window.selection.choose_entry(CROWN)


def _notes_kept(window: MainWindow, folder: Path) -> None:
    window.keep_notes_safe(folder / "notes")
    _entry_chosen(window, folder)


def _adjusted(window: MainWindow, folder: Path) -> None:
    _replayed(window, folder)
    settle(window)
    window.session.parts.adjust("a character", controls=ChatControls(character="Ilse"))
    settle(window)
    window.run("compare.mark")


def _taken_back(window: MainWindow, folder: Path) -> None:
    _adjusted(window, folder)
    window.session.parts.undo()


def _unsaved(window: MainWindow, folder: Path) -> None:
    _entry_chosen(window, folder)
    settle(window)
    window.entry.source.insertPlainText("Otherwise.\n")


def _reading(window: MainWindow, folder: Path) -> None:
    _replayed(window, folder)
    settle(window)
    window.session.set_activity("Reading…")


def _another_system(window: MainWindow, folder: Path) -> None:
    _replayed(window, folder)
    settle(window)
    window.run("system.world-info")


SITUATIONS: dict[str, Callable[[MainWindow, Path], None]] = {
    "nothing": _nothing,
    "no chat": _no_chat,
    "replayed": _replayed,
    "entry chosen": _entry_chosen,
    "notes kept": _notes_kept,
    "adjusted and marked": _adjusted,
    "taken back": _taken_back,
    "unsaved": _unsaved,
    "reading": _reading,
    "another system": _another_system,
}


def come_to(situation: str, window: MainWindow, folder: Path) -> None:
    SITUATIONS[situation](window, folder)
    if situation == "reading":
        drain()
    else:
        settle(window)


def test_every_action_is_called_and_reached_as_ever(make_window) -> None:
    assert actions_of(make_window()) == EXPECTED["actions"]


def test_the_menus_stand_as_ever(make_window) -> None:
    assert menus_of(make_window()) == EXPECTED["menus"]


@pytest.mark.long
@pytest.mark.parametrize("situation", SITUATIONS)
def test_what_can_be_done_depends_on_the_situation(situation: str, make_window, tmp_path: Path) -> None:
    window = make_window()
    come_to(situation, window, tmp_path)
    known = EXPECTED["situations"][situation]
    assert (usable(window), ticked(window)) == (known["usable"], known["ticked"])
    if situation == "reading":
        window.session.set_activity("")


def test_what_can_be_done_follows_whatever_is_chosen(share_window) -> None:
    window = share_window(make_project)
    selection = window.context.selection
    selection.choose_message(None, None)
    known = set()
    for choose in (
        lambda: selection.choose_entry(CROWN), lambda: selection.choose_message(2, Generation(2, 0)),
        lambda: selection.choose_entry(None), lambda: selection.choose_message(None, None),
    ):  # fmt: skip
        choose()
        settle(window)
        seen = sorted(name for name, action in window.commands.actions.items() if action.isEnabled())
        assert seen == usable(window), "without being asked to look"
        known.add(tuple(seen))
    assert len(known) == 4


def reason(words: str, tip: str) -> str:
    """What a tooltip says besides what is always there."""
    return words.removeprefix(tip).strip()


def test_every_action_that_can_be_grey_says_what_it_needs(share_window) -> None:
    table = share_window(make_project).commands.table.values()
    assert [each.id for each in table if each.when is not always and not each.when.why] == []
    needs = [each for each in table if each.when is not always]
    assert len(needs) > 150
    assert {each.id for each in needs if not each.when.why.endswith((".", "first"))} == set()


def says_why(button: QAbstractButton) -> bool:
    """Whether a grey button tells the reason; that of an action says it as the action does."""
    action = button.defaultAction() if isinstance(button, QToolButton) else None
    return bool(button.property("whyNot")) or (action is not None and "\n" in action.toolTip())


def of_the_program(button: QAbstractButton) -> bool:
    """Whether Qt has not made the button for itself: a corner, an arrow of tabs, the cross of a field."""
    action = button.defaultAction() if isinstance(button, QToolButton) else None
    inside = isinstance(button.parent(), QTabBar | QAbstractItemView | QLineEdit)
    return not inside and (action is None or not action.objectName().startswith("_q_"))


@pytest.mark.long
@pytest.mark.parametrize("situation", SITUATIONS)
def test_whatever_is_grey_says_why(situation: str, make_window, tmp_path: Path) -> None:
    window = make_window()
    for dock in window.context.layout.docks.values():
        dock.planned.pane()
    come_to(situation, window, tmp_path)
    window.update_actions()
    commands = window.commands
    grey = {name: made for name, made in commands.actions.items() if made.isVisible() and not made.isEnabled()}
    assert len(grey) > 20
    assert {
        name for name, made in grey.items() if not reason(made.toolTip(), commands.tip(commands.table[name]))
    } == set()
    buttons = [each for each in window.findChildren(QAbstractButton) if not each.isEnabled() and of_the_program(each)]
    assert len(buttons) > 20
    assert {each.text() or each.accessibleName() for each in buttons if not says_why(each)} == set()
    greyed = [each for each in window.findChildren(QWidget) if each.testAttribute(Qt.WidgetAttribute.WA_ForceDisabled)]
    others = [each for each in greyed if isinstance(each, QComboBox | QAbstractItemView | QLineEdit | QAbstractSpinBox)]
    assert {each.accessibleName() or str(each) for each in others if not each.property("whyNot")} == set()
    if situation == "reading":
        window.session.set_activity("")


def test_nothing_of_a_pane_or_a_dialog_is_greyed_without_a_word() -> None:
    """Also of dialogs, which `test_whatever_is_grey_says_why` does not open."""
    silent, known = set(), 0
    for path in UI.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        known += len(re.findall(r"\bable\(", text))
        silent |= {f"{path.name}: {name}" for name in re.findall(r"([\w.\[\]]+)\.setEnabled\(", text)}
    assert known > 100
    assert silent == {
        "layouts.py: widget",  # of `able` itself
        "layout.py: layout", "app.py: notifier",  # nothing that is seen
        "actions.py: made", "actions.py: self.actions[action.id]",  # which say what they need
        "rows.py: made",  # as its button is, whose tooltip it has
        "record_table.py: action",  # the first column, which is always in sight
        "detail.py: self.accept",  # its tooltip is the problem of the proposal
        "dialogs.py: self.outcome", "editor.py: self.result",  # texts of what was tried before
        "pane.py: self.modes",  # its buttons say so
    }  # fmt: skip


def test_a_button_says_no_more_why_not_once_it_can_be_pressed(share_window) -> None:
    made = button(share_window(make_project), "Count", tip="Count them")
    for why in ("Open a chat first.", "Wait."):
        able(made, False, why)
        assert (made.isEnabled(), made.toolTip()) == (False, f"Count them\n{why}")
    able(made, True, "Wait.")
    assert (made.isEnabled(), made.toolTip()) == (True, "Count them")
    made.deleteLater()


SAID_OTHERWISE = {"Connect a model", "Connect a model…", "Open a vault first.", "Take sentences", "Test a text"}
"""Words in whose place the name of what is done would say less."""


def offered() -> set[tuple[str, str]]:
    """The actions that the source names right before words, as buttons of messages, empty pages and bars have them."""
    named = re.compile(r"""["']([a-z_]+\.[a-z_.-]+)["'],\s*(?:tr\(\s*)?"([A-Z][^"]*)\"""")
    pairs = {each for path in UI.rglob("*.py") for each in named.findall(path.read_text(encoding="utf-8"))}
    return {(name, words) for name, words in pairs if name in EXPECTED["actions"] and words not in SAID_OTHERWISE}


def test_a_button_says_what_its_action_does() -> None:
    def stems(words: str) -> set[str]:
        return {each[:5].casefold() for each in re.findall("[A-Za-z]{3,}", words)}

    pairs = offered()
    assert len(pairs) > 200
    told = {name: f"{title} {tip}" for name, (title, tip, *_) in EXPECTED["actions"].items()}
    assert {(name, words) for name, words in pairs if stems(words).isdisjoint(stems(told[name]))} == set()
