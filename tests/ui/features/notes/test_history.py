"""Earlier versions and found texts, without a window: what is listed, compared, taken and thrown away."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialogButtonBox, QFrame, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from lorestudio.studio.notes.changes.snapshots import NoteSnapshot
from lorestudio.studio.notes.recovery import Recovery, Unsaved
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.history import HistoryDialog, RecoveryDialog, Safety
from lorestudio.ui.features.notes.store import NoteStore
from lorestudio.ui.features.vault.table import when_words
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.session import Session
from lorestudio.vault.files import SaveError, VaultError
from tests.digests import digest
from tests.ui.conftest import drain

NOON = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
PATH = Path("vault") / "Skarn.md"


class Kept:
    """Versions in memory; their texts are read once the gate is open, with `slow` only that one's is waited for."""

    problems: tuple[str, ...] = ()

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts, self.slow, self.reason = texts, "", "before saving"
        self.gate = threading.Event()
        self.gate.set()

    def list(self, path: Path) -> tuple[NoteSnapshot, ...]:
        if not self.texts:
            raise VaultError("The history is locked.")
        return tuple(
            NoteSnapshot(path, NOON.replace(hour=12 - at), name, 1024 * (at + 1), self.reason if at else "")
            for at, name in enumerate(self.texts)
        )

    def read(self, version: NoteSnapshot) -> str:
        if self.slow in ("", version.digest):
            self.gate.wait(60)
        text = self.texts[version.digest]
        if not text:
            raise VaultError("This version is damaged.")
        return text

    def save(self, path: Path, text: str, _digest: str | None) -> str:
        path.write_text(text, encoding="utf-8")
        return "saved"


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    return make_session(replay=False)


@pytest.fixture
def settle(session: Session, qtbot: QtBot) -> Callable[[], None]:
    def wait() -> None:
        for _ in range(3):
            qtbot.waitUntil(lambda: session.jobs.idle)
            drain()

    return wait


@pytest.fixture
def parent(qtbot: QtBot) -> Iterator[QWidget]:
    made = QWidget()
    made.show()
    yield made
    made.close()
    made.deleteLater()
    drain()


@pytest.fixture
def safety(session: Session, theme: Theme) -> Iterator[Safety]:
    store = NoteStore(Drafts(session), session.jobs, session)
    yield Safety(theme, session.jobs, store, session)
    store.close()


# ---- earlier versions -----------------------------------------------------------------------------------------------


def test_versions_are_listed_with_their_time_reason_and_size(safety, parent, settle) -> None:
    buffer = NoteBuffer(PATH, "now\n", "d")
    assert safety.show_history(buffer, parent) is None  # nobody keeps any
    safety.use(Kept({"one": "now\n", "two": "now\nold\n"}))
    dialog = safety.show_history(buffer, parent)
    assert dialog.windowTitle() == "History of Skarn.md"
    assert dialog.message.text() == "Reading the history…"
    assert not dialog.take.isEnabled()
    settle()
    times = [f"{when_words(NOON.replace(hour=hour).timestamp())}:00" for hour in (12, 11)]  # two in one minute differ
    assert [dialog.list.item(row).text() for row in range(2)] == [
        f"{times[0]}\nkept · 1.0 kB", f"{times[1]}\nbefore saving · 2.0 kB",
    ]  # fmt: skip
    assert dialog.message.text() == "2 versions are kept."
    assert dialog.list.currentRow() == 0
    assert not dialog.take.isEnabled()  # it is what stands in the editor
    dialog.list.setCurrentRow(1)
    settle()
    assert dialog.take.isEnabled()
    assert "1 line" in dialog.diff.summary.text()
    dialog.take.click()
    assert buffer.text == "now\nold\n"
    assert buffer.document.isUndoAvailable()
    assert not dialog.isVisible()


def test_versions_that_are_read_after_the_dialog_was_closed_are_shown_nowhere(safety, parent, settle) -> None:
    class Slow(Kept):
        def list(self, path: Path) -> tuple[NoteSnapshot, ...]:
            self.gate.wait(60)
            return super().list(path)

    safety.use(kept := Slow({"one": "now\n"}))
    kept.gate.clear()
    dialog = safety.show_history(NoteBuffer(PATH, "now\n", "d"), parent)
    dialog.close()
    drain()
    assert not isValid(dialog)
    kept.gate.set()
    settle()


def test_no_reason_of_a_version_is_cut_off(safety, parent, settle) -> None:
    kept = Kept({"one": "now\n", "two": "old\n"})
    kept.reason = "before “Number priority in 64 notes in steps of 10, from the lowest on”"
    safety.use(kept)
    dialog = safety.show_history(NoteBuffer(PATH, "now\n", "d"), parent)
    settle()
    assert dialog.list.horizontalScrollBar().maximum() == 0
    usual, long = (dialog.list.visualItemRect(dialog.list.item(place)).height() for place in range(2))
    assert long > usual


