"""A report as a file: one HTML page, or Markdown, plain text, or JSON for programs, by the file's name.

The page has no script, loads nothing from elsewhere, and is light or dark as the reader's system is. Every picture has
a table beside it; headings, captions and row headers are there for screen readers. The texts of prompts are folded,
once each, and of the newest turns as far as the page stays sane.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from html import escape
from pathlib import Path
from typing import Any, Final

from lorestudio.domain.resources import VERSION, resource
from lorestudio.exchange.problems import InputError
from lorestudio.studio.report.pictures import PICTURE_STYLE, budget_svg, css_variables, fill, flow_svg, on_fill
from lorestudio.studio.report.source import ReportMessage, ReportSource, ReportTurn
from lorestudio.trace.ai_selection import ai_lines
from lorestudio.trace.budget import OTHER, BudgetOrigin, budget_view, origins
from lorestudio.trace.explain import explain, explain_stage
from lorestudio.trace.flow import TABLE_COLUMNS, Measure, flow, flow_rows
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import AiCall, Outcome, PromptBlock, StageStatus, Trace
from lorestudio.trace.storage.serialize import to_json
from lorestudio.trace.summary import seen_lines, summary
from lorestudio.trace.text import as_markdown, as_text, decisions, escaped, markdown_table, turn_words
from lorestudio.trace.wording import controls_escaped, number_words, place, plural, without_controls

MOST_CHARACTERS: Final = 1_500_000
"""Characters of prompts that one report holds; what a browser still opens at once, together with the tables."""

REPEATED: Final = 300
"""A block of at least so many characters that stood in an earlier turn is named and not written again."""

BlockKey = tuple[str, float, float, float, str, tuple[tuple[int, int, str], ...]]


class ReportPrompts:
    """Which turns' prompts a report holds, and as HTML. Ask for the turns in the order of the page."""

    def __init__(self, source: ReportSource, most: int = MOST_CHARACTERS) -> None:
        self._whole, self._redacted = source.whole_chat, source.redacted
        self._told: dict[BlockKey, tuple[str, str]] = {}
        self._shown: set[int] = set()
        self._left = 0
        known: set[BlockKey] = set()
        used = 0
        for trace in (turn.trace for turn in reversed(source.turns)):
            if not trace.prompt:
                continue
            keys = {_key(trace, block): len(block.text) for block in trace.prompt}
            more = sum(size for key, size in keys.items() if key not in known)
            # Of several turns at least the newest has its prompt; once one did not fit, no older one is tried.
            if self._left or (self._whole and known and used + more > most):
                self._left += 1
                continue
            used += more
            known |= keys.keys()
            self._shown.add(id(trace))
        self._most = most

    @property
    def left_out(self) -> str:
        """What is not here, in a sentence; "" where everything is."""
        if not self._left:
            return ""
        turns = plural(self._left, "the oldest turn|the # oldest turns")
        return (
            f"The prompts of {turns} are left out, since all together are longer than "
            f"{number_words(self._most)} characters. A report of one turn has its prompt."
        )

    def html(self, trace: Trace, came_from: dict[int, BudgetOrigin], anchor: str) -> str:
        """The prompt of one run, folded; nothing where nothing was handed over."""
        if not trace.prompt:
            return ""
        if id(trace) not in self._shown:
            return "<h3>Prompt</h3><p class='muted'>Left out for the size of this report.</p>"
        blocks = "".join(self._block(trace, block, came_from, anchor) for block in trace.prompt)
        size = plural(len(trace.prompt), "# block|# blocks")
        if not self._redacted:  # there the texts stand for longer ones
            size += plural(sum(len(block.text) for block in trace.prompt), ", # character|, # characters")
        folded = f"<details><summary>What was handed over ({size})</summary>{blocks}</details>"
        return f"<div class='folded'><h3>Prompt</h3>{folded}</div>"

    def _block(self, trace: Trace, block: PromptBlock, came_from: dict[int, BudgetOrigin], anchor: str) -> str:
        where = escape(f"{place(block.position, block.depth, block.role)} ({block.tag})")
        head = f"<p class='muted'>{where}</p>"
        key = _key(trace, block)
        if key in self._told and len(block.text) >= REPEATED:
            first, title = self._told[key]
            return f"{head}<p>The same text as in <a href='#{first}'>{escape(title)}</a>.</p>"
        self._told.setdefault(key, (anchor, turn_words(trace.turn)))
        return f"{head}<pre>{_pieces(trace, block, came_from)}</pre>"


