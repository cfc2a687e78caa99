"""Two ways to have the toy among the systems: a line in the registry, or an installed package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lorestudio.systems import registry


@contextmanager
def looked_again() -> Iterator[pytest.MonkeyPatch]:
    """What is patched inside counts, and is forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        registry.KINDS._known = None
        yield patch
    registry.KINDS._known = None


def install(patch: pytest.MonkeyPatch, site: Path, name: str, *values: str, code: str = "") -> None:
    """Put a package of this name with its entry points where Python looks for packages."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"system{number} = {value}" for number, value in enumerate(values)]
    points = "\n".join([f"[{registry.ENTRY_POINTS}]", *lines])
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    (site / f"{name}.py").write_text(code, encoding="utf-8")
    patch.syspath_prepend(str(site))


@contextmanager
def toy_registered(way: str, folder: Path) -> Iterator[None]:
    """The toy is one of the systems, as a built-in one or as an installed one."""
    with looked_again() as patch:
        if way == "installed":
            install(patch, folder / "site", "toy_package", "tests.systems.toy.system:KIND")
        else:
            patch.setattr(registry, "BUILT_IN", registry.BUILT_IN | {"toy": "tests.systems.toy.system"})
        yield
