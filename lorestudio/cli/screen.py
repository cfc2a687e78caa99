"""Tables and progress at the terminal. Commands that print neither begin without it, and sooner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress as ProgressBar
from rich.progress import ProgressColumn
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from lorestudio.cli.output import echo, folded, shown
from lorestudio.domain.lifecycle import Progress

_NARROW = 50
"""Cells of a line below which columns side by side would break their words."""


class Screen(Console):
    """Where tables and styled lines are printed: texts are no markup, and steer no terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """What is shown, without control characters other than those of the style; below each other without room."""
        if isinstance(renderable, Table) and len(renderable.columns) > 2 and self.width < _NARROW:
            renderable = _below_each_other(renderable)
        for part in super().render(renderable, options):
            yield part if part.control else Segment(shown(part.text), part.style)


def _below_each_other(shown: Table) -> Text:
    """A table for a narrow screen: each cell on lines of its own behind its heading, and a blank line between rows."""
    heads = [" ".join(str(each.header).split()) if shown.show_header else "" for each in shown.columns]
    parts = [Text(str(shown.title))] if shown.title else []
    for row in zip(*(each.cells for each in shown.columns), strict=True):
        cells = ((head, cell) for head, cell in zip(heads, row, strict=True) if isinstance(cell, str | Text) and cell)
        lines = (Text.assemble(f"{head}: " if head else "", cell) for head, cell in cells)
        parts.append(Text("\n").join(lines))
    parts += [Text(str(shown.caption))] if shown.caption else []
    return Text("\n\n").join(parts).append("\n")


def fold(heading: str) -> Column:
    """A column whose cells go on in further lines."""
    return Column(Text(heading), overflow="fold")


def fixed(heading: str) -> Column:
    """A column whose cells stay on one line."""
    return Column(heading, no_wrap=True)


def figure(heading: str) -> Column:
    """A column of numbers."""
    return Column(heading, justify="right", no_wrap=True)


def table(*columns: Column | str, title: str = "", caption: str = "", expand: bool = False) -> Table:
    """A table with a line below its headings."""
    return Table(
        *columns, title=Text(title) if title else None, caption=caption or None, title_justify="left",
        caption_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1), expand=expand,
    )  # fmt: skip


def filled(shown: Table, rows: Iterable[Iterable[str | Text]]) -> Table:
    """The table with these rows; texts are taken as they are."""
    for row in rows:
        shown.add_row(*row)  # `Screen` takes texts as they are; objects for those of 100,000 rows take 100 MB
    return shown


def rows_of(shown: Table) -> Iterator[list[str]]:
    """The headings and the cells of a table, as texts."""
    yield [str(each.header) for each in shown.columns]
    yield from ([*map(str, row)] for row in zip(*(each.cells for each in shown.columns), strict=True))


def in_parts(title: str, rows: Sequence[Sequence[str]], width: int) -> Iterator[Table]:
    """A table of a heading and rows, its first column repeated in as many tables as it takes to cut off no figure."""
    first, *others = zip(*rows, strict=True)
    while others:
        fitting = (number for number in range(len(others), 1, -1) if _fit((first, *others[:number]), width))
        shown, others = (first, *others[: (number := next(fitting, 1))]), others[number:]
        right = [Column(cells[0], justify="right", overflow="fold") for cells in shown[1:]]
        yield filled(table(fold(first[0]), *right, title=title), zip(*(cells[1:] for cells in shown), strict=True))


def _fit(columns: Sequence[Sequence[str]], width: int) -> bool:
    """Whether the columns have room side by side: whole, or each its longest word, when all are equally wide."""
    whole = sum(3 + max(cell_len(line) for cell in cells for line in cell.split("\n")) for cells in columns)
    longest = max(cell_len(word) for cells in columns for cell in cells for word in cell.split())
    return min(whole, (3 + min(longest, width // 3)) * len(columns)) < width


def print_lines(lines: Iterable[str]) -> None:
    """Sentences on standard output: in lines of its width at a terminal, whole elsewhere."""
    screen = Screen()
    echo("\n".join(folded(lines, screen.width) if screen.is_terminal else lines))


def listing(*columns: Column | str) -> Table:
    """A table without any line."""
    return Table(*columns, box=None, padding=(0, 2, 0, 0), show_header=bool(columns))


def progress_bar(*columns: ProgressColumn, quiet: bool) -> ProgressBar:
    """A progress bar on the error stream, where that is a terminal."""
    console = Screen(stderr=True)
    return ProgressBar(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)


def advancing(bar: ProgressBar, total: float | None = None) -> Callable[[Progress], None]:
    """What takes the bar on as work tells how far it is."""
    task = bar.add_task("", total=total)
    return lambda progress: bar.update(task, completed=progress.done, total=progress.total)
