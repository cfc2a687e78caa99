"""Every change that is said to bring an entry in does so when it is made for good and everything is read anew."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.domain.state import EntryRule
from lorestudio.exchange.problems import InputError
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project, demo_project, open_project
from lorestudio.studio.project.settings import Mode, with_mode
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.project_changes import edited_text, plan_change
from lorestudio.studio.tryout.why_not import Holds, WhyNot, WhyNotFinder, conclusion
from lorestudio.systems.ideas import RunPart
from lorestudio.systems.registry import KINDS, system_of
from lorestudio.systems.worldinfo.ideas import note_options
from lorestudio.trace.journey import Fate, FateState
from lorestudio.trace.model import Phase
from tests.examples import examples


def simulated(project, until=None):
    simulator = Simulator(project)
    asyncio.run(simulator.replay() if until is None else simulator.generate(until))
    return simulator


def key_of(project, title):
    return next((each.vault, each.filename) for each in project.index.entries if each.title == title)


def goes_in(trace, target):
    refs = (trace.entries[each.entry] for each in trace.injections)
    return target in {(ref.vault, ref.filename) for ref in refs}


def whole(trace, target):
    return goes_in(trace, target) and not any(
        each.truncated and trace.entries[each.entry].filename == target[1] for each in trace.injections
    )


def applied(project, change):
    """The project with the change made for good: a note's file is written and the vault is read again."""
    if change.note is not None:
        folder = project.vault_folders[project.index.vaults.index(change.note.vault)]
        path = folder / change.note.filename
        before = path.read_bytes()
        path.write_bytes(edited_text(before.decode(), change.note).encode())
        again = open_project([folder])
        path.write_bytes(before)
        return replace(project, index=again.index, vault_state=again.vault_state)
    return replace(
        project,
        settings=change.set_in(project.settings),
        controls=change.controls if change.controls is not None else project.controls,
    )


def check(project, generation, target):
    """Search, and apply every answer; what was found."""
    found = WhyNotFinder(simulated(project, generation), generation).find(target)
    for answer in found.answers:
        trace = simulated(applied(project, answer.change), generation).traces[generation]
        assert (goes_in(trace, target) is not found.keeps_out) is answer.holds.applies, answer.change.title
        if answer.holds.applies:
            diff = answer.diff.after
            assert [each.title for each in trace.injections] == [each.title for each in diff.injections]
        assert answer.holds is not Holds.UNCHECKED
    assert found.complete
    return found


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "vault"
    with_files = resource("demo", "vault")
    shutil.copytree(with_files, folder)
    builtin = demo_project()
    ours = open_project([folder], builtin.chat_path, builtin.settings_path, builtin.seed)
    return replace(ours, settings=builtin.settings)


CASES = [
    (8, "Storm Glass", {"pin"}),
    (8, "Law of the Letter", {"priority", "token_budget", "pin"}),
    (11, "Court of Weather", {"priority", "token_budget", "pin"}),
    (13, "Cinder Crown", {"context", "no_context", "field", "no_field"}),
    (17, "Hob Thistlewick", {"excludes", "block_other", "priority"}),
    (19, "The Bell Wager", {"probability"}),
    (26, "Fog Tides", {"cooldown", "constant"}),
    (26, "Walking Under", {"warmup"}),
    (19, "The Quiet Trade", {"add_key"}),
    (28, "The Stair", {"scan_depth", "own_scan_depth"}),
    (30, "The Undertow King", {"pin", "constant"}),
    (34, "Perpetua Lisle", {"requires", "pin_missing"}),
    (40, "Hat Wasps", {"unblock"}),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("message", "title", "codes"), CASES)
def test_what_is_said_of_the_demo_is_so_when_it_is_done(demo, message, title, codes):
    chat = demo.chat
    swipe = chat.messages[message].swipe
    found = check(demo, Generation(message, swipe), key_of(demo, title))

    assert codes <= {answer.change.code for answer in found.answers if answer.holds.applies}
    ranks = [answer.rank for answer in found.answers]
    assert ranks == sorted(ranks)


