"""Lorebooks in and out in the window: what is shown, what is written, and the one undo."""

from __future__ import annotations

import json
from threading import Event

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from shiboken6 import isValid

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.formats import FORMATS
from lorestudio.studio.lorebooks.exporting import Tried
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.lorebooks import dialogs
from lorestudio.ui.features.lorebooks.dialogs import ExportBookDialog, ImportBooksDialog, SyncDialog
from lorestudio.ui.features.proposals.dialog import ProposalsDialog
from lorestudio.ui.widgets import dialogs as choosing
from tests.ui.conftest import settle
from tests.ui.vaults import contents, open_vault, write_vault

NOTES = {
    "Bell.md": "---\ntags: [lorebook]\nkeys: [bell]\nrequires: [Sea]\n---\n# Bell\n\nIt rings.\n",
    "Sea.md": "---\ntags: [lorebook]\nkeys: [sea]\n---\n# Sea\n\nWide.\n",
    "plain.md": "Milk.\n",
}


@pytest.fixture
def window(make_window, tmp_path):
    made = make_window(make_simulator=Simulator)
    made.features.vault.keep_in(tmp_path / "kept")
    chat = Chat((Message("U", "The bell and the sea?", is_user=True), Message("C", "It rings.")))
    made.session.set_project(replace(open_project([write_vault(tmp_path / "vault", NOTES)]), chat=chat))
    settle(made)
    return made


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "Isles.json"
    entries = {
        "0": {"uid": 0, **NEW_ENTRY, "key": ["skarn"], "comment": "Skarn", "content": "An isle.", "sticky": 2},
        "1": {"uid": 1, **NEW_ENTRY, "key": ["BELL"], "comment": "Other bell", "content": "It rings."},
        "2": {"uid": 2, **NEW_ENTRY, "key": ["other"], "comment": "Other", "content": "Else."},
    }
    path.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    return path


def shown(window, action, kind):
    window.run(action)
    settle(window)
    return next(one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible())


def fates(dialog) -> set[tuple[str, ...]]:
    return {tuple(texts[:2]) for texts in dialog.fields.texts()[1:]}


def click(dialog, window) -> None:
    QTest.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    settle(window)


def filled(dialog, window, field, text) -> None:
    field.setText(text)
    dialog._look()
    settle(window)


@pytest.mark.long
def test_books_become_notes_as_one_step(window, book, tmp_path) -> None:
    dialog = shown(window, "book.import", ImportBooksDialog)
    assert not dialog.ok.isEnabled()
    filled(dialog, window, dialog.files, str(tmp_path / "gone.json"))
    assert "no such file" in dialog.bar.label.text()
    filled(dialog, window, dialog.files, str(book))
    rows = {row.title: (row.place, row.said) for row in dialog.entries.rows}
    assert rows["Other bell"] == ("", "Bell.md has the same text and keys already.")
    assert ("sticky", "carried along") in fates(dialog)
    assert rows["Skarn"] == ("Isles/Skarn.md", "sticky: carried along")
    dialog.twins.setCurrentIndex(dialog.twins.findText("keep both"))
    dialog._look()
    settle(window)
    assert "Isles/Other bell.md" in {row.place for row in dialog.entries.rows}
    dialog.entries.choose([("Isles", "0")])
    QTest.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    assert not dialog.ok.isEnabled()  # a second click would make them twice
    settle(window)
    assert not isValid(dialog)
    assert contents(tmp_path / "vault").keys() - NOTES.keys() == {"Isles/Skarn.md"}
    assert (tmp_path / "vault/Isles/Isles.book.json").exists()
    assert "Skarn" in {entry.title for entry in window.session.project.index.entries}
    window.run("vault.undo")
    settle(window)
    assert contents(tmp_path / "vault") == NOTES


