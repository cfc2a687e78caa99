"""Profiles, exports, imports and a chat's choices in the window."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QMessageBox, QPushButton
from shiboken6 import isValid

from lorestudio.domain.records import replace
from lorestudio.domain.state import EntryRule
from lorestudio.exchange.settings_files import ADVICE
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.store import SettingsProfiles
from lorestudio.studio.project.project import demo_project, open_project
from lorestudio.studio.project.settings import Mode
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.settings.file_dialogs import ExportTarget
from lorestudio.ui.features.settings.profiles import ProfileLibrary
from tests.ui.conftest import menu_of_row
from tests.ui.worlds import make_project

SILLYTAVERN = {
    "power_user": {},
    "extension_settings": {"deeplore_enhanced": {"enabled": True, "scanDepth": 9, "obsidianApiKey": "s3cret"}},
}


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "st" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps(SILLYTAVERN, indent=4), encoding="utf-8")
    return path


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "chat.jsonl"
    lines = [
        {"user_name": "Ada", "chat_metadata": {"deeplore_pins": ["Gate"], "mine": 1}},
        {"name": "Ada", "is_user": True, "mes": "The gate?"},
        {"name": "Bo", "mes": "Yes."},
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def open_window(make_window, qtbot, tmp_path, chat):
    def make(settings=None, *, chat_path=chat, **more):
        folder = tmp_path / "vault"
        folder.mkdir(exist_ok=True)
        text = "---\ntags: [lorebook]\nkeys: [gate]\n---\nIt is of stone.\n"
        (folder / "Gate.md").write_text(text, encoding="utf-8")
        window = make_window(make_simulator=Simulator, **more)
        window.session.set_project(open_project([folder], chat_path, settings))
        settle(window, qtbot)
        return window

    return make


def settle(window, qtbot) -> None:
    for _ in range(3):
        qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
        qtbot.wait(1)


def adjust(window, qtbot, **values) -> None:
    window.session.parts.adjust("x", settings=window.session.project.settings.model_copy(update=values))
    settle(window, qtbot)


def answer(window, text: str) -> None:
    """Type a name into the dialog that asks for one."""
    asking = [one for one in window.findChildren(QDialog) if one.isVisible() and one.findChild(QLineEdit)]
    dialog = asking[-1]
    dialog.findChild(QLineEdit).setText(text)
    dialog.accept()


# ---- profiles --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_profile_is_saved_chosen_and_shown_in_the_status_line(open_window, qtbot, tmp_path) -> None:
    window = open_window()
    status = window.features.settings.status_button
    assert status.text() == "DeepLore's defaults"
    adjust(window, qtbot, scan_depth=1)
    assert status.text() == "DeepLore's defaults *"
    assert status.accessibleName() == "Settings: DeepLore's defaults, changed"
    assert status.toolTip() == "Show the settings. DeepLore's defaults, switched on · 1 changed here"
    window.run("settings.profiles")
    QTest.mouseClick(window.features.settings.dialog.save, Qt.MouseButton.LeftButton)
    answer(window, "Shallow")
    settle(window, qtbot)
    assert status.text() == "Shallow"
    kept = SettingsProfiles(tmp_path / "settings").find("Shallow")
    assert kept.settings == DeepLoreSettings(enabled=True, scan_depth=1)
    adjust(window, qtbot, scan_depth=2)
    assert status.text() == "Shallow *"
    assert kept.settings == SettingsProfiles(tmp_path / "settings").find("Shallow").settings
    window.features.settings.profiles.choose("Shallow")
    settle(window, qtbot)
    assert window.session.project.settings.scan_depth == 1
    assert window.session.parts.adjustments.undo_title == "settings profile “Shallow”"
    other = window.session.project
    window.session.set_project(replace(open_project([tmp_path / "vault"]), chat_path=tmp_path / "Other.jsonl"))
    settle(window, qtbot)
    assert (status.text(), window.session.project.settings.scan_depth) == ("DeepLore's defaults", 4)
    window.session.set_project(replace(open_project([tmp_path / "vault"], other.chat_path)))
    settle(window, qtbot)  # what was chosen for this chat last is chosen again
    assert (status.text(), window.session.project.settings.scan_depth) == ("Shallow", 1)


@pytest.mark.always
def test_a_name_that_is_taken_is_asked_about(open_window, qtbot, tmp_path) -> None:
    window = open_window()
    store = SettingsProfiles(tmp_path / "settings")
    store.save("Shallow", DeepLoreSettings(scan_depth=1))
    window.features.settings.profiles.load()
    settle(window, qtbot)
    window.run("settings.profiles")
    dialog = window.features.settings.dialog
    menu = menu_of_row(dialog.list, dialog.list.model().index(0, 0))
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text().startswith("Shallow\n")
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    answer(window, "shallow")
    box = next(one for one in window.findChildren(QMessageBox) if one.isVisible())
    assert "“Shallow” already" in box.text()
    assert store.find("Shallow").settings.scan_depth == 1
    next(button for button in box.buttons() if button.text() == "Replace").click()
    settle(window, qtbot)
    assert store.find("Shallow").settings.scan_depth == 4


@pytest.mark.long
def test_the_profile_of_a_chat_is_used_again_unless_a_file_is_given(open_window, qtbot, tmp_path, place) -> None:
    SettingsProfiles(tmp_path / "settings").save("Deep", DeepLoreSettings(enabled=True, scan_depth=20))
    window = open_window()
    window.features.settings.profiles.choose("deep")
    settle(window, qtbot)
    again = open_window()
    assert again.session.project.settings.scan_depth == 20
    assert again.features.settings.profiles.title == "Deep"
    given = open_window(place)
    assert given.session.project.settings.scan_depth == 9
    assert given.features.settings.profiles.title == "settings.json"


@pytest.mark.long
def test_profiles_that_are_read_after_the_chat_are_used_too(open_window, qtbot, tmp_path, monkeypatch) -> None:
    SettingsProfiles(tmp_path / "settings").save("Deep", DeepLoreSettings(enabled=True, scan_depth=20))
    open_window().features.settings.profiles.choose("deep")
    load = ProfileLibrary.load
    monkeypatch.setattr(ProfileLibrary, "load", lambda _self: None)
    window = open_window()
    profiles = window.features.settings.profiles
    assert profiles.title != "Deep"
    load(profiles)
    settle(window, qtbot)
    assert (window.session.project.settings.scan_depth, profiles.title) == (20, "Deep")


@pytest.mark.long
def test_settings_that_were_changed_are_there_at_the_next_start(open_window, qtbot, chat, place) -> None:
    window = open_window()
    adjust(window, qtbot, scan_depth=2)
    window.session.replays.choose(mode=Mode.TWO_STAGE)
    again = open_window()
    assert (again.session.project.settings.scan_depth, again.session.choice.mode) == (2, Mode.TWO_STAGE)
    assert again.features.settings.status_button.text() == "DeepLore's defaults *"
    assert again.session.parts.adjustments.undo_title == "settings used last"
    again.session.parts.undo()
    settle(again, qtbot)
    assert again.session.project.settings.scan_depth == 4
    assert open_window().session.project.settings.scan_depth == 4
    given = open_window(place)
    assert given.session.project.settings.scan_depth == 9
    adjust(given, qtbot, scan_depth=10)
    assert open_window(place).session.project.settings.scan_depth == 10
    assert open_window().session.project.settings.scan_depth == 4


def test_what_was_changed_of_a_profile_goes_along_to_the_file_that_a_chat_is_saved_to(
    open_window, qtbot, tmp_path, chat
) -> None:
    SettingsProfiles(tmp_path / "settings").save("Deep", DeepLoreSettings(enabled=True, scan_depth=20))
    window, new = open_window(), tmp_path / "New.jsonl"
    profiles, parts = window.features.settings.profiles, window.session.parts
    profiles.choose("Deep")
    adjust(window, qtbot, scan_depth=21, lorebook_tag="other")
    project = window.session.project
    new.write_bytes(chat.read_bytes())
    parts.chat_saved(new, project.document, project.chat, project.controls)
    for path in (chat, new):
        window.session.reading.open([tmp_path / "vault"], path)
        settle(window, qtbot)
        project = window.session.project
        assert (profiles.name, project.settings.scan_depth, len(project.index.entries)) == ("Deep", 21, 0)
    assert window.features.settings.status_button.text() == "Deep *"


@pytest.mark.long
def test_a_chat_that_was_moved_is_run_as_before_but_not_a_copy_of_it(open_window, qtbot, tmp_path, chat) -> None:
    first, _, others = chat.read_text("utf-8").partition("\n")
    header = json.loads(first)
    header["chat_metadata"]["integrity"] = "1c2f"
    chat.write_text(json.dumps(header) + "\n" + others, "utf-8")
    SettingsProfiles(tmp_path / "settings").save("Deep", DeepLoreSettings(enabled=True, scan_depth=20))
    window = open_window(keep_in=tmp_path / "runs")
    session, profiles, said = window.session, window.features.settings.profiles, []
    session.notice.connect(lambda notice: said.append(notice.text))

    def reopen(path) -> tuple[str, int, Mode]:
        session.reading.open([tmp_path / "vault"], path)
        settle(window, qtbot)
        return profiles.name, session.project.settings.scan_depth, session.choice.mode

    assert reopen(chat) == ("", 4, Mode.KEYWORDS)
    profiles.choose("Deep")
    session.replays.choose(mode=Mode.TWO_STAGE)
    adjust(window, qtbot, scan_depth=21)
    moved = tmp_path / "story" / "Renamed.jsonl"
    moved.parent.mkdir()
    chat.rename(moved)
    assert reopen(moved) == ("Deep", 21, Mode.TWO_STAGE)
    assert said == [f"This chat was {chat} before; it is run as it was there."]
    assert (session.replays.tally.ran, session.replays.tally.kept) == (0, len(session.generations))
    again = moved.rename(tmp_path / "Again.jsonl")
    assert reopen(again) == ("Deep", 21, Mode.TWO_STAGE)
    copy = tmp_path / "Copy.jsonl"
    copy.write_bytes(again.read_bytes())
    assert reopen(copy) == ("", 4, Mode.KEYWORDS)
    assert reopen(again) == ("Deep", 21, Mode.TWO_STAGE)
    again.rename(chat)
    assert reopen(chat) == ("", 4, Mode.KEYWORDS), "nobody knows whether it was the copy"
    assert len(said) == 2


@pytest.mark.long
def test_another_chat_is_opened_with_the_settings_that_were_read(open_window, qtbot, tmp_path, chat) -> None:
    window, other = open_window(), tmp_path / "Other.jsonl"
    other.write_bytes(chat.read_bytes())
    status, reading = window.features.settings.status_button, window.session.reading
    window.session.replays.choose(mode=Mode.TWO_STAGE)
    adjust(window, qtbot, scan_depth=1, lorebook_tag="other")
    reading.open_chat(other)
    settle(window, qtbot)
    project = window.session.project
    assert (status.text(), project.settings.scan_depth) == ("DeepLore's defaults", 4)
    assert (window.session.choice.mode, len(project.index.entries)) == (Mode.KEYWORDS, 1)
    reading.open_chat(chat)
    settle(window, qtbot)
    project = window.session.project
    assert (status.text(), project.settings.scan_depth) == ("DeepLore's defaults *", 1)
    assert (window.session.choice.mode, len(project.index.entries)) == (Mode.TWO_STAGE, 0)
    reading.reload()
    settle(window, qtbot)
    assert (status.text(), window.session.project.settings.scan_depth) == ("DeepLore's defaults *", 1)
    window.session.parts.begin_chat(project.chat, project.document)
    settle(window, qtbot)
    project = window.session.project
    assert (status.text(), project.settings.scan_depth) == ("DeepLore's defaults", 4)
    assert (project.chat_path, len(project.index.entries)) == (None, 1)


def test_a_profile_that_says_what_is_in_use_already_is_in_use_from_then_on(make_session, qtbot, tmp_path) -> None:
    session = make_session(make_project(tmp_path / "vault"), replay=False)
    profiles = ProfileLibrary(session, QSettings(str(tmp_path / "app.ini"), QSettings.Format.IniFormat), session)
    for name in ("Evening", "Morning"):
        profiles.store.save(name, session.project.settings)
    profiles.load()
    qtbot.waitUntil(lambda: session.jobs.idle)
    titles: list[str] = []
    profiles.changed.connect(lambda: titles.append(profiles.title))
    for name in ("Evening", "Morning"):
        profiles.choose(name)
        assert titles[-1:] == [name]


@pytest.mark.always
def test_two_profiles_are_compared_renamed_and_deleted(open_window, qtbot, tmp_path) -> None:
    store = SettingsProfiles(tmp_path / "settings")
    store.save("Deep", DeepLoreSettings(enabled=True, scan_depth=20))
    store.save("Tight", DeepLoreSettings(enabled=True, scan_depth=20, max_entries=2))
    store.folder.joinpath("torn.json").write_text("{", encoding="utf-8")
    window = open_window()
    window.run("settings.profiles")
    dialog = window.features.settings.dialog
    assert [dialog.list.item(row).text().split("\n")[0] for row in range(dialog.list.count())] == [
        "Deep", "Tight", "torn",
    ]  # fmt: skip
    assert [(row.key, row.before, row.after) for row in dialog.model.rows] == [
        ("scanDepth", "20 messages", "4 messages")
    ]
    dialog.other.setCurrentText("Tight")
    assert [row.key for row in dialog.model.rows] == ["maxEntries"]
    buttons = (dialog.use, dialog.rename, dialog.delete)
    assert [button.isEnabled() for button in buttons] == [True] * 3
    assert not dialog.hint.isVisible()
    dialog.list.setCurrentRow(2)
    assert "line 1" in dialog.hint.text()
    assert dialog.hint.isVisible()
    assert dialog.model.rows == ()
    assert [button.isEnabled() for button in buttons] == [False, False, True]
    assert [bool(dialog.list.item(row).toolTip()) for row in range(3)] == [False, False, True]
    assert [dialog.list.item(row).icon().isNull() for row in range(3)] == [True, True, False]
    dialog.list.setCurrentRow(0)
    dialog.other.setCurrentIndex(1)  # DeepLore's defaults
    assert {row.key for row in dialog.model.rows} >= {"scanDepth"}
    dialog.use.click()
    settle(window, qtbot)
    assert window.session.project.settings.scan_depth == 20
    assert [dialog.list.item(row).text().endswith(" · in use") for row in range(3)] == [True, False, False]
    dialog.rename.click()
    answer(dialog, "Deeper")
    settle(window, qtbot)
    assert window.features.settings.profiles.title == "Deeper"
    assert dialog.chosen.name == "Deeper"
    dialog.delete.click()
    box = next(one for one in dialog.findChildren(QMessageBox) if one.isVisible())
    next(button for button in box.buttons() if button.text() == "Delete").click()
    settle(window, qtbot)
    assert [each.name for each in store.all()] == ["Tight", "torn"]
    assert window.session.project.settings.scan_depth == 20
    assert window.features.settings.profiles.title == "DeepLore's defaults"


@pytest.mark.long
def test_profiles_without_what_they_need_say_so(open_window, make_window, qtbot, tmp_path) -> None:
    window = make_window()
    library, told = window.features.settings.profiles, []
    window.session.notice.connect(told.append)
    assert (library.title, library.origin, library.is_changed) == ("", ("", ""), False)
    window.run("settings.profiles")
    dialog = window.features.settings.dialog
    assert dialog.hint.text().startswith("There is no profile yet. Save DeepLore's settings")
    assert dialog.windowTitle() == "Settings profiles of DeepLore"
    assert [each.isEnabled() for each in (dialog.use, dialog.rename, dialog.delete, dialog.save)] == [False] * 4
    store = SettingsProfiles(tmp_path / "settings")
    store.save("Deep", DeepLoreSettings(scan_depth=20))
    store.folder.joinpath("torn.json").write_text("{", encoding="utf-8")
    library.load()
    settle(window, qtbot)
    assert [each.isEnabled() for each in (dialog.use, dialog.rename, dialog.delete, dialog.save)] == [
        False, True, True, False,
    ]  # fmt: skip
    library.choose("Deep")  # without a vault there is nothing to use it for
    assert (library.name, told) == ("", [])
    dialog.reject()
    window = open_window()
    library, told = window.features.settings.profiles, []
    window.session.notice.connect(told.append)
    library.choose("torn")
    library.choose("no such profile")
    assert (library.name, [each.tone for each in told]) == ("", ["error"])
    assert "line 1" in told[0].text
    library.save("deep")
    settle(window, qtbot)
    assert (len(told), told[1].tone, "Deep" in told[1].text) == (2, "error", True)
    library.choose(" DEEP ")
    settle(window, qtbot)
    assert (library.name, library.is_changed, window.session.project.settings.enabled) == ("Deep", False, True)
    assert library.origin == ("From the profile “Deep”", str(store.find("Deep").path))
    adjust(window, qtbot, max_entries=3)
    assert library.origin[0] == "From the profile “Deep” · 1 changed here"
    opened = {each.title: each for each in window.features.settings._findable()}
    assert opened["Use settings profile: torn"].detail == "cannot be read"
    opened["Use settings profile: Deep"].key()
    settle(window, qtbot)
    assert window.session.project.settings.max_entries == DeepLoreSettings().max_entries
    opened["Scan depth"].key()
    pane = window.features.settings.pane
    assert (window.current_pane(), pane.editor.field.box.hasFocus()) == (pane, True)
    assert pane.editor.title.text() == "Scan depth"


def test_a_profile_that_was_opened_as_a_file_has_its_name(open_window, qtbot, tmp_path) -> None:
    path = SettingsProfiles(tmp_path / "settings").save("Deep", DeepLoreSettings(enabled=True, scan_depth=20)).path
    window = open_window(path)
    assert (window.features.settings.profiles.name, window.session.project.settings.scan_depth) == ("Deep", 20)


# ---- exports and imports ---------------------------------------------------------------------------------------------


def test_an_export_shows_first_and_writes_only_what_is_ticked(open_window, qtbot, place) -> None:
    before = place.read_bytes()
    window = open_window()
    adjust(window, qtbot, scan_depth=2, max_entries=3, graph_gravity=2.0)
    window.run("settings.export")
    dialog = window.features.settings.dialog
    assert "Choose the settings.json" in dialog.preview.toPlainText()
    dialog.place.setText(str(place))
    qtbot.waitUntil(lambda: len(dialog.model.rows) == 3)
    settle(window, qtbot)
    assert dialog.model.chosen == {"scanDepth", "maxEntries"}
    assert "belong to this computer" in dialog.losses.text()
    dialog.model.choose(["scanDepth"])
    settle(window, qtbot)
    assert dialog.preview.toPlainText() == "scanDepth: 9 messages → 2 messages"
    assert place.read_bytes() == before
    dialog.write.click()
    dialog.close()  # it waits for what it has written, to tell of it
    settle(window, qtbot)
    found = json.loads(place.read_text(encoding="utf-8"))["extension_settings"]["deeplore_enhanced"]
    assert found == SILLYTAVERN["extension_settings"]["deeplore_enhanced"] | {"scanDepth": 2, "settingsVersion": 3}
    (copy,) = place.parent.glob("*.bak")
    assert copy.read_bytes() == before
    assert not isValid(dialog)
    assert copy.name in " ".join(window.bars.texts)


def test_an_export_of_a_file_that_changed_meanwhile_is_refused(open_window, qtbot, place) -> None:
    window = open_window()
    window.run("settings.export")
    dialog = window.features.settings.dialog
    dialog.place.setText(str(place))
    qtbot.waitUntil(dialog.write.isEnabled)
    place.write_text(json.dumps({**SILLYTAVERN, "new": 1}), encoding="utf-8")
    written = place.read_bytes()
    dialog.write.click()
    settle(window, qtbot)
    assert "changed meanwhile" in dialog.bar.label.text()
    assert place.read_bytes() == written
    place.write_text("[]", encoding="utf-8")
    dialog._look()
    settle(window, qtbot)
    assert "not SillyTavern's settings.json" in dialog.bar.label.text()
    assert not dialog.write.isEnabled()
    dialog.close()
    settle(window, qtbot)
    assert (isValid(dialog), window.features.settings.dialog) == (False, None)


@pytest.mark.always
def test_of_a_file_that_was_opened_only_what_was_changed_here_is_ticked(open_window, qtbot, place) -> None:
    window = open_window(place)
    adjust(window, qtbot, max_entries=3)
    other = place.with_name("other.json")
    other.write_text(json.dumps(SILLYTAVERN).replace('"scanDepth": 9', '"scanDepth": 8'), encoding="utf-8")
    window.run("settings.export")
    dialog = window.features.settings.dialog
    dialog.place.setText(str(other))
    qtbot.waitUntil(lambda: len(dialog.model.rows) == 2)
    assert dialog.model.chosen == {"maxEntries"}
    settle(window, qtbot)
    assert "1 other difference is not ticked" in dialog.losses.text()
    dialog.place.setText(str(place))  # the file that was opened
    qtbot.waitUntil(lambda: len(dialog.model.rows) == 1)
    settle(window, qtbot)
    dialog.write.click()
    settle(window, qtbot)
    assert window.session.parts.on_disk.settings.max_entries == 3
    assert window.features.settings.status_button.text() == "settings.json"


@pytest.mark.always
def test_the_settings_of_the_chosen_system_are_carried_over(open_window, qtbot, place) -> None:
    window = open_window()
    window.run("system.world-info")
    settle(window, qtbot)
    window.run("system.settings")
    window.features.systems.dialog.set_value("depth", 7)
    window.features.systems._leave_for("settings.export")
    settle(window, qtbot)
    dialog = window.features.settings.dialog
    assert dialog.windowTitle() == "Export settings of World Info"
    dialog.place.setText(str(place))
    qtbot.waitUntil(lambda: len(dialog.model.rows) == 1)
    settle(window, qtbot)
    assert dialog.preview.toPlainText() == "world_info_depth: 2 messages (not written) → 7 messages"
    dialog.write.click()
    settle(window, qtbot)
    assert json.loads(place.read_text(encoding="utf-8"))["world_info_settings"] == {"world_info_depth": 7}


@pytest.mark.always
def test_exports_as_text(open_window, qtbot, tmp_path) -> None:
    window = open_window()
    adjust(window, qtbot, scan_depth=2, ai_search_proxy_url="http://localhost:1")
    window.run("settings.export")
    dialog = window.features.settings.dialog
    dialog.target.setCurrentIndex(dialog.target.findData(ExportTarget.SNIPPET))
    assert json.loads(dialog.preview.toPlainText()) == {"enabled": True, "scanDepth": 2, "settingsVersion": 3}
    dialog.copy.click()
    assert json.loads(QGuiApplication.clipboard().text())["scanDepth"] == 2
    dialog.model.choose_all(all_of_them=True)
    assert "127.0.0.1 is written" in dialog.losses.text()
    dialog.target.setCurrentIndex(dialog.target.findData(ExportTarget.LIST))
    assert "Scan depth (scanDepth): 4 messages → 2 messages" in dialog.text()
    assert "localhost" not in dialog.text()  # it stays on this computer
    dialog.target.setCurrentIndex(dialog.target.findData(ExportTarget.FILE))
    out = tmp_path / "out.json"
    dialog.save_text(out)
    settle(window, qtbot)
    assert json.loads(out.read_text(encoding="utf-8"))["settings"] == {"enabled": True, "scanDepth": 2}
    window.run("settings.copy_changes")
    assert "Scan depth (scanDepth)" in QGuiApplication.clipboard().text()


def test_an_import_takes_what_is_ticked_and_can_be_undone(open_window, qtbot, place) -> None:
    window = open_window()
    adjust(window, qtbot, max_entries=3)
    window.run("settings.import")
    dialog = window.features.settings.dialog
    dialog.place.setText(str(place))
    qtbot.waitUntil(lambda: len(dialog.model.rows) == 2)
    dialog.model.choose(["scanDepth"])
    dialog.take.click()
    settle(window, qtbot)
    settings = window.session.project.settings
    assert (settings.scan_depth, settings.max_entries) == (9, 3)
    window.session.parts.undo()
    settle(window, qtbot)
    assert window.session.project.settings.scan_depth == 4


@pytest.mark.always
def test_an_import_from_the_clipboard_and_what_cannot_be_read(open_window, qtbot, tmp_path) -> None:
    window = open_window()
    window.run("settings.import")
    dialog = window.features.settings.dialog
    QGuiApplication.clipboard().setText('{"scanDepth": 400}')
    dialog.paste()
    settle(window, qtbot)
    assert [(row.key, row.after) for row in dialog.model.rows] == [("scanDepth", "100 messages")]
    assert "400 is used as 100" in dialog.bar.label.text()
    QGuiApplication.clipboard().setText("{")
    dialog.paste()
    settle(window, qtbot)
    assert "line 1" in dialog.bar.label.text()
    assert dialog.model.rows == ()
    assert not dialog.take.isEnabled()
    QGuiApplication.clipboard().setText('{"world_info_depth": 7}')
    dialog.paste()
    settle(window, qtbot)
    assert "these are settings of World Info" in dialog.bar.label.text()
    assert not dialog.take.isEnabled()
    QGuiApplication.clipboard().setText("")
    dialog.paste()
    assert dialog.bar.label.text() == "The clipboard holds no text. Copy a snippet first."


@pytest.mark.always
def test_what_an_export_offers_follows_where_it_goes(open_window, qtbot, place, tmp_path) -> None:
    window = open_window()
    adjust(window, qtbot, scan_depth=2)
    window.run("settings.export")
    dialog = window.features.settings.dialog
    parts = (dialog._file_label, dialog.place, dialog.choose_place, dialog.write, dialog.copy, dialog.save)

    def shown() -> tuple[list[bool], list[str]]:
        heads = [dialog.model.headerData(column, Qt.Orientation.Horizontal) for column in range(3)]
        return [part.isVisible() for part in parts], heads

    assert shown() == ([True, True, True, True, False, False], ["Setting", "In the file", "In use"])
    assert (dialog.write.isEnabled(), dialog.losses.text(), dialog.model.rows) == (False, "", ())
    dialog.choose_place.click()
    (chooser,) = dialog.findChildren(QFileDialog)
    chooser.fileSelected.emit(str(place))
    chooser.close()
    assert dialog.place.text() == str(place)
    qtbot.waitUntil(dialog.write.isEnabled)
    assert dialog.losses.text().endswith(ADVICE)
    dialog.model.choose([])
    assert dialog.preview.toPlainText() == "Nothing would be written."
    assert (dialog.write.isEnabled(), "not ticked" in dialog.losses.text()) == (False, True)
    dialog.place.setText(str(tmp_path / "none.json"))
    qtbot.waitUntil(lambda: "none.json" in dialog.bar.label.text())
    assert dialog.model.rows == ()
    dialog.place.clear()
    dialog.target.setCurrentIndex(dialog.target.findData(ExportTarget.LIST))
    assert not dialog._delay.isActive()  # another look would tick everything again
    assert shown() == ([False, False, False, False, True, True], ["Setting", "Default", "In use"])
    assert not dialog.bar.isVisible()
    dialog.copy.click()
    assert (dialog.bar.label.text(), "Scan depth" in QGuiApplication.clipboard().text()) == ("It was copied.", True)
    dialog.save.click()
    (chooser,) = dialog.findChildren(QFileDialog)
    assert chooser.defaultSuffix() == "txt"
    chooser.fileSelected.emit(str(tmp_path / "changes.txt"))
    chooser.close()
    settle(window, qtbot)
    assert dialog.bar.label.text() == f"{tmp_path / 'changes.txt'} was written."
    dialog.save_text(tmp_path / "none" / "changes.txt")
    settle(window, qtbot)
    assert "none" in dialog.bar.label.text()
    dialog.target.setCurrentIndex(dialog.target.findData(ExportTarget.SNIPPET))
    dialog.save.click()
    (chooser,) = dialog.findChildren(QFileDialog)
    assert chooser.defaultSuffix() == "json"
    chooser.close()
    dialog.model.choose([])
    assert (dialog.copy.isEnabled(), dialog.save.isEnabled()) == (False, False)
    dialog.reject()


def test_behaviour_switches_that_are_fixed_are_left_behind(open_window, qtbot) -> None:
    window = open_window()
    window.session.replays.choose(fixed=("fill_count",))
    settle(window, qtbot)
    window.run("settings.export")
    dialog = window.features.settings.dialog
    dialog.target.setCurrentIndex(dialog.target.findData(ExportTarget.SNIPPET))
    assert "1 behaviour switch set to fixed cannot go along" in dialog.losses.text()
    window.run("settings.export")
    assert window.features.settings.dialog is not dialog
    window.features.settings.dialog.reject()


@pytest.mark.always
def test_an_import_says_what_kind_of_file_it_is(open_window, qtbot, tmp_path) -> None:
    snippet = "A snippet: it speaks only about the settings that it holds."
    whole = "SillyTavern's settings.json: what it does not name has DeepLore's default there."
    path = tmp_path / "in.json"
    window = open_window()
    window.run("settings.import")
    dialog = window.features.settings.dialog
    assert not dialog.take.isEnabled()
    for text, said in (
        ('{"scanDepth": 4}', f"{snippet} It says nothing else than what is set here."),
        ('{"scanDepth": 9}', snippet),
        (json.dumps(SILLYTAVERN).replace("true", "false"), whole),
    ):
        path.write_text(text, encoding="utf-8")
        dialog.place.clear()
        next(each for each in dialog.findChildren(QPushButton) if each.text() == "Choose…").click()
        chooser = dialog.findChildren(QFileDialog)[-1]
        chooser.fileSelected.emit(str(path))
        chooser.close()
        qtbot.waitUntil(lambda said=said: dialog.said.text() == said)
        assert (dialog.take.isEnabled(), dialog.bar.isVisible()) == (bool(dialog.model.rows), False)
    dialog.model.choose([])
    assert not dialog.take.isEnabled()
    dialog.model.choose(["scanDepth", "enabled"])
    dialog.take.click()
    settle(window, qtbot)
    assert window.session.parts.adjustments.undo_title == "settings from in.json"
    assert window.session.project.settings.scan_depth == 9
    assert window.session.project.settings.enabled  # whatever the file says of that
    assert window.bars.texts[-1].startswith("The settings of in.json are in use now.")


# ---- the chat's choices ----------------------------------------------------------------------------------------------


@pytest.mark.always
def test_a_chats_choices_go_into_its_file_and_nothing_else_does(open_window, qtbot, chat, tmp_path) -> None:
    before = chat.read_bytes()
    window = open_window()
    controls = window.session.project.controls
    window.session.parts.adjust(
        "pin", controls=replace(controls, pins=(*controls.pins, EntryRule("Bell")), notebook="n")
    )
    settle(window, qtbot)
    assert window.commands.actions["chat.write_state"].isEnabled()
    window.run("chat.write_state")
    dialog = window.features.settings.dialog
    settle(window, qtbot)
    assert [row.title for row in dialog.model.rows] == ["Pins", "Author's notebook"]
    dialog.model.choose(["deeplore_pins"])
    assert chat.read_bytes() == before
    dialog.write.click()
    settle(window, qtbot)
    written = chat.read_bytes()
    (copy,) = [each for each in tmp_path.rglob("*") if each.is_file() and each != chat and each.read_bytes() == before]
    assert window.bars.texts == [f"The chat file was written. As it was: {copy.name}"]
    assert written.split(b"\n")[1:] == before.split(b"\n")[1:]
    assert json.loads(written.split(b"\n")[0])["chat_metadata"] == {
        "deeplore_pins": ["Gate", {"title": "Bell", "vaultSource": None}],
        "mine": 1,
    }
    window.run("chat.write_state")
    settle(window, qtbot)
    assert [row.title for row in window.features.settings.dialog.model.rows] == ["Author's notebook"]
    window.features.settings.dialog.close()
    window.run("chat.save")  # it goes on from the file as it is now, and asks nothing
    settle(window, qtbot)
    saved = json.loads(chat.read_bytes().split(b"\n")[0])["chat_metadata"]
    assert (saved["deeplore_notebook"], saved["mine"]) == ("n", 1)
    assert chat.read_bytes().split(b"\n")[1:] == before.split(b"\n")[1:]


def test_where_nothing_was_chosen_there_is_nothing_to_write(open_window, qtbot) -> None:
    window = open_window()
    window.run("chat.write_state")
    settle(window, qtbot)
    dialog = window.features.settings.dialog
    assert not dialog.write.isEnabled()
    assert "nothing to write" in dialog.bar.label.text()


@pytest.mark.always
def test_the_demo_is_not_written(make_window, qtbot) -> None:
    window = make_window(make_simulator=Simulator)
    window.session.replays.automatic = False
    window.session.set_project(demo_project())
    window.session.parts.adjust("x", controls=replace(window.session.project.controls, notebook="n"))
    window.run("chat.write_state")
    assert window.features.settings.dialog is None
    assert "The demo's files stay" in window.bars.texts[0]
    settle(window, qtbot)


def test_a_mode_that_settings_choose_is_the_mode_of_the_chat(open_window, qtbot) -> None:
    window = open_window()
    adjust(window, qtbot, ai_search_enabled=True, ai_search_mode="ai-only")
    assert window.session.choice.mode is Mode.AI_ONLY
    window.session.replays.choose(mode=Mode.KEYWORDS)
    settle(window, qtbot)
    assert not window.session.project.settings.ai_search_enabled
