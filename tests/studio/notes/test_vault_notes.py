from __future__ import annotations

from pathlib import Path

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.vault_notes import attachments, find_note, home_of, listed
from tests.studio.note_worlds import write_vault


def test_attachments_are_what_is_no_note_and_not_hidden(tmp_path: Path) -> None:
    for name in ("a.md", "b.png", "sub/c.pdf", "sub/d.MD", ".obsidian/app.json", "sub/.hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert attachments(tmp_path) == ("b.png", "sub/c.pdf", "sub/d.MD")


def test_links_to_attachments_are_no_missing_notes(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": "![[map.png]] ![x](pics/map.png) ![[no.png]]", "pics/map.png": ""})
    assert [link.target.filename for link in vault.index.outgoing("A.md")] == ["pics/map.png", "pics/map.png", None]


@pytest.mark.parametrize("words", ["people/hob.md", "people/Hob", "hob", "Hob Thistlewick", "the thief", " Hob "])
def test_find_note(tmp_path: Path, words: str) -> None:
    vault = write_vault(
        tmp_path / "vault", {"people/Hob.md": "---\naliases: [The Thief]\n---\n# Hob Thistlewick\n", "x.png": ""}
    )
    assert find_note(vault, words) == "people/Hob.md"
    with pytest.raises(InputError, match="no note"):
        find_note(vault, "x.png")


def test_home_of_and_changed(tmp_path: Path) -> None:
    one, two = write_vault(tmp_path / "one", {"A.md": ""}), write_vault(tmp_path / "two", {"A.md": "[[B]]"})
    assert home_of([one, two], two.path("A.md")) == (two, "A.md")
    changed = two.changed("B.md", "new")
    assert [link.source for link in changed.index.backlinks("B.md")] == ["A.md"]
    assert two.filename(two.path("B.md")) is None
    assert changed.filename(two.path("B.md")) == "B.md"


def test_listed() -> None:
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