def test_what_holds_whatever_is_said_comes_last_and_longest_that_of_this_chat(demo):
    found = check(demo, Generation(13), key_of(demo, "Cinder Crown"))
    codes = [answer.change.code for answer in found.answers]
    assert codes[-2:] == ["constant", "pin"]
    assert [answer.change.forced for answer in found.answers[:-2]] == [False] * (len(codes) - 2)


def test_the_first_search_confirms_the_best_change_only(demo):
    simulator, target = simulated(demo, Generation(11)), key_of(demo, "Court of Weather")
    first = WhyNotFinder(simulator, Generation(11)).find(target, first=True)
    whole = WhyNotFinder(simulator, Generation(11)).find(target)
    assert (first.answers[0].change, first.answers[0].earlier) == (whole.answers[0].change, whole.answers[0].earlier)
    assert first.answers[0].holds is Holds.BOTH
    assert {answer.holds for answer in first.answers[1:]} == {Holds.UNCHECKED}
    assert first.tried < whole.tried
    assert not first.complete


@pytest.mark.parametrize(
    ("message", "title", "code", "name"),
    [(11, "Court of Weather", "token_budget", "max_tokens_budget"), (28, "The Stair", "scan_depth", "scan_depth")],
)
def test_one_less_of_a_setting_is_not_enough(demo, message, title, code, name):
    generation = Generation(message, demo.chat.messages[message].swipe)
    simulator = simulated(demo, generation)
    target = key_of(demo, title)
    found = WhyNotFinder(simulator, generation).find(target)
    answer = next(each for each in found.answers if each.change.code == code)

    less = replace(demo, settings=demo.settings.model_copy(update={name: answer.change.settings[name] - 1}))

    assert not whole(simulated(less, generation).traces[generation], target)


def test_one_step_less_of_a_priority_is_not_enough(demo):
    target = key_of(demo, "Court of Weather")
    generation = Generation(11)
    found = WhyNotFinder(simulated(demo, generation), generation).find(target)
    answer = next(each for each in found.answers if each.change.code == "priority")

    edit = replace(answer.change.note, value=answer.change.note.value + 1)
    less = applied(demo, replace(answer.change, note=edit))

    assert not goes_in(simulated(less, generation).traces[generation], target)


def test_a_cooldown_ends_only_from_the_injection_before_on(demo):
    found = check(demo, Generation(26), key_of(demo, "Fog Tides"))

    assert {answer.change.code: answer.holds for answer in found.answers}["cooldown"] is Holds.REPLAY_ONLY


def test_a_note_that_is_switched_off_is_switched_on(tmp_path):
    (tmp_path / "Lamp.md").write_text(
        "---\ntags: [lorebook]\nkeys: [lamp]\nenabled: false\n---\nBrass.\n", encoding="utf-8"
    )
    project = replace(open_project([tmp_path]), chat=Chat((Message("U", "The lamp!", is_user=True),), "U", "Ann"))

    found = check(project, Generation(1), (tmp_path.name, "Lamp.md"))

    assert found.fate is None
    assert [(answer.change.code, answer.change.part) for answer in found.answers] == [("enable", RunPart.NOTE)]


