"""Notebook and notepad prompts (rules: deeplore 5.10, 12.7)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.state import Prompt
from lorestudio.systems.deeplore.stages.notes import NOTEPAD_INSTRUCTION, notes_stage
from tests.systems.worlds import Play, entry, run_stage, run_world, world


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
