"""How a project counts: by what was asked for, by SillyTavern's settings, or by estimate."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lorestudio import demo_project, replay
from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.domain.tokens import BYTES_3_35, CHARS_4, ScriptEstimate
from lorestudio.llm.tokenizers import CountingWay, TokenizerCounter, read_tokenizer
from lorestudio.studio.compare.causes import find_causes, side_of, turn_diffs
from lorestudio.studio.compare.comparison import Candidate, compare_candidates
from lorestudio.studio.project.project import open_project
from lorestudio.studio.project.tokens import (
    BY_SCRIPT,
    TokenCounting,
    TokenizerError,
    counter_by_word,
    counting_for,
    sillytavern_folders,
    word_of,
)
from lorestudio.studio.replay.simulator import Simulator

FIXTURES = Path(__file__).parents[2] / "cases" / "fixtures"
RANKS, PIECES, JSON = (FIXTURES / name for name in ("tiny.tiktoken", "tiny-spm.model", "tiny-bpe.json"))
OPENAI = {"main_api": "openai", "oai_settings": {"chat_completion_source": "openai", "openai_model": "gpt-4o"}}
CLAUDE = {"main_api": "openai", "oai_settings": {"chat_completion_source": "claude"}}
LLAMA = {"main_api": "koboldhorde"}


@pytest.fixture
def st(tmp_path: Path) -> Path:
    """A folder like SillyTavern's, with tiny files under the names of real ones."""
    root = tmp_path / "SillyTavern"
    for part in ("src/tokenizers", "node_modules/tiktoken/encoders", "data/default-user/chats/Wren", "data/_cache"):
        (root / part).mkdir(parents=True)
    shutil.copy(FIXTURES / "tiny-npm-encoder.json", root / "node_modules/tiktoken/encoders/o200k_base.json")
    shutil.copy(PIECES, root / "src/tokenizers/llama.model")
    shutil.copy(JSON, root / "src/tokenizers/claude.json")
    shutil.copy(JSON, root / "src/tokenizers/llama3.json")
    return root


def chosen(st: Path, settings: dict[str, Any], asked: str = "") -> TokenCounting:
    path = st / "data/default-user/settings.json"
    path.write_text(json.dumps(settings))
    return counting_for(asked, (None, st / "data/default-user/chats/Wren/a.jsonl"))


@pytest.mark.parametrize(
    ("settings", "file", "way"),
    [(OPENAI, RANKS, CountingWay.CHAT), (CLAUDE, JSON, CountingWay.CHAT), (LLAMA, PIECES, CountingWay.PLAIN)],
)
def test_sillytaverns_settings_say_who_counts(st: Path, settings: dict[str, Any], file: Path, way: CountingWay) -> None:
    found = chosen(st, settings)
    wanted = TokenizerCounter(read_tokenizer(file), way)
    text = "The keeper of the ninth bell"
    assert (found.budgets.count(text), found.budgets.identity) == (wanted.count(text), wanted.identity)
    assert found.budgets.exact
    assert found.bills.count(text) == read_tokenizer(file).tokens(text)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (OPENAI, False),
        (CLAUDE, True),
        (LLAMA, False),
        ({"main_api": "openai", "oai_settings": {
            "chat_completion_source": "openrouter", "openrouter_model": "anthropic/Claude-sonnet"}}, True),
        ({"main_api": "openai", "oai_settings": {
            "chat_completion_source": "custom", "custom_model": "my-claude"}}, True),
        ({**LLAMA, "oai_settings": {"chat_completion_source": "claude"}}, False),
    ],
)  # fmt: skip
def test_sillytaverns_settings_say_whether_claude_writes(st: Path, settings: dict[str, Any], expected: bool) -> None:
    assert chosen(st, settings).for_claude is expected


def test_only_the_models_own_tokenizer_bills_exactly(st: Path) -> None:
    assert chosen(st, OPENAI).bills.exact
    assert not chosen(st, CLAUDE).bills.exact


def test_a_missing_file_falls_back_as_sillytavern_does_and_says_so(st: Path) -> None:
    found = chosen(st, {"main_api": "openai", "oai_settings": {"chat_completion_source": "deepseek"}})
    assert found.budgets.identity == TokenizerCounter(read_tokenizer(JSON), CountingWay.CHAT).identity
    assert "deepseek.json, which is not in its folder" in found.problems[0]


