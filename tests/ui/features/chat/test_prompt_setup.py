from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFormLayout, QLabel, QPlainTextEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.exchange.character_card import CardData, CharacterCard, GroupChat, GroupFields, Member
from lorestudio.exchange.chat_preset import parse_preset
from lorestudio.exchange.regex_scripts import RegexScript, RegexScripts
from lorestudio.studio.prompt.setup import MAIN_PROMPT, Persona, PromptSetup
from lorestudio.trace.model import RunOutcome, Trace, Turn
from lorestudio.trace.prompt import (
    AssembledMessage,
    AssembledPart,
    AssembledPrompt,
    Left,
    LeftOutPart,
    MessageRole,
    Origin,
    PromptOrigin,
    PromptSection,
)
from lorestudio.ui.features.chat.prompt_setup import PromptSetupDialog, script_words
from lorestudio.ui.features.trace.prompt_page import prompt_rows
from lorestudio.ui.shell.qt import TOOLTIP
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.cells import as_text
from tests.ui.conftest import menu_of_row


def preset(**fields: Any) -> Any:
    prompts = [
        {"identifier": "main", "content": " Write. \n", "system_prompt": True},
        {"identifier": "jailbreak", "content": "Now.", "system_prompt": True},
    ]
    return parse_preset(json.dumps({"prompts": prompts, **fields}).encode(), "Mine.json")


@pytest.fixture
def dialog(theme: Theme, qtbot: QtBot) -> PromptSetupDialog:
    made = PromptSetupDialog(theme, PromptSetup(persona=Persona("Quill")), "Wren", Path("inn.jsonl"))
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)  # the test deletes it
    qtbot.addWidget(made)
    return made


def test_what_was_changed_is_not_lost_without_a_question(dialog: PromptSetupDialog) -> None:
    assert dialog.lost() == ""
    dialog.persona.setPlainText("A keeper of lamps")
    assert dialog.lost() == "What you changed here would be lost."
    dialog.persona.clear()
    assert dialog.lost() == ""


def chosen(dialog: PromptSetupDialog) -> PromptSetup:
    found: list[Any] = []
    dialog.chosen.connect(found.append)
    dialog.accept()
    (setup,) = found
    assert isinstance(setup, PromptSetup)
    return setup


def test_nothing_changed_is_nothing_chosen(dialog: PromptSetupDialog) -> None:
    assert chosen(dialog) == PromptSetup(persona=Persona("Quill"))


def test_the_arrows_change_a_number_of_tokens_as_much_as_such_numbers_differ(dialog: PromptSetupDialog) -> None:
    fields = dialog.findChildren(QSpinBox)
    assert len(fields) == 2
    for field in fields:
        field.setValue(4096)
        QTest.keyClick(field, Qt.Key.Key_Up)
        assert (field.value(), field.text()) == (5120, "5,120 tokens")


def test_each_field_stands_beside_its_name(dialog: PromptSetupDialog) -> None:
    roles, found = QFormLayout.ItemRole, dict[str, QWidget]()
    for form in dialog.findChildren(QFormLayout):
        for row in range(form.rowCount()):
            name, field = form.itemAt(row, roles.LabelRole), form.itemAt(row, roles.FieldRole)
            if name is not None and field is not None:
                assert isinstance(name.widget(), QLabel)
                found[name.widget().text()] = field.widget()
    wanted = {
        "Character": dialog.card, "Group": dialog.group, "Speaks next": dialog.speaker, "Your name": dialog.name,
        "Your persona": dialog.persona, "Preset": dialog.preset, "Main prompt": dialog.main,
        "Post-history": dialog.post,
    }  # fmt: skip
    assert {name: found.get(name) for name in wanted} == wanted


def test_tab_leaves_every_field(dialog: PromptSetupDialog, qtbot: QtBot) -> None:
    dialog.show()
    fields = dialog.findChildren(QPlainTextEdit)
    assert len(fields) > 3
    for field in fields:
        page = next(place for place in range(4) if dialog.tabs.widget(place).isAncestorOf(field)
                    or dialog.tabs.widget(place) is field)  # fmt: skip
        dialog.tabs.setCurrentIndex(page)
        field.setFocus()
        qtbot.keyClick(field, Qt.Key.Key_Tab)
        assert "\t" not in field.toPlainText()
        assert dialog.focusWidget() is not field


def test_a_preset_fills_in_its_texts_and_sizes_which_may_be_changed(dialog: PromptSetupDialog) -> None:
    read = preset(openai_max_context=8192, openai_max_tokens=300, shiny=1)
    dialog.name.setText("Ada")
    dialog.take(read, Path("Mine.json"))
    assert (dialog.context.value(), dialog.reply.value(), dialog.post.toPlainText()) == (8192, 300, "Now.")
    assert dialog.name.text() == "Ada"
    assert "Mine (Mine.json)" in dialog.preset.label.text()
    assert dialog.tabs.tabText(3) == "Not followed (1)"
    assert "shiny" in dialog.remarks.toPlainText()
    dialog.post.setPlainText("Soon.")
    setup = chosen(dialog)
    assert (setup.preset, setup.main, setup.post_history) == (read, " Write. \n", "Soon.")