def test_what_of_the_history_cannot_be_read_is_told_below_the_count(safety, parent, settle) -> None:
    kept = Kept({"one": "now\n"})
    kept.problems = ("Line 3 is damaged.", "Line 7 names no snapshot.")
    safety.use(kept)
    dialog = safety.show_history(NoteBuffer(PATH, "now\n", "d"), parent)
    settle()
    assert dialog.message.text() == "1 version is kept.\nLine 3 is damaged.\nLine 7 names no snapshot."


def test_only_the_version_that_is_chosen_now_is_shown(safety, parent, settle, qtbot) -> None:
    kept = Kept({"one": "first\n", "two": "second\n"})
    safety.use(kept)
    dialog = safety.show_history(NoteBuffer(PATH, "now\n", "d"), parent)
    settle()
    assert dialog.take.isEnabled()
    kept.gate.clear()
    kept.slow = "two"
    dialog.list.setCurrentRow(1)
    assert not dialog.take.isEnabled()  # it is read
    dialog.list.setCurrentRow(0)
    qtbot.waitUntil(dialog.take.isEnabled)
    kept.gate.set()  # what was asked for first comes last
    settle()
    taken: list[str] = []
    dialog.restored.connect(taken.append)
    dialog.take.click()
    assert taken == ["first\n"]


def test_a_history_or_a_version_that_cannot_be_read_says_why(safety, parent, settle) -> None:
    safety.use(Kept({}))
    dialog = safety.show_history(NoteBuffer(PATH, "now\n", "d"), parent)
    settle()
    assert dialog.message.text() == "The history is locked."
    dialog.reject()
    safety.use(Kept({"one": ""}))
    dialog = safety.show_history(NoteBuffer(PATH, "now\n", "d"), parent)
    settle()
    assert dialog.message.text() == "This version is damaged."
    assert not dialog.take.isEnabled()
    dialog.reject()


def test_a_history_that_is_closed_while_it_is_read_is_no_matter(safety, parent, settle) -> None:
    kept = Kept({"one": "then\n"})
    safety.use(kept)
    dialog = safety.show_history(NoteBuffer(PATH, "now\n", "d"), parent)
    settle()
    kept.gate.clear()
    dialog.show_versions(kept.list(PATH))
    assert dialog.list.count() == 1
    dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Close).click()
    drain()
    kept.gate.set()
    settle()
    assert parent.findChildren(HistoryDialog) == []


def test_a_note_is_saved_with_its_history_from_then_on(safety, session, settle, tmp_path: Path) -> None:
    path = tmp_path / "Skarn.md"
    path.write_text("before", encoding="utf-8")
    store = safety._store
    plain = store.write
    safety.use(None, None)
    assert (store.write, store.keeping) == (plain, None)
    kept = Kept({})
    safety.use(kept)
    buffer = store.buffers.open(path, "before", digest(path))
    buffer.replace_all("after")
    store.save(path)
    settle()
    assert (path.read_text(encoding="utf-8"), buffer.digest) == ("after", "saved")


# ---- found texts ----------------------------------------------------------------------------------------------------


@pytest.fixture
def notes(tmp_path: Path) -> tuple[Path, Path]:
    """Two notes with an unsaved text each, which a program that is gone has left."""
    folder = tmp_path / "vault"
    folder.mkdir()
    first, second = folder / "Bell.md", folder / "Skarn.md"
    for path in (first, second):
        path.write_text("on disk\n", encoding="utf-8")
    gone = Recovery(tmp_path / "recovery")
    for path in (first, second):
        gone.keep(path, f"unsaved {path.stem}\n", digest(path))
    gone.close()
    return first, second


@pytest.fixture
def offered(safety, parent, settle, notes, tmp_path: Path) -> Iterator[RecoveryDialog]:
    copies = Recovery(tmp_path / "recovery")
    safety.use(None, copies)
    safety.offer_found(parent)
    settle()
    yield parent.findChild(RecoveryDialog)
    safety.close()


def cards(dialog: RecoveryDialog) -> dict[str, QFrame]:
    """By the name of the note."""
    found = [each for each in dialog.findChildren(QFrame, "Card") if not each.isHidden()]
    return {each.findChildren(QLabel)[0].text(): each for each in found}


def press(card: QFrame, title: str) -> None:
    next(each for each in card.findChildren(QPushButton) if each.text() == title).click()


