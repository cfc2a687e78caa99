"""The comparison with recorded runs: it sees every difference that counts, and none of those that do not."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lorestudio.exchange.scenario_file import Scenario
from lorestudio.studio.replay.scenario import run_scenario
from tests.golden.__main__ import main
from tests.golden.compare import MISSING, Case, Difference, contents, differences, read_cases
from tests.golden.files import GOLDEN_DEV

CASES = {case.id: case for case in read_cases(GOLDEN_DEV)}


def found(case: Case, change: Callable[[dict[str, Any]], None]) -> list[str]:
    """Paths that differ after a change of the recorded result."""
    got = copy.deepcopy(case.expected)
    change(got)
    return [one.path for one in differences(case, got)]


PLAIN = next(case for case in CASES.values() if case.keywords_only)
FUZZY = next(
    case for case in CASES.values()
    if case.keywords_only and len(case.expected["generations"][0].get("keyword", {}).get("bm25", ())) > 2
)  # fmt: skip
ASKING = next(case for case in CASES.values() if case.expected["generations"][0].get("ai_calls"))


@pytest.mark.parametrize("case", [PLAIN, FUZZY, ASKING], ids=["plain", "fuzzy", "AI"])
def test_a_run_equals_itself(case: Case) -> None:
    assert differences(case, copy.deepcopy(case.expected)) == []


def set_at(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(got: dict[str, Any]) -> None:
        place: Any = got
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        (set_at("index", "entries", 0, "title", value="other"), ["index.entries[0].title"]),
        (set_at("generations", 0, "outcome", value="x"), ["generations[0].outcome"]),
        (set_at("generations", 0, "extra", value=1), ["generations[0].extra"]),
        (lambda got: got["generations"][0].pop("committed"), ["generations[0].committed"]),
        (lambda got: got["generations"].pop(), [f"generations[{len(PLAIN.expected['generations']) - 1}]"]),
        (lambda got: got.pop("index"), ["index"]),
        (set_at("generations", 0, "bootstrap_active", value=1), ["generations[0].bootstrap_active"]),
        (set_at("generations", 0, "rng_draws", value=False), ["generations[0].rng_draws"]),
        (set_at("generations", 0, "exempt", value=[99]), ["generations[0].exempt"]),
        (lambda got: got["generations"][0]["trackers"].update(generation_count=7),
         ["generations[0].trackers.generation_count"]),
    ],
)  # fmt: skip
def test_differences_are_found(change: Callable[[dict[str, Any]], None], paths: list[str]) -> None:
    assert found(PLAIN, change) == paths


def test_the_order_of_keys_does_not_matter_that_of_lists_does() -> None:
    def turn_keys(got: dict[str, Any]) -> None:
        got["generations"][0] = dict(reversed(got["generations"][0].items()))

    assert found(PLAIN, turn_keys) == []
    assert found(FUZZY, lambda got: got["generations"][0]["keyword"]["bm25"].reverse()) != []


def test_tuples_and_whole_floats_are_what_json_makes_of_them() -> None:
    first = PLAIN.expected["generations"][0]
    assert found(PLAIN, set_at("generations", 0, "exempt", value=tuple(first["exempt"]))) == []
    assert found(PLAIN, set_at("generations", 0, "rng_draws", value=float(first["rng_draws"]))) == []


@pytest.mark.parametrize(("shift", "equal"), [(9e-10, True), (2e-9, False)])
def test_scores_are_compared_to_a_billionth(shift: float, equal: bool) -> None:
    def move(got: dict[str, Any]) -> None:
        got["generations"][0]["keyword"]["bm25"][1][1] += shift

    assert (found(FUZZY, move) == []) is equal


def test_only_scores_have_a_tolerance() -> None:
    def move(got: dict[str, Any]) -> None:
        got["generations"][0]["keyword"]["fuzzy"]["threshold"] += 1e-12

    assert found(FUZZY, move) == ["generations[0].keyword.fuzzy.threshold"]


def call(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda got: got["generations"][0]["ai_calls"][0].update(changes)


SYSTEM = ASKING.expected["generations"][0]["ai_calls"][0]["system"]


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        (call(system_hash="x", user_hash="y", message_hash="z"), []),
        (call(system={**SYSTEM, "suffix": "In our own words."}), []),
        (call(system={**SYSTEM, "base": "custom"}), ["generations[0].ai_calls[0].system.base"]),
        (call(max_tokens=1), ["generations[0].ai_calls[0].max_tokens"]),
        (call(model="m"), ["generations[0].ai_calls[0].model"]),
        (call(user=None), ["generations[0].ai_calls[0].user"]),
        (lambda got: got["generations"][0]["ai_calls"].clear(), ["generations[0].ai_calls[0]"]),
    ],
)
def test_ai_requests(change: Callable[[dict[str, Any]], None], paths: list[str]) -> None:
    assert found(ASKING, change) == paths


@pytest.mark.parametrize(
    ("text", "equal"),
    [
        ("Pick notes.\n\nAs JSON.\n\nIn the original's words: exactly 9.", True),
        ("Pick notes.\n\nAs JSON.\n\nIn ours: exactly 9.", True),
        ("Pick notes.\n\nAs JSON.", False),  # the appended paragraph is missing
        ("Pick notes.\n\nAs YAML.\n\nIn ours: exactly 9.", False),
        ("Pick notes.\n\nIn ours: exactly 9.", False),
    ],
)
@pytest.mark.parametrize("patched", [True, False])
def test_a_custom_system_prompt_is_compared_but_for_what_was_appended(text: str, equal: bool, patched: bool) -> None:
    prompt = {"aiSearchSystemPrompt": "Pick notes.\n\nAs JSON."}
    recorded = copy.deepcopy(ASKING.expected)
    wanted = "Pick notes.\n\nAs JSON.\n\nIn the original's words: exactly 9."
    recorded["generations"][0]["ai_calls"][0]["system"] = {"base": "custom", "text": wanted}
    scenario = copy.deepcopy(ASKING.scenario)
    (scenario["generations"][0].setdefault("settings_patch", {}) if patched else scenario["settings"]).update(prompt)
    case = Case(ASKING.id, scenario, recorded)
    assert (found(case, call(system={"base": "custom", "text": text})) == []) is equal


SEARCH = """<manifest_info>
{{HEADER}}
</manifest_info>

