"""What a generation sees of the chat: what was hidden later, and texts as the host hands them over."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.history import HiddenSince
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.regex_scripts import RegexScript, RegexScripts, ScriptPlace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.compare.differences import input_differences
from lorestudio.studio.project.basis import KeptBasis
from lorestudio.studio.project.project import Project, demo_project, open_project
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.studio.replay.exported_scenario import export_turn
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.replay.timeline import TimelineMaker
from lorestudio.studio.report.source import gather, without_words
from lorestudio.studio.tryout.bench import Bench
from lorestudio.systems.differences import DifferenceKind
from lorestudio.trace.model import AS_STORED, ReadMessage, SeenChat, Trace
from lorestudio.trace.prompt import Origin
from lorestudio.trace.summary import seen_brief
from lorestudio.trace.text import as_text
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index
from tests.simulators import system

SETTINGS = DeepLoreSettings(enabled=True)
NOTES = {name: f"---\ntags: [lorebook]\nkeys: [{name.lower()}]\n---\nText.\n" for name in ("Lamp", "Tide")}
LAMP = build_index(
    [VaultFiles("v", tuple(NoteFile(f"{name}.md", text) for name, text in NOTES.items()))], SETTINGS, CHARS_4
)
SCENES = (8, 15, 23, 30, 38)
"""Where scenes of the demo end, as somebody hides them one after the other."""


def traces(project: Project) -> dict[Generation, Trace]:
    simulator = Simulator(project)
    asyncio.run(simulator.run_missing())
    return dict(simulator.traces)


def plain(trace: Trace) -> Trace:
    """The trace without what tells one run of the same from another: times, names of inputs, what counts as hidden."""
    stages = tuple(replace(record, duration_ms=0.0) for record in trace.stages)
    return replace(trace, stages=stages, digests={}, seen=AS_STORED)


def hidden_until(project: Project, last: int) -> Project:
    assert project.chat is not None
    said = project.chat.messages
    messages = tuple(replace(each, is_system=True) if at <= last else each for at, each in enumerate(said))
    return replace(project, chat=replace(project.chat, messages=messages))


@pytest.fixture(scope="module")
def demo() -> Project:
    return demo_project()


@pytest.fixture(scope="module")
def before(demo: Project) -> dict[Generation, Trace]:
    return traces(demo)


@pytest.mark.parametrize("last", SCENES)
def test_hiding_scene_by_scene_leaves_every_reply_as_it_was(
    demo: Project, before: dict[Generation, Trace], last: int
) -> None:
    after = traces(hidden_until(demo, last))
    assert set(after) == set(before)
    replies = [each for each in before if each.message < 49]
    assert len(replies) == 26
    for reply in replies:
        assert plain(after[reply]) == plain(before[reply])
        assert not reply.message or reply.message <= 2 or after[reply].seen.assumed


def test_a_copy_in_a_file_whose_whole_history_is_hidden_is_replayed_the_same(
    tmp_path: Path, before: dict[Generation, Trace]
) -> None:
    path = tmp_path / "chat.jsonl"
    lines = resource("demo").joinpath("chat.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    hidden = [record | {"is_system": True} if "mes" in record else record for record in records]
    path.write_text("\n".join(map(json.dumps, hidden)), "utf-8")
    demo = resource("demo")
    project = open_project([demo / "vault"], path, demo / "settings.json", seed=3)
    after = traces(project)
    for reply, trace in before.items():
        if reply.message < 49:
            assert plain(after[reply]) == plain(trace)
    to_come = after[Generation(49)]
    assert to_come.seen == AS_STORED  # today's state: nothing is in sight
    assert to_come.stages[0].details["swipe_key"] == "-1|0"


# ---- a small world: a lamp and a tide, and what scripts and files make of the texts ----------------------------------


def world(*messages: Message, setup: PromptSetup | None = None, basis: KeptBasis | None = None) -> Project:
    chat = Chat(messages, "Wren", "Ada", files={"/user/files/1_map.txt": "Here is the tide."})
    depth = SETTINGS.model_copy(update={"scan_depth": 2})
    return Project((), LAMP, depth, chat=chat, setup=setup or PromptSetup(), basis=basis or KeptBasis())


def script(find: str, put: str, **limits: int) -> PromptSetup:
    places = frozenset({ScriptPlace.USER_INPUT, ScriptPlace.AI_OUTPUT})
    made = RegexScript(name="Veil", find=find, replace=put, placement=places, prompt_only=True, **limits)
    return PromptSetup(regex=(RegexScripts((made,)),), regex_paths=(Path("scripts.json"),))


def titles(trace: Trace) -> list[str]:
    return sorted(each.title for each in trace.injections)


GREETING = Message("Ada", "Welcome.")


def asked(text: str, **extra: object) -> Message:
    return Message("Wren", text, is_user=True, extra=extra)


def last_of(project: Project, name: str = "deeplore") -> Trace:
    simulator = Simulator(project, system(name, project, project.settings if name == "deeplore" else None))
    return asyncio.run(simulator.generate(simulator.generations[-1]))


def test_a_script_takes_a_key_away_and_the_trace_says_so() -> None:
    said = (GREETING, asked("The lamp <veil> and the tide</veil>."))
    assert titles(last_of(world(*said))) == ["Lamp", "Tide"]
    trace = last_of(world(*said, setup=script("/<veil>.*<\\/veil>/s", "")))
    assert titles(trace) == ["Lamp"]
    assert trace.seen == SeenChat(read=(ReadMessage(1, "The lamp .", ("regex script “Veil”",)),))


def test_as_stored_no_script_and_no_file_counts() -> None:
    stored = KeptBasis(ChatBasis(scan_text="stored"))
    said = (GREETING, asked("The lamp.", file={"name": "map.txt", "url": "/user/files/1_map.txt"}))
    trace = last_of(world(*said, setup=script("/lamp/", ""), basis=stored))
    assert titles(trace) == ["Lamp"]
    assert trace.seen == AS_STORED


def test_files_come_in_front_and_their_texts_are_searched() -> None:
    own = {"name": "own.txt", "url": "/user/files/2.txt", "text": "A lamp."}
    other = {"name": "map.txt", "url": "/user/files/1_map.txt"}
    trace = last_of(world(GREETING, asked("Look.", files=[own, other])))
    assert titles(trace) == ["Lamp", "Tide"]
    assert trace.seen.read == (
        ReadMessage(1, "A lamp.\n\nHere is the tide.\n\nLook.", ("file “own.txt”", "file “map.txt”")),
    )


def test_depth_counts_the_messages_in_sight() -> None:
    said = [GREETING, asked("The lamp."), Message("Ada", "Yes."), asked("The lamp.")]
    setup = script("/lamp/", "", min_depth=1)
    assert titles(last_of(world(*said, setup=setup))) == ["Lamp"]
    trace = last_of(world(*said, Message("Ada", "Yes."), setup=setup))
    assert titles(trace) == []
    assert [each.message for each in trace.seen.read] == [3]  # of the two that are searched


def test_a_hidden_message_does_not_count_for_the_depth() -> None:
    said = [GREETING, asked("The lamp."), replace(asked("Aside."), is_system=True)]
    assert titles(last_of(world(*said, setup=script("/lamp/", "", min_depth=1)))) == ["Lamp"]


def test_macros_in_a_script_stand_for_what_they_are_then() -> None:
    setup = script("/{{lastUserMessage}}/", "lamp")
    filled = setup.regex[0].scripts[0].model_copy(update={"substitute": 1})
    setup = replace(setup, regex=(RegexScripts((filled,)),))
    said = (GREETING, asked("one"), Message("Ada", "Yes."), asked("two"))
    simulator = Simulator(world(*said, setup=setup))
    asyncio.run(simulator.replay())
    assert [simulator.traces[each].seen.read[-1].message for each in simulator.generations] == [1, 3]
    assert all(titles(trace) == ["Lamp"] for trace in simulator.traces.values())


@pytest.mark.parametrize("name", ["world-info", "context-window"])
def test_other_systems_read_what_the_host_hands_over(name: str) -> None:
    said = (GREETING, asked("The tide and the dark."))
    trace = last_of(world(*said, setup=script("/dark/", "lamp")), name)
    assert "Lamp" in titles(trace)
    assert trace.seen.read[0].text == "The tide and the lamp."


def test_the_prompt_has_the_same_texts_as_the_search() -> None:
    project = world(
        GREETING, asked("The dark.", files=[{"name": "map.txt", "url": "/user/files/1_map.txt"}]),
        setup=script("/dark/", "lamp"),
    )  # fmt: skip
    trace = last_of(project)
    assert project.chat is not None
    prompt = assemble(trace, project.chat, project.reply_setup)
    said = [part for _message, part in prompt.parts if part.source.origin is Origin.CHAT]
    text = next(message.text for message, part in prompt.parts if part is said[-1])
    assert text == trace.seen.read[0].text == "Here is the tide.\n\nThe lamp."


def test_the_prompt_and_the_timeline_of_the_past_hold_what_was_in_sight() -> None:
    hidden = [replace(each, is_system=True) for each in (GREETING, asked("One."))]
    project = world(*hidden, Message("Ada", "Two."), asked("Three."), Message("Ada", "Four."), asked("Five."))
    simulator = Simulator(project)
    asyncio.run(simulator.replay())
    past, to_come = simulator.traces[Generation(4)], simulator.traces[Generation(6)]
    assert past.seen == SeenChat(((0, 1),), ((0, 1),))
    assert to_come.seen == AS_STORED

    def told(trace: Trace) -> list[int | None]:
        prompt = assemble(trace, project.chat or Chat())
        return [part.source.message for _, part in prompt.parts if part.source.origin is Origin.CHAT]

    assert told(past) == [0, 1, 2, 3]
    assert told(to_come) == [2, 3, 4, 5]
    maker = TimelineMaker(project.chat, simulator.generations, project.counter)
    turns = list(maker.turns(simulator.traces, simulator.generations))
    assert [turn.cache.cause is None for turn in turns[1:-1] if turn.cache is not None] == [True]
    last = turns[-1].cache
    assert last is not None  # what was hidden leaves the beginning of the prompt
    assert last.cause is not None


def test_a_persons_word_decides_what_a_reply_saw() -> None:
    hidden = [GREETING, replace(asked("The lamp."), is_system=True)]
    said = (*hidden, Message("Ada", "Yes."), asked("Go on."), Message("Ada", "Well."))
    word = KeptBasis(hidden=(HiddenSince(1, 1, 2),))
    shown, told = (Simulator(world(*said, basis=basis)) for basis in (KeptBasis(), word))
    first = Generation(2)
    assert titles(asyncio.run(shown.generate(first))) == ["Lamp"]
    assert titles(asyncio.run(told.generate(first))) == []
    assert told.traces[first].seen == AS_STORED
    assert shown.inputs[0] != told.inputs[0]


def test_hiding_a_message_leaves_the_inputs_of_replies_before_it() -> None:
    said = [GREETING, asked("One."), Message("Ada", "Two."), asked("Three."), Message("Ada", "Four.")]
    plain_chat = Simulator(world(*said)).inputs
    said[3] = replace(said[3], is_system=True)
    hidden = Simulator(world(*said)).inputs
    assert [one == other for one, other in zip(plain_chat, hidden, strict=True)] == [True, False, False]


def in_files(project: Project, folder: Path) -> Project:
    """The same project with its notes in a folder, where a scenario takes them from."""
    for name, text in NOTES.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    opened = open_project([folder]).with_settings(project.settings)
    return replace(opened, chat=project.chat, setup=project.setup)


def test_a_scenario_of_a_past_reply_has_what_it_saw_and_repeats(tmp_path: Path) -> None:
    hidden = replace(asked("The dark."), is_system=True)
    project = world(GREETING, hidden, Message("Ada", "Yes."), asked("Go on."), setup=script("/dark/", "lamp"))
    simulator = Simulator(in_files(project, tmp_path))
    asyncio.run(simulator.replay())
    past = export_turn(simulator, Generation(2))
    assert past.differing == ()
    assert [each["mes"] for each in past.scenario.messages] == ["Welcome.", "The lamp."]
    to_come = export_turn(simulator, Generation(4))
    assert to_come.differing == ()
    assert to_come.scenario.generations[-1].chat == [0, 2, 3]


def test_a_scenario_of_another_system_holds_what_the_last_turn_saw(tmp_path: Path) -> None:
    hidden = replace(asked("The lamp."), is_system=True)
    project = in_files(world(GREETING, hidden, Message("Ada", "Yes."), asked("Go on.")), tmp_path)
    simulator = Simulator(project, system("world-info", project))
    asyncio.run(simulator.replay())
    past = export_turn(simulator, Generation(2))
    assert titles(simulator.traces[Generation(2)]) == ["Lamp"]
    assert past.differing == ()
    assert not any(each.get("is_system") for each in past.scenario.messages)


@pytest.mark.parametrize("name", ["context-window", "hybrid", "recap", "world-info"])
def test_a_scenario_of_another_system_repeats_replies_that_saw_what_the_last_did_not(tmp_path: Path, name: str) -> None:
    hidden = replace(asked("The lamp."), is_system=True)
    project = in_files(world(GREETING, hidden, Message("Ada", "Yes."), asked("Go on.")), tmp_path)
    simulator = Simulator(project, system(name, project))
    asyncio.run(simulator.replay())
    to_come = export_turn(simulator, Generation(4))
    assert to_come.differing == ()
    assert [each.chat for each in to_come.scenario.generations] == [[0, 1], [0, 1, 2, 3]]
    assert [each.front_chat for each in to_come.scenario.generations] == [[0, 1], None]


@pytest.mark.parametrize("name", ["deeplore", "world-info"])
def test_a_scenario_has_one_text_of_each_message(tmp_path: Path, name: str) -> None:
    said = (GREETING, asked("The lamp."), Message("Ada", "Yes."), asked("Go on."))
    project = in_files(world(*said, setup=script("/lamp/", "", min_depth=1)), tmp_path)
    simulator = Simulator(project, system(name, project))
    asyncio.run(simulator.replay())
    with pytest.raises(InputError, match="#1: regex scripts change this message by how far back it stands"):
        export_turn(simulator, Generation(4))


def test_a_text_that_is_tried_out_goes_through_the_scripts() -> None:
    simulator = Simulator(world(GREETING, setup=script("/dark/", "lamp")))
    asyncio.run(simulator.replay())
    for append in (False, True):
        found = Bench(simulator).test("The dark.", append=append)
        assert titles(found.trace) == ["Lamp"]


def test_reports_tell_what_was_seen_and_the_redacted_one_no_word_of_it() -> None:
    hidden = replace(asked("A dark secret."), is_system=True)
    project = world(GREETING, hidden, Message("Ada", "Yes."), setup=script("/dark/", "lamp"))
    simulator = Simulator(project)
    asyncio.run(simulator.replay())
    past = Generation(2)
    text = as_text(simulator.traces[past])
    assert "Hidden today, assumed to have been in sight then: message #1." in text
    assert "Searched with other texts than are stored: #1 by regex script “Veil”." in text
    assert "A lamp secret." in text
    brief = "1 hidden message in sight then (assumed) · 1 text searched otherwise than stored"
    assert seen_brief(simulator.traces[past]) == brief
    assert seen_brief(simulator.traces[Generation(3)]) == ""
    source = gather(project, simulator.traces, past)
    assert [(each.text, each.hidden) for each in source.turns[0].messages][-1] == ("A lamp secret.", False)
    silent = without_words(source)
    assert "secret" not in as_text(silent.turns[0].trace)
    assert "Veil" not in as_text(silent.turns[0].trace)


def test_the_context_size_of_the_chat_warns_of_lore_that_takes_a_large_share() -> None:
    said = (GREETING, asked("The lamp."))
    assert last_of(world(*said)).warnings == ()
    small = KeptBasis(ChatBasis(context_size=4))
    assert "of the context" in last_of(world(*said, basis=small)).warnings[0]


def test_what_hiding_did_to_a_reply_is_told_as_a_difference_of_the_chat() -> None:
    hidden = (GREETING, replace(asked("The lamp."), is_system=True), Message("Ada", "Yes."))
    then, now = (Simulator(world(*hidden, basis=KeptBasis(ChatBasis(history=history)))) for history in ("then", "now"))
    for each in (then, now):
        asyncio.run(each.replay())
    before, after = Rerun.of(then, Generation(2)), Rerun.of(now, Generation(2))
    found = [each for each in input_differences(before, after) if each.kind is DifferenceKind.CHAT]
    assert [each.after for each in found] == ["without message #1"]
    carried = found[0].carry(before, after)
    assert carried.run().trace.seen == after.before.seen == AS_STORED
    assert titles(carried.run().trace) == []
