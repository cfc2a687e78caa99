from __future__ import annotations

import json
import threading

import pytest
from keyring.errors import NoKeyringError
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox
from shiboken6 import isValid

from lorestudio.domain.records import replace
from lorestudio.llm.errors import failed
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.answering import (
    PRESETS,
    AnswerKind,
    Api,
    Connections,
    Keys,
    KeySource,
    Profile,
    ProfileFile,
    Source,
)
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.ui.features.providers.profiles_dialog import ProfilesDialog
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.widgets.picker import Picker
from tests.ui.conftest import drain
from tests.ui.worlds import FakeClient, MemoryKeyring, make_project

SECRET = "sk-or-v1-abcdef0123456789"  # noqa: S105 - made up


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def keyring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture
def connections(tmp_path, client, keyring) -> Connections:
    return Connections(tmp_path / "profiles.json", Keys(keyring, {"MY_KEY": "k-123456"}), client.make)


@pytest.fixture
def open_dialog(make_window, qtbot):
    made: list[ProfilesDialog] = []

    def make(*profiles: Profile) -> ProfilesDialog:
        window = make_window(None)
        if profiles:
            window.session.connections.save(ProfileFile(profiles))
            window.session.providers.load()
        qtbot.waitUntil(lambda: window.session.jobs.idle)
        dialog = window.features.providers.edit_profiles()
        made.append(dialog)
        settle(dialog, qtbot)
        return dialog

    yield make
    for dialog in made:
        if isValid(dialog):  # not closed by the test
            dialog.close()
    drain()


def settle(dialog, qtbot) -> None:
    qtbot.waitUntil(lambda: dialog._session.jobs.idle)
    drain()


def choose_key(dialog, source: KeySource) -> None:
    dialog.key_source.setCurrentIndex(dialog.key_source.findData(source.value))


def add(dialog, name: str) -> None:
    next(action for action in dialog.add.menu().actions() if action.text() == name).trigger()


REMOTE = Profile("Remote", url="https://openrouter.ai/api/v1", model="big", key_source=KeySource.KEYRING)


def test_the_presets_are_the_servers_that_people_use(open_dialog) -> None:
    dialog = open_dialog()
    names = [action.text() for action in dialog.add.menu().actions()]
    assert names == ["Ollama", "llama.cpp", "LM Studio", "vLLM", "OpenRouter", "OpenAI", "Anthropic"]
    add(dialog, "Anthropic")
    assert dialog.model.hasFocus(), "what is to be written next"
    assert dialog.api.currentData() == Api.ANTHROPIC.value
    assert dialog.variable.text() == "ANTHROPIC_API_KEY"
    assert dialog._form.isRowVisible(dialog.key)
    assert dialog.key.placeholderText() == "Enter a new key; a stored one is never shown"
    add(dialog, "LM Studio")
    assert dialog.url.text() == "http://127.0.0.1:1234/v1"
    assert not dialog._form.isRowVisible(dialog.key)
    assert len({preset.url for preset in PRESETS}) == len(PRESETS)


def test_numbers_that_no_server_takes_are_refused(open_dialog) -> None:
    dialog = open_dialog()

    def taken(field: QLineEdit, *tries: str) -> list[str]:
        return [each for each in tries if (field.setText(each), field.hasAcceptableInput())[1]]

    assert taken(dialog.tokens, "0", "1", "10000000", "10000001", "many") == ["1", "10000000"]
    assert taken(dialog.timeout, "0", "0.001", "999", "1000", "soon") == ["0.001", "999"]


def test_a_profile_is_made_and_its_key_goes_into_the_keyring_only(open_dialog, connections, keyring, qtbot) -> None:
    dialog = open_dialog()
    add(dialog, "OpenRouter")
    dialog.model.setText("mistral/large")
    dialog.timeout.setText("30")
    dialog.tokens.setText("2000")
    dialog.key.setText(SECRET)
    dialog.save.click()
    assert dialog.key.text() == ""
    settle(dialog, qtbot)
    assert dialog.bar.label.text() == "Saved."
    assert keyring.kept == {("lorestudio", "OpenRouter"): SECRET}
    text = connections.path.read_text(encoding="utf-8")
    assert SECRET not in text
    (written,) = json.loads(text)["profiles"]
    assert (written["model"], written["timeout_ms"], written["max_tokens"]) == ("mistral/large", 30_000, 2000)
    assert dialog.state.text() == "A key is stored in the keyring."
    assert dialog._session.providers.file.profiles[0].name == "OpenRouter"
    window_menu = dialog.parent().chat.modes.source.menu()
    assert "Provider: OpenRouter" in [action.text() for action in window_menu.actions()]
    shown = " ".join(field.text() for field in dialog.findChildren(QLineEdit))
    assert SECRET not in shown