def test_a_change_that_works_now_and_not_after_a_replay_says_so(tmp_path):
    """With its key it goes in one reply earlier already, and rests by now."""
    (tmp_path / "Lamp.md").write_text(
        "---\ntags: [lorebook]\nkeys: [nothing]\ncooldown: 2\n---\nA lantern of brass.\n", encoding="utf-8"
    )
    messages = (
        Message("U", "A lantern.", is_user=True), Message("Ann", "The lantern burns."),
        Message("U", "Yes, the lantern.", is_user=True), Message("Ann", "So."),
    )  # fmt: skip
    project = replace(open_project([tmp_path]), chat=Chat((Message("Ann", "Hello."), *messages), "U", "Ann"))

    found = check(project, Generation(4), (tmp_path.name, "Lamp.md"))

    held = {answer.change.title: answer for answer in found.answers}
    lantern = held["Add the key “lantern” to “Lamp”"]
    assert lantern.holds is Holds.REPLY_ONLY
    assert "cooldown" in lantern.stopped
    assert found.answers[-1].holds is Holds.REPLY_ONLY
    once = sum(answer.holds is Holds.REPLY_ONLY for answer in found.answers)
    told = "1 more works" if once == 1 else f"{once} more work"
    assert conclusion(found).endswith(f" of the engine. {told} in this reply alone.")
    alone = replace(found, answers=[answer for answer in found.answers if not answer.holds.applies])
    does = "1 change does" if once == 1 else f"{once} changes do"
    assert conclusion(alone).startswith(f"Over the whole chat no change brings “Lamp” in; {does} in this reply alone")


def test_what_is_not_enough_says_what_stops_it_then(demo):
    found = check(demo, Generation(8), key_of(demo, "Storm Glass"))

    further = {each.change.code: each.fate.reason for each in found.further}
    assert further["drop_refine_keys"] == "behind_cut"
    assert "drop_refine_keys" not in {answer.change.code for answer in found.answers}


@pytest.mark.parametrize(
    ("system", "title"), [("hybrid", "The Founding of the Post"), ("world-info", "The Long Flood")]
)
def test_another_objection_of_the_same_stage_is_no_step_forward(demo, system, title):
    """A threshold so high that the entry itself fails, or another round of keys: nothing comes behind either."""
    simulator = Simulator(demo, system_of(demo.scene(), KINDS[system]))
    asyncio.run(simulator.replay())
    generation = simulator.shown(11 if system == "hybrid" else 28)
    found = WhyNotFinder(simulator, generation).find(key_of(demo, title))
    assert found.answers
    assert [each.change.title for each in found.further if each.fate.stage.startswith(found.fate.stage[:4])] == []


def test_a_model_s_new_answer_is_not_made_up(demo):
    """Recorded answers know nothing of a changed question: such changes are counted and never said to work."""
    project = with_mode(demo, Mode.TWO_STAGE)
    generation = Generation(8)
    simulator = simulated(project, generation)
    provider = type("Provider", (), {"name": "someone", "label": "someone"})()
    simulator.system = replace(simulator.system, answers=provider)
    left = next(
        each.entry for each in simulator.traces[generation].stage("AI selection").verdicts if each.outcome == "removed"
    )
    entry = simulator.project.index.entries[left]

    found = WhyNotFinder(simulator, generation).find((entry.vault, entry.filename))

    assert {answer.change.code for answer in found.answers} <= {"pin", "mode", "constant"}
    assert "pin" in {answer.change.code for answer in found.answers}


def test_progress_is_told_and_a_search_can_be_stopped(demo):
    simulator = simulated(demo, Generation(8))
    target = key_of(demo, "Law of the Letter")
    news, token = [], CancelToken()
    found = WhyNotFinder(simulator, Generation(8)).find(target, news.append)

    assert [each.done for each in news] == list(range(len(news)))
    assert news[-1].total == len(news)
    assert news[-1].found.tried <= found.tried

    def stop(each):
        if each.done == 1:
            token.cancel()

    with pytest.raises(Cancelled):
        WhyNotFinder(simulator, Generation(8)).find(target, stop, token)


