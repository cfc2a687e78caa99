"""Live capture in the window: nothing listens unless switched on, what came is shown, and captures can be managed."""

from __future__ import annotations

import asyncio
import json
import re
import time
from threading import Event
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from shiboken6 import isValid

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.settings.studio import AttachSettings
from lorestudio.studio.attach.captures import Captures, load_attachment
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import within_limits
from lorestudio.ui.features.attach.dialog import CaptureDialog, LiveCaptureDialog
from tests.studio.attach.loopback import provider
from tests.studio.attach.test_comparing import capture, captured
from tests.ui.conftest import drain, settle
from tests.ui.worlds import make_project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lorestudio.ui.shell.main_window import MainWindow

ANSWER = json.dumps({"choices": [{"message": {"content": "The wind."}}], "data": []}).encode()


async def answer(writer: asyncio.StreamWriter, _ended: asyncio.Event) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER))
    await writer.drain()


@pytest.fixture
def window(make_window: Any, tmp_path: Path) -> MainWindow:
    made: MainWindow = make_window()
    assert made.features.attach.sign.isHidden(), "nothing listens"
    made.keep_notes_safe(tmp_path / "data" / "notes")
    return made


@pytest.fixture
def dialog(window: MainWindow) -> Iterator[LiveCaptureDialog]:
    made = window.features.attach.open()
    settle(window)
    yield made
    made.close()
    drain()


def listen(window: MainWindow, dialog: LiveCaptureDialog, port: int) -> str:
    dialog.provider.setText(f"http://127.0.0.1:{port}/v1")
    dialog.switch.click()
    settle(window)
    return dialog.address.text()


def ask(window: MainWindow, address: str, qtbot: Any) -> None:
    body = {"messages": [{"role": "user", "content": "Who rings the bell?"}]}
    before = len(window.features.attach.live.kept.captures)
    httpx.post(f"{address}/chat/completions", json=body, headers={"authorization": "Bearer secret-key-12345"})
    qtbot.waitUntil(lambda: len(window.features.attach.live.kept.captures) > before)
    settle(window)


