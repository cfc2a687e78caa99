"""A turn saved as a scenario decides the same again, whatever the chat and the settings are."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CharacterEstimate
from lorestudio.exchange.character_card import parse_card
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import read_records, scenario_bytes
from lorestudio.llm.embedding import HashEmbedder
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import sanitise
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.worldinfo import VAULT, WorldInfoSettings
from lorestudio.studio.project.project import Project, demo_project, open_project
from lorestudio.studio.project.settings import Mode, with_mode
from lorestudio.studio.prompt.setup import Persona, PromptSetup
from lorestudio.studio.replay.exported_scenario import export_turn
from lorestudio.studio.replay.scenario import run_scenarios
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.deeplore.scenario import recorded_answers
from lorestudio.systems.registry import KINDS
from lorestudio.systems.vectors import KnownVectors
from tests.simulators import answered

NOTES = {
    "Lamp.md": "keys: [lamp]\ncooldown: 2",
    "Oil.md": "keys: [oil]\nprobability: 0.5",
    "Bell.md": "keys: [bell]\nera: old\nsummary: A bell that rings under water.",
    "sub/Tide.md": "keys: [tide]\nsummary: The tide.",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    vault = tmp_path / "brume"
    for name, front in NOTES.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(f"---\ntags: [lorebook]\n{front}\n---\n{name} says: naïve “😀”.\n", encoding="utf-8")
    (vault / "bad.md").write_bytes(b"---\ntags: [lorebook]\n---\n\xff")
    records: list[dict[str, Any]] = [
        {"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": {
            "deeplore_context": {"era": "old"}, "deeplore_pins": [{"title": "Tide", "vaultSource": "brume"}],
            "deeplore_ai_notepad": "Kept.", "deeplore_chat_counts": {"brume:Lamp": 3},
        }},
        {"name": "Wren", "is_user": True, "mes": "A lamp, oil, a bell and the tide."},
        {"name": "Ottoline", "mes": "Yes.", "swipes": ["No.", "Yes."], "swipe_id": 1},
        {"name": "Wren", "is_user": True, "mes": "(( aside ))", "is_system": True},
        {"name": "Wren", "is_user": True, "mes": "The lamp again?", "extra": {"private": "not needed"}},
        {"name": "Ottoline", "mes": "Oil, then."},
        {"name": "Wren", "is_user": True, "mes": "oil lamp tide"},
    ]  # fmt: skip
    chat = tmp_path / "chat.jsonl"
    chat.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return open_project([vault], chat, seed=11)


def replayed(project: Project, answers: AnswerSource | None = None, model: str = "") -> Simulator:
    simulator = answered(project, answers, model=model)
    asyncio.run(simulator.replay())
    return simulator


def settings(project: Project, **values: Any) -> Project:
    return replace(project, settings=sanitise({"enabled": True, **values}).settings)


def test_the_file_is_run_and_decides_the_same(project: Project, tmp_path: Path) -> None:
    simulator = replayed(project)
    exported = export_turn(simulator, simulator.generations[-1])
    assert exported.differing == ()
    path = tmp_path / "turn.json"
    path.write_bytes(scenario_bytes(exported.scenario))
    (result,) = run_scenarios(path)
    for generation, report in zip(simulator.generations, result["expected"]["generations"], strict=True):
        trace = simulator.traces[generation]
        got = [row["title"] for row in report.get("budget", {}).get("accepted", [])]
        assert got == [injection.title for injection in trace.injections]
        assert [block["hash"] for block in report["committed"]]
        assert report["rng_draws"] == len(trace.draws)
    assert sum(row["rng_draws"] for row in result["expected"]["generations"]) > 0


def test_the_messages_of_a_generation_stand_in_one_line(project: Project) -> None:
    """With a line for each, the scenario of five thousand messages was larger than a file may be."""
    simulator = replayed(project)
    text = scenario_bytes(export_turn(simulator, simulator.generations[-1]).scenario).decode()
    assert '"chat": [0,1,3,4,5],' in text  # 2 is said aside


def test_an_earlier_turn_takes_only_what_was_before_it(project: Project) -> None:
    simulator = replayed(project)
    exported = export_turn(simulator, Generation(1, 1))
    assert [len(each.chat) for each in exported.scenario.generations] == [1, 1]
    assert [each.type for each in exported.scenario.generations] == ["normal", "swipe"]
    assert len(exported.scenario.messages) == 1
    assert exported.scenario.id == "brume #1.2"
    assert exported.differing == ()


def test_by_the_rules_of_2_6_it_says_which_answer_was_written(project: Project) -> None:
    """The answer's place counts hidden messages, so the front end's own chat is told (rules: deeplore-newer 1.7)."""
    simulator = replayed(settings(project, rules="2.6"))
    exported = export_turn(simulator, simulator.generations[-1])
    assert exported.differing == ()
    assert exported.scenario.rules == "2.6"
    assert "rules" not in exported.scenario.settings
    rows = exported.scenario.generations
    assert [(each.answer_swipe_id, each.front_chat) for each in rows] == [
        (None, None), (1, None), (None, [0, 1, 2, 3]), (None, [0, 1, 2, 3, 4, 5]),
    ]  # fmt: skip
    keys = [state.snapshot.swipe_key for state in simulator.states if state is not None]  # type: ignore[attr-defined]
    assert keys == ["1|0", "1|1", "4|0", "6|0"]


def test_by_the_rules_of_2_6_the_first_answer_repeats_where_the_chat_went_on_from_it(project: Project) -> None:
    """It is run behind the others then, and is a swipe as they are: its message is in the front end's own chat."""
    assert project.chat is not None
    later = replace(project.chat.messages[4], swipes=("Oil, then.", "Or not."), swipe_id=0)
    chat = replace(project.chat, messages=(*project.chat.messages[:4], later, *project.chat.messages[5:]))
    simulator = replayed(settings(replace(project, chat=chat), rules="2.6"))
    exported = export_turn(simulator, simulator.generations[-1])
    assert exported.differing == ()
    assert [each.front_chat for each in exported.scenario.generations][2:4] == [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]


