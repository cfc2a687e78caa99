"""Many damaged files for every reader: `python -m tests.fuzz [INPUTS [READER...]]`, 100,000 by default.

The first input of each kind of failure is written to tests/fuzz/cases/READER/, where the suite tries it from then on.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.fuzz.inputs import give, one
from tests.fuzz.readers import ALL

CASES = Path(__file__).parent / "cases"
SLOW_S = 2.0


def tried(name: str, first: int, last: int) -> tuple[dict[str, tuple[bytes, str]], float]:
    """What the reader did with the inputs from `first` on: by place failure, input, error; the longest time."""
    logging.getLogger("lorestudio").setLevel(logging.CRITICAL)  # warnings about each damaged file are no news
    reader = next(each for each in ALL if each.name == name)
    found: dict[str, tuple[bytes, str]] = {}
    longest = 0.0
    for number in range(first, last):
        data = one(reader, number)
        try:
            taken = give(reader, data)
        except Exception as error:  # noqa: BLE001  # whatever it is, is what is looked for
            frames = [each for each in traceback.extract_tb(error.__traceback__) if "/lorestudio/" in each.filename]
            where = f" {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
            place = f"{type(error).__name__}{where}"
            found.setdefault(place, (data, f"{error!r:.200}"))
            continue
        longest = max(longest, taken)
        if taken > SLOW_S:
            found.setdefault("slow", (data, f"{taken:.1f} s"))
    return found, longest


def main() -> int:
    """Try them all, on all cores."""
    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    names = sys.argv[2:] or [reader.name for reader in ALL]
    failed = 0
    step = max(inputs // 20, 1)
    with ProcessPoolExecutor() as pool:
        for name in names:
            parts = [pool.submit(tried, name, at, min(at + step, inputs)) for at in range(0, inputs, step)]
            found: dict[str, tuple[bytes, str]] = {}
            longest = 0.0
            for part in parts:
                falls, taken = part.result()
                found, longest = falls | found, max(longest, taken)
            told = f"{name}: {inputs:,} inputs, the longest took {longest * 1000:.0f} ms, {len(found)} failures\n"
            for place, (data, error) in found.items():
                case = CASES / name / hashlib.sha256(data).hexdigest()[:12]
                case.parent.mkdir(parents=True, exist_ok=True)
                case.write_bytes(data)
                told += f"  {place}: {error}\n    {case}\n"
            sys.stdout.write(told)
            sys.stdout.flush()
            failed += len(found)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
