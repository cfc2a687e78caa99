from __future__ import annotations

import pytest

from lorestudio.settings.deeplore import DeepLoreSettings, dump
from lorestudio.studio.project.project import Project
from lorestudio.studio.project.settings import Mode, mode_of, with_mode


@pytest.mark.parametrize(
    ("enabled", "written", "mode"),
    [
        (False, "two-stage", Mode.KEYWORDS),
        (True, "two-stage", Mode.TWO_STAGE),
        (True, "ai-only", Mode.AI_ONLY),
        (True, "keywords-only", Mode.KEYWORDS),
    ],
)
def test_mode_of_settings(enabled: bool, written: str, mode: Mode) -> None:
    settings = DeepLoreSettings().model_copy(update={"ai_search_enabled": enabled, "ai_search_mode": written})
    assert mode_of(settings) is mode


@pytest.mark.parametrize("mode", Mode)
def test_with_mode_changes_nothing_else(demo: Project, mode: Mode) -> None:
    changed = with_mode(demo, mode)
    assert mode_of(changed.settings) is mode
    before, after = dump(demo.settings), dump(changed.settings)
    assert {key for key in before if before[key] != after[key]} <= {"aiSearchEnabled", "aiSearchMode"}
    assert changed.chat is demo.chat


def test_the_same_mode_is_the_same_project(demo: Project) -> None:
    assert with_mode(demo, mode_of(demo.settings)) is demo
