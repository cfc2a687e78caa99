"""Long chats: replaying them, replaying them again after an edit, opening and scrolling them in the window.

Run with `QT_QPA_PLATFORM=offscreen python -m tests.benchmarks.bench_long_chat FOLDER [MESSAGES...]`, FOLDER holding the
inputs as N.json.gz (`files`, `chat`, `settings`); without MESSAGES 500 and 5,000 of them, on the 1,000-note input. The
chat is the input's own, lengthened: after it come its messages again, user and character in turn, in a fixed shuffle.

Prints seconds, megabytes, and for the window the longest turn of the event loop in milliseconds: by the clock, and what
the window's thread computed in it (the same on a busy machine).
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import RunStore
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of, system_of
from tests.benchmarks.bench_window import project, window_on_screen
from tests.simulators import reused

BEAT_MS = 4


class Turns(QObject):
    """Measures how late a timer comes: so long the event loop was busy with something else."""

    def __init__(self) -> None:
        super().__init__()
        self._clock, self._computed = time.perf_counter(), time.thread_time()
        self.longest = (0.0, 0.0)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(BEAT_MS)

    def _beat(self) -> None:
        clock, computed = time.perf_counter(), time.thread_time()
        late = clock - self._clock - BEAT_MS / 1000
        self.longest = max(self.longest[0], late), max(self.longest[1], computed - self._computed)
        self._clock, self._computed = clock, computed

    def during(self, work: Callable[[], object], until: Callable[[], bool]) -> tuple[float, float, float]:
        """The longest turn in milliseconds while `work` is done and settles, of both kinds, and all seconds it took.

        The loop sleeps when it has nothing to do, so that a worker has the interpreter for itself.
        """
        loop, begun = QEventLoop(), time.perf_counter()
        took = 0.0

        def look() -> None:
            nonlocal took
            if until():
                took = took or time.perf_counter() - begun
                if time.perf_counter() - begun > took + 0.3:
                    loop.quit()
            else:
                took = 0.0

        self.longest = (0.0, 0.0)
        QTimer.singleShot(0, work)
        timer = QTimer()
        timer.timeout.connect(look)
        timer.start(20)
        loop.exec()
        timer.stop()
        return 1000 * self.longest[0], 1000 * self.longest[1], took


def lengthened(chat: Chat, count: int) -> Chat:
    """The chat with `count` messages: shortened, or with its own messages again in a fixed order."""
    messages = list(chat.messages)
    chance = random.Random(5)  # no secret
    by_speaker = {user: [one for one in messages if one.is_user is user] for user in (True, False)}
    while len(messages) < count:
        messages.append(chance.choice(by_speaker[not messages[-1].is_user]))
    return replace(chat, messages=tuple(messages[:count]))


def recapped(chat: Chat) -> Chat:
    """The chat with a recap of every message, and a scene with one at every twentieth."""
    scene = {"scene_break": True, "scene_recap_memory": "They went on to the next tower."}
    return replace(
        chat,
        messages=tuple(
            replace(
                one,
                extra={**one.extra, "auto_recap": {"memory": f"Recap {place}.", **(scene if place % 20 == 19 else {})}},
            )
            for place, one in enumerate(chat.messages)
        ),
    )


def used_mb() -> float:
    """Memory of this process in megabytes (Linux; 0 elsewhere)."""
    path = Path("/proc/self/statm")
    return int(path.read_text().split()[1]) * 4096 / 1e6 if path.exists() else 0.0


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and computed."""
    clock, computed = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - computed


def edits(there: Project) -> dict[str, Project]:
    """The project with one thing changed."""
    chat = there.chat or Chat()
    messages, entries = list(chat.messages), list(there.index.entries)
    middle = len(messages) // 2 | 1  # a message of the user
    messages[middle] = Message("Traveller", "Nothing of note.", is_user=True)
    entry = entries[500 % len(entries)]
    changed = [replace(entry, content=f"{entry.content} More words."), replace(entry, keys=(*entry.keys, "zzyzx"))]
    notes = []
    for one in changed:
        entries[entry.id] = one
        notes.append(replace(there, index=replace(there.index, entries=tuple(entries), digest="edited")))
    quiet = there.settings.model_copy(update={"ai_search_max_tokens": 500})
    loud = there.settings.model_copy(update={"max_entries": 5})
    return {
        "nothing": there,
        "a message in the middle": replace(there, chat=replace(chat, messages=tuple(messages))),
        "the text of a note": notes[0],
        "a key of a note": notes[1],
        "a setting that no stage reads": replace(there, settings=quiet),
        "the entry limit": replace(there, settings=loud),
    }