def _key(trace: Trace, block: PromptBlock) -> BlockKey:
    parts = tuple((part.start, part.end, _title(trace, part.entry)) for part in block.parts)
    return block.tag, block.position, block.depth, block.role, block.text, parts


def _pieces(trace: Trace, block: PromptBlock, came_from: dict[int, BudgetOrigin]) -> str:
    """The text with each entry's part set apart and named."""
    pieces, at = [], 0
    for part in sorted(block.parts, key=lambda item: item.start):
        pieces.append(escape(block.text[at : part.start]))
        words = escape(block.text[part.start : part.end])
        if part.entry is None:
            pieces.append(words)
        else:
            origin = came_from.get(part.entry, OTHER)
            ground, ink = fill(origin.fill), on_fill(origin.fill)
            who = f"{escape(_title(trace, part.entry))} · {origin.word}"
            pieces.append(
                f"<span class='piece' style='border-color:{ground}'>"
                f"<span class='who' style='background:{ground};color:{ink}'>{who}</span>\n{words}</span>"
            )
        at = part.end
    pieces.append(escape(block.text[at:]))
    return "".join(pieces)


def _title(trace: Trace, entry: int | None) -> str:
    ref = trace.entries.get(entry) if entry is not None else None
    return "" if entry is None else f"entry {entry}" if ref is None else ref.title


WIDE: Final = 5
"""Columns from which on a table may not fit on a telephone."""

_TO_TOP: Final = "<a class='top' href='#top'>All turns</a>"


def html_page(source: ReportSource) -> str:
    """The whole page."""
    title = f"Lore report: {source.vault or 'a vault'}"
    prompts = ReportPrompts(source)
    turns = "".join(_turn(turn, source, prompts) for turn in source.turns)
    body = f"{_contents(source)}<main id='turns'>{turns}{_settings(source)}</main>"
    kind, skip = "whole" if source.whole_chat else "single", "<a class='skip' href='#turns'>Skip to the turns</a>"
    return page_of(title, _head(source, prompts), body, kind, skip)


def page_of(title: str, head: str, body: str, kind: str = "single", first: str = "") -> str:
    """A page that needs nothing else; all but the title is HTML. `first` stands before the header."""
    style = css_variables(":root") + resource("report", "page.css").read_text(encoding="utf-8") + PICTURE_STYLE
    return (
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{style}</style></head><body class='{kind}' id='top'>"
        f"{first}<header><h1>{escape(title)}</h1>{head}</header>{body}"
        f"<footer>Made with lorestudio {escape(VERSION)}.</footer></body></html>\n"
    )


def _head(source: ReportSource, prompts: ReportPrompts) -> str:
    count = plural(len(source.turns), "# turn|# turns")
    where = f" of the chat {escape(source.chat)}" if source.chat else ""
    lines = [f"<p class='muted'>{count}{where}.</p>"]
    if source.redacted:
        lines.append(
            "<p>Names, keys, values and texts are replaced: the same stand-in always means the same thing. "
            "Numbers and reasons are as they were.</p>"
        )
    if source.whole_chat:
        lines.append("<p class='paper'>What is folded on the screen, the prompts among it, is not printed.</p>")
    if prompts.left_out:
        lines.append(f"<p>{escape(prompts.left_out)}</p>")
    return "".join(lines)


def _contents(source: ReportSource) -> str:
    """For a whole chat: a table of the turns."""
    if not source.whole_chat:
        return ""
    rows = [
        (
            _Raw(f"<a href='#{_anchor(turn.trace)}'>{escape(turn_words(turn.trace.turn))}</a>"),
            len(turn.trace.injections),
            turn.trace.total_tokens,
            summary(turn.trace),
        )
        for turn in source.turns
    ]
    table = html_table("All turns", ("Turn", "Injected", "Tokens", "What happened"), rows)
    return f"<nav aria-label='Turns'><section class='part'>{table}</section></nav>"


