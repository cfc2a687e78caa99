from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from lorestudio.domain.chat import Chat
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.order import generations
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.bench import Bench, BenchResult, NotReplayedError
from lorestudio.trace.journey import fates
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
    result = Bench.of(alone()).test("A lamp, a LAMP and a brass lantern.")
    row = next(row for row in result.rows if row.title == "Lamp")
    assert row_of(result, "Lamp")[2:] == (("lamp", "brass lantern"), ["lamp", "LAMP", "brass lantern"])
    assert (row.injected, row.how) == (True, "Key found")
    assert "Guide" not in {row.title for row in result.rows}


def test_who_was_matched_but_stopped_and_why() -> None:
    result = Bench.of(alone()).test("The quay at low tide.")
    assert row_of(result, "Tide")[:2] == (False, "Refine keys missing")
    assert row_of(result, "Quay")[:2] == (False, "Required entry missing")
    assert {row.title for row in result.stopped} == {"Tide", "Quay"}
    both = Bench.of(alone()).test("The quay. The tide rises.")
    assert row_of(both, "Tide") == (True, "Fits", ("tide", "rises"), ["tide", "rises"])
    assert row_of(both, "Quay")[0] is True


def test_keys_of_a_constant_decide_nothing_and_are_not_shown() -> None:
    result = Bench.of(alone()).test("quay")
    row = next(row for row in result.rows if row.title == "Rules")
    assert (row.injected, row.how, row.keys, row.places) == (True, "Constant", (), ())


def test_tokens_are_those_that_go_in() -> None:
    result = Bench.of(alone()).test("lamp")
    assert sum(row.tokens for row in result.injected) == result.trace.total_tokens > 0


def test_the_speakers_name_is_searched_as_in_a_real_chat() -> None:
    project = replace(alone(), chat=Chat((), "Wren", "Ann"))
    result = Bench.of(project).test("nothing here")
    row = next(row for row in result.rows if row.title == "Wren")
    assert (row.injected, row.places, row.elsewhere) == (True, (), True)


def test_the_chats_choices_hold_here_too() -> None:
    project = replace(alone(), controls=ChatControls(pins=(EntryRule("Wren"),), blocks=(EntryRule("Lamp"),)))
    result = Bench.of(project).test("lamp")
    assert row_of(result, "Lamp")[:2] == (False, "Blocked")
    assert row_of(result, "Wren")[0] is True


def test_behind_the_chat_the_whole_window_counts() -> None:
    simulator = Simulator(project_of(NOTES))
    asyncio.run(simulator.replay())
    bench = Bench(simulator)
    assert bench.can_append
    result = bench.test("And the quay?", append=True)
    assert result.message == len(CHAT.messages)
    lamp = next(row for row in result.rows if row.title == "Lamp")
    assert (lamp.places, lamp.elsewhere) == ((), True)  # its key is in the chat, not in the text
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
    bench = Bench.of(project_of(NOTES))
    assert not bench.can_append
    with pytest.raises(NotReplayedError, match="replayed"):
        bench.test("x", append=True)
    with pytest.raises(NotReplayedError, match="no chat"):
        Bench.of(alone()).test("x", append=True)
    assert bench.test("lamp").injected  # alone it can stand all the same


def test_where_a_model_would_choose_the_stand_in_does_and_that_is_said() -> None:
    result = Bench.of(alone(**TWO_STAGE)).test("The lamp by the quay.")
    assert len(result.remarks) == 1
    assert "stand-in" in result.remarks[0]
    assert Bench.of(alone()).test("lamp").remarks == ()


def test_what_a_selector_passes_over_in_the_whole_vault_is_counted_and_not_listed() -> None:
    project = alone(ai_search_enabled=True, ai_search_mode="ai-only")
    result = Bench.of(project).test("A brass lantern, a lamp.")
    passed = [entry for entry, fate in fates(result.trace).items() if fate.reason == "ai_not_selected"]
    assert passed
    assert not {row.entry for row in result.rows} & set(passed)
    assert result.remarks[-1] == f"{len(passed)} more were offered and not chosen."


def test_a_text_with_nothing_in_it() -> None:
    result = Bench.of(alone()).test("")
    assert [row.title for row in result.rows] == ["Rules"]


def test_it_can_be_stopped() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        Bench.of(alone()).test("lamp", cancel=token)
