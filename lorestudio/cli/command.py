"""How a function becomes a command, and what those take that load little else.

What an earlier run of a command made may be written again, what people wrote is left alone.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from enum import EnumType
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo, OptionInfo

from lorestudio.cli.output import STANDARD_STREAM, clear_messages
from lorestudio.domain.resources import resource
from lorestudio.exchange.json_file import read_file
from lorestudio.exchange.problems import InputError, WrongFileError
from lorestudio.settings.files import READ_AT_MOST, WRITE_PROTECTED
from lorestudio.settings.rules import VERSIONS, name_of, rules_of
from lorestudio.studio.project.files import own_folders
from lorestudio.vault import front_matter


def command(of: typer.Typer, name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command, by default under its own name.

    What goes wrong in it becomes a message, and a parameter that is a dataclass stands for options, its fields. What an
    option or an argument is stands in texts of the annotation, see `_declared`.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        of.command(name, cls=_Command)(_flat(function))
        return function

    return register


class _Command(TyperCommand):
    """A command whose help shows what stands for an argument, and nothing of Python's types."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  # typer has no public name for it
        """Click: what was typed. A chat alone needs no `--chat`; who forgot it beside others is told what to type."""
        typed = [*args]
        ctx.allow_extra_args = True  # click's own word for them does not say what it takes
        try:
            super().parse_args(ctx, args)
        except typer.BadParameter as error:
            given = any(each.partition("=")[0] == "--chat" for each in typed)  # then it is the file that will not do
            if error.param is not None and "--chat" in error.param.opts and not given:
                chats = (each for each in typed if Path(each).suffix in _CHATS and Path(each).is_file())
                chat = next(chats, "FILE")
                if chat in typed and not any(each.param_type_name == "argument" for each in self.get_params(ctx)):
                    typed.insert(typed.index(chat), "--chat")
                    return self.parse_args(ctx, typed)
                error.message = f"Write --chat {shlex.quote(chat)}"
            raise
        if ctx.args and not ctx.resilient_parsing:
            wanted = " ".join(_usage(each) for each in self.get_params(ctx) if each.param_type_name == "argument")
            rest = ". Put words that belong together between quotation marks, and write the rest as options"
            told = f"“{ctx.args[0]}” is too much: this takes {wanted or 'options'} alone{rest if wanted else ''}"
            ctx.fail(f"{told}, as in: {'  or  '.join(_examples(ctx))}")
        return list(ctx.args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401  # typer has no public name for what it is
        """Click: what the usage line shows behind the command."""
        return ["[OPTIONS]", *(_usage(each) for each in self.get_params(ctx) if each.param_type_name == "argument")]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  # the same
        """Click: the lists of arguments and options."""
        found: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None and each.param_type_name == "argument":
                found.setdefault("Arguments", []).append((_usage(each).strip("[]"), record[1]))
            elif record is not None:
                found.setdefault("Options", []).append(record)
        for title, records in found.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  # the same
        """Click: how it is used, each on a line of its own, so that it can be copied."""
        if found := _examples(ctx):
            with formatter.section("Examples" if len(found) > 1 else "Example"):
                formatter.write("".join(f"  {each}\n" for each in found))


def _examples(ctx: Any) -> list[str]:  # noqa: ANN401  # the same
    return examples(ctx.command_path.removeprefix(ctx.find_root().command_path).strip())


def examples(command: str) -> list[str]:
    """The command lines that show how a command is used, its name and that of its group left of what it takes."""
    lines = resource("docs", "examples.txt").read_text(encoding="utf-8").splitlines()
    return [each for each in lines if f"{each} ".startswith(f"lorestudio {command} ")]


def list_commands(group: Any, ctx: Any, formatter: Any, titles: Callable[[str], str]) -> None:  # noqa: ANN401  # the same
    """Write the commands of a group, below the title that each has, with the whole first sentence of each."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in group.list_commands(ctx):
        told = group.get_command(ctx, name).get_short_help_str(1_000)
        found.setdefault(titles(name), []).append((name, told))
    for title, records in found.items():
        with formatter.section(title):
            formatter.write_dl(records)


def _usage(argument: Any) -> str:  # noqa: ANN401  # the same
    """What stands for an argument, in brackets where it may be left out."""
    name = (argument.metavar or argument.name.upper()).strip("[]")
    return name if argument.required else f"[{name}]"


@dataclass(frozen=True, slots=True)
class Limits:
    """Stands in the annotation of a number: from where to where it may go."""

    low: float | None = None
    high: float | None = None


_VALUES: Final = {Path: "FILE", int: "N", float: "N", str: "NAME"}
"""What stands for the value of an option that does not say it, by its type; for a choice that is what there is."""


def _plain(name: str, annotation: Any) -> Any:  # noqa: ANN401  # what stands behind a parameter's colon
    """The annotation, in which an option says its name and what stands for its value."""
    base, *marks = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    if texts := [mark for mark in marks if isinstance(mark, str)]:
        limits = next((mark for mark in marks if isinstance(mark, Limits)), Limits())
        others = (mark for mark in marks if not isinstance(mark, str | Limits))
        marks = [_declared(*texts, limits=limits), *others]
    for place, mark in enumerate(marks):
        if isinstance(mark, OptionInfo):
            marks[place] = option = copy(mark)
            if option.default is ...:  # where typer keeps the first name
                option.param_decls = (f"--{name.replace('_', '-')}",)
            option.metavar = option.metavar or next(filter(None, map(_value, _types(base))), None)
    return Annotated[base, *marks] if marks else base


def _declared(*texts: str, limits: Limits) -> Any:  # noqa: ANN401  # an option's or an argument's declaration
    """An option, by default called as its parameter; the last text is its help, those with dashes are its names.

    Another one stands for the value. One in angle brackets makes it an argument: `<FILE...>`.
    """
    *before, told = texts
    names = [text for text in before if text.startswith("-")]
    value = next((text for text in before if text not in names), None)
    if value is not None and value.startswith("<"):
        return typer.Argument(metavar=value.strip("<>"), help=told)
    return typer.Option(*names, metavar=value, min=limits.low, max=limits.high, help=told)


def _value(kind: Any) -> str:  # noqa: ANN401  # the same
    return "|".join(map(str, kind)) if isinstance(kind, EnumType) else _VALUES.get(kind, "")


def _types(annotation: Any) -> Iterator[Any]:  # noqa: ANN401  # the same
    """A type, and those in it: of `list[Path] | None` also the path."""
    yield annotation
    for each in get_args(annotation):
        yield from _types(each)


class _Commands(TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  # typer has no public name for it
        list_commands(self, ctx, formatter, lambda _name: "Commands")


def command_group(text: str) -> typer.Typer:
    """Several commands under one name; the text says what they are about."""
    return typer.Typer(cls=_Commands, help=text, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def _flat(function: Callable[..., None]) -> Callable[..., None]:
    """The function with the fields of its dataclasses as parameters, all given by name; so typer takes it.

    Help lists what is needed and the chat first, then the function's own, and last what is seldom wanted.
    """
    hints = get_type_hints(function, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    ranks: dict[str, int] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        of = groups.get(name)
        types = hints if of is None else get_type_hints(of, include_extras=True)
        found = [parameter] if of is None else inspect.signature(of).parameters.values()
        named = inspect.Parameter.KEYWORD_ONLY
        parameters += (each.replace(annotation=_plain(each.name, types[each.name]), kind=named) for each in found)
        for base in of.__mro__ if of is not None else ():
            ranks |= dict.fromkeys(inspect.get_annotations(base), vars(base).get("rank", 1))
    arguments = [each for each in parameters if _is_argument(each)]  # they are told by their order
    options = [each for each in parameters if not _is_argument(each)]
    options.sort(key=lambda each: (each.default is not each.empty and each.name != "chat", ranks.get(each.name, 0)))
    parameters = [*arguments, *options]

    @wraps(function)
    def run(**values: object) -> None:
        with clear_messages():
            _check_written(parameters, values)
            for name, group in groups.items():
                values[name] = group(**{each.name: values.pop(each.name) for each in fields(group)})
            function(**values)

    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads, unknown to mypy
    return run


def _is_argument(parameter: inspect.Parameter) -> bool:
    return any(isinstance(mark, ArgumentInfo) for mark in getattr(parameter.annotation, "__metadata__", ()))


def _check_written(parameters: Iterable[inspect.Parameter], values: MutableMapping[str, object]) -> None:
    """Look at the files that the command is to write, and take `-` for none where the result is printed then.

    Raises InputError for one that is to be left alone.
    """
    for each in parameters:
        path = values.get(each.name)
        for mark in getattr(each.annotation, "__metadata__", ()):
            if isinstance(mark, OutputFile) and isinstance(path, Path):
                mark.check(path, values.values())
                if str(path) == STANDARD_STREAM:
                    values[each.name] = None


def rules_named(text: str | None) -> str:
    """The rules of that name, "" where none is given. Raises InputError."""
    try:
        return "" if text is None else name_of(rules_of(text))
    except ValueError as error:
        raise InputError("--rules", str(error)) from error


RulesOption = Annotated[
    str | None,
    "VERSION",
    f"Whose rules decide: DeepLore {' or '.join(VERSIONS)}. Default: as the settings say or show.",
]


_CHATS: Final = (".jsonl", ".txt")

# ---- files that a command writes -------------------------------------------------------------------------------------

_LORE: Final = frozenset({".jsonl", ".json", ".md", ".yaml", ".yml", ".png"})
"""How chats, lorebooks, settings, notes, expectations and cards end."""

_KEPT: Final = (".lorestudio.json", ".answers.jsonl", ".recap-queue.json", ".book.json")
"""How files end that the studio keeps beside chats and notes."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """Stands in the annotation of a parameter that names a file to write, with the endings of what is written.

    `printed` says that the result goes to standard output where no file is named.
    """

    endings: tuple[str, ...]
    printed: bool = False

    def check(self, path: Path, values: Iterable[object]) -> None:
        """Raises InputError for a file that is there and no result of this kind, or that the command reads.

        `values` are those of all the command's parameters.
        """
        if str(path) == STANDARD_STREAM and not self.printed:
            raise InputError(path, f"this is written to a file only. Give it a name that ends in {self.endings[0]}.")
        if not path.is_file():
            return
        if not os.access(path, os.W_OK):  # said before the work is done
            raise InputError(path, f"{WRITE_PROTECTED}, or choose another name.")
        places = [*_places(values)]
        named = sum(_same(path, place) for place in places) > 1
        note = path.suffix.lower() == ".md" and any(_inside(path, place) for place in places)
        if named or note or path.name.endswith(_KEPT):
            raise InputError(path, "this file is read, so it is not written over. Choose another name.")
        if any(_inside(path, folder) for folder in own_folders().values()):
            raise InputError(path, "lorestudio keeps this file for itself, so it is left alone. Choose another name.")
        if path.suffix.lower() in _LORE.difference(self.endings):
            kinds = " or ".join(self.endings)
            raise InputError(path, f"this file is there and is no {kinds}, so it is left alone. Choose another name.")
        if path.suffix.lower() in _LORE and (what := _lore_in(path)):
            raise InputError(path, f"{what}, so it is left alone. Choose another name.")


_RESULT: Final = re.compile(rb'[\s\[]*\{\s*"format": "lorestudio-(trace|turn)"')
"""How results begin that have entries as lorebooks have."""


def _lore_in(path: Path) -> str:
    """What a file with the ending of a result holds that people wrote, "" where nothing says so. Raises InputError."""
    from lorestudio.exchange.lorebooks.formats import another_file  # noqa: PLC0415  # most runs write no file anew

    data = read_file(path, READ_AT_MOST)  # a result may be larger than what is read to be used
    if path.suffix.lower() == ".md":
        return "this is a note" if front_matter.split(data.decode("utf-8", "replace"))[0] is not None else ""
    other = another_file(data, path, "result") if _RESULT.match(data) is None else None
    return other.what if isinstance(other, WrongFileError) else ""


def _places(values: Iterable[object]) -> Iterator[Path]:
    """What may be a file or a folder; before the colon of a text may stand a role, or a system."""
    for value in values:
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, str):
                yield from map(Path, filter(None, {each, each.partition(":")[2]}))
            elif isinstance(each, Path):
                yield each


def _same(path: Path, place: Path) -> bool:
    with suppress(OSError):  # most texts are no path
        return path.samefile(place)
    return False


def _inside(path: Path, place: Path) -> bool:
    return any(_same(folder, place) for folder in path.resolve().parents)