def test_found_texts_have_a_card_each(offered, notes) -> None:
    assert offered.isVisible()
    told = "2 notes were not saved when lorestudio ended last time. What you leave here is offered again next time."
    assert told in [each.text() for each in offered.findChildren(QLabel)]
    shown = cards(offered)
    assert set(shown) == {"Bell.md", "Skarn.md"}
    where = shown["Bell.md"].findChildren(QLabel)[1].text()
    assert where == f"{when_words(offered.found[0].time.timestamp())} · {notes[0].parent}"
    buttons = shown["Bell.md"].findChildren(QPushButton)
    assert [(each.text(), each.accessibleName()) for each in buttons] == [
        ("Restore", "Restore: Bell.md"), ("Compare", "Compare: Bell.md"), ("Discard", "Discard: Bell.md"),
    ]  # fmt: skip
    assert [each.property("kind") for each in buttons] == ["primary", None, None]
    assert offered.focusWidget().text() == "Restore"
    places = [each.x() for each in buttons]
    assert places == sorted(set(places))
    assert places[0] > shown["Bell.md"].findChildren(QLabel)[0].x()
    assert [each.width() - each.sizeHint().width() for each in buttons] == [0, 0, 0]  # the name has what room is left
    offered.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Close).click()
    assert not offered.isVisible()


def test_a_found_text_is_compared_and_stays(offered, settle, notes, tmp_path: Path) -> None:
    assert not offered.diff.isVisible()
    press(cards(offered)["Skarn.md"], "Compare")
    settle()
    assert offered.diff.isVisible()
    assert offered.diff.summary.text() == "2 lines differ"  # one of each
    assert offered.width() >= 860
    assert offered.findChild(QDialogButtonBox).y() > offered.diff.geometry().bottom() > 0
    assert set(cards(offered)) == {"Bell.md", "Skarn.md"}
    notes[1].write_bytes(b"\xff\xfe broken")
    press(cards(offered)["Skarn.md"], "Compare")
    settle()
    assert "not UTF-8" in offered.diff.summary.text()
    offered.reject()
    assert len(list((tmp_path / "recovery").glob("*/*.json"))) == 2


def test_a_comparison_that_fails_is_said_though_nothing_was_compared_yet(offered, settle, notes) -> None:
    notes[1].write_bytes(b"\xff\xfe broken")
    press(cards(offered)["Skarn.md"], "Compare")
    settle()
    assert offered.diff.summary.isVisible()
    assert "not UTF-8" in offered.diff.summary.text()
    offered.reject()


def test_what_was_decided_goes_and_the_last_one_closes_the_dialog(
    offered, safety, parent, settle, notes, tmp_path: Path
) -> None:
    told: list[Unsaved] = []
    safety.restored.connect(told.append)
    press(cards(offered)["Skarn.md"], "Restore")
    settle()
    assert set(cards(offered)) == {"Bell.md"}
    assert offered.isVisible()
    buffer = safety._store.buffers.get(notes[1])
    assert (buffer.text, buffer.dirty) == ("unsaved Skarn\n", True)
    assert [each.path for each in told] == [notes[1]]
    assert safety._store.kept == {notes[1]}
    press(cards(offered)["Bell.md"], "Discard")
    settle()
    (left,) = (tmp_path / "recovery").glob("*/*.json")
    assert "unsaved Skarn" in left.read_text(encoding="utf-8")
    assert parent.findChildren(RecoveryDialog) == []
    safety.close()  # given up with the window
    assert list((tmp_path / "recovery").glob("*/*.json")) == []
    assert safety._store.keeping is None


def test_nothing_is_offered_where_nothing_was_found(safety, parent, settle, tmp_path: Path) -> None:
    safety.offer_found(parent)  # nobody keeps copies
    copies = Recovery(tmp_path / "recovery")
    safety.use(None, copies)
    safety.offer_found(parent)
    settle()
    assert parent.findChildren(RecoveryDialog) == []
    assert safety.offer((), parent) is None
    copies.close()


class Broken:
    """Copies on a disk that is away."""

    def found(self) -> tuple[Unsaved, ...]:
        raise SaveError("The disk is away.")

    def adopt(self, _item: Unsaved) -> None:
        raise SaveError("The disk is away.")

    discard = drop = adopt

    def close(self) -> None:
        pass


def test_a_disk_that_is_away_is_told(safety, parent, settle, tmp_path: Path) -> None:
    told: list[str] = []
    safety.failed.connect(lambda error: told.append(str(error)))
    item = Unsaved(tmp_path / "Skarn.md", "unsaved\n", None, NOON, tmp_path / "x.json")
    dialog = safety.offer((item,), parent)
    dialog.press("restore", item)  # nobody keeps copies
    settle()
    assert told == []
    safety.use(None, Broken())
    safety.offer_found(parent)
    for what in ("restore", "discard"):
        safety.offer((item,), parent).press(what, item)
    settle()
    assert told == ["The disk is away."] * 3
    assert safety._store.buffers.all() == ()
    safety._store.kept.add(item.path)
    safety.close()  # the copy stays, which is no reason not to end
    assert safety._store.keeping is None
