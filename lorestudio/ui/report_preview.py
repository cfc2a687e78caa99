"""A report's page as the preview shows it: its words and tables, in the program's own colours."""

from __future__ import annotations

import re
from typing import Final

LONGEST_PAGE: Final = 80_000
"""Characters of a page that are laid out at once without a pause that is felt."""

STYLE: Final = "pre{white-space:pre-wrap}td,th{padding:2px 10px 2px 0px}"
"""For QTextDocument.setDefaultStyleSheet."""

_DROPPED: Final = re.compile(
    r"<svg\b.*?</svg>|<style>.*?</style>|<a class='(?:skip|top)'.*?</a>|<p class='paper'>.*?</p>", re.DOTALL
)
_OWN_COLOURS: Final = re.compile(r" style='[^']*'")
_MARK: Final = re.compile(r"<mark\b[^>]*>")


def preview_html(page: str) -> tuple[str, bool]:
    """The page without pictures, colours of its own and links that lead nowhere here; and whether that is all of it.

    Qt's rich text knows neither variables nor `mark`, so that found keys are underlined.
    """
    words = _MARK.sub("<u>", _OWN_COLOURS.sub("", _DROPPED.sub("", page))).replace("</mark>", "</u>")
    if len(words) <= LONGEST_PAGE:
        return words, True
    return words[: words.rfind("<", 0, LONGEST_PAGE)], False