def test_in_a_group_each_generation_says_who_speaks(tmp_path: Path) -> None:
    vault = tmp_path / "quay"
    vault.mkdir()
    for name in ("Ada", "Bob"):
        (vault / f"{name} Quay.md").write_text("---\ntags: [lorebook]\nkeys: [not said]\n---\nSomebody.\n")
    chat = tmp_path / "chat.txt"
    chat.write_text("Wren: One.\nAda Quay: Two.\nWren: Three.\nBob Quay: Four.\nWren: Five.\nAda Quay: Six.\n")
    simulator = replayed(settings(open_project([vault], chat), enabled=True, characterContextScan=True))
    went_in = [[each.title for each in trace.injections] for trace in simulator.traces.values()]
    assert went_in[:3] == [["Ada Quay"], ["Bob Quay"], ["Ada Quay"]]
    exported = export_turn(simulator, Generation(5, 0))
    assert exported.differing == ()
    assert [each.character for each in exported.scenario.generations] == [None, "Bob Quay", "Ada Quay"]


def test_only_what_a_run_reads_goes_into_the_file(project: Project) -> None:
    project = settings(project, librarianSystemPromptMode="x", aiSearchProfileId="my-own-profile", scanDepth=7)
    simulator = replayed(project)
    exported = export_turn(simulator, simulator.generations[-1])
    text = scenario_bytes(exported.scenario).decode()
    assert "not needed" not in text
    assert "my-own-profile" not in text
    assert exported.scenario.settings == {"enabled": True, "scanDepth": 7}
    assert exported.scenario.metadata == {
        "deeplore_pins": [{"title": "Tide", "vaultSource": "brume"}],
        "deeplore_context": {"era": "old"},
        "deeplore_ai_notepad": "Kept.",
    }
    assert exported.remarks == ("Left out because they cannot be read: bad.md.",)


