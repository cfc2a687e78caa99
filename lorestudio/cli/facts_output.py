"""Memories, passages and profiles on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from lorestudio.domain.javascript import Json
from lorestudio.studio.facts.passages import Passage
from lorestudio.studio.facts.session import Action, Decision, Drawn, Memory, Profile, Run, Thread, day_of
from lorestudio.trace.wording import plural

_ID = 8


def memories_table(rows: Sequence[tuple[Memory, float | None]]) -> Table:
    """A row a memory, with its similarity where there was a search."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), expand=True)
    table.add_column("id", no_wrap=True)
    if any(score is not None for _, score in rows):
        table.add_column("similarity", justify="right", no_wrap=True)
    table.add_column("memory", overflow="fold", ratio=3)
    table.add_column("source and tags", overflow="fold", ratio=1)
    table.add_column("messages", no_wrap=True)
    table.add_column("day", no_wrap=True)
    for memory, score in rows:
        cells = [Text(memory.id[:_ID])]
        if score is not None:
            cells.append(Text(f"{score:.3f}"))
        pin = "pinned " if memory.pinned else ""
        date = "" if memory.created_at is None else day_of(memory.created_at)
        about = ", ".join((f"{pin}{memory.source}", *memory.tag_names))
        cells += [Text(memory.content), Text(about), Text(_messages(memory)), Text(date)]
        table.add_row(*cells)
    return table


def memory_lines(memory: Memory, run: Run | None) -> list[str]:
    """Everything about a memory."""
    lines = [memory.content, ""]
    lines.append(f"id        {memory.id}")
    lines.append(f"source    {memory.source}{', pinned' if memory.pinned else ''}")
    lines.append(f"tags      {', '.join(memory.tag_names) or 'none'}")
    if memory.created_at is not None:
        lines.append(f"of        {day_of(memory.created_at)}")
    lines.append(f"owner     {memory.user_id}")
    lines.append(f"from      {_where(memory) or 'no chat'}{f' of {memory.origin.chat}' if memory.origin.chat else ''}")
    if run is not None:
        lines.append(f"run       {run.id}, {run.model}: {_counters(run.counters)}")
    size = "none" if memory.embedding is None else f"{len(memory.embedding)} numbers"
    lines.append(f"vector    {size}{f' by {memory.vector_model}' if memory.vector_model else ''}")
    return lines


def memory_json(memory: Memory, score: float | None = None) -> Mapping[str, Json]:
    """A memory as data, without its vector."""
    data: dict[str, Json] = {
        "id": memory.id, "content": memory.content, "source": memory.source, "tags": list(memory.tag_names),
        "pinned": bool(memory.pinned), "createdAt": memory.created_at, "owner": memory.user_id,
        "thread": memory.thread_id, "chat": memory.origin.chat, "first": memory.origin.first,
        "last": memory.origin.last, "run": memory.origin.run, "vectorModel": memory.vector_model,
    }  # fmt: skip
    return data if score is None else data | {"similarity": score}


def drawn_lines(drawn: Sequence[Drawn]) -> list[str]:
    """A line a passage, and what became of each fact."""
    lines: list[str] = []
    for each in drawn:
        place = f"#{each.passage.first} to #{each.passage.last}"
        if each.result is None:
            lines.append(f"{place}: {each.problem}")
            continue
        result = each.result
        lines.append(f"{place}: {_counters(result.data)}")
        if result.problem:
            lines.append(f"  no facts: {result.problem}")
        lines += [_decision(decision) for decision in result.decisions]
        if result.stale:
            lines.append(f"  {plural(result.stale, '# vector|# vectors')} of another model could not be compared")
    return lines


def _decision(decision: Decision) -> str:
    words = {Action.SAVE: "new", Action.SUPERSEDE: "newer", Action.SKIP: "known"}
    pin = "pinned, " if decision.pinned else ""
    near = ""
    if decision.action is not Action.SAVE and decision.similarity is not None:
        near = f"  [{decision.similarity:.3f} like: {decision.neighbour_text}]"
    return f"  {pin}{words[decision.action]:<6} {decision.fact}{near}"


def threads_table(threads: Sequence[Thread], waiting: Sequence[Passage]) -> Table:
    """A row a passage: kept ones with their state, and those that wait."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for heading in ("messages", "state", "ended"):
        table.add_column(heading)
    due = {passage.id: passage for passage in waiting}
    rows: list[tuple[int, str, str, str]] = []
    for thread in threads:
        numbers = thread.id.rpartition("#")[2]
        passage = due.pop(thread.id, None)
        state = str(thread.state)
        if passage is not None:
            state = f"{state}, {'edited since' if passage.changed else 'waiting'}"
        failed = f", failed {plural(thread.attempts, 'once|# times')}" if thread.attempts else ""
        ended = "" if thread.last_message_at is None else day_of(thread.last_message_at)
        rows.append((int(numbers.partition("-")[0] or 0), numbers, state + failed, ended))
    for passage in due.values():
        ended = "" if passage.ended is None else day_of(passage.ended)
        rows.append((passage.first, f"{passage.first}-{passage.last}", "waiting", ended))
    for _, numbers, state, ended in sorted(rows):
        table.add_row(numbers, state, ended)
    return table


def profile_lines(profile: Profile | None) -> list[str]:
    """The filled fields of a profile."""
    filled = {key: value for key, value in (profile or {}).items() if value and key not in {"userId", "updatedAt"}}
    if not filled:
        return ["There is no profile. Rules for one are the setting structuredRules."]
    return [f"{key}: {_shown(value)}" for key, value in filled.items()]


def _shown(value: Json) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_shown(item) for item in value)
    return str(value)


def _messages(memory: Memory) -> str:
    origin = memory.origin
    return "" if origin.first is None or origin.last is None else f"#{origin.first}-{origin.last}"


def _where(memory: Memory) -> str:
    origin = memory.origin
    return "" if origin.first is None or origin.last is None else f"#{origin.first} to #{origin.last}"


def _counters(data: Mapping[str, Json]) -> str:
    names = {
        "totalExtracted": "extracted", "memoriesSaved": "saved", "memoriesSuperseded": "superseded",
        "memoriesDeduped": "known already", "profileFieldsUpdated": "into the profile",
    }  # fmt: skip
    return ", ".join(f"{data[key]} {word}" for key, word in names.items() if data.get(key)) or "nothing to keep"