@pytest.mark.long
def test_an_open_book_is_written_in_another_format_and_that_is_undone(window, book, tmp_path) -> None:
    window.session.set_project(replace(open_project([book]), chat=window.session.project.chat))
    settle(window)
    dialog = shown(window, "book.export", ExportBookDialog)
    assert dialog.vault.currentText() == "Isles"
    dialog.form.setCurrentIndex(dialog.form.findData("novelai"))
    target = tmp_path / "out.lorebook"
    filled(dialog, window, dialog.file, str(target))
    assert [row.title for row in dialog.entries.rows] == ["Skarn", "Other bell", "Other"]
    assert [texts[:2] for texts in dialog.entries.texts()[:2]] == [["Entry", "Number"], ["Skarn", "0"]]
    assert dialog.folder.placeholderText() == "all entries"
    dialog.compare.click()
    settle(window)
    assert dialog.tried.text() == "In 2 of 2 replies the book gives the same entries."
    dialog.entries.choose([("uid 1", "")])
    dialog.lossy.setChecked(True)  # NovelAI has no sticky entries
    click(dialog, window)
    assert [each["displayName"] for each in json.loads(target.read_bytes())["entries"]] == ["Other bell"]
    window.run("vault.undo")
    settle(window)
    assert not target.exists()


@pytest.mark.long
def test_after_an_import_summaries_are_offered_until_it_is_undone(window, book, tmp_path) -> None:
    window.features.proposals.records = tmp_path / "records"
    dialog = shown(window, "book.import", ImportBooksDialog)
    filled(dialog, window, dialog.files, str(book))
    click(dialog, window)
    offer = next(one for one in window.bars.findChildren(QPushButton) if one.text() == "Propose summaries…")
    QTest.mouseClick(offer, Qt.MouseButton.LeftButton)
    settle(window)
    proposals = next(one for one in QApplication.topLevelWidgets() if isinstance(one, ProposalsDialog))
    assert "Skarn" in {row.title for row in proposals.work.rows}
    proposals.reject()
    settle(window)
    window.run("vault.undo")
    settle(window)
    assert window.bars.texts == []


@pytest.mark.long
def test_of_what_only_goes_along_it_is_said_what_that_means(window, tmp_path) -> None:
    entry = {"text": "Grey.", "displayName": "Fog", "keys": ["fog"], "id": "6b-4f", "enabled": True}
    path = tmp_path / "own.lorebook"
    path.write_text(json.dumps({"lorebookVersion": 5, "entries": [entry]}), encoding="utf-8")
    dialog = shown(window, "book.import", ImportBooksDialog)
    filled(dialog, window, dialog.files, str(path))
    told = {texts[0]: texts[1:] for texts in dialog.fields.texts()[1:]}
    sentence = "There is nothing like it there, so it is kept as it is and comes out again."
    assert told["id"] == ["carried along", "1", sentence]
    dialog.reject()


@pytest.mark.long
def test_books_become_a_new_vault(window, book, tmp_path) -> None:
    dialog = shown(window, "book.import", ImportBooksDialog)
    dialog.into.setCurrentIndex(dialog.into.findData(""))
    dialog.vault.setText(str(tmp_path / "new"))
    filled(dialog, window, dialog.files, str(book))
    click(dialog, window)
    settle(window)
    assert {entry.title for entry in window.session.project.index.entries} == {"Skarn", "Other bell", "Other"}
    assert "AI selection chooses by summaries" in window.bars.texts[0]


@pytest.mark.long
def test_a_file_without_lore_keeps_no_other_waiting(window, book, tmp_path) -> None:
    (tmp_path / "other.json").write_text('{"a": 1}', encoding="utf-8")
    dialog = shown(window, "book.import", ImportBooksDialog)
    filled(dialog, window, dialog.files, f"{tmp_path / 'gone.json'}; {book}; {tmp_path / 'other.json'}")
    assert "Skarn" in {row.title for row in dialog.entries.rows}
    assert "gone.json" in dialog.bar.label.text()
    click(dialog, window)
    assert "Isles/Skarn.md" in contents(tmp_path / "vault")
    dialog = shown(window, "book.import", ImportBooksDialog)
    filled(dialog, window, dialog.files, f"{tmp_path / 'gone.json'}; {tmp_path / 'other.json'}; {book}")
    assert ("gone.json" in dialog.bar.label.text(), dialog.ok.isEnabled()) == (True, False)  # the book is linked now


