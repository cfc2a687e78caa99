"""Everything that resources/demo/STORY.md promises really happens; rows are named after the reply, #0 being first."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, NoteProblem, Position
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.studio.chat.editing import choose_swipe
from lorestudio.studio.project.problems import ProblemFinder
from lorestudio.studio.project.project import DEMO_SEED, Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.model import Injection, Outcome, StageStatus, Trace, Verdict
from lorestudio.vault.lint.model import Severity

ALWAYS = ("The Brume", "Ottoline Quay", "Wren's Satchel", "House Style", "Spoken Numbers")
CUT = {"over_budget", "behind_cut", "over_entry_cap"}
STORY = resource("demo", "STORY.md").read_text(encoding="utf-8")


class Reply:
    """A trace, asked by title."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.injected = [injection.title for injection in trace.injections]

    def __contains__(self, title: str) -> bool:
        return title in self.injected

    def injection(self, title: str) -> Injection:
        return next(injection for injection in self.trace.injections if injection.title == title)

    def verdicts(self, title: str) -> list[tuple[str, Verdict]]:
        ids = {entry_id for entry_id, entry in self.trace.entries.items() if entry.title == title}
        return [(record.name, v) for record in self.trace.stages for v in record.verdicts if v.entry in ids]

    def details(self, title: str, reason: str) -> Mapping[str, Any]:
        """Details of the entry's verdict with this reason; fails where there is none."""
        found = [verdict.details for _, verdict in self.verdicts(title) if verdict.reason == reason]
        assert found, f"{title}: no {reason}, but {[verdict.reason for _, verdict in self.verdicts(title)]}"
        return found[0]

    def came_by(self, title: str) -> str:
        """The reason by which the entry became a candidate first, "" where it never did."""
        added = [verdict.reason for _, verdict in self.verdicts(title) if verdict.outcome is Outcome.ADDED]
        return added[0] if added else ""

    def with_reason(self, *reasons: str) -> list[str]:
        return [
            self.trace.entries[verdict.entry].title
            for record in self.trace.stages
            for verdict in record.verdicts
            if verdict.reason in reasons
        ]


Ask = Callable[[int], Reply]


@pytest.fixture(scope="module")
def at(replayed: Simulator) -> Ask:
    """The reply with this number, in its active swipe."""

    def ask(number: int) -> Reply:
        generation = replayed.shown(number)
        assert generation is not None, f"message #{number} is no reply"
        return Reply(replayed.traces[generation])

    return ask


def with_swipe(demo: Project, message: int, swipe: int, reply: int) -> Reply:
    """A reply of the chat in which another swipe of an earlier message is active."""
    assert demo.chat is not None
    simulator = Simulator(replace(demo, chat=choose_swipe(demo.chat, message, swipe - 1)))
    return Reply(asyncio.run(simulator.generate(Generation(reply))))


def entry(project: Project, title: str) -> Entry:
    return next(entry for entry in project.index.entries if entry.title == title)


def text_of(demo: Project, numbers: Iterable[int]) -> str:
    assert demo.chat is not None
    return " ".join(demo.chat.messages[number].text for number in numbers)


# ---- the demo as a whole ---------------------------------------------------------------------------------------------


def test_every_row_of_the_story_names_replies(demo: Project) -> None:
    rows = re.findall(r"^\| (#\d[^|]*) \|", STORY, re.MULTILINE)
    assert rows == [
        *("#2", "#4", "#6", "#8", "#11", "#13", "#15", "#17, #19", "#19, #21", "#21", "#24", "#26"),
        *("#28", "#30", "#32", "#34", "#36, #38", "#40, #42"),
        *("#42, #44", "#44 to #48", "#44, #46", "#48"),
    ], "a row was added or changed: test what it says below"
    assert demo.chat is not None
    numbers = {int(number) for row in rows for number in re.findall(r"\d+", row)}
    assert numbers <= set(demo.chat.replies)


def test_every_number_in_the_story_is_a_message_as_sillytavern_counts(demo: Project) -> None:
    assert demo.chat is not None
    assert not re.findall(r"(?:message|reply|replies|at|to) \d+", STORY, re.IGNORECASE)
    numbers = {int(number) for number in re.findall(r"#(\d+)", STORY)}
    assert min(numbers) == 0
    assert max(numbers) == len(demo.chat.messages) - 1


