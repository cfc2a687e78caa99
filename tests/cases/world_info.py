"""SillyTavern's World Info, version 1.18.0: recorded runs of its own file, through the system as a project makes it.

A case's `scenario` is what was given (books, chat, settings, turns), its `expected` what came out of each turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.lorebooks.entry import FOR_EVER
from lorestudio.exchange.scenario_file import Scenario
from lorestudio.settings.sections import section_of
from lorestudio.settings.worldinfo import BOOKS, WorldInfoSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.scenarios import scene_of
from lorestudio.systems.worldinfo.books import world_info_system
from lorestudio.systems.worldinfo.decision import Decision, WorldInfoState, decided
from lorestudio.systems.worldinfo.scan import TimedEffect
from lorestudio.trace.model import Turn
from tests.cases.runner import Case

NOT_COMPARED: Final = frozenset({"loops", "draws"})
"""They tell how it came about."""
_VECTORS: Final = {"enabled_world_info": True, "score_threshold": 0, "max_entries": 9999, "embedder": "stand-in"}
"""Settings by which whatever is marked comes in."""


def outcome(case: Case) -> Any:
    """What each turn comes to, as the case file tells it."""
    turns: list[dict[str, Any]] = []
    asyncio.run(_run(case["scenario"], turns))  # what it returned, its loop would spell out: that costs as much again
    return turns


async def _run(given: Mapping[str, Any], turns: list[dict[str, Any]]) -> None:
    around = {name: value for name, value in given.items() if name in Scenario.model_fields.keys() - {"settings"}}
    scene = scene_of(Scenario(id="case", **around, rng_seed=given["seed"], generations=[]), VaultIndex(()), CHARS_4)
    known = {"world_info_context": given["max_context"], "source": BOOKS, **(_VECTORS if given.get("vectors") else {})}
    settings = section_of({**given["settings"], **known}, WorldInfoSettings, "case")
    system = world_info_system(settings, scene)
    assert scene.chat is not None
    messages, state = scene.chat.messages, WorldInfoState(random_state=given["seed"])
    for number, turn in enumerate(given["turns"]):
        positions = tuple(place for place in range(turn["upto"]) if not messages[place].is_system)
        moment = Moment(
            VaultIndex(()), tuple(messages[place] for place in positions),
            Turn(turn["upto"], 0, number, turn["type"]), positions=positions,
            character=given["character"], user=given["user"], counter=CHARS_4, seed=given["seed"],
        )  # fmt: skip
        made = await decided(moment, settings, system.books, system.around, system.vectors, state, system.shared)
        state = made.after
        turns.append(_outcome_of(made))


def same(actual: Any, expected: Any) -> bool:
    """Equal in all that is compared."""
    return len(actual) == len(expected) and all(map(_same_turn, actual, expected))


def _same_turn(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return all(actual[name] == value for name, value in expected.items() if name not in NOT_COMPARED)


def _outcome_of(made: Decision) -> dict[str, Any]:
    scanned, blocks = made.scanned, made.blocks
    texts = {block.tag: "".join(piece.text for piece in block.pieces) for block in blocks}
    pieces = {block.tag: [piece.text for piece in block.pieces if piece.uid] for block in blocks}
    at_depth = [block for block in blocks if block.tag.startswith("customDepthWI-")]
    outlet = "customWIOutlet_"
    return {
        "activated": [entry.name for entry in scanned.active],
        "texts": {entry.name: scanned.contents[entry.uid] for entry in scanned.active},
        "before": texts.get("worldInfo_before", ""),
        "after": texts.get("worldInfo_after", ""),
        "examples_top": pieces.get("worldInfo_examples_top", []),
        "examples_bottom": pieces.get("worldInfo_examples_bottom", []),
        "note": texts.get("2_floating_prompt"),
        "depth": [
            {"depth": block.depth, "role": block.role, "text": texts[block.tag]}
            for block in sorted(at_depth, key=lambda block: (block.depth, block.role))
        ],
        "outlets": {tag.removeprefix(outlet): text for tag, text in texts.items() if tag.startswith(outlet)},
        "timed": {"sticky": _effects(made.after.timed.sticky), "cooldown": _effects(made.after.timed.cooldown)},
        "overflowed": scanned.overflowed,
        "budget": scanned.budget,
        "loops": [str(loop.scan) for loop in scanned.loops],
        "draws": len(scanned.draws),
    }


def _effects(effects: Mapping[str, TimedEffect]) -> dict[str, Any]:
    return {
        uid: {"start": each.start, "end": None if each.end >= FOR_EVER else each.end, "protected": each.protected}
        for uid, each in effects.items()
    }
