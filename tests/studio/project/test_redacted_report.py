"""No word of a vault or a chat is in a redacted report, and what happened can still be read."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import lorestudio
from lorestudio.domain.records import field_names, is_record
from lorestudio.domain.resources import resource
from lorestudio.settings.deeplore import dump
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.project.settings import Mode, with_mode
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.report.page import Format, report_text
from lorestudio.studio.report.source import ReportSource, gather, without_words
from lorestudio.trace.journey import Journeys
from tests.studio.report.worlds import MARK, replayed, secret_world

WORD = re.compile(r"[^\W\d_]{4,}")


@pytest.fixture(params=["keywords-only", "two-stage", "ai-only"])
def secret(request: pytest.FixtureRequest, tmp_path: Path) -> Simulator:
    return replayed(*secret_world(tmp_path, request.param))


def everywhere(source: ReportSource) -> Iterator[str]:
    for wanted in Format:
        yield report_text(source, wanted)


def test_the_report_itself_tells_the_words(secret: Simulator) -> None:
    source = gather(secret.project, secret.traces, secret.generations[-1])
    assert all(MARK in text for text in everywhere(source))


def test_no_word_of_the_vault_or_the_chat_survives(secret: Simulator, tmp_path: Path) -> None:
    for chosen in (*secret.generations, None):
        source = without_words(gather(secret.project, secret.traces, chosen))
        for text in everywhere(source):
            assert MARK not in text.casefold()
            assert str(tmp_path) not in text
    assert MARK not in repr(without_words(gather(secret.project, secret.traces))).casefold()


def test_the_world_comes_to_every_place_where_a_word_could_hide(tmp_path: Path) -> None:
    traces = []
    for mode in Mode:
        (tmp_path / mode).mkdir()
        traces += replayed(*secret_world(tmp_path / mode, mode)).traces.values()
    reasons = {each.reason for trace in traces for record in trace.stages for each in record.verdicts}
    assert reasons >= {
        "key_hit", "gated_field", "outlet", "ai_pick", "pinned", "pin_upgraded", "probability_zero", "refine_blocked",
        "truncated", "behind_cut", "fuzzy", "outside_folders", "blocked", "cascade",
    }  # fmt: skip
    assert any(call.error for trace in traces for call in trace.ai_calls)
    assert any(call.reply for trace in traces for call in trace.ai_calls)


def test_numbers_and_reasons_stay(secret: Simulator) -> None:
    source = gather(secret.project, secret.traces)
    silent = without_words(source)
    for before, after in zip(source.turns, silent.turns, strict=True):
        assert before.trace.total_tokens == after.trace.total_tokens
        assert before.trace.limits == after.trace.limits
        assert before.trace.draws == after.trace.draws
        for record, kept in zip(before.trace.stages, after.trace.stages, strict=True):
            assert (record.name, record.entered, record.left) == (kept.name, kept.entered, kept.left)
            assert [(each.entry, each.outcome, each.reason) for each in record.verdicts] == [
                (each.entry, each.outcome, each.reason) for each in kept.verdicts
            ]
        fates = [(each.entry, each.state, each.reason) for each in Journeys(before.trace).fates.values()]
        assert fates == [(each.entry, each.state, each.reason) for each in Journeys(after.trace).fates.values()]


def test_the_same_text_has_the_same_stand_in_everywhere(secret: Simulator) -> None:
    source = gather(secret.project, secret.traces)
    silent = without_words(source)
    names: dict[str, str] = {}
    for before, after in zip(source.turns, silent.turns, strict=True):
        for number, ref in before.trace.entries.items():
            stand_in = after.trace.entries[number].title
            assert names.setdefault(ref.title, stand_in) == stand_in
            assert re.fullmatch(r"Entry \d+", stand_in)
    assert len(set(names.values())) == len(names)


def test_settings_with_texts_of_their_own_are_told_by_length(secret: Simulator) -> None:
    silent = without_words(gather(secret.project, secret.traces, secret.generations[0]))
    told = {setting.title: setting.value for setting in silent.settings}
    assert told["Token budget"] == "200"
    assert told["Recursive scan"] == "on"
    assert told["Template"].endswith("characters, left out)")
    assert len(told) == len(set(dump(secret.project.settings)) - {"enabled"}) + ("DeepLore on" in told)


@cache
def own_words() -> frozenset[str]:
    """Every word of four letters and more in the program's own texts."""
    found: set[str] = set()
    root = Path(lorestudio.__file__).parent
    for folder in ("trace", "studio/report", "settings", "systems", "llm"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.update(word.casefold() for word in WORD.findall(node.value))
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    found.update(word.casefold() for word in WORD.findall(node.target.id))  # names of JSON fields
                if isinstance(node, ast.keyword) and node.arg:
                    found.update(word.casefold() for word in WORD.findall(node.arg))
    for file in (resource("themes", "colors.toml"), resource("report", "page.css")):
        found.update(word.casefold() for word in WORD.findall(file.read_text("utf-8")))
    return frozenset(found)


@pytest.mark.long
@pytest.mark.parametrize("mode", list(Mode))
def test_the_demo_is_unrecognisable(mode: Mode) -> None:
    project = with_mode(demo_project(), mode)
    told = [path.read_text(encoding="utf-8", errors="ignore") for path in resource("demo").rglob("*.md")]
    told += [(resource("demo") / "chat.jsonl").read_text(encoding="utf-8")]
    told += [str(path.relative_to(resource("demo"))) for path in resource("demo").rglob("*")]
    theirs = {word.casefold() for text in told for word in WORD.findall(text)} - own_words()
    assert "ottoline" in theirs
    assert "lighthouse" in theirs or len(theirs) > 1000
    simulator = replayed(project)
    for text in everywhere(without_words(gather(project, simulator.traces))):
        words = {word.casefold() for word in WORD.findall(text)}
        assert words & theirs == set()


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_record(type(value)):
        for name in field_names(type(value)):
            yield from strings(getattr(value, name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def test_nothing_hides_in_the_data_either(secret: Simulator) -> None:
    silent = without_words(gather(secret.project, secret.traces, secret.generations[-1]))
    assert not [text for text in strings(silent) if MARK in text.casefold()]
    assert json.loads(report_text(silent, Format.JSON))["redacted"] is True