def test_a_remark_of_several_books_is_made_once_with_a_number(window, book, tmp_path) -> None:
    document = {**json.loads(book.read_bytes()), "scan_depth": 4}
    for name in ("A.json", "B.json"):
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    dialog = shown(window, "book.import", ImportBooksDialog)
    filled(dialog, window, dialog.files, f"{tmp_path / 'A.json'}; {tmp_path / 'B.json'}")
    assert dialog.bar.label.text().count("scan_depth") == 1
    assert "(2 times)" in dialog.bar.label.text()


@pytest.mark.always
def test_notes_become_a_book_and_the_chat_tells_what_it_does(window, tmp_path) -> None:
    dialog = shown(window, "book.export", ExportBookDialog)
    target = tmp_path / "out.json"
    filled(dialog, window, dialog.file, str(target))
    assert [row.title for row in dialog.entries.rows] == ["Bell", "Sea"]
    assert ("requires", "carried along") in fates(dialog)
    QTest.mouseClick(dialog.compare, Qt.MouseButton.LeftButton)
    assert (dialog.tried.text(), dialog.compare.isEnabled()) == ("Running the chat twice…", False)
    settle(window)
    assert "the book gives the same entries." in dialog.tried.text()
    assert dialog.compare.isEnabled()
    dialog.entries.choose([("Bell.md", "")])
    dialog._show_tried(Tried(2, (), {"Sea.md": (1, 2)}))
    assert [row.said for row in dialog.entries.rows] == [
        "requires: carried along", "replies with it: 1 from the vault, 2 from the book",
    ]  # fmt: skip
    assert dialog.entries.chosen == {("Bell.md", "")}
    QTest.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    assert not dialog.ok.isEnabled()  # it is being written
    settle(window)
    entries = json.loads(target.read_bytes())["entries"]
    assert [raw["comment"] for raw in entries.values()] == ["Bell"]
    assert (tmp_path / "vault/out.book.json").exists()
    window.run("vault.undo")
    settle(window)
    assert (target.exists(), (tmp_path / "vault/out.book.json").exists()) == (False, False)


def left(dialog, window) -> None:
    """Close it at once, whatever it is about."""
    dialog.reject()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    settle(window)
    assert not isValid(dialog)


@pytest.mark.always
def test_a_dialog_may_be_closed_while_it_looks_and_while_it_writes(window, book, tmp_path) -> None:
    before = contents(tmp_path / "vault")
    for field, path in (("files", book), ("files", tmp_path / "gone.json")):
        dialog = shown(window, "book.import", ImportBooksDialog)
        getattr(dialog, field).setText(str(path))
        dialog._look()
        left(dialog, window)
    dialog = shown(window, "book.import", ImportBooksDialog)
    dialog.into.setCurrentIndex(dialog.into.findData(""))
    dialog.vault.setText(str(tmp_path / "new"))
    filled(dialog, window, dialog.files, str(book))
    QTest.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    left(dialog, window)
    dialog = shown(window, "book.export", ExportBookDialog)
    dialog.form.setCurrentIndex(dialog.form.findData("novelai"))
    dialog.file.setText(str(tmp_path))  # a folder, which cannot be written
    dialog._look()
    left(dialog, window)
    dialog = shown(window, "book.export", ExportBookDialog)
    filled(dialog, window, dialog.file, str(tmp_path / "out.json"))
    QTest.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    left(dialog, window)
    assert window.bars.texts == ["Stopped. Nothing was changed."]
    assert (contents(tmp_path / "vault"), (tmp_path / "out.json").exists()) == (before, False)


