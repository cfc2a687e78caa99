"""The recorded files that tests compare with."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
GOLDEN_DEV: Final = FOLDER / "golden-dev.jsonl.gz"
GOLDEN_26: Final = FOLDER / "golden26-dev.jsonl.gz"
"""Runs by the rules of 2.6."""
GENERATIONS_KEYWORDS: Final = FOLDER / "generations_keywords.json.gz"


def read_json(path: Path) -> Any:
    """The content of a compressed JSON file."""
    return json.loads(gzip.decompress(path.read_bytes()))
