"""The files with the settings of the systems."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.settings import SystemSettingsFiles
from lorestudio.systems.registry import KINDS

if TYPE_CHECKING:
    from pathlib import Path


def test_a_system_without_a_file_says_nothing_and_is_not_loaded_for_it(tmp_path: Path) -> None:
    known = SystemSettingsFiles(tmp_path / "none").read()
    assert known.values == {}
    assert not known.problems
    (tmp_path / "hybrid.json").write_text('{"limit": 3}')
    code = (
        "import sys, pathlib\n"
        "from lorestudio.studio.project.settings import SystemSettingsFiles\n"
        "from lorestudio.systems.registry import KINDS\n"
        "print(SystemSettingsFiles(pathlib.Path(sys.argv[1])).read().values['hybrid'].limit)\n"
        "print([KINDS.title(name) for name in ('hybrid', 'facts')], KINDS.summary('recap')[:14])\n"
        "print([name for name in ('hybrid', 'facts', 'recap') if f'lorestudio.systems.{name}.system' in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "3\n['Hybrid retrieval', 'Fact memory'] What the chat \n['hybrid']\n"


def test_what_is_listed_of_a_system_is_what_it_says_of_itself() -> None:
    listed = [(KINDS.title(name), KINDS.summary(name)) for name in KINDS]
    assert listed == [(kind.title, kind.summary) for kind in KINDS.values()]


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
