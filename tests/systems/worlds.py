"""Small worlds to run stages and whole generations in, and their records as lines of text to compare with.

ran = run_stage(keywords_stage, world(entry("Dragon", "dragon", warmup=2), chat=["A: a dragon"]))
assert ran.table == ["refused Dragon: warmup_short needed=2 found=1", "left: -"]
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import BUILT_IN_FIELDS, Entry, FieldDefinition, VaultIndex
from lorestudio.domain.records import field_names, replace
from lorestudio.domain.state import ChatControls, Counters, EngineState, EntryRule
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.base import Decided, Moment
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.run import run
from lorestudio.systems.deeplore.stages.snapshot import snapshot_stage
from lorestudio.systems.deeplore.state import Accepted, RunState
from lorestudio.systems.ledger import Stage
from lorestudio.systems.runner import Mulberry32
from lorestudio.trace.model import StageRecord, Trace, Turn

Draft = dict[str, Any]

WHERE = (
    *("depth", "message", "start", "end", "in_name", "searched"),
    *("refine_message", "refine_start", "refine_end", "refine_in_name"),
)
"""Details of a key hit that most tables leave out."""


class Scripted:
    """Random numbers from a list. `state` is how many of them have been used."""

    def __init__(self, numbers: Sequence[float], state: int = 0) -> None:
        self._numbers = numbers
        self.state = state

    def next(self) -> float:
        number = self._numbers[self.state]
        self.state += 1
        return number


class TickingTimer:
    """A timer that moves on by a millisecond each time it is read."""

    def __init__(self) -> None:
        self._ticks = itertools.count()

    def __call__(self) -> float:
        return next(self._ticks) / 1000


def entry(title: str, *keys: str, **fields: Any) -> Draft:
    """A note; its tokens follow from its content unless given."""
    return {"title": title, "keys": keys, **fields}


def message(line: str, **fields: Any) -> Message:
    """A message from `Name: text`; a line without a colon has no name. `U` is the user."""
    name, colon, text = line.partition(": ")
    return Message(name, text, is_user=name == "U", **fields) if colon else Message(None, line, **fields)


def rules(*items: str | tuple[str, str]) -> tuple[EntryRule, ...]:
    """Pins or blocks: titles, or pairs of title and vault."""
    return tuple(EntryRule(item) if isinstance(item, str) else EntryRule(*item) for item in items)


def settings_of(**values: Any) -> DeepLoreSettings:
    """DeepLore switched on with the defaults and these values, which are not held against their limits."""
    assert values.keys() <= DeepLoreSettings.model_fields.keys()
    return DeepLoreSettings().model_copy(update={"enabled": True, **values})


def entries_of(drafts: Iterable[Draft]) -> tuple[Entry, ...]:
    entries = []
    for number, draft in enumerate(drafts):
        defaults = {
            "id": number, "filename": f"{draft['title']}.md", "vault": "V",
            "tokens": CHARS_4.count(draft.get("content", "")), "content_hash": f"hash-{number}",
        }  # fmt: skip
        entries.append(Entry(**{**defaults, **draft}))
    return tuple(entries)


def index_of(drafts: Iterable[Draft], fields: tuple[FieldDefinition, ...] = BUILT_IN_FIELDS) -> DeepLoreIndex:
    return DeepLoreIndex(VaultIndex(entries=entries_of(drafts), fields=fields, vaults=("V",), digest="digest"))


OF_MOMENT = set(field_names(Moment)) - {"index"}


def inputs(index: DeepLoreIndex, **values: Any) -> Inputs:
    """The inputs of a generation from those of the moment and DeepLore's own, by name."""
    moment = Moment(index.vault, **{name: value for name, value in values.items() if name in OF_MOMENT})
    return Inputs(moment, index, **{name: value for name, value in values.items() if name not in OF_MOMENT})


def changed(ctx: Inputs, **values: Any) -> Inputs:
    """The inputs with others in the place of these, by name."""
    moment = replace(ctx.moment, **{name: value for name, value in values.items() if name in OF_MOMENT})
    if "index" in values:
        moment = replace(moment, index=values["index"].vault)
    return replace(ctx, moment=moment, **{name: value for name, value in values.items() if name not in OF_MOMENT})


@dataclass(frozen=True)
class World:
    """The inputs of a generation."""

    context: Inputs

    @property
    def entries(self) -> tuple[Entry, ...]:
        return self.context.index.vault.entries

    def __getitem__(self, title: str) -> Entry:
        return next(item for item in self.entries if item.title == title)

    def name(self, entry_id: int) -> str:
        """The entry's title, with its id where several have that title."""
        title = self.entries[entry_id].title
        same = sum(item.title == title for item in self.entries)
        return title if same == 1 else f"{title}#{entry_id}"

    def with_chat(self, chat: Iterable[str | Message], **changes: Any) -> World:
        """The same world one turn on."""
        messages = tuple(message(line) if isinstance(line, str) else line for line in chat)
        return World(changed(self.context, chat=messages, turn=Turn(len(messages), 0, 0), **changes))


