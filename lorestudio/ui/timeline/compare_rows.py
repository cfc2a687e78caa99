"""A comparison as a tree: what was different, then the entries by what happened to them, unchanged ones folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QFont, QStandardItem, QStandardItemModel

from lorestudio.studio.comparison_text import HEADINGS, SIGNS, cause_words, change_lines
from lorestudio.studio.run_causes import Causes, What, effects
from lorestudio.trace.diff import EntryChange, Key, TraceDiff, injections_by_key
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Injection, Trace
from lorestudio.trace.wording import place, signed_words
from lorestudio.ui.qt import ACCESSIBLE_TEXT, ITEM, TOOLTIP
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import number, sentence_case, tr

COLUMNS: Final = ("Entry", "A", "B", "Tokens", "Because of")
_TONES: Final = {What.ENTERED: "good", What.LEFT: "error", What.MOVED: "accent", What.RESIZED: "warning"}
_RIGHT: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def fill_rows(model: QStandardItemModel, diff: TraceDiff, causes: Causes | None, theme: Theme) -> list[QStandardItem]:
    """Put a comparison into the model; returns the groups that should be open."""
    model.clear()
    model.setHorizontalHeaderLabels([tr(column) for column in COLUMNS])
    opened = []
    if causes is not None:
        group = _group(model, tr("What was different"), len(causes.causes))
        for cause in causes.causes:
            difference = cause.difference
            cells = [difference.title, difference.before, difference.after, "", sentence_case(cause_words(cause))]
            _row(group, cells, "" if cause.does_something else "text_faint", theme, difference.note)
        opened.append(group)
    lines = change_lines(diff, causes)
    changes = effects(diff)
    for what, heading in HEADINGS.items():
        mine = [line for line in lines if line.what is what]
        if mine:
            group = _group(model, tr(heading), len(mine), SIGNS[what])
            for line in mine:
                cells = [line.title, *_sides(what, changes[line.effect], diff), _signed(line.tokens)]
                who = line.who.removeprefix("by ") or (tr("not found") if causes is not None else "")
                _row(group, [*cells, who], _TONES.get(what, "warning"), theme, line.effect[1])
            opened.append(group)
    _add_rest(model, diff, {key for _what, key in changes}, theme)
    return opened


def _add_rest(model: QStandardItemModel, diff: TraceDiff, changed: set[Key], theme: Theme) -> None:
    """What is the same, and who was stopped by something else; folded."""
    if diff.refated:
        group = _group(model, tr("Stopped by something else"), len(diff.refated))
        for change in diff.refated:
            cells = [change.title, _why(change.before_fate, diff.before), _why(change.after_fate, diff.after), "", ""]
            _row(group, cells, "", theme, change.key)
    same = [(key, each) for key, each in injections_by_key(diff.after).items() if key not in changed]
    if same:
        group = _group(model, tr("Unchanged"), len(same), "=")
        for key, injection in same:
            tokens = _tokens(injection)
            _row(group, [injection.title, tokens, tokens, "", ""], "", theme, key)


def _group(model: QStandardItemModel, title: str, amount: int, sign: str = "") -> QStandardItem:
    text = f"{sign} {title} ({number(amount)})".strip()
    item = QStandardItem(text)
    font = QFont(item.font())
    font.setWeight(QFont.Weight.DemiBold)
    item.setFont(font)
    item.setData(text, ACCESSIBLE_TEXT)
    item.setEditable(False)
    model.appendRow(item)
    return item


def _row(group: QStandardItem, cells: Sequence[str], tone: str, theme: Theme, key: Key | None) -> None:
    items = []
    for column, cell in enumerate(cells):
        item = QStandardItem(cell)
        item.setEditable(False)
        item.setData(cell, TOOLTIP)
        item.setData(key, ITEM)
        item.setData(f"{tr(COLUMNS[column])}: {cell or tr('nothing')}", ACCESSIBLE_TEXT)
        if tone and (column == 3 or tone == "text_faint"):
            item.setForeground(QBrush(theme.color(tone)))
        if column == 3:
            item.setTextAlignment(_RIGHT)
        items.append(item)
    group.appendRow(items)


def _sides(what: What, change: EntryChange, diff: TraceDiff) -> tuple[str, str]:
    """How it stands in A and in B."""
    if what is What.MOVED and change.before is not None and change.after is not None:
        before, after = (place(each.position, each.depth, each.role) for each in (change.before, change.after))
        return (before, after) if before != after else (tr("in order"), tr("in another order"))
    return (
        _tokens(change.before) if change.before is not None else _why(change.before_fate, diff.before),
        _tokens(change.after) if change.after is not None else _why(change.after_fate, diff.after),
    )


def _tokens(injection: Injection) -> str:
    if injection.truncated:
        return tr("{tokens} tokens, shortened", tokens=number(injection.tokens))
    return tr("{tokens} tokens", tokens=number(injection.tokens))


def _why(fate: Fate, trace: Trace) -> str:
    return sentence_case(tr(fate.explain(trace).label))


def _signed(tokens: int) -> str:
    return signed_words(tokens) if tokens else ""