@pytest.mark.always
def test_another_name_takes_the_key_along(open_dialog, keyring, connections, qtbot) -> None:
    keyring.kept["lorestudio", "Remote"] = SECRET
    dialog = open_dialog(REMOTE, Profile("Second", url="http://127.0.0.1:1/v1"))
    assert dialog.key.echoMode() is QLineEdit.EchoMode.Password
    dialog.name.setText("Elsewhere")
    dialog.save.click()
    settle(dialog, qtbot)
    assert keyring.kept == {("lorestudio", "Elsewhere"): SECRET}
    assert [profile.name for profile in connections.load().profiles] == ["Elsewhere", "Second"]


@pytest.mark.always
def test_whoever_was_chosen_by_a_name_goes_along_with_another_name(open_dialog, qtbot) -> None:
    dialog = open_dialog(REMOTE)
    window, session = dialog.parent(), dialog._session
    session.set_project(make_project())
    qtbot.waitUntil(lambda: session.jobs.idle and not session.busy)
    session.replays.choose(source=Source(AnswerKind.PROVIDER, "Remote"))
    window.features.chat.composer.writer_chosen.emit("Remote")
    window.features.systems.configure("hybrid", HybridSettings(embedder="Remote"))
    window.features.systems.configure("world-info", WorldInfoSettings(depth=7))
    heard: list[str] = []
    session.profile_renamed.connect(lambda *_names: heard.append("renamed"))
    for name in ("choice_changed", "state_changed", "profiles_changed"):
        getattr(session, name).connect(lambda name=name: heard.append(f"{name} {session.choice.source.profile}"))
    dialog.name.setText("Elsewhere")
    dialog.save.click()
    settle(dialog, qtbot)
    assert session.choice.source == Source(AnswerKind.PROVIDER, "Elsewhere")
    begun = heard.index("renamed")  # who kept the name has it before anybody else hears of it
    told = [f"{name} Elsewhere" for name in ("choice_changed", "state_changed", "profiles_changed")]
    assert heard[begun : begun + 4] == ["renamed", *told]
    assert session.choices.load(chat_id(session.project)) == session.choice  # also once the window is opened again
    kept = window.features.systems.files.read().values
    assert kept == session.choices.systems
    assert (kept["hybrid"].embedder, kept["world-info"].embedder) == ("Elsewhere", "stand-in")
    assert window.features.chat.writer == "Elsewhere"
    assert window.features.chat.composer.reply_button.toolTip() == "Replies: Elsewhere · big"
    dialog.delete.click()
    next(each for each in dialog.findChildren(QMessageBox)[-1].buttons() if each.text() == "Delete").click()
    settle(dialog, qtbot)
    composer = window.features.chat.composer
    assert "no provider profile called “Elsewhere”" in composer.hint.text()
    assert (window.features.chat.writer, composer.reply_button.toolTip()) == ("", "Replies: I write replies myself")
    session.providers.take(ProfileFile((replace(REMOTE, name="Elsewhere"),)))  # it was put back by hand
    assert (window.features.chat.writer, composer.hint.text()) == ("Elsewhere", "")


