"""SillyTavern's World Info, version 1.18.0: recorded runs of its own file, through the system as a project makes it.

A case's `scenario` is what was given (books, chat, settings, turns), its `expected` what came out of each turn.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.character_card import CharacterCard, parse_card
from lorestudio.exchange.chats.records import read_message
from lorestudio.settings.sections import section_of
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import Moment, Scene
from lorestudio.systems.worldinfo.books import world_info_system
from lorestudio.systems.worldinfo.decision import Decision, WorldInfoState, decided
from lorestudio.systems.worldinfo.timed import TimedEffect
from lorestudio.trace.model import Turn
from tests.cases.runner import Case

_FIELDS: Final = {
    "global": "book", "character": "character_books", "chat": "chat_books", "persona": "persona_books",
}  # fmt: skip
_NOTE: Final = {"text": "", "interval": 1, "position": 1, "depth": 4, "role": 0}
NOT_COMPARED: Final = frozenset({"loops", "draws"})
"""They tell how it came about, and are looked at by `tests/systems/worldinfo`."""


def outcome(case: Case) -> Any:
    """What each turn comes to, as the case file tells it."""
    with tempfile.TemporaryDirectory() as folder:
        return _turns(case["scenario"], Path(folder))


def same(actual: Any, expected: Any) -> bool:
    """Equal in all that is compared."""
    return len(actual) == len(expected) and all(map(_same_turn, actual, expected))


def _same_turn(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return all(actual[name] == value for name, value in expected.items() if name not in NOT_COMPARED)


def _turns(given: Mapping[str, Any], folder: Path) -> list[dict[str, Any]]:
    messages = tuple(read_message(raw) for raw in given["messages"])
    chat = Chat(messages, given["user"], given["character"], metadata=_metadata(given))
    scene = Scene(
        VaultIndex(()), chat=chat, chat_path=folder / "chat.jsonl", card=_card(given), persona=given.get("persona", ""),
        user_name=given["user"], character_name=given["character"], seed=given["seed"],
        tags=tuple(given["tags"]) if "tags" in given else None,
    )  # fmt: skip
    settings = section_of(_settings(given, folder), WorldInfoSettings, "case")
    system = world_info_system(settings, scene)
    state = system.first_state(given["seed"]) or WorldInfoState(random_state=given["seed"])
    turns = []
    for number, turn in enumerate(given["turns"]):
        positions = tuple(place for place in range(turn["upto"]) if not messages[place].is_system)
        moment = Moment(
            VaultIndex(()), tuple(messages[place] for place in positions),
            Turn(turn["upto"], 0, number, turn["type"]), positions=positions,
            character=given["character"], user=given["user"], counter=CHARS_4, seed=given["seed"],
        )  # fmt: skip
        made = asyncio.run(decided(moment, settings, system.books, system.around, system.vectors, state))
        state = made.after
        turns.append(_outcome_of(made))
    return turns


def _settings(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    values = {
        **given["settings"], "world_info_context": given["max_context"], "source": "books", "avatar": given["avatar"],
    }  # fmt: skip
    for number, book in enumerate(given["books"]):
        path = folder / str(number) / f"{book['name']}.json"
        path.parent.mkdir()
        path.write_text(json.dumps(_book(book)), encoding="utf-8")
        field = _FIELDS[book["role"]]
        values[field] = "\n".join(filter(None, (values.get(field), str(path))))
    if given.get("vectors"):  # whatever is marked comes in: the stand-in's similarity is never below 0
        values |= {"enabled_world_info": True, "score_threshold": 0, "max_entries": 9999, "embedder": "stand-in"}
    return values


def _book(book: Mapping[str, Any]) -> Any:
    form = book.get("form")
    if form == "card":
        return {"spec": "chara_card_v2", "data": {"name": "X", "character_book": book["document"]}}
    return book["document"] if form else {"entries": book["entries"]}


def _metadata(given: Mapping[str, Any]) -> dict[str, Any]:
    note = {**_NOTE, **(given.get("note") or {})}
    return {**{f"note_{'prompt' if name == 'text' else name}": value for name, value in note.items()},
            "variables": given.get("variables", {})}  # fmt: skip


def _card(given: Mapping[str, Any]) -> CharacterCard | None:
    card = dict(given.get("card") or {})
    if not card:
        return None
    prompt = card.pop("depth_prompt", "")
    data = {"name": given["character"], **card, "extensions": {"depth_prompt": {"prompt": prompt}}}
    return parse_card(json.dumps({"spec": "chara_card_v2", "data": data}).encode(), "case")


def _outcome_of(made: Decision) -> dict[str, Any]:
    scanned, blocks = made.scanned, made.placement.blocks
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
        "timed": {
            "sticky": _effects(made.after.timed.sticky),
            "cooldown": _effects(made.after.timed.cooldown),
        },
        "overflowed": scanned.overflowed,
        "budget": scanned.budget,
        "loops": [str(loop.scan) for loop in scanned.loops],
        "draws": len(scanned.draws),
    }


def _effects(effects: Mapping[str, TimedEffect]) -> dict[str, Any]:
    return {
        uid: {"start": effect.start, "end": effect.end, "protected": effect.protected}
        for uid, effect in effects.items()
    }
