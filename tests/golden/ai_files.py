"""The recorded files about AI selection that tests compare with."""

from __future__ import annotations

from typing import Final

from tests.golden.files import FOLDER

GENERATIONS_AI: Final = FOLDER / "generations_ai.json.gz"
