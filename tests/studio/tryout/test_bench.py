from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.ranges import generations
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.bench import MOST_FAR, Bench, BenchResult, NotReplayedError
from lorestudio.systems.registry import KINDS, system_of
from lorestudio.trace.journey import Journeys
from lorestudio.trace.summary import summary
from tests.studio.previews import CHAT, TWO_STAGE, project_of

NOTES = {
    "Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp, brass lantern]\n---\nThe tide is seen from here.\n",
    "Tide.md": "---\ntags: [lorebook]\nkeys: [tide]\nrefine_keys: [rises]\n---\nTwice a day.\n",
    "Quay.md": "---\ntags: [lorebook]\nkeys: [quay]\nrequires: [Tide]\n---\nStone.\n",
    "Wren.md": "---\ntags: [lorebook]\nkeys: [wren]\n---\nA person.\n",
    "Rules.md": "---\ntags: [lorebook, lorebook-always]\nkeys: [quay]\n---\nBe kind.\n",
    "Guide.md": "---\ntags: [lorebook, lorebook-guide]\nkeys: [lamp]\n---\nFor the Librarian.\n",
}


def alone(**values: object) -> Project:
    return replace(project_of(NOTES, **values), chat=None)


def row_of(result: BenchResult, title: str) -> tuple[bool, str, tuple[str, ...], list[str]]:
    row = next(row for row in result.rows if row.title == title)
    texts = [result.text[place.start : place.end] for place in row.places]
    return row.injected, row.label, row.keys, texts


def test_who_goes_in_and_by_which_key() -> None:
    result = Bench(Simulator(alone())).test("A lamp, a LAMP and a brass lantern.")
    row = next(row for row in result.rows if row.title == "Lamp")
    assert row_of(result, "Lamp")[2:] == (("lamp", "brass lantern"), ["lamp", "LAMP", "brass lantern"])
    assert (row.injected, row.how) == (True, "Key found")
    assert "Guide" not in {row.title for row in result.rows}


def test_who_was_matched_but_stopped_and_why() -> None:
    result = Bench(Simulator(alone())).test("The quay at low tide.")
    assert row_of(result, "Tide")[:2] == (False, "Refine keys missing")
    assert row_of(result, "Quay")[:2] == (False, "Required entry missing")
    assert {row.title for row in result.stopped} == {"Tide", "Quay"}
    both = Bench(Simulator(alone())).test("The quay. The tide rises.")
    assert row_of(both, "Tide") == (True, "Key found", ("tide", "rises"), ["tide", "rises"])
    assert row_of(both, "Quay")[0] is True


@pytest.mark.parametrize(
    ("system", "settings"), [("deeplore", None), ("world-info", WorldInfoSettings(recursive=True))]
)
def test_of_a_key_in_the_text_of_another_entry_it_is_said_whose(system: str, settings: Section | None) -> None:
    notes = {name: NOTES[name].replace("refine_keys: [rises]\n", "") for name in ("Lamp.md", "Tide.md")}
    project = replace(project_of(notes, recursive_scan=True), chat=None)
    result = Bench(Simulator(project, system_of(project.scene(), KINDS[system], settings))).test("A lamp.")
    assert {row.title: (row.injected, row.how, row.keys) for row in result.rows} == {
        "Lamp": (True, "Key found", ("lamp",)), "Tide": (True, "Key in “Lamp”", ("tide",)),
    }  # fmt: skip


def test_an_entry_that_no_text_brings_in_is_told_where_the_text_has_a_key_of_it() -> None:
    """Of a large lorebook dozens are switched off or bound to others, whatever the text says."""
    notes = {f"{name}.md": f"---\ntags: [lorebook]\nkeys: [{name}]\n---\nText.\n" for name in ("lamp", "quay", "tide")}
    notes |= {name: notes[name].replace("keys", "wi_delay: 9\nkeys") for name in ("quay.md", "tide.md")}
    project = replace(project_of(notes), chat=None)
    result = Bench(Simulator(project, system_of(project.scene(), KINDS["world-info"]))).test("A lamp on the quay.")
    assert {row.title: (row.injected, row.label, row.keys) for row in result.rows} == {
        "lamp": (True, "Key found", ("lamp",)), "quay": (False, "Delayed", ("quay",)),
    }  # fmt: skip
    told = "No text here brings in 1 more: switched off, bound to other characters, and the like."
    assert result.remarks[-1] == told
    nothing = summary(Bench(Simulator(project, system_of(project.scene(), KINDS["world-info"]))).test("An oar.").trace)
    assert nothing == "Nothing matched: none of the keys of 1 entry is in the last message. 2 more were not searched."


def test_keys_of_a_constant_decide_nothing_and_are_not_shown() -> None:
    result = Bench(Simulator(alone())).test("quay")
    row = next(row for row in result.rows if row.title == "Rules")
    assert (row.injected, row.how, row.keys, row.places) == (True, "Constant", (), ())


