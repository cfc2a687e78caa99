"""World Info in a scenario, with everything around the chat (rules: scenario-format 1.6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.problems import InputError
from lorestudio.studio.replay.scenario import run_scenarios

MESSAGES = [
    {"name": "Wren", "is_user": True, "mes": "A kite."},
    {"name": "Ottoline", "mes": "Late!"},
    {"name": "Wren", "is_user": True, "mes": "Again."},
]


def ran(folder: Path, *entries: dict[str, Any], **fields: Any) -> list[list[str]]:
    """For each generation the texts that went in, in the order of the prompt."""
    listed = [{**NEW_ENTRY, "uid": uid, **entry} for uid, entry in enumerate(entries)]
    scenario: dict[str, Any] = {
        "id": "s", "system": "world-info", "character": "Ottoline", "messages": MESSAGES,
        "books": [{"name": "Quay", "role": "chat", "entries": listed}],
        "generations": [{"now_ms": 0, "chat": [0]}], **fields,
    }  # fmt: skip
    path = folder / "scenario.json"
    path.write_text(json.dumps(scenario), encoding="utf-8")
    (result,) = run_scenarios(path)
    return [[block["text"] for block in each["prompt"]] for each in result["expected"]["generations"]]


def test_card_persona_variables_tags_and_note(tmp_path: Path) -> None:
    own = {"names": ["quay_v2"], "tags": ["t2"]}
    entries = [
        {"key": ["{{getvar::toy}}"], "content": "{{user}}, {{persona}}: {{description}}"},
        {"key": ["gale"], "matchScenario": True, "content": "Wind.", "position": 1},
        {"constant": True, "characterFilter": own, "content": "Hers.", "position": 3},
    ]
    (texts,) = ran(
        tmp_path, *entries, user="Ana", avatar="quay_v2", tags=["t1", "t2"], variables={"toy": "kite"},
        card={"description": "Keeper of {{user}}'s letters.", "scenario": "A gale."}, persona="a rider",
        note={"text": "{{char}} hums.", "depth": 2},
    )  # fmt: skip
    assert texts == ["Ana, a rider: Keeper of Ana's letters.", "Wind.", "Ottoline hums.\nHers."]


def test_a_whole_card_and_a_book_of_another_form(tmp_path: Path) -> None:
    card = {"spec": "chara_card_v2", "data": {"name": "Ottoline", "description": "kites"}}
    risu = {"type": "risu", "data": [{"key": "kite", "content": "Of {{description}}.", "insertorder": 1}]}
    inside = {"entries": [{"keys": ["kite"], "content": "Inside.", "enabled": True, "position": "before_char"}]}
    books = [{"name": "R", "document": risu}, {"name": "C", "role": "character", "form": "card", "document": inside}]
    assert ran(tmp_path, card=card, books=books) == [["Of kites.\nInside."]]


def test_entries_can_be_changed_between_generations(tmp_path: Path) -> None:
    entry = {"key": ["kite"], "content": "Old.", "sticky": 5}
    generations = [
        {"now_ms": 0, "chat": [0]},
        {"now_ms": 0, "chat": [0, 1, 2]},
        {"now_ms": 0, "chat": [0, 1, 2], "book_patch": {"Quay": {"0": {"content": "New."}}}},
        {"now_ms": 0, "chat": [1, 2], "book_patch": {"Quay": {"0": None, "7": {"constant": True, "content": "Else."}}}},
    ]
    settings = {"world_info_depth": 1}
    found = ran(tmp_path, entry, generations=generations, system_settings=settings)
    assert found == [["Old."], ["Old."], [], ["Else."]]  # what was changed has lost its effect


def test_what_the_host_activates_and_what_a_quiet_generation_is_asked(tmp_path: Path) -> None:
    generations = [
        {"now_ms": 0, "chat": [0], "force": ["Quay.0"]},
        {"now_ms": 0, "chat": [0], "type": "quiet", "quiet_prompt": "Tell of the storm."},
    ]
    entries = [{"content": "Forced."}, {"key": ["storm"], "content": "Asked.", "triggers": ["quiet"]}]
    assert ran(tmp_path, *entries, generations=generations) == [["Forced."], ["Asked."]]


def test_the_budget_is_a_share_of_the_context(tmp_path: Path) -> None:
    entry = {"constant": True, "content": "1234" * 9}
    generations = [{"now_ms": 0, "chat": [0]}, {"now_ms": 0, "chat": [0], "context_size": 60}]
    assert [len(texts) for texts in ran(tmp_path, entry, generations=generations, max_context=30)] == [0, 1]
    settings = {"world_info_budget": 100}
    found = ran(tmp_path, entry, max_context=30, reply_tokens=20, system_settings=settings)
    assert found == [[]]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"books": [{"name": "Q"}]}, "books.0”: a lorebook has “entries”"),
        ({"books": [{"name": "Q", "entries": {"3": 1}}]}, r"books.0”: entries\.3: an object"),
        ({"books": [{"name": "Q", "role": "nobody", "entries": []}]}, "books.0.role”"),
        ({"card": {"data": 3}}, "card”"),
        ({"generations": [{"now_ms": 0, "chat": [0], "book_patch": {"Fog": {}}}]}, "has no lorebook “Fog”"),
    ],
)
def test_what_is_wrong_names_its_field(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ran(tmp_path, **fields)
