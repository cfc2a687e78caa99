"""The dialog of live capture alone: when what can be done, what is told of captures, and of what was found of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMessageBox, QPushButton, QWidget

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.studio import AttachSettings
from lorestudio.studio.attach.captures import Captures, load_attachment
from lorestudio.studio.attach.endpoint import Endpoint
from lorestudio.trace.wording import time_words
from lorestudio.ui.features.attach import dialog as attach_dialog
from lorestudio.ui.features.attach.dialog import CaptureDialog, LiveCapture, LiveCaptureDialog
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.session import Session
from tests.studio.attach.test_comparing import capture
from tests.ui.conftest import drain
from tests.ui.worlds import make_project

NOW = 4_000_000_000_000
ASKED = capture([("system", "Be brief."), ("user", "Who rings?")], "The wind.", NOW)
MASKED = replace(capture([("user", "xxx")], "xxx", NOW + 5000), redacted=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "attach"


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    return make_session()


@pytest.fixture
def parent(qtbot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def live(session: Session, parent: QWidget) -> LiveCapture:
    return LiveCapture(session.jobs, parent)


@pytest.fixture
def opened(theme: Theme, session: Session, live: LiveCapture, parent: QWidget, folder: Path, qtbot) -> Any:
    """Open the dialog on these captures."""

    def make(*captures: Any) -> LiveCaptureDialog:
        store = Captures(folder, AttachSettings(keep_days=3650))
        for each in captures:
            store.add(each)
        live.use(folder)
        dialog = LiveCaptureDialog(theme, live, session, parent)
        dialog.show()
        qtbot.waitExposed(dialog)
        dialog.activateWindow()
        qtbot.waitUntil(lambda: session.jobs.idle and len(live.kept.captures) == len(captures))
        return dialog

    return make


def able(dialog: LiveCaptureDialog) -> list[bool]:
    return [
        each.isEnabled()
        for each in (dialog.compare, dialog.keep_answers, dialog.go, dialog.open_button, dialog.redact, dialog.delete)
    ]


def place_of(dialog: LiveCaptureDialog, made: Any) -> int:
    return next(place for place, each in enumerate(dialog.model.rows) if each.id == made.id)


def choose(dialog: LiveCaptureDialog, *captures: Any) -> None:
    dialog.list.select_places([place_of(dialog, each) for each in captures], 0)


def found(made: Any, *, turn: bool = True, agrees: bool = True, lore: tuple[str, ...] = ()) -> Any:
    """What comparing came to, as it is asked for."""
    told = SimpleNamespace(agrees=agrees, unknown=((0, "Boo."),)) if turn else None
    return SimpleNamespace(
        matched=SimpleNamespace(capture=made, generation=Generation(2, 1)),
        turn=told,
        made="#2.2" if turn else "search",
        because="its text" if turn else "",
        short="the same 2 entries",
        lore=lore,
        places=("Skarn: whole",) if turn else (),
    )


# ---- listening ------------------------------------------------------------------------------------------------------


def test_without_a_folder_nothing_can_be_kept(
    theme: Theme, session: Session, live: LiveCapture, parent: QWidget
) -> None:
    dialog = LiveCaptureDialog(theme, live, session, parent)
    assert dialog.state.text() == "This window keeps nothing, so it cannot."
    assert (dialog.switch.isEnabled(), dialog.renew.isEnabled()) == (False, False)
    dialog.provider.setText("http://127.0.0.1:1/v1")
    dialog._begin()
    live.delete(["a"])
    live.redact(["a"])
    live.limit(1, 1)
    live.whole("a", lambda _capture: None)
    live.end()
    live.read()
    assert (live.listens, live.busy, live.ready, session.jobs.idle) == (False, False, False, True)
    dialog.close()


def test_the_address_of_before_is_offered_and_what_is_typed_stays(
    opened: Any, live: LiveCapture, session: Session, qtbot
) -> None:
    dialog = opened()
    assert (dialog.state.text(), dialog.switch.text(), dialog.switch.isEnabled()) == (
        "Nothing listens.",
        "Listen",
        True,
    )
    assert (dialog.renew.isVisible(), dialog.addresses.isVisible(), dialog.provider.isReadOnly()) == (
        True,
        False,
        False,
    )
    assert (dialog.days.value(), dialog.room.value()) == (AttachSettings().keep_days, AttachSettings().keep_mebibytes)
    dialog.provider.setFocus()
    QTest.keyClicks(dialog.provider, "http://127.0.0.1:1/v1")
    dialog.days.setFocus()
    live.changed.emit()
    assert dialog.provider.text() == "http://127.0.0.1:1/v1"
    dialog.switch.click()
    assert (dialog.switch.isEnabled(), dialog.provider.text()) == (False, "http://127.0.0.1:1/v1")
    qtbot.waitUntil(lambda: live.listens and session.jobs.idle)
    assert (dialog.switch.text(), dialog.renew.isVisible(), dialog.provider.isReadOnly()) == ("Stop", False, True)
    assert dialog.addresses.isVisible()
    steps = [each.text() for each in dialog.addresses.findChildren(QLabel) if each.text()[:1].isdigit()]
    assert [text.partition(".")[0] for text in steps] == [str(place) for place in range(1, len(steps) + 1)]
    assert any(dialog.address.text() in text for text in steps)
    assert dialog.address.text() != dialog.auxiliary.text()
    for line, name in ((dialog.address, "Copy: Main address"), (dialog.auxiliary, "Copy: Second address")):
        next(each for each in dialog.findChildren(QPushButton) if each.accessibleName() == name).click()
        assert QGuiApplication.clipboard().text() == line.text()
    port = live.kept.attachment.settings.port
    live.listen("http://127.0.0.1:2/v1")  # it listens already
    assert not live.busy
    dialog.switch.click()
    qtbot.waitUntil(lambda: not live.listens and session.jobs.idle)
    assert (dialog.state.text(), dialog.addresses.isVisible()) == ("Nothing listens.", False)
    assert dialog.provider.text() == "http://127.0.0.1:1/v1"
    assert live.kept.attachment.settings.port == port
    dialog.close()


def test_without_a_folder_nothing_is_read_compared_or_ended(live: LiveCapture, session: Session) -> None:
    told: list[object] = []
    live.whole("a", told.append)
    live.compare(make_project(), session.choice, told.append, keep=False)
    live.end()
    live.close()
    assert (told, session.jobs.idle, live.busy) == ([], True, False)


def test_what_begins_to_listen_as_the_window_closes_stops_again(
    opened: Any, live: LiveCapture, session: Session, qtbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    known = attach_dialog.attached

    def attach(*given: Any) -> Any:
        live.close()
        begun.append(known(*given))
        return begun[-1]

    monkeypatch.setattr(attach_dialog, "attached", attach)
    stopped: list[Any] = []
    known_stop = Endpoint.stop

    def stop(endpoint: Endpoint) -> None:
        stopped.append(endpoint)
        known_stop(endpoint)

    monkeypatch.setattr(Endpoint, "stop", stop)
    dialog = opened()
    live.listen("http://127.0.0.1:1/v1")
    qtbot.waitUntil(lambda: session.jobs.idle and not live.busy)
    assert stopped == begun
    live.endpoint = None
    dialog.close()


# ---- captures -------------------------------------------------------------------------------------------------------


def test_what_can_be_done_follows_what_is_chosen(opened: Any, session: Session, live: LiveCapture, qtbot) -> None:
    dialog = opened(ASKED, MASKED)
    assert (dialog.tabs.tabText(1), dialog.total.text()) == ("Captures (2)", "2 captures, 0.0 MiB.")
    dialog.tabs.setCurrentIndex(1)
    assert [row[1:] for row in sorted(dialog.model.texts()[1:])] == [
        ["/chat/completions", "answered, 0.9 s"], ["/chat/completions", "redacted · answered, 0.9 s"],
    ]  # fmt: skip
    assert able(dialog) == [False] * 6

    def why() -> list[str]:
        return [
            each.toolTip().rpartition("\n")[2] for each in (dialog.go, dialog.open_button, dialog.redact, dialog.delete)
        ]

    one, unmasked = "Choose one capture first.", "Choose a capture that is not redacted yet."
    assert why() == [one, one, unmasked, one]
    assert dialog.compare.toolTip().endswith("Open a chat, and capture a request first.")
    choose(dialog, ASKED)
    assert able(dialog) == [False, False, False, True, True, True]
    assert why()[:2] == ["No reply of the open chat is known for it.", ""]
    choose(dialog, MASKED)
    assert able(dialog) == [False, False, False, True, False, True]
    assert why()[2] == unmasked
    choose(dialog, ASKED, MASKED)
    assert able(dialog) == [False, False, False, False, True, True]
    assert why()[:2] == [one, one]
    live.busy = True
    live.changed.emit()
    busy = "Wait until the work under way has ended."
    assert able(dialog) == [False] * 6
    assert why()[2:] == [busy, busy]
    assert all(each.toolTip().endswith(busy) for each in (dialog.compare, dialog.keep_answers, dialog.switch))
    live.busy = False
    live.changed.emit()
    assert dialog.switch.isEnabled()
    session.set_project(make_project(chat=False))
    dialog._settle()
    assert able(dialog)[:2] == [False, False]
    dialog.delete.click()
    (box,) = dialog.findChildren(QMessageBox)
    assert box.text() == "Delete 2 captures?"
    box.reject()
    drain()
    choose(dialog, ASKED)
    dialog.redact.click()
    (box,) = dialog.findChildren(QMessageBox)
    assert (box.text(), box.informativeText()) == (
        "Redact 1 capture?", "Every letter and digit of their texts is masked. What was asked and how long stays.",
    )  # fmt: skip
    next(each for each in box.buttons() if each.text() == "Redact").click()
    qtbot.waitUntil(lambda: session.jobs.idle and all(each.redacted for each in live.kept.captures))
    choose(dialog, MASKED)
    live.delete([MASKED.id])
    qtbot.waitUntil(lambda: session.jobs.idle and dialog.tabs.tabText(1) == "Captures (1)")
    dialog.close()


def test_what_was_found_is_told_of_each_and_leads_to_its_reply(
    opened: Any, session: Session, live: LiveCapture, monkeypatch: pytest.MonkeyPatch, qtbot
) -> None:
    dialog = opened(ASKED, MASKED)
    session.set_project(make_project())
    qtbot.waitUntil(lambda: session.jobs.idle and not session.busy)
    dialog._settle()
    assert able(dialog)[:2] == [True, True]
    asked: list[Any] = []
    monkeypatch.setattr(live, "compare", lambda *all_of_it, keep: asked.append((*all_of_it, keep)))
    dialog.keep_answers.click()
    dialog.compare.click()
    assert not dialog.compare.isEnabled()
    ((project, choice, done, keep),) = asked
    assert (project, choice, keep) == (session.project, session.choice, True)
    done([found(ASKED, agrees=False, lore=("- Bell: only in the run",)), found(MASKED, turn=False)], "")
    assert dialog.bar.label.text() == "2 captures: 1 of replies in this chat, 0 with the same lore as the run."
    assert dialog.bar.tone == "neutral"
    lines = {row[1]: row[2:] for row in dialog.model.texts()[1:]}
    assert lines == {
        "#2.2": ["the same 2 entries", "answered, 0.9 s"],
        "search": ["the same 2 entries", "redacted · answered, 0.9 s"],
    }
    done([found(ASKED), found(MASKED, turn=False)], "")
    assert dialog.bar.tone == "good"
    done([found(ASKED, agrees=False, lore=("- Bell: only in the run",)), found(MASKED, turn=False)], "")
    choose(dialog, MASKED)
    assert (dialog.go.isEnabled(), dialog.compare.isEnabled()) == (False, True)
    choose(dialog, ASKED)
    dialog.list.pressed.emit(dialog.model.row(place_of(dialog, ASKED)))
    qtbot.waitUntil(lambda: bool(dialog.findChildren(CaptureDialog)))
    (shown,) = dialog.findChildren(CaptureDialog)
    assert shown.windowTitle() == f"Capture of {time_words(NOW)}"
    assert "/chat/completions · answered, 0.9 s" in [each.text() for each in shown.findChildren(QLabel)]
    assert shown.text.toPlainText() == (
        "--- made\n#2.2\nits text\n\n--- the prompt and the run\n- Bell: only in the run\n\n"
        "--- where its entries stand\nSkarn: whole\n\n--- lines from nowhere known\n1: Boo.\n\n"
        "--- 1 of 2: system\nBe brief.\n\n--- 2 of 2: user\nWho rings?\n\n--- answer\nThe wind."
    )
    shown.close()
    alone = CaptureDialog(MASKED, found(MASKED, turn=False), dialog)
    assert alone.text.toPlainText() == "--- made\nsearch\n\n--- 1 of 1: user\nxxx\n\n--- answer\nxxx"
    wanted: list[object] = []
    dialog.wanted.connect(wanted.append)
    dialog.go.click()
    assert (wanted, dialog.isVisible()) == ([Generation(2, 1)], False)


def test_limits_are_kept_once_they_are_others(opened: Any, live: LiveCapture, monkeypatch: pytest.MonkeyPatch) -> None:
    dialog = opened(ASKED)
    dialog.tabs.setCurrentIndex(1)
    words = [each for each in dialog.findChildren(QLabel) if each.text() in {"Keep", "days, up to", "MiB"}]
    line = sorted([*words, dialog.days, dialog.room], key=QWidget.x)
    assert [getattr(each, "text", str)() for each in line[::2]] == ["Keep", "days, up to", "MiB"]
    assert line[1::2] == [dialog.days, dialog.room]
    assert [each.accessibleName() for each in dialog.findChildren(QPushButton) if not each.text()] == []
    limited: list[tuple[int, int]] = []
    monkeypatch.setattr(live, "limit", lambda *both: limited.append(both))
    for field in (dialog.days, dialog.room):
        before = field.value()
        field.setValue(0)
        assert field.value() == 1, "what is kept for no time, or nowhere, is not kept"
        field.setValue(before)
    for field, value in ((dialog.days, dialog.days.value()), (dialog.days, 9), (dialog.room, 7)):
        field.setValue(value)
        field.editingFinished.emit()
    assert limited == [(9, AttachSettings().keep_mebibytes), (9, 7)]
    dialog.days.setFocus()
    live.changed.emit()  # what is being typed stays
    assert (dialog.days.value(), dialog.room.value()) == (9, AttachSettings().keep_mebibytes)
    live.failed.emit(OSError("the disk is full"))
    assert (dialog.bar.label.text(), dialog.bar.tone) == ("The disk is full", "error")
    dialog.close()


def test_what_is_older_than_a_new_limit_is_deleted_and_the_limit_kept(
    opened: Any, session: Session, live: LiveCapture, folder: Path, qtbot
) -> None:
    now = time.time_ns() // 1_000_000
    made = {days: capture([("user", "Who?")], "Wren.", now - days * 86_400_000) for days in (1, 5)}
    dialog = opened(*made.values())
    live.limit(3, 7)
    assert live.busy
    qtbot.waitUntil(lambda: session.jobs.idle and not live.busy and len(live.kept.captures) == 1)
    assert [each.id for each in live.kept.captures] == [made[1].id]
    settings = load_attachment(folder).settings
    assert (settings.keep_days, settings.keep_mebibytes) == (3, 7)
    dialog.close()


def test_captures_are_compared_with_the_chat_in_a_job(
    opened: Any, session: Session, live: LiveCapture, tmp_path: Path, qtbot
) -> None:
    dialog = opened(ASKED, MASKED)
    project = make_project(tmp_path / "vault")
    heard: list[Any] = []
    for keep in (False, True):
        live.compare(project, session.choice, lambda *made: heard.append(made), keep=keep)
        qtbot.waitUntil(lambda: session.jobs.idle and bool(heard))
        found, answered = heard.pop()
        assert answered.startswith("No capture answers") is keep
        assert {each.matched.capture.id for each in found} == {ASKED.id, MASKED.id}
        assert [(each.turn, each.matched.generation) for each in found] == [(None, None)] * 2  # of another chat
    live.kept = replace(live.kept, problems=("a.json: torn.",))
    live.changed.emit()
    assert (dialog.bar.label.text(), dialog.bar.tone) == ("a.json: torn.", "warning")
    dialog.close()


def test_a_comparison_that_failed_says_so_and_can_be_begun_again(
    opened: Any, session: Session, live: LiveCapture, monkeypatch: pytest.MonkeyPatch, qtbot
) -> None:
    session.set_project(make_project())
    dialog = opened(ASKED)
    qtbot.waitUntil(dialog.compare.isEnabled)

    def full(_captures: Captures, *, whole: bool) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Captures, "list", full)
    dialog.compare.click()
    assert able(dialog)[0] is False  # while it is under way
    qtbot.waitUntil(lambda: session.jobs.idle)
    assert (dialog.bar.label.text(), dialog.bar.tone) == ("The disk is full", "error")
    assert able(dialog)[:2] == [True, True]
    dialog.close()
