import asyncio
import json

import pytest

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.recap.chat import REFUSED_KEY, RecapSurroundings
from lorestudio.systems.recap.records import with_values
from lorestudio.systems.recap.refresh import ReadChat, refreshed
from lorestudio.systems.recap.scenes import scenes
from lorestudio.systems.recap.system import RecapSystem
from lorestudio.systems.recap.tracing import SCENE_IDS, VERSION_IDS, Telling, recap_trace
from lorestudio.trace.budget import budget_view
from lorestudio.trace.explain import explain
from lorestudio.trace.journey import FateState, Journeys
from lorestudio.trace.model import Outcome, Phase, RunOutcome, Turn
from lorestudio.trace.storage.serialize import from_json, to_json
from lorestudio.trace.summary import summary
from lorestudio.trace.text import as_text
from tests.systems.recap.chats import Words, chat

FROM = RecapSettings(message_recap_context_limit=4.0, message_recap_context_type="absolute", auto_hide_scene_count=1)


def tale():
    """Messages 0 to 6; a scene ends at 1, a bookmark at 3; recaps of two words each on 2 to 6."""
    found = chat("a b", "c d", "e f", "g h", "i j", "k l", "m n")
    for index in range(2, 7):
        found = found.with_message(index, with_values(found.messages[index], {"memory": f"recap {index}"}))
    for index in (1, 3):
        found = found.with_messages(scenes.toggle(found.messages, index))
    found = found.with_message(1, with_values(found.messages[1], {"scene_recap_memory": "First scene."}))
    found = found.with_message(5, with_values(found.messages[5], {"exclude": True}))
    store = found.running.added("The first scene.", 1, 1, 0, 1).added("Edited.", 1, 1, 0, 1)
    return found.with_running(store.with_current(0))


def traced(found=None, settings=FROM, context_size=1000):
    done = refreshed(found or tale(), RecapSurroundings(settings, Words()), context_size)
    return recap_trace(done, context_size=context_size)


def test_every_stage_accounts_for_all_candidates():
    trace = traced()
    for record in trace.stages:
        assert len(record.entered) + record.added == len(record.left) + record.removed, record.name
        assert {verdict.entry for verdict in record.with_outcome(Outcome.ADDED)} <= set(record.left)
        assert not {verdict.entry for verdict in record.with_outcome(Outcome.REMOVED)} & set(record.left)
    assert [record.name for record in trace.stages] == [
        "auto-hide", "exclusion tree", "inclusion walk", "scene recaps", "running recap", "recap injection",
    ]  # fmt: skip


def test_the_walk_is_told_with_running_totals():
    walk = traced().stage("inclusion walk")
    told = {verdict.entry: (verdict.reason, dict(verdict.details)) for verdict in walk.verdicts}
    assert told[6] == ("recap_included", {"tokens": 2, "total": 2, "limit": 4.0})
    assert told[4] == ("recap_included", {"tokens": 2, "total": 4, "limit": 4.0})
    assert told[3] == ("recap_over_limit", {"total": 6, "limit": 4.0, "over": 2.0})
    assert told[2][0] == "recap_after_limit"
    assert "#3" in told[2][1]["stopped_by"]
    assert 5 not in told
    assert walk.left == (4, 6)


def test_no_limit_cuts_a_message_without_a_recap():
    found = tale()
    bare = found.with_message(6, with_values(found.messages[6], {"memory": ""}))
    fates = Journeys(traced(bare)).fates
    assert (fates[6].reason, fates[6].phase) == ("recap_no_memory", Phase.SELECT)
    assert (fates[2].reason, fates[2].phase) == ("recap_over_limit", Phase.BUDGET)


def test_excluded_messages_say_why():
    tree = traced().stage("exclusion tree")
    assert [(verdict.entry, verdict.reason) for verdict in tree.verdicts] == [(5, "excluded_excluded_by_user")]
    short = traced(settings=FROM.model_copy(update={"message_length_threshold": 3})).stage("exclusion tree")
    assert dict(short.verdicts[0].details) == {"tokens": 2, "threshold": 3}