def test_tokens_are_those_that_go_in() -> None:
    result = Bench(Simulator(alone())).test("lamp")
    assert sum(row.tokens for row in result.injected) == result.trace.total_tokens > 0


def test_the_speakers_name_is_searched_as_in_a_real_chat() -> None:
    project = replace(alone(), chat=Chat((), "Wren", "Ann"))
    result = Bench(Simulator(project)).test("nothing here")
    row = next(row for row in result.rows if row.title == "Wren")
    assert (row.injected, row.places) == (True, ())


def test_the_chats_choices_hold_here_too() -> None:
    project = replace(alone(), controls=ChatControls(pins=(EntryRule("Wren"),), blocks=(EntryRule("Lamp"),)))
    result = Bench(Simulator(project)).test("lamp")
    assert row_of(result, "Lamp")[:2] == (False, "Blocked")
    assert row_of(result, "Wren")[0] is True


def test_behind_the_chat_the_whole_window_counts() -> None:
    simulator = Simulator(project_of(NOTES))
    asyncio.run(simulator.replay())
    bench = Bench(simulator)
    result = bench.test("And the quay?", append=True)
    lamp = next(row for row in result.rows if row.title == "Lamp")
    assert lamp.places == ()  # its key is in the chat, not in the text
    assert row_of(result, "Quay")[3] == ["quay"]
    assert "Lamp" not in {row.title for row in bench.test("And the quay?").rows}


def test_the_same_result_as_if_the_text_had_been_sent() -> None:
    """One path: the run is the one that the chat with this message gives."""
    simulator = Simulator(project_of(NOTES))
    asyncio.run(simulator.replay())
    text = "The tide rises at the quay."
    result = Bench(simulator).test(text, append=True)
    said = replace(CHAT.messages[0], text=text)
    # The next reply has not been written, so the longer chat has no more replies than this one.
    project = replace(simulator.project, chat=replace(CHAT, messages=(*CHAT.messages, said)))
    longer = Simulator(project)
    assert len(generations(project.chat)) == len(simulator.generations)
    trace = asyncio.run(longer.generate(longer.generations[-1]))
    assert [each.title for each in result.trace.injections] == [each.title for each in trace.injections]
    assert [each.text for each in result.trace.prompt] == [each.text for each in trace.prompt]


def test_a_chat_that_was_not_replayed_or_is_not_there() -> None:
    bench = Bench(Simulator(project_of(NOTES)))
    with pytest.raises(NotReplayedError, match="replayed"):
        bench.test("x", append=True)
    with pytest.raises(NotReplayedError, match="no chat"):
        Bench(Simulator(alone())).test("x", append=True)
    assert bench.test("lamp").injected  # alone it can stand all the same


def test_where_a_model_would_choose_the_stand_in_does_and_that_is_said() -> None:
    result = Bench(Simulator(alone(**TWO_STAGE))).test("The lamp by the quay.")
    assert len(result.remarks) == 1
    assert "stand-in" in result.remarks[0]
    assert Bench(Simulator(alone())).test("lamp").remarks == ()


def test_what_a_selector_passes_over_in_the_whole_vault_is_counted_and_not_listed() -> None:
    project = alone(ai_search_enabled=True, ai_search_mode="ai-only")
    result = Bench(Simulator(project)).test("A brass lantern, a lamp.")
    passed = [entry for entry, fate in Journeys(result.trace).fates.items() if fate.reason == "ai_not_selected"]
    assert passed
    assert not {row.entry for row in result.rows} & set(passed)
    assert result.remarks[-1] == f"{len(passed)} more were offered and not chosen."


def test_a_text_with_nothing_in_it() -> None:
    result = Bench(Simulator(alone())).test("")
    assert [row.title for row in result.rows] == ["Rules"]


def test_it_can_be_stopped() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        Bench(Simulator(alone())).test("lamp", cancel=token)


# ---- whatever the system ---------------------------------------------------------------------------------------------


QUAY = {
    "Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp, brass lantern]\n---\nThe tide is seen from here.\n",
    "Quay.md": "---\ntags: [lorebook]\nkeys: [quay]\n---\nStone.\n",
    "Tide.md": "---\ntags: [lorebook]\nkeys: [tide]\nrefine_keys: [rises]\n---\nTwice a day.\n",
    "Rules.md": "---\ntags: [lorebook, lorebook-always]\n---\nBe kind.\n",
    "Guide.md": "---\ntags: [lorebook, lorebook-guide]\nkeys: [lamp]\n---\nFor the Librarian.\n",
}


def bench(name: str, settings: Section, project: Project | None = None) -> Bench:
    project = replace(project_of(QUAY), chat=None) if project is None else project
    return Bench(Simulator(project, system_of(project.scene(), KINDS[name], settings)))


