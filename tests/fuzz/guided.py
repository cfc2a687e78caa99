"""Inputs that are led by what they reach, for every reader: `python -m tests.fuzz.guided [INPUTS [READER...]]`.

Needs atheris (`pip install atheris`, where there is a build of it). Each reader has a process of its own, and 20,000
inputs by default. The first input that a reader fails at ends it, and lies in tests/fuzz/cases/READER/ then, where the
suite tries it from then on.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
from pathlib import Path

import atheris

CASES = Path(__file__).parent / "cases"
SLOW_S, MOST_MIB, LONGEST = 10, 1024, 64 * 1024


def lead(name: str, inputs: int) -> None:
    """Give the reader as many inputs. The process ends with it, with 0 where the reader took or refused them all."""
    with atheris.instrument_imports(include=["lorestudio"]):
        from tests.fuzz.inputs import give  # noqa: PLC0415  # what is imported before is not looked into
        from tests.fuzz.readers import ALL  # noqa: PLC0415  # as above
    logging.getLogger("lorestudio").setLevel(logging.CRITICAL)  # warnings about each damaged file are no news
    reader = next(each for each in ALL if each.name == name)
    cases = CASES / name
    cases.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate([*reader.seeds, *(path.read_bytes() for path in sorted(cases.iterdir()))]):
            (Path(corpus) / f"seed-{number}").write_bytes(seed)
        options = (
            f"-runs={inputs}", f"-timeout={SLOW_S}", f"-rss_limit_mb={MOST_MIB}", f"-max_len={LONGEST}", "-verbosity=0",
            f"-artifact_prefix={cases}/",
        )  # fmt: skip
        atheris.Setup([sys.argv[0], *options, corpus], lambda data: give(reader, data))
        atheris.Fuzz()


def main() -> int:
    """All of them, one after the other."""
    from tests.fuzz.readers import ALL  # noqa: PLC0415  # this process only needs the names

    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    failed = 0
    for name in sys.argv[2:] or [reader.name for reader in ALL]:
        done = subprocess.run(  # noqa: S603  # this program
            [sys.executable, "-c", f"from tests.fuzz.guided import lead; lead({name!r}, {inputs})"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        told = "" if done.returncode == 0 else f": failed\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        sys.stdout.write(f"{name}: {inputs:,} inputs{told}\n")
        sys.stdout.flush()
        failed += done.returncode != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
