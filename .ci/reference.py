"""Write the pages that list every command, setting and format of lore, from what the program says of itself.

Usage: python .ci/reference.py [--check]

Writes `commands.md`, `settings-reference.md` and `formats.md` in `resources/docs`; with `--check` nothing is written,
and it ends with 1 where one of them is not what would be written. A test does the same.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path

from typer.main import get_command

from lorestudio.cli.app import COMMANDS, app
from lorestudio.cli.command import examples
from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.crossing import FieldLink
from lorestudio.exchange.lorebooks.formats import FORMATS, LoreFormat
from lorestudio.exchange.lorebooks.note_fields import INTO_NOTES, KEPT, OUT_OF_NOTES, FieldWay
from lorestudio.exchange.lorebooks.notes import property_of
from lorestudio.settings.declaration import Declaration, declared
from lorestudio.settings.sections import value_text
from lorestudio.systems.registry import KINDS

if typing.TYPE_CHECKING:
    import click

DOCS = Path(__file__).resolve().parents[1] / "resources" / "docs"
MADE = "<!-- Made by .ci/reference.py; change the program, then run it. -->"


def cell(text: str) -> str:
    """A text that keeps to its cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """The lines of a table, none where it has no rows."""
    lines = [f"| {' | '.join(map(cell, each))} |" for each in rows]
    if lines:
        yield from (f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *lines, "")


def commands() -> str:
    """The page with every command, its arguments and options."""
    group = typing.cast("click.Group", get_command(app))  # a group of click's kind, whichever click typer brings
    lines = [
        "# Every command",
        "",
        MADE,
        "",
        "What they are for is in [command-line.md](command-line.md). Without a command the window opens.",
        "",
    ]
    context = group.context_class(group, info_name="lorestudio")
    for name in sorted(COMMANDS):
        lines += command_lines(group, name, context)
    return "\n".join(lines).rstrip() + "\n"


def command_lines(group: click.Group, name: str, parent: click.Context) -> Iterator[str]:
    """A command of a group, or each of those below it."""
    command = group.get_command(parent, name)
    if command is None:
        return
    context = command.context_class(command, info_name=name, parent=parent)
    if hasattr(command, "list_commands"):
        yield from (f"## {name}", "", paragraph(command), "")
        below = typing.cast("click.Group", command)
        for each in below.list_commands(context):
            yield from command_lines(below, each, context)
        return
    level = "##" if parent.parent is None else "###"
    usage = command.get_usage(context).removeprefix("Usage:")
    yield from (f"{level} {' '.join(context.command_path.split()[1:])}", "", f"`{' '.join(usage.split())}`", "")
    yield from (paragraph(command), "")
    yield from ("```", *examples(context.command_path.partition(" ")[2]), "```", "")
    yield from table(("Option", "What it does"), map(option, filter(shown, command.params)))


def paragraph(command: click.Command) -> str:
    """What a command does, on one line."""
    return " ".join((command.help or "").split())


def shown(parameter: click.Parameter) -> bool:
    """Whether the help lists it."""
    return not getattr(parameter, "hidden", False) and bool(getattr(parameter, "help", ""))


