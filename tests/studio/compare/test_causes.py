"""Which difference between two runs did what: always checked against what the system does with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.lifecycle import Cancelled, CancelToken, Progress
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.behaviour import fixed
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.rules import changed_rules
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.compare.causes import (
    MOST_TRIED,
    Causes,
    RunSide,
    What,
    can_find,
    edited_side,
    effects,
    find_causes,
    replay_differences,
    side_of,
)
from lorestudio.studio.compare.differences import input_differences, note_changes, renamed
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Previewer
from lorestudio.systems.differences import DifferenceKind
from lorestudio.systems.registry import KINDS
from lorestudio.trace.diff import compare
from lorestudio.trace.model import Trace
from lorestudio.vault.edited_vaults import NoteText
from tests.studio.previews import CHAT, TEXTS, TWO_STAGE, project_of

LAST = Generation(5)


def side(project: Project, generation: Generation = LAST, title: str = "") -> RunSide:
    simulator = Simulator(project)
    trace = asyncio.run(simulator.generate(generation))
    return RunSide(title, trace, Rerun.of(simulator, generation))


def edited(**texts: str | None) -> Project:
    files = {**TEXTS, **{f"{name}.md": text for name, text in texts.items() if text is not None}}
    for name, text in texts.items():
        if text is None:
            del files[f"{name}.md"]
    return project_of(files)


def pinned(*titles: str, **controls: Any) -> Project:
    return replace(project_of(), controls=ChatControls(tuple(map(EntryRule, titles)), **controls))


def titles(trace: Trace) -> list[str]:
    return [injection.title for injection in trace.injections]


def told(before: Project, after: Project) -> list[tuple[DifferenceKind, str]]:
    one, other = side(before).context, side(after).context
    assert one is not None
    assert other is not None
    return [(each.kind, each.sentence) for each in input_differences(one, other)]


# ---- what differs ---------------------------------------------------------------------------------------------------


def test_the_same_inputs_have_no_differences() -> None:
    assert told(project_of(), project_of()) == []


def test_a_setting_is_told_with_both_values() -> None:
    (found,) = [each for each in told(project_of(), project_of(scan_depth=9)) if each[0] is DifferenceKind.SETTING]
    assert found[1].endswith(": 4 → 9")


def test_a_setting_that_no_run_reads_is_not_told() -> None:
    settings = project_of().settings.model_copy(update={"graph_repulsion": 0.1234})
    assert told(project_of(), replace(project_of(), settings=settings)) == []


def test_notes_are_told_by_what_was_written() -> None:
    gate = "---\ntags: [lorebook]\nkeys: [lamp]\n---\nThe gate is open.\n"
    after = edited(Gate=gate, Dice=None, New="---\ntags: [lorebook]\nkeys: [tide]\n---\nNew.\n")
    found = [sentence for kind, sentence in told(project_of(), after) if kind is DifferenceKind.NOTE]
    assert found == ["Dice: is no entry any more", "Gate: text, keys changed", "New: is an entry only now"]


def test_a_note_that_was_moved_is_one_difference() -> None:
    after = edited(Gate=None, **{"sea/Gate": LAMP_GATE})
    for pair in ((project_of(), after), (after, project_of())):
        found = [sentence for kind, sentence in told(*pair) if kind is DifferenceKind.NOTE]
        assert found == ["Gate: place in the vault, keys changed"]


def test_a_note_whose_reference_leads_nowhere_now_is_not_the_one_that_was_changed() -> None:
    changes = [title for _key, title, _words in note_changes(project_of().index, edited(Lamp=None).index)]
    assert changes == ["Lamp"]  # and not Tide, which requires it


def test_choices_for_the_chat() -> None:
    after = pinned("Gate", context={"era": "old"}, folders=("sea",))
    assert told(project_of(), after)[:3] == [
        (DifferenceKind.CHOICE, "Pins: none → Gate"),
        (DifferenceKind.CHOICE, "Folder filter: none → sea"),
        (DifferenceKind.CHOICE, "Context: era: none → old"),
    ]


def test_behaviour_switches() -> None:
    after = replace(project_of(), behaviour=fixed(["window_filter"]))
    assert (DifferenceKind.SWITCH, "Hidden messages in the window: deeplore → fixed") in told(project_of(), after)


def test_an_edited_message_is_told_by_its_number() -> None:
    messages = (*CHAT.messages[:4], Message("Wren", "Nothing.", is_user=True))
    after = replace(project_of(), chat=replace(CHAT, messages=messages))
    assert (DifferenceKind.CHAT, "Message #4: Then the lamp goes out. → Nothing.") in told(project_of(), after)


def test_a_later_turn_differs_by_its_messages_and_by_what_the_turns_left() -> None:
    simulator = Simulator(project_of())
    asyncio.run(simulator.replay())
    one, other = Rerun.of(simulator, Generation(1)), Rerun.of(simulator, Generation(3))
    kinds = [(each.kind, each.after) for each in input_differences(one, other)]
    assert (DifferenceKind.CHAT, "with messages #1 to #2") in kinds
    assert DifferenceKind.TRACKERS in {kind for kind, _ in kinds}


LAMP_GATE = TEXTS["Gate.md"].replace("portcullis", "lamp")
OTHER_END = replace(CHAT, messages=(*CHAT.messages[:4], Message("Wren", "The tide again.", is_user=True)))
PAIRS = {
    "settings": (project_of(), project_of(scan_depth=1, max_entries=1, recursive_scan=True)),
    "notes": (project_of(), edited(Gate=LAMP_GATE, Dice=None, Ash=TEXTS["Gate.md"])),
    "moves": (project_of(), edited(Gate=None, Dice=None, **{"sea/Gate": LAMP_GATE, "sea/Dice": TEXTS["Dice.md"]})),
    "choices": (pinned("Gate"), pinned("Dice", blocks=(EntryRule("Lamp"),), context={"era": "x"})),
    "chat": (project_of(), replace(project_of(), chat=OTHER_END)),
    "switches": (project_of(**TWO_STAGE), replace(project_of(), behaviour=fixed(["all"]), seed=9)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_all_differences_together_make_the_second_run_of_the_first(name: str) -> None:
    before, after = (side(project) for project in PAIRS[name])
    assert before.context is not None
    assert after.context is not None
    context = before.context
    for difference in input_differences(before.context, after.context):
        context = difference.carry(context, after.context)
    context = replace(context, moment=replace(context.moment, clock_ms=after.context.moment.clock_ms))
    again = context.run().trace
    assert not compare(after.trace, again)
    assert again.labels == after.trace.labels
    assert list(input_differences(context, after.context)) == []


# ---- who did it -----------------------------------------------------------------------------------------------------


def test_the_setting_that_did_it_is_told_from_one_that_did_nothing() -> None:
    before, after = side(project_of()), side(project_of(max_entries=1, fuzzy_search_min_score=0.4))
    assert len(titles(before.trace)) > 1
    causes = find_causes(before, after)
    first = causes.causes[0]
    assert first.difference.sentence == "Most entries: 10 → 1"
    assert set(first.alone) == set(effects(compare(before.trace, after.trace)))
    assert not causes.unexplained
    assert not any(
        cause.does_something for cause in causes.causes[1:] if cause.difference.kind is DifferenceKind.SETTING
    )


def test_a_note_that_was_moved_and_has_more_text_takes_more_room_by_itself() -> None:
    lamp = TEXTS["Lamp.md"].replace("A brass lamp.", "A brass lamp, and a wick beside it.")
    before, after = side(project_of()), side(edited(Lamp=None, **{"sea/Lamp": lamp}))
    causes = find_causes(before, after)
    found = [cause.alone for cause in causes.causes if cause.does_something]
    assert found == [frozenset({(What.RESIZED, ("v", "sea/Lamp.md"))})]
    assert not causes.unexplained


def test_what_makes_an_entry_shorter_is_not_what_brought_it_in() -> None:
    gate = TEXTS["Gate.md"].replace("The gate is shut.", "The gate is shut, and nobody has the key. " * 20)
    one = side(project_of({"Gate.md": gate}, max_tokens_budget=5000))
    other = side(project_of({"Gate.md": gate.replace("portcullis", "lamp")}, max_tokens_budget=110))
    (came_in,) = other.trace.injections
    assert (titles(one.trace), came_in.truncated) == ([], True)
    found = doings(find_causes(one, other))
    assert {title: done for title, done in found.items() if done} == {"Gate": {(What.ENTERED, "Gate.md")}}


def test_other_rules_are_told_rule_by_rule() -> None:
    """A missing place for the content puts the built-in template in its stead (rules: deeplore-newer 1.13)."""
    before, after = (side(project_of(rules=rules, injection_template="<lore/>")) for rules in ("2.0.2", "2.6"))
    causes = find_causes(before, after)
    rules = [cause.difference for cause in causes.causes if cause.difference.kind is DifferenceKind.RULE]
    assert "Template without {{content}}: 2.0.2 → 2.6" in [each.sentence for each in rules]
    assert len(rules) == sum(bool(rule.affects) for rule in changed_rules())
    assert not any(cause.difference.title == "DeepLore's version" for cause in causes.causes)
    assert not causes.unexplained


def test_an_edit_and_a_pin_are_each_told_with_their_own() -> None:
    gate = TEXTS["Gate.md"].replace("portcullis", "lamp")
    after = replace(edited(Gate=gate), controls=ChatControls(pins=(EntryRule("Dice"),)))
    before, later = side(project_of()), side(after)
    assert "Gate" not in titles(before.trace)
    assert "Gate" in titles(later.trace)
    causes = find_causes(before, later)
    (cause,) = causes.of((What.ENTERED, ("v", "Gate.md")))
    assert cause.difference.note == ("v", "Gate.md")
    assert (What.ENTERED, ("v", "Gate.md")) in cause.alone


def test_what_needs_two_differences_is_told_of_both() -> None:
    """Gate requires Lamp, which is blocked before: it comes in with the new key and without the block only."""
    gate = "---\ntags: [lorebook]\nkeys: [{key}]\nrequires: [Lamp]\n---\nThe gate is shut.\n"
    blocks = ChatControls(blocks=(EntryRule("Lamp"),))
    before = side(replace(edited(Gate=gate.format(key="portcullis")), controls=blocks))
    after = side(edited(Gate=gate.format(key="lamp")))
    entered = (What.ENTERED, ("v", "Gate.md"))
    assert entered in effects(compare(before.trace, after.trace))
    causes = find_causes(before, after)
    found = causes.of(entered)
    assert {cause.difference.kind for cause in found} >= {DifferenceKind.NOTE, DifferenceKind.CHOICE}
    assert all(entered in cause.together and entered not in cause.alone for cause in found)
    (lamp,) = causes.of((What.ENTERED, ("v", "Lamp.md")))
    assert lamp.difference.title == "Blocks"


def test_progress_and_stopping() -> None:
    before, after = side(project_of()), side(project_of(max_entries=1))
    seen: list[Progress] = []
    causes = find_causes(before, after, on_progress=seen.append)
    assert [each.done for each in seen] == list(range(1, causes.runs + 1))
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        find_causes(before, after, token)


def test_a_run_whose_inputs_are_not_known_is_said_to_be_one() -> None:
    before = side(project_of())
    with pytest.raises(ValueError, match="not kept"):
        find_causes(replace(before, context=None), before)


def test_many_notes_are_tried_as_one_but_those_in_the_prompt_alone() -> None:
    note = "---\ntags: [lorebook]\nkeys: [{key}]\n---\n{text}\n"
    many = {f"N{place}": note.format(key=f"never{place}", text=f"old {place}") for place in range(MOST_TRIED + 10)}
    before = side(edited(**many))
    changed = {name: text.replace("old", "new") for name, text in many.items()}
    changed["N45"] = note.format(key="lamp", text="new 45")
    after = side(edited(**changed))
    causes = find_causes(before, after)
    assert len(causes.causes) <= MOST_TRIED
    (cause,) = causes.of((What.ENTERED, ("v", "N45.md")))
    assert cause.difference.title == "N45"
    assert any("other notes" in each.difference.title for each in causes.causes)


def test_two_copies_of_a_vault_are_the_same_vault() -> None:
    copy = project_of()
    index = replace(renamed(copy.index, ["copy"]), digest="copy")
    assert {entry.vault for entry in index.entries} == {"copy"}
    assert list(note_changes(copy.index, renamed(index, ["v"]))) == []


def test_a_chat_without_messages_can_be_compared() -> None:
    empty = replace(project_of(), chat=Chat())
    before, after = (
        side(empty, Generation(0)),
        side(replace(empty, controls=ChatControls(pins=(EntryRule("Gate"),))), Generation(0)),
    )
    assert find_causes(before, after).of((What.ENTERED, ("v", "Gate.md")))


# ---- other systems --------------------------------------------------------------------------------------------------

NOTES = {
    "Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp]\n---\nA brass lamp.\n",
    "Tide.md": "---\ntags: [lorebook]\nkeys: [tide]\n---\nTwice a day.\n",
    "Gate.md": "---\ntags: [lorebook]\nkeys: [gate]\n---\nIt is shut.\n",
}
NEAR, FAR = WorldInfoSettings(depth=1), WorldInfoSettings(depth=5)


def runs(project: Project, name: str, settings: Section) -> Simulator:
    simulator = Simulator(project, KINDS[name].make(settings, project.scene()))
    asyncio.run(simulator.replay())
    return simulator


def scanned(settings: Section = NEAR, project: Project | None = None, name: str = "world-info") -> RunSide:
    return side_of(runs(project or project_of(NOTES), name, settings), LAST)


def differences(before: RunSide, after: RunSide) -> list[tuple[DifferenceKind, str]]:
    assert before.context is not None
    assert after.context is not None
    return [(each.kind, each.sentence) for each in input_differences(before.context, after.context)]


def doings(causes: Causes) -> dict[str, set[tuple[What, str]]]:
    return {cause.difference.title: {(what, key[1]) for what, key in cause.alone} for cause in causes.causes}


def test_the_inputs_give_the_run_again() -> None:
    for name, settings in (("world-info", NEAR), ("hybrid", HybridSettings()), ("recap", RecapSettings())):
        made = scanned(settings, name=name)
        assert made.context is not None
        again = made.context.run().trace
        assert (again.injections, again.prompt) == (made.trace.injections, made.trace.prompt)
        assert differences(made, scanned(settings, name=name)) == []


def test_a_setting_and_what_it_does() -> None:
    """Of five messages three speak of the lamp, the gate and the tide; the newest one of the lamp."""
    before, after = scanned(NEAR), scanned(FAR)
    ((kind, sentence),) = differences(before, after)
    assert (kind, sentence) == (DifferenceKind.SETTING, "Scan depth: 1 → 5")
    causes = find_causes(before, after)
    assert doings(causes) == {"Scan depth": {(What.ENTERED, "Gate.md"), (What.ENTERED, "Tide.md")}}
    assert causes.unexplained == frozenset()


def test_each_of_several_differences_has_its_own_doing() -> None:
    after = project_of({**NOTES, "Lamp.md": NOTES["Lamp.md"].replace("lamp]", "sextant]")})
    causes = find_causes(scanned(NEAR), scanned(FAR, after))
    found = doings(causes)
    assert found["Lamp"] == {(What.LEFT, "Lamp.md")}
    assert found["Scan depth"] == {(What.ENTERED, "Gate.md"), (What.ENTERED, "Tide.md")}


def test_choices_and_messages() -> None:
    project = project_of(NOTES)
    blocked = replace(project, controls=ChatControls(blocks=(EntryRule("Lamp"),)))
    keys_alone = HybridSettings(embedder="none")
    causes = find_causes(scanned(keys_alone, project, "hybrid"), scanned(keys_alone, blocked, "hybrid"))
    assert (What.LEFT, "Lamp.md") in doings(causes)["Blocks"]
    said = (*CHAT.messages[:4], Message("Wren", "To the gate!", is_user=True))
    edited = replace(project, chat=replace(CHAT, messages=said))
    causes = find_causes(scanned(NEAR, project), scanned(NEAR, edited))
    assert doings(causes) == {"Message #4": {(What.LEFT, "Lamp.md"), (What.ENTERED, "Gate.md")}}


def test_what_earlier_turns_left() -> None:
    """The lamp rests after reply 1 of the first chat; the other one did not speak of it by then."""
    lamp = NOTES["Lamp.md"].replace("keys:", "wi_cooldown: 9\nkeys:")
    project = project_of({**NOTES, "Lamp.md": lamp})
    first = Message("Wren", "Nothing burns.", is_user=True)
    other = replace(project, chat=replace(CHAT, messages=(first, *CHAT.messages[1:])))
    causes = find_causes(scanned(NEAR, project), scanned(NEAR, other))
    assert doings(causes)["Timed effects"] == {(What.ENTERED, "Lamp.md")}
    assert doings(causes)["Message #0"] == set()


def test_two_turns() -> None:
    simulator = runs(project_of(NOTES), "world-info", NEAR)
    before, after = side_of(simulator, Generation(3)), side_of(simulator, LAST)
    found = doings(find_causes(before, after))
    assert found["Chat"] == {(What.LEFT, "Tide.md"), (What.ENTERED, "Lamp.md")}


def test_two_systems_have_no_single_difference() -> None:
    one, other = scanned(NEAR), scanned(HybridSettings(), name="hybrid")
    deeplore = Simulator(project_of(NOTES))
    asyncio.run(deeplore.replay())
    for pair in ((one, other), (one, side_of(deeplore, LAST))):
        assert not can_find(*pair)
        with pytest.raises(ValueError, match="Two systems"):
            find_causes(*pair)
    with pytest.raises(ValueError, match="not kept"):
        find_causes(one, replace(one, context=None))


def test_an_unsaved_text_is_a_difference_of_its_note() -> None:
    project = project_of(NOTES)
    simulator = runs(project, "world-info", NEAR)
    tried = Previewer(simulator, LAST)
    text = NOTES["Gate.md"].replace("gate]", "goes]")
    settings = WorldInfoSettings(depth=1, max_recursion_steps=1)
    preview = tried.preview([NoteText("v", "Gate.md", text)], settings=settings)
    before = side_of(simulator, LAST)
    after = edited_side(before, preview, "unsaved")
    found = doings(find_causes(before, after))
    assert found["Gate"] == {(What.ENTERED, "Gate.md")}
    assert len(found) == 2


def test_whole_replays() -> None:
    project = project_of(NOTES)
    one, other = (runs(project, "world-info", each) for each in (NEAR, FAR))
    assert [each.title for each in replay_differences(one, other)] == ["Scan depth"]
    window: Any = runs(project, "context-window", ContextWindowSettings())
    assert replay_differences(one, window) == ()