def test_without_a_file_an_estimate_says_what_to_do(st: Path) -> None:
    found = chosen(st, {"main_api": "openai", "oai_settings": {"chat_completion_source": "makersuite"}})
    assert not found.budgets.exact
    assert "gemma.model" in found.problems[0]
    guess = chosen(st, {"main_api": "novel", "nai_settings": {"model_novel": "glm"}})
    assert guess.budgets is BYTES_3_35


def test_what_the_settings_cannot_tell_is_asked(st: Path) -> None:
    text = {"main_api": "textgenerationwebui", "textgenerationwebui_settings": {"type": "koboldcpp"}}
    assert "Choose a tokenizer for this model" in chosen(st, text).problems[-1]
    router = {"chat_completion_source": "openrouter", "openrouter_model": "x/y"}
    assert "OpenRouter" in chosen(st, {"main_api": "openai", "oai_settings": router}).problems[-1]


def test_a_person_may_say_otherwise(st: Path, tmp_path: Path) -> None:
    assert (
        chosen(st, OPENAI, str(PIECES)).budgets.identity
        == TokenizerCounter(read_tokenizer(PIECES), CountingWay.CHAT).identity
    )
    assert chosen(st, OPENAI, f"plain:{PIECES}").budgets.name.endswith("(plain completion)")
    assert chosen(st, LLAMA, f"chat:{PIECES}").budgets.name.endswith("(chat completion)")
    assert chosen(st, LLAMA, "chars/4").budgets is CHARS_4
    assert chosen(st, OPENAI, "estimate").budgets is BY_SCRIPT
    preset = tmp_path / "preset.json"
    preset.write_text(json.dumps({"chat_completion_source": "claude", "openai_model": "gpt-4"}))
    assert chosen(st, OPENAI, str(preset)).budgets.identity == chosen(st, CLAUDE).budgets.identity
    with pytest.raises(TokenizerError, match="no such file"):
        counting_for("/nowhere/a.model")


def test_a_connection_profile_may_say(st: Path) -> None:
    profiles = [
        {"name": "Mine", "id": "1", "api": "claude", "model": "claude-x"},
        {"name": "Local", "api": "koboldcpp"},
    ]
    settings = OPENAI | {"extension_settings": {"connectionManager": {"profiles": profiles}}}
    assert chosen(st, settings, "profile:Mine").budgets.identity == chosen(st, CLAUDE).budgets.identity
    assert chosen(st, settings, "profile:Local").budgets.name == "llama (plain completion)"
    with pytest.raises(TokenizerError, match="no connection profile “Other”"):
        chosen(st, settings, "profile:Other")
    with pytest.raises(TokenizerError, match="Give that file"):
        counting_for("profile:Mine")


def test_folders_are_those_above_the_files(st: Path) -> None:
    assert sillytavern_folders([st / "data/default-user/settings.json", None]) == (st / "data", st)


def test_files_on_a_disk_that_went_away_are_not_there(
    st: Path, go_away: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(st / "data/_cache"))
    assert chosen(st, OPENAI).budgets.name == "o200k_base (chat completion)"
    go_away(st / "node_modules", st / "src", st / "data/_cache")
    assert sillytavern_folders([st / "data/default-user/settings.json"]) == ()
    assert chosen(st, OPENAI).budgets.name == "estimate for o200k"


def test_the_chats_own_counts_prove_or_refute(st: Path) -> None:
    count = TokenizerCounter(read_tokenizer(PIECES), CountingWay.PLAIN).count
    texts = ["The bell rang.", "Nobody slept.", "Pym wrote a letter."]
    messages = tuple(Message("Wren", text, extra={"token_count": count(text)}) for text in texts)
    (st / "data/default-user/settings.json").write_text(json.dumps(LLAMA))
    near = [st / "data/default-user/settings.json"]
    assert counting_for("", near, Chat(messages)).agreement.startswith("3 of 3 counts")
    wrong = counting_for(str(RANKS), near, Chat(messages))
    assert "Another tokenizer" in wrong.problems[-1]
    guess = counting_for("estimate", near, Chat(messages)).budgets
    assert abs(sum(map(guess.count, texts)) - sum(map(count, texts))) <= 3
    own = tuple(Message("Wren", text, extra={"token_count": BY_SCRIPT.count(text)}) for text in texts)
    assert counting_for("estimate", near, Chat(own)).sentence.endswith("3 counts in the chat, half of them within 1%.")


