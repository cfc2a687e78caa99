"""`lorestudio tokens`, and `--tokenizer` of other commands."""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lorestudio.cli.app import app
from lorestudio.domain.resources import resource

FIXTURES = Path(__file__).parents[1] / "cases" / "fixtures"
RANKS, PIECES = FIXTURES / "tiny.tiktoken", FIXTURES / "tiny-spm.model"
DEMO = (resource("demo", "vault"), "--chat", resource("demo", "chat.jsonl"))


def said(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.output


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("He wrote <|endoftext|> on the wall.", encoding="utf-8")
    return path


@pytest.mark.parametrize(("tokenizer", "tokens", "exact"), [(str(RANKS), 21, True), ("chars/4", 9, False)])
def test_counts_as_json(text: Path, tokenizer: str, tokens: int, exact: bool) -> None:
    found = json.loads(said("tokens", "count", "--tokenizer", tokenizer, "--json", text, text))
    assert found == [{"file": str(text), "tokens": tokens, "exact": exact}] * 2


def test_counts_as_sillytavern_does_where_that_is_asked(text: Path) -> None:
    assert said("tokens", "count", "--tokenizer", f"plain:{RANKS}", text).startswith("0 tokens")
    assert said("tokens", "count", "--tokenizer", f"chat:{RANKS}", text).startswith("9 tokens")
    assert said("tokens", "count", text).startswith("≈ 9 tokens")


def test_a_tokenizer_that_cannot_be_used_gets_a_message(text: Path, tmp_path: Path) -> None:
    broken = tmp_path / "b.json"
    broken.write_text("{")
    for name in ("nonsense", str(broken), str(tmp_path / "none.model")):
        assert name in said("tokens", "count", "--tokenizer", name, text, code=2)
    text.write_bytes(b"\xff")
    assert "is not UTF-8" in said("tokens", "count", text, code=2)


def test_the_list_says_who_counts(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"main_api": "openai", "oai_settings": {"chat_completion_source": "claude"}}))
    found = json.loads(said("tokens", "list", "--settings", settings, "--json"))
    assert found["counts"] == "estimate for claude"
    assert {each["name"] for each in found["tokenizers"]} >= {"claude", "o200k_base", "deepseek"}
    assert "No tokenizer is known" in said("tokens", "list")


def test_runs_are_counted_with_it_and_compared() -> None:
    traces = json.loads(said("replay", *DEMO, "--tokenizer", PIECES, "--messages", "2-2", "--json"))
    assert traces[0]["trace"]["facts"]["counter"] == "tiny-spm (plain completion)"
    compared = json.loads(said("compare", *DEMO, "--tokenizer", "estimate", "--tokenizer", PIECES, "--json"))
    assert [run["label"] for run in compared["runs"]] == ["deeplore, estimate", f"deeplore, {PIECES}"]
    sets = [[{each["file"] for each in run["entries"]} for run in turn["runs"]] for turn in compared["turns"]]
    assert compared["changed"] == sum(one != other for one, other in sets)


@pytest.mark.parametrize(
    "command",
    [
        ("replay", *DEMO, "--messages", "2-2", "--json"),
        ("explain", *DEMO, "--message", "2"),
        ("test", *DEMO[:1], "--text", "Hollin"),
        ("compare", *DEMO, "--tokenizer", "estimate"),
        ("scribe", *DEMO, "--answers", "recorded"),
        ("recap", "status", *DEMO[1:]),
    ],
    ids=itemgetter(0),
)
def test_an_estimate_in_place_of_the_tokenizer_is_said(command: tuple[object, ...]) -> None:
    done = CliRunner().invoke(app, [str(each) for each in (*command, "--tokenizer", "deepseek")])
    assert done.stderr.count("No file of deepseek was found, so tokens are estimated.") == 1


def test_the_doctor_says_what_answers_rest_on() -> None:
    asked = ["doctor", str(resource("demo", "vault")), "--tokenizer", f"chat:{RANKS}"]
    told = " ".join(CliRunner().invoke(app, asked).output.split())  # whether all is well depends on the computer
    assert "Answers: tokens" in told
    assert "tiny (chat)" in told
