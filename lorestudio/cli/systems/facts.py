"""`lorestudio facts`: drawing facts out of chats, and looking after the memories they become."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from lorestudio.cli.answering import Answering, agree, answering
from lorestudio.cli.command import Limits, command, command_group
from lorestudio.cli.options import DoItOption, JsonOption, NeededChat, YesOption
from lorestudio.cli.output import FAILED, ask_first, echo, print_json, say, say_all, waited
from lorestudio.cli.screen import Screen, figure, filled, fixed, fold, table
from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.exchange.problems import InputError
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.sections import assigned, read_section
from lorestudio.studio.project.answering import AnswerKind, CostEstimate, load_recorded
from lorestudio.studio.project.project import Project, read_chat
from lorestudio.systems.facts.picture import PassageRow, facts_picture, profile_fields
from lorestudio.systems.facts.records import ExtractionRun, FactAction, FactDecision, Memory, counts_words
from lorestudio.systems.facts.records import day as day_of
from lorestudio.systems.facts.session import MOST_ATTEMPTS, Drawn, FactsSession, facts_cost
from lorestudio.systems.facts.threads import owner_of
from lorestudio.trace.storage.serialize import record_to_json
from lorestudio.trace.wording import plural

_ID = 8
_WHOLE = 10
"""Characters of a column in which the words for a memory's source stay whole."""


def memories_table(rows: Sequence[tuple[Memory, float | None]]) -> Table:
    """A row a memory, with its similarity where there was a search."""
    similarity = [figure("similarity")] if any(score is not None for _, score in rows) else []
    text, about_it = Column("memory", overflow="fold", ratio=1), Column("source and tags", width=_WHOLE)
    shown = table(fixed("id"), *similarity, text, about_it, fixed("messages"), fixed("day"), expand=True)
    return filled(shown, (_memory_cells(memory, score) for memory, score in rows))


def _memory_cells(memory: Memory, score: float | None) -> Iterator[str]:
    yield memory.id[:_ID]
    if score is not None:
        yield f"{score:.3f}"
    yield memory.content
    yield ", ".join((f"{'pinned ' if memory.pinned else ''}{memory.source}", *memory.tag_names))
    yield _messages(memory, "-")
    yield "" if memory.created_at is None else day_of(memory.created_at)


def memory_lines(memory: Memory, run: ExtractionRun | None) -> list[str]:
    """Everything about a memory."""
    lines = [memory.content, ""]
    lines.append(f"id        {memory.id}")
    lines.append(f"source    {memory.source}{', pinned' if memory.pinned else ''}")
    lines.append(f"tags      {', '.join(memory.tag_names) or 'none'}")
    if memory.created_at is not None:
        lines.append(f"of        {day_of(memory.created_at)}")
    lines.append(f"owner     {memory.user_id}")
    whose = f" of {memory.origin.chat}" if memory.origin.chat else ""
    lines.append(f"from      {_messages(memory, ' to #') or 'no chat'}{whose}")
    if run is not None:
        lines.append(f"run       {run.id}, {run.model}: {counts_words(run.counters)}")
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
        lines.append(f"{place}: {f'no facts: {result.problem}' if result.problem else counts_words(result.data)}")
        lines += [_decision(decision) for decision in result.decisions]
        if result.stale:
            lines.append(f"  {plural(result.stale, '# vector|# vectors')} of another model could not be compared")
    return lines


def _decision(decision: FactDecision) -> str:
    words = {FactAction.SAVE: "new", FactAction.SUPERSEDE: "newer", FactAction.SKIP: "known"}
    pin = "pinned, " if decision.pinned else ""
    near = ""
    if decision.action is not FactAction.SAVE and decision.similarity is not None:
        near = f"  [{decision.similarity:.3f} like: {decision.neighbour_text}]"
    return f"  {pin}{words[decision.action]:<6} {decision.fact}{near}"


def passages_table(passages: Sequence[PassageRow]) -> Table:
    """A row a passage: kept ones with their state, and those that wait."""

    def state(row: PassageRow) -> str:
        unread = "without facts" if row.problem and not row.failures else ""
        waits = ("edited since" if row.changed else "waiting") if row.waiting else unread
        failed = plural(row.failures, "|failed once|failed # times") if row.failures else ""
        return ", ".join(filter(None, (row.state, waits, failed, row.problem)))

    rows = ((row.key, state(row), "" if row.ended is None else day_of(row.ended)) for row in passages)
    return filled(table(fixed("messages"), fold("state"), fixed("ended")), rows)


def _messages(memory: Memory, between: str) -> str:
    origin = memory.origin
    return "" if origin.first is None or origin.last is None else f"#{origin.first}{between}{origin.last}"


