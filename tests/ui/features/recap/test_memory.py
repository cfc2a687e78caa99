"""Recap memory of the open chat beside a session that does nothing: what hinders it, and what follows from what."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.resources import resource
from lorestudio.exchange.chats.document import ChatFormat
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.queue import QueuedOperation, QueueState
from lorestudio.ui.features.recap.memory import ChatRecaps, NoRecaps
from lorestudio.ui.shell.words import Notice

ONE = QueuedOperation(id="a", type="validate_recap")


class Window(QObject):
    """In place of the session, its jobs and the window's settings."""

    project_changed, state_changed, configured, notice = Signal(), Signal(), Signal(), Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.project: Any = None
        self.jobs: Any = None
        self.choices = SimpleNamespace(systems={})
        self.replays = SimpleNamespace(configure=lambda settings, _title: self.choices.systems.update(settings))
        self.parts = SimpleNamespace(on_disk=None, file_written=lambda *news: self.said.append(("written", *news)))
        self.kept: dict[str, str] = {}
        self.said: list[Any] = []

    def fileName(self) -> str:  # noqa: N802 (Qt's name)
        return "/nowhere/window.ini"

    def value(self, key: str, default: str) -> str:
        return self.kept.get(key, default)

    def setValue(self, key: str, value: str) -> None:  # noqa: N802 (Qt's name)
        self.kept[key] = value

    def start(self, work: Any, *, done: Any = None, failed: Any = None) -> None:
        self.said.append(work if isinstance(work, str) else "work")
        self.begun, self.done, self.failed = work, done, failed


def chat(path: Path | None = Path("Tale.jsonl"), **more: Any) -> Any:
    known: dict[str, Any] = {
        "chat": object(),
        "chat_path": path,
        "document": None,
        "vault_folders": (),
        "known_context": 4000,
    }
    known["setup"] = SimpleNamespace(context_size=0, reply_tokens=0)
    known["places"], known["roots"] = (), ()
    return SimpleNamespace(**(known | more))


def opened(*left: QueuedOperation, paused: bool = False) -> Any:
    return SimpleNamespace(
        queue=QueueState(left, paused=paused),
        problems=(),
        close="closed",
        context=SimpleNamespace(model=""),
        settings=RecapSettings(),
    )


@pytest.fixture
def window(qapp: object) -> Window:
    return Window()


@pytest.fixture
def recaps(window: Window, monkeypatch: pytest.MonkeyPatch) -> ChatRecaps:
    monkeypatch.setattr("lorestudio.ui.features.recap.memory.chat_id", lambda project: str(project.chat_path))
    made = ChatRecaps(window, window)  # type: ignore[arg-type]
    made.work = window  # type: ignore[assignment]
    made._configured = True
    for name in ("changed", "due"):
        getattr(made, name).connect(lambda name=name: window.said.append(name))
    for signal in (window.notice, made.prompt_changed):
        signal.connect(window.said.append)
    return made


@pytest.mark.parametrize("is_open", [True, False])
def test_a_window_that_closes_closes_the_recaps_that_are_open(recaps: ChatRecaps, is_open: bool) -> None:
    closed: list[object] = []
    recaps.work = SimpleNamespace(close=closed.append)  # type: ignore[assignment]
    recaps.open = opened() if is_open else None
    recaps.stop()
    assert (closed, recaps.open) == (["closed" if is_open else None], None)


TEXT = SimpleNamespace(format=ChatFormat.PLAIN_TEXT)


@pytest.mark.parametrize(
    ("project", "why"),
    [
        (None, NoRecaps.NO_CHAT),
        (chat(chat=None), NoRecaps.NO_CHAT),
        (chat(None), NoRecaps.NO_FILE),
        (chat(resource("demo") / "Tale.jsonl"), NoRecaps.DEMO),
        (chat(document=TEXT), NoRecaps.PLAIN_TEXT),
        (chat(document=SimpleNamespace(format=None)), None),
        (chat(), None),
    ],
)
def test_why_a_chat_can_have_no_recaps(recaps: ChatRecaps, window: Window, project: Any, why: NoRecaps | None) -> None:
    window.project = project
    assert recaps.hindrance is why


@pytest.mark.parametrize(
    ("project", "room"),
    [
        (None, 0),
        (chat(), 4000),
        (chat(setup=SimpleNamespace(context_size=8000, reply_tokens=300)), 7700),
        (chat(setup=SimpleNamespace(context_size=200, reply_tokens=300)), 0),
    ],
)
def test_the_room_for_prompts(recaps: ChatRecaps, window: Window, project: Any, room: int) -> None:
    window.project = project
    assert recaps.room == room