@pytest.mark.parametrize(
    "values",
    [
        {"recursiveScan": True, "fuzzySearchEnabled": True, "fuzzySearchMinScore": 0.1},
        {"maxTokensBudget": 100, "maxEntries": 2, "keywordOccurrenceWeighting": True},
        {"enabled": False},
        {"aiSearchEnabled": True, "aiSearchConnectionMode": "proxy"},
        {"aiNotepadEnabled": True, "injectionMode": "prompt_list", "injectionTemplate": "{{title}}: {{content}}"},
    ],
)
def test_settings_of_every_sort_are_taken_along(project: Project, values: dict[str, Any]) -> None:
    simulator = replayed(settings(project, **values))
    assert export_turn(simulator, simulator.generations[-1]).differing == ()


def test_the_demo_with_a_model_and_mended_behaviour() -> None:
    project = with_mode(demo_project(), Mode.TWO_STAGE)
    project = replace(project, behaviour=Behaviour(window_filter="fixed", trailing_reply="fixed"))
    simulator = replayed(project, model="llama3.1")
    exported = export_turn(simulator, simulator.generations[-1])
    assert exported.differing == ()
    assert exported.scenario.model == "llama3.1"
    assert exported.scenario.behaviour.window_filter == "fixed"
    assert any(each.ai for each in exported.scenario.generations)


class Broken:
    """Answers every other question, and fails the others in the way it is told."""

    name = label = "broken"

    def __init__(self, error: LlmError) -> None:
        self.error, self.asked = error, 0

    async def answer(self, _request: ChatRequest) -> ChatReply:
        self.asked += 1
        if self.asked % 2:
            raise self.error
        return ChatReply('[{"title": "Lamp", "confidence": "high", "reason": "lit"}]')


@pytest.mark.parametrize(
    "error",
    [
        LlmError(ErrorKind.SERVER, "boom", status=500),
        LlmError(ErrorKind.RATE_LIMITED, "slow down", status=429),
        LlmError(ErrorKind.TIMED_OUT, "timed out after a while"),
        LlmError(ErrorKind.NO_RECORDED_ANSWER, "no answer to this request"),
    ],
)
def test_failed_questions_fail_again_in_the_same_way(project: Project, error: LlmError) -> None:
    project = settings(project, aiSearchEnabled=True, aiSearchMode="two-stage", newChatThreshold=1)
    simulator = replayed(project, Broken(error))
    exported = export_turn(simulator, simulator.generations[-1])
    assert exported.differing == ()
    scripted = [each.ai["search"] for each in exported.scenario.generations if each.ai]
    assert any("error" in each for each in scripted)
    assert all(each["error"]["kind"] == error.kind.value for each in scripted if "error" in each)


def test_a_run_without_a_model_has_no_answers(project: Project) -> None:
    simulator = replayed(project)
    assert [recorded_answers(trace) for trace in simulator.traces.values()] == [{}] * len(simulator.traces)


def test_a_vault_that_was_changed_is_not_written(project: Project) -> None:
    simulator = replayed(project)
    assert project.vault_folders[0] is not None
    (project.vault_folders[0] / "Lamp.md").write_text("---\ntags: [lorebook]\n---\nDark.\n", encoding="utf-8")
    with pytest.raises(InputError, match="Read it again"):
        export_turn(simulator, simulator.generations[0])


def test_what_was_not_run_or_cannot_be_counted_is_refused(project: Project) -> None:
    with pytest.raises(ValueError, match="has not been run"):
        export_turn(Simulator(project), Generation(1, 0))
    odd = replace(project, counter=CharacterEstimate("own", 3))
    simulator = replayed(odd)
    with pytest.raises(InputError, match="has no word"):
        export_turn(simulator, simulator.generations[0])


def test_a_file_without_the_studios_own_fields_is_read_as_before(project: Project, tmp_path: Path) -> None:
    simulator = replayed(project)
    exported = export_turn(simulator, simulator.generations[-1])
    path = tmp_path / "turn.json"
    path.write_bytes(scenario_bytes(exported.scenario))
    assert set(json.loads(path.read_text(encoding="utf-8"))) <= {
        "id", "clock_start_ms", "rng_seed", "tokenizer", "settings", "vaults", "character", "messages", "metadata",
        "generations",
    }  # fmt: skip
    assert [record.scenario for record in read_records(path)] == [exported.scenario]


