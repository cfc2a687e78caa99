"""What a window shows of the memories at one moment: rows for lists, the chat's passages and profile, a memory's past.

A memory's past is its messages, the run that wrote it, and every fact that was compared with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from lorestudio.domain.chat import Chat
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.systems.facts.records import ExtractionRun, FactAction, FactDecision, Memory, Profile, Thread
from lorestudio.systems.facts.similarity import comparable
from lorestudio.systems.facts.threads import Passage, chat_name, moved_origin, numbers_of, owner_of

if TYPE_CHECKING:
    from lorestudio.systems.facts.session import FactsSession

NOT_SHOWN = frozenset({"userId", "updatedAt"})
"""Fields of a profile that say nothing about the story."""


class MemoryRow(Struct, frozen=True):
    """A memory as a list shows it, without its vector, with what lists are ordered by.

    `stale` says that the chosen model has not made the vector; `folded` is what a filter looks through; `own` says that
    it came from the chat that is open. `at` is in milliseconds.
    """

    memory: Memory
    id: str
    stale: bool
    folded: str
    tags: str = ""
    at: int = 0
    own: bool = False

    @property
    def rank(self) -> int:
        """Pinned ones first, then those that are stale."""
        return 2 * bool(self.memory.pinned) + self.stale


class PassageRow(Struct, frozen=True):
    """A passage of the chat: where it is, how its thread stands ("" where nothing was drawn out of it yet).

    `waiting` says that it will be read next time, `changed` that its messages were edited since; `failures` counts
    attempts that failed in a row, and `problem` is why the last one did, or why no facts came of one that counts as
    read. `ended` is in milliseconds.
    """

    first: int
    last: int
    state: str = ""
    waiting: bool = False
    changed: bool = False
    failures: int = 0
    problem: str = ""
    memories: int = 0
    ended: int | None = None

    @property
    def key(self) -> str:
        """What tells it from the others of its chat."""
        return f"{self.first}-{self.last}"


class FactsPicture(Struct, frozen=True):
    """The memories of an owner, or of all, and what is known of the chat that is open.

    `everything` says that memories of all owners are listed; `total` counts them either way.
    """

    rows: tuple[MemoryRow, ...] = ()
    everything: bool = False
    total: int = 0
    tags: tuple[str, ...] = ()
    passages: tuple[PassageRow, ...] = ()
    waiting: int = 0
    profile: tuple[tuple[str, str], ...] = ()
    vector_model: str = ""
    chat: str = ""
    owner: str = ""
    stale: int = 0

    def altered(self, changed: Sequence[Memory] = (), gone: Collection[str] = ()) -> FactsPicture:
        """The picture with these memories as they are now, new ones at the end, and without those that are gone."""
        model, chat = self.vector_model, self.chat
        stood = {row.id: row.memory.origin for row in self.rows}
        changed = [replace(each, origin=stood.get(each.id, each.origin)) for each in changed]
        now = {
            each.id: memory_row(each, has_vector=each.embedding is not None, model=model, chat=chat)
            for each in changed
            if self.everything or each.user_id == self.owner
        }
        fresh = tuple(dict.fromkeys(tag for row in now.values() for tag in row.memory.tag_names))
        rows = [now.pop(row.id, row) for row in self.rows if row.id not in gone]
        rows += now.values()
        amounts = Counter((row.memory.origin.first, row.memory.origin.last) for row in rows if row.own)
        return replace(
            self,
            rows=tuple(rows),
            total=self.total + len(rows) - len(self.rows),
            tags=(*self.tags, *(tag for tag in fresh if tag not in self.tags)),
            passages=tuple(replace(row, memories=amounts[row.first, row.last]) for row in self.passages),
            stale=sum(row.stale for row in rows),
        )


def facts_picture(session: FactsSession, chat: Chat | None, path: Path | None, *, everything: bool) -> FactsPicture:
    """What there is now. Without a chat all memories are listed. Raises InputError."""
    name = chat_name(chat, path) if chat is not None else ""
    owner = owner_of(session.settings, chat, path) if chat is not None else ""
    moved = session.moved(chat, path) if chat is not None else {}
    whole = [
        (replace(memory, origin=moved_origin(memory.origin, moved)), has_vector)
        for memory, has_vector in session.store.bare_memories()
    ]
    problems = {moved.get(thread, thread): problem for thread, problem in session.store.problems().items()}
    rows = tuple(
        memory_row(memory, has_vector=has_vector, model=session.vector_model, chat=name)
        for memory, has_vector in whole
        if everything or not owner or memory.user_id == owner
    )
    tags = Counter(tag for row in rows for tag in row.memory.tag_names)
    passages: tuple[PassageRow, ...] = ()
    if chat is not None:
        waiting = session.waiting(chat, path)
        threads = [replace(thread, id=moved.get(thread.id, thread.id)) for thread in session.threads(name)]
        passages = passage_rows(threads, waiting, problems, [row for row, _ in whole], name)
    return FactsPicture(
        rows,
        everything or not owner,
        len(whole),
        tuple(sorted(tags, key=lambda tag: (-tags[tag], tag))),
        passages,
        sum(row.waiting for row in passages),
        profile_fields(session.profile(owner)) if owner else (),
        session.vector_model,
        name,
        owner,
        sum(row.stale for row in rows),
    )


def memory_row(memory: Memory, *, has_vector: bool, model: str, chat: str = "") -> MemoryRow:
    """A memory as a row; `model` is the one whose vectors are compared."""
    tags = memory.tag_names
    return MemoryRow(
        memory,
        memory.id,
        not has_vector or not comparable(memory, model),
        "\n".join((memory.content, *tags)).casefold(),
        ", ".join(tags),
        memory.created_at or 0,
        bool(chat) and memory.origin.chat == chat,
    )


def passage_rows(
    threads: Sequence[Thread],
    waiting: Sequence[Passage],
    failures: Mapping[str, str],
    memories: Sequence[Memory],
    chat: str,
) -> tuple[PassageRow, ...]:
    """The passages of a chat in order: those that were read, and those that wait."""
    amounts = Counter((each.origin.first, each.origin.last) for each in memories if each.origin.chat == chat)
    due = {passage.id: passage for passage in waiting}
    rows: list[PassageRow] = []
    for thread in threads:
        numbers = numbers_of(thread.id)
        if numbers is None:
            continue
        passage = due.pop(thread.id, None)
        failed = thread.attempts if passage is not None else 0
        rows.append(
            PassageRow(
                *numbers,
                str(thread.state),
                passage is not None,
                passage is not None and passage.changed,
                failed,
                failures.get(thread.id, "") if failed or passage is None else "",
                amounts[numbers],
                thread.last_message_at,
            )
        )
    rows += [PassageRow(each.first, each.last, waiting=True, ended=each.ended) for each in due.values()]
    return tuple(sorted(rows, key=lambda row: (row.first, row.last)))


def profile_fields(profile: Profile | None) -> tuple[tuple[str, str], ...]:
    """The filled fields of a profile with what they hold."""
    return tuple((key, _shown(value)) for key, value in (profile or {}).items() if value and key not in NOT_SHOWN)


def _shown(value: Json) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_shown(item) for item in value)
    return str(value)


class FactHappening(Struct, frozen=True):
    """One fact that made, replaced or repeated a memory, with the run that drew it out (None where it is not known)."""

    decision: FactDecision
    run: ExtractionRun | None = None

    @property
    def wrote(self) -> bool:
        """Whether the memory's text became this fact."""
        return self.decision.action is not FactAction.SKIP


class Provenance(Struct, frozen=True):
    """Everything that is known of a memory's past.

    `happenings` are in the order they came. `others` are the other facts of the run that wrote it last; `edited` says
    that a person has written its text since. Memories from before runs kept their decisions have no happenings.
    """

    memory: Memory
    run: ExtractionRun | None = None
    thread: Thread | None = None
    happenings: tuple[FactHappening, ...] = ()
    others: tuple[FactDecision, ...] = ()
    edited: bool = False


def provenance_of(session: FactsSession, memory: Memory) -> Provenance:
    """The past of a memory. Raises InputError where it cannot be read."""
    store = session.store
    happenings = tuple(
        FactHappening(decision, store.get_run(run)) for run, decision in store.decisions_about(memory.id)
    )
    of_run = store.decisions_of_run(memory.origin.run) if memory.origin.run else []
    thread = store.get_thread(memory.thread_id) if memory.thread_id else None
    written = [each.decision.fact for each in happenings if each.wrote]
    others = tuple(decision for decision in of_run if decision.memory != memory.id)
    rewritten = bool(written) and written[-1].strip() != memory.content.strip()
    return Provenance(memory, session.run_of(memory), thread, happenings, others, rewritten)