def option(parameter: click.Parameter) -> tuple[str, str]:
    """An option with what it may be and what it is by default, or an argument by what stands for it in the usage."""
    told = str(getattr(parameter, "help", "")) + (" Required." if parameter.required else "") + range_of(parameter)
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or str(parameter.name).upper()}`", told
    names = ", ".join((*parameter.opts, *parameter.secondary_opts))
    default = default_of(parameter)
    more = f" Default: {default}." if default and "Default:" not in told else ""
    return f"`{' '.join(filter(None, (names, parameter.metavar)))}`", told + more


def range_of(parameter: click.Parameter) -> str:
    """The least and the most that a number may be, "" for one without bounds."""
    kind = getattr(parameter, "type", parameter)  # newer versions of typer have the bounds at the parameter
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    if low is None and high is None:
        return ""
    return f" At least {low:,}." if high is None else f" At most {high:,}." if low is None else f" {low:,} to {high:,}."


def default_of(parameter: click.Parameter) -> str:
    """What an option is where nobody gives it, "" for nothing."""
    value = getattr(parameter.default, "value", parameter.default)
    if isinstance(value, bool):  # of a pair of options, the one that holds
        pair = parameter.opts if value else parameter.secondary_opts
        return f"`{pair[0]}`" if parameter.secondary_opts else ""
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, int | str | Path) else ""


def settings() -> str:
    """The page with every setting of every system."""
    intro = "How they are tried out, kept and exported is in [settings.md](settings.md)."
    lines = ["# Every setting", "", MADE, "", intro, ""]
    for kind in KINDS.values():
        lines += [f"## {kind.title}", "", kind.summary, ""]
        groups: dict[str, list[Declaration]] = {}
        for each in declared(kind.settings):
            groups.setdefault(each.group, []).append(each)
        for group, members in groups.items():
            lines += [f"### {group}", ""]
            lines += table(("Setting", "Key", "Default", "Range", "What it does", "Stages"), map(setting, members))
    return "\n".join(lines).rstrip() + "\n"


def setting(one: Declaration) -> tuple[str, ...]:
    """A setting as a row."""
    default = value_text(one, one.default) if not one.long else "a text"
    bounds = ", ".join(one.choices.values()) if one.low is None else one.allowed
    return one.title, f"`{one.alias}`", default, bounds, one.help, ", ".join(one.affects)


TOLD = (
    "A file is told by what it holds, not by its name; the first format in this list that fits is the one. How fields "
    "are read and written in detail is in [the rules](rules/lorebooks.md)."
)
COPY = (
    "*A copy* is one of a file that exists: the entries take the place of its own, and all else stays as it was. What "
    "an entry has beside the fields below is carried: it has no effect elsewhere and goes out again. An entry that "
    "nobody touched goes out as it came in. What World Info says beyond these fields is lost on the way out, and the "
    "report names it before anything is written."
)


def formats() -> str:
    """The page with every format of lore and its fields."""
    lines = ["# Every format of lore", "", MADE, "", TOLD, ""]
    lines += table(("Format", "Name", "Files", "Told by", "Out"), map(format_row, FORMATS))
    lines += [COPY, ""]
    heads = ("Field", "In World Info", "In", "Out")
    for form in {form.name: form for kind in FORMATS for form in kind.forms}.values():
        lines += [f"## {form.title}", ""]
        lines += table(heads, map(field_row, form.links))
        if form.ranked:
            lines += ["The place in the list is the order.", ""]
        if not form.cannot:
            lines += ["What World Info says beyond that is kept in the entry's extensions; nothing is lost.", ""]
    lines += ["## World Info into notes", "", CARRIED, ""]
    lines += table(
        ("Entry", "Note", "Otherwise"), (way_row(way, property_of(way.field)) for way in INTO_NOTES.values())
    )
    lines += ["## Notes into World Info", ""]
    out = [*OUT_OF_NOTES.values(), replace(KEPT, field="any other")]
    lines += table(("Note", "Entry", "Otherwise"), (way_row(way, "") for way in out))
    return "\n".join(lines).rstrip() + "\n"


CARRIED = (
    "What a note cannot say in this way stands in a property of its own, named in the last column, and decides in "
    "World Info; a member that is missing where that matters is named in `wi_missing`, and what no property can hold "
    "stands in `wi_extra`."
)


def way_row(way: FieldWay, own: str) -> tuple[str, ...]:
    """What becomes of a field, and what where the other side cannot say it."""
    plain = ": ".join(filter(None, (way.plain[0] if way.plain[1] else "", way.plain[1])))
    other = ": ".join(filter(None, (f"`{own}`" if own else "", way.other[1])))
    return f"`{way.field}`", "; ".join(filter(None, (way.becomes, plain))), other


def format_row(kind: LoreFormat) -> tuple[str, ...]:
    """A format as a row."""
    out = "new, or a copy" if kind.makes_new else "a copy"
    return kind.title, f"`{kind.name}`", ", ".join(kind.endings), kind.looks, out


def field_row(link: FieldLink) -> tuple[str, ...]:
    """A field of a format as a row."""
    ways = (f"approximate: {how}" if how else "exact" for how in (link.how, link.how_back))
    return f"`{link.theirs}`", f"`{link.ours}`", *ways


PAGES = {"commands.md": commands, "settings-reference.md": settings, "formats.md": formats}


def outdated() -> list[str]:
    """The pages that are not what the program says."""
    return [name for name, make in PAGES.items() if not _is(DOCS / name, make())]


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit("\n".join(outdated()) or 0)
    for page, make in PAGES.items():
        (DOCS / page).write_text(make(), encoding="utf-8")