def measure_replays(there: Project) -> list[str]:
    """Lines on replaying without a window."""
    gc.collect()
    before = used_mb()
    first = Simulator(there)
    clock, computed = timed(lambda: asyncio.run(first.run_missing()))
    lines = [
        f"  {'replay':34} {clock:8.2f} s   {computed:8.2f} s computed   {len(first.generations):,} generations",
        f"  {'memory of its traces':34} {used_mb() - before:8.0f} MB",
    ]
    for name, edited in edits(there).items():
        again = Simulator(edited, earlier=(first,))
        clock, computed = timed(lambda again=again: asyncio.run(again.run_missing()))
        told = f"{again.ran:,} run, {reused(again):,} kept"
        lines.append(f"  {'again after: ' + name:34} {clock:8.2f} s   {computed:8.2f} s computed   {told}")
    with_recaps = replace(there, chat=recapped(there.chat or Chat()))
    remembered = Simulator(with_recaps, system_of(with_recaps.scene(), kind_of("recap")))
    clock, computed = timed(lambda: asyncio.run(remembered.run_missing()))
    lines.append(f"  {'replay with recap memory':34} {clock:8.2f} s   {computed:8.2f} s computed")
    return lines + measure_store(there, first)


def measure_store(there: Project, ran: Simulator) -> list[str]:
    """Lines on keeping the runs, and on having them back after another start."""
    again, lines = Simulator(there), []
    with TemporaryDirectory() as folder:
        for name, work in (
            ("keep the runs", lambda store: store.keep(ran)),
            ("restore them", lambda store: store.restore(again)),
        ):
            with RunStore(Path(folder)) as store:
                clock, computed = timed(lambda work=work, store=store: work(store))
            lines.append(f"  {name:34} {clock:8.2f} s   {computed:8.2f} s computed")
    return lines


def measure_window(there: Project) -> list[str]:
    """Lines on the window: the longest turn of its event loop."""
    lines = []
    with window_on_screen() as window:
        session, turns, view = window.session, Turns(), window.features.chat.pane.view

        def idle() -> bool:
            return not session.busy and session.jobs.idle and view.findChild(QTimer, "scrolling") is None

        def note(what: str, work: Callable[[], object]) -> None:
            clock, computed, whole = turns.during(work, idle)
            lines.append(f"  {what:34} {clock:8.1f} ms   {computed:8.1f} ms computed   {whole:6.2f} s in all")

        begun = time.perf_counter()
        session.set_project(there)
        window.features.chat.pane.view.viewport().repaint()
        lines.append(f"  {'to the first paint':34} {1000 * (time.perf_counter() - begun):8.1f} ms")
        note("show the chat", lambda: None)
        bar = view.verticalScrollBar()

        def scroll() -> None:
            places = [bar.maximum() * step // 60 for step in range(61)]
            places += [bar.maximum() - 120 * step for step in range(60)]
            timer = QTimer(view)
            timer.setObjectName("scrolling")

            def step() -> None:
                bar.setValue(places.pop(0))
                if not places:
                    timer.setParent(None)
                    timer.deleteLater()

            timer.timeout.connect(step)
            timer.start(0)

        note("scroll from end to end", scroll)
        note("another width", lambda: window.resize(1100, 800))
        note("replay the chat", session.replays.run_all)
        note("scroll with the runs", scroll)
        last = session.generations[-2]
        middle = session.generations[len(session.generations) // 2]
        note("choose a message", lambda: window.features.chat.pane.choose(middle.message))
        note("choose the last", lambda: window.features.chat.pane.choose(last.message))
        note("choose an entry", lambda: window.context.selection.choose_entry(7))
        note("next message with a change", lambda: window.features.chat.pane.step_change(-1))
    return lines


def main(folder: Path, counts: list[int]) -> None:
    """Print a table for each length."""
    data: dict[str, Any] = json.loads(gzip.decompress((folder / "1000.json.gz").read_bytes()))
    for count in counts:
        there = project(data, {})
        there = replace(there, chat=lengthened(there.chat or Chat(), count))
        lines = [f"{count:,} messages, {len(data['files']):,} notes, keywords-only"]
        lines += [*measure_replays(there), *measure_window(there)]
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(count) for count in sys.argv[2:]] or [500, 5000])
