"""`lorestudio usage`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from tests.cli.conftest import Run


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, Path, Path]:
    vault, chat, settings = tmp_path / "vault", tmp_path / "chat.jsonl", tmp_path / "settings.json"
    vault.mkdir()
    for name in ("Lamp", "Tide"):
        (vault / f"{name}.md").write_text(f"---\ntags: [lorebook]\nkeys: [{name.lower()}]\n---\nText.\n", "utf-8")
    said = (("Ada", "Welcome."), ("Wren", "The lamp?"), ("Ada", "Yes."))
    records: list[dict[str, object]] = [{"user_name": "Wren", "character_name": "Ada", "chat_metadata": {}}]
    records += [{"name": name, "mes": text, "is_user": name == "Wren"} for name, text in said]
    chat.write_text("\n".join(map(json.dumps, records)), "utf-8")
    counts = {"Default:Tide": {"matched": 6, "injected": 5, "lastTriggered": 1_700_000_000_000}}
    settings.write_text(json.dumps({"enabled": True, "analyticsData": counts}), "utf-8")
    return vault, chat, settings


def test_counts_of_the_chat_and_of_deeplore(lorestudio: Run, world: tuple[Path, Path, Path]) -> None:
    vault, chat, settings = world
    result = lorestudio("usage", vault, "--chat", chat, "--settings", settings, "--json")
    rows = {row["title"]: row for row in json.loads(result.stdout)}
    told = ("matched", "injected", "recorded_matched", "recorded_injected", "last_used")
    assert tuple(rows["Lamp"][name] for name in told) == (2, 2, 0, 0, None)
    assert tuple(rows["Tide"][name] for name in told) == (0, 0, 6, 5, "2023-11-14T22:13:20+00:00")


def test_the_table_and_the_file(lorestudio: Run, world: tuple[Path, Path, Path], tmp_path: Path) -> None:
    vault, _chat, settings = world
    (vault / "Voices.md").write_text("---\ntags: [lorebook-guide]\n---\nFor the Librarian alone.\n", "utf-8")
    output = lorestudio("usage", vault, "--settings", settings).output
    assert "2023-11-14" in output
    assert "1 of 2 entries never fired" in " ".join(output.split())
    path = tmp_path / "usage.csv"
    lorestudio("usage", vault, "--settings", settings, "-o", path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbfvault,file,title")
    assert len(path.read_text("utf-8-sig").splitlines()) == 4


@pytest.mark.parametrize("system", ["recap", "facts"])
def test_a_system_without_notes_counts_none(lorestudio: Run, world: tuple[Path, Path, Path], system: str) -> None:
    vault, chat, settings = world
    told = lorestudio("usage", vault, "--chat", chat, "--system", system)
    assert "no run looked at a note of the vault" in " ".join(told.stderr.split())
    assert "never fired" not in told.stdout
    assert "give --chat" not in told.stdout
    assert "here" not in told.stdout
    counted = lorestudio("usage", vault, "--chat", chat, "--settings", settings, "--system", system).stdout
    assert "Tide" in counted  # DeepLore's own counts are shown


def test_who_never_went_in_is_named_with_what_kept_it_out_in_the_whole_chat(
    lorestudio: Run, world: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    """A book, whose fires nobody else counts; the shelf's key was found in the first reply alone."""
    _vault, chat, _settings = world
    entries = {
        "Lamp": {"key": ["lamp"], "content": "Oil."},
        "Shelf": {"key": ["welcome"], "keysecondary": ["dust"], "selective": True, "content": "Oak."},
        "Off": {"key": ["lamp"], "disable": True, "content": "Never."},
        "Tide": {"key": ["tide"], "content": "Low."},
        "Luck": {"key": ["lamp"], "probability": 0, "useProbability": True, "content": "Bad."},
    }
    book = tmp_path / "Book.json"
    numbered = {
        str(uid): {**NEW_ENTRY, "uid": uid, "comment": name, **entry}
        for uid, (name, entry) in enumerate(entries.items())
    }
    book.write_text(json.dumps({"entries": numbered}), encoding="utf-8")
    lines = lorestudio("usage", book, "--chat", chat).stdout.splitlines()
    assert "DeepLore" not in "".join(lines)
    told = lines.index("Never injected: 4 of 5 entries, by what kept them out last:")
    assert sorted(lines[told + 1 : told + 5]) == [
        "  1 lost the draw: Luck",
        "  1 no key found: Tide",
        "  1 secondary keys: Shelf",
        "  1 switched off: Off",
    ]
