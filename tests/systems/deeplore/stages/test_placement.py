"""Placement (rules: deeplore 5.7 "Template", 5.8).

Notebook and notepad prompts (rules: deeplore 5.10, 12.7).
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from lorestudio.domain.records import replace
from lorestudio.domain.state import EngineState, Prompt
from lorestudio.systems.deeplore.stages.budget import truncated
from lorestudio.systems.deeplore.stages.placement import NOTEPAD_INSTRUCTION, clamp_depth, notes_stage, placement_stage
from lorestudio.systems.deeplore.state import Accepted
from lorestudio.trace.model import PromptPart
from tests.systems.worlds import Draft, Play, Ran, accepted, entry, prepared, run_stage, run_world, world

PLAIN = {"injection_template": "{{content}}"}


def place(*drafts: Draft, labels: dict[str, str] | None = None, **fields: Any) -> Ran:
    there = world(*drafts, **fields)
    titles = ", ".join(draft["title"] for draft in drafts)
    state = prepared(there, titles, labels)
    state.accepted = accepted(there, titles)
    return run_stage(placement_stage, there, state=state)


def blocks(ran: Ran) -> list[tuple[str, int, float, int, str]]:
    return [(one.tag, one.position, one.depth, one.role, one.text) for one in ran.state.blocks]


A, B, C = entry("A", content="aa"), entry("B", content="bb", depth=0, role=1), entry("C", content="cc")


def test_the_verified_example() -> None:
    """A and C by default, B at depth 0 as the user."""
    ran = place(A, B, C)
    assert blocks(ran) == [
        ("deeplore_p1_d4_r0", 1, 4, 0, "<A>\naa\n</A>\n\n<C>\ncc\n</C>"),
        ("deeplore_p1_d0_r1", 1, 0, 1, "<B>\nbb\n</B>"),
    ]
    assert ran.table == [
        "kept A: placed tag=deeplore_p1_d4_r0 position=1 depth=4 role=0",
        "kept B: placed tag=deeplore_p1_d0_r1 position=1 depth=0 role=1",
        "kept C: placed tag=deeplore_p1_d4_r0 position=1 depth=4 role=0",
        "left: A, B, C",
    ]


@pytest.mark.parametrize(
    ("fields", "settings", "tag"),
    [
        ({}, {"injection_position": 2, "injection_depth": 9, "injection_role": 2}, "deeplore_p2_d9_r2"),
        ({"position": 0}, {}, "deeplore_p0_d4_r0"),  # `??`: 0 is a value
        ({"depth": 0}, {}, "deeplore_p1_d0_r0"),
        ({"role": 0}, {"injection_role": 2}, "deeplore_p1_d4_r0"),
        ({"depth": 2.5}, {}, "deeplore_p1_d2.5_r0"),  # numbers print as in JavaScript
        ({"depth": 20_000}, {}, "deeplore_p1_d10000_r0"),
        ({}, {"injection_mode": "prompt_list"}, "deeplore_lore"),
        ({"constant": True}, {"injection_mode": "prompt_list"}, "deeplore_constants"),
        ({"depth": 4}, {"injection_mode": "prompt_list"}, "deeplore_override_p1_d4_r0"),
        ({"position": 2, "constant": True}, {"injection_mode": "prompt_list"}, "deeplore_override_p2_d4_r0"),
        ({"role": 1}, {"injection_mode": "prompt_list"}, "deeplore_override_p1_d4_r1"),
    ],
)
def test_tags(fields: Draft, settings: dict[str, Any], tag: str) -> None:
    (block,) = place(entry("A", **fields), **settings).state.blocks
    assert block.tag == tag


@pytest.mark.parametrize("mark", [{}, {"constant": True}])
def test_the_prompt_list_places_its_groups_at_zero(mark: Draft) -> None:
    ran = place(entry("A", content="aa", **mark), **PLAIN, injection_mode="prompt_list", injection_position=2)
    ((_, *place_of, text),) = blocks(ran)
    assert (place_of, text) == ([0, 0, 0], "aa")


@pytest.mark.parametrize(
    ("value", "depth"),
    [
        (4, 4), (0, 0), (-1, 0), (10_000, 10_000), (10_001, 10_000), (2.5, 2.5), (2.0, 2),
        (math.inf, 0), (-math.inf, 0), (math.nan, 0), (None, 0),
    ],
)  # fmt: skip
def test_clamped_depth(value: float | None, depth: float) -> None:
    assert clamp_depth(value) == depth
    assert str(clamp_depth(value)) == str(depth)


@pytest.mark.parametrize("mode", ["extension", "prompt_list"])
def test_outlets(mode: str) -> None:
    """One group an outlet, after the others; its role is the first one that an entry names."""
    ran = place(
        entry("R1", content="r1", outlet="rules"), entry("A", content="aa"), entry("S", content="s", outlet="Rules"),
        entry("R2", content="r2", outlet="rules", role=2, depth=9), entry("R3", content="r3", outlet="rules", role=1),
        **PLAIN, injection_mode=mode,
    )  # fmt: skip
    assert blocks(ran)[1:] == [
        ("customWIOutlet_rules", -1, 0, 2, "r1\n\nr2\n\nr3"),
        ("customWIOutlet_Rules", -1, 0, 0, "s"),
    ]


TEMPLATE = "<{{title}}>\n{{content}}\n</{{title}}>"


@pytest.mark.parametrize(
    ("template", "title", "content", "text"),
    [
        # the title is escaped, the content is not
        ("{{title}} {{content}}", "A & B <\"x\"> 'y'", "1 < 2 & 3", "A &amp; B &lt;&quot;x&quot;&gt; 'y' 1 < 2 & 3"),
        ("", "T", "c", "<T>\nc\n</T>"),  # an empty template is the default
        ("{{ title }} {{Title}} {{title}}", "T", "c", "{{ title }} {{Title}} T"),
        ("{{content}}|{{content}}", "T", "c", "c|c"),
        ("{{title}}", "{{content}}", "c", "c"),  # a placeholder in the title is filled in the second pass
        ("{{content}}", "T", "{{title}} {{user}}", "{{title}} {{user}}"),
        # the verified `$` patterns: $$, $&, $1, $' and $`
        (TEMPLATE, "T$$x", "cost $$100 and $& and $1 and $' and $` end",
         "<T$x>\ncost $100 and {{content}} and $1 and \n</T$x> and <T$x>\n end\n</T$x>"),
        ("[{{title}}]", "a$&b", "", "[a$&amp;b]".replace("$&", "{{title}}")),
        ("{{content}}", "T", "$", "$"),
        ("{{content}}", "T", "$$$", "$$"),
        ("{{content}}", "T", "$<x>$9$0", "$<x>$9$0"),
    ],
)  # fmt: skip
def test_template(template: str, title: str, content: str, text: str) -> None:
    (block,) = place(entry(title, content=content), injection_template=template).state.blocks
    assert block.text == text


def test_the_origin_of_each_part() -> None:
    (block,) = place(A, C, injection_template="[{{content}}]").state.blocks
    assert block.text == "[aa]\n\n[cc]"
    assert block.parts == (PromptPart(0, 4, 0), PromptPart(6, 10, 1))


def test_injections() -> None:
    there = world(entry("A", content="word. " * 99, tokens=150, priority=7), entry("O", outlet="o", tokens=3))
    state = prepared(there, "A, O", {"A": "dragon"})
    del state.labels["O"]
    state.accepted = [Accepted(truncated(there["A"], 60), original_tokens=150), Accepted(there["O"])]
    ran = run_stage(placement_stage, there, state=state)
    first, second = ran.state.injections
    assert (first.title, first.label, first.priority, first.original_tokens) == ("A", "dragon", 7, 150)
    assert (first.truncated, first.content_hash) == (True, "hash-0_trunc")
    assert (first.tag, first.position, first.depth, first.role) == ("deeplore_p1_d4_r0", 1, 4, 0)
    assert (second.label, second.tag, second.position) == ("?", "customWIOutlet_o", -1)  # 3.11: no label is `?`
    assert (second.truncated, second.original_tokens, second.tokens) == (False, None, 3)


@pytest.mark.parametrize("scan", [True, False])
def test_prompts_take_the_place_of_earlier_ones(scan: bool) -> None:
    earlier = Prompt("deeplore_p1_d9_r0", "old", 1, 9, 0)
    ran = place(A, B, **PLAIN, allow_wi_scan=scan, state=EngineState(prompts=(earlier,)))
    assert ran.state.prompts == (
        Prompt("deeplore_p1_d4_r0", "aa", 1, 4, 0, scan=scan),
        Prompt("deeplore_p1_d0_r1", "bb", 1, 0, 1, scan=scan),
    )


def test_only_the_prompt_lists_own_groups_may_be_managed_by_the_host() -> None:
    drafts = [entry("L"), entry("K", constant=True), B, entry("O", outlet="o")]
    ran = place(*drafts, injection_mode="prompt_list")
    assert [(prompt.tag, prompt.managed) for prompt in ran.state.prompts] == [
        ("deeplore_lore", True),
        ("deeplore_constants", True),
        ("deeplore_override_p1_d0_r1", False),
        ("customWIOutlet_o", False),
    ]
    assert not any(prompt.managed for prompt in place(*drafts).state.prompts)


def test_without_a_group_the_earlier_prompts_go_all_the_same() -> None:
    """Prompts are deleted, no sources (rules: deeplore 5.8)."""
    ran = place(state=EngineState(prompts=(Prompt("deeplore_lore", "old", 1, 4, 0),)))
    assert ran.table == ["left: -", "note: no_prompt"]
    assert (ran.state.prompts, ran.state.injections) == ((), ())


def test_notes_are_not_changed() -> None:
    there = world(A)
    before = replace(there["A"])
    run_stage(placement_stage, there, "A")
    assert [getattr(there["A"], name) for name in ("content", "tokens")] == [before.content, before.tokens]


def prompts(**fields: Any) -> list[tuple[str, str, int, float, int]]:
    ran = run_stage(notes_stage, world(entry("A"), **fields), "A")
    assert ran.left == ["A"]
    written = ran.state.prompts
    assert not any(prompt.scan for prompt in written)
    if not ran.record.note:
        assert ran.record.details == {"prompts": [prompt.tag for prompt in written]}
    return [(prompt.tag, prompt.text, prompt.position, prompt.depth, prompt.role) for prompt in written]


NOTES = "[Your previous session notes]\nremember\n[End of session notes]"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"notebook": "text"}, []),  # off
        ({"notebook": " \n text\n ", "notebook_enabled": True}, [("deeplore_notebook", "text", 1, 4, 0)]),
        ({"notebook": " \u00a0\ufeff", "notebook_enabled": True}, []),  # blank
        (
            {"notebook": "t", "notebook_enabled": True, "notebook_position": 2, "notebook_depth": 0,
             "notebook_role": 1},
            [("deeplore_notebook", "t", 2, 0, 1)],
        ),
        ({"notepad": "remember"}, []),  # off
        (
            {"notepad": " remember ", "ai_notepad_enabled": True, "ai_notepad_mode": "extract"},
            [("deeplore_ai_notepad", NOTES, 1, 4, 0)],
        ),
        ({"notepad": " ", "ai_notepad_enabled": True, "ai_notepad_mode": "extract"}, []),  # neither part
        ({"ai_notepad_enabled": True}, [("deeplore_ai_notepad", NOTEPAD_INSTRUCTION, 1, 4, 0)]),  # tag mode is default
        (
            {"notepad": "remember", "ai_notepad_enabled": True, "ai_notepad_prompt": "Write notes."},
            [("deeplore_ai_notepad", f"{NOTES}\n\nWrite notes.", 1, 4, 0)],
        ),
        (
            {"notebook": "n", "notebook_enabled": True, "ai_notepad_enabled": True, "ai_notepad_prompt": "W",
             "ai_notepad_position": 0, "ai_notepad_depth": 7, "ai_notepad_role": 2},
            [("deeplore_notebook", "n", 1, 4, 0), ("deeplore_ai_notepad", "W", 0, 7, 2)],
        ),
    ],
)  # fmt: skip
def test_what_is_written(fields: dict[str, Any], expected: list[Any]) -> None:
    assert prompts(**fields) == expected


def test_off() -> None:
    ran = run_stage(notes_stage, world(entry("A"), notebook="x"), "A")
    assert ran.table == ["left: A", "note: off setting=notebookEnabled"]


def test_written_behind_the_lore_and_only_by_generations_that_come_this_far() -> None:
    """No lore match, no prompt at all; with a match the notebook, trimmed, at position 1 and depth 4
    (rules: deeplore 12.7).
    """
    play = Play(world(entry("A", "dragon"), notebook=" book ", notebook_enabled=True))
    play.turn(["U: nothing"])
    assert play.state.prompts == ()
    play.turn(["U: nothing", "A: dragon"])
    assert [prompt.tag for prompt in play.state.prompts] == ["deeplore_p1_d4_r0", "deeplore_notebook"]
    assert play.state.prompts[1] == Prompt("deeplore_notebook", "book", 1, 4, 0)
    play.turn(["U: nothing", "A: x", "U: nothing"], settings=play.there.context.settings.model_copy(
        update={"scan_depth": 1}))  # fmt: skip
    assert play.state.prompts == ()  # an early end deletes the notebook prompt too (5)


def test_in_a_prompt_list_the_host_manages_them() -> None:
    result = run_world(world(entry("A", constant=True), notebook="n", notebook_enabled=True,
                             injection_mode="prompt_list"))  # fmt: skip
    assert [(prompt.tag, prompt.managed) for prompt in result.state.prompts] == [
        ("deeplore_constants", True),
        ("deeplore_notebook", True),
    ]