@pytest.mark.always
def test_what_was_typed_is_not_dropped_without_a_question(open_dialog, qtbot) -> None:
    dialog = open_dialog(REMOTE, Profile("Second", url="http://127.0.0.1:1/v1"))
    dialog.list.setCurrentRow(1)  # nothing was typed
    settle(dialog, qtbot)
    assert dialog.name.text() == "Second"
    dialog.model.setText("bigger")
    dialog.key.setText(SECRET)
    for button, name, row in (("Cancel", "Second", 1), ("Drop the changes", "Remote", 0)):
        QTest.mouseClick(
            dialog.list.viewport(),
            Qt.MouseButton.LeftButton,
            pos=dialog.list.visualItemRect(dialog.list.item(0)).center(),
        )
        (box,) = (each for each in dialog.findChildren(QMessageBox) if each.isVisible())
        assert box.text() == "What was changed in “Second” is not saved."
        next(each for each in box.buttons() if each.text().replace("&", "") == button).click()
        settle(dialog, qtbot)
        assert (dialog.name.text(), dialog.list.currentRow()) == (name, row)
    assert dialog.key.text() == "", "it was to be that of another profile"
    assert [each.model for each in dialog._session.providers.file.profiles] == ["big", ""]
    assert dialog.lost() == ""
    dialog.model.setText("bigger")
    assert dialog.lost() == "What you changed here would be lost."
    add(dialog, "Ollama")
    assert dialog.name.text() == "Remote"


@pytest.mark.always
def test_what_cannot_be_right_is_said_and_nothing_is_written(open_dialog, connections, qtbot) -> None:
    dialog = open_dialog(REMOTE)
    before = connections.path.read_bytes()
    dialog.url.setText("ftp://nowhere")
    dialog.save.click()
    assert "The field “URL” is no valid address" in dialog.bar.label.text()
    dialog.url.setText("https://me:secret@host/v1")
    dialog.save.click()
    assert "holds a key or a password" in dialog.bar.label.text()
    choose_key(dialog, KeySource.ENVIRONMENT)
    dialog.url.setText(REMOTE.url)
    for key in ("sk-not-a-name", "gsk_" + "Zq7wPl0aBn" * 4):
        dialog.bar.label.clear()
        dialog.variable.setText(key)
        dialog.save.click()
        assert "The field “Variable” is no name of an environment variable" in dialog.bar.label.text()
        assert connections.path.read_bytes() == before
    choose_key(dialog, KeySource.NONE)
    dialog.save.click()
    settle(dialog, qtbot)
    assert connections.load().profiles == (replace(REMOTE, key_source=KeySource.NONE),)


def test_a_name_that_is_taken_is_refused(open_dialog, connections, qtbot) -> None:
    dialog = open_dialog(REMOTE, Profile("Second", url="http://127.0.0.1:1/v1"))
    dialog.list.setCurrentRow(1)
    settle(dialog, qtbot)
    dialog.name.setText("Remote")
    dialog.save.click()
    settle(dialog, qtbot)
    assert 'Two profiles are called "Remote"' in dialog.bar.label.text()
    assert [profile.name for profile in connections.load().profiles] == ["Remote", "Second"]


def test_a_missing_keyring_is_explained(open_dialog, keyring, connections, qtbot) -> None:
    keyring.fails = NoKeyringError()
    dialog = open_dialog(REMOTE)
    assert "This system has no keyring. Install one" in dialog.state.text()
    assert "environment variable" in dialog.state.text()
    dialog.key.setText(SECRET)
    dialog.save.click()
    settle(dialog, qtbot)
    assert dialog.bar.tone == "error"
    assert "The profile was saved, its key was not." in dialog.bar.label.text()
    assert SECRET not in connections.path.read_text(encoding="utf-8")


def test_a_key_in_an_environment_variable(open_dialog, qtbot) -> None:
    dialog = open_dialog(Profile("E", url=REMOTE.url, key_source=KeySource.ENVIRONMENT, key_variable="MY_KEY"))
    assert dialog._form.isRowVisible(dialog.variable)
    assert dialog.state.text() == "The variable MY_KEY holds a key."
    dialog.variable.setText("OTHER_KEY")
    dialog.save.click()
    settle(dialog, qtbot)
    assert "Set the environment variable OTHER_KEY" in dialog.state.text()