def _turn(turn: ReportTurn, source: ReportSource, prompts: ReportPrompts) -> str:
    trace = turn.trace
    came_from = origins(trace)
    parts = [
        f"<section class='turn' id='{_anchor(trace)}'>",
        _TO_TOP if source.whole_chat else "",
        f"<h2>{escape(turn_words(trace.turn))}</h2>",
        f"<p class='summary'>{escape(summary(trace))}</p>",
        f"<p class='muted'>{escape(_figures(trace))}</p>",
        *(f"<p class='muted'>{escape(line)}</p>" for line in seen_lines(trace)),
        *(f"<p class='warning'>{escape(text)}</p>" for text in trace.warnings),
        *(f"<p class='muted'>{escape(line.text)}</p>" for line in ai_lines(trace)),
        _messages(turn.messages),
        _budget(trace, came_from),
        _flow(trace),
        _entries(trace),
        _stages(trace),
        prompts.html(trace, came_from, _anchor(trace)),
        _calls(trace, short=source.whole_chat),
    ]
    return "".join(parts) + "</section>"


def _figures(trace: Trace) -> str:
    return (
        f"{trace.system}, {trace.mode}, {plural(trace.index_size, '# entry|# entries')} considered, "
        f"seed {trace.seed}, generation {trace.turn.number}"
    )


def _messages(messages: Sequence[ReportMessage]) -> str:
    if not messages:
        return ""
    rows = "".join(
        f"<p class='message'><span class='muted'>#{message.number}</span> <b>{escape(message.speaker)}</b>"
        f"{' <span class=muted>(hidden, not sent)</span>' if message.hidden else ''} {_marked(message)}</p>"
        for message in messages
    )
    return f"<h3>Messages before the reply</h3>{rows}"


def _marked(message: ReportMessage) -> str:
    pieces, place_ = [], 0
    for mark in message.marks:
        kind = " class='refine'" if mark.refine else " class='lacking'" if mark.lacking else ""
        told = f"<mark{kind} title='{escape(mark.words)}'>{escape(message.text[mark.start : mark.end])}</mark>"
        pieces += [escape(message.text[place_ : mark.start]), told]
        place_ = mark.end
    return ("".join(pieces) + escape(message.text[place_:])).replace("\n", "<br>")


def _budget(trace: Trace, came_from: dict[int, BudgetOrigin]) -> str:
    view = budget_view(trace)
    if not view.segments:
        return ""
    rank = trace.words.rank_word(trace).capitalize()
    inside: list[tuple[str | float, ...]] = [
        (
            number,
            injection.title,
            came_from.get(injection.entry, OTHER).word,
            number_words(injection.tokens)
            + (f" of {number_words(injection.original_tokens)}" if injection.original_tokens is not None else ""),
            *((injection.priority,) if rank else ()),
            place(injection.position, injection.depth, injection.role),
        )
        for number, injection in enumerate(trace.injections, 1)
    ]
    cut = [(segment.title, segment.tokens, segment.needs or "", segment.why) for segment in view.cut]
    limits = [
        (limit.name, limit.used, "no limit" if limit.maximum is None else limit.maximum, limit.unit)
        for limit in trace.limits
    ]
    columns = ("", "Entry", "Origin", "Tokens", *((rank,) if rank else ()), "Where")
    return (
        f"<h3>Budget</h3>{_figure(budget_svg(view), 'Budget')}"
        + html_table("Injected, in order", columns, inside, numbers=(3,))
        + html_table("Cut", ("Entry", "Tokens", "Needs more", "Why"), cut)
        + html_table("Limits", ("Limit", "Used", "Of", "Unit"), limits)
    )


def _flow(trace: Trace) -> str:
    stream = flow(trace)
    if not stream.changing:
        return ""
    table = html_table("Stages and reasons", TABLE_COLUMNS, flow_rows(stream, trace))
    return (
        f"<h3>Stages</h3>{_figure(flow_svg(stream, Measure.ENTRIES), 'Stages')}"
        f"<details><summary>As a table</summary>{table}</details>"
    )


def _entries(trace: Trace) -> str:
    rows = decisions(trace, Journeys(trace))
    if not rows:
        return ""
    return "<h3>Entries</h3>" + html_table("What became of each entry, and why", ("Entry", "Result", "Why"), rows)


def _stages(trace: Trace) -> str:
    failed = "".join(
        f"<p class='error'>{escape(record.name)}: {escape(explain_stage(record, trace))}</p>"
        for record in trace.stages
        if record.status is StageStatus.FAILED
    )
    rows = [
        (record.name, trace.words.label(verdict.reason), _title(trace, verdict.entry), explain(verdict, trace).sentence)
        for record in trace.stages
        for verdict in record.verdicts
        if verdict.outcome is not Outcome.KEPT
    ]
    if not rows:
        return failed
    table = html_table("Decisions in the order they were made", ("Stage", "Decision", "Entry", "Why"), rows)
    return f"{failed}<details><summary>Every decision ({len(rows):,})</summary>{table}</details>"


