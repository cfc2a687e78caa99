"""What runs read is what `reads` and `unaffected` say, observed with inputs that report every look at them."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.records import field_names
from lorestudio.domain.state import ChatControls, EngineState, EntryRule
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings.behaviour import fixed
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.deeplore import pipeline
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.reads import NEVER_READ, OF_ALL, OF_SEARCHED, Reads, reads_all_entries, settings_of
from lorestudio.systems.deeplore.run import MATCHING, run
from lorestudio.systems.runner import Mulberry32, run_stages
from lorestudio.trace.model import Turn
from tests.examples import examples
from tests.systems.worlds import World, changed, inputs, state_of

WORDS = ("lamp", "tide", "dice", "gull")
ENTRY_FIELDS = frozenset(field_names(Entry))
MESSAGE_FIELDS = frozenset(field_names(Message))


class WatchedEntry(Entry):
    seen: ClassVar[set[tuple[int, str]]] = set()

    def __getattribute__(self, name: str) -> Any:
        if name in ENTRY_FIELDS:
            WatchedEntry.seen.add((object.__getattribute__(self, "id"), name))
        return object.__getattribute__(self, name)


class WatchedMessage(Message):
    seen: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> Any:
        if name in MESSAGE_FIELDS:
            WatchedMessage.seen.add(object.__getattribute__(self, "text"))
        return object.__getattribute__(self, name)


class WatchedSettings(DeepLoreSettings):
    def __getattribute__(self, name: str) -> Any:
        if name in DeepLoreSettings.model_fields:
            SETTINGS_SEEN.add(name)
        return super().__getattribute__(name)


SETTINGS_SEEN: set[str] = set()

word = st.sampled_from(WORDS)
texts = st.lists(word, min_size=1, max_size=3).map(" ".join)
choices = st.fixed_dictionaries(
    {"enabled": st.just(True), "new_chat_threshold": st.integers(1, 4)},
    optional={
        "scan_depth": st.sampled_from([0, 1, 3]),
        "recursive_scan": st.booleans(),
        "match_whole_words": st.booleans(),
        "character_context_scan": st.booleans(),
        "keyword_occurrence_weighting": st.booleans(),
        "reinjection_cooldown": st.integers(0, 2),
        "decay_enabled": st.booleans(),
        "injection_mode": st.sampled_from(["extension", "prompt_list"]),
        "max_tokens_budget": st.sampled_from([100, 3000]),
        "notebook_enabled": st.booleans(),
        "ai_notepad_enabled": st.booleans(),
        "fuzzy_search_enabled": st.booleans(),
    },
)
modes = st.fixed_dictionaries(
    {},
    optional={
        "ai_search_enabled": st.booleans(),
        "ai_search_mode": st.sampled_from(["two-stage", "ai-only"]),
        "hierarchical_pre_filter": st.booleans(),
        "ai_search_scan_depth": st.integers(1, 3),
        "scribe_informed_retrieval": st.booleans(),
        "ai_error_fallback": st.sampled_from(["keyword", "none"]),
    },
)
controls = st.builds(
    ChatControls,
    pins=st.sampled_from([(), (EntryRule("Entry 1"),)]),
    blocks=st.sampled_from([(), (EntryRule("Entry 0"),)]),
    context=st.sampled_from([{}, {"era": "day"}]),
    notebook=st.sampled_from(["", "Plan."]),
    folders=st.sampled_from([(), ("north",)]),
)
switches = st.sampled_from([fixed(()), fixed(["all"]), fixed(["window_filter"])])


@st.composite
def entries(draw: st.DrawFn) -> tuple[Entry, ...]:
    return tuple(
        WatchedEntry(
            number,
            f"n{number}.md",
            "v",
            f"Entry {number}",
            content=draw(texts),
            keys=tuple(draw(st.lists(word, max_size=2, unique=True))),
            refine_keys=draw(st.sampled_from([(), (), ("gull",)])),
            constant=draw(st.sampled_from([False, False, True])),
            seed=draw(st.sampled_from([False, False, True])),
            bootstrap=draw(st.sampled_from([False, False, True])),
            guide=draw(st.sampled_from([False, False, True])),
            tokens=draw(st.sampled_from([10, 90])),
            scan_depth=draw(st.sampled_from([None, None, 1.0, 5.0])),
            cascade_links=draw(st.sampled_from([(), ("Entry 1",)])),
            requires=draw(st.sampled_from([(), ("Entry 2",)])),
            excludes=draw(st.sampled_from([(), ("Entry 3",)])),
            cooldown=draw(st.sampled_from([None, 2.0])),
            warmup=draw(st.sampled_from([None, 2.0])),
            probability=draw(st.sampled_from([None, 0.5])),
            outlet=draw(st.sampled_from([None, None, "here"])),
            folder=draw(st.sampled_from([None, "north"])),
            custom_fields=draw(st.sampled_from([{}, {"era": ["night"]}])),
            tags=("place",),
            links=("Entry 1",),
            summary="Summary.",
        )
        for number in range(draw(st.integers(1, 50 if draw(st.integers(0, 9)) == 9 else 6)))
    )


@st.composite
def contexts(draw: st.DrawFn, *, ai: bool) -> Inputs:
    chosen = draw(choices) | (draw(modes) if ai else {"fuzzy_search_enabled": False})
    chat = tuple(
        WatchedMessage(
            "Wren",
            f"{place} {draw(texts)}",
            is_user=draw(st.booleans()),
            extra=draw(st.sampled_from([{}, {}, {"type": "narrator"}])),
        )
        for place in range(draw(st.integers(0, 8)))
    )
    return inputs(
        DeepLoreIndex(VaultIndex(draw(entries()), digest="v")),
        chat=chat,
        settings=WatchedSettings(**chosen),
        turn=Turn(len(chat), 0, 0),
        controls=draw(controls),
        character=draw(st.sampled_from(["", "Entry 0", "gull"])),
        context_size=100,
        answers=StandInAnswers(),
        behaviour=draw(switches),
    )


@given(contexts(ai=True))
@settings(deadline=None, max_examples=examples(150))
def test_only_settings_that_are_declared_to_affect_a_stage_of_the_mode_are_read(ctx: Inputs) -> None:
    allowed = set(settings_of(pipeline.stage_names(ctx.settings)))
    SETTINGS_SEEN.clear()
    asyncio.run(run(ctx))
    assert not SETTINGS_SEEN - allowed


@given(contexts(ai=True))
@settings(deadline=None, max_examples=examples(150))
def test_matching_reads_only_settings_that_are_declared_to_affect_it(ctx: Inputs) -> None:
    ctx = changed(ctx, random=Mulberry32)
    SETTINGS_SEEN.clear()
    asyncio.run(run_stages((pipeline.OPENING, *pipeline.MATCHING), state_of(World(ctx)), ctx, ctx.moment))
    assert not SETTINGS_SEEN - set(settings_of(MATCHING))


@given(contexts(ai=False))
@settings(deadline=None, max_examples=examples(150))
def test_of_an_entry_without_a_verdict_only_what_is_searched_and_named_is_read(ctx: Inputs) -> None:
    assert not reads_all_entries(ctx.settings)
    WatchedEntry.seen.clear()
    trace = asyncio.run(run(ctx)).trace
    seen = set(WatchedEntry.seen)
    of_others = {name for place, name in seen if place not in trace.entries}
    of_anybody = {name for _, name in seen}
    assert of_others <= OF_ALL | OF_SEARCHED
    assert not of_anybody & NEVER_READ


@given(contexts(ai=True))
@settings(deadline=None, max_examples=examples(150))
def test_no_message_is_read_that_is_not_in_the_digest(ctx: Inputs) -> None:
    WatchedMessage.seen.clear()
    digest(ctx)
    known = set(WatchedMessage.seen)
    WatchedMessage.seen.clear()
    asyncio.run(run(ctx))
    assert WatchedMessage.seen <= known


def test_every_input_of_a_run_is_accounted_for() -> None:
    # A new field has to be taken into `Reads` before it is added here.
    digested = {
        "settings",
        "turn",
        "controls",
        "character",
        "positions",
        "clock_ms",
        "context_size",
        "counter",
        "model",
        "for_claude",
    }
    digested |= {"answers", "behaviour", "seed", "chat", "state", "held", "seen"}
    compared = {"index"}  # by `Unaffected`, or in the digest as a whole
    without_influence = {"timer", "watcher", "digests", "random"}  # `random` makes the stream, its state is compared
    without_influence |= {"user"}  # DeepLore knows no names of users
    without_influence |= {"forced", "quiet_prompt"}  # nothing is activated from outside, quiet generations end early
    without_influence |= {"recorded"}  # a run that is not is never kept
    without_influence |= {"lots"}  # a replay that follows records is compared only with one that follows the same
    known = {*field_names(Inputs), *field_names(Moment)} - {"moment"}
    assert known == digested | compared | without_influence


def context(**changes: Any) -> Inputs:
    chat = tuple(Message("Wren", f"text {place}", is_user=True) for place in range(5))
    index = DeepLoreIndex(VaultIndex((Entry(0, "a.md", "v", "A", keys=("lamp",)),), digest="v"))
    made = inputs(index, chat=chat, settings=DeepLoreSettings(enabled=True, scan_depth=2), turn=Turn(5, 0, 0), seed=1)
    return changed(made, **changes)


def digest(ctx: Inputs) -> tuple[str, str]:
    reads = Reads(ctx)
    return reads.around(ctx), reads.state(ctx)


def test_a_message_beyond_the_deepest_window_does_not_count_and_one_within_does() -> None:
    ctx = context()

    def edited(place: int) -> Inputs:
        return changed(
            ctx, chat=(*ctx.moment.chat[:place], Message("Wren", "new", is_user=True), *ctx.moment.chat[place + 1 :])
        )

    assert digest(edited(2)) == digest(ctx)
    assert digest(edited(3)) != digest(ctx)


def test_counts_and_the_random_stream_do_not_count_and_trackers_do() -> None:
    counts = EngineState(random_state=9, chat_counts={"v:A": 3})
    assert digest(context(state=counts)) == digest(context())
    assert digest(context(state=EngineState(warning_ratio=0.5))) != digest(context())


def test_whether_claude_writes_counts() -> None:
    assert digest(context(for_claude=True)) != digest(context())