def test_a_counter_is_named_in_scenarios(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("lorestudio.studio.project.tokens.own_folder", lambda: tmp_path)
    counter = TokenizerCounter(read_tokenizer(PIECES), CountingWay.CHAT)
    word = word_of(counter)
    with pytest.raises(TokenizerError, match="Put its file into"):
        counter_by_word(word)
    shutil.copy(PIECES, tmp_path / "any.model")
    assert counter_by_word(word).identity == counter.identity
    guess = counting_for("o200k").budgets
    assert counter_by_word(word_of(guess)).identity == guess.identity
    by_script = ScriptEstimate(BY_SCRIPT.name, BY_SCRIPT.weights, 0.9711)  # what the chat's own counts have shown
    assert counter_by_word(word_of(by_script)).identity == by_script.identity
    for odd in ("chars5", "chat:x", "estimate:no*1", "estimate:script*nan", "estimate:script*0"):
        with pytest.raises(TokenizerError):
            counter_by_word(odd)


# ---- in a project ---------------------------------------------------------------------------------------------------


def test_another_tokenizer_counts_every_note_and_parses_none() -> None:
    before = demo_project()
    after = before.with_tokenizer(str(PIECES))
    assert before.vault_state is not None
    assert after.vault_state is not None
    assert [vault.files for vault in after.vault_state.vaults] == [vault.files for vault in before.vault_state.vaults]
    count = read_tokenizer(PIECES).tokens
    assert [entry.tokens for entry in after.index.entries] == [count(entry.content) for entry in after.index.entries]
    assert [entry.tokens for entry in after.with_tokenizer("").index.entries] == [
        entry.tokens for entry in before.index.entries
    ]


def test_a_run_says_who_counted_and_agrees_with_itself() -> None:
    project = open_project(
        [resource("demo", "vault")], resource("demo", "chat.jsonl"), resource("demo", "settings.json"),
        tokenizer=f"chat:{RANKS}",
    )  # fmt: skip
    trace = replay(project)[0]
    assert trace.facts["counter"] == "tiny (chat completion)"
    assert trace.facts["counted_exactly"] is True
    whole = [each for each in trace.injections if not each.truncated]
    assert {each.tokens for each in whole} <= {entry.tokens for entry in project.index.entries}


def test_compare_says_how_many_replies_a_tokenizer_changes() -> None:
    project = demo_project()
    project = replace(project, settings=project.settings.model_copy(update={"max_tokens_budget": 600}))
    runs = [Candidate(name, "deeplore", tokenizer=name) for name in ("estimate", str(PIECES))]
    found = asyncio.run(compare_candidates(project, runs))
    differ = sum(one.shares[0].notes != one.shares[1].notes for one in found.turns)
    assert 0 < found.changed <= differ <= len(found.turns) == 27


def test_the_tokenizer_alone_is_found_to_have_made_the_difference() -> None:
    """At 600 tokens the list ends elsewhere; no note and no setting is another one."""
    project = demo_project()
    project = replace(project, settings=project.settings.model_copy(update={"max_tokens_budget": 600}))
    runs = [Simulator(each) for each in (project, project.with_tokenizer(str(PIECES)))]
    for each in runs:
        asyncio.run(each.replay())
    turn = next(each for each in turn_diffs(*runs) if each.diff is not None and each.diff.entered + each.diff.left)
    causes = find_causes(*(side_of(each, turn.generation) for each in runs))
    first = causes.causes[0]
    assert (first.difference.title, first.difference.before, first.difference.after) == (
        "Token counter", "estimate by script", "tiny-spm (plain completion)",
    )  # fmt: skip
    assert not causes.unexplained
    assert [each.difference.title for each in causes.causes if each.alone or each.together] == ["Token counter"]


def test_what_is_wrong_with_a_tokenizer_is_told_as_long_as_it_counts() -> None:
    project = demo_project()
    told = project.with_tokenizer("claude")
    assert [each for each in told.problems if each not in project.problems] == list(told.counting.problems) != []
    assert told.with_tokenizer("").problems == project.problems
