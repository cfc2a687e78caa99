"""The dialogs of a chat's choices alone: its texts, what goes into its file, and scenario presets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QLabel, QLineEdit, QPushButton
from shiboken6 import isValid

from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat.controls import ControlsPart, KeptPreset, Preset, PresetFolder, part_words
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.controls.chat_dialogs import ChatStateDialog, ChatTextDialog
from lorestudio.ui.features.controls.presets import PresetsDialog, SavePresetDialog
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.session import Session
from tests.ui.features.controls.test_chips import FULL, INDEX

NOTEBOOK, NOTEPAD = ControlsPart.NOTEBOOK, ControlsPart.NOTEPAD
OFF = "The setting is off, so this goes into no prompt."


# ---- the texts of a chat --------------------------------------------------------------------------------------------


def text_dialog(part: ControlsPart, text: str = "", **settings: object) -> ChatTextDialog:
    controls = ChatControls(**{part.value: text})
    return ChatTextDialog(Project((), INDEX, DeepLoreSettings(**settings), controls=controls), part)


@pytest.mark.parametrize(
    ("part", "text", "on", "said"),
    [
        (NOTEBOOK, "", False, "≈ 0 tokens, 0 characters. No budget counts them."),
        (NOTEBOOK, "lamp", True, "≈ 1 token, 4 characters. No budget counts them."),
        (NOTEBOOK, "lamp", False, f"≈ 1 token, 4 characters. No budget counts them. {OFF}"),
        (NOTEBOOK, " \n", True, "Only blanks: nothing goes into the prompt."),
        (NOTEBOOK, "lamp " * 13000, True, "65,000 characters. No budget counts them."),
        (NOTEPAD, "x" * 65536, True, "65,536 characters. No budget counts them."),
        (NOTEPAD, "x" * 65537, True, "DeepLore keeps 65,536 characters and drops the oldest."),
    ],
)
def test_a_text_says_how_long_it_is_and_whether_it_goes_anywhere(
    qtbot, part: ControlsPart, text: str, on: bool, said: str
) -> None:
    dialog = text_dialog(part, text, **{"notebook_enabled" if part is NOTEBOOK else "ai_notepad_enabled": on})
    qtbot.addWidget(dialog)
    assert dialog.on.isChecked() == on
    assert dialog.amount.text().endswith(said) if len(text) > 100 else dialog.amount.text() == said
    assert dialog.clear.isEnabled() == bool(text)


def test_a_text_is_emptied_and_comes_back_and_is_handed_over_once_it_is_another(qtbot) -> None:
    dialog = text_dialog(NOTEBOOK, "lamp")
    qtbot.addWidget(dialog)
    saved: list[tuple[str, bool]] = []
    dialog.saved.connect(lambda text, on: saved.append((text, on)))
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    dialog.clear.click()
    assert (dialog.text.toPlainText(), dialog.text.tabChangesFocus()) == ("", True)
    assert dialog.lost() == "What you changed in the text would be lost."
    qtbot.waitUntil(dialog.text.hasFocus)
    qtbot.waitUntil(lambda: not dialog.clear.isEnabled())
    assert dialog.amount.text().startswith("≈ 0 tokens")
    dialog.text.undo()
    assert (dialog.text.toPlainText(), dialog.lost()) == ("lamp", "")
    dialog.accept()
    assert saved == []
    again = text_dialog(NOTEBOOK, "lamp")
    qtbot.addWidget(again)
    again.saved.connect(lambda text, on: saved.append((text, on)))
    again.on.click()
    assert OFF not in again.amount.text()
    again.accept()
    assert saved == [("lamp", True)]


@pytest.mark.parametrize(
    ("part", "settings", "said"),
    [
        (NOTEBOOK, {}, ["settings of the notebook"]),
        (NOTEPAD, {"ai_notepad_mode": "tag"}, ["writes notes at the end of its reply", "settings of the notepad"]),
        (NOTEPAD, {"ai_notepad_mode": "extract"}, ["A second request takes notes", "settings of the notepad"]),
    ],
)
def test_a_text_says_where_it_goes(qtbot, part: ControlsPart, settings: dict[str, object], said: list[str]) -> None:
    dialog = text_dialog(part, **settings)
    qtbot.addWidget(dialog)
    assert all(words in dialog.where.text() for words in said)


def test_what_a_text_is_for_stands_above_it_and_where_it_goes_below_the_choice_whether(qtbot) -> None:
    dialog = text_dialog(NOTEBOOK)
    qtbot.addWidget(dialog)
    dialog.show()
    parts = (dialog.text, dialog.amount, dialog.on, dialog.where, dialog.clear)
    tops = [each.mapTo(dialog, QPoint()).y() for each in parts]
    assert (tops, tops[0] > 0) == (sorted(set(tops)), True)


# ---- the chat's file ------------------------------------------------------------------------------------------------


def chat_file(folder: Path, **metadata: object) -> Path:
    path = folder / "Tale.jsonl"
    path.write_text(json.dumps({"chat_metadata": metadata}) + "\n", encoding="utf-8")
    return path


def test_what_goes_into_the_chats_file(
    qtbot, theme: Theme, make_session: Callable[..., Session], tmp_path: Path
) -> None:
    jobs = make_session().jobs
    path = chat_file(tmp_path, deeplore_pins=["Tide"])
    known, now = ChatControls(), ChatControls(pins=(EntryRule("Lamp"),), notebook="n")
    dialog = ChatStateDialog(theme, jobs, path, now, known)
    dialog.show()
    told = "only these keys of its first line change, every other byte stays, and a copy is laid beside it."
    assert any(each.text().startswith(f"Tale.jsonl: {told} ") for each in dialog.findChildren(QLabel))
    assert not dialog.write.isEnabled()  # nobody has read yet what there is to write
    written: list[tuple[object, ...]] = []
    dialog.written.connect(lambda *news: written.append(news))
    qtbot.waitUntil(lambda: bool(dialog.model.rows))
    assert [(row.title, row.before, row.after, row.note) for row in dialog.model.rows] == [
        ("Pins", "Tide", "Lamp", "It was changed in the file meanwhile."),
        ("Author's notebook", "none", "n", "deeplore_notebook"),
    ]
    assert dialog.model.chosen == {"deeplore_notebook"}  # what somebody else changed is left to the person
    assert dialog.bar.label.text() == "Changed here and in the file: Pins. Tick what should be as here."
    next(each for each in dialog.findChildren(QPushButton) if each.text() == "Copy as JSON").click()
    assert json.loads(QGuiApplication.clipboard().text())["deeplore_notebook"] == "n"
    dialog.model.choose([])
    assert not dialog.write.isEnabled()
    dialog.model.choose(["deeplore_notebook"])
    dialog.write.click()
    dialog.close()  # it waits for what it has written, to tell of it
    assert not dialog.write.isEnabled()
    qtbot.waitUntil(lambda: not isValid(dialog))
    assert written[0][1] == ChatControls(notebook="n")
    assert json.loads(path.read_text(encoding="utf-8"))["chat_metadata"]["deeplore_notebook"] == "n"
    same = ChatStateDialog(theme, jobs, path, known, known)
    qtbot.addWidget(same)
    same.show()
    assert same.list.geometry().bottom() < same.write.geometry().top()
    assert same.rect().contains(same.write.geometry())
    qtbot.waitUntil(lambda: "nothing to write" in same.bar.label.text())
    assert not same.write.isEnabled()
    path.write_text("", encoding="utf-8")
    lost = ChatStateDialog(theme, jobs, path, now, known)
    qtbot.addWidget(lost)
    qtbot.waitUntil(lambda: "Tale.jsonl" in lost.bar.label.text())
    assert not lost.write.isEnabled()


# ---- scenario presets -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (ControlsPart.PINS, "lamp, Wasp"),
        (ControlsPart.FOLDERS, "a, b"),
        (ControlsPart.CONTEXT, "era: before, never; mood: calm"),
        (ControlsPart.NOTEBOOK, "Keep it short."),
        (ControlsPart.CHARACTER, ""),
    ],
)
def test_a_part_is_told_in_a_line(part: ControlsPart, words: str) -> None:
    assert part_words(FULL, part) == words


STORM = Preset("Storm", ChatControls(pins=(EntryRule("Lamp"),)), frozenset({ControlsPart.PINS, ControlsPart.FOLDERS}))
BROKEN = KeptPreset("bad", Path("bad.json"), None, "It is torn.")
KNOWN = (BROKEN, KeptPreset("Storm", Path("Storm.json"), STORM))


def test_a_preset_holds_what_is_ticked(qtbot) -> None:
    dialog = SavePresetDialog(FULL, KNOWN)
    qtbot.addWidget(dialog)
    chosen: list[tuple[Preset, bool]] = []
    dialog.chosen.connect(lambda preset, replaces: chosen.append((preset, replaces)))
    ticked = {part for part, box in dialog.parts.items() if box.isChecked()}
    assert ticked == set(ControlsPart) - {NOTEPAD, ControlsPart.CHARACTER}
    assert dialog.parts[ControlsPart.PINS].text() == "Pins: lamp, Wasp"
    assert dialog.parts[ControlsPart.CHARACTER].text() == "Active character: the chat's own"
    told = (dialog.told.text(), dialog.take.text(), dialog.take.isEnabled())
    assert told == ("", "Save", False)  # a name is missing, which nobody need be told
    dialog.name.setText("x" * 500)
    assert ("80 characters" in dialog.told.text(), dialog.take.isEnabled()) == (True, False)
    dialog.name.setText("storm")
    told = (dialog.told.text(), dialog.take.text(), dialog.take.isEnabled())
    assert told == ("There is a preset “Storm”; it will be replaced.", "Replace", True)
    for box in dialog.parts.values():
        box.setChecked(False)
    assert (dialog.told.text(), dialog.take.isEnabled()) == ("Tick at least one part.", False)
    assert dialog.take.toolTip().endswith("Tick at least one part."), "it has a name"
    dialog.parts[ControlsPart.FOLDERS].click()
    dialog.take.click()
    dialog.name.setText(" Calm ")
    dialog.accept()
    assert chosen == [
        (Preset("storm", FULL, frozenset({ControlsPart.FOLDERS})), True),
        (Preset("Calm", FULL, frozenset({ControlsPart.FOLDERS})), False),
    ]


def test_what_is_empty_says_what_applying_it_does(qtbot) -> None:
    dialog = SavePresetDialog(ChatControls(), ())
    qtbot.addWidget(dialog)
    texts = [box.text().partition(": ")[2] for part, box in dialog.parts.items() if part is not ControlsPart.CHARACTER]
    assert texts[:3] == ["none; applying it empties them", "none; applying it empties them",
                         "none; applying it empties it"]  # fmt: skip
    assert not any(box.isChecked() for box in dialog.parts.values())


def test_the_list_of_presets_says_what_they_hold_and_what_is_to_be_done(qtbot, theme: Theme, tmp_path: Path) -> None:
    dialog = PresetsDialog(theme, PresetFolder(tmp_path), KNOWN)
    qtbot.addWidget(dialog)
    dialog.show()
    told: list[object] = []
    dialog.wanted.connect(told.append)
    dialog.renamed.connect(lambda *names: told.append(names))
    buttons = (dialog.rename, dialog.delete, dialog.apply)
    assert dialog.told.text() == "Pins: Lamp\nFolder filter: none; applying it empties it"
    where = f"One file each in {tmp_path}; copy them to share them."
    assert where in [each.text() for each in dialog.findChildren(QLabel)]
    assert all(each.isEnabled() for each in buttons)
    QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    assert dialog.told.text() == "It is torn."
    assert not any(each.isEnabled() for each in buttons)
    dialog.list.pressed.emit(dialog.list.current)
    assert (told, dialog.isVisible()) == ([], True)
    dialog.show_presets(KNOWN, "Storm")
    assert dialog.list.current.name == "Storm"
    dialog.rename.click()
    field = next(each for each in dialog.findChildren(QLineEdit) if each.isVisible())
    assert field.text() == "Storm"
    field.setText("Gale")
    field.window().accept()
    assert told == [("Storm", "Gale")]
    dialog.show_presets(())
    assert dialog.told.text().startswith("There are no presets yet.")
    assert (dialog.list.current, any(each.isEnabled() for each in buttons)) == (None, False)
    dialog.show_presets(KNOWN)
    dialog.apply.click()
    assert (told[1:], dialog.isVisible()) == ([STORM], False)
    again = PresetsDialog(theme, PresetFolder(tmp_path), KNOWN)
    qtbot.addWidget(again)
    again.wanted.connect(told.append)
    again.show()
    again.list.pressed.emit(again.list.current)
    assert (told[2:], again.isVisible()) == ([STORM], False)
    again.show()
    again.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Close).click()
    assert not again.isVisible()


def test_the_list_goes_to_the_preset_that_is_named(qtbot, theme: Theme, tmp_path: Path) -> None:
    names = ("Calm", "Gale", "Storm")
    three = tuple(KeptPreset(name, Path(f"{name}.json"), replace(STORM, name=name)) for name in names)
    known = (BROKEN, *three)
    dialog = PresetsDialog(theme, PresetFolder(tmp_path), known)
    qtbot.addWidget(dialog)
    assert dialog.model.texts() == [["Calm"], ["Gale"], ["Storm"], ["bad.json cannot be used"]]
    for name, row in (("Gale", 1), ("Storm", 2), ("Gone", 0), ("", 0)):
        dialog.show_presets(known, name)
        assert dialog.list.currentIndex().row() == row
        assert dialog.list.current == three[row]
