from __future__ import annotations

from pathlib import Path

from lorestudio.studio.notes.batch_edit import shown_value, summarise
from lorestudio.vault.note.properties import PropertyKind


def test_common_and_different_values(tmp_path: Path) -> None:
    texts = (
        "---\ntags: [lorebook, npc]\npriority: 40\nera: old\n---\n# A\n",
        "---\ntags: [lorebook]\npriority: 40\nera: new\n---\n# B\n",
        "---\ntags: [lorebook, npc]\npriority: 40\n---\n# C\n",
    )
    paths = [tmp_path / f"{place}.md" for place in range(3)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    found = summarise([*paths, tmp_path / "gone.md"])
    assert found.notes == 3
    assert len(found.failures) == 1
    assert [one.name for one in found.properties] == ["tags", "priority", "era"]
    priority, tags, era = (found.find(name) for name in ("Priority", "tags", "era"))
    assert priority is not None
    assert tags is not None
    assert era is not None
    assert (priority.same, priority.value, priority.kind) == (True, 40, PropertyKind.NUMBER)
    assert (tags.same, tags.values, tags.items) == (False, 2, ("lorebook", "npc"))
    assert (era.same, era.values, era.present, era.total) == (False, 2, 2, 3)
    assert found.find("nothing") is None


def test_values_as_people_read_them() -> None:
    assert shown_value(["a", "b"]) == "a, b"
    assert shown_value(True) == "true"
    assert shown_value(None) == ""
    assert shown_value({"a": 1}) == '{"a": 1}'
