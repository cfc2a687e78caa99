"""What the documents say of commands, options, switches, stages and reasons is there."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from lorestudio.cli.app import COMMANDS, app
from lorestudio.cli.command import examples
from lorestudio.settings.behaviour import switches
from lorestudio.settings.contextwindow import ContextWindowStage
from lorestudio.settings.declaration import DeepLoreStage, declared
from lorestudio.settings.facts import FactsStage
from lorestudio.settings.hybrid import HybridStage
from lorestudio.settings.recap import RecapStage
from lorestudio.settings.worldinfo import WorldInfoStage
from lorestudio.studio.project.settings import Mode
from lorestudio.systems.deeplore.words import VOCABULARY
from lorestudio.systems.registry import KINDS

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
        assert (row[1],) == switch.affects
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


def written_commands() -> list[tuple[str, str, list[str]]]:
    """Page, command and options of every command line that a page shows."""
    found = []
    for page in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]:
        if page.name == "commands.md":
            continue
        text = page.read_text(encoding="utf-8")
        for line in re.findall(r"(?:`|^\$ |^)lorestudio ([a-z][^`\n]*)", text, re.MULTILINE):
            words = line.split()
            if words[0] in COMMANDS:
                options = re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", line)
                below = f" {words[1]}" if words[0] in BELOW and len(words) > 1 else ""
                found.append((page.name, words[0] + below, options))
    return found


BELOW = {"captures", "profiles", "propose", "settings", "tokens", "recap", "facts", "presets"}


def test_options_that_the_documents_show_exist(lorestudio: Run) -> None:
    written = written_commands()
    assert {command.split()[0] for _page, command, _options in written} >= {"open", "replay", "lint", "profiles"}
    helps = {command: lorestudio(*command.split(), "--help").stdout for _page, command, options in written if options}
    missing = [(page, command, option) for page, command, options in written for option in options
               if option not in helps[command]]  # fmt: skip
    assert missing == []


EXAMPLES = (DOCS / "examples.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_is_in_the_help_of_its_command_and_can_be_typed(lorestudio: Run, line: str) -> None:
    _program, name, *rest = shlex.split(line)
    command = get_command(app).get_command(None, name)
    below = [rest.pop(0)] if name in BELOW else []
    for each in below:
        command = command.get_command(None, each)
    command.make_context(name, rest)  # every option and every value is taken
    assert f"\n  {line}\n" in lorestudio(name, *below, "--help").stdout


def test_an_example_is_there_however_the_program_was_called() -> None:
    told = CliRunner().invoke(app, ["undo", "--help"], prog_name="python -m lorestudio").stdout
    assert "\nExample" in told


def test_every_command_has_an_example() -> None:
    group = get_command(app)
    names = [
        " ".join(filter(None, (name, each)))
        for name in COMMANDS for each in getattr(group.get_command(None, name), "commands", [""])
    ]  # fmt: skip
    assert [name for name in names if not examples(name)] == []


def test_the_help_says_of_each_command_a_whole_sentence(lorestudio: Run) -> None:
    for name in ("", *BELOW):
        told = lorestudio(*filter(None, (name,)), "--help").stdout
        assert "..." not in told.partition("\n\n")[2]


def reference() -> ModuleType:
    """The script that makes the pages of all commands and settings."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / ".ci" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_of_commands_and_settings_say_what_the_program_says() -> None:
    assert reference().outdated() == [], "run .ci/reference.py"


def test_every_command_and_setting_is_in_its_page() -> None:
    """Not only what the script finds: what the program itself knows."""
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"\n## {name}\n" not in text] == []
    text = (DOCS / "settings-reference.md").read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert [one.alias for one in declared(kind.settings) if f"| `{one.alias}` |" not in text] == []


def test_the_readme_is_short_and_every_page_is_reached_from_it() -> None:
    assert len(README.splitlines()) < 80
    assert [page.name for page in DOCS.glob("*.md") if f"resources/docs/{page.name})" not in README] == []


def test_modes_in_the_page_on_models() -> None:
    rows = table_rows((DOCS / "models.md").read_text(encoding="utf-8"), "| Mode | What happens |")
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


def test_the_list_of_commands_has_both_directions_choices_bounds_and_defaults() -> None:
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    for option in ("--causes, --no-causes", "--new, --no-new", r"--prefer note\|book", r"--by optuna\|random\|grid"):
        assert f"| `{option}` |" in text
    assert "| So many points at most. At least 1. Default: 100. |" in text
    assert "| The share of replies that is only looked at in the end. 0 to 0.9. Default: " in text
    assert "| `NEW` | The new title. Required. |" in text
    assert "| `--to FILE` | The lorebook's file. Required. |" in text
    assert text.count("Default: `--causes`.") == 1
