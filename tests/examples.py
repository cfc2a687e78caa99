"""How much is tried: a share of a property's examples by default, all with `--hypothesis-profile=all`.

The check of everything takes `large`, and where another run has done that, `few`: run through only. Those two take
the same examples each time, so that a check says something of the change it checks; the others look for new ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import pytest
from hypothesis import HealthCheck, settings

_ALL: Final = 100

# How long an example takes is for the benchmarks to say; a busy machine must not fail a test.
settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=_ALL)
settings.register_profile("small", settings.get_profile("all"), max_examples=12)
for _name, _share in {"large": 30, "few": 8}.items():
    settings.register_profile(_name, settings.get_profile("all"), max_examples=_share, derandomize=True)


CaseT = TypeVar("CaseT")


def some_at_once(cases: Sequence[CaseT], name: Callable[[CaseT], str], every: int = 4) -> list[object]:
    """Recorded cases for `parametrize`: every fourth by default, as `sampled`; the others are marked `long`."""
    marks = (pytest.mark.sampled, pytest.mark.long)
    return [pytest.param(case, id=name(case), marks=marks[place % every > 0]) for place, case in enumerate(cases)]


def load_profile() -> None:
    """The small profile, or the one that HYPOTHESIS_PROFILE names; `--hypothesis-profile` is heard afterwards."""
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "small"))


def examples(every: int) -> int:
    """How many examples a test takes that takes so many with the profile `all`."""
    return max(5, every * settings.default.max_examples // _ALL)
