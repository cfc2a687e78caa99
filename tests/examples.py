"""How many examples a property is tried on: a share of them by default, all with `--hypothesis-profile=large`.

With the profile `few` it is only run through, where another run has tried it on all.
"""

from __future__ import annotations

import os
from typing import Final

from hypothesis import HealthCheck, settings

_ALL: Final = 100

# How long an example takes is for the benchmarks to say; a busy machine must not fail a test.
settings.register_profile("large", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=_ALL)
settings.register_profile("small", settings.get_profile("large"), max_examples=_ALL // 5)
settings.register_profile("few", settings.get_profile("large"), max_examples=_ALL // 20)


def load_profile() -> None:
    """The small profile, or the one that HYPOTHESIS_PROFILE names; `--hypothesis-profile` is heard afterwards."""
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "small"))


def examples(large: int) -> int:
    """How many examples a test takes that takes `large` with the large profile."""
    return max(5, large * settings.default.max_examples // _ALL)