<available_lore_entries>
{{MANIFEST}}
</available_lore_entries>

<recent_chat_transcript>
[STORY CONTEXT — the original's words]
A seed.

Another seed.

[RECENT CHAT]
Bo (user): Hello.
Anna (character): Two
lines.

[SESSION SUMMARY — the original's words]
So far: much.
</recent_chat_transcript>

Answer in the original's words."""

PREFILTER = "## Categories\n[npc] (2 entries): A, B\n[place] (1 entries): C\n\n## Recent Chat\nBo (user): Hello."


@pytest.mark.parametrize(
    ("user", "parts"),
    [
        (
            SEARCH,
            ["{{HEADER}}", "{{MANIFEST}}", "A seed.\n\nAnother seed.",
             "Bo (user): Hello.\nAnna (character): Two\nlines.", "So far: much."],
        ),
        (PREFILTER, ["[npc] (2 entries): A, B\n[place] (1 entries): C", "Bo (user): Hello."]),
        ("something else", ["something else"]),
    ],
)  # fmt: skip
def test_what_of_a_user_text_is_compared(user: str, parts: list[str]) -> None:
    assert contents(user) == parts


def test_all_recorded_user_texts_are_understood() -> None:
    """Every recorded request is taken apart; the parts are no more than the text and no sentence of the frame."""
    texts = [
        request["user"] for case in CASES.values() for one in case.expected["generations"]
        for request in one.get("ai_calls", ())
    ]  # fmt: skip
    assert len(texts) > 400
    for text in texts:
        parts = contents(text)
        assert len(parts) > 1
        assert all(part in text for part in parts)
        assert not any("<recent_chat" in part or "[RECENT CHAT]" in part for part in parts)


OURS = "Header:\n{{HEADER}}\nNotes:\n{{MANIFEST}}\nStory:\n%s\nChat:\n%s\nUntil now:\n%s\nNow choose."
PARTS = ("A seed.\n\nAnother seed.", "Bo (user): Hello.\nAnna (character): Two\nlines.", "So far: much.")


@pytest.mark.parametrize(
    ("user", "equal"),
    [
        (SEARCH, True),
        (OURS % PARTS, True),
        (OURS % (PARTS[0], "Bo (user): Hello.\nAnna (character): Two", PARTS[2]), False),
        (OURS % (PARTS[0], f"Zoe (user): More.\n{PARTS[1]}", PARTS[2]), False),  # a line too many
        (OURS % (PARTS[0], f"{PARTS[1]} And more.", PARTS[2]), False),
        (OURS % (PARTS[0], PARTS[1], "So far: little."), False),
        (OURS % ("A seed.", PARTS[1], PARTS[2]), False),
        ((OURS % PARTS).replace("{{HEADER}}", ""), False),
        ((OURS % PARTS).replace("{{MANIFEST}}", ""), False),
        ((OURS % PARTS).replace("Now", "{{MANIFEST}} Now"), False),
        (OURS % (PARTS[2], PARTS[1], PARTS[0]), False),  # another order
    ],
)
def test_the_wording_of_user_texts_is_our_own(user: str, equal: bool) -> None:
    recorded = copy.deepcopy(ASKING.expected)
    recorded["generations"][0]["ai_calls"][0]["user"] = SEARCH
    case = Case(ASKING.id, ASKING.scenario, recorded)
    got = copy.deepcopy(recorded)
    got["generations"][0]["ai_calls"][0]["user"] = user
    assert (differences(case, got) == []) is equal


def notepad_case(outcome: str = "injected", **settings: Any) -> Case:
    prompt = {"tag": "deeplore_ai_notepad", "via": "extension_prompt", "hash": "1_a_b"}
    generation = {"outcome": outcome, "committed": [prompt]}
    return Case("n", {"settings": settings, "generations": [{}]}, {"index": {}, "generations": [generation]})


@pytest.mark.parametrize(
    ("case", "ignored"),
    [
        (notepad_case(), True),  # tag mode is the default
        (notepad_case(aiNotepadMode="tag"), True),
        (notepad_case(aiNotepadMode="extract"), False),
        (notepad_case(aiNotepadPrompt="Write notes."), False),  # the scenario's own words
        (notepad_case("skipped"), False),  # of an earlier generation that is not there
    ],
)
def test_notepad_hashes(case: Case, ignored: bool) -> None:
    assert (found(case, set_at("generations", 0, "committed", 0, "hash", value="2_c_d")) == []) is ignored


def test_other_hashes_count() -> None:
    case = notepad_case()
    case.expected["generations"][0]["committed"][0]["tag"] = "deeplore_notebook"
    change = set_at("generations", 0, "committed", 0, "hash", value="2_c_d")
    assert found(case, change) == ["generations[0].committed[0].hash"]


def test_a_difference_says_where_and_what() -> None:
    assert str(Difference("a[0].b", [1], MISSING)) == "a[0].b: expected [1], got <missing>"
    assert len(str(Difference("a", "x" * 999, "y" * 999))) < 400


@pytest.mark.parametrize(
    ("settings", "patches", "expected"),
    [
        ({}, [], True),
        ({"aiSearchEnabled": False}, [{}], True),
        ({"aiSearchEnabled": True}, [], False),
        ({}, [{}, {"aiSearchEnabled": True}], False),
        ({}, [{"aiSearchEnabled": False}], True),
    ],
)
def test_keywords_only(settings: dict[str, Any], patches: list[dict[str, Any]], expected: bool) -> None:
    generations = [{"settings_patch": patch} for patch in patches]
    assert Case("c", {"settings": settings, "generations": generations}, {}).keywords_only is expected


def written(folder: Path, cases: list[Case], *, pack: bool = True) -> Path:
    lines = "\n".join(
        json.dumps({"id": case.id, "scenario": case.scenario, "expected": case.expected}) for case in cases
    )
    path = folder / ("cases.jsonl.gz" if pack else "cases.jsonl")
    path.write_bytes(gzip.compress(lines.encode()) if pack else lines.encode())
    return path


@pytest.mark.parametrize("pack", [True, False])
def test_an_index_that_is_referred_to_is_filled_in(tmp_path: Path, pack: bool) -> None:
    second = Case("second", PLAIN.scenario, {**PLAIN.expected, "index": {"same_as": PLAIN.id}})
    first, filled = read_cases(written(tmp_path, [PLAIN, second], pack=pack))
    assert filled.expected["index"] == first.expected["index"] == PLAIN.expected["index"]


def test_the_command_counts_equal_scenarios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(written(tmp_path, [PLAIN, FUZZY]))]) == 0
    assert capsys.readouterr().out == "2 of 2 equal\n"