@pytest.mark.always
def test_the_connection_is_tested(open_dialog, client, qtbot) -> None:
    dialog = open_dialog(Profile("Local", url="http://127.0.0.1:11434/v1", model="tiny"))
    dialog.test.click()
    qtbot.waitUntil(lambda: "works" in dialog.bar.label.text())
    assert dialog.bar.label.text() == "“Local” works: “ready” after 210 ms (6 tokens)."
    assert client.asked[0].kind == "test"
    client.error = failed("401 Unauthorized", 401, who="Local")
    dialog.test.click()
    qtbot.waitUntil(lambda: "refused the key" in dialog.bar.label.text())
    assert dialog.bar.tone == "error"
    assert dialog.test.isVisible()


@pytest.mark.always
def test_a_connection_that_brings_nothing_is_not_said_to_work(open_dialog, client, qtbot) -> None:
    client.answer = ""
    dialog = open_dialog(Profile("Local", url="http://127.0.0.1:11434/v1", model="tiny"))
    dialog.test.click()
    qtbot.waitUntil(lambda: "with nothing" in dialog.bar.label.text())
    assert dialog.bar.label.text().startswith("“Local” answered after 210 ms (6 tokens), but with nothing.")
    assert dialog.bar.tone == "warning"


def test_a_test_is_stopped_by_its_button_and_by_closing(open_dialog, client, qtbot) -> None:
    client.delay = 30.0
    dialog = open_dialog(Profile("Local", url="http://127.0.0.1:11434/v1"))
    dialog.test.click()
    qtbot.waitUntil(lambda: dialog.stop.isVisible() and bool(client.asked))
    assert dialog.bar.label.text() == "Asking Local…"
    dialog.stop.click()
    qtbot.waitUntil(lambda: dialog.bar.label.text() == "The test was stopped.")
    settle(dialog, qtbot)
    dialog.test.click()
    qtbot.waitUntil(lambda: len(client.asked) == 2)
    session = dialog._session
    dialog.close()
    qtbot.waitUntil(lambda: session.jobs.idle, timeout=3000)


@pytest.mark.always
def test_the_keyboard_stays_with_the_test_and_stops_it(open_dialog, client, qtbot) -> None:
    client.delay = 30.0
    dialog = open_dialog(Profile("Local", url="http://127.0.0.1:9/v1"))
    dialog.test.setFocus()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    qtbot.waitUntil(dialog.stop.isVisible)
    assert dialog.stop.hasFocus()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    settle(dialog, qtbot)
    assert (dialog.bar.label.text(), dialog.test.hasFocus()) == ("The test was stopped.", True)
    dialog.save.setFocus()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    settle(dialog, qtbot)
    assert dialog.save.hasFocus()


def test_a_profile_is_deleted_with_its_key_after_a_question(open_dialog, keyring, connections, qtbot) -> None:
    keyring.kept["lorestudio", "Remote"] = SECRET
    dialog = open_dialog(REMOTE)
    dialog._session.choices.systems["hybrid"] = HybridSettings(embedder="Remote")
    for chat, profile in (("one", "Remote"), ("another", "Remote"), ("third", "Home")):
        dialog._session.choices.save(chat, RunChoice(source=Source(AnswerKind.PROVIDER, profile)))
    dialog.parent().settings.setValue("chat/writer", "Remote")
    dialog.delete.click()
    (box,) = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMessageBox)]
    assert "2 chats chose it for the answers. It writes replies." in box.text()
    assert "“Who makes the vectors” in the settings of Hybrid retrieval names it." in box.text()
    assert connections.load().profiles
    next(button for button in box.buttons() if button.text() == "Delete").click()
    settle(dialog, qtbot)
    assert connections.load().profiles == ()
    assert keyring.kept == {}
    assert dialog.list.count() == 0


@pytest.mark.always
def test_profiles_that_cannot_be_read_stay_in_the_file(open_dialog, connections, qtbot) -> None:
    connections.path.write_text(
        json.dumps(
            {
                "format": "lorestudio-profiles",
                "version": 1,
                "profiles": [{"name": "Odd", "url": "nowhere"}, {"name": "Good", "url": "http://127.0.0.1:1/v1"}],
            }
        )
    )
    dialog = open_dialog()
    assert "profile 1" in dialog.bar.label.text()
    dialog.model.setText("m")
    dialog.save.click()
    settle(dialog, qtbot)
    names = [item["name"] for item in json.loads(connections.path.read_text(encoding="utf-8"))["profiles"]]
    assert sorted(names) == ["Good", "Odd"]