def test_every_title_in_the_story_is_a_note_of_a_vault(demo: Project) -> None:
    words = set(re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", STORY))
    workshop = open_project([resource("demo", "workshop")])
    titles = {entry.title for each in (demo, workshop) for entry in each.index.entries} | {
        note.filename.rpartition("/")[2].removesuffix(".md") for note in demo.index.left_out
    }
    fields_and_keys = {"tide", "danger", "glass"}
    assert words - titles - fields_and_keys == {"Wreck"}  # short for the long title that stands in the table


def test_the_vault_of_the_demo_holds_its_notes_and_their_fields_alone() -> None:
    """What is written into it while the program is tried does not come with it."""
    vault = resource("demo", "vault")
    others = [
        path.relative_to(vault).as_posix() for path in vault.rglob("*") if path.is_file() and path.suffix != ".md"
    ]
    assert others == ["DeepLore/field-definitions.yaml"]


def test_size_and_quiet(demo: Project, replayed: Simulator) -> None:
    assert demo.chat is not None
    assert len(demo.index.entries) >= 60
    assert len(demo.chat.messages) >= 40
    assert demo.problems == ()
    for trace in replayed.traces.values():
        assert trace.outcome.value == "injected"
        assert not [record.name for record in trace.stages if record.status is StageStatus.FAILED]


def test_always_there(replayed: Simulator) -> None:
    for trace in replayed.traces.values():
        reply = Reply(trace)
        assert set(ALWAYS) <= set(reply.injected)
        assert reply.came_by("The Brume") == reply.came_by("House Style") == "constant"
        assert reply.injection("The Brume").position == Position.BEFORE
        assert {v.reason for _, v in reply.verdicts("Wren's Satchel")} & {"pinned", "pin_upgraded"}
        outlets = [block.tag for block in trace.prompt if block.position == Position.OUTLET]
        assert outlets == ["customWIOutlet_style"]
        counted = next(limit.used for limit in trace.limits if limit.unit == "tokens")
        assert trace.total_tokens - counted == sum(
            reply.injection(title).tokens for title in ("House Style", "Spoken Numbers")
        )
        assert "Guide to Voices" in reply.with_reason("guide_hidden")


def test_the_active_character_comes_without_a_key(demo: Project) -> None:
    assert demo.chat is not None
    silent = (replace(message, name="Someone", text="Hm.", is_user=True) for message in demo.chat.messages[:4])
    chat = replace(demo.chat, messages=(*silent, *demo.chat.messages[4:]))
    simulator = Simulator(replace(demo, chat=chat))
    reply = Reply(asyncio.run(simulator.generate(Generation(4))))
    assert reply.came_by("Ottoline Quay") == "active_character"


# ---- row by row ------------------------------------------------------------------------------------------------------


def test_reply_2_bootstrap_seed_and_recursion(at: Ask, demo: Project) -> None:
    reply = at(2)
    assert reply.details("First Morning", "bootstrap") == {"threshold": 3, "chat_length": 2}
    assert not re.search("first (morning|day)", text_of(demo, [0, 1]).lower())
    assert entry(demo, "What Everyone Knows").seed
    assert reply.details("What Everyone Knows", "key_hit")["key"] == "everyone knows"
    assert reply.details("Tallow Crown", "recursion")["source"] == "First Morning"
    assert "tallow crown" not in text_of(demo, [0, 1]).lower()
    assert {"First Morning", "What Everyone Knows", "Tallow Crown"} <= set(reply.injected)


def test_reply_2_two_swipes_saw_the_same(replayed: Simulator) -> None:
    first, second = (replayed.traces[Generation(2, swipe)] for swipe in (0, 1))
    assert first.injections == second.injections
    assert first.facts["regenerated"]


def test_reply_4_the_bootstrap_is_gone(at: Ask) -> None:
    reply = at(4)
    assert "First Morning" not in reply
    bootstrap = reply.trace.stage("bootstrap")
    assert bootstrap is not None
    assert bootstrap.note == "not_bootstrapping"
    assert {"The Post House", "What Everyone Knows"} <= set(reply.injected)


def test_reply_4_after_the_other_swipe(demo: Project) -> None:
    reply = with_swipe(demo, 2, 2, 4)
    assert reply.came_by("Barnaby Tolliver") == "key_hit"
    assert reply.details("The Winch Road", "cascade")["source"] == "Barnaby Tolliver"
    assert {"Barnaby Tolliver", "The Winch Road"} <= set(reply.injected)
    assert set(reply.with_reason(*CUT)) == {"The Post House", "What Everyone Knows"}


def test_reply_6_refine_key_blocked_and_depth(at: Ask) -> None:
    reply = at(6)
    assert reply.details("Storm Glass", "refine_blocked")["key"] == "glass"
    assert "storm" in reply.details("Storm Glass", "refine_blocked")["refine_keys"]
    law = reply.injection("Law of the Letter")
    assert (law.position, law.depth) == (Position.IN_CHAT, 2)


def test_reply_8_truncated_and_cut(at: Ask) -> None:
    reply = at(8)
    assert not reply.injection("The Long Flood").truncated
    wreck = reply.injection("Wreck of the Patient Margaret")
    assert wreck.truncated
    assert wreck.original_tokens is not None
    assert wreck.tokens < wreck.original_tokens
    text = next(block.text for block in reply.trace.prompt if "<Wreck of the Patient Margaret>" in block.text)
    assert re.search(r"[.!?][\"”)*]?\s*</Wreck of the Patient Margaret>", text)
    assert set(reply.with_reason("behind_cut")) == {
        "Law of the Letter",
        "Aldous Pym",
        "Dead Letter Office",
        "Hollin in the Songs",
    }


def test_reply_11_gates_and_the_hidden_message(at: Ask, demo: Project) -> None:
    reply = at(11)
    for title in ("Order of the Ninth Bell", "The Founding of the Post"):
        gate = reply.details(title, "gated_field")
        assert (gate["field"], gate["context_value"]) == ("era", "after the flood")
    assert reply.details("Ysolde Marrack", "gated_field")["field"] == "character_present"
    assert "Court of Weather" in reply.with_reason(*CUT)
    assert demo.chat is not None
    hidden = demo.chat.messages[9]
    assert hidden.is_system
    assert "brumewhale" in hidden.text
    assert reply.verdicts("Brumewhale") == []


def test_reply_13_refine_key_met_and_gates(at: Ask) -> None:
    reply = at(13)
    assert reply.details("Storm Glass", "key_hit")["refine_key"] == "storm"
    assert "Storm Glass" in reply
    assert reply.details("Cinder Crown", "gated_field")["field"] == "location"
    assert reply.details("Whisper Weir", "gated_field")["field"] == "tide"


def test_reply_15_recursion_and_entry_cap(at: Ask) -> None:
    reply = at(15)
    assert "Hob Thistlewick" in reply
    assert reply.details("Lift-Salt", "recursion")["source"] == "Hob Thistlewick"
    assert reply.with_reason("over_entry_cap") == ["The Slack Tide", "Mina Cork"]


@pytest.mark.parametrize("number", [17, 19])
def test_replies_17_and_19_excludes(at: Ask, number: int, demo: Project) -> None:
    reply = at(number)
    assert list(reply.details("Hob Thistlewick", "excluded_by")["titles"]) == ["Captain Ingram Vane"]
    assert "Captain Ingram Vane" in reply
    captain, hob = entry(demo, "Captain Ingram Vane"), entry(demo, "Hob Thistlewick")
    assert captain.priority < hob.priority
    assert (captain.excludes, hob.excludes) == (("Hob Thistlewick",), ("Captain Ingram Vane",))


def test_replies_19_and_21_probability(at: Ask) -> None:
    lost = at(19).details("The Bell Wager", "probability_lost")
    assert lost["probability"] == 0.5
    assert lost["roll"] > 0.5
    assert at(19).trace.draws == (lost["roll"],)
    assert "The Bell Wager" not in at(19)
    assert "The Bell Wager" in at(21)
    assert at(21).trace.draws[0] <= 0.5


def test_reply_21_recursion(at: Ask, demo: Project) -> None:
    assert at(21).details("Lantern Moth", "recursion")["source"] == "Honey Lamp"
    assert "lantern moth" not in text_of(demo, range(21)).lower()


def test_reply_24_cooldown_starts_and_the_narrator_calls_nothing(at: Ask, demo: Project) -> None:
    reply = at(24)
    assert reply.details("Fog Tides", "key_hit")["key"] == "ebb"
    assert "Fog Tides" in reply
    assert entry(demo, "Fog Tides").cooldown == 3
    assert demo.chat is not None
    narrator = demo.chat.messages[23]
    assert narrator.extra["type"] == "narrator"
    assert all(word in narrator.text for word in ("four bells", "heron"))
    assert reply.verdicts("Bell Codes") == reply.verdicts("Fog Heron") == []


def test_reply_26_paused_warming_up_and_far_sight(at: Ask, demo: Project) -> None:
    reply = at(26)
    assert reply.details("Fog Tides", "cooling_down") == {"left": 3}
    assert re.search(r"\bebb\b", text_of(demo, [25]))
    assert reply.details("Walking Under", "warmup_short") == {"needed": 3, "found": 2}
    assert reply.details("Tide Almanac", "key_hit")["depth"] == 10
    assert "Tide Almanac" in reply
    assert "almanac" not in text_of(demo, range(22, 26)).lower()


def test_reply_26_the_narrator_takes_a_place_in_the_window(at: Ask, demo: Project) -> None:
    assert at(26).verdicts("The Stair") == []
    assert demo.chat is not None
    messages = demo.chat.messages
    shorter = replace(demo.chat, messages=(*messages[:23], *messages[24:]))
    simulator = Simulator(replace(demo, chat=shorter))
    without = Reply(asyncio.run(simulator.generate(Generation(25))))
    assert without.details("The Stair", "key_hit")["message"] == 21


def test_reply_28_warmup_met_and_recursion_in_two_steps(at: Ask) -> None:
    reply = at(28)
    assert reply.came_by("Walking Under") == "key_hit"
    first, second = (reply.details(title, "recursion") for title in ("The Grey Sleep", "The Revenue"))
    assert (first["step"], first["source"]) == (1, "Walking Under")
    assert (second["step"], second["source"]) == (2, "The Grey Sleep")
    assert {"Walking Under", "The Grey Sleep", "The Revenue"} <= set(reply.injected)
    assert reply.details("Fog Tides", "cooling_down") == {"left": 2}


def test_reply_28_three_swipes_with_the_cooldowns_rolled_back(replayed: Simulator) -> None:
    traces = [replayed.traces[Generation(28, swipe)] for swipe in (1, 2, 0)]
    assert [trace.turn.kind for trace in traces] == ["normal", "swipe", "swipe"]
    assert traces[0].injections == traces[1].injections == traces[2].injections
    assert {tuple(Reply(trace).details("Fog Tides", "cooling_down").items()) for trace in traces} == {(("left", 2),)}
    assert len({trace.turn.number for trace in traces}) == 1


def test_reply_30_the_whale(at: Ask) -> None:
    reply = at(30)
    assert "Brumewhale" in reply
    assert "Carrier's Whistle" in reply
    assert reply.details("Carrier's Whistle", "key_hit")["depth"] == 1
    assert reply.details("Fog Tides", "cooling_down") == {"left": 1}
    assert reply.details("The Grey Sleep", "cooling_down")["left"] > 0


def test_reply_30_the_king(demo: Project) -> None:
    reply = with_swipe(demo, 28, 2, 30)
    gate = reply.details("The Undertow King", "gated_field")
    assert (gate["field"], gate["entry_value"], gate["context_value"], gate["operator"]) == ("danger", 9, "7", "lt")
    assert "Brumewhale" not in reply


def test_reply_30_the_heron(demo: Project) -> None:
    reply = with_swipe(demo, 28, 3, 30)
    assert "Fog Heron" in reply
    assert reply.details("Post Pigeon", "key_hit")["refine_key"]
    assert reply.details("Post Pigeon", "over_entry_cap")["cap"] == 8


def test_reply_32_back_and_the_truth(at: Ask) -> None:
    reply = at(32)
    assert {"Fog Tides", "Nether Hollin"} <= set(reply.injected)
    assert list(reply.details("Hollin in the Songs", "excluded_by")["titles"]) == ["Nether Hollin"]


def test_reply_34_requires_chain_broken(at: Ask) -> None:
    reply = at(34)
    assert list(reply.details("Perpetua Lisle", "missing_requirement")["missing"]) == ["The Hollin Letter"]
    assert list(reply.details("The Low Lamp", "missing_requirement")["missing"]) == ["Perpetua Lisle"]
    assert reply.details("Lantern Moth", "recursion")["source"] == "The Low Lamp"
    assert "Lantern Moth" in reply


@pytest.mark.parametrize("number", [36, 38])
def test_replies_36_and_38_chain_satisfied(at: Ask, number: int) -> None:
    assert {"The Hollin Letter", "Perpetua Lisle", "The Low Lamp"} <= set(at(number).injected)


def test_reply_36_the_songs_creep_back(at: Ask, demo: Project) -> None:
    assert "nether hollin" not in text_of(demo, range(32, 36)).lower()
    assert "Hollin in the Songs" in at(36).with_reason("over_entry_cap")


@pytest.mark.parametrize("number", [40, 42])
def test_replies_40_and_42_chain_broken_again_and_a_block(at: Ask, number: int) -> None:
    reply = at(number)
    assert list(reply.details("Perpetua Lisle", "missing_requirement")["missing"]) == ["The Hollin Letter"]
    assert reply.came_by("Hat Wasps") == "key_hit"
    assert reply.details("Hat Wasps", "blocked") == {}


def test_replies_42_and_44_probability(at: Ask) -> None:
    lost = at(42).details("Debts and Favours", "probability_lost")
    assert lost["probability"] == 0.35
    assert lost["roll"] > 0.35
    assert "Debts and Favours" not in at(42)
    assert "Debts and Favours" in at(44)
    assert at(42).injection("Bell Codes").position == Position.AFTER


@pytest.mark.parametrize("number", [44, 46, 48])
def test_replies_44_to_48_cascade(at: Ask, number: int, demo: Project) -> None:
    reply = at(number)
    assert reply.details("The Winch Road", "cascade")["source"] == "Barnaby Tolliver"
    assert "The Winch Road" in reply
    assert not re.search(r"\b(winch|ferry)\b", text_of(demo, range(40, number)).lower())


@pytest.mark.parametrize("number", [44, 46])
def test_replies_44_and_46_the_secret_stays_in_its_drawer(at: Ask, demo: Project, number: int) -> None:
    assert "reply letter" in text_of(demo, [43])
    note = next(note for note in demo.index.left_out if note.filename.startswith("The Ending"))
    assert note.problem is NoteProblem.NEVER_INSERT
    assert all("quarrelled with his sister" not in block.text for block in at(number).trace.prompt)


def test_reply_48_a_long_note(at: Ask) -> None:
    assert at(48).injection("Wickwardens").tokens > 300


# ---- beside the table ------------------------------------------------------------------------------------------------


def test_fuzzy_matching_finds_the_stair() -> None:
    folder = resource("demo")
    project = open_project([folder / "vault"], folder / "chat.jsonl", folder / "settings-fuzzy.json", seed=DEMO_SEED)
    simulator = Simulator(project)
    reply = Reply(asyncio.run(simulator.generate(Generation(28))))
    assert 65 < reply.details("The Stair", "fuzzy")["score"] < 75
    too_much = {"The Long Flood", "Wreck of the Patient Margaret", "Nether Hollin"}
    assert too_much | {"The Stair"} <= set(reply.injected)
    assert all(reply.came_by(title) == "fuzzy" for title in too_much)
    assert len(reply.with_reason(*CUT)) == 12


def test_without_fuzzy_matching_nobody_finds_the_stair(at: Ask) -> None:
    assert at(28).verdicts("The Stair") == []


@pytest.fixture(scope="module")
def workshop() -> Project:
    """The vault of mistakes on purpose."""
    return open_project([resource("demo", "workshop")])


def test_the_damaged_page_is_broken_and_visible(workshop: Project) -> None:
    note = next(note for note in workshop.index.left_out if note.filename == "damaged-page.md")
    assert note.problem is NoteProblem.BAD_ENCODING
    assert note.problem.broken
    assert "UTF-8" in note.message


@pytest.mark.parametrize("title", ["Capital Names", "Keys in One Line", "Quoted Numbers", "Sticky Ink"])
def test_notes_that_are_read_with_a_warning(workshop: Project, title: str) -> None:
    assert entry(workshop, title).warnings


@pytest.mark.parametrize(
    ("filename", "holds"),
    [
        ("comment-after-value.md", lambda note: note.priority == 100 and note.cooldown is None),
        ("enabled-no.md", lambda note: note.title == "Enabled No"),
        ("folded-summary.md", lambda note: note.summary == ">-"),
        ("keywords-not-keys.md", lambda note: note.keys == () and note.refine_keys == ()),
        ("asks-for-nobody.md", lambda note: note.requires == () and note.written_requires),
    ],
)
def test_mistakes_on_purpose_are_what_they_say(
    workshop: Project, filename: str, holds: Callable[[Entry], object]
) -> None:
    (note,) = [note for note in workshop.index.entries if note.filename == filename]
    assert holds(note)


def test_one_tag_with_a_comma_is_not_the_lorebook_tag(workshop: Project) -> None:
    (note,) = [note for note in workshop.index.left_out if note.filename == "tags-in-one-line.md"]
    assert note.problem is NoteProblem.NO_LOREBOOK_TAG


def test_the_demo_opens_in_good_order(demo: Project) -> None:
    """Nothing is broken in it and nothing is read with a warning; of its checks only what the story tells is left."""
    assert not [note for note in demo.index.left_out if note.problem.broken]
    assert not [each.title for each in demo.index.entries if each.warnings]
    found = ProblemFinder().find(demo)
    assert {one.code for one in found.findings if one.severity is not Severity.INFO} == set()
