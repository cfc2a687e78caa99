"""What the front ends need to know of recap memory beside a session: its settings, and how far a queue is."""

from __future__ import annotations

from pathlib import Path

from lorestudio.memory.recap.worker import QueueProgress
from lorestudio.settings.recap import LoadedRecapSettings, RecapSettings, load_recap_settings

__all__ = ["LoadedRecapSettings", "QueueProgress", "RecapSettings", "recap_settings"]


def recap_settings(path: Path | None) -> LoadedRecapSettings:
    """The settings of a file, or the ones that come with the program. Raises SettingsError."""
    return LoadedRecapSettings(RecapSettings()) if path is None else load_recap_settings(path)