@pytest.mark.always
def test_a_timeout_may_be_a_part_of_a_second(open_dialog, qtbot) -> None:
    hasty = Profile("Hasty", Api.OPENAI, "http://127.0.0.1:1/v1", model="m", timeout_ms=1500)
    dialog = open_dialog(hasty)
    assert dialog.timeout.text() == "1.5"
    dialog.save.click()
    settle(dialog, qtbot)
    assert dialog._session.providers.file.profiles == (hasty,)
    dialog.timeout.setText("0.25")
    dialog.save.click()
    settle(dialog, qtbot)
    assert dialog._session.providers.file.profiles[0].timeout_ms == 250
    for odd in ("0", ".", "1000"):
        dialog.timeout.setText(odd)
        dialog.save.click()
        assert dialog.bar.label.text().startswith(f"Timeout: “{odd}” is no number of seconds.")


def form(dialog) -> list[object]:
    fields = (dialog.name, dialog.url, dialog.model, dialog.key, dialog.variable, dialog.timeout, dialog.tokens)
    return [*(field.text() for field in fields), dialog.api.currentData(), dialog.key_source.currentData()]


@pytest.mark.always
def test_each_profile_is_shown_as_it_is_and_others_are_added_beside_it(open_dialog, client, keyring, qtbot) -> None:
    keyring.kept["lorestudio", "Remote"] = SECRET
    slow = Profile("Slow", Api.ANTHROPIC, "http://127.0.0.1:1/v1", timeout_ms=90_000, max_tokens=9000)
    dialog = open_dialog(REMOTE, slow)
    assert [dialog.list.item(row).text() for row in range(2)] == ["Remote\nbig", "Slow\n127.0.0.1:1"]
    assert (dialog.list.currentRow(), dialog.state.text()) == (0, "A key is stored in the keyring.")
    assert form(dialog) == ["Remote", REMOTE.url, "big", "", "", "", "", "openai", "keyring"]
    dialog.list.setCurrentRow(1)
    assert form(dialog) == ["Slow", slow.url, "", "", "", "90", "9000", "anthropic", "none"]
    assert dialog.state.text() == ""
    for row, said in ((0, "Looking for the key…"), (1, "")):  # gone before it is known whether the first one has a key
        dialog.list.setCurrentRow(row)
        assert dialog.state.text() == said
    settle(dialog, qtbot)
    assert dialog.state.text() == ""
    dialog.key.setText("typed")
    dialog.save.click()
    assert not dialog.save.isEnabled()
    assert not dialog.delete.isEnabled()
    settle(dialog, qtbot)
    assert (dialog.bar.label.text(), dialog.list.currentRow()) == ("Saved.", 1)
    assert all(each.isEnabled() for each in (dialog.save, dialog.test, dialog.add, dialog.delete))
    assert dialog._session.providers.file.profiles == (REMOTE, slow)
    for name in ("Ollama", "Ollama 2", "Ollama 3"):
        add(dialog, "Ollama")
        assert (dialog.name.text(), dialog.list.currentRow(), dialog.delete.isEnabled()) == (name, -1, False)
        assert dialog.state.text() == "A new profile: name the model and save it."
        dialog.save.click()
        settle(dialog, qtbot)
    assert [each.name for each in dialog._session.providers.file.profiles][2:] == ["Ollama", "Ollama 2", "Ollama 3"]
    assert dialog.list.currentRow() == 4
    dialog._delete(dialog._session.providers.file.profiles[4])
    settle(dialog, qtbot)
    assert (dialog.bar.label.text(), dialog.list.count(), dialog.list.currentRow(), client.asked) == (
        "Deleted.",
        4,
        0,
        [],
    )


def test_without_a_profile_the_form_is_that_of_a_new_one(make_session, theme, qtbot) -> None:
    dialog = ProfilesDialog(make_session(), theme)
    qtbot.addWidget(dialog)
    assert (dialog.name.text(), dialog.url.text()) == (PRESETS[0].name, PRESETS[0].url)
    assert dialog.state.text().startswith("There is no profile yet.")
    assert (dialog.delete.isEnabled(), dialog.save.isEnabled(), dialog.stop.isVisible()) == (False, True, False)


