"""Recap memory turn by turn: for each reply of a chat, what it was given at that time, as far as the file tells.

A recap counts from the message on that it lies behind; a version of the running recap counts once the scene that it
reaches to is over. No model is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.memory.recap.chat import RecapChat
from lorestudio.memory.recap.exclusion import Surroundings
from lorestudio.memory.recap.refresh import refreshed
from lorestudio.memory.recap.scenes import auto_hide, scene_recaps
from lorestudio.memory.recap.tracing import recap_trace
from lorestudio.settings.recap import RecapSettings
from lorestudio.studio.generation import Generation
from lorestudio.studio.jobs import Cancelled, CancelToken, Progress
from lorestudio.studio.project import Project
from lorestudio.studio.recap.chat_file import recap_chat
from lorestudio.studio.simulator import generations
from lorestudio.trace.model import Trace, Turn


def chat_until(chat: RecapChat, message: int) -> RecapChat:
    """The chat as it was before the message at this index was written.

    Of the running recap's versions those are left that reach to a scene of this part; the last of them is current.
    """
    messages = chat.messages[:message]
    until = replace(chat, messages=messages)
    if message >= len(chat.messages):
        return until
    known = frozenset(scene_recaps(messages))
    store = chat.running
    left = tuple(version for version in store.versions if version.reaches in known)
    current = store.current if any(version.number == store.current for version in left) else None
    if current is None:
        current = max((version.number for version in left), default=0)
    return until.with_running(replace(store, versions=left, current=current))


def replay_recap(
    chat: RecapChat,
    generations: tuple[Generation, ...],
    settings: RecapSettings,
    *,
    counter: TokenCounter = CHARS_4,
    context_size: int = 0,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> tuple[Trace, ...]:
    """The trace of every generation, in order. Raises Cancelled. A window calls it in a worker."""
    around = Surroundings(settings, counter)
    traces: list[Trace] = []
    for number, generation in enumerate(generations):
        if cancel is not None and cancel.cancelled:
            raise Cancelled
        done = refreshed(chat_until(chat, generation.message), around, context_size)
        turn = Turn(generation.message, generation.swipe, number)
        traces.append(recap_trace(done, settings, counter, context_size=context_size, turn=turn))
        if on_progress is not None:
            on_progress(Progress(number + 1, len(generations), generation))
    return tuple(traces)


def replay_project(
    project: Project,
    settings: RecapSettings,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> tuple[Trace, ...]:
    """The trace of every generation of a project's chat, as `Simulator.replay` gives DeepLore's. Raises Cancelled."""
    if project.chat is None:
        return ()
    chat = recap_chat(project.chat, project.chat_path.stem if project.chat_path is not None else project.name)
    hiding = auto_hide(len(chat.messages), chat.breaks, settings.auto_hide_scene_count)
    shown = tuple(
        replace(message, is_system=False) if hiding.hides(index) else message
        for index, message in enumerate(project.chat.messages)
    )  # when those replies were written, they were not hidden yet
    return replay_recap(
        chat,
        generations(replace(project.chat, messages=shown)),
        settings,
        counter=project.counter,
        context_size=project.context_size,
        on_progress=on_progress,
        cancel=cancel,
    )
