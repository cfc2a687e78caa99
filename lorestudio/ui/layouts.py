"""Helpers for layouts that are filled anew."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout


def drop_all(layout: QLayout) -> None:
    """Take everything out of a layout; its widgets vanish at once, and are deleted when Qt gets to it."""
    while layout.count():
        item = layout.takeAt(0)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()
            widget.deleteLater()