def _calls(trace: Trace, *, short: bool) -> str:
    if not trace.ai_calls:
        return ""
    rows = [
        (call.kind, call.source, call.model, call.duration_ms, f"failed: {call.error}" if call.error else "answered")
        for call in trace.ai_calls
    ]
    table = html_table("Requests to a model", ("Kind", "Answered by", "Model", "ms", "Result"), rows)
    if short:
        texts = "<p class='muted'>A report of one turn has the requests and replies themselves.</p>"
    else:
        texts = "".join(_call(call) for call in trace.ai_calls)
    return f"<h3>Model</h3>{table}{texts}"


def _call(call: AiCall) -> str:
    parts = (("Instructions", call.system), ("Question", call.user), ("Reply", call.reply or call.error))
    texts = "".join(f"<p class='muted'>{name}</p><pre>{escape(text)}</pre>" for name, text in parts if text)
    return f"<details><summary>Request and reply: {escape(call.kind)}</summary>{texts}</details>"


def _settings(source: ReportSource) -> str:
    rows = [(setting.title, setting.value, setting.usual) for setting in source.settings]
    if not rows:
        return f"<section class='part'><h2>Settings</h2><p>All as {escape(source.system)} has them.</p></section>"
    table = html_table(f"Settings that {source.system} has otherwise by itself", ("Setting", "Here", "Usually"), rows)
    return f"<section class='part'><h2>Settings</h2>{table}</section>"


def _figure(picture: str, name: str) -> str:
    """A picture that can be scrolled sideways with the keyboard where there is little room."""
    return f"<figure tabindex='0' role='group' aria-label='{name}, a picture'>{picture}</figure>"


class _Raw(str):
    """A cell that is HTML already."""

    __slots__ = ()


def html_table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str | float]], numbers: Sequence[int] = ()
) -> str:
    """A table; nothing where it has no rows. A column of numbers is set to the right."""
    lines = [tuple(row) for row in rows]
    if not lines:
        return ""
    right = {place_ for place_, cell in enumerate(lines[0]) if isinstance(cell, int | float)} | set(numbers)
    head = "".join(
        f"<th scope='col'{_class(place_ in right)}>{escape(column)}</th>" for place_, column in enumerate(columns)
    )
    body = "".join(
        f"<tr>{''.join(f'<td{_class(place_ in right)}>{_cell(cell)}</td>' for place_, cell in enumerate(row))}</tr>"
        for row in lines
    )
    # A table that may be wider than a narrow screen can be scrolled with the keyboard.
    scrolled = f" tabindex='0' role='region' aria-label='{escape(caption)}'" if len(columns) >= WIDE else ""
    return (
        f"<div class='scroll'{scrolled}><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _class(number: bool) -> str:
    return " class='n'" if number else ""


def _cell(value: str | float) -> str:
    if isinstance(value, _Raw):
        return value
    return escape(value) if isinstance(value, str) else number_words(round(value, 1))


def _anchor(trace: Trace) -> str:
    return f"turn-{trace.turn.message}-{trace.turn.swipe}"


def markdown_report(source: ReportSource) -> str:
    """Markdown with tables: the turns, each run in full, the settings."""
    parts = [f"# Lore report: {escaped(source.vault or 'a vault')}", "", _count(source)]
    if source.whole_chat:
        rows = [
            (turn_words(turn.trace.turn), str(len(turn.trace.injections)), summary(turn.trace)) for turn in source.turns
        ]
        parts += ["", *markdown_table(("Turn", "Injected", "What happened"), rows)]
    for turn in source.turns:
        happened, heading, sections = as_markdown(turn.trace, level=3).rstrip("\n").partition("\n### ")
        parts += ["", f"## {escaped(turn_words(turn.trace.turn))}", "", happened.rstrip("\n")]
        if turn.messages:
            rows = [(f"#{each.number}", each.speaker, each.text) for each in turn.messages]
            parts += ["", "### Messages before the reply", "", *markdown_table(("", "Speaker", "Text"), rows)]
        parts.append(f"{heading}{sections}")
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