def test_a_note_that_is_not_there_is_said_to_be_missing(demo):
    with pytest.raises(InputError, match="no such note"):
        WhyNotFinder(simulated(demo, Generation(2)), Generation(2)).find(("vault", "nowhere.md"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("message", "title", "codes"),
    [
        (8, "The Brume", {"constant", "disable", "block"}),
        (8, "Wren's Satchel", {"unpin", "block", "disable"}),
        (6, "Law of the Letter", {"drop_key", "block", "disable", "priority"}),
        (21, "Lantern Moth", {"recursion", "drop_key", "block", "disable"}),
    ],
)
def test_what_keeps_an_entry_out_that_went_in(demo, message, title, codes):
    found = check(demo, Generation(message, demo.chat.messages[message].swipe), key_of(demo, title))

    assert found.keeps_out
    assert codes - {"priority"} <= {answer.change.code for answer in found.answers if answer.holds.applies}


PROPERTIES = st.lists(
    st.sampled_from([
        "keys: [lamp]", "keys: [crown, gate]", "refine_keys: [storm]", "requires: [B]", "excludes: [A]",
        "constant: true", "priority: 1", "priority: 0", "probability: 0.5", "probability: 0", "enabled: false",
        "scanDepth: 1", "warmup: 2", "cooldown: 2", "era: old", "location: [here, there]",
    ]),
    unique_by=lambda line: line.partition(":")[0],
    max_size=4,
)  # fmt: skip
NOTES = st.lists(
    st.tuples(PROPERTIES, st.sampled_from(["A lamp.", "The crown of [[A]].", "Gate and storm. " * 30])),
    min_size=2,
    max_size=4,
)
LINES = st.lists(
    st.sampled_from(["The lamp burns.", "A crown!", "The gate is shut.", "Storm.", "Nothing.", "lamp and crown"]),
    min_size=3,
    max_size=5,
)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    notes=NOTES,
    lines=LINES,
    values=st.fixed_dictionaries({
        "max_tokens_budget": st.sampled_from([100, 130, 2000]),
        "max_entries": st.sampled_from([1, 2, 10]),
        "scan_depth": st.sampled_from([1, 2, 4]),
        "reinjection_cooldown": st.sampled_from([0, 0, 2]),
        "recursive_scan": st.booleans(),
    }),
    blocked=st.booleans(),
    era=st.sampled_from(["", "new"]),
    pick=st.integers(0, 3),
)  # fmt: skip
def test_every_answer_holds_in_vaults_of_any_kind(tmp_path_factory, notes, lines, values, blocked, era, pick):
    folder = tmp_path_factory.mktemp("vault")
    for letter, (front, body) in zip("ABCD", notes, strict=False):
        text = "---\ntags: [lorebook]\n" + "\n".join([*front, "---", f"# {letter}", body, ""])
        (folder / f"{letter}.md").write_text(text, encoding="utf-8")
    project = open_project([folder])
    messages = tuple(Message("U" if place % 2 else "Ann", line, place % 2 == 1) for place, line in enumerate(lines))
    project = replace(
        project,
        settings=project.settings.model_copy(update=values),
        chat=Chat(messages, "U", "Ann"),
        controls=replace(
            project.controls, blocks=(EntryRule("A"),) if blocked else (), context={"era": era} if era else {}
        ),
        seed=7,
    )
    filename = f"{'ABCD'[pick % len(notes)]}.md"

    check(project, Generation(len(messages)), (folder.name, filename))


# ---- whatever the system ---------------------------------------------------------------------------------------------


WRITTEN = {
    "Lamp": ("keys: [lamp]", "The lamp is of brass, and burns all night without oil."),
    "Bell": ("keys: [bell]\npriority: 5", "The bell rings at four."),
    "Kept": ("keys: [lamp]\ncw_lock: true", "Somebody keeps this from you."),
    "Guide": ("tags: [lorebook, lorebook-guide]", "Write well."),
    "Oath": ("keys: [lamp]\ncw_requires: [Nobody]", "They swore it."),
}
TALK = [
    ("Wren", True, "A bell, once."),
    ("Ann", False, "It rang."),
    ("Wren", True, "Hold the lamp."),
    ("Ann", False, "Yes."),
]


