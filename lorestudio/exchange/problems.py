"""What is wrong with a file from outside, said so that it can be found and mended."""

from __future__ import annotations

from pathlib import Path


class InputError(ValueError):
    """A file that cannot be used: which, where in it (line from 1, path of the field), what is wrong and what to do."""

    def __init__(self, source: Path | str, message: str, line: int | None = None, field: str = "") -> None:
        self.source = source
        self.line = line
        self.field = field
        self.message = message
        where = [str(source)]
        if line is not None:
            where.append(f"line {line}")
        if field:
            where.append(f"field “{field}”")
        super().__init__(f"{', '.join(where)}: {message}")
