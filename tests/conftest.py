"""What holds for all tests."""

from __future__ import annotations

import errno
import gc
import io
import math
import os
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

with suppress(ImportError):  # before pytest-qt loads Qt: else all that is imported from then on is looked through
    import lorestudio.ui  # noqa: F401

from lorestudio.domain.lifecycle import CancelToken


def pytest_configure(config: pytest.Config) -> None:
    """Where Python is told to leave no bytecode in folders, keep it in pytest's: making it anew takes half a minute.

    That is for the tests themselves, in each of the processes that share them, and for the programs that they start.
    Hypothesis comes after that: pytest looks through all its modules for assertions, and keeps what it made of them.
    """
    cache: pytest.Cache | None = getattr(config, "cache", None)
    if sys.dont_write_bytecode and cache is not None:
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(cache.mkdir("bytecode"))
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    from tests.examples import load_profile  # noqa: PLC0415

    load_profile()


@pytest.fixture(scope="session", autouse=True)
def _nothing_of_a_person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A person's folders are out of reach: nothing there is read or written."""
    person = tmp_path_factory.mktemp("person")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(person / name))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leave out of a report what nobody reads: two dozen keywords, most of what a process tells of each test."""
    report = yield
    report.keywords = {}
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: tests of windows wait a tenth of their time."""
    return (os.cpu_count() or 1) + 1


class LaterStop(CancelToken):
    """Somebody asks to stop once it was looked at so many times, by default never; `looks` are those so far."""

    def __init__(self, after: float = math.inf) -> None:
        super().__init__()
        self.after, self.looks = after, 0

    @property
    def cancelled(self) -> bool:
        self.looks += 1
        return super().cancelled or self.looks > self.after


@pytest.fixture
def go_away(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have whoever looks at one of these paths, or at something below, meet an error, as of a network folder."""

    def go(*gone: Path, number: int = errno.EIO) -> None:
        def unless_gone(real: Callable[..., Any]) -> Callable[..., Any]:
            def look(path: Any = ".", *rest: Any, **more: Any) -> Any:
                if isinstance(path, str | os.PathLike) and not {Path(path), *Path(path).parents}.isdisjoint(gone):
                    raise OSError(number, os.strerror(number), str(path))
                return real(path, *rest, **more)

            return look

        for module, name in ((os, "stat"), (os, "lstat"), (os, "open"), (os, "scandir"), (os, "listdir"), (io, "open")):
            monkeypatch.setattr(module, name, unless_gone(getattr(module, name)))

    return go


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules and tests stay until the end: Python's collector need not walk through them, neither now nor later.

    Nor need it look so often at what tests make: that is a seventh of the time of those without a window.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(200_000, 50, 100)
    gc.enable()
