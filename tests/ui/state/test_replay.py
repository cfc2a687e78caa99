"""Replays as a session begins, stops and ends them, and what is known of the runs then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.project.project import Project
from lorestudio.studio.project.settings import Mode
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.studio.replay.costs import CostEstimate
from lorestudio.studio.replay.ranges import MessageRange
from lorestudio.studio.replay.run_store import RunStore, chat_id
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems import vectors
from lorestudio.systems.hybrid import system as hybrid
from lorestudio.trace.model import Trace
from lorestudio.ui.state import replay_worker
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.state.replay_worker import Finished, WantedReplay, _forget_failures, _remarks
from lorestudio.ui.state.session import Session
from tests.systems.makers import Maker
from tests.ui.worlds import FakeSimulator, ai_project, make_project, make_trace

FIRST, SECOND, NEXT = Generation(2, 0), Generation(5, 0), Generation(7, 0)


class Slow(FakeSimulator):
    """Rests before each reply, so that it can be stopped."""

    pause = 0.02


@pytest.fixture
def session(make_session: Callable[..., Session], tmp_path: Path) -> Session:
    """Nothing is run yet."""
    made = make_session(replay=False, make_simulator=Slow)
    made.set_project(make_project(tmp_path / "vault"))
    return made


def ready(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: session.jobs.idle and not session.busy)


def heard(session: Session, *names: str) -> list[Any]:
    """What the signals of these names say from now on."""
    told: list[Any] = []
    for name in names:
        getattr(session, name).connect(lambda *given, name=name: told.append((name, *given)))
    return told


def notices(session: Session) -> list[str]:
    told: list[str] = []
    session.notice.connect(lambda notice: told.append(notice.text))
    return told


def test_as_much_is_run_as_is_wanted(session: Session, qtbot: QtBot) -> None:
    session.replays.run_to(Generation(99, 0))
    assert not session.busy, "there is no such reply"
    session.replays.run_to(FIRST)
    assert session.activity == "Replaying the chat…"
    ready(session, qtbot)
    assert session.activity == ""
    assert set(session.runs.traces) == {FIRST}
    assert session.runs.complete() is None
    session.replays.run_range(MessageRange(3, 5))
    ready(session, qtbot)
    assert SECOND in session.runs.traces
    assert NEXT not in session.runs.traces
    with pytest.raises(ValueError, match="repl"):
        session.replays.run_range(MessageRange(3, 4))
    session.replays.run_all()
    ready(session, qtbot)
    assert set(session.runs.traces) == set(session.generations)
    assert session.runs.complete() is session.runs.complete(session.choice) is not None
    assert session.runs.complete(replace(session.choice, system="world-info")) is None, "nobody has run that"


def test_a_replay_that_is_stopped_says_how_far_it_came_and_the_next_takes_its_place(
    session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Slow, "more", more := threading.Event())
    said, ended, offered = notices(session), heard(session, "replayed"), heard(session, "notice")
    session.replays.run_all()
    qtbot.waitUntil(lambda: len(session.runs.traces) > 0)
    session.replays.cancel()
    more.set()
    ready(session, qtbot)
    assert len(session.runs.current) == 1
    assert said == ["The replay was stopped. 1 reply done; the rest can be run again."]
    assert [notice.actions for _name, notice in offered] == [("replay.all",)]
    assert ended == []
    session.replays.run_all()
    session.replays.run_to(FIRST)  # takes its place
    ready(session, qtbot)
    assert len(said) == 1, "nobody has stopped it"
    assert len(ended) == 1
    assert not session.runs.replaying


def test_only_what_alters_runs_runs_again(session: Session, qtbot: QtBot) -> None:
    session.replays.run_all()
    ready(session, qtbot)
    told = heard(session, "choice_changed", "configured")
    first = session.runs.chosen
    session.replays.choose(mode=session.choice.mode)
    assert told == []
    session.replays.configure({"hybrid": HybridSettings(limit=3)}, "three")
    assert told == [("configured",)]
    assert session.runs.chosen is first, "another system runs"
    assert session.parts.adjustments.undo_title == "three"
    session.replays.system_changed("hybrid")
    assert session.runs.chosen is first
    session.replays.choose(system="hybrid", settings=HybridSettings(limit=3))
    assert session.busy
    ready(session, qtbot)
    second = session.runs.chosen
    assert second is not first
    session.replays.system_changed("hybrid")
    assert session.busy, "what it knows is other than it was"
    ready(session, qtbot)
    assert session.runs.chosen not in {first, second}


def test_why_a_run_is_not_what_it_would_be_now(session: Session, qtbot: QtBot) -> None:
    session.replays.run_all()
    ready(session, qtbot)
    runs, session.replays.automatic = session.runs, False
    assert [runs.outdated(each) for each in (FIRST, None)] == ["", ""]
    session.replays.choose(mode=Mode.TWO_STAGE)
    ready(session, qtbot)
    main = session.choice
    session.choice = replace(main, fixed=("fill_count",))
    assert runs.outdated(FIRST) == "This run was made with other behaviour switches than are chosen now."
    session.choice = replace(main, system="hybrid", settings=HybridSettings(limit=3))
    assert runs.outdated(FIRST) == (f"This run was made with: {main.title}. Chosen now: {session.choice.title}.")
    assert runs.finished() is None
    assert runs.side(FIRST).context is None
    session.replays.run_all()
    ready(session, qtbot)
    assert runs.outdated(FIRST) == ""
    session.choice = replace(session.choice, settings=HybridSettings(limit=4))
    assert runs.outdated(FIRST) == f"This run was made with other settings of {session.choice.title}."


def test_news_of_a_replay_that_nobody_waits_for_any_more_are_told_nobody(session: Session, qtbot: QtBot) -> None:
    session.replays.run_all()
    runs, news = session.runs, {FIRST: make_trace(2)}
    told = heard(session, "traces_changed")
    assert runs.take_news({})
    assert told == []
    assert runs.take_news(news)
    assert told == [("traces_changed", (FIRST,))]
    before = session.choice
    session.choice = replace(before, system="hybrid", settings=HybridSettings())
    assert not runs.take_news(news)
    session.choice = before
    assert len(told) == 1
    ready(session, qtbot)
    assert not runs.take_news(news), "none is under way"


def test_without_a_project_or_a_reply_nothing_is_run(make_session: Callable[..., Session], tmp_path: Path) -> None:
    session = make_session()
    session.replays.run_all()
    assert not session.busy
    session.set_project(make_project(tmp_path / "vault", chat=False))
    session.replays.run_to(FIRST)
    session.replays.configure({"hybrid": HybridSettings(limit=3)})
    assert session.choices.systems["hybrid"].limit == 3


def test_what_failed_is_run_again_with_all_after_it(session: Session, qtbot: QtBot) -> None:
    session.replays.run_all()
    ready(session, qtbot)
    simulator = session.runs.chosen
    amount = len(simulator.traces)
    _forget_failures(simulator)
    assert len(simulator.traces) == amount
    place = 2
    failed = _failed(simulator.traces[simulator.generations[place]])
    simulator._traces[simulator.generations[place]] = failed
    _forget_failures(simulator)
    assert list(simulator.traces) == list(simulator.generations[:place])


def _failed(trace: Trace) -> Trace:
    return replace(trace, facts={**trace.facts, "ai_error": "529 overloaded"})


@pytest.mark.parametrize(
    ("remarks", "said"),
    [
        ((), []),
        (("A book is torn.",), ["World Info: A book is torn."]),
        (("A book is torn.", "B", "C"),
         ["World Info: A book is torn. “Lorebooks of World Info” has 2 more remarks."]),
    ],
)  # fmt: skip
def test_one_remark_stands_for_all(remarks: tuple[str, ...], said: list[str]) -> None:
    assert _remarks(SimpleNamespace(remarks=remarks, title="World Info")) == said


def test_what_was_run_is_kept_when_more_is_wanted(session: Session, qtbot: QtBot) -> None:
    ended = heard(session, "replayed")
    session.replays.run_to(FIRST)
    ready(session, qtbot)
    session.replays.run_range(MessageRange(3, 5))
    ready(session, qtbot)
    session.replays.run_all()
    ready(session, qtbot)
    assert [tally.words for _name, tally in ended] == ["1 run, 0 kept", "2 run, 1 kept", "1 run, 3 kept"]
    assert session.replays.tally.begun
    session.replays.run_all()
    ready(session, qtbot)
    assert not session.replays.tally.begun, "nothing is missing"


def test_what_an_earlier_start_has_run_is_taken_over_unless_all_is_wanted_anew(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot
) -> None:
    project = replace(make_project(tmp_path / "vault"), settings=DeepLoreSettings(enabled=True))
    ready(make_session(project, make_simulator=Simulator, keep_in=tmp_path / "runs"), qtbot)
    later = make_session(project, replay=False, make_simulator=Simulator, keep_in=tmp_path / "runs")
    ended = heard(later, "replayed")
    later.replays.run_all()
    ready(later, qtbot)
    later.replays.run_all(fresh=True)
    ready(later, qtbot)
    assert [tally.words for _name, tally in ended] == ["0 run, 4 kept", "4 run, 0 kept"]


def test_runs_from_before_a_change_are_taken_over_also_in_the_second_step(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot
) -> None:
    """Another last message makes no difference to the replies before it, however many steps it takes to run them."""
    project = replace(make_project(tmp_path / "vault"), settings=DeepLoreSettings(enabled=True))
    project = replace(project, chat_path=tmp_path / "chat.jsonl")
    session = make_session(project, make_simulator=Simulator)
    session.replays.automatic = False
    last = replace(project.chat.messages[-1], text="I stay.")
    session.set_project(replace(project, chat=replace(project.chat, messages=(*project.chat.messages[:-1], last))))
    ended = heard(session, "replayed")
    session.replays.run_to(FIRST)
    ready(session, qtbot)
    session.replays.run_all()
    ready(session, qtbot)
    assert [tally.words for _name, tally in ended] == ["0 run, 1 kept", "1 run, 3 kept"]


def test_a_replay_that_was_agreed_to_begins_only_while_it_is_what_is_chosen(session: Session, qtbot: QtBot) -> None:
    finished = Finished(WantedReplay(session.choice.effective))
    session.replays.choose(mode=Mode.TWO_STAGE)
    ready(session, qtbot)
    made = session.runs.chosen
    session.replays.begin(finished)
    assert not session.busy
    assert session.runs.chosen is made
    session.replays.begin(replace(finished, wanted=replace(finished.wanted, choice=session.choice.effective)))
    assert session.busy
    ready(session, qtbot)


def test_texts_go_away_for_their_vectors_once_somebody_agreed(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = Maker()
    monkeypatch.setattr(hybrid, "embedder_named", lambda _name: maker)
    monkeypatch.setattr(vectors, "default_path", lambda: tmp_path / "vectors.sqlite")
    session = make_session(make_project(tmp_path / "vault"), make_simulator=Simulator)
    told, asked, offered = notices(session), heard(session, "cost_known"), heard(session, "notice")
    session.replays.automatic = False
    session.replays.choose(system="hybrid")
    ready(session, qtbot)
    (_name, finished) = asked.pop()
    assert maker.asked == []
    assert not session.runs.current
    session.replays.automatic = True
    session.replays.run_unasked()
    ready(session, qtbot)
    assert told.pop() == f"{finished.cost} It begins when you say so."
    assert offered[-1][1].actions == ("replay.all",)
    assert finished.whom == maker.label
    session.replays.begin(finished)
    ready(session, qtbot)
    assert finished.cost.startswith(f"{len(maker.texts)} texts of notes and the chat go to Local · m for vectors")
    assert len(session.runs.current) == len(session.generations)
    session.replays.run_all(fresh=True)
    ready(session, qtbot)
    assert (asked, told) == ([], []), "all are there now"


def test_a_window_that_is_opened_asks_no_person_before_one_says_so(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot
) -> None:
    session = make_session(ai_project(tmp_path), make_simulator=Simulator, replay=False)
    assert session.project is not None
    typed = replace(session.choice, mode=Mode.TWO_STAGE, source=Source(AnswerKind.TYPED))
    session.choices.save(chat_id(session.project), typed)
    session.set_project(session.project)
    told, asked = notices(session), heard(session, "question")
    session.replays.automatic = True
    session.replays.run_unasked()
    ready(session, qtbot)
    (said,) = told
    assert said == "This replay asks you for the answers to 2 requests. It begins when you say so."
    wanted = WantedReplay(typed.effective, session.generations[1], asked=False)
    session.replays._start(wanted)
    ready(session, qtbot)
    assert "to 1 request." in told[-1], "up to one reply"
    assert (asked, session.runs.current) == ([], {})


def test_what_costs_nothing_is_run_without_a_question(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def costs_nothing(*_given: object, **_more: object) -> CostEstimate:
        return CostEstimate(0, 0, 0)

    monkeypatch.setattr(replay_worker, "live_cost", costs_nothing)
    session = make_session(replay=False, make_simulator=FakeSimulator)
    session.set_project(make_project(tmp_path / "vault"))
    session.choice = replace(session.choice, mode=Mode.TWO_STAGE, source=Source(AnswerKind.TYPED))
    session.replays.automatic = True
    session.replays.run_unasked()
    ready(session, qtbot)
    assert len(session.runs.current) == len(session.generations)


def test_without_a_folder_nothing_is_kept_when_the_window_is_closed_in_the_middle(
    session: Session, qtbot: QtBot
) -> None:
    assert session.keep_in is None
    session.replays.run_all()
    qtbot.waitUntil(lambda: len(session.runs.traces) > 0)
    told = notices(session)
    session.replays.close()
    qtbot.waitUntil(lambda: session.jobs.idle)
    assert [each for each in told if "stopped" not in each] == []


def test_only_a_replay_that_somebody_asked_for_is_announced(session: Session, qtbot: QtBot) -> None:
    told = heard(session, "replayed")
    session.replays.automatic = True
    session.replays.run_unasked()
    ready(session, qtbot)
    assert set(session.runs.traces) == set(session.generations)
    assert told == []
    session.replays.run_all(fresh=True)
    ready(session, qtbot)
    assert [name for name, _tally in told] == ["replayed"]


def test_while_a_vault_is_read_nothing_is_run(session: Session) -> None:
    session.set_activity("Reading…")
    session.replays.run_all()
    assert (session.activity, session.runs.replaying, session.jobs.idle) == ("Reading…", False, True)
    session.set_activity("")


def test_what_was_run_is_kept_when_the_window_is_closed_in_the_middle(
    session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[object] = []
    monkeypatch.setattr(session.replays._replayer, "save", saved.append)
    monkeypatch.setattr(Slow, "more", more := threading.Event())
    session.replays.run_all()
    qtbot.waitUntil(lambda: len(session.runs.traces) > 0)
    timer = threading.Timer(0.1, more.set)  # while the close waits for the thread
    timer.start()
    session.replays.close()
    timer.join()
    assert saved == [session.runs.chosen]
    ready(session, qtbot)
    session.replays.close()
    assert len(saved) == 1


def test_what_was_run_last_is_kept_last_while_a_busy_disk_keeps_what_was_run_before(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    overtaken = threading.Event()

    def keep(_store: RunStore, simulator: Simulator) -> None:
        if simulator.project.settings.scan_depth == 1:
            overtaken.wait(0.5)
        kept.append(simulator.project.settings.scan_depth)
        overtaken.set()

    monkeypatch.setattr(RunStore, "keep", keep)
    project = replace(make_project(tmp_path / "vault"), settings=DeepLoreSettings(enabled=True, scan_depth=1))
    session = make_session(make_simulator=Simulator, keep_in=tmp_path / "runs")
    session.set_project(project)
    qtbot.waitUntil(lambda: not session.busy)
    session.parts.adjust("x", settings=DeepLoreSettings(enabled=True, scan_depth=2))
    ready(session, qtbot)
    assert kept == [1, 2]


@pytest.mark.parametrize("before", ["another problem", "could not be kept for the next start"])
def test_runs_that_cannot_be_kept_are_told_once(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot, before: str
) -> None:
    (tmp_path / "runs").write_text("", "utf-8")
    project = replace(make_project(tmp_path / "vault"), settings=DeepLoreSettings(enabled=True))
    session = make_session(replay=False, make_simulator=Simulator, keep_in=tmp_path / "runs")
    said = notices(session)
    session.replays.automatic = True
    session.set_project(project)
    session.replays.take({}, (before,))
    ready(session, qtbot)
    assert any("could not be kept for the next start" in text for text in said) is (before == "another problem")
    assert len(session.runs.traces) == len(session.generations)
    assert session.runs.finished() is not None


def test_why_nothing_at_all_could_be_kept_is_told(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(_simulator: object) -> None:
        raise MemoryError("no room for the runs")

    session = make_session(replay=False, make_simulator=Simulator, keep_in=tmp_path / "runs")
    monkeypatch.setattr(session.replays._replayer, "save", save)
    said = notices(session)
    session.replays.automatic = True
    session.set_project(make_project(tmp_path / "vault"))
    ready(session, qtbot)
    assert any("o room for the runs" in text for text in said), said


def test_while_a_replay_runs_its_run_is_looked_at_and_none_afterwards(
    session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = heard(session, "live_changed")
    monkeypatch.setattr(session.replays._board, "look", lambda: "a run")
    session.replays.run_all()
    session.replays._look_at_run()
    assert session.replays.live == "a run"
    assert session.replays._look.isActive()
    replay = session.replays._runs.replay
    replay.heard.clear()  # as news do
    session.replays._rest.timeout.emit()
    assert replay.heard.is_set(), "the window takes more news"
    ready(session, qtbot)
    assert told != []
    assert session.replays.live is None
    assert not session.replays._look.isActive()
    assert not session.replays._rest.isActive()


def test_another_project_has_no_tally_yet(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    session.replays.run_all()
    ready(session, qtbot)
    assert session.replays.tally is not None
    session.set_project(make_project(tmp_path / "other"))
    assert session.replays.tally is None


def test_what_was_said_of_another_project_is_said_again_of_this_one(session: Session, tmp_path: Path) -> None:
    told = notices(session)
    session.replays.take({}, ("A file is broken.",))
    session.replays._tell(["A file is broken."])
    assert told == []
    session.set_project(make_project(tmp_path / "other"))
    session.replays._tell(["A file is broken."])
    assert told == ["A file is broken."]


@pytest.fixture
def remark(monkeypatch: pytest.MonkeyPatch) -> str:
    """What there is to say of the lorebooks of every project."""
    monkeypatch.setattr(Project, "book_remarks", lambda _project, _kind: ("A book takes no part.",))
    return "A book takes no part."


def test_a_remark_on_lorebooks_is_made_once_for_each_project(
    session: Session, qtbot: QtBot, tmp_path: Path, remark: str
) -> None:
    told = notices(session)
    for fresh in (False, True):
        session.replays.run_all(fresh=fresh)
        ready(session, qtbot)
    assert told == [remark]
    session.set_project(make_project(tmp_path / "other"))
    session.replays.run_all()
    ready(session, qtbot)
    assert told == [remark, remark]


def test_the_remarks_of_a_run_that_another_replaces_are_made_by_that_one(
    session: Session, qtbot: QtBot, remark: str
) -> None:
    told = notices(session)
    session.replays.run_all()
    qtbot.waitUntil(lambda: len(session.runs.traces) > 0)
    session.replays.choose(mode=Mode.TWO_STAGE)
    assert session.busy
    ready(session, qtbot)
    assert told == [remark]


def test_who_ran_the_chat_is_remembered_on_the_threads_of_the_window_alone(session: Session, qtbot: QtBot) -> None:
    """There it is looked through, also while the worker makes another."""

    class Known(dict):
        def __setitem__(self, choice: RunChoice, simulator: object) -> None:
            threads.add(threading.current_thread())
            super().__setitem__(choice, simulator)

        def pop(self, *given: object) -> object:
            threads.add(threading.current_thread())
            return super().pop(*given)

    threads: set[threading.Thread] = set()
    session.runs._simulators = Known()
    session.replays.run_all()
    ready(session, qtbot)
    assert session.runs.chosen is not None
    assert threads == {threading.main_thread()}


def test_a_simulator_that_is_made_too_late_is_not_remembered(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot
) -> None:
    """Neither for another project, nor where the setup that it was made with has changed meanwhile."""
    made: list[Project] = []
    begun, go_on = threading.Semaphore(0), threading.Semaphore(0)

    def make(project: Project, *_others: object) -> FakeSimulator:
        made.append(project)
        begun.release()
        assert go_on.acquire(timeout=60)
        return FakeSimulator(project)

    session = make_session(replay=False, make_simulator=make)
    session.set_project(make_project(tmp_path / "vault"))
    session.replays.automatic = True
    session.replays.run_all()
    assert begun.acquire(timeout=60)
    session.set_project(make_project(tmp_path / "other"))
    go_on.release()
    qtbot.waitUntil(lambda: len(made) == 2)
    assert session.runs.chosen is None
    session.parts.take_setup(PromptSetup(context_size=4096))
    go_on.release(2)
    ready(session, qtbot)
    assert len(made) == 3
    assert session.runs.chosen.project.setup.context_size == 4096