@pytest.fixture
def folder_project(tmp_path: Path) -> Project:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, (front, text) in WRITTEN.items():
        head = front if "tags" in front else f"tags: [lorebook]\n{front}"
        (vault / f"{name}.md").write_text(f"---\n{head}\n---\n{text}\n", encoding="utf-8")
    chat = tmp_path / "chat.jsonl"
    lines: list[dict[str, Any]] = [{"user_name": "Wren", "character_name": "Ann", "chat_metadata": {}}]
    lines += [{"name": name, "is_user": user, "mes": text} for name, user, text in TALK]
    chat.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return open_project([vault], chat)


def searched(folder_project: Project, system: str, note: str, settings: Section, message: int = 3) -> WhyNot:
    kind = KINDS[system]
    simulator = Simulator(folder_project, system_of(folder_project.scene(), kind, settings))
    asyncio.run(simulator.replay())
    finder = WhyNotFinder(simulator, Generation(message))
    return finder.find((folder_project.index.vaults[0], note))


def by_code(found: WhyNot) -> dict[str, str]:
    return {answer.change.code: answer.change.title for answer in found.answers if answer.holds.applies}


def set_by(found: WhyNot) -> dict[str, object]:
    return {name: value for answer in found.answers for name, value in answer.change.settings.items()}


def test_the_least_budget_that_lets_an_entry_in(folder_project: Project) -> None:
    """The lamp takes 14 tokens (54 characters); without the conversation the budget has to have 14."""
    settings = ContextWindowSettings(total_token_budget=8, with_conversation=False)
    found = searched(folder_project, "context-window", "Lamp.md", settings)
    assert found.fate is not None
    assert found.fate.reason == "cw_no_room"
    assert set_by(found)["total_token_budget"] == 14
    assert all(answer.holds is Holds.BOTH for answer in found.answers)
    assert "would" not in conclusion(found)


def test_what_the_chat_says_further_up_is_reached_by_looking_at_more_messages(folder_project: Project) -> None:
    found = searched(folder_project, "context-window", "Bell.md", ContextWindowSettings())
    assert set_by(found)["scanned_messages"] == 3
    assert set_by(found)["fill_mode"] is True
    assert not any(answer.change.note is not None and answer.change.note.add for answer in found.answers)  # of others


def test_properties_of_the_context_window_that_keep_a_note_out(folder_project: Project) -> None:
    locked = searched(folder_project, "context-window", "Kept.md", ContextWindowSettings())
    assert by_code(locked)["drop_property"] == "Take cw_lock from “Kept”"
    lacking = searched(folder_project, "context-window", "Oath.md", ContextWindowSettings())
    assert by_code(lacking)["drop_property"] == "Take cw_requires from “Oath”"


def test_the_threshold_of_hybrid_retrieval(folder_project: Project) -> None:
    found = searched(folder_project, "hybrid", "Lamp.md", HybridSettings(semantic_threshold=1.5))
    assert found.fate is not None
    assert found.fate.reason == "hy_below"
    score = found.fate.details["score"]
    threshold = set_by(found)["semantic_threshold"]
    assert isinstance(score, float)
    assert isinstance(threshold, float)
    assert score - 0.011 < threshold <= score


def test_a_block_is_taken_away_or_put_on(folder_project: Project) -> None:
    went_in = searched(folder_project, "world-info", "Lamp.md", WorldInfoSettings())
    assert went_in.keeps_out
    assert by_code(went_in)["block"] == "Block “Lamp” in this chat"
    assert by_code(went_in)["drop_key"] == "Take the key “lamp” from “Lamp”"


def test_world_info_by_its_scan_depth(folder_project: Project) -> None:
    found = searched(folder_project, "world-info", "Bell.md", WorldInfoSettings(depth=1))
    assert set_by(found)["depth"] == 3