def test_a_chat_that_can_have_no_recaps_any_more_is_closed(recaps: ChatRecaps, window: Window) -> None:
    recaps.path, recaps.open = Path("Tale.jsonl"), opened()
    window.project = chat(document=TEXT)
    recaps.follow()
    assert (recaps.path, recaps.open, window.said) == (None, None, ["closed", "changed"])


def test_what_is_not_in_the_file_is_unsaved(recaps: ChatRecaps, window: Window) -> None:
    window.project = chat()
    seen = [recaps.unsaved]
    for known in (object(), window.project.chat):
        window.parts.on_disk = SimpleNamespace(chat=known)
        seen.append(recaps.unsaved)
    assert seen == [False, True, False]


def test_each_chat_is_kept_up_to_date_by_itself_or_not(recaps: ChatRecaps, window: Window) -> None:
    recaps.set_by_itself(True)
    assert (recaps.by_itself, window.said) == (False, [])
    window.project = chat(None)
    recaps.set_by_itself(True)
    assert (recaps.by_itself, window.kept, window.said) == (True, {"recap/by_itself/None": "on"}, ["changed"])
    recaps.set_by_itself(False)
    assert (recaps.by_itself, window.kept) == (False, {"recap/by_itself/None": ""})


# ---- opening --------------------------------------------------------------------------------------------------------


def wanted(recaps: ChatRecaps, window: Window) -> None:
    window.project = chat()
    window.project_changed.emit()
    assert window.said == ["changed"]
    recaps.want()
    recaps.want()
    assert window.said == ["changed", "work"]  # once
    window.said.clear()


def picture(document: Any = None) -> Any:
    return SimpleNamespace(file=SimpleNamespace(document=document, source="source"))


LEFT = "left from before. Nothing was lost; the work goes on where it ended."


@pytest.mark.parametrize(
    ("left", "by_itself", "paused", "said"),
    [
        (0, False, False, []),
        (0, True, False, []),
        (1, True, False, ["due"]),
        (1, True, True, [f"1 step of recap work is {LEFT}"]),
        (2, False, False, [f"2 steps of recap work are {LEFT}"]),
    ],
)  # fmt: skip
def test_what_was_left_goes_on_or_is_offered(
    recaps: ChatRecaps, window: Window, left: int, by_itself: bool, paused: bool, said: list[str]
) -> None:
    wanted(recaps, window)
    if by_itself:
        window.kept["recap/by_itself/Tale.jsonl"] = "on"
    session = opened(*[ONE] * left, paused=paused)
    session.problems = ("It is torn.",)
    window.done((session, picture()))
    assert (recaps.open, recaps.queue.left) == (session, left)
    assert [each.text if isinstance(each, Notice) else each for each in window.said] == [
        "It is torn.",
        "changed",
        *said,
    ]
    window.said.clear()
    window.project_changed.emit()  # the same chat
    assert window.said == []
    window.project = chat(None)
    window.project_changed.emit()
    assert (recaps.open, recaps.picture, recaps.queue.left, window.said) == (None, None, 0, ["closed", "changed"])


def test_a_chat_that_was_left_while_it_was_opened_is_closed(recaps: ChatRecaps, window: Window) -> None:
    wanted(recaps, window)
    window.project = chat(Path("Other.jsonl"))
    window.project_changed.emit()
    assert window.said == ["changed"]
    window.done((opened(), picture()))
    assert (recaps.open, window.said) == (None, ["changed", "closed", "work"])  # and the other one is opened
    window.said.clear()
    window.failed(ValueError("it broke"))
    assert (recaps.problem, window.said) == ("it broke", ["changed"])
    recaps.want()
    assert window.said == ["changed"]
    recaps.try_again()
    assert (recaps.problem, window.said) == ("", ["changed", "work"])
    window.project = chat()
    window.project_changed.emit()
    window.said.clear()
    window.failed(ValueError("it broke"))  # of a chat that nobody looks at any more
    assert (recaps.problem, window.said) == ("", ["work"])


# ---- changing -------------------------------------------------------------------------------------------------------


