"""When a message was sent: SillyTavern has written the date in several ways over the years.

None of them says a time zone but the ISO one; the others count as UTC, so that they read the same everywhere.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_HUMANIZED: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s(?:\s*(\d{1,3})ms)?"
)
_LONG: Final = re.compile(r"([A-Za-z]+) (\d{1,2}), (\d{4}) (\d{1,2}):(\d{2})\s*([ap]m)?", re.IGNORECASE)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SECONDS_END: Final = 100_000_000_000


def sent_at(text: str) -> int | None:
    """Milliseconds since the epoch, None for a date that cannot be read."""
    text = text.strip()
    try:
        return _number(text) if text.isdigit() else _written(text)
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> int:
    value = int(text)
    moment = value * 1000 if value < _SECONDS_END else value
    datetime.fromtimestamp(moment / 1000, UTC)  # refuses what is no date
    return moment


def _written(text: str) -> int | None:
    found = _HUMANIZED.match(text)
    if found is not None:
        year, month, day, hour, minute, second, rest = (int(part or 0) for part in found.groups())
        return _ms(datetime(year, month, day, hour, minute, second, rest * 1000, UTC))
    found = _LONG.match(text)
    if found is not None and found[1][:3].lower() in _MONTHS:
        hour = int(found[4])
        if found[6]:
            hour = hour % 12 + 12 * (found[6].lower() == "pm")
        month = _MONTHS.index(found[1][:3].lower()) + 1
        return _ms(datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), tzinfo=UTC))
    read = datetime.fromisoformat(text) if text else None
    return None if read is None else _ms(read if read.tzinfo else read.replace(tzinfo=UTC))


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
