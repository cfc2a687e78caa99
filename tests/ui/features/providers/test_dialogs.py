"""The behaviour switches and a question to the person alone: what is shown, and what they hand over."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QRadioButton, QScrollArea, QTabWidget, QWidget

from lorestudio.settings.behaviour import switches
from lorestudio.studio.project.answering import DRAFT, KEYS, PREFILTER, SUMMARY, ChatRequest, Question
from lorestudio.ui.features.providers.actions import BehaviourDialog
from lorestudio.ui.features.providers.question_dialog import SKELETON, QuestionDialog, Questions
from tests.ui.conftest import drain

NAMES = [switch.name for switch in switches()]


# ---- the switches ---------------------------------------------------------------------------------------------------


def ticked(dialog: BehaviourDialog) -> list[str]:
    return [each.accessibleName() for each in dialog.findChildren(QRadioButton) if each.isChecked()]


def press(dialog: QWidget, words: str) -> None:
    next(each for each in dialog.findChildren(QPushButton) if each.text().replace("&", "") == words).click()


def test_each_switch_is_as_deeplore_or_fixed_and_is_handed_over(qtbot) -> None:
    dialog = BehaviourDialog((NAMES[1],))
    qtbot.addWidget(dialog)
    accepted: list[Any] = []
    dialog.accepted_switches.connect(accepted.append)
    titles = [switch.title for switch in switches()]
    assert ticked(dialog) == [
        f"{title}: {'Fixed' if place == 1 else 'As DeepLore'}" for place, title in enumerate(titles)
    ]
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert f"{titles[0]}  ·  {switches()[0].affects[0]}" in texts
    assert any("\nFixed: " in text for text in texts)
    assert (dialog.fixed, dialog._told.text()) == ((NAMES[1],), "1 switch fixed")
    choice = next(each for each in dialog.findChildren(QRadioButton) if each.accessibleName() == f"{titles[0]}: Fixed")
    assert choice.accessibleDescription() == switches()[0].help
    choice.click()
    assert (dialog.fixed, dialog._told.text()) == ((NAMES[0], NAMES[1]), "2 switches fixed")
    press(dialog, "All fixed")
    assert dialog.fixed == tuple(NAMES)
    press(dialog, "All as DeepLore")
    assert (dialog.fixed, dialog._told.text()) == ((), "0 switches fixed")
    dialog.choose(NAMES[2], fixed=True)
    dialog.show()
    press(dialog, "Apply and replay")
    assert (accepted, dialog.isVisible()) == ([(NAMES[2],)], False)


@pytest.mark.dressed
def test_switches_of_a_narrow_dialog_have_titles_of_two_lines_and_nothing_is_cut(qtbot, theme) -> None:
    dialog = BehaviourDialog(())
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.resize(dialog.minimumSizeHint().width(), 500)
    drain()
    assert dialog.findChild(QScrollArea).horizontalScrollBar().maximum() == 0


# ---- questions ------------------------------------------------------------------------------------------------------


class Asked:
    """A question with what it was answered."""

    def __init__(self, kind: str = "search", suggestion: str = "") -> None:
        self.said: list[str | None] = []
        request = ChatRequest(kind, "Choose.", "Who circles?")
        self.question = Question(request, suggestion, self.said.append, lambda: None)


def shown(qtbot: Any, asked: Asked) -> QuestionDialog:
    dialog = QuestionDialog(asked.question, "Reply #2")
    qtbot.addWidget(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    return dialog


def test_buttons_hear_the_keys_that_their_tips_name(qtbot: Any) -> None:
    dialog = shown(qtbot, Asked(SUMMARY))
    tips = {each.toolTip(): each.shortcut().toString() for each in dialog.findChildren(QPushButton)}
    named = {tip: keys for tip, keys in tips.items() if "Ctrl+" in tip}
    assert len(named) == 2
    assert [tip for tip, keys in named.items() if not keys or keys not in tip] == []


@pytest.mark.parametrize(
    ("kind", "title", "begins", "label", "fallback"),
    [
        ("search", "Choose entries", SKELETON, "Your reply (JSON, or any text", "the pipeline takes its fallback"),
        (PREFILTER, "Choose categories", SKELETON, "Your reply (JSON", "the pipeline takes its fallback"),
        (SUMMARY, "Write a summary", "", "Your reply", "nothing comes of this question"),
        (KEYS, "Propose keys", '{"suggested"', "Your reply (JSON", "nothing comes of this question"),
        (DRAFT, "Draft a note", '{"title"', "Your reply (JSON", "nothing comes of this question"),
        ("recap", "Answer a question", "", "Your reply", "nothing comes of this question"),
    ],
)
def test_what_is_asked_and_how_an_answer_looks(
    qtbot, kind: str, title: str, begins: str, label: str, fallback: str
) -> None:
    dialog = shown(qtbot, Asked(kind))
    texts = [each.text() for each in dialog.findChildren(QLabel)]
    assert dialog.windowTitle() == title
    assert "Reply #2: you answer in place of the model." in texts
    assert any(text.startswith(label) for text in texts)
    assert any("(JSON" in text for text in texts) == (kind not in {SUMMARY, "recap"})
    assert dialog.reply.placeholderText().startswith(begins)
    assert (dialog.reply.placeholderText() == "") == (kind in {SUMMARY, "recap"})
    assert dialog.decline.toolTip() == f"Give no answer: {fallback} (Escape)"
    (tabs,) = dialog.findChildren(QTabWidget)
    pages = [(tabs.tabText(place), tabs.widget(place).toPlainText()) for place in range(2)]
    assert dialog.reply.tabChangesFocus()
    assert dialog.reply.font() == tabs.widget(0).font() != dialog.font()  # letters of one width
    assert pages == [("User message", "Who circles?"), ("System message", "Choose.")]


@pytest.mark.parametrize(
    ("kind", "text", "said", "able"),
    [
        ("search", " ", "Nothing is typed yet.", False),
        ("search", "[]", "Valid JSON.", True),
        ("search", "Skarn", "It is read as a model's text would be.", True),
        (SUMMARY, " a bell ", "6 characters", True),
    ],
)
def test_an_answer_is_looked_at_while_it_is_typed(qtbot, kind: str, text: str, said: str, able: bool) -> None:
    dialog = shown(qtbot, Asked(kind))
    assert (dialog.problem.text(), dialog.give.isEnabled(), dialog.suggest.isEnabled()) == (
        "Nothing is typed yet.", False, False,
    )  # fmt: skip
    dialog.reply.setPlainText(text)
    assert dialog.problem.text().endswith(said)
    assert dialog.give.isEnabled() == able


@pytest.mark.parametrize(
    ("suggestion", "text"),
    [
        ('[{"title":"Skarn"},{"title":"Ödland"}]', '[\n  {"title": "Skarn"},\n  {"title": "Ödland"}\n]'),
        ("[]", "[]"),
        ('{"a":1}', '{"a":1}'),
        ("It rings.", "It rings."),
    ],
)
def test_the_stand_ins_answer_is_a_beginning(qtbot, suggestion: str, text: str) -> None:
    asked = Asked(suggestion=suggestion)
    dialog = shown(qtbot, asked)
    dialog.suggest.click()
    assert dialog.reply.toPlainText() == text
    qtbot.waitUntil(dialog.reply.hasFocus)
    QTest.keyClick(dialog.reply, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: asked.said == [text])
    assert not dialog.isVisible()


def test_a_question_is_answered_once(qtbot) -> None:
    parent, first, second, third = QWidget(), Asked(), Asked(), Asked()
    qtbot.addWidget(parent)
    questions = Questions()
    questions.ask(first.question, "Reply #2", parent)
    assert questions.dialog is not None
    questions.withdraw(second.question)  # another one
    assert questions.dialog.isVisible()
    questions.dialog.decline.click()
    assert (first.said, questions.dialog) == ([None], None)
    questions.ask(second.question, "Reply #2", parent)
    kept = questions.dialog
    questions.ask(third.question, "Reply #4", parent)
    kept.reject()  # that of another
    assert (questions.dialog is not None, second.said) == (True, [None])
    questions.withdraw(third.question)
    assert (questions.dialog, third.said) == (None, [])