@pytest.mark.always
def test_a_key_that_cannot_be_deleted_is_told_with_the_profile_gone(open_dialog, keyring, connections, qtbot) -> None:
    dialog = open_dialog(REMOTE)
    keyring.fails = NoKeyringError()
    dialog._delete(REMOTE)
    settle(dialog, qtbot)
    assert (dialog.bar.tone, connections.load().profiles, dialog.isVisible()) == ("error", (), True)
    assert dialog.bar.label.text().startswith("The profile was deleted, its key was not.")
    keyring.fails = None
    dialog.save.click()
    settle(dialog, qtbot)
    dialog._delete(dialog._session.providers.file.profiles[0])
    settle(dialog, qtbot)
    assert (dialog.bar.tone, dialog.bar.label.text()) == ("good", "Deleted.")


@pytest.mark.parametrize("fails", [None, NoKeyringError()])
def test_while_a_keyring_waits_for_the_person_nothing_closes_the_dialog(
    open_dialog, keyring, qtbot, monkeypatch, fails
) -> None:
    dialog = open_dialog()
    asked, answered = threading.Event(), threading.Event()

    def set_password(service: str, username: str, password: str) -> None:
        asked.set()
        answered.wait(60)
        MemoryKeyring.set_password(keyring, service, username, password)

    monkeypatch.setattr(keyring, "set_password", set_password)
    keyring.fails = fails
    add(dialog, "OpenRouter")
    dialog.model.setText("mistral/large")
    dialog.key.setText(SECRET)
    dialog.save.click()
    qtbot.waitUntil(asked.is_set)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    dialog.close()
    drain()
    assert isValid(dialog)
    assert dialog.isVisible()
    answered.set()
    settle(dialog, qtbot)
    assert dialog.bar.tone == ("error" if fails else "good")
    dialog.close()
    drain()
    assert not isValid(dialog)


@pytest.mark.always
def test_answers_and_modes_are_chosen_from_the_menu(make_window, qtbot) -> None:
    window = make_window(make_project())
    actions = window.commands.actions
    for kind in ("typed", "recorded", "stand-in"):
        window.run(f"answers.{kind}")
        window.update_actions()
        assert window.session.choice.source.kind.value == kind
        assert [name for name in actions if name.startswith("answers.") and actions[name].isChecked()] == [
            f"answers.{kind}"
        ]
    dialog = window.features.providers.edit_behaviour()
    dialog.choose("fill_count", fixed=True)
    dialog.accept()
    assert window.session.choice.fixed == ("fill_count",)
    again = window.features.providers.edit_behaviour()
    assert (again.fixed, again.isVisible()) == (("fill_count",), True)
    again.reject()
    drain()


def test_every_field_has_a_name(open_dialog) -> None:
    dialog = open_dialog(REMOTE)
    for field in (dialog.name, dialog.api, dialog.url, dialog.model, dialog.key_source, dialog.key, dialog.timeout):
        assert field.accessibleName()
    assert dialog.list.accessibleName()


@pytest.mark.always
@pytest.mark.parametrize("names", [(), ("Remote",), ("Remote", "Second")])
def test_who_answers_is_asked_only_where_there_is_a_choice(make_window, qtbot, names) -> None:
    window = make_window(make_project())
    window.session.connections.save(ProfileFile(tuple(replace(REMOTE, name=name) for name in names)))
    window.session.providers.load()
    qtbot.waitUntil(lambda: window.session.jobs.idle)
    window.run("answers.provider")
    tops = [each for each in QApplication.topLevelWidgets() if each.isVisible() and each is not window]
    dialogs = [each for each in tops if isinstance(each, ProfilesDialog | Picker)]
    assert [type(each) for each in dialogs] == {0: [ProfilesDialog], 1: [], 2: [Picker]}[len(names)]
    assert (window.session.choice.source.profile == "Remote") == (len(names) == 1)
    if len(names) == 2:
        QTest.keyClicks(dialogs[0].field, "second")
        QTest.keyClick(dialogs[0].field, Qt.Key.Key_Return)
        assert window.session.choice.source.profile == "Second"
    for each in dialogs:
        each.close()
    drain()