def world(
    *drafts: Draft,
    chat: Iterable[str | Message] = (),
    pins: tuple[EntryRule, ...] = (),
    blocks: tuple[EntryRule, ...] = (),
    folders: tuple[str, ...] = (),
    context: Mapping[str, Any] | None = None,
    notebook: str = "",
    notepad: str = "",
    fields: tuple[FieldDefinition, ...] = BUILT_IN_FIELDS,
    state: EngineState | None = None,
    cooldown: Mapping[str, float] | None = None,
    character: str = "",
    draws: Sequence[float] | None = None,
    seed: int = 0,
    kind: str = "normal",
    context_size: int = 0,
    clock_ms: int = 0,
    **settings: Any,
) -> World:
    """A vault, a chat and the person's choices; whatever else is named is a setting."""
    state = state or EngineState(random_state=seed)
    if cooldown:
        state = replace(state, counters=replace(state.counters, cooldown=cooldown))
    random: Callable[[int], Any] = Mulberry32 if draws is None else lambda used: Scripted(draws, used)
    start = inputs(
        index_of(drafts, fields),
        chat=(),
        settings=settings_of(**settings),
        turn=Turn(0, 0, 0),
        controls=ChatControls(pins, blocks, folders, context or {}, notebook, notepad),
        state=state,
        character=character,
        clock_ms=clock_ms,
        context_size=context_size,
        seed=seed,
        random=random,
        timer=TickingTimer(),
    )
    there = World(start).with_chat(chat)
    return World(changed(there.context, turn=replace(there.context.moment.turn, kind=kind)))


def text_of(value: Any) -> str:
    """A detail's value: texts bare, lists in brackets."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of, value))}]"
    return str(value)


def details_of(details: Mapping[str, Any], hide: Iterable[str] = ()) -> str:
    return " ".join(f"{key}={text_of(value)}" for key, value in details.items() if key not in hide)


def table_of(record: StageRecord, there: World, hide: Iterable[str] = ()) -> list[str]:
    """A record as lines: one a verdict, then who is left, then the stage's note where it has one.

    `added Dragon: key_hit key=dragon`, `left: Dragon, Sword`, `note: off setting=recursiveScan`.
    """
    lines = [
        f"{verdict.outcome} {there.name(verdict.entry)}: {verdict.reason} {details_of(verdict.details, hide)}".rstrip()
        for verdict in record.verdicts
    ]
    lines.append(f"left: {', '.join(map(there.name, record.left)) or '-'}")
    if record.note:
        lines.append(f"note: {record.note} {details_of(record.details)}".rstrip())
    return lines


def balances(record: StageRecord) -> bool:
    """Whether nobody appears or disappears without a verdict: entered + added = left + removed.

    An entry both leaves and stays only where it was there twice, as one of two pinned namesakes is
    (rules: deeplore 5.1).
    """
    added = [verdict.entry for verdict in record.verdicts if verdict.outcome == "added"]
    removed = {verdict.entry for verdict in record.verdicts if verdict.outcome == "removed"}
    before = Counter([*record.entered, *added])
    left = set(record.left)
    return set(before) == left | removed and all(before[entry] > 1 for entry in left & removed)


@dataclass
class Ran:
    """What a stage made of a world. Candidates that came from the record are checked against the state."""

    record: StageRecord
    state: RunState
    there: World
    hide: tuple[str, ...] = ()

    @property
    def table(self) -> list[str]:
        return table_of(self.record, self.there, self.hide)

    @property
    def left(self) -> list[str]:
        return [self.there.name(entry_id) for entry_id in self.record.left]

    @property
    def labels(self) -> dict[str, str]:
        return self.state.labels


def state_of(there: World) -> RunState:
    """The state that a run begins with."""
    ctx = there.context
    assert ctx.random is not None
    return RunState(
        random=ctx.random(ctx.state.random_state),
        counters=ctx.state.counters,
        injection_log=ctx.state.injection_log,
        prompts=ctx.state.prompts,
        before=ctx.state,
    )


def prepared(there: World, before: str = "", labels: Mapping[str, str] | None = None) -> RunState:
    """The state after the snapshot, with the candidates `before` ("Dragon, Sword") matched already."""
    state = state_of(there)
    asyncio.run(snapshot_stage.run(state, there.context))
    for title in filter(None, before.split(", ")):
        state.let_in(there[title], (labels or {}).get(title, "key"))
    return state


def run_stage(
    stage: Stage,
    there: World,
    before: str = "",
    *,
    labels: Mapping[str, str] | None = None,
    hide: Iterable[str] = (),
    state: RunState | None = None,
) -> Ran:
    """Run one stage on candidates; the record must balance and agree with the state."""
    state = state or prepared(there, before, labels)
    record = asyncio.run(stage.run(state, there.context))
    assert balances(record)
    assert [item.id for item in state.candidates] == list(record.left)
    assert (record.name, record.phase) == (stage.name, stage.phase)
    return Ran(record, state, there, tuple(hide))


def accepted(there: World, titles: str) -> list[Accepted]:
    """Entries as the budget hands them on."""
    return [Accepted(there[title]) for title in filter(None, titles.split(", "))]


def run_world(there: World) -> Decided:
    return asyncio.run(run(there.context))


def trace_of(there: World) -> Trace:
    return run_world(there).trace


@dataclass
class Play:
    """A chat in which one generation follows the other."""

    there: World
    state: EngineState = field(default_factory=EngineState)

    def turn(self, chat: Iterable[str | Message], **changes: Any) -> Trace:
        """Run the next generation with this chat; `changes` are other inputs of the run."""
        result = run_world(self.there.with_chat(chat, state=self.state, **changes))
        self.state = result.state
        return result.trace


def injected(trace: Trace) -> list[str]:
    return [injection.title for injection in trace.injections]


def counting(**counters: Any) -> EngineState:
    """A chat's state with these counters."""
    return EngineState(counters=Counters(**counters))