@pytest.mark.always
def test_nothing_listens_until_it_is_switched_on_and_the_title_says_so(
    window: MainWindow, dialog: LiveCaptureDialog, tmp_path: Path, qtbot: Any
) -> None:
    assert window.features.attach.live.endpoint is None
    assert (dialog.state.text(), window.windowTitle(), window.features.attach.sign.isVisible()) == (
        "Nothing listens.", "lorestudio", False,
    )  # fmt: skip
    with provider(answer) as there:
        address = listen(window, dialog, there.port)
        assert "listening" in window.windowTitle()
        assert window.features.attach.sign.isVisible()
        assert dialog.state.text() == "It listens. Nothing has come yet."
        httpx.get(f"{address}/models")
        qtbot.waitUntil(lambda: dialog.state.text() == "SillyTavern has asked for the model list: it works.")
        ask(window, address, qtbot)
        assert dialog.state.text() == "1 request for text went through: it works."
        kept = load_attachment(tmp_path / "data" / "attach")
        assert address == f"http://127.0.0.1:{kept.settings.port}/{kept.token}/v1"
        dialog.switch.click()
        settle(window)
        assert window.windowTitle() == "lorestudio"
        assert not window.features.attach.sign.isVisible()
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/models")
        dialog.renew.click()
        settle(window)
        assert dialog.address.text() not in {"", address}
    assert not any(b"secret-key" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.long
def test_captures_are_shown_redacted_and_deleted(
    window: MainWindow, dialog: LiveCaptureDialog, tmp_path: Path, qtbot: Any
) -> None:
    with provider(answer) as there:
        address = listen(window, dialog, there.port)
        for _ in range(2):
            ask(window, address, qtbot)
        assert dialog.tabs.tabText(1) == "Captures (2)"
        dialog.list.select_places([0], 0)
        dialog.open_button.click()
        settle(window)
        (shown,) = (each for each in QApplication.topLevelWidgets() if isinstance(each, CaptureDialog))
        assert shown.text.toPlainText() == "--- 1 of 1: user\nWho rings the bell?\n\n--- answer\nThe wind."
        shown.close()
        for button in (dialog.redact, dialog.delete):
            dialog.list.select_places([0], 0)
            button.click()
            (box,) = (each for each in QApplication.topLevelWidgets() if isinstance(each, QMessageBox))
            next(each for each in box.buttons() if each.text() in {"Redact", "Delete"}).click()
            drain()
            settle(window)
            store = Captures(tmp_path / "data" / "attach")
            if button is dialog.redact:
                assert store.read(store.list()[0].id).prompt.messages[0].text == "xxx xxxxx xxx xxxx?"
        assert len(store.list()) == 1
        dialog.days.setValue(3)
        dialog.days.editingFinished.emit()
        settle(window)
        assert load_attachment(tmp_path / "data" / "attach").settings.keep_days == 3
        started = time.time_ns() // 1_000_000 - 5 * 86_400_000
        old = replace(store.list()[0], id=f"{started}-aaaaaa", started_ms=started)
        store.add(old)  # whoever keeps them for 14 days
        ask(window, address, qtbot)
        qtbot.waitUntil(lambda: old.id not in [each.id for each in store.list()])  # another thread sweeps


def test_what_cannot_be_read_is_told_and_deleted_on_request(
    window: MainWindow, dialog: LiveCaptureDialog, tmp_path: Path
) -> None:
    folder = Captures(tmp_path / "data" / "attach").folder
    folder.mkdir(parents=True)
    torn = folder / "1700000000099-aaaaff.capture"
    torn.write_text("{", "ascii")
    window.features.attach.live.read()
    settle(window)
    assert "cannot be read" in dialog.bar.label.text()
    next(each for each in dialog.bar.findChildren(QPushButton) if each.text() == "Delete what cannot be read").click()
    (box,) = (each for each in QApplication.topLevelWidgets() if isinstance(each, QMessageBox))
    assert "1 capture?" in box.text()
    assert torn.exists()
    next(each for each in box.buttons() if each.text() == "Delete").click()
    drain()
    settle(window)
    assert not torn.exists()
    assert not dialog.bar.isVisible()


@pytest.mark.always
def test_an_address_that_is_none_is_said(window: MainWindow, dialog: LiveCaptureDialog) -> None:
    dialog.provider.setText("openrouter")
    dialog.switch.click()
    assert dialog.provider.text() == "openrouter"
    settle(window)
    assert dialog.provider.text() == "openrouter"  # to be mended
    assert "“openrouter” is no address of a provider" in dialog.bar.label.text()
    assert not window.features.attach.live.listens
    dialog.switch.click()
    assert not dialog.bar.isVisible()  # until it is said again
    settle(window)
    assert dialog.bar.isVisible()
    dialog.wanted.emit(Generation(5, 1))
    assert (window.selection.message, window.selection.generation) == (5, Generation(5, 1))


@pytest.mark.long
def test_captured_prompts_are_held_against_the_replies_that_they_made(
    make_window: Any, tmp_path: Path, qtbot: Any
) -> None:
    project = demo_project(tmp_path / "demo")
    window = make_window(project, make_simulator=Simulator)
    window.keep_notes_safe(tmp_path / "data" / "notes")
    simulator = Simulator(project)
    asyncio.run(simulator.replay())
    made = [trace for trace in simulator.traces.values() if trace.injections][3]
    whole = captured(project, made)
    foreign = replace(whole, id="4000000000001-bbbbbb", started_ms=4_000_000_000_001, answer="{}")
    store = Captures(tmp_path / "data" / "attach", AttachSettings(keep_days=3650))
    for each in (whole, foreign):
        store.add(each)
    dialog = window.features.attach.open()
    settle(window)
    dialog.tabs.setCurrentIndex(1)
    dialog.compare.click()
    settle(window)
    qtbot.waitUntil(dialog.compare.isEnabled)
    assert dialog.bar.label.text().startswith("2 captures: 1 of replies in this chat, 1 with the same lore")
    name = f"#{made.turn.message}"
    both = f"the same {len(within_limits(made))} entries"  # an outlet's text is in no prompt that does not ask for it
    told = {row[1]: row[2] for row in dialog.model.texts()}
    assert told[name] == both
    place = next(at for at, each in enumerate(dialog.model.rows) if each.id == foreign.id)
    dialog.list.select_places([place], place)
    assert not dialog.go.isEnabled()  # it made no reply
    dialog.list.select_places([1 - place], 1 - place)
    dialog.open_button.click()
    settle(window)
    (shown,) = (each for each in QApplication.topLevelWidgets() if isinstance(each, CaptureDialog))
    first = made.injections[0].title
    assert shown.text.toPlainText().startswith(f"--- made\n{name}\n")
    assert f"{first}: as it was put in, message 1 (system, " in shown.text.toPlainText()
    shown.close()
    dialog.go.click()
    settle(window)
    assert window.selection.generation == Generation(made.turn.message, made.turn.swipe)


class Heard:
    """Nothing is chosen, and what was asked is remembered."""

    name = label = "heard"

    def __init__(self) -> None:
        self.asked: list[ChatRequest] = []

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        return ChatReply("[]")


@pytest.mark.long
def test_the_models_choices_are_kept_and_replayed(make_window: Any, tmp_path: Path, qtbot: Any) -> None:
    project = demo_project(tmp_path / "demo")
    asking = project.settings.model_copy(update={"ai_search_enabled": True, "ai_search_mode": "two-stage"})
    project = replace(project, settings=asking)
    heard = Heard()
    simulator = Simulator(project, system_of(project.scene(heard), kind_of("deeplore"), asking))
    generation = simulator.generations[5]
    asyncio.run(simulator.generate(generation))
    question = heard.asked[-1]
    offered = re.findall(r"^(.+) \(\d+tok\)", question.user, re.MULTILINE)
    chosen = offered[-1]
    closing = question.user.replace(question.user.rsplit("\n", 1)[1], "Answer as the system prompt says.")
    kept = capture([("system", "Pick lore."), ("user", closing)], json.dumps([{"title": chosen}]), 4_000_000_000_000)
    window = make_window(project, make_simulator=Simulator)
    window.keep_notes_safe(tmp_path / "data" / "notes")
    Captures(tmp_path / "data" / "attach", AttachSettings(keep_days=3650)).add(kept)
    dialog = window.features.attach.open()
    settle(window)
    dialog.tabs.setCurrentIndex(1)
    dialog.keep_answers.click()
    dialog.compare.click()
    qtbot.waitUntil(dialog.compare.isEnabled, timeout=20_000)
    assert "Captures answer 1 question of the runs about which entries matter." in dialog.bar.label.text()
    dialog.close()
    window.session.replays.choose(source=Source(AnswerKind.RECORDED))
    settle(window)
    window.session.replays.run_all()
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle, timeout=20_000)
    trace = window.session.runs.trace(generation)
    ways = {trace.title(entry): way.reason for entry, (_stage, way) in Journeys(trace).ways_in.items()}
    assert (offered.count(chosen), ways[chosen]) == (1, "ai_pick")
    assert chosen in {each.title for each in trace.injections}
    assert [call.error for call in trace.ai_calls] == [""]