# ---- other systems --------------------------------------------------------------------------------------------------

LORE = {
    "Lamp.md": "keys: [lamp]\nwi_cooldown: 3",
    "Oil.md": "keys: [oil]\nprobability: 0.5",
    "Bell.md": "keys: [bell]\npriority: 5",
}
LAST = Generation(6)


@pytest.fixture
def lore(tmp_path: Path) -> Project:
    vault = tmp_path / "brume"
    vault.mkdir()
    for name, front in LORE.items():
        (vault / name).write_text(f"---\ntags: [lorebook]\n{front}\n---\n{name} says: naïve “😀”.\n", encoding="utf-8")
    records: list[dict[str, Any]] = [
        {"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": {
            "deeplore_pins": [{"title": "Bell", "vaultSource": "brume"}], "unrelated": "private",
        }},
        {"name": "Wren", "is_user": True, "mes": "A lamp, oil, a bell and the tide."},
        {"name": "Ottoline", "mes": "Yes.", "swipes": ["No.", "Yes."], "swipe_id": 1},
        {"name": "Wren", "is_user": True, "mes": "(( aside ))", "is_system": True},
        {"name": "Wren", "is_user": True, "mes": "The lamp again?", "extra": {"private": "not needed"}},
        {"name": "Ottoline", "mes": "Oil, then."},
        {"name": "Wren", "is_user": True, "mes": "oil lamp tide"},
    ]  # fmt: skip
    chat = tmp_path / "chat.jsonl"
    chat.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return open_project([vault], chat, seed=11)


def ran(project: Project, name: str, settings: Section) -> Simulator:
    simulator = Simulator(project, KINDS[name].make(settings, project.scene()))
    asyncio.run(simulator.replay())
    return simulator


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("world-info", WorldInfoSettings(depth=1)),
        ("hybrid", HybridSettings(limit=1)),
        ("context-window", ContextWindowSettings(total_token_budget=40)),
        ("recap", RecapSettings()),
    ],
)
def test_a_turn_repeats(lore: Project, name: str, settings: Section, tmp_path: Path) -> None:
    simulator = ran(lore, name, settings)
    exported = export_turn(simulator, LAST)
    assert exported.differing == ()
    assert exported.scenario.system == name
    before = {"world-info": 3}.get(name, 2)  # two replies before it; where swipes draw lots, each of these
    assert len(exported.scenario.generations) == before + 1
    path = tmp_path / "turn.json"
    path.write_bytes(scenario_bytes(exported.scenario))
    (result,) = run_scenarios(path)
    told = result["expected"]["generations"][-1]
    titles = [row["title"] for row in told["injected"]]
    assert titles == [injection.title for injection in simulator.traces[LAST].injections]
    assert [row["text"] for row in told["prompt"]] == [block.text for block in simulator.traces[LAST].prompt]


def test_recaps_come_with_the_messages_that_hold_them(lore: Project) -> None:
    assert lore.chat is not None
    kept = {"auto_recap": {"memory": "They spoke of lamps."}, "private": 1}
    messages = tuple(replace(each, extra=dict(kept)) for each in lore.chat.messages)
    told = replace(lore, chat=replace(lore.chat, messages=messages))
    simulator = ran(told, "recap", RecapSettings())
    exported = export_turn(simulator, LAST)
    assert exported.differing == ()
    assert "They spoke of lamps." in scenario_bytes(exported.scenario).decode()


def test_a_swipe_that_the_chat_did_not_go_on_from(lore: Project) -> None:
    exported = export_turn(ran(lore, "world-info", WorldInfoSettings()), Generation(1, 0))
    assert exported.differing == ()
    assert len(exported.scenario.generations) == 1
    assert "#1" in exported.scenario.id