def test_hidden_messages_are_those_before_the_last_scenes():
    hidden = [verdict.entry for verdict in traced().stages[0].verdicts if verdict.reason == "recap_hidden"]
    assert hidden == [0, 1, 2, 3]


def test_only_the_current_version_goes_in():
    trace = traced()
    assert trace.outcome is RunOutcome.INJECTED
    fates = Journeys(trace).fates
    assert fates[VERSION_IDS].state is FateState.INJECTED
    assert fates[VERSION_IDS + 1].state is FateState.REFUSED
    assert fates[SCENE_IDS + 1].reason == "recap_scene_covered"
    assert fates[SCENE_IDS + 3].reason == "recap_bookmark"
    assert fates[6].reason == "recap_flag_only"
    block = trace.prompt[0]
    own = [block.text[part.start : part.end] for part in block.parts if part.entry == VERSION_IDS]
    assert own == ["The first scene."]
    assert "".join(block.text[part.start : part.end] for part in block.parts) == block.text


def test_the_budget_calls_what_goes_in_recaps():
    view = budget_view(traced())
    assert [origin.word for origin in view.by_origin] == ["recaps"]
    assert {segment.origin.word for segment in view.cut} == {"recaps"}  # of messages


def test_every_decision_has_its_sentence():
    trace = traced()
    for record in trace.stages:
        for verdict in record.verdicts:
            told = explain(verdict, trace)
            assert told.sentence.endswith((".", "”.")), told
            assert "{" not in told.sentence + told.fix
    assert "Recap over the limit" in as_text(trace)


def test_a_trace_survives_being_stored():
    trace = traced()
    again = from_json(json.loads(json.dumps(to_json(trace), allow_nan=False)))
    assert again.stages == trace.stages
    assert again.prompt == trace.prompt
    assert to_json(again) == to_json(trace)


def test_the_summary_names_what_fits_and_what_goes_in():
    assert summary(traced()) == (
        "2 message recaps fit (4 tokens of 4), 4 messages are hidden, and running recap version 0 goes into the prompt "
        f"({traced().injections[0].tokens} of 1,000 tokens)."
    )
    assert summary(traced(chat("a"))) == (
        "No message has a recap that takes part, and no running recap goes into the prompt."
    )


def test_switched_off_nothing_goes_in():
    trace = traced(settings=FROM.model_copy(update={"enabled": False}))
    assert trace.outcome is RunOutcome.NOTHING_INJECTED
    assert trace.prompt == ()
    assert summary(trace) == "Recap memory is off for this chat, so nothing goes into the prompt."


@pytest.mark.parametrize(
    ("dialect", "code", "position", "depth"),
    [("seed", 2, 1, 1), ("seed", 0, 2, 2), ("seed", 1, 1, 2), ("sillytavern", 2, 2, 2), ("sillytavern", 0, 0, 2)],
)
def test_places_are_told_as_the_host_knows_them(dialect, code, position, depth):
    settings = FROM.model_copy(update={"position_dialect": dialect, "running_scene_recap_position": code})
    injected = traced(settings=settings).injections[0]
    assert (injected.position, injected.depth) == (position, depth)


def test_behind_a_reply_it_is_the_last_and_before_the_message_that_is_answered():
    told = tale()
    for end, depth in ((len(told.messages), 1), (len(told.messages) - 1, 0)):
        injected = traced(replace(told, messages=told.messages[:end])).injections[0]
        assert (injected.position, injected.depth) == (1, depth)


def test_a_position_that_means_nowhere_is_a_warning():
    settings = FROM.model_copy(update={"position_dialect": "sillytavern", "running_scene_recap_position": -1})
    trace = traced(settings=settings)
    assert trace.injections == ()
    assert [verdict.reason for verdict in trace.stages[-1].verdicts] == ["recap_nowhere"]


