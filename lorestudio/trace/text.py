"""Traces as text to copy: a run or the journey of one entry, plain or as Markdown; any table as Markdown or CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.trace.ai_selection import RESULT_WORDS, breaker_words, cache_words, match_words
from lorestudio.trace.explain import explain_stage
from lorestudio.trace.journey import CellState, Fate, FateState, Journeys, explain_cell
from lorestudio.trace.model import (
    EntryRef,
    Injection,
    Limit,
    ReplyItem,
    StageRecord,
    StageStatus,
    TitleMatch,
    Trace,
    Turn,
)
from lorestudio.trace.summary import seen_lines, summary
from lorestudio.trace.vocabulary import Explanation
from lorestudio.trace.wording import number_words, one_line, place, plural, quoted

CELL_WORDS: Final[Mapping[CellState, str]] = {
    CellState.NOT_REACHED: "not looked at",
    CellState.ABSENT: "not matched",
    CellState.ADDED: "added",
    CellState.KEPT: "kept",
    CellState.CHANGED: "changed",
    CellState.REMOVED: "removed",
    CellState.REFUSED: "refused",
}
"""The cells of a journey in words."""


class _TextSection(Struct, frozen=True):
    """A heading with rows of cells, or with texts that are shown as they are, each under a caption."""

    heading: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


def as_text(trace: Trace, index: VaultIndex | None = None) -> str:
    """The whole run as plain text. With `index`, the text says where the vault is no longer the one of the run."""
    return _render(trace, index, _plain_section, str)


def as_markdown(trace: Trace, index: VaultIndex | None = None, *, level: int = 2) -> str:
    """The whole run as Markdown, with headings of a level, with tables and with the prompt in code blocks."""
    return _render(trace, index, lambda section: _markdown_section(section, level), escaped)


def entry_as_text(trace: Trace, entry_id: int, index: VaultIndex | None = None) -> str:
    """What happened to one entry: how the run ended for it, what to change, and its way through the stages, each
    reason once.

    A trace only names the entries that a stage decided about; `index` names the others.
    """
    stale = _stale(trace, index)
    trace = _naming(trace, entry_id, index)
    ref = trace.entries.get(entry_id)
    journeys = Journeys(trace)
    decided = journeys.fate(entry_id)
    explanation = journeys.told(entry_id)
    if ref is None:
        who = f"Entry {entry_id}"
    else:
        figures = entry_figures(trace, ref.priority, ref.tokens)
        who = f"{quoted(ref.title)} ({one_line(ref.filename)} in {one_line(ref.vault) or 'the vault'}, {figures})"
    lines = [who, turn_words(trace.turn), *seen_lines(trace), "", _decision(decided, explanation)]
    if explanation.fix:
        lines.append(f"To change it: {explanation.fix}")
    lines += stale
    cells = [
        (
            cell.stage,
            CELL_WORDS[cell.state],
            "" if words is None or words.sentence in explanation.sentence else words.sentence,
        )
        for cell, words in ((cell, explain_cell(trace, entry_id, cell)) for cell in journeys.cells(entry_id))
    ]
    if cells:
        lines += ["", *_columns(cells)]
    return "\n".join(lines) + "\n"


def turn_words(turn: Turn) -> str:
    """Which generation this is, e.g. `Reply #12, second swipe`: numbered as SillyTavern numbers messages."""
    swipe = f", swipe {turn.swipe + 1}" if turn.swipe else ""
    kind = "" if turn.kind == "normal" else f" ({one_line(turn.kind)})"
    return f"Reply #{turn.message}{swipe}{kind}"


def _render(
    trace: Trace,
    index: VaultIndex | None,
    section_lines: Callable[[_TextSection], list[str]],
    escape: Callable[[str], str],
) -> str:
    lines = [escape(line) for line in _header(trace, index)]
    for section in _sections(trace):
        if section.rows or section.texts:
            lines += ["", *section_lines(section)]
    return "\n".join(lines) + "\n"


def _header(trace: Trace, index: VaultIndex | None) -> list[str]:
    digests = ", ".join(f"{name} {digest[:12]}" for name, digest in trace.digests.items() if digest)
    size = plural(trace.index_size, "# entry|# entries")
    run = f"{trace.system}, {trace.mode}, {size} considered, seed {trace.seed}, generation {trace.turn.number}"
    head = [
        f"{turn_words(trace.turn)}: {run}",
        *([f"Inputs: {digests}"] if digests else []),
        "",
        summary(trace),
        *_stale(trace, index),
        *map(one_line, seen_lines(trace)),
    ]
    return [*head, *(f"Warning: {one_line(warning)}" for warning in trace.warnings)]


def _stale(trace: Trace, index: VaultIndex | None) -> list[str]:
    if index is None or "vault" not in trace.digests or trace.digests["vault"] == index.digest:
        return []
    return ["The vault has changed since this run; run again to see what would happen now."]


def _naming(trace: Trace, entry_id: int, index: VaultIndex | None) -> Trace:
    """The trace, with the entry's name from the index it was made with where it has none of its own."""
    if index is None or trace.digests.get("vault") != index.digest or entry_id in trace.entries:
        return trace
    if not 0 <= entry_id < len(index.entries):
        return trace
    return replace(trace, entries={**trace.entries, entry_id: EntryRef.of(index.entries[entry_id])})


