"""Which model a tool beside the selection asks (spec: deeplore-ai-and-tools 1.2)."""

from __future__ import annotations

from typing import Final

from lorestudio.settings.deeplore import DeepLoreSettings

INHERIT: Final = "inherit"


def tool_model(mode: str, own: str, settings: DeepLoreSettings) -> str:
    """The tool's own model, else that of AI selection where the tool shares its connection, else the connection's."""
    return own or (settings.ai_search_model if mode == INHERIT else "")
