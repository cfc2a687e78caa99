"""The formats of a report, by the name of the file it goes to."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from lorestudio.exchange.problems import InputError
from lorestudio.studio.report.page import html_page
from lorestudio.studio.report.plain import json_report, markdown_report, text_report
from lorestudio.studio.report.source import ReportSource


class Format(StrEnum):
    """What a report can be written as; the values are the endings of file names."""

    HTML = "html"
    MARKDOWN = "md"
    TEXT = "txt"
    JSON = "json"

    @classmethod
    def of(cls, path: Path) -> Format:
        """The format that a file's name asks for. Raises InputError for another ending."""
        ending = path.suffix.lower().removeprefix(".")
        ending = cls.HTML.value if ending == "htm" else ending
        if ending in set(cls):
            return cls(ending)
        raise InputError(path, "the name's ending says how a report is written: .html, .md, .txt or .json.")


def report_text(source: ReportSource, wanted: Format) -> str:
    """The whole report as a text."""
    makers = {
        Format.HTML: html_page,
        Format.MARKDOWN: markdown_report,
        Format.TEXT: text_report,
        Format.JSON: json_report,
    }
    return makers[wanted](source)
