"""Lore as a table: CSV with commas, semicolons or tabs (rules: lorebooks 11)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import object_in, text_in
from lorestudio.exchange.json_file import utf8_text
from lorestudio.exchange.lorebooks.crossing import (
    EntryForm,
    FieldLink,
    LoreReport,
    Raw,
    alike,
    chance,
    effective,
    from_world_info,
    into_world_info,
    kept_in,
    number,
    texts,
)
from lorestudio.exchange.lorebooks.documents import WORLD_INFO_TITLE, Lore, Written
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY, BookPlace
from lorestudio.exchange.problems import InputError
from lorestudio.trace.wording import plural

TITLE: Final = "Table (CSV)"
_BOM: Final = "\ufeff"
_NAMES: Final = {
    "title": "title", "name": "title", "comment": "title",
    "keys": "keys", "key": "keys", "triggers": "keys", "keywords": "keys",
    "content": "content", "text": "content", "entry": "content", "value": "content",
    "secondary": "secondary", "refinekeys": "secondary", "keysecondary": "secondary", "secondarykeys": "secondary",
    "priority": "priority", "order": "order", "insertionorder": "order",
    "enabled": "enabled", "disable": "disabled", "disabled": "disabled",
    "constant": "constant", "always": "constant", "type": "folder", "category": "folder", "folder": "folder",
    "position": "position", "depth": "depth", "role": "role", "probability": "probability",
}  # fmt: skip
"""What a column is for, by its name without case, blanks and underscores."""
HEADER: Final = (
    "Title", "Keys", "Content", "Secondary", "Order", "Enabled", "Constant", "Position", "Depth", "Role", "Probability",
)  # fmt: skip
"""The columns of a table that is made anew."""

_DIVIDERS: Final = re.compile(r"[|;\n,]")
_YES: Final = frozenset({"1", "yes", "true", "on", "x", "y"})
_NO: Final = frozenset({"0", "no", "false", "off", "n"})
_PLACES: Final = ("before", "after", "note top", "note bottom", "depth", "examples top", "examples bottom", "outlet")
_ROLES: Final = ("system", "user", "assistant")
_RUNS: Final = frozenset("=+-@")


def looks_like_table(data: bytes) -> bool:
    """Whether the bytes are a text whose first line names columns that are known."""
    try:
        head = data[:65536].decode("utf-8-sig", "ignore").lstrip("\r\n").splitlines()[:1]
    except UnicodeDecodeError:
        return False
    return bool(head) and {"content", "keys"} <= {_plain(name) for name in _cells(head[0], _divider(head[0]))}


def _cells(line: str, divider: str) -> list[str]:
    return next(csv.reader([line], delimiter=divider), [])


def _divider(line: str) -> str:
    return max(",;\t", key=lambda sign: len(_cells(line, sign)))


def _plain(name: str) -> str:
    return _NAMES.get(re.sub(r"[\s_]", "", name).lower(), "")


def read_table(data: bytes, name: str, source: Path | str) -> Lore:
    """The entries in a table. Raises InputError naming the line that is wrong."""
    columns, rows = _table(data, source)
    form = form_of(columns)
    crossed = [into_world_info(form, row, place, place) for place, row in enumerate(rows)]
    where = next((column for column in columns if _plain(column) == "folder"), "")
    folders = {str(place): text_in(row[where]) for place, row in enumerate(rows) if where and row.get(where)}
    own = [column for column in columns if not _plain(column)]
    remarks = (f"Columns that are not known here are kept with each entry: {', '.join(own)}.",) if own else ()
    report = LoreReport(TITLE, WORLD_INFO_TITLE, tuple(fate for _entry, fate in crossed), remarks)
    placed = frozenset(to_string(entry["uid"]) for entry, _fate in crossed)
    return Lore("csv", name, tuple(entry for entry, _fate in crossed), report, folders, placed)


def _table(data: bytes, source: Path | str) -> tuple[list[str], list[Raw]]:
    content = utf8_text(data, source, "Save the table as “CSV UTF-8”.")
    lines = content.splitlines()
    divider = _divider(lines[0] if lines else "")
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=divider, strict=True)
    try:
        columns = next(reader, [])
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        advice = "Mend the quotes of that line, or save the table again."
        raise InputError(source, f"this is no table ({error}). {advice}", reader.line_num) from error
    if len(set(columns)) != len(columns):
        raise InputError(source, "two columns have the same name. Give each its own.", 1)
    for line, row in rows:
        if len(row) > len(columns):
            message = f"{len(row)} cells, and only {len(columns)} columns. Put cells with a “{divider}” in quotes."
            raise InputError(source, message, line)
    return columns, [dict(zip(columns, row, strict=False)) for _line, row in rows]


def write_table(
    entries: Sequence[Raw], original: bytes | None, source: Path | str, called: Mapping[str, str], ending: str = ""
) -> Written:
    """A table of entries, with the columns and the dividing sign of another one where that is given.

    `called` as in `formats.write_lore`. A new table whose file has the `ending` `.tsv` is divided by tabulators.
    """
    columns, rows = _table(original, source) if original is not None else (list(HEADER), [])
    kept = (name for entry in entries for name in object_in(kept_in(entry, "csv"), "fields"))
    columns += [name for name in dict.fromkeys(kept) if name not in columns]
    new = "\t" if ending.lower() == ".tsv" else ","
    divider = _divider(original.decode("utf-8-sig").splitlines()[0]) if original else new
    form = form_of(columns)
    stood = {called.get(str(place), str(place)): row for place, row in enumerate(rows)}
    made = {
        uid: from_world_info(form, entry, stood.get(uid)) for entry in entries for uid in [to_string(entry.get("uid"))]
    }
    order = [uid for uid in stood if uid in made]
    order += [uid for uid in made if uid not in order]
    report = LoreReport(WORLD_INFO_TITLE, TITLE, tuple(fate for _raw, fate in made.values()), _may_run(made))
    out = io.StringIO(newline="")
    line_end = "\n" if original is not None and b"\r\n" not in original else "\r\n"
    writer = csv.writer(out, delimiter=divider, lineterminator=line_end)
    writer.writerow(columns)
    writer.writerows(_cells_of(made[uid][0], columns) for uid in order)
    mark = _BOM if original is not None and original.startswith(_BOM.encode()) else ""
    return Written((mark + out.getvalue()).encode("utf-8", "replace"), report, tuple(order))


def _cells_of(row: Raw, columns: Sequence[str]) -> list[str]:
    """The cells of a row, without those at its end that it does not have."""
    last = max((place for place, column in enumerate(columns) if column in row), default=-1)
    return [text_in(row.get(column)) for column in columns[: last + 1]]


def _may_run(made: Mapping[str, tuple[Raw, object]]) -> tuple[str, ...]:
    amount = sum(text_in(cell)[:1] in _RUNS for raw, _fate in made.values() for cell in raw.values() if cell)
    told = plural(amount, "A cell begins|# cells begin")
    return (f"{told} with = + - or @: a spreadsheet may take that for a formula.",) if amount else ()


# ---- entries --------------------------------------------------------------------------------------------------------


def form_of(columns: Sequence[str]) -> EntryForm:
    """The form of the rows of a table with these columns; of two for the same thing the first one counts."""
    used: dict[str, str] = {}
    for column in columns:
        used.setdefault(_plain(column), column)
    used.pop("", None)
    links = tuple(
        FieldLink(column, ours, _PRIORITY if what == "priority" else "")
        for what, column in used.items()
        if (ours := _OURS.get(what))
    )
    return EntryForm(
        name="csv",
        plain=True,
        title=TITLE,
        reads=partial(_there, used),
        writes=partial(_back, used),
        new=lambda _entry: dict.fromkeys(columns, ""),
        cannot="the table has no column for it",
        links=links,
    )


_OURS: Final = {
    "title": "comment", "keys": "key", "content": "content", "secondary": "keysecondary", "order": "order",
    "priority": "order", "enabled": "disable", "disabled": "disable", "constant": "constant", "position": "position",
    "depth": "depth", "role": "role", "probability": "probability",
}  # fmt: skip
"""The World Info field that a column is for; a priority is one where there is no order."""


_PRIORITY: Final = "it is taken for the order: what has more of it stands lower in the prompt and is cut last"


def _there(used: Mapping[str, str], row: Raw) -> dict[str, Json]:
    cells = {what: text_in(row.get(column)) for what, column in used.items()}
    made: dict[str, Json] = {}
    for what, cell in cells.items():
        made |= dict(_READ[what](cell.strip() if what != "content" else cell)) if what in _READ else {}
    if "order" in cells and "priority" in cells:
        made |= dict(_READ["order"](cells["order"]))
    return made


def _keys(cell: str) -> list[str]:
    """Keys divided by the first of the dividing signs that occurs."""
    found = next((sign for sign in "|;\n," if sign in cell), None)
    return [key.strip() for key in cell.split(found) if key.strip()] if found else [cell] * bool(cell)


_Fields = Iterator[tuple[str, Json]]


def _number(name: str, cell: str) -> _Fields:
    try:
        value = float(cell)
    except ValueError:
        return
    if abs(value) < 1e15:
        yield name, int(value) if value == int(value) else value


def _flag(name: str, cell: str, *, yes: bool = True) -> _Fields:
    if cell.lower() in _YES:
        yield name, yes
    elif cell.lower() in _NO:
        yield name, not yes


def _chosen(name: str, words: Sequence[str], cell: str) -> _Fields:
    if cell.lower() in words:
        yield name, words.index(cell.lower())
    elif cell.isdecimal() and len(cell) == 1:
        yield name, int(cell)


def _probability(cell: str) -> _Fields:
    for name, value in _number("probability", cell.removesuffix("%").strip()):
        yield name, value
        yield "useProbability", True


_READ: Final[Mapping[str, Callable[[str], _Fields]]] = {
    "title": lambda cell: iter([("comment", cell)]),
    "keys": lambda cell: iter([("key", _keys(cell))]),
    "content": lambda cell: iter([("content", cell)]),
    "secondary": lambda cell: iter([("keysecondary", _keys(cell))]),
    "priority": partial(_number, "order"),
    "order": partial(_number, "order"),
    "enabled": partial(_flag, "disable", yes=False),
    "disabled": partial(_flag, "disable"),
    "constant": partial(_flag, "constant"),
    "position": partial(_chosen, "position", _PLACES),
    "depth": partial(_number, "depth"),
    "role": partial(_chosen, "role", _ROLES),
    "probability": _probability,
}


def _back(used: Mapping[str, str], entry: Raw) -> dict[str, Json]:
    place, role = effective(entry, "position"), effective(entry, "role")
    at_depth = place == BookPlace.AT_DEPTH
    odds, order = chance(entry), number(effective(entry, "order"))
    plain = order is None or alike("order", order, NEW_ENTRY["order"])
    cells = {
        "title": text_in(entry.get("comment")),
        "keys": _joined(entry.get("key")),
        "content": text_in(entry.get("content")),
        "secondary": _joined(entry.get("keysecondary")) if effective(entry, "selective") is True else "",
        "order": "" if plain else _spelled(order),
        "priority": "" if plain or "order" in used else _spelled(order),
        "enabled": "no" if effective(entry, "disable") is True else "yes",
        "disabled": "yes" if effective(entry, "disable") is True else "no",
        "constant": "yes" if effective(entry, "constant") is True else "no",
        "position": _PLACES[place] if isinstance(place, int) and 0 < place < len(_PLACES) else "",
        "depth": _spelled(number(effective(entry, "depth"))) if at_depth else "",
        "role": _ROLES[role] if at_depth and isinstance(role, int) and 0 < role < len(_ROLES) else "",
        "probability": "" if odds == NEW_ENTRY["probability"] else _spelled(odds),
    }
    return {column: cells[what] for what, column in used.items() if what in cells}


def _joined(keys: Json) -> str:
    listed = texts(keys)
    if not any(map(_DIVIDERS.search, listed)):
        return "; ".join(listed)
    return " | ".join(listed) + " |" * (len(listed) == 1)


def _spelled(value: float | None) -> str:
    return "" if value is None else str(int(value) if value == int(value) else value)
