"""What the form says of properties: the general value where a note has none, and gating fields of the project."""

from __future__ import annotations

import pytest

from lorestudio.domain.entry import FieldDefinition, Position
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.features.notes.editor.schema import KNOWN, FieldKind, general_value, specs


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("position", {"injection_position": Position.BEFORE}, "before the main prompt"),
        ("position", {"injection_position": Position.AFTER}, "after the main prompt"),
        ("position", {"injection_position": Position.IN_CHAT}, "in the chat"),
        ("role", {"injection_role": 0}, "system"),
        ("role", {"injection_role": 2}, "assistant"),
        ("scanDepth", {"scan_depth": 7, "injection_depth": 3}, "7 (from the settings)"),
        ("depth", {"scan_depth": 7, "injection_depth": 3}, "3 (from the settings)"),
        ("warmup", {}, "one is enough"),
        ("summary", {}, ""),
    ],
)
def test_what_holds_where_the_note_says_nothing(name: str, settings: dict[str, int], said: str) -> None:
    text = general_value(name, DeepLoreSettings().model_copy(update=settings))
    assert text.endswith(said)
    assert bool(text) == bool(said)


def test_gating_fields_come_last_and_take_no_known_name() -> None:
    era = FieldDefinition("era", "Era", values=("old", "new"), multi=True)
    found = specs((era, FieldDefinition("priority", "Mine")))
    assert list(found) == [*(each.name for each in KNOWN), "era"]
    assert (found["era"].kind, found["era"].values) == (FieldKind.WORDS, ("old", "new"))
    assert found["priority"].title == "priority"