@pytest.mark.parametrize("opened", [False, True])
def test_what_is_found_after_the_dialog_was_closed_is_shown_nowhere(
    make_window: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: bool
) -> None:
    window, gate = make_window(make_project(tmp_path / "vault")), Event()
    window.keep_notes_safe(tmp_path / "data" / "notes")
    kept = capture([("user", "Who rings the bell?")], "The wind.", 4_000_000_000_000)
    Captures(tmp_path / "data" / "attach", AttachSettings(keep_days=3650)).add(kept)
    dialog = window.features.attach.open()
    settle(window)
    for name, real in (("list", Captures.list), ("read", Captures.read)):
        slow = lambda *given, real=real, **more: (gate.wait(60), real(*given, **more))[1]  # noqa: E731
        monkeypatch.setattr(Captures, name, slow)
    if opened:
        dialog.list.select_places([0], 0)
        dialog.open_button.click()
    else:
        dialog.compare.click()
    dialog.close()
    drain()
    gate.set()
    settle(window)
    assert not isValid(dialog)


def test_a_window_that_closes_ends_what_listens_and_makes_nothing_for_it(window: MainWindow, tmp_path: Path) -> None:
    attach = window.features.attach
    attach.stop()
    attach.keep_in(tmp_path / "runs")
    assert "live" not in vars(attach)
    closed: list[bool] = []
    attach.live.close = lambda: closed.append(True)
    attach.stop()
    assert closed == [True]
    del attach.live.close
    attach.keep_in(tmp_path / "other" / "runs")
    assert attach.live._folder == tmp_path / "other" / "attach"