def test_recaps_of_another_chat_are_refused_and_kept_aside():
    foreign = tale()
    moved = replace(foreign, id="Other")
    done = refreshed(moved, RecapSurroundings(FROM, Words()), 0)
    assert done.chat.running.versions == ()
    assert done.chat.metadata[REFUSED_KEY][0]["versions"][0]["content"] == "The first scene."
    trace = traced(moved)
    assert trace.stage("running recap").note == "recap_foreign"
    assert "belongs to “Tale”" in trace.warnings[0]
    for found in (moved, done.chat):
        adopted = found.adopted()
        assert adopted.running.versions == foreign.running.versions
        assert (adopted.foreign, REFUSED_KEY in adopted.metadata) == (None, False)
        shorter = replace(found, messages=found.messages[:1]).adopted()
        assert shorter.running.versions == ()  # its scenes are not here


def test_without_a_known_context_a_percentage_sets_no_limit():
    settings = FROM.model_copy(update={"message_recap_context_type": "percent"})
    assert traced(settings=settings, context_size=0).stage("inclusion walk").left == (2, 3, 4, 6)
    assert traced(settings=settings, context_size=50).stage("inclusion walk").left == (6,)


def test_a_message_that_a_person_keeps_hidden_stays_so():
    found = tale()
    hidden = {**with_values(found.messages[5], {"pinned_hidden": True}), "is_system": True}
    found = found.with_message(5, hidden).with_message(6, {**found.messages[6], "is_system": True})
    done = refreshed(found, RecapSurroundings(FROM, Words()), 0)
    assert [message["is_system"] for message in done.chat.messages[4:]] == [False, True, False]
    assert done.shown_again == (6,)


class Counted(Words):
    """Words, and the texts that were counted."""

    identity = "words"

    def __init__(self):
        self.texts = []

    def count(self, text):
        self.texts.append(text)
        return super().count(text)


def long_tale(scenes_of=5):
    """Forty messages in scenes, every second one with a recap, some of them hidden, pinned, excluded or short."""
    found = chat(*("words " * (1 + index % 7) for index in range(40)))
    for index in range(40):
        values = {
            **({"memory": f"recap {index}"} if index % 2 else {}),
            **({"exclude": True} if index % 11 == 3 else {}),
            **({"pinned_hidden": True} if index % 13 == 7 else {}),
            **({"scene_break": True, "scene_recap_memory": "A scene."} if index % scenes_of == 4 else {}),
        }
        message = {**with_values(found.messages[index], values), "is_system": index % 9 == 2}
        found = found.with_message(index, message)
    return found.with_running(found.running.added("One.", 1, 0, 0, 4).added("Two.", 1, 0, 4, 14))


@pytest.mark.parametrize("scenes_shown", [0, 1, 3])
@pytest.mark.parametrize("kind", ["percent", "absolute"])
def test_a_chat_that_was_read_once_says_of_each_beginning_what_that_says_alone(scenes_shown, kind):
    settings = RecapSettings(
        message_recap_context_limit=6.0,
        message_recap_context_type=kind,
        auto_hide_scene_count=scenes_shown,
        message_length_threshold=3,
        include_user_messages=True,
    )
    whole, around = long_tale(), RecapSurroundings(settings, Words())
    told = Telling(ReadChat(whole, around))
    for length in (40, 17, 3, 0, 25, 39, 25):
        done = told.read.refreshed(length, 0)
        alone = refreshed(replace(whole, messages=whole.messages[:length]).with_running(done.storage.store), around, 0)
        assert recap_trace(done, told=told) == recap_trace(alone)
        assert done.chat == alone.chat


def test_a_replay_reads_each_message_once():
    counter, whole = Counted(), long_tale()
    system = RecapSystem(RecapSettings(include_user_messages=True), whole)
    for length in range(1, 41):
        moment = Moment(VaultIndex(), (), Turn(length, 0, length), counter=counter)
        asyncio.run(system.decide(moment))
    told = [text for text in counter.texts if text.startswith("words")]
    assert len(told) <= 2 * len(whole.messages)  # shown, and hidden