@pytest.mark.parametrize(
    ("front", "reason", "code", "title"),
    [
        ("wi_disable: true", "wi_disabled", "enable", "Switch “Lamp” on"),
        ("probability: 0", "wi_lost", "probability", "Raise the probability of “Lamp” to {least} %"),
        ("wi_probability: 0.5", "wi_lost", "probability", "Raise the probability of “Lamp” to {least} %"),
        ("wi_delay: 9", "wi_delay", "drop_property", "Take wi_delay from “Lamp”"),
        ("wi_group: light\nwi_group_weight: 0", "wi_group_lost", "group_priority", "Give “Lamp” priority in its group"),
        ("wi_group: light\nwi_group_weight: 0", "wi_group_lost", "drop_property", "Take wi_group from “Lamp”"),
    ],
)
def test_what_a_note_says_to_world_info_is_tried(
    folder_project: Project, front: str, reason: str, code: str, title: str
) -> None:
    folder = folder_project.vault_folders[0]
    assert folder is not None
    (folder / "Lamp.md").write_text(f"---\ntags: [lorebook]\nkeys: [lamp]\n{front}\n---\nBrass.\n", encoding="utf-8")
    (folder / "Kept.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\nwi_group: light\n---\nA.\n", encoding="utf-8")
    project = replace(open_project([folder]), chat=folder_project.chat)
    found = searched(project, "world-info", "Lamp.md", WorldInfoSettings())
    assert found.fate is not None
    assert found.fate.reason == reason
    least = math.ceil(float(str(found.fate.details.get("roll", 0))))
    assert title.format(least=least) in [answer.change.title for answer in found.answers if answer.change.code == code]


def test_a_read_only_entry_is_tried_out_where_its_file_is(folder_project: Project, tmp_path: Path) -> None:
    book = tmp_path / "book.json"
    entry = {"uid": 0, "key": ["lamp"], "position": 0, "content": "Old.", "comment": "Oil", "disable": True}
    book.write_text(json.dumps({"entries": {"0": entry}}))
    project = replace(open_project([book]), chat=folder_project.chat, read_only=True)
    simulator = Simulator(project, system_of(project.scene(), KINDS["world-info"], WorldInfoSettings()))
    asyncio.run(simulator.replay())
    found = WhyNotFinder(simulator, Generation(3)).find(("book", "uid 0"))
    assert [answer.change.title for answer in found.answers] == ["Switch “Oil” on"]
    book.unlink()
    found = WhyNotFinder(simulator, Generation(3)).find(("book", "uid 0"))
    assert conclusion(found).endswith("Nothing was tried in the entry itself.")


BOOK_ENTRIES: dict[str, tuple[dict[str, Any], str, str]] = {
    "no key": ({"key": ["oil"], "content": "The flame."}, "wi_no_key", "Add the key “flame” to “It”"),
    "keyless": ({"key": [], "content": "The flame."}, "wi_keyless", "Add the key “flame” to “It”"),
    "secondary": ({"selective": True, "keysecondary": ["night"]}, "wi_secondary", "Take the secondary keys from “It”"),
    "logic": ({"selective": True, "keysecondary": ["lamp"], "selectiveLogic": 2}, "wi_secondary",
              "Take the logic from “It”"),
    "off": ({"disable": True}, "wi_disabled", "Switch “It” on"),
    "lots": ({"probability": 0, "useProbability": True}, "wi_lost", "Raise the probability of “It” to {least} %"),
    "name": ({"characterFilter": {"isExclude": False, "names": ["Nobody"], "tags": []}}, "wi_character",
             "Take the characters from “It”"),
    "kinds": ({"triggers": ["quiet"]}, "wi_trigger", "Take the triggers from “It”"),
    "delay": ({"delay": 99}, "wi_delay", "Take the delay from “It”"),
    "group": ({"group": "light", "groupWeight": 1}, "wi_group_lost", "Give “It” priority in its group"),
    "group too": ({"group": "light", "groupWeight": 1}, "wi_group_lost", "Take the group from “It”"),
    "level": ({"delayUntilRecursion": 1}, "wi_only_recursion", "Take “recursion level” from “It”"),
    "depth": ({"scanDepth": 0, "excludeRecursion": True}, "wi_no_depth", "Take the scan depth from “It”"),
    "order": ({"order": 1, "content": "flame " * 60}, "wi_over_budget", "Raise the order of “It” to 101"),
}  # fmt: skip


