"""Small pieces of rich text for browsers: escaped, in the theme's colours, readable without them."""

from __future__ import annotations

from html import escape

from lorestudio.ui.shell.theme import Palette


def text(value: str) -> str:
    """`value` as rich text, line ends kept."""
    return escape(value).replace("\n", "<br>")


def page(palette: Palette, body: str) -> str:
    """A whole document."""
    return (
        f"<html><body style='color:{palette.text}'>"
        f"<style>a {{ color: {palette.accent}; text-decoration: none; }}</style>{body}</body></html>"
    )


def paragraph(value: str, *, color: str = "", bold: bool = False, above: int = 0) -> str:
    """A paragraph of plain text; `above` is the space before it in pixels."""
    style = f"margin-top:{above}px;margin-bottom:2px;" + (f"color:{color};" if color else "")
    inner = f"<b>{text(value)}</b>" if bold else text(value)
    return f"<p style='{style}'>{inner}</p>"


def box(value: str, title: str, ground: str, ink: str) -> str:
    """A tinted box with a title and a sentence."""
    inner = f"<span style='color:{ink}'><b>{text(title)}</b></span> {text(value)}"
    return (
        "<table width='100%' cellpadding='7' cellspacing='0' style='margin-top:6px;margin-bottom:4px'>"
        f"<tr><td bgcolor='{ground}'>{inner}</td></tr></table>"
    )