def test_what_is_lost_has_to_be_agreed_to(window, tmp_path) -> None:
    path = tmp_path / "vault" / "Sea.md"
    path.write_text(NOTES["Sea.md"].replace("keys: [sea]", "keys: [sea]\nwi_sticky: 4"), encoding="utf-8")
    dialog = shown(window, "book.export", ExportBookDialog)
    dialog.form.setCurrentIndex(dialog.form.findData("novelai"))
    filled(dialog, window, dialog.file, str(tmp_path / "out.lorebook"))
    assert ("sticky", "lost") in fates(dialog)
    assert not dialog.ok.isEnabled()
    dialog.lossy.setChecked(True)
    click(dialog, window)
    assert (tmp_path / "out.lorebook").exists()


@pytest.mark.always
def test_a_book_and_its_notes_are_brought_together(window, book, tmp_path) -> None:
    dialog = shown(window, "book.sync", SyncDialog)
    assert "linked to no lorebook" in dialog.bar.label.text()
    assert not dialog.elsewhere.isEnabled()
    to_import, _to_export = dialog.bar.findChildren(QPushButton)
    assert dialog.focusWidget() is to_import
    to_import.click()
    settle(window)
    assert not isValid(dialog)
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, ImportBooksDialog))
    filled(dialog, window, dialog.files, str(book))
    click(dialog, window)
    whole = json.loads(book.read_bytes())
    whole["entries"]["0"]["order"] = 40
    whole["entries"]["2"]["order"] = 30
    book.write_text(json.dumps(whole), encoding="utf-8")
    note = tmp_path / "vault/Isles/Skarn.md"
    note.write_text(note.read_text(encoding="utf-8").replace("priority: 900", "priority: 700"), encoding="utf-8")
    dialog = shown(window, "book.sync", SyncDialog)
    settle(window)
    rows = {row.title: (row.place, row.said) for row in dialog.entries.rows}
    assert rows == {
        "Skarn": ("changed in both", "order: the note says 300, the book 40"),
        "Other": ("changed there", "order"),
    }
    dialog.prefer.setCurrentIndex(dialog.prefer.findText("the note is right"))
    settle(window)
    dialog.entries.choose([("0", "changed in both")])
    click(dialog, window)
    assert not isValid(dialog)
    orders = {uid: raw["order"] for uid, raw in json.loads(book.read_bytes())["entries"].items()}
    assert orders == {"0": 300, "1": 100, "2": 30}
    assert "priority: 900" in (tmp_path / "vault/Isles/Other.md").read_text(encoding="utf-8")
    window.run("vault.undo")
    settle(window)
    assert json.loads(book.read_bytes()) == whole
    assert "priority: 700" in note.read_text(encoding="utf-8")