def test_the_settings_are_those_of_its_runs(
    recaps: ChatRecaps, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "lorestudio.systems.recap.session", raising=False)
    assert recaps.settings == RecapSettings(), "nobody has set any"
    others = window.choices.systems["recap"] = RecapSettings(recap_delay=7)
    assert recaps.settings == others
    assert "lorestudio.systems.recap.session" not in sys.modules, "their dialog need not wait for all of the work"
    window.configured.emit()
    assert window.said == [], "no chat is open"


def test_an_open_chat_goes_on_with_other_settings(
    recaps: ChatRecaps, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Any] = []
    recaps.open = opened()
    recaps.open.context.model, window.project = "small", chat()
    recaps.open.use = lambda *given, **more: used.append((*given, more))
    monkeypatch.setattr("lorestudio.systems.recap.overview.picture", lambda _session: None)
    window.configured.emit()
    assert window.said == [], "settings of another system"
    others = window.choices.systems["recap"] = RecapSettings(recap_delay=7)
    window.configured.emit()
    asyncio.run(window.begun())
    assert (window.said, used) == (["work"], [(others, {"model": "small", "context_size": 4000})])
    window.failed(ValueError("a preset is missing"))
    assert window.said[1:] == [Notice("a preset is missing", "error", key="recap")]


def test_a_chat_is_opened_once_the_settings_that_were_kept_are_read(recaps: ChatRecaps, window: Window) -> None:
    recaps._configured, window.project = False, chat()
    recaps.want()
    assert window.said == ["changed"]
    window.choices.systems["recap"] = RecapSettings(recap_delay=7)
    window.configured.emit()
    assert window.said == ["changed", "work"]
    recaps.open, made = None, opened()
    window.done((made, picture()))
    assert window.said.count("work") == 2, "they are others than it was opened with"


def test_the_newest_reply_that_is_looked_at_counts(recaps: ChatRecaps, window: Window) -> None:
    recaps.open = opened()
    recaps.look_at(3)
    assert window.said == []  # nobody wants to see it
    recaps.wanted = True
    recaps.look_at(None)
    assert window.said == []
    recaps.look_at(3)
    recaps.look_at(5)
    assert window.said == ["work"]
    window.done("prompt of 3")
    assert window.said == ["work", "work"]
    window.done("prompt of 5")
    assert window.said[2:] == ["prompt of 5"]
    recaps.look_at(7)
    window.failed(ValueError("it broke"))
    assert window.said[3:] == ["work", Notice("it broke", "error", key="recap")]
    recaps.look_at(7)
    assert window.said[-1] == "work"


@pytest.mark.parametrize(("digest", "written"), [("a", False), ("b", True)])
def test_the_windows_chat_becomes_what_the_file_is(
    recaps: ChatRecaps, window: Window, digest: str, written: bool
) -> None:
    window.project = chat(document=SimpleNamespace(format=None, digest="a"))
    document = SimpleNamespace(digest=digest)
    for _again in range(2):
        recaps._take(picture(document))
    news = [each for each in window.said if each != "changed"]
    assert [each[1:3] for each in news] == ([("source", document)] if written else [])
    assert window.said.count("changed") == 2


@pytest.mark.parametrize(
    ("by_itself", "left", "due"), [(True, (ONE,), True), (True, (), False), (False, (ONE,), False), (False, (), False)]
)
def test_a_file_that_was_written_makes_work_due_only_where_that_goes_by_itself(
    recaps: ChatRecaps, window: Window, by_itself: bool, left: Any, due: bool
) -> None:
    window.project = chat()
    recaps.set_by_itself(by_itself)
    session = opened(*left)
    recaps.open = session
    done: list[Any] = []
    recaps._do = lambda _session, _how=None, then=None: done.append(then)  # type: ignore[assignment, misc]
    recaps._hear(session)
    window.said.clear()
    done[0]()
    assert window.said == (["due"] if due else [])


def test_a_chat_that_cannot_be_opened_says_why_unless_another_one_is_looked_at(
    recaps: ChatRecaps, window: Window
) -> None:
    window.project = chat()
    recaps.wanted = True
    recaps.path = Path("Tale.jsonl")
    recaps._opening = True
    recaps._not_opened(Path("Tale.jsonl"), ValueError("it is locked"))
    assert (recaps.problem.casefold().rstrip("."), recaps._opening) == ("it is locked", False)
    assert window.said[-1] == "changed"
    recaps.problem = ""
    recaps._opening = True
    window.said.clear()
    recaps._not_opened(Path("Other.jsonl"), ValueError("it is locked"))
    assert recaps.problem == ""
    assert window.said[-1:] == ["work"], "the one that is looked at is opened"