def test_without_the_preset_its_texts_are_gone(dialog: PromptSetupDialog) -> None:
    dialog.take(preset(openai_max_context=8192), Path("Mine.json"))
    dialog.preset.drop.click()
    assert chosen(dialog) == PromptSetup(persona=Persona("Quill"))


def test_an_empty_main_prompt_is_the_presets_or_the_usual_one(dialog: PromptSetupDialog) -> None:
    dialog.main.setPlainText("")
    assert dialog._current().main == MAIN_PROMPT
    dialog.take(preset(), Path("Mine.json"))
    dialog.main.setPlainText("")
    assert chosen(dialog).main == ""


def test_files_with_scripts_add_up_and_what_card_and_preset_bring_may_be_kept_out(dialog: PromptSetupDialog) -> None:
    one = RegexScript(name="Aside", find="/x/", placement=frozenset({1}), prompt_only=True, max_depth=4)
    own = RegexScripts((one.model_copy(update={"name": "Own"}),), ("It says so.",))
    assert not dialog.embedded.isEnabled()
    dialog.take(RegexScripts((one,)), Path("a.json"))
    dialog.take(RegexScripts((one.model_copy(update={"name": "Other"}),)), Path("b.json"))
    dialog.take(CharacterCard(CardData(name="Ada"), scripts=own), Path("ada.png"))
    assert dialog.script_rows.texts() == [
        ["Script", "From", "What it does here"],
        ["Aside", "a.json", "Changes your words to depth 4"],
        ["Other", "b.json", "Changes your words to depth 4"],
        ["Own", "Ada", "Changes your words to depth 4"],
    ]
    assert dialog.tabs.tabText(2) == "Regex scripts (3)"
    dialog.embedded.setChecked(False)
    assert dialog.script_rows.rowCount() == 2
    dialog.show()
    dialog.tabs.setCurrentIndex(2)
    dialog.scripts.setCurrentIndex(dialog.script_rows.index(0, 0))
    menu = menu_of_row(dialog.scripts, dialog.script_rows.index(0, 0))
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == as_text(dialog.script_rows.texts([0]))
    assert dialog.remarks.toPlainText().startswith("Everything")
    dialog.regex.drop.click()
    setup = chosen(dialog)
    assert (setup.regex, setup.regex_paths, setup.embedded_regex) == ((), (), False)


def test_of_a_group_one_may_be_chosen_to_speak(dialog: PromptSetupDialog) -> None:
    assert dialog.speaker.isHidden()
    group = GroupChat(GroupFields(members=("a.png", "b.png")), (Member("a.png"), Member("b.png")))
    dialog.take(group, Path("1.json"))
    assert not dialog.speaker.isHidden()
    assert "a, b: 2 members, the card of whoever speaks" in dialog.group.label.text()
    dialog.speaker.setCurrentIndex(2)
    setup = dialog._current()
    assert (setup.group, setup.speaker) == (group, "b")
    dialog.group.drop.click()
    assert chosen(dialog) == PromptSetup(persona=Persona("Quill"))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"disabled": True}, "Switched off"),
        ({"prompt_only": False}, "Changed the chat when it was written"),
        ({"prompt_only": False, "markdown_only": True}, "Only changes what is shown"),
        ({"placement": frozenset({6})}, "Changes nothing that a prompt has"),
        ({"placement": frozenset({1, 2})}, "Changes your words, the characters' words"),
        ({"min_depth": 2, "max_depth": 5}, "Changes your words from depth 2 to depth 5"),
    ],
)
def test_what_a_script_does_in_words(more: dict[str, Any], words: str) -> None:
    script = RegexScript(name="S", find="/x/", placement=frozenset({1}), prompt_only=True)
    assert script_words(script.model_copy(update=more)) == words


def test_the_prompt_says_who_changed_a_text_and_what_is_left_out() -> None:
    source = PromptOrigin(Origin.CHAT, "#1 Ada", message=1, changed_by=("Aside",))
    message = AssembledMessage(MessageRole.USER, "Hi", (AssembledPart(0, 2, source, 1),), PromptSection.HISTORY, 1)
    left = LeftOutPart(PromptOrigin(Origin.PRESET, "Style"), Left.SWITCHED_OFF, 3)
    prompt = AssembledPrompt((message,), (left,), remarks=("Slow.",), unknown_macros=("{{roll}}",))
    run = Trace("deeplore", "", RunOutcome.NOTHING_INJECTED, Turn(2, 0, 0), {}, 9, ())
    rows = prompt_rows(prompt, run)
    assert rows[1].title == "#1 Ada · changed by the regex script “Aside”"
    assert (rows[3].title, rows[3].origin, rows[3].lost) == ("Style", "preset", "not sent: switched off in the preset")
    assert [row.text for row in rows if row.remark and not row.head] == [
        "Slow.", "Only SillyTavern can fill in {{roll}}; they stay as they are.",
    ]  # fmt: skip
    assert {row.amount for row in rows if row.remark} == {""}
    assert [row.describe() for row in rows][-2:-1] == ["remark: Slow."]


