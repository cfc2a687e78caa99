"""What holds for all tests."""

from __future__ import annotations

from tests.examples import load_profile

load_profile()
