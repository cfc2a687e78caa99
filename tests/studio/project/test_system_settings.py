"""The files with the settings of the systems."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.settings import SystemSettingsFiles
from lorestudio.systems.registry import KINDS

if TYPE_CHECKING:
    from pathlib import Path


def test_without_files_every_system_has_its_defaults(tmp_path: Path) -> None:
    known = SystemSettingsFiles(tmp_path / "none").read()
    assert known.values == {name: kind.settings() for name, kind in KINDS.items()}
    assert not known.problems


def test_what_is_written_is_read_again_and_only_what_differs_is_written(tmp_path: Path) -> None:
    files = SystemSettingsFiles(tmp_path)
    path = files.write("hybrid", HybridSettings(limit=3))
    assert json.loads(path.read_text()) == {"limit": 3}
    files.write("world-info", WorldInfoSettings(depth=7))
    known = files.read().values
    assert (known["hybrid"], known["world-info"]) == (HybridSettings(limit=3), WorldInfoSettings(depth=7))


def test_a_file_that_cannot_be_used_is_said_and_not_lost(tmp_path: Path) -> None:
    files = SystemSettingsFiles(tmp_path)
    (tmp_path / "hybrid.json").write_text('{"limit": "many"}')
    known = files.read()
    assert known.values["hybrid"] == HybridSettings()
    assert "limit" in known.problems[0]
    assert "hybrid.json" in known.problems[0]
    files.write("hybrid", HybridSettings(limit=4))
    assert (tmp_path / "hybrid.json.unreadable").read_text() == '{"limit": "many"}'
    assert files.read().values["hybrid"] == HybridSettings(limit=4)


def test_there_is_no_file_for_an_unknown_system(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no system"):
        SystemSettingsFiles(tmp_path).path("odd")
