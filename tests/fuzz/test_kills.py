"""A program that is killed while it writes loses nothing that it told; `python -m tests.fuzz.kills` tries it often."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forked")
def test_every_writer_is_killed_once() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.fuzz.kills", "10"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("10 kills, nothing lost.")
