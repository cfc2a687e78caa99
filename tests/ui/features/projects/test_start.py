"""The start screen: what can be opened, what comes of it, and what was open before."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QScreen
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.ideas import Change, NoteEdit
from lorestudio.ui.features.notes.pane import WRITE
from lorestudio.ui.features.projects.actions import PasteDialog
from lorestudio.ui.features.projects.folder_dialog import FolderDialog
from lorestudio.ui.features.projects.start import DOORS, RecentProject, RecentProjects
from lorestudio.ui.shell.theme import glyph
from lorestudio.ui.state.note_changes import READ_ONLY
from lorestudio.ui.widgets.picker import Picker
from tests.ui.conftest import drain, settle
from tests.ui.worlds import make_project

if TYPE_CHECKING:
    from pathlib import Path

    from lorestudio.ui.shell.main_window import MainWindow

BOOK = {"entries": {"0": {"uid": 0, "key": ["fog"], "keysecondary": [], "content": "Fog is grey.", "comment": "Fog"}}}


def shown(kind: type) -> list:
    return [each for each in QApplication.topLevelWidgets() if isinstance(each, kind) and each.isVisible()]


def answer_file_dialog(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Whatever file or folder is asked for, it is this one."""
    monkeypatch.setattr(QFileDialog, "open", lambda self: self.fileSelected.emit(str(path)))


def press(window: MainWindow, door: str) -> None:
    QTest.mouseClick(window.welcome.cards[door], Qt.MouseButton.LeftButton)
    settle(window)


@pytest.fixture
def start(make_window, tmp_path) -> MainWindow:
    window = make_window(make_simulator=Simulator, demo_in=tmp_path / "data" / "demo")
    window.keep_notes_safe(tmp_path / "data" / "notes")
    return window


def test_every_door_is_an_action_and_leads_on_without_a_project(start) -> None:
    assert [name for name, *_ in DOORS] == list(start.welcome.cards)
    assert all(start.commands.actions[name].isEnabled() for name in start.welcome.cards)
    assert start.welcome.cards["demo.open"].hasFocus()


def test_every_door_has_its_picture_in_the_colour_of_the_theme(start) -> None:
    def wrong() -> list[str]:
        shown = {door: start.welcome.cards[door]._picture.pixmap().toImage() for door, *_ in DOORS}
        right = {door: QLabel(pixmap=glyph(icon, start.theme.palette.accent, 22)).pixmap() for door, icon, *_ in DOORS}
        return [door for door, picture in shown.items() if picture != right[door].toImage()]

    assert wrong() == []
    start.theme.choose("dark")
    assert wrong() == []


@pytest.mark.long
@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_the_door_that_has_the_keyboard_opens_with_enter_and_space(start, key) -> None:
    QTest.keyClick(start.windowHandle(), key)
    settle(start)
    assert start.session.project is not None
    assert start.session.project.name == "The Brume"


@pytest.mark.long
@pytest.mark.dressed
@pytest.mark.parametrize("width", [700, 1300])
def test_the_words_of_a_door_are_whole_at_every_width(make_window, width: int) -> None:
    window = make_window()
    window.resize(width, 900)
    drain()
    heights = set()
    for card in window.welcome.cards.values():
        heights.add(card.height())
        for words in card.findChildren(QLabel):
            assert words.height() >= words.heightForWidth(words.width())
            assert card.rect().contains(words.geometry())
    assert (len(heights) > 1) is (width < 1000)  # in a narrow window some take a line more


def test_the_demo_is_a_copy_that_may_be_edited_and_comes_back(start, tmp_path) -> None:
    press(start, "demo.open")
    folder = tmp_path / "data" / "demo"
    assert start.session.project.vault_folders == (folder / "The Brume",)
    assert start.selection.entry is not None
    note = folder / "The Brume" / "The Brume.md"
    before = note.read_bytes()
    note.write_bytes(b"gone")
    start.run("demo.open")
    settle(start)
    assert note.read_bytes() == b"gone"
    start.run("demo.reset")
    settle(start)
    assert note.read_bytes() == before
    assert (tmp_path / "data" / "demo before reset" / "The Brume" / "The Brume.md").read_bytes() == b"gone"
    assert RecentProjects(start.settings).load() == []