def entry_figures(trace: Trace, priority: float, tokens: int) -> str:
    """`priority 61, 96 tokens`: by what an entry is put in order, if by anything, and its size."""
    rank = trace.words.rank_word(trace)
    size = plural(tokens, "# token|# tokens")
    return f"{rank} {number_words(priority)}, {size}" if rank else size


def _sections(trace: Trace) -> tuple[_TextSection, ...]:
    steps = tuple((record.name, record.phase.value, *_stage_counts(record)) for record in trace.stages)
    notes = tuple(
        (record.name, explain_stage(record, trace))
        for record in trace.stages
        if record.note or record.status is StageStatus.FAILED
    )
    rank = trace.words.rank_word(trace).capitalize()
    columns = ("", "Entry", "Tokens", *((rank,) if rank else ()), "Where")
    injected = tuple(
        _injected(number, injection, ranked=bool(rank)) for number, injection in enumerate(trace.injections, 1)
    )
    calls = tuple(
        (call.kind, call.model or call.source or "unknown", f"failed: {call.error}" if call.error else "answered")
        for call in trace.ai_calls
    )
    asking = [(record, record.ai) for record in trace.stages if record.ai is not None]
    items = tuple(
        (item.asked, _matched_to(trace, item), match_words(item), item.confidence, RESULT_WORDS[item.result])
        for _, ai in asking
        for item in ai.items
    )
    breakers = tuple(
        (
            record.name,
            cache_words(record.details) or "-",
            breaker_words(ai.before, trace.clock_ms),
            breaker_words(ai.after, trace.clock_ms),
        )
        for record, ai in asking
    )
    prompt = tuple(
        (f"{one_line(block.tag)}, {place(block.position, block.depth, block.role)}", block.text)
        for block in trace.prompt
    )
    went_in = f"Injected ({len(trace.injections)}, {plural(trace.total_tokens, '# token|# tokens')})"
    read = tuple((f"#{each.message}, changed by {', '.join(each.changed_by)}", each.text) for each in trace.seen.read)
    limits = tuple((limit.name, _used(limit)) for limit in trace.limits)
    return (
        _TextSection("Stages", ("Stage", "Phase", "In", "Added", "Removed", "Out"), steps),
        _TextSection("Notes on the stages", ("Stage", "Note"), notes),
        _TextSection("Entries", ("Entry", "Result", "Why"), decisions(trace, Journeys(trace))),
        _TextSection(went_in, columns, injected),
        _TextSection("Limits", ("Limit", "Used"), limits),
        _TextSection("Texts as they were searched", texts=read),
        _TextSection("Requests to a model", ("Kind", "Answered by", "Result"), calls),
        _TextSection("Items of the reply", ("Asked for", "Matched to", "How", "Confidence", "Result"), items),
        _TextSection("Cache and circuit breaker", ("Stage", "Cache", "Breaker before", "Breaker after"), breakers),
        _TextSection("Prompt", texts=prompt),
    )


def _stage_counts(record: StageRecord) -> tuple[str, ...]:
    if record.status is StageStatus.SKIPPED:
        return ("skipped", "", "", "")
    counts = len(record.entered), record.added, record.removed, len(record.left)
    return tuple(number_words(count) if count else "-" for count in counts)


def decisions(trace: Trace, journeys: Journeys) -> tuple[tuple[str, ...], ...]:
    """Title, result and reasons of each entry that a stage decided about: what brought it in, and what stopped it.

    Those that were kept out before their keys were looked for stand behind all others, in a row for each reason.
    """
    rows: list[tuple[str, ...]] = []
    apart: dict[tuple[str, str], list[str]] = {}
    for entry in journeys.rows:
        fate, way = journeys.fate(entry), journeys.came_in(entry)
        words = fate.explain(trace)
        if fate.reason in trace.words.unsearched:
            apart.setdefault((_result(fate, words), words.sentence), []).append(trace.title(entry))
            continue
        why = dict.fromkeys([*([way.sentence] if way is not None else []), words.sentence])
        rows.append((trace.title(entry), _result(fate, words), " ".join(why)))
    for (result, sentence), titles in apart.items():
        named = f"{sentence.removesuffix('.')}: {', '.join(titles)}."
        rows.append((titles[0], result, sentence) if len(titles) == 1 else (f"{len(titles)} entries", result, named))
    return tuple(rows)


