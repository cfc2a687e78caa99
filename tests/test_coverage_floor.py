"""The floors of branch coverage: what lies below one is told, and they only rise."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).resolve().parents[1] / ".ci" / "coverage_floor.py"
TABLE = "first = 1\n\n[tool.lorestudio.coverage-floor]\ndomain = 80\nui = 90\n\n[tool.other]\nui = 5\n"


@pytest.fixture(scope="module")
def floors() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_floor", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def file(lines: int, of: int, branches: int, among: int) -> dict[str, object]:
    counts = {"covered_lines": lines, "num_statements": of, "covered_branches": branches, "num_branches": among}
    return {"summary": counts}


def test_lines_and_branches_of_a_layer_count_together(floors) -> None:
    files = {
        "lorestudio/__init__.py": file(0, 9, 0, 0),
        "lorestudio/domain/chat.py": file(6, 6, 1, 2),
        "lorestudio/domain/deep/er.py": file(1, 2, 0, 0),
        "/somewhere/lorestudio/ui/app.py": file(0, 0, 0, 0),
    }
    assert floors.percentages({"files": files}) == {"domain": 80.0, "ui": 100.0}


def test_what_is_low_new_or_gone_is_told(floors) -> None:
    assert floors.complaints({"domain": 80.0, "ui": 90.0}, {"domain": 80, "ui": 90}) == []
    told = floors.complaints({"domain": 79.9, "trace": 50.0}, {"domain": 80, "ui": 90})
    assert [line.partition(":")[0] for line in told] == ["domain", "trace", "ui"]


def test_floors_only_rise_and_only_theirs(floors) -> None:
    expected = TABLE.replace("domain = 80", "domain = 85")
    assert floors.risen(TABLE, {"domain": 85.9, "ui": 12.0}) == expected


def test_every_layer_of_the_package_has_a_floor(floors) -> None:
    text = floors.PYPROJECT.read_text(encoding="utf-8")
    package = floors.PYPROJECT.parent / "lorestudio"
    layers = {path.name for path in package.iterdir() if (path / "__init__.py").exists()}
    assert layers == set(floors.tomllib.loads(text)["tool"]["lorestudio"]["coverage-floor"])
