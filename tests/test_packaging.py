"""What the package says of itself is true: its dependencies and the files it takes along."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
IMPORTED_AS = {
    "frontmatter": "python-frontmatter",
    "ahocorasick": "pyahocorasick",
    "httpx_sse": "httpx-sse",
    "PySide6": "PySide6-Essentials",
    "rank_bm25": "rank-bm25",
    "ruamel": "ruamel.yaml",
}


def imported() -> dict[str, str]:
    """Top-level names of third-party imports, with a file that has them."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "lorestudio").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            for name in names:
                found.setdefault(name.partition(".")[0], str(path.relative_to(ROOT)))
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names and name != "lorestudio"}


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~;\[ ]", requirement)[0] for requirement in requirements}


@pytest.mark.long
def test_whatever_is_imported_is_declared() -> None:
    declared = names(PYPROJECT["project"]["dependencies"])
    missing = {name: path for name, path in imported().items() if IMPORTED_AS.get(name, name) not in declared}
    assert missing == {}


def test_no_address_of_a_package_registry_is_in_the_tree() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "://" not in text
    assert not list(ROOT.glob("*.lock"))


def test_resources_go_along() -> None:
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"resources": "lorestudio/resources"}
    for name in ("demo/vault/The Brume.md", "demo/chat.jsonl", "demo/STORY.md"):
        assert (ROOT / "resources" / name).is_file()


def test_the_readme_shows_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install . && lorestudio demo" in text
    assert 'pip install ".[test]" && pytest' in text


def test_the_readmes_links_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        if not target.endswith(".png"):  # the pictures are taken last
            assert (ROOT / target).exists(), target


POSIX_ALONE = {"crypt", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}


@pytest.mark.long
def test_modules_that_only_posix_has_are_imported_behind_a_question_for_the_system() -> None:
    found = []
    for path in sorted((ROOT / "lorestudio").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if POSIX_ALONE & set(names) and not (node.col_offset and "sys.platform" in text):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []
