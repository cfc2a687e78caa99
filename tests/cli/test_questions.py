"""Commands that ask before they write: whoever is asked and says no, or is not there, is told the same by each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lorestudio.cli.app import app
from tests.systems.recap.files import write_chat

Run = Callable[..., Result]


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def asking(lorestudio: Run, tmp_path: Path) -> dict[str, list[Any]]:
    """The arguments of each command, all of them about files in one folder."""
    folder = tmp_path / "files"
    folder.mkdir()
    book, notes, chat = folder / "book.json", folder / "notes", write_chat(folder / "Tale.jsonl")
    book.write_text(
        json.dumps({"entries": {"0": {"uid": 0, "key": ["bell"], "comment": "Bell", "content": "It rings."}}})
    )
    lorestudio("import", book, "--into", notes, "--yes")
    book.write_text(book.read_text().replace("It rings.", "It is rung."))
    host = folder / "settings.json"
    host.write_text(json.dumps({"extension_settings": {"deeplore_enhanced": {}}, "power_user": {}}))
    tuned = folder / "tuned.json"
    tuned.write_text('{"scanDepth": 9}')
    lorestudio("recap", "run", "--chat", chat, "--message", 0)
    facts = ["--set", f"store={folder / 'memories.sqlite'}"]
    lorestudio("facts", "extract", chat, *facts)
    memory = json.loads(lorestudio("facts", "list", *facts, "--json").stdout)[0]["id"]
    return {
        "import": ["import", book, "--into", folder / "other"],
        "export": ["export", notes, "--to", folder / "out.json"],
        "sync": ["sync", notes],
        "settings export": ["settings", "export", "--settings", tuned, "--to", host],
        "facts delete": ["facts", "delete", memory, *facts],
        "recap clear": ["recap", "clear", "--chat", chat],
    }


@pytest.mark.parametrize("name", ["import", "export", "sync", "settings export", "facts delete", "recap clear"])
def test_without_a_yes_nothing_is_changed_and_every_command_says_so_alike(
    asking: dict[str, list[Any]], name: str, tmp_path: Path
) -> None:
    before = contents(tmp_path / "files")
    arguments = [str(each) for each in asking[name]]
    for words, code, said in (
        ("n\n", 130, "[y/N] lorestudio: stopped; nothing was changed.\n"),
        ("\n", 130, "[y/N] lorestudio: stopped; nothing was changed.\n"),
        ("", 2, "[y/N] \nlorestudio: --yes: nobody is here to agree, so nothing was changed. Give --yes to agree.\n"),
    ):
        result = CliRunner().invoke(app, arguments, input=words)
        assert (result.exit_code, result.stderr.endswith(said)) == (code, True), result.output
        assert "[y/N]" not in result.stdout
        assert contents(tmp_path / "files") == before
    assert CliRunner().invoke(app, arguments, input="y\n").exit_code == 0
    assert contents(tmp_path / "files") != before
