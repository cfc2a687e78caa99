"""The formats of a report, by the name of the file it goes to: HTML, Markdown, plain text, and JSON for programs."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

from lorestudio.exchange.problems import InputError
from lorestudio.studio.report.page import html_page
from lorestudio.studio.report.source import ReportSource
from lorestudio.trace.storage.serialize import to_json
from lorestudio.trace.summary import summary
from lorestudio.trace.text import as_markdown, as_text, escaped, markdown_table, turn_words
from lorestudio.trace.wording import controls_escaped, plural, without_controls


def markdown_report(source: ReportSource) -> str:
    """Markdown with tables: the turns, each run in full, the settings."""
    parts = [f"# Lore report: {escaped(source.vault or 'a vault')}", "", _count(source)]
    if source.whole_chat:
        rows = [
            (turn_words(turn.trace.turn), str(len(turn.trace.injections)), summary(turn.trace)) for turn in source.turns
        ]
        parts += ["", *markdown_table(("Turn", "Injected", "What happened"), rows)]
    for turn in source.turns:
        if turn.messages:
            rows = [(f"#{each.number}", each.speaker, each.text) for each in turn.messages]
            parts += ["", "## Messages before the reply", "", *markdown_table(("", "Speaker", "Text"), rows)]
        parts += ["", as_markdown(turn.trace).rstrip("\n")]
    if source.settings:
        rows = [(setting.title, setting.value, setting.usual) for setting in source.settings]
        parts += ["", "## Settings", "", *markdown_table(("Setting", "Here", "Usually"), rows)]
    return "\n".join(parts) + "\n"


def text_report(source: ReportSource) -> str:
    """Plain text, to be read as it is."""
    runs = ("\n" + as_text(turn.trace) for turn in source.turns)
    return "\n".join([f"Lore report: {source.vault or 'a vault'}", _count(source), *runs])


def json_report(source: ReportSource) -> str:
    """One JSON object: `{"vault", "chat", "redacted", "version", "settings": [...], "turns": [{"trace", "messages"}]}`.

    A trace is as `trace.serialize` writes it.
    """
    value: dict[str, Any] = {
        **{name: getattr(source, name) for name in ("vault", "chat", "redacted", "version")},
        "settings": [
            {"title": setting.title, "value": setting.value, "default": setting.usual} for setting in source.settings
        ],
        "turns": [
            {
                "summary": summary(turn.trace),
                "trace": to_json(turn.trace),
                "messages": [
                    {name: getattr(each, name) for name in ("number", "speaker", "text", "hidden")}
                    for each in turn.messages
                ],
            }
            for turn in source.turns
        ],
    }
    return controls_escaped(json.dumps(value, ensure_ascii=False, indent=1)) + "\n"


def _count(source: ReportSource) -> str:
    where = f" of the chat {source.chat}" if source.chat else ""
    told = " Names and texts are replaced; numbers and reasons are as they were." if source.redacted else ""
    return f"{plural(len(source.turns), '# turn|# turns')}{where}.{told}"


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
    return without_controls(makers[wanted](source))
