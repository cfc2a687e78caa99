"""What the command line prints of recap memory."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from rich.table import Table
from rich.text import Text

from lorestudio.studio import InputError
from lorestudio.studio.recap.overview import RecapState, message_rows, scene_rows
from lorestudio.studio.recap.session import RecapSession
from lorestudio.trace import summary
from lorestudio.trace.wording import plural

_LOGGED = 12
_SHOWN = 60


def status_lines(session: RecapSession) -> list[str]:
    """The chat's recaps in a few lines."""
    rows, scenes = message_rows(session.chat), scene_rows(session.chat)
    states = Counter(row.state for row in rows)
    bookmarks = sum(row.is_bookmark for row in scenes)
    store, queue = session.chat.running, session.queue
    current = store.get()
    have = states[RecapState.INCLUDED] + states[RecapState.KEPT]
    messages = (
        f"Messages: {len(rows)}, {have} with a recap ({states[RecapState.INCLUDED]} take part), "
        f"{states[RecapState.EXCLUDED]} excluded, {states[RecapState.FAILED]} failed, "
        f"{sum(row.stale for row in rows)} changed since, {sum(row.hidden for row in rows)} hidden."
    )
    lines = [
        messages,
        f"Scenes: {len(scenes)}, {bookmarks} without a recap.",
        f"Running recap: {plural(len(store.versions), '# version|# versions')}"
        + (f", version {current.number} goes into the prompt." if current is not None else "."),
        summary(session.trace()),
    ]
    waiting = sum(queue.counts.values())
    if waiting:
        lines.append(f"Queue: {waiting} left{', paused' if queue.paused else ''}. “recap run --resume” goes on.")
    return lines


def scenes_table(session: RecapSession) -> Table:
    """One row a scene."""
    table = _table(("messages", "right"), ("name", "left"), ("version", "right"), ("", "left"), ("recap", "left"))
    for row in scene_rows(session.chat, session.settings.scene_recap_history_count):
        state = "no recap yet" if row.is_bookmark else "locked" if row.lock.locked else ""
        table.add_row(f"{row.where[0]}-{row.where[1]}", Text(row.name), row.versions, state, Text(_short(row.recap)))
    return table


def running_table(session: RecapSession) -> Table:
    """One row a version of the running recap; a star marks the current one."""
    table = _table(("", "left"), ("version", "right"), ("made", "left"), ("scenes", "right"), ("reaches", "right"),
                   ("text", "left"))  # fmt: skip
    store = session.chat.running
    for version in store.versions:
        made = _when(version.timestamp) if version.timestamp else ""
        table.add_row(
            "*" if version.number == store.current else "", str(version.number), made, str(version.scene_count),
            str(version.reaches), Text(_short(version.content)),
        )  # fmt: skip
    return table


def queue_table(session: RecapSession) -> Table:
    """What waits, in the order it is queued, and below it what was finished last."""
    table = _table(("id", "left"), ("status", "left"), ("what", "left"), ("priority", "right"), ("", "left"))
    for operation in session.queue.operations:
        table.add_row(
            operation.id, str(operation.status), operation.words, f"{operation.priority:g}", Text(operation.error or "")
        )
    for item in session.queue.log[-_LOGGED:]:
        table.add_row(_when(item.at), item.outcome, item.words, "", Text(_short(item.summary)), style="dim")
    return table


def message_text(session: RecapSession, index: int) -> str:
    """The recap of a message, and what there is to say about it."""
    rows = message_rows(session.chat)
    if index >= len(rows):
        raise InputError("--message", f"there is no message {index}; the last one is {len(rows) - 1}.")
    row = rows[index]
    remarks = [name for name, wanted in (("edited", row.edited), ("changed since", row.stale)) if wanted]
    head = f"#{index} {row.speaker}: {row.state.value}{''.join(f', {remark}' for remark in remarks)}"
    return "\n".join(part for part in (head, row.error, row.recap) if part)


def scene_text(session: RecapSession, index: int) -> str:
    """The recap of a scene."""
    row = next((row for row in scene_rows(session.chat) if row.index == index), None)
    if row is None:
        raise InputError("--scene", f"message {index} ends no scene.")
    return f"{row.name} (messages {row.where[0]} to {row.where[1]})\n{row.recap or 'There is no recap yet.'}"


def version_text(session: RecapSession, number: int) -> str:
    """One version of the running recap."""
    version = session.chat.running.get(number)
    if version is None:
        raise InputError("--version", f"the running recap has no version {number}.")
    return version.content


def prompt_text(session: RecapSession) -> str:
    """What goes into the prompt, and where."""
    trace = session.trace()
    record = trace.stage("recap injection")
    where = [verdict.details.get("where") for verdict in record.verdicts] if record is not None else []
    if not trace.prompt:
        return summary(trace)
    return f"({where[0] if where else ''})\n{trace.prompt[0].text}"


def _table(*columns: tuple[str, str]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading, side in columns:
        table.add_column(heading, justify="right" if side == "right" else "left", overflow="fold")
    return table


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _when(ms: float) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC).astimezone():%Y-%m-%d %H:%M:%S}"