def test_the_command_names_each_scenario_that_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = copy.deepcopy(FUZZY.expected)
    expected["generations"][0]["outcome"] = "skipped"
    wrong = Case("wrong", FUZZY.scenario, expected)
    failing = Case("failing", {**PLAIN.scenario, "vaults": [{"name": "V", "ref": "nowhere"}]}, PLAIN.expected)
    file = written(tmp_path, [PLAIN, wrong, failing])
    assert main([str(file), "--vault-root", str(tmp_path)]) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith('wrong: 1 difference, first generations[0].outcome: expected "skipped", got "')
    assert second.startswith("failing: InputError: ")
    assert last == "1 of 3 equal"


def test_the_command_reads_vaults_below_the_root(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vault = tmp_path / "vaults" / "small"
    vault.mkdir(parents=True)
    vault.joinpath("A.md").write_text("---\ntags: [lorebook]\nkeys: [dragon]\n---\nA dragon.\n", encoding="utf-8")
    scenario = {
        "id": "small", "vaults": [{"name": "Main", "ref": "small"}], "settings": {},
        "messages": [{"name": "Bo", "is_user": True, "mes": "dragon"}], "generations": [{"now_ms": 1, "chat": [0]}],
    }  # fmt: skip
    expected = run_scenario(Scenario.model_validate(scenario), tmp_path / "vaults")["expected"]
    assert [one["title"] for one in expected["index"]["entries"]] == ["A"]
    file = written(tmp_path, [Case("small", scenario, expected)])
    assert main([str(file), "--vault-root", str(tmp_path / "vaults")]) == 0
    assert main([str(file)]) == 1
    assert "--vault-root" in capsys.readouterr().out
