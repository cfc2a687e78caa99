"""What the documents say of commands, options, switches, stages and reasons is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from click.testing import Result

from lorestudio.settings.behaviour import switches
from lorestudio.settings.contextwindow import ContextWindowStage
from lorestudio.settings.declaration import DeepLoreStage
from lorestudio.settings.facts import FactsStage
from lorestudio.settings.hybrid import HybridStage
from lorestudio.settings.recap import RecapStage
from lorestudio.settings.worldinfo import WorldInfoStage
from lorestudio.studio.project.modes import Mode
from lorestudio.systems.deeplore.words import VOCABULARY

Run = Callable[..., Result]
ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = ROOT / "resources" / "docs"
TRACES = (DOCS / "traces.md").read_text(encoding="utf-8")
AI_SELECTION = (DOCS / "ai-selection.md").read_text(encoding="utf-8")


def table_rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table that follows a heading row."""
    rows = text.partition(heading)[2].strip().splitlines()
    found = []
    for row in rows:
        if not row.startswith("|"):
            break
        found.append([cell.strip() for cell in row.strip("|").split("|")])
    return found[1:]


def test_every_switch_is_in_the_table_with_its_words() -> None:
    rows = table_rows(AI_SELECTION, "| Switch | Stage | As DeepLore | Fixed |")
    assert [row[0].strip("`") for row in rows] == [switch.name for switch in switches()]
    for row, switch in zip(rows, switches(), strict=True):
        assert row[1] == switch.affects
        assert f"As DeepLore: {row[2]} Fixed: {row[3]}".lower() == switch.help.lower()


def test_stages_in_the_documents_exist() -> None:
    named: list[str] = []
    for row in table_rows(TRACES, "| Phase | Stages | What they do |"):
        named += row[1].split(", ")
    for row in table_rows(TRACES, "| Stage | What it does |"):
        named += row[0].split(", ")
    assert set(named) == set(get_args(DeepLoreStage))


@pytest.mark.parametrize(
    ("page", "stages"),
    [
        ("context-window.md", ContextWindowStage),
        ("fact-memory.md", FactsStage),
        ("hybrid-retrieval.md", HybridStage),
        ("recap-memory.md", RecapStage),
        ("world-info.md", WorldInfoStage),
    ],
)
def test_the_page_of_a_system_names_its_stages(page: str, stages: object) -> None:
    text = (DOCS / page).read_text(encoding="utf-8").lower()
    assert all(f"**{stage}" in text for stage in get_args(stages))


def test_reasons_in_the_documents_exist() -> None:
    rows = table_rows(TRACES, "| Code | Meaning | What to do |")
    more = TRACES.partition("With AI selection:")[2]
    rows += table_rows(more, "| Code | Meaning | What to do |")
    codes = {code for row in rows for code in re.findall(r"`(\w+)`", row[0])}
    assert len(codes) > 20
    assert codes <= set(VOCABULARY.reasons)


COMMANDS = ["replay", "lint", "scribe", "profiles add", "open", "demo", "run", "history", "preview", "settings list",
            "settings export", "settings import"]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_options_in_the_readme_exist(lorestudio: Run, command: str) -> None:
    help_text = lorestudio(*command.split(), "--help").stdout
    lines = [line for line in README.splitlines() if re.search(rf"`(?:\$ )?(?:lorestudio )?{command} ", line)]
    options = {option for line in lines for part in re.findall(rf"`[^`]*{command} [^`]*`", line)
               for option in re.findall(r"(?<!\w)--?[a-z][a-z-]*", part)}  # fmt: skip
    missing = {option for option in options if option not in help_text}
    assert missing == set()
    assert options or command == "demo"


def test_modes_in_the_readme() -> None:
    rows = table_rows(README, "| Mode | What happens |")
    assert [row[0].strip("`") for row in rows] == list(Mode)


@pytest.mark.parametrize("path", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), target


def test_every_place_that_the_guide_for_contributors_names_is_there() -> None:
    text = (DOCS / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:lorestudio/|tests/|resources/)[^`\s]*)`", text))
    assert len(named) > 40
    assert sorted(place for place in named if not (ROOT / place).exists()) == []