def test_what_was_open_is_offered_and_opens_with_its_chat(make_window, tmp_path) -> None:
    first = make_window(open_project(make_project(tmp_path / "vault").roots))
    known = RecentProjects(first.settings).load()
    assert [one.title for one in known] == ["vault"]
    first.close()
    second = make_window()
    settle(second)
    card = second.welcome._recent.itemAt(0).widget()
    assert card.hasFocus()
    QTest.keyClick(card, Qt.Key.Key_Space)
    settle(second)
    assert second.session.project.places == known[0].places
    assert str(second.session.project.chat_path or "") == known[0].chat


def test_a_vault_with_a_chat_is_offered_once_and_can_be_taken_off_the_list(make_window, tmp_path) -> None:
    window = make_window()
    recent = RecentProjects(window.settings)
    alone = open_project(make_project(tmp_path / "vault").roots)
    chats = [replace(alone, chat=Chat(()), chat_path=tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    for project in (alone, *chats):
        recent.add(project)
    assert [one.chat for one in recent.load()] == [str(tmp_path / "b.jsonl"), str(tmp_path / "a.jsonl")]
    window.welcome.show_recent(recent.load())
    (take_off,) = window.welcome._recent.itemAt(0).widget().actions()
    take_off.trigger()
    drain()
    assert [one.chat for one in recent.load()] == [str(tmp_path / "a.jsonl")]
    assert window.welcome._recent.count() == 1
    assert [button.isVisible() for button in window.features.window.buttons] == [False, True, True], "no panes yet"
    window.session.set_project(alone)
    assert window.features.window.buttons[0].isVisible()


@pytest.mark.always
def test_a_project_that_is_gone_is_taken_off_the_list_and_said(make_window, tmp_path) -> None:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    RecentProjects(settings)._keep([RecentProject((str(tmp_path / "nowhere"),))])
    settings.sync()
    window = make_window()
    QTest.mouseClick(window.welcome._recent.itemAt(0).widget(), Qt.MouseButton.LeftButton)
    assert "nowhere is not there any more" in window.bars.texts[0]
    assert RecentProjects(window.settings).load() == []


@pytest.mark.always
def test_a_project_on_a_disk_that_is_away_stays_on_the_list(make_window, tmp_path, go_away) -> None:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    RecentProjects(settings)._keep([RecentProject((str(tmp_path / "vault"),))])
    settings.sync()
    window = make_window()
    go_away(tmp_path / "vault")
    QTest.mouseClick(window.welcome._recent.itemAt(0).widget(), Qt.MouseButton.LeftButton)
    settle(window)
    assert str(tmp_path / "vault") in window.bars.texts[0]
    assert "Input/output error. Look whether its disk" in window.bars.texts[0]
    assert len(RecentProjects(window.settings).load()) == 1


@pytest.mark.parametrize("kept", ["nonsense", "[1]", '[{"places": 3}]', "{}"])
def test_an_unreadable_list_is_an_empty_one(tmp_path, kept: str) -> None:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    settings.setValue("projects/recent", kept)
    assert RecentProjects(settings).load() == []


@pytest.mark.always
def test_a_lorebook_alone_is_opened_with_its_entries(start, tmp_path, monkeypatch) -> None:
    path = tmp_path / "fog.json"
    path.write_text(json.dumps(BOOK))
    answer_file_dialog(monkeypatch, path)
    press(start, "book.open")
    assert start.session.choice.system == "world-info"
    assert [entry.title for entry in start.session.project.index.entries] == ["Fog"]
    recent = RecentProject((str(path),), roles={str(path): "global"})
    assert RecentProjects(start.settings).load() == [recent]
    RecentProjects(start.settings)._keep([replace(recent, roles={str(path): "persona"})])
    start.run("projects.recent")
    (picker,) = shown(Picker)
    path.write_text(json.dumps({"entries": {}}))
    QTest.keyClick(picker.field, Qt.Key.Key_Return)
    settle(start)
    assert start.session.project.index.entries == ()
    assert [book.role.value for book in start.session.project.books] == ["persona"]
    assert RecentProjects(start.settings).load()[0].roles == {str(path): "persona"}


def test_what_is_no_lorebook_is_said(start, tmp_path, monkeypatch) -> None:
    path = tmp_path / "note.json"
    path.write_text('{"name": 3')
    answer_file_dialog(monkeypatch, path)
    press(start, "book.open")
    assert "note.json" in start.bars.texts[0]
    assert start.session.project is None


def test_a_chat_of_sillytavern_waits_for_its_vault(start, tmp_path, monkeypatch) -> None:
    user = tmp_path / "SillyTavern" / "data" / "default-user"
    (user / "chats" / "Ottoline").mkdir(parents=True)
    chat = user / "chats" / "Ottoline" / "Ottoline - 2024.jsonl"
    chat.write_text('{"user_name":"Wren","character_name":"Ottoline"}\n{"name":"Wren","is_user":true,"mes":"Fog."}\n')
    answer_file_dialog(monkeypatch, tmp_path / "SillyTavern")
    press(start, "sillytavern.open")
    settle(start)
    assert start.settings.value("folders/sillytavern") == str(tmp_path / "SillyTavern")
    (dialog,) = shown(FolderDialog)
    assert [(each.kind, each.name) for each in dialog.model.rows] == [("Chat", "Ottoline - 2024")]
    QTest.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    settle(start)
    assert start.session.project.chat_path == chat
    told = "Ottoline - 2024.jsonl is open, without any lore yet. Open the vault that it used, or a lorebook. "
    assert start.bars.texts[0].startswith(told)
    assert "card of Ottoline is not there" in start.bars.texts[0]
    vault = make_project(tmp_path / "vault").roots[0]
    answer_file_dialog(monkeypatch, vault)
    start.run("vault.open")
    settle(start)
    assert start.session.project.roots == [vault]
    assert start.session.project.chat_path == chat


def ask_sillytavern(start, tmp_path, monkeypatch, book: str, settings: dict[str, object]) -> tuple[Path, FolderDialog]:
    """A SillyTavern with the book Town and a chat that names `book`: its user's folder, and what asks for a chat."""
    user = tmp_path / "SillyTavern" / "data" / "default-user"
    metadata = json.dumps({"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": {"world_info": book}})
    texts = {
        "chats/Ottoline/One.jsonl": metadata + '\n{"name":"Wren","is_user":true,"mes":"Fog."}\n',
        "worlds/Town.json": json.dumps({"entries": {"0": {**BOOK["entries"]["0"], "position": 0, "order": 1}}}),
        "settings.json": json.dumps(settings),
    }
    for name, text in texts.items():
        (user / name).parent.mkdir(parents=True, exist_ok=True)
        (user / name).write_text(text)
    answer_file_dialog(monkeypatch, tmp_path / "SillyTavern")
    press(start, "sillytavern.open")
    settle(start)
    (dialog,) = shown(FolderDialog)
    return user, dialog


def test_a_vault_is_opened_beside_a_chat_of_sillytavern_with_its_books(start, tmp_path, monkeypatch) -> None:
    """The message over such a chat says to open its vault; the chat was gone then, and its card with it."""
    own = {"username": "Wren", "extension_settings": {"deeplore_enhanced": {"enabled": True, "maxTokensBudget": 640}}}
    user, dialog = ask_sillytavern(start, tmp_path, monkeypatch, "Town", own)
    dialog.field.setText("one")
    dialog.accept()
    settle(start)
    session = start.session
    assert (session.project.system, session.choice.system) == ("world-info", "world-info")
    setup = session.project.setup
    vault = make_project(tmp_path / "vault").roots[0]
    answer_file_dialog(monkeypatch, vault)
    start.run("vault.open")
    settle(start)
    project = session.project
    assert (project.roots, project.chat_path) == ([vault], user / "chats" / "Ottoline" / "One.jsonl")
    assert [book.name for book in project.books] == ["Town"]
    assert project.setup == setup
    assert project.settings.max_tokens_budget == 640
    assert not start.commands.actions["sillytavern.edit"].isEnabled()  # its notes are changed, not its books
    assert session.choice.system == "deeplore"
    entry = project.index.entries[0]
    start.selection.choose_entry(entry.id)
    settle(start)
    assert project.note_path(entry.vault, entry.filename).is_file()
    assert "only read here" not in start.entry.bar.label.text()


def test_a_chat_of_sillytavern_brings_its_books_which_are_only_read(start, tmp_path, monkeypatch) -> None:
    own = {"world_info_settings": {"world_info_depth": 7}, "power_user": {"personas": {"a.png": "Quill"}}}
    _, dialog = ask_sillytavern(start, tmp_path, monkeypatch, "Town", own)
    kinds = ["Chat", "Lorebook", "Persona", "Settings"]
    assert [each.kind for each in dialog.model.rows] == kinds
    dialog.field.setText("persona")
    assert not dialog.open_button.isEnabled()
    dialog.field.setText("one")
    dialog.accept()
    settle(start)
    told = "One.jsonl is open with its lorebooks. Is its lore in a vault? Open that."
    assert start.bars.texts[0].startswith(told)
    session = start.session
    assert [entry.title for entry in session.project.index.entries] == ["Fog"]
    assert session.choice.settings.depth == 7
    assert [each.title for each in session.runs.trace(session.generations[-1]).injections] == ["Fog"]
    start.selection.choose_entry(0)
    settle(start)
    assert "only read here" in start.entry.bar.label.text()
    assert not start.commands.actions["note.delete"].isEnabled()
    start.run("project.close")
    settle(start)
    QTest.mouseClick(start.welcome._recent.itemAt(0).widget(), Qt.MouseButton.LeftButton)
    settle(start)
    start.selection.choose_entry(0)
    settle(start)
    assert "only read here" in start.entry.bar.label.text()  # also where it comes off the list
    assert session.project.changed_in == []


def test_the_books_of_a_chat_of_sillytavern_are_edited_once_somebody_says_so(start, tmp_path, monkeypatch) -> None:
    """Who was told to open the book by itself lost the chat, its card and the other books by that."""
    user, dialog = ask_sillytavern(start, tmp_path, monkeypatch, "Town", {"username": "Wren"})
    dialog.accept()
    settle(start)
    town, session = user / "worlds" / "Town.json", start.session
    before, opened = town.read_bytes(), session.project
    entry = opened.index.entries[0]
    start.selection.choose_note(entry)
    change = Change("add_key", "Add a key", note=NoteEdit.of(entry, "key", add=("mist",)))
    start.features.why_not.page.wanted.emit(change)
    settle(start)
    assert (start.bars.texts[0], town.read_bytes()) == (READ_ONLY, before)
    edits = start.commands.actions["sillytavern.edit"]
    session.replays.run_all()
    start.context.update_actions()
    assert not edits.isEnabled(), "what is being read would take the place of the project that may be written"
    settle(start)
    assert edits.isEnabled()
    assert "Edit SillyTavern's lorebooks" in [each.text() for each in start.bars.findChildren(QPushButton)]
    made = [each for each in start.entry.bar.findChildren(QPushButton) if each.text() == "Edit its lorebooks"]
    made[0].click()
    settle(start)
    assert "Reload its page" in start.bars.texts[0]
    assert [text for text in start.bars.texts if text == READ_ONLY or "is open with its lorebooks" in text] == []
    assert not edits.isEnabled()
    assert (session.project.chat_path, session.project.setup) == (opened.chat_path, opened.setup)
    assert start.selection.note_of(session) == entry
    assert (start.entry.tabs.currentIndex(), start.entry.path) == (WRITE, town / "uid 0")
    start.features.why_not.page.wanted.emit(change)
    settle(start)
    assert json.loads(town.read_text())["entries"]["0"]["key"] == [*entry.keys, "mist"]
    start.run("vault.undo")
    settle(start)
    assert town.read_bytes() == before


def test_a_lorebook_that_is_gone_is_told_once_with_where_it_should_be(start, tmp_path, monkeypatch) -> None:
    """It was told twice, the second time as if nobody had said where SillyTavern's lorebooks lie."""
    own = {"world_info_settings": {"world_info": {"globalSelect": ["Town"]}}}
    user, dialog = ask_sillytavern(start, tmp_path, monkeypatch, "Gone", own)
    dialog.accept()
    settle(start)
    (told,) = (text for text in start.bars.texts if "“Gone”" in text)
    assert f"{user / 'worlds' / 'Gone.json'} is not there" in told
    start.run("project.close")
    settle(start)
    QTest.mouseClick(start.welcome._recent.itemAt(0).widget(), Qt.MouseButton.LeftButton)
    settle(start)
    (told,) = (text for text in start.bars.texts if "“Gone”" in text)
    assert f"{user / 'worlds' / 'Gone.json'} is not there" in told


def test_what_is_said_of_a_chats_lorebooks_goes_with_the_chat(start, tmp_path) -> None:
    entry = {**BOOK["entries"]["0"], "position": 0, "order": 1}
    (book := tmp_path / "Town.json").write_text(json.dumps({"entries": {"0": entry}}))
    for name, world in (("One", "Gone"), ("Two", "Town"), ("One", "Gone")):
        (path := tmp_path / f"{name}.jsonl").write_text(
            f'{{"user_name":"Wren","character_name":"Ann","chat_metadata":{{"world_info":"{world}"}}}}\n'
            '{"name":"Wren","is_user":true,"mes":"Fog."}\n'
        )
        start.session.set_project(open_project([book], path))
        settle(start)
        assert [f"“{world}”, which is not scanned" in text for text in start.bars.texts] == [True] * (world == "Gone")


@pytest.mark.always
def test_a_group_keeps_its_members_and_their_lorebooks_when_it_is_opened_again(start, tmp_path, monkeypatch) -> None:
    user = tmp_path / "SillyTavern" / "data" / "default-user"
    lines = [{"user_name": "Wren", "character_name": "", "chat_metadata": {}}]
    lines += [{"name": name, "is_user": name == "Wren", "mes": "Hm."} for name in ("Wren", "Mina", "Hob")]
    group = {"id": "9", "name": "The inn", "members": ["Mina.png", "Hob.png"], "chats": ["g1"], "chat_id": "g1"}
    texts = {
        "group chats/g1.jsonl": "\n".join(map(json.dumps, lines)) + "\n",
        "groups/9.json": json.dumps(group),
        "settings.json": json.dumps({
            "world_info_settings": {"world_info": {"charLore": [{"name": "Hob", "extraBooks": ["Cellar"]}]}},
        }),
    }  # fmt: skip
    for member, book in (("Mina", "Letters"), ("Hob", "Cellar")):
        world = book if member == "Mina" else ""
        card = {"spec": "chara_card_v2", "data": {"name": member, "extensions": {"world": world}}}
        entry = {"uid": 0, "comment": book, "constant": True, "content": f"{book}.", "position": 0, "order": 1}
        texts |= {
            f"characters/{member}.png": json.dumps(card),
            f"worlds/{book}.json": json.dumps({"entries": {"0": entry}}),
        }
    (user / "chats").mkdir(parents=True)
    for name, text in texts.items():
        (user / name).parent.mkdir(parents=True, exist_ok=True)
        (user / name).write_text(text)
    answer_file_dialog(monkeypatch, tmp_path / "SillyTavern")
    press(start, "sillytavern.open")
    settle(start)
    (dialog,) = shown(FolderDialog)
    dialog.field.setText("g1")
    dialog.accept()
    settle(start)
    session = start.session

    def lore() -> list[list[str]]:
        return [[each.title for each in session.runs.trace(run).injections] for run in session.generations]

    assert lore() == [["Letters"], ["Cellar"], ["Cellar"]]  # the next one is Hob's again, as SillyTavern draws by lot
    start.run("project.close")
    settle(start)
    QTest.mouseClick(start.welcome._recent.itemAt(0).widget(), Qt.MouseButton.LeftButton)
    settle(start)
    assert lore() == [["Letters"], ["Cellar"], ["Cellar"]]


@pytest.mark.parametrize("own", [True, False])
def test_that_sillytaverns_settings_take_the_place_of_ones_own_is_said(start, tmp_path, monkeypatch, own: bool) -> None:
    user = tmp_path / "SillyTavern" / "data" / "default-user"
    (user / "chats" / "Ottoline").mkdir(parents=True)
    (user / "chats" / "Ottoline" / "One.jsonl").write_text('{"name":"Wren","is_user":true,"mes":"Fog."}\n')
    (user / "settings.json").write_text(json.dumps({"world_info_settings": {"world_info_depth": 7}}))
    mine = WorldInfoSettings(depth=9 if own else WorldInfoSettings().depth)
    start.features.systems.configure("world-info", mine)
    answer_file_dialog(monkeypatch, tmp_path / "SillyTavern")
    press(start, "sillytavern.open")
    (dialog,) = shown(FolderDialog)
    dialog.accept()
    settle(start)
    assert start.session.choices.systems["world-info"].depth == 7
    said = [text for text in start.bars.texts if "settings of World Info are SillyTavern's from now on" in text]
    assert bool(said) is own
    start.run("adjust.undo")
    settle(start)
    assert start.session.choices.systems["world-info"] == mine


def test_a_folder_that_is_not_sillytaverns_is_said(start, tmp_path, monkeypatch) -> None:
    answer_file_dialog(monkeypatch, tmp_path)
    press(start, "sillytavern.open")
    assert "data/default-user" in start.bars.texts[0]


@pytest.mark.always
def test_a_pasted_chat_is_kept_and_opened(start, tmp_path, monkeypatch) -> None:
    noon = datetime(2024, 10, 5, 12, tzinfo=UTC)
    monkeypatch.setattr("lorestudio.ui.features.projects.actions.utc_now", lambda: noon)
    press(start, "chat.paste")
    (dialog,) = shown(PasteDialog)
    assert not dialog.open_button.isEnabled()
    QApplication.clipboard().setText("Wren: The fog is in.\nOttoline: Then shut the door.")
    dialog.field.setFocus()
    QTest.keyClick(dialog.field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert dialog.said.text() == "2 messages of Wren, Ottoline."
    QTest.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    settle(start)
    path = start.session.project.chat_path
    assert path.parent == tmp_path / "data" / "pasted"
    assert [message.text for message in open_project([], path).chat.messages] == [
        "The fog is in.",
        "Then shut the door.",
    ]
    before = path.read_bytes()
    start.run("chat.paste")
    (dialog,) = shown(PasteDialog)
    dialog.field.setPlainText("Wren: The fog is out.\nOttoline: Then open it.")
    QTest.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    settle(start)
    assert start.session.project.chat_path.name == "Ottoline 2024-10-05 120000 (2).txt"  # the clock stands still
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("screen", "maximised"), [((1920, 1080), False), ((1280, 800), True), ((1366, 768), True), ((2560, 1440), False)]
)
def test_the_first_window_takes_most_of_its_screen(make_window, monkeypatch, screen, maximised: bool) -> None:
    window = make_window()
    room = QApplication.primaryScreen().availableGeometry()
    room.setSize(window.size().__class__(*screen))
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _self: room)
    window.begin_on_screen()
    assert window.isMaximized() == maximised
    if not maximised:
        assert window.width() == pytest.approx(screen[0] * 0.9, abs=1)
        assert window.height() == pytest.approx(screen[1] * 0.9, abs=1)


@pytest.mark.long
@pytest.mark.dressed
def test_crossing_a_width_arranges_anew_and_leaves_a_pane_its_own_window(make_window, tmp_path) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    window.resize(1280, 960)
    window.run("view.reset")
    settle(window)
    beside = window.tabifiedDockWidgets(window.docks["trace"])
    assert window.docks["budget"] not in beside
    window.resize(1024, 640)
    settle(window)
    assert window.docks["budget"] in window.tabifiedDockWidgets(window.docks["trace"])
    window.resize(1280, 960)
    settle(window)
    assert window.docks["budget"] not in window.tabifiedDockWidgets(window.docks["trace"])
    window.docks["vault"].setFloating(True)
    window.resize(1024, 640)
    settle(window)
    assert window.docks["budget"] in window.tabifiedDockWidgets(window.docks["trace"])
    assert window.docks["vault"].isFloating()


def test_closing_leads_to_the_start_and_the_panes_come_back_with_the_next_project(make_window, tmp_path) -> None:
    window = make_window(open_project(make_project(tmp_path / "vault").roots))
    before = {name for name, dock in window.docks.items() if not dock.isHidden()}
    assert window.welcome.isHidden()
    window.run("project.close")
    settle(window)
    assert window.session.project is None
    assert not window.welcome.isHidden()
    assert all(dock.isHidden() for dock in window.docks.values())
    assert window.windowTitle() == "lorestudio"
    assert not window.commands.actions["project.close"].isEnabled()
    card = window.welcome._recent.itemAt(0).widget()
    assert card.hasFocus()
    QTest.keyClick(card, Qt.Key.Key_Space)
    settle(window)
    assert {name for name, dock in window.docks.items() if not dock.isHidden()} == before
    assert window.welcome.isHidden()


def test_a_lorebook_of_sillytaverns_folder_is_opened_alone(start, tmp_path, monkeypatch) -> None:
    user = tmp_path / "SillyTavern" / "data" / "default-user"
    (user / "worlds").mkdir(parents=True)
    (user / "chats").mkdir()
    book = user / "worlds" / "Town.json"
    book.write_text(json.dumps(BOOK), "utf-8")
    answer_file_dialog(monkeypatch, tmp_path / "SillyTavern")
    press(start, "sillytavern.open")
    settle(start)
    (dialog,) = shown(FolderDialog)
    dialog.field.setText("town")
    dialog.accept()
    settle(start)
    assert start.session.project.book_paths == (book,)
    assert [entry.title for entry in start.session.project.index.entries] == ["Fog"]
    assert start.settings.value("folders/book") == str(book.parent)


def test_a_pasted_chat_goes_to_the_vault_that_is_open(make_window, tmp_path) -> None:
    window = make_window(make_project(tmp_path / "vault", chat=False))
    window.keep_notes_safe(tmp_path / "data" / "notes")
    window.run("chat.paste")
    (dialog,) = shown(PasteDialog)
    dialog.field.setPlainText('{"user_name":"Wren","character_name":"Ada"}\n{"name":"Ada","mes":"Hm."}')
    dialog.accept()
    settle(window)
    project = window.session.project
    assert project.vault_folders == (tmp_path / "vault",)
    assert [message.text for message in project.chat.messages] == ["Hm."]
    assert (project.chat_path.parent, project.chat_path.suffix) == (tmp_path / "data" / "pasted", ".jsonl")
    assert project.chat_path.name.startswith("Ada ")
    assert window.bars.texts == []  # it has its lore


@pytest.mark.always
def test_that_the_chat_went_on_is_said_where_something_came(make_window) -> None:
    window = make_window()
    for messages, said in ((0, ""), (-1, ""), (1, "1 new message."), (2, "2 new messages.")):
        window.status.clearMessage()
        window.features.projects._say_more(messages)
        assert window.status.currentMessage() == (f"The chat went on: {said}" if said else "")


def test_what_was_opened_last_has_the_keyboard_and_says_where_it_lies(make_window, tmp_path) -> None:
    window = make_window()
    one = RecentProject(("/vaults/First",), "/chats/a.jsonl")
    two = RecentProject((), "/chats/Second.jsonl")
    wanted: list[RecentProject] = []
    window.welcome.wanted.disconnect()
    window.welcome.wanted.connect(wanted.append)
    assert not window.welcome._before.isVisibleTo(window)
    window.welcome.show_recent([one, two])
    assert window.welcome._before.isVisibleTo(window)
    cards = [window.welcome._recent.itemAt(place).widget() for place in range(2)]
    assert [card.accessibleName() for card in cards] == ["First", "Second"]
    assert [card.toolTip() for card in cards] == ["/vaults/First\n/chats/a.jsonl", "/chats/Second.jsonl"]
    window.welcome.focus_first()
    assert cards[0].hasFocus()
    cards[1].click()
    assert wanted == [two]
    window.welcome.show_recent([])
    assert not window.welcome._before.isVisibleTo(window)
    window.welcome.focus_first()
    assert window.welcome.cards["demo.open"].hasFocus()