facts = command_group("Facts drawn out of chats: kept as memories with their vectors, and found again by similarity.")

ChatOption = Annotated[Path | None, "Only the memories that this chat would see."]
IdArgument = Annotated[str, "<ID>", "A memory's id, or how it begins."]
IdsArgument = Annotated[list[str], "<ID...>", "Ids of memories, or how they begin."]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsOptions:
    """The settings of fact memory."""

    settings: Annotated[Path | None, "Settings of fact memory: a JSON object."] = None
    assignments: Annotated[list[str] | None, "--set", "NAME=VALUE", "A setting of fact memory. May be repeated."] = None

    def session(self, asked: Answering | None = None) -> FactsSession:
        """The memories, with whoever draws facts out. Raises SettingsError."""
        base = FactsSettings() if self.settings is None else read_section(self.settings, FactsSettings)
        chosen = assigned(self.assignments or (), FactsSettings, base)
        return FactsSession(chosen) if asked is None else FactsSession(chosen, answers=asked.source, model=asked.model)


@command(facts)
def extract(
    given: FactsOptions,
    *,
    chat: NeededChat,
    answers: Annotated[
        str, "Who draws facts out: stand-in (plain rules, offline), recorded, or a profile."
    ] = AnswerKind.STAND_IN.value,
    due: Annotated[bool, "Only passages that a long enough silence has ended."] = False,
    again: Annotated[bool, "Also passages whose facts are kept already."] = False,
    passage: Annotated[str, "A-B", "Only this passage, also where its facts are kept."] = "",
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Draw the facts out of a chat, passage by passage. What is kept already is passed over; Ctrl+C stops."""
    told = _chat(chat)
    project = Project((), VaultIndex(()), DeepLoreSettings(), told, chat)
    again = again or bool(passage)
    asked = answering(answers, project, fresh=again) if answers != AnswerKind.STAND_IN else None
    with given.session(asked) as session:
        passages = session.waiting(told, chat, again=again, due=due, only=passage)
        if passage and not passages:
            reason = f"the chat has no passage {passage}. “lorestudio facts threads --chat FILE” lists them."
            raise InputError("--passage", reason)
        left = len(session.waiting(told, chat)) - len(passages) if due and not again else 0
        if asked is not None and passages:

            def cost() -> CostEstimate:
                recorded = None if again else load_recorded(chat).holds
                return asyncio.run(facts_cost(session, told, chat, passages, project.bills, recorded))

            agree(asked, cost, yes=yes)
        drawn = waited(session.extract(told, chat, passages, None if as_json else _progress))
    if as_json:
        print_json([_drawn_json(each) for each in drawn])
    elif not passages:
        echo("Nothing is due." if left else "Nothing is waiting: the facts of this chat are kept.")
    else:
        echo("\n".join(drawn_lines(drawn)))
    if asked is None and drawn:
        say(
            "plain rules took sentences with words such as “I” and “my” as they stand, which is often half of what was "
            "meant. With --answers a model draws facts out."
        )
    if left:
        say(
            f"Left for later: {plural(left, '# passage|# passages')}, silent for too short a time or failed "
            f"{MOST_ATTEMPTS} times. Without --due they are read now."
        )
    unread = sum(each.result is not None and bool(each.result.problem) for each in drawn)
    if unread:
        counts = plural(unread, "# passage counts|# passages count")
        say(f"{counts} as read, without facts. --passage A-B asks once more.")
    failed = [each for each in drawn if each.problem]
    if failed:
        say(f"{plural(len(failed), '# passage|# passages')} could not be read and will be tried again next time.")
        unasked = plural(len(passages) - len(drawn), "|# more passage|# more passages")
        if unasked:
            say(f"nobody was asked about {unasked}, which would fail as well.")
        raise typer.Exit(FAILED)


@command(facts, "list")
def list_memories(
    given: FactsOptions,
    chat: ChatOption = None,
    tag: Annotated[str, "Only memories with this tag."] = "",
    pinned: Annotated[bool, "Only pinned memories."] = False,
    as_json: JsonOption = False,
) -> None:
    """List the memories, newest last."""
    with given.session() as session:
        found = [each for each in session.memories(_owner(session, chat), tag) if each.pinned or not pinned]
        if as_json:
            print_json([memory_json(memory) for memory in found])
        elif found:
            Screen().print(memories_table([(memory, None) for memory in found]))
        else:
            echo("There are no such memories. `lorestudio facts extract --chat FILE` draws them out of a chat.")


@command(facts)
def search(
    text: Annotated[str, "<TEXT>", "What the memories should be about."],
    given: FactsOptions,
    *,
    chat: Annotated[Path, "The chat whose memories are searched."],
    limit: Annotated[int, Limits(1), "So many memories at most."] = 10,
    tag: Annotated[list[str] | None, "Only with this tag. May be repeated."] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the memories most similar to a text."""
    if not text.strip():
        raise InputError("TEXT", "say what the memories should be about. “lorestudio facts list” lists them all.")
    with given.session() as session:
        found = waited(session.search(text, _owner(session, chat), limit, tag or ()))
        if as_json:
            print_json([memory_json(match.memory, match.score) for match in found])
        elif found:
            Screen().print(memories_table([(match.memory, match.score) for match in found]))
        else:
            echo("There are no memories to search.")
        stale = plural(len(session.stale(_owner(session, chat))), "|# vector|# vectors")
        if stale:
            say(f"{stale} of another model took no part. `lorestudio facts refresh` makes new ones.")


@command(facts)
def show(memory: IdArgument, given: FactsOptions, as_json: JsonOption = False) -> None:
    """Show a memory, and where it came from."""
    with given.session() as session:
        found = session.find(memory)
        if as_json:
            print_json(memory_json(found))
        else:
            echo("\n".join(memory_lines(found, session.run_of(found))))


@command(facts)
def edit(
    memory: IdArgument,
    text: Annotated[str, "<TEXT>", "The new text."],
    given: FactsOptions,
    tag: Annotated[list[str] | None, "The new tags. May be repeated."] = None,
) -> None:
    """Give a memory another text; its vector is made anew."""
    with given.session() as session:
        waited(session.edit(session.find(memory), text, tag))
    say("written.")


@command(facts)
def pin(memories: IdsArgument, given: FactsOptions) -> None:
    """Pin memories: they go into every prompt."""
    _pin(given, memories, pinned=True)


@command(facts)
def unpin(memories: IdsArgument, given: FactsOptions) -> None:
    """Take the pins of memories away."""
    _pin(given, memories, pinned=False)


@command(facts)
def delete(memories: IdsArgument, given: FactsOptions, yes: DoItOption = False) -> None:
    """Delete memories. Threads and the profile stay, and a passage is not read again by itself."""
    with given.session() as session:
        found = [session.find(memory) for memory in memories]
        for each in found:
            echo(f"{each.id[:8]}  {each.content}")
        ask_first("Delete?", yes=yes)
        gone = {each.id: each for each in found}
        session.delete(list(gone.values()))
    say(f"{plural(len(gone), '# memory|# memories')} deleted.")


@command(facts)
def threads(given: FactsOptions, *, chat: NeededChat, as_json: JsonOption = False) -> None:
    """List the passages of a chat: which are kept, and which wait."""
    with given.session() as session:
        found = facts_picture(session, _chat(chat), chat, everything=False).passages
    if as_json:
        print_json([record_to_json(each) for each in found], 1)
    else:
        Screen().print(passages_table(found))


@command(facts)
def profile(given: FactsOptions, *, chat: NeededChat, as_json: JsonOption = False) -> None:
    """Show the profile that the rules have filled."""
    with given.session() as session:
        found = session.profile(_owner(session, chat))
        if as_json:
            print_json(found)
        else:
            filled_in = (f"{key}: {value}" for key, value in profile_fields(found))
            echo("\n".join(filled_in) or "There is no profile. Rules for one are the setting structuredRules.")


@command(facts)
def refresh(given: FactsOptions) -> None:
    """Make the vectors of memories anew that another model has made, or none."""
    with given.session() as session:
        stale = session.stale()
        waited(session.refresh(stale))
        echo(f"{plural(len(stale), '# vector|# vectors')} made.")


def _chat(path: Path) -> Chat:
    loaded = read_chat(path)
    say_all(f"{path.name}: {problem}" for problem in loaded.problems)
    return loaded.chat


def _owner(session: FactsSession, chat: Path | None) -> str:
    return "" if chat is None else owner_of(session.settings, _chat(chat), chat)


def _pin(given: FactsOptions, memories: list[str], *, pinned: bool) -> None:
    with given.session() as session:
        for found in [session.find(memory) for memory in memories]:
            session.pin(found, pinned=pinned)
            say(f"{'pinned' if pinned else 'no longer pinned'}: {found.content}")


def _progress(done: int, of: int, _last: Drawn | None) -> None:
    if done < of:
        say(f"passage {done + 1} of {of} …")


def _drawn_json(each: Drawn) -> object:
    result: object = None if each.result is None else each.result.data
    return {"first": each.passage.first, "last": each.passage.last, "result": result, "problem": each.problem}