def injected(result: BenchResult) -> set[str]:
    return {row.title for row in result.injected}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("world-info", WorldInfoSettings()),
        ("hybrid", HybridSettings(embedder="none")),
        ("context-window", ContextWindowSettings(total_token_budget=500)),
    ],
)
def test_who_goes_in_and_by_which_key_in_every_system(name: str, settings: Section) -> None:
    result = bench(name, settings).test("At the quay stands a Lamp, an old lamp.")
    assert injected(result) == {"Lamp", "Quay", "Rules"}
    lamp = next(row for row in result.rows if row.title == "Lamp")
    assert [(result.text[place.start : place.end], place.message) for place in lamp.places] == [
        ("Lamp", 0),
        ("lamp", 0),
    ]
    assert lamp.keys
    assert lamp.how_sentence
    assert "Guide" not in {row.title for row in result.rows}
    assert result.trace.system == name


def test_who_was_matched_but_stopped_by_secondary_keys() -> None:
    result = bench("world-info", WorldInfoSettings()).test("Low tide.")
    (stopped,) = [row for row in result.stopped if row.keys]
    assert stopped.title == "Tide"
    assert "rises" in stopped.sentence


def replayed(name: str, settings: Section, project: Project | None = None) -> Bench:
    project = project or project_of(QUAY)
    simulator = Simulator(project, system_of(project.scene(), KINDS[name], settings))
    asyncio.run(simulator.replay())
    return Bench(simulator)


def test_behind_the_chat_world_info_looks_at_its_window() -> None:
    """The newest message of the chat speaks of the lamp, the text of the quay."""
    tried = replayed("world-info", WorldInfoSettings(depth=2))
    result = tried.test("And the quay?", append=True)
    assert injected(result) == {"Lamp", "Quay", "Rules"}
    lamp = next(row for row in result.rows if row.title == "Lamp")
    assert lamp.places == ()
    assert injected(tried.test("And the quay?")) == {"Quay", "Rules"}


def test_what_the_replies_left_counts_behind_the_chat_only() -> None:
    """The lamp of message 0 brought the oil in for reply 1; then it rests for nine messages."""
    oil = "---\ntags: [lorebook]\nkeys: [lamp]\nwi_cooldown: 9\n---\nOil.\n"
    tried = replayed("world-info", WorldInfoSettings(), project_of({**QUAY, "Oil.md": oil}))
    behind, alone = tried.test("A lamp.", append=True), tried.test("A lamp.")
    assert injected(alone) - injected(behind) == {"Oil"}
    assert "Oil" in {row.title for row in behind.stopped}


def test_the_text_is_the_reply_to_come_of_a_chat_that_ends_with_it() -> None:
    """What the bench says is what the chat gives once the text is its last message."""
    settings = WorldInfoSettings(depth=3)
    result = replayed("world-info", settings).test("And the quay?", append=True)
    project = project_of(QUAY)
    said = replace(CHAT.messages[0], text="And the quay?")
    longer = replace(project, chat=replace(CHAT, messages=(*CHAT.messages, said)))
    simulator = Simulator(longer, system_of(longer.scene(), KINDS["world-info"], settings))
    trace = asyncio.run(simulator.generate(Generation(6)))
    assert result.trace.injections == trace.injections
    assert result.trace.prompt == trace.prompt


def test_without_a_replay_nothing_stands_behind_the_chat() -> None:
    with pytest.raises(NotReplayedError, match="has to be replayed"):
        bench("hybrid", HybridSettings(), project_of(QUAY)).test("x", append=True)
    with pytest.raises(NotReplayedError, match="no chat"):
        bench("hybrid", HybridSettings()).test("x", append=True)


def test_of_what_was_only_compared_the_nearest_are_told() -> None:
    notes = {f"N{number:02}.md": f"---\ntags: [lorebook]\n---\nWord {number}.\n" for number in range(MOST_FAR + 9)}
    settings = HybridSettings(mode="semantic_first", threshold=1.0)
    project = replace(project_of(notes), chat=None)
    result = bench("hybrid", settings, project).test("Nothing of it.")
    assert len(result.rows) == MOST_FAR
    assert "9 more were compared" in " ".join(result.remarks)
    scores = [float(str(row.fate.details["score"])) for row in result.rows]
    all_scores = [
        float(str(verdict.details["score"]))
        for record in result.trace.stages
        for verdict in record.verdicts
        if "score" in verdict.details
    ]
    assert min(scores) >= sorted(all_scores, reverse=True)[MOST_FAR - 1]


def test_memories(tmp_path: Path) -> None:
    project = project_of(QUAY)
    recap = bench("recap", RecapSettings(), project).test("lamp")
    assert "looks at no text" in recap.remarks[0]
    facts = bench("facts", FactsSettings(store=str(tmp_path / "none.sqlite")), project).test("lamp")
    assert facts.rows == ()
    assert facts.trace.turn.message == len(CHAT.messages) + 1  # nothing that is kept lies behind it


def test_a_request_to_stop() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        bench("hybrid", HybridSettings()).test("lamp", cancel=token)
