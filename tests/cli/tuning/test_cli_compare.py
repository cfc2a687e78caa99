"""`lorestudio compare` and `lorestudio replay --system`."""

import json
import re

import pytest
from typer.testing import CliRunner

from lorestudio.cli.app import app
from lorestudio.domain.resources import resource
from lorestudio.trace.storage.serialize import from_json

RUN = CliRunner()
DEMO = resource("demo")
SYSTEMS = ("deeplore", "context-window", "hybrid", "world-info", "recap", "facts")
WORLD = [str(DEMO / "vault"), "--chat", str(DEMO / "chat.jsonl"), "--settings", str(DEMO / "settings.json")]


def run(*arguments):
    return RUN.invoke(app, list(arguments), env={"COLUMNS": "120"})


def test_compare_says_what_each_run_alone_puts_in():
    result = run("compare", *WORLD, "--run", "deeplore", "--run", "context-window")
    assert result.exit_code == 0
    assert "over the whole chat" in result.output
    assert "1 deeplore" in result.output
    assert "2 context-window" in result.output
    assert "notes" not in result.output.partition("over the whole chat")[2]  # recaps and lorebooks count here, too
    assert "what made the difference" not in result.output  # that is known of rules


SIX = [part for name in SYSTEMS for part in ("--run", name)]


@pytest.mark.parametrize(("command", "after"), [("compare", "over the whole chat"), ("score", "scores, with")])
def test_no_figure_of_many_runs_is_cut_off_at_a_narrow_terminal(command, after):
    told = RUN.invoke(app, [command, *WORLD, *SIX], env={"COLUMNS": "80"}).output
    totals = told.partition(after)[2].partition("never used")[0]
    assert "…" not in totals
    assert all(name in totals for name in SYSTEMS)
    runs = json.loads(run(command, *WORLD, *SIX, "--json").output)["runs"]
    for each in runs:
        tokens = each["tokens_per_turn"] if command == "compare" else each["metrics"]["tokens"]["value"]
        assert f" {tokens:,.0f} " in totals


def test_compare_as_data():
    result = run("compare", *WORLD, "--run", "deeplore", "--run", "context-window", "--json")
    document = json.loads(result.output)
    assert [each["label"] for each in document["runs"]] == ["deeplore", "context-window"]
    first = document["turns"][0]
    assert {entry["title"] for entry in first["runs"][0]["entries"]} >= set(first["runs"][0]["alone"])


def test_replay_with_another_system():
    result = run("replay", *WORLD, "--system", "context-window", "--set", "total_token_budget=300", "--json")
    traces = [from_json(document) for document in json.loads(result.output)]
    assert {trace.system for trace in traces} == {"context-window"}
    assert all(trace.limits[0].maximum == 300 for trace in traces)
    assert run("replay", *WORLD, "--system", "context-window").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["replay", *WORLD, "--system", "deep"], "there is no system “deep”"),
        (["replay", *WORLD, "--system", "context-window", "--set", "budget"], "Write budget=VALUE"),
        (["replay", *WORLD, "--system", "context-window", "--system-settings", "/no/such.json"], "no such file"),
        (["compare", *WORLD, "--run", "deeplore", "--run", "deep"], "--run: there is no system “deep”"),
        (["compare", *WORLD, "--run", "deeplore"], "at least two runs"),
    ],
)
def test_bad_input_is_named(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_replay_over_lorebooks(tmp_path):
    entry = {
        "uid": 0,
        "key": ["kite"],
        "constant": True,
        "content": "Kites.",
        "comment": "Kites",
        "future": 1,
        "position": 0,
    }
    for name in ("Hollin", "Quay"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"entries": {"0": entry}}))
    books = ["--book", str(tmp_path / "Hollin.json"), "--book", f"chat:{tmp_path / 'Quay.json'}"]
    result = run("replay", *WORLD, "--system", "worldinfo", *books, "--json")
    assert result.exit_code == 0
    assert "2 books (Hollin, Quay): 1 entry has the field “future”" in result.stderr
    traces = [from_json(document) for document in json.loads(result.stdout)]
    assert all({ref.vault for ref in trace.entries.values()} == {"Hollin", "Quay"} for trace in traces)
    result = run("compare", *WORLD, "--run", "world-info", "--run", "hybrid", *books, "--json")
    first = json.loads(result.stdout)["turns"][0]["runs"][0]["entries"]
    assert [each["vault"] for each in first] == ["Hollin", "Quay"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--book", "a.json"], "--system world-info"),
        (["--system", "hybrid", "--book", "a.json"], "--system world-info"),
        (["--system", "world-info", "--book", "chat:/no/such.json"], "no such file"),
        (["--system", "world-info", "--card", "/no/such.png"], "no such file"),
    ],
)
def test_lorebooks_that_cannot_be_used(arguments, words):
    result = run("replay", *WORLD, *arguments)
    assert result.exit_code == 2
    assert words in result.output


@pytest.mark.long
def test_compare_two_versions_rules_and_say_which_rule_did_what():
    document = json.loads(run("compare", *WORLD, "--rules", "2.0.2", "--rules", "2.6", "--json").output)
    assert [each["label"] for each in document["runs"]] == ["DeepLore 2.0.2", "DeepLore 2.6"]
    assert document["rules"][0] == {"rule": "Duplicate stripping", "turns": 26}
    fourth = next(turn for turn in document["turns"] if turn["message"] == 4)
    assert fourth["runs"][0]["why"] == dict.fromkeys(fourth["runs"][0]["alone"], "Duplicate stripping")
    assert all(why for turn in document["turns"] for each in turn["runs"] for why in each["why"].values())
    shown = run("compare", *WORLD, "--rules", "2.0.2", "--rules", "2.6").output.partition("what made the difference")[2]
    assert re.search(r"Duplicate stripping\W+26\b", shown)


def test_rules_that_there_are_not_are_refused():
    result = run("compare", *WORLD, "--rules", "2.7", "--rules", "2.6")
    assert result.exit_code == 2
    assert "--rules: '2.7' names no rules. Write 2.0.2 or 2.6" in result.output