@pytest.mark.always
def test_an_import_tells_how_far_it_is_and_is_taken_back_when_stopped(window, book, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(dialogs, "_PATIENCE", -1)
    monkeypatch.setattr(dialogs, "_EVERY", 1)
    dialog = shown(window, "book.import", ImportBooksDialog)
    seen = []
    dialog.progressed.connect(lambda done, total: seen.append((done, total, dialog.strip.label.text())))
    filled(dialog, window, dialog.files, str(book))
    assert seen[0] == (1, 3, "Looking at the files: 1 of 3")
    assert not dialog.strip.isVisible()
    before = contents(tmp_path / "vault")
    report = dialog.watched

    def stopped(text):  # the person presses the button when the first file is written
        tell = report(text)

        def told(done: int, total: int) -> None:
            if total != 3 and done:
                dialog._token.cancel()
            tell(done, total)

        return told

    monkeypatch.setattr(dialog, "watched", stopped)
    click(dialog, window)
    assert dialog.isVisible()
    assert "Stopped. Nothing was changed." in dialog.bar.label.text()
    assert contents(tmp_path / "vault") == before


@pytest.mark.long
@pytest.mark.parametrize(
    ("way", "row", "made", "lines"),
    [
        ("leave out what is the same, keep both of what is alike", "Isles/Sea.md", True, ["Wide."]),
        ("leave out what the vault has already", "", False, ["Wide."]),
        ("keep both", "Isles/Sea.md", True, ["Wide."]),
        ("replace what the note says", "Sea.md", False, ["Deep."]),
        ("add to the note what it lacks", "Sea.md", False, ["Wide.", "Deep."]),
    ],
)
def test_what_the_vault_has_already_is_treated_as_chosen(window, tmp_path, way, row, made, lines) -> None:
    """An entry of the keys of a note and another text: a new note, none, another text, or both texts."""
    vault = tmp_path / "vault"
    (vault / "Sea.md").write_text(NOTES["Sea.md"].replace("keys:", "mood: calm\nkeys:"), encoding="utf-8")
    entries = {
        "0": {"uid": 0, **NEW_ENTRY, "key": ["Sea"], "comment": "Sea", "content": "Deep.", "sticky": 3},
        "1": {"uid": 1, **NEW_ENTRY, "key": ["skarn"], "comment": "Skarn", "content": "An isle."},
    }
    (tmp_path / "Isles.json").write_text(json.dumps({"entries": entries}), encoding="utf-8")
    before = contents(vault)
    dialog = shown(window, "book.import", ImportBooksDialog)
    dialog.twins.setCurrentIndex(dialog.twins.findText(way))
    filled(dialog, window, dialog.files, str(tmp_path / "Isles.json"))
    rows = {one.title: (one.place, one.said) for one in dialog.entries.rows}
    assert rows["Sea"][0] == row
    assert "Sea.md has the same keys" in rows["Sea"][1]
    click(dialog, window)
    after = contents(vault)
    assert ("Isles/Sea.md" in after) is made
    note = after["Sea.md"]
    assert [line for line in note.splitlines() if line in {"Wide.", "Deep."}] == lines
    assert "mood: calm" in note
    assert ("wi_sticky: 3" in note) is (row == "Sea.md")
    window.run("vault.undo")
    settle(window)
    assert contents(vault) == before


def chosen_file(dialog, choose, path) -> QFileDialog:
    """Press “Choose…” and take a file; the dialog that asked for it."""
    choose.click()
    (asked,) = [one for one in dialog.findChildren(QFileDialog) if one.isVisible()]
    asked.filesSelected.emit([str(path)])
    asked.fileSelected.emit(str(path))
    asked.hide()
    return asked


def choosers(dialog) -> list[QPushButton]:
    return [one for one in dialog.findChildren(QPushButton) if one.text() == "Choose…"]


@pytest.mark.long
def test_the_fields_of_an_import_are_followed(window, book, tmp_path, qtbot) -> None:
    dialog = shown(window, "book.import", ImportBooksDialog)
    assert (dialog.vault.isVisible(), dialog.bar.isVisible(), dialog.ok.isEnabled()) == (False, False, False)
    kinds = "World Info, cards, NovelAI, Markdown, …"
    all_kinds = "World Info, cards (PNG, JSON, CharX), NovelAI, Risu, Agnaistic, KoboldAI, AI Dungeon, CSV, Markdown"
    assert (dialog.files.placeholderText(), dialog.files.toolTip()) == (kinds, all_kinds)
    assert dialog.folder.placeholderText() == "the vault itself"
    ways = [dialog.split.itemText(at) for at in range(dialog.split.count())]
    assert ways == ["a file an entry", "an entry at each #", "an entry at each ##", "an entry at each ###"]
    chosen_file(dialog, choosers(dialog)[0], book)
    qtbot.waitUntil(dialog.ok.isEnabled)
    assert (dialog.files.text(), dialog.state.text()) == (str(book), "2 notes. One undo takes all back.")
    dialog.folder.setText("far")
    qtbot.waitUntil(lambda: "far/Isles/Skarn.md" in {row.place for row in dialog.entries.rows})
    dialog.into.setCurrentIndex(dialog.into.findData(""))
    assert dialog.vault.isVisible()
    qtbot.waitUntil(lambda: not dialog.ok.isEnabled())  # no folder is named yet
    assert (dialog.state.text(), dialog.bar.isVisible()) == ("Choose files, and the vault that they go into.", False)
    (tmp_path / "new").mkdir()
    asked = chosen_file(dialog, choosers(dialog)[1], tmp_path / "new")
    assert asked.fileMode() is QFileDialog.FileMode.Directory
    assert dialog.vault.text() == str(tmp_path / "new")
    qtbot.waitUntil(dialog.ok.isEnabled)
    assert dialog.state.text() == "3 notes. One undo takes all back."  # it has no bell
    text = tmp_path / "tale.md"
    text.write_text("# One\n\nA.\n\n## Two\n\nB.\n", encoding="utf-8")
    dialog.files.setText(str(text))
    for level, amount in ((0, 1), (1, 1), (2, 2)):
        dialog.split.setCurrentIndex(dialog.split.findData(level))
        dialog._look()
        settle(window)
        assert len(dialog.entries.rows) == amount
    whole = json.loads(book.read_bytes())
    whole["entries"]["0"]["group"] = whole["entries"]["2"]["group"] = "isles"
    whole["entries"]["0"]["characterFilter"] = {"isExclude": False, "names": ["Ada"], "tags": []}
    book.write_text(json.dumps(whole), encoding="utf-8")
    filled(dialog, window, dialog.files, str(book))
    plain = fates(dialog)
    for box in (dialog.excludes, dialog.gates):
        box.click()
        qtbot.waitUntil(lambda: fates(dialog) != plain)
        box.click()
        qtbot.waitUntil(lambda: fates(dialog) == plain)
    left(dialog, window)


@pytest.mark.long
def test_the_fields_of_an_export_are_followed(window, tmp_path, qtbot) -> None:
    (tmp_path / "vault/Off.md").write_text(NOTES["Sea.md"].replace("keys:", "enabled: false\nkeys:"), encoding="utf-8")
    (tmp_path / "vault/far").mkdir()
    (tmp_path / "vault/far/Pass.md").write_text(NOTES["Sea.md"].replace("Wide", "%% a thought %%Old"), encoding="utf-8")
    dialog = shown(window, "book.export", ExportBookDialog)
    to_file, to_card = choosers(dialog)
    qtbot.waitUntil(lambda: dialog.state.text() == "4 entries. Name the file to write.")
    assert [row.title for row in dialog.entries.rows] == ["Bell", "Sea", "Sea", "Sea"]
    assert ("requires", "carried along") in fates(dialog), "what becomes of the fields is seen before a file is named"
    assert (dialog.ok.isEnabled(), dialog.bar.isVisible(), dialog.compare.isEnabled()) == (False, False, True)
    with pytest.MonkeyPatch.context() as patch:
        offered = []
        patch.setattr(choosing, "choose_new_file", lambda _dialog, _title, name, *_more: offered.append(name))
        to_file.click()
        assert offered == ["vault.json"]
    asked = chosen_file(dialog, to_file, tmp_path / "out.json")
    assert asked.defaultSuffix() == "json"
    assert not to_card.isVisible()
    qtbot.waitUntil(lambda: dialog.state.text() == "4 entries")
    assert (dialog.compare.isEnabled(), dialog.ok.isEnabled()) == (True, True)
    dialog.file.clear()
    qtbot.waitUntil(lambda: dialog.state.text() == "4 entries. Name the file to write.")
    assert (dialog.compare.isEnabled(), dialog.ok.isEnabled()) == (True, False)
    dialog.file.setText(str(tmp_path / "out.json"))
    dialog.disabled.click()
    qtbot.waitUntil(lambda: dialog.state.text() == "3 entries")
    dialog.folder.setText("far")
    qtbot.waitUntil(lambda: dialog.state.text() == "1 entry")
    dialog.as_written.click()
    settle(window)
    click(dialog, window)
    (entry,) = json.loads((tmp_path / "out.json").read_bytes())["entries"].values()
    assert "a thought" in entry["content"]
    dialog = shown(window, "book.export", ExportBookDialog)
    to_file, to_card = choosers(dialog)
    needs_card = next(each for each in FORMATS if not each.makes_new)
    filled(dialog, window, dialog.file, str(tmp_path / "second.json"))
    assert dialog.compare.isEnabled()
    dialog.form.setCurrentIndex(dialog.form.findData(needs_card.name))
    assert to_card.isVisible()
    filled(dialog, window, dialog.file, str(tmp_path / "card.out"))
    assert (dialog.bar.isVisible(), dialog.state.text(), dialog.compare.isEnabled()) == (True, "", False)
    chosen_file(dialog, to_card, tmp_path / "gone.card")
    assert dialog.card.text() == str(tmp_path / "gone.card")
    qtbot.waitUntil(lambda: "gone.card" in dialog.bar.label.text())
    left(dialog, window)


@pytest.mark.always
def test_what_an_export_makes_of_a_vault_at_a_drive_s_root_is_shown(window, tmp_path, monkeypatch) -> None:
    """The offered file is called after the vault's folder, and this one has no name."""
    monkeypatch.setattr(dialogs, "_of", lambda vaults, _folder: vaults[0])
    dialog = shown(window, "book.export", ExportBookDialog)
    dialog.vault.setItemData(0, tmp_path.anchor)
    dialog._look()
    settle(window)
    assert dialog.state.text() == "2 entries. Name the file to write."
    left(dialog, window)


def test_what_was_unticked_stays_so_whatever_else_is_chosen(window, book, tmp_path) -> None:
    dialog = shown(window, "book.import", ImportBooksDialog)
    filled(dialog, window, dialog.files, str(book))
    row = next(place for place, one in enumerate(dialog.entries.rows) if one.title == "Other")
    dialog.entries.setData(dialog.entries.index(row, 0), Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    dialog.entries.set_filter("skarn")  # what is hidden for now is left out all the same
    filled(dialog, window, dialog.folder, "far")
    dialog.entries.set_filter("")
    assert dialog.entries.chosen == {("Isles", "0")}
    dialog.twins.setCurrentIndex(dialog.twins.findText("keep both"))
    dialog._look()
    settle(window)
    assert dialog.entries.chosen == {("Isles", "0"), ("Isles", "1")}
    dialog.reject()
    dialog = shown(window, "book.export", ExportBookDialog)
    filled(dialog, window, dialog.file, str(tmp_path / "out.json"))
    dialog.entries.choose([("Sea.md", "")])
    filled(dialog, window, dialog.file, "")
    filled(dialog, window, dialog.file, str(tmp_path / "second.json"))
    click(dialog, window)
    entries = json.loads((tmp_path / "second.json").read_bytes())["entries"]
    assert [raw["comment"] for raw in entries.values()] == ["Sea"]


def test_an_answer_that_comes_after_the_next_question_is_not_heard(window, tmp_path, monkeypatch, qtbot) -> None:
    (tmp_path / "vault/far").mkdir()
    (tmp_path / "vault/far/Pass.md").write_text(NOTES["Sea.md"], encoding="utf-8")
    dialog = shown(window, "book.export", ExportBookDialog)
    asked, seen, go, plan = [], [], Event(), dialogs.plan_export

    def slow(*about):
        asked.append(about)
        assert len(asked) > 1 or go.wait(60)
        return plan(*about)

    monkeypatch.setattr(dialogs, "plan_export", slow)
    monkeypatch.setattr(dialog, "show_reports", lambda _reports, rows: seen.append(len(rows)))
    dialog.file.setText(str(tmp_path / "book.json"))
    dialog._look()
    qtbot.waitUntil(lambda: len(asked) == 1)
    dialog.folder.setText("far")
    dialog._look()
    go.set()
    settle(window)
    assert (seen, dialog.state.text()) == ([1], "1 entry")
    dialog.reject()


def test_what_needs_notes_waits_for_a_vault(make_window, tmp_path) -> None:
    window = make_window()
    able = [window.commands.actions[f"book.{name}"] for name in ("import", "export", "sync")]
    assert [each.isEnabled() for each in able] == [True, False, False]
    open_vault(window, write_vault(tmp_path / "vault"), tmp_path / "kept")
    assert all(each.isEnabled() for each in able)