QUICK = ("no key", "secondary", "name", "order")


def book_project(tmp_path: Path, chat: Chat | None, entry: dict[str, Any]) -> Project:
    """A lorebook of three entries in the place of a vault; the one called “It” is as said."""
    raws = [
        {"uid": 0, "comment": "Other", "key": ["lamp"], "content": "Dear. " * 20, "order": 100, "position": 0},
        {"uid": 1, "comment": "It", "key": ["lamp"], "content": "Old.", "order": 50, "position": 0, **entry},
        {"uid": 2, "comment": "Group", "key": [], "content": "Light.", "constant": True, "group": "light",
         "groupWeight": 10**9, "order": 1, "position": 0},
    ]  # fmt: skip
    book = tmp_path / "book.json"
    book.write_text(json.dumps({"entries": {str(raw["uid"]): raw for raw in raws}}))
    return replace(open_project([book]), chat=chat)


@pytest.mark.parametrize(
    "case", [each if each in QUICK else pytest.param(each, marks=pytest.mark.long) for each in BOOK_ENTRIES]
)
def test_what_a_lorebooks_entry_says_is_tried_and_written_into_its_book(tmp_path: Path, case: str) -> None:
    entry, reason, title = BOOK_ENTRIES[case]
    said = "The lamp burns with a flame."
    chat = Chat(messages=(Message("Ann", said, is_user=True), Message("Bea", "It does.")))
    project, target, reply = book_project(tmp_path, chat, entry), ("book", "uid 1"), Generation(1)
    used = WorldInfoSettings(budget_cap=100 if reason == "wi_over_budget" else 0, recursive=case != "level")

    def run(project: Project) -> Simulator:
        simulator = Simulator(project, system_of(project.scene(), KINDS["world-info"], used))
        asyncio.run(simulator.generate(reply))
        return simulator

    found = WhyNotFinder(run(project), reply).find(target)
    assert found.fate is not None
    assert found.fate.reason == reason
    least = math.ceil(float(str(found.fate.details.get("roll", 0))))
    answer = next(each for each in found.answers if each.change.title == title.format(least=least))
    assert answer.holds.applies
    path = project.note_path(*target)
    assert path is not None
    planned = plan_change((), path, answer.change)
    assert planned.changes.title == answer.change.title
    (written,) = planned.changes.changes
    assert written.path == tmp_path / "book.json"
    assert written.after is not None
    written.path.write_text(written.after, "utf-8")
    assert goes_in(run(project.with_books_reread()).traces[reply], target)


def test_only_the_system_that_scans_lorebooks_has_their_entries_changed(tmp_path: Path) -> None:
    chat = Chat(messages=(Message("Ann", "The lamp.", is_user=True), Message("Bea", "Yes.")))
    project = book_project(tmp_path, chat, {"key": ["oil"]})
    simulator = Simulator(project, system_of(project.scene(), KINDS["deeplore"], project.settings))
    asyncio.run(simulator.generate(Generation(1)))
    assert WhyNotFinder(simulator, Generation(1)).find(("book", "uid 1")).untouched


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("priority: 900", "Lower the priority of “Lamp” to 49"),
        ("wi_order: 3", "Raise the order of “Lamp” to 951"),
        ("priority: 900\nwi_group: g", "Lower the priority of “Lamp” to 49"),
    ],
)
def test_a_note_behind_the_budget_goes_forward_by_what_it_says(folder_project: Project, front: str, title: str) -> None:
    folder = folder_project.vault_folders[0]
    assert folder is not None
    text = "---\ntags: [lorebook]\nkeys: [lamp]\n{front}\n---\n{text}\n"
    (folder / "Lamp.md").write_text(text.format(front=front, text="Brass. " * 20), encoding="utf-8")
    (folder / "Kept.md").write_text(text.format(front="priority: 50", text="Kept. " * 20), encoding="utf-8")
    project = replace(open_project([folder]), chat=folder_project.chat)
    found = searched(project, "world-info", "Lamp.md", WorldInfoSettings(budget_cap=60))
    assert found.fate is not None
    assert found.fate.reason == "wi_over_budget"
    assert [answer.change.title for answer in found.answers if answer.change.code == "order"] == [title]