def test_only_what_the_system_looks_at_is_in_the_file(lore: Project) -> None:
    text = scenario_bytes(export_turn(ran(lore, "hybrid", HybridSettings()), LAST).scenario).decode()
    assert "private" not in text
    assert "not needed" not in text
    assert "Bell" in text


def test_files_that_are_not_scanned_are_not_named(lore: Project) -> None:
    settings = WorldInfoSettings(source=VAULT, book="/home/wren/private.json", worlds="/home/wren/private")
    exported = export_turn(ran(lore, "world-info", settings), LAST)
    assert "private" not in scenario_bytes(exported.scenario).decode()
    assert exported.differing == ()


def test_lorebooks_card_and_persona_come_along(lore: Project, tmp_path: Path) -> None:
    book = tmp_path / "book.json"
    entries = {
        "0": {**NEW_ENTRY, "uid": 0, "key": ["lamp"], "content": "{{persona}} has one of brass.", "probability": 50},
        "1": {**NEW_ENTRY, "uid": 1, "key": ["brass"], "content": "Of {{description}}", "sticky": 3},
        "2": {**NEW_ENTRY, "uid": 2, "constant": True, "content": "Hers.", "characterFilter": {"names": ["quay_v2"]}},
    }
    book.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    card = {"spec": "chara_card_v2", "data": {"name": "Ottoline", "description": "letters for {{user}}"}}
    setup = PromptSetup(
        parse_card(json.dumps(card).encode(), "c"), tmp_path / "quay_v2.png", Persona("Wren", "A rider")
    )
    simulator = ran(replace(lore, setup=setup), "world-info", WorldInfoSettings(chat_books=str(book), budget=90))
    exported = export_turn(simulator, LAST)
    assert exported.differing == ()
    text = scenario_bytes(exported.scenario).decode()
    assert str(tmp_path) not in text
    texts = [block.text for block in simulator.traces[LAST].prompt]
    assert "Hers." in texts[0]


def test_an_entry_for_swipes_alone_repeats(lore: Project, tmp_path: Path) -> None:
    """An answer that the chat did not go on from is run first; World Info takes it for a swipe by its number alone."""
    assert lore.chat is not None
    first = replace(lore.chat.messages[1], swipe_id=0)
    lore = replace(lore, chat=replace(lore.chat, messages=(lore.chat.messages[0], first, *lore.chat.messages[2:])))
    book = tmp_path / "book.json"
    book.write_text(
        json.dumps({"entries": {"0": {**NEW_ENTRY, "uid": 0, "key": ["lamp"], "content": "x", "triggers": ["swipe"]}}})
    )
    simulator = ran(lore, "world-info", WorldInfoSettings(chat_books=str(book)))
    second = Generation(1, 1)
    assert len(simulator.traces[second].injections) == 1
    exported = export_turn(simulator, second)
    assert exported.differing == ()
    assert exported.scenario.generations[-1].type == "swipe"


def test_what_has_no_room_in_a_scenario_is_said(lore: Project, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("lamp\n", encoding="utf-8")
    for name, settings, told in (
        ("facts", FactsSettings(store=str(tmp_path / "m.sqlite")), "remembers"),
        ("context-window", ContextWindowSettings(word_list=str(words)), "word list"),
    ):
        with pytest.raises(InputError, match=told):
            export_turn(ran(lore, name, settings), LAST)


def test_vectors_of_a_provider_are_none_of_a_scenario(lore: Project) -> None:
    simulator = ran(lore, "hybrid", HybridSettings())
    vectors = KnownVectors(HashEmbedder())
    vectors.is_free = False
    simulator.system = replace(simulator.system, vectors=vectors)  # type: ignore[type-var]  # it is a dataclass
    with pytest.raises(InputError, match="would be asked"):
        export_turn(simulator, LAST)


def test_a_generation_of_a_system_that_was_not_run(lore: Project) -> None:
    simulator = Simulator(lore, KINDS["hybrid"].make(HybridSettings(), lore.scene()))
    with pytest.raises(ValueError, match="has not been run"):
        export_turn(simulator, LAST)
