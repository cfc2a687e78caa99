"""Files that a command writes (see `cli.written`): no chat, note or book is lost to a mistaken name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.mark.parametrize(
    "asked",
    [
        ("usage", "{vault}", "--chat", "{chat}", "-o", "{chat}"),
        ("usage", "{vault}", "-o", "{chat}"),
        ("scenario", "{vault}", "--chat", "{chat}", "-o", "{chat}"),
        ("report", "{vault}", "--chat", "{chat}", "-o", "{vault}/Lamp.md"),
        ("report", "{vault}", "--chat", "{chat}", "--settings", "{settings}", "-o", "{settings}"),
        ("report", "{vault}", "--chat", "{chat}", "-o", "{basis}"),
        ("run", "{scenario}", "-o", "{scenario}"),
        ("check", "{vault}", "--chat", "{chat}", "--junit", "{chat}"),
        ("tune", "{vault}", "--chat", "{chat}", "--run", "hybrid:{settings}", "--output", "{settings}"),
        ("tune", "{vault}", "--chat", "{chat}", "--report", "{vault}/Lamp.md"),
        ("import", "{book}", "--into", "{vault}", "--yes", "--report", "{book}"),
        ("import", "{book}", "--into", "{vault}", "--yes", "--report", "{chat}"),
        ("demo", "--screenshot", "{chat}"),
        ("open", "{vault}", "--screenshot", "{vault}/Lamp.md"),
    ],
)
def test_what_people_wrote_is_not_written_over(
    lorestudio: Run, vault: Path, chat: Path, scenario: object, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    made = {
        "settings": "{}", "basis": "{}", "scenario": json.dumps(scenario),
        "book": json.dumps({"entries": {"0": {"uid": 0, "key": ["wharf"], "content": "A wharf."}}}),
    }  # fmt: skip
    names = {"vault": vault, "chat": chat, **{name: tmp_path / f"{name}.json" for name in made}}
    names["basis"] = chat.with_name("chat.lorestudio.json")
    for name, text in made.items():
        names[name].write_text(text, encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = lorestudio(*(part.format(**names) for part in asked))
    assert result.exit_code == 2
    assert "Choose another name" in result.stderr
    assert {path: path.read_bytes() for path in before} == before


def test_a_link_to_what_is_read_is_the_same_file(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    (link := tmp_path / "list.csv").symlink_to(chat)
    assert lorestudio("usage", vault, "--chat", chat, "-o", link).exit_code == 2


def test_a_result_is_written_again(lorestudio: Run, vault: Path, chat: Path) -> None:
    for arguments in (
        ("report", vault, "--chat", chat, "-o", "lore.md"),
        ("scenario", vault, "--chat", chat, "-o", "turn.json"),
        ("usage", vault, "-o", "list.csv"),
        ("usage", vault, "-o", "list"),
        ("run", "turn.json", "-o", "out.jsonl"),
    ):
        for _ in range(2):
            assert lorestudio(*arguments).exit_code == 0