def test_an_order_that_no_priority_says_is_said_as_such(folder_project: Project) -> None:
    entries = [
        replace(each, priority=999) if each.title == "Lamp" else replace(each, system_fields={"wi_order": 1005})
        for each in folder_project.index.entries
    ]
    lamp = next(each for each in entries if each.title == "Lamp")
    fate = Fate(lamp.id, FateState.REMOVED, "budget", Phase.BUDGET, "wi_over_budget")
    (option,) = note_options(lamp, fate, entries, in_book=False)
    changes = [option.steps[place] for place in (0, 997, 998, -1)]
    notes = [change.note for change in changes if change.note is not None]
    wanted = [("priority", 998), ("priority", 1), ("wi_order", 1000), ("wi_order", 1006)]
    assert [(each.name, each.value) for each in notes] == wanted


def test_what_is_no_entry_and_stopping(folder_project: Project) -> None:
    with pytest.raises(InputError, match="no such entry"):
        searched(folder_project, "hybrid", "Nothing.md", HybridSettings())
    kind, settings = KINDS["hybrid"], HybridSettings(semantic_threshold=1.5)
    simulator = Simulator(folder_project, system_of(folder_project.scene(), kind, settings))
    with pytest.raises(ValueError, match="not been run"):
        WhyNotFinder(simulator, Generation(3))
    asyncio.run(simulator.replay())
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        WhyNotFinder(simulator, Generation(3)).find((folder_project.index.vaults[0], "Lamp.md"), cancel=token)


def test_an_entry_of_a_lorebook_file(folder_project: Project, tmp_path: Path) -> None:
    book = tmp_path / "book.json"
    book.write_text(
        json.dumps({"entries": {"0": {"uid": 0, "key": ["bell"], "position": 0, "content": "Old.", "comment": "Oil"}}})
    )
    kind, settings = KINDS["world-info"], WorldInfoSettings(book=str(book), depth=3)
    simulator = Simulator(folder_project, system_of(folder_project.scene(), kind, settings))
    asyncio.run(simulator.replay())
    ref = next(iter(simulator.traces[Generation(3)].entries.values()))
    found = WhyNotFinder(simulator, Generation(3)).find((ref.vault, ref.filename))
    assert found.keeps_out
    assert set_by(found)["depth"] == 2


@pytest.mark.parametrize("system", ["facts", "recap"])
def test_a_system_that_looks_at_no_notes_says_so(folder_project: Project, system: str) -> None:
    found = searched(folder_project, system, "Lamp.md", KINDS[system].settings())
    assert (found.complete, found.tried, found.answers) == (True, 0, ())
    assert "notes of the vault take no part. Choose a system that looks at notes" in conclusion(found)


def test_where_nothing_helps_the_run_itself_says_why(folder_project: Project) -> None:
    """A guide is no lore in any system, whatever is set."""
    found = searched(folder_project, "hybrid", "Guide.md", HybridSettings())
    assert found.answers == ()
    assert conclusion(found).startswith("No change that was tried brings “Guide” in, by ")
    assert found.fate is not None
    words = found.fate.explain(found.trace)
    assert conclusion(found).endswith(f" of the engine. {words.fix}")
    assert words.sentence not in conclusion(found), "that stands above"