def test_a_file_that_cannot_be_read_is_told_in_the_dialog_until_another_one_is_taken(dialog: PromptSetupDialog) -> None:
    dialog.refuse(ValueError("Misty.json: no valid JSON."))
    assert dialog.problem.isVisibleTo(dialog)
    assert dialog.problem.text() == "Misty.json: no valid JSON."
    dialog.take(preset(), Path("Mine.json"))
    assert not dialog.problem.isVisibleTo(dialog)


def test_a_script_whose_pattern_is_none_is_said_to_change_nothing() -> None:
    script = RegexScript(name="Bad", find="/(/g", placement=frozenset({1}), prompt_only=True)
    assert script_words(script) == "Changes nothing: its pattern cannot be read"


def test_scripts_of_the_settings_file_stand_first_unless_they_were_chosen(theme: Theme, qtbot: QtBot) -> None:
    one = RegexScript(name="Aside", find="/x/", placement=frozenset({1}), prompt_only=True)
    host = (Path("settings.json"), RegexScripts((one.model_copy(update={"name": "Global"}),)))
    made = PromptSetupDialog(theme, PromptSetup(), "Wren", host=host)
    qtbot.addWidget(made)

    def rows() -> list[tuple[str, str]]:
        return [(name, where) for name, where, _does in made.script_rows.texts()[1:]]

    assert rows() == [("Global", "settings.json")]
    assert [made.script_rows.index(0, column).data(TOOLTIP) for column in range(3)] == [
        "Global\n/x/", "settings.json", "Changes your words",
    ]  # fmt: skip
    made.take(RegexScripts((one,)), Path("mine.json"))
    assert rows() == [("Global", "settings.json"), ("Aside", "mine.json")]
    made.take(host[1], host[0])
    assert rows() == [("Aside", "mine.json"), ("Global", "settings.json")]


def test_what_is_chosen_is_named_and_can_be_dropped(dialog: PromptSetupDialog) -> None:
    sources = (dialog.card, dialog.group, dialog.preset, dialog.regex)
    assert not any(source.drop.isVisibleTo(source) for source in sources)
    dialog.take(CharacterCard(CardData(name="Ada")), Path("ada.png"))
    assert dialog.card.label.text() == "Ada (ada.png)"
    assert [source.drop.isVisibleTo(source) for source in sources] == [True, False, False, False]
    assert [(source.choose.text(), source.drop.text()) for source in sources] == [
        ("Choose a card…", "No card"), ("Choose a group…", "No group"), ("Choose a preset…", "No preset"),
        ("Add scripts…", "No files"),
    ]  # fmt: skip
    wanted: list[str] = []
    dialog.file_wanted.connect(wanted.append)
    for source in sources:
        source.choose.click()
    assert wanted == ["card", "group", "preset", "regex"]
    dialog.card.drop.click()
    assert dialog.card.label.text().startswith("No card")
    dialog.take("no such thing", Path("x"))
    assert chosen(dialog) == PromptSetup(persona=Persona("Quill"))


def test_what_is_typed_stays_where_something_else_is_chosen(dialog: PromptSetupDialog) -> None:
    dialog.name.setText(" Wren ")
    dialog.persona.setPlainText("Small.\n")
    dialog.context.setValue(4096)
    dialog.reply.setValue(200)
    dialog.take(CharacterCard(CardData(name="Ada")), Path("ada.png"))
    setup = chosen(dialog)
    assert (setup.persona, setup.context_size, setup.reply_tokens) == (Persona("Wren", "Small."), 4096, 200)
    assert dialog.reply.minimum() == 1
    assert dialog.context.specialValueText() == "not known: nothing gives way"


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"min_depth": 0}, ""), ({"min_depth": 1}, " from depth 1"),
        ({"max_depth": -1}, ""), ({"max_depth": 0}, " to depth 0"),
    ],
)  # fmt: skip
def test_limits_that_limit_nothing_are_not_said(limits: dict[str, Any], words: str) -> None:
    script = RegexScript(name="S", find="/x/", placement=frozenset({1}), prompt_only=True, **limits)
    assert script_words(script) == f"Changes your words{words}"


def test_a_script_without_a_pattern_is_switched_off() -> None:
    assert script_words(RegexScript(name="S", find="", placement=frozenset({1}), prompt_only=True)) == "Switched off"