def _result(decided: Fate, explanation: Explanation) -> str:
    if decided.state is FateState.INJECTED:
        return "Injected"
    return "Injected, shortened" if decided.state is FateState.TRUNCATED else explanation.label


def _decision(decided: Fate, explanation: Explanation) -> str:
    stage = f" by the stage {quoted(decided.stage)}" if decided.stage and decided.state is FateState.REMOVED else ""
    words = "Removed" if stage else _result(decided, explanation)
    return f"{words}{stage}: {explanation.sentence}"


def _matched_to(trace: Trace, item: ReplyItem) -> str:
    """The entries of an item; those of the same title are told apart by their vaults."""
    if len(item.entries) < 2:
        return "-" if item.match in (TitleMatch.NOT_FOUND, TitleMatch.UNREADABLE) else item.title
    refs = [trace.entries.get(entry) for entry in item.entries]
    return ", ".join(item.title if ref is None else f"{ref.title} ({ref.vault})" for ref in refs)


def _injected(number: int, injection: Injection, *, ranked: bool) -> tuple[str, ...]:
    tokens = number_words(injection.tokens)
    if injection.original_tokens is not None:
        tokens += f" of {number_words(injection.original_tokens)}"
    where = place(injection.position, injection.depth, injection.role)
    rank = (number_words(injection.priority),) if ranked else ()
    return str(number), injection.title, tokens, *rank, where


def _used(limit: Limit) -> str:
    if limit.maximum is None:
        return f"{number_words(limit.used)} {limit.unit}, no limit"
    return f"{number_words(limit.used)} of {number_words(limit.maximum)} {limit.unit}"


def _columns(table: Sequence[Sequence[str]]) -> list[str]:
    """Rows with their cells below each other; the last column is as wide as it likes."""
    lines = [[one_cell(cell) for cell in row] for row in table]
    widths = [max(len(row[column]) for row in lines) for column in range(len(lines[0]) - 1)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in lines
    ]


def one_cell(text: str) -> str:
    """The text without line breaks, in full."""
    return re.sub(r"[\t\n\v\f\r\u2028\u2029]+", " ", text)


def _plain_section(section: _TextSection) -> list[str]:
    lines = [section.heading]
    if section.rows:
        lines += [f"  {line}".rstrip() for line in _columns([section.columns, *section.rows])]
    for caption, text in section.texts:
        lines += [f"--- {caption}", text]
    return lines


def _markdown_section(section: _TextSection, level: int) -> list[str]:
    lines = [f"{'#' * level} {section.heading}", ""]
    if section.rows:
        lines += markdown_table(section.columns, section.rows)
    for number, (caption, text) in enumerate(section.texts):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
        lines += [*([""] if number else []), escaped(caption), "", fence, text, fence]
    return lines


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; cells are taken literally, on one line each."""
    head, *lines = (f"| {' | '.join(escaped(one_cell(cell)) for cell in row)} |" for row in (columns, *rows))
    return [head, "|" + " --- |" * len(columns), *lines]


def csv_bytes(rows: Iterable[Sequence[str | int]], *, grouped: bool = False) -> bytes:
    """Rows as CSV, as spreadsheets read it: with a byte order mark, and no cell that they would take for a formula.

    Where figures are `grouped`, as people read them, their thousands are not set apart any more: many a spreadsheet
    takes that for the decimal sign.
    """
    found = io.StringIO()
    csv.writer(found).writerows([_harmless(str(cell), grouped=grouped) for cell in row] for row in rows)
    return found.getvalue().encode("utf-8-sig", "replace")


def _harmless(cell: str, *, grouped: bool) -> str:
    if grouped and _GROUPED.fullmatch(cell):
        return cell.replace(",", "")
    is_formula = cell.startswith(("=", "+", "-", "@", "\t", "\r")) and len(cell) > 1 and not _is_number(cell)
    return f"'{cell}" if is_formula else cell


_GROUPED: Final = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def escaped(text: str) -> str:
    r"""The text with Markdown's own characters taken literally: ``a*b`` becomes ``a\*b``."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)
