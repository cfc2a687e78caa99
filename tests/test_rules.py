"""Every citation of a rule leads to a heading of resources/docs/rules that states it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "resources/docs/rules"
SOURCES = sorted(path for part in ("lorestudio", "tests") for path in (ROOT / part).rglob("*.py"))
SOURCES.append(ROOT / "resources/lint/checks.toml")
TEXTS = (ROOT / "README.md", ROOT / "pyproject.toml", *sorted((ROOT / "resources/docs").glob("*.md")))

_NUMBER = r"\d+(?:\.\d+)*"
_PLACES = r"\d+(?: (?:and|to) \d+)?"
_DETAIL = rf'(?:steps? {_PLACES}|rows? {_PLACES}|[A-Z]\d+|"[^"]+")'
_PART = rf"{_NUMBER}(?: to {_NUMBER})?(?: {_DETAIL})*"
_PARTS = rf"[a-z][a-z-]* {_PART}(?:, {_PART})*"
_CITATION = re.compile(rf"\b[Rr]ules: (?P<body>(?:{_PARTS}|(?<=\([Rr]ules: )[a-z][a-z-]*(?=\)))(?:; {_PARTS})*)")
_OLD = re.compile(
    r"spec:? (?:errata|\d|deeplore|recap|fact|context|hybrid|offline|anchors)|\(spec:?$"
    r"|deeplore-(?:engine|ai-and-tools)|anchors-[a-z]|golden[ /]format|errata\b|the specification",
    re.MULTILINE,
)
"""In small letters: a search that takes no notice of them is six times slower."""
_HEADING = re.compile(rf"(?P<level>#{{1,6}}) (?:(?P<number>{_NUMBER})\.? )?(?P<name>.+)")


@dataclass
class Section:
    """A heading, with the text down to the next heading of its own level or of one above."""

    number: str
    name: str
    level: int
    line: int
    text: list[str] = field(default_factory=list)

    def has(self, kind: str, value: str) -> bool:
        """Whether the text has this step, row or code."""
        if kind.startswith("row"):
            spans = (re.match(r"\| \**(\d+)(?:[–,] ?(\d+))?\** \|", line) for line in self.text)
            if any(span and int(span[1]) <= int(value) <= int(span[2] or span[1]) for span in spans):
                return True
        named = rf"(?:^|\s|\(){value}\. " if kind.startswith(("step", "row")) else rf"(?<!\w){value}(?!\w)"
        return any(re.search(named, line) for line in self.text)


@cache
def sections(page: str) -> tuple[Section, ...]:
    """The headings of a page in their order; an unnumbered one belongs to the number above it."""
    found: list[Section] = []
    above: list[Section] = []
    fenced = False
    for line, text in enumerate((PAGES / f"{page}.md").read_text("utf-8").splitlines(), 1):
        fenced ^= text.startswith("```")
        heading = None if fenced else _HEADING.fullmatch(text)
        if heading is not None:
            level = len(heading["level"])
            above = [section for section in above if section.level < level]
            number = heading["number"] or (above[-1].number if above else "")
            above.append(Section(number, heading["name"], level, line))
            found.append(above[-1])
        elif text.strip():
            for section in above:
                section.text.append(text)
    return tuple(found)


def missing(page: str, number: str, details: str) -> Iterator[str]:
    """What of one place does not exist."""
    here = [section for section in sections(page) if section.number == number]
    if not here:
        yield f"{page} has no heading {number}"
        return
    for found in re.finditer(_DETAIL, details):
        if found[0].startswith('"'):
            name = found[0].strip('"')
            if not any(section.name.strip("*`") == name for section in here):
                yield f"{page} {number} has no heading {found[0]}"
            continue
        kind, _, values = found[0].partition(" ") if " " in found[0] else ("code", "", found[0])
        for value in re.findall(r"[A-Z]?\d+", values):
            if not here[0].has(kind, value):
                yield f"{page} {number} has no {kind} {value}"


def between(first: str, last: str) -> list[str]:
    """A range as single numbers, where only the last part differs; else its two ends."""
    stem, _, start = first.rpartition(".")
    other, _, end = last.rpartition(".")
    if stem != other:
        return [first, last]
    return [f"{stem}.{number}" if stem else str(number) for number in range(int(start), int(end) + 1)]


def faults(body: str) -> Iterator[str]:
    """What is wrong with the body of a citation."""
    for group in body.split("; "):
        page, _, parts = group.partition(" ")
        if not (PAGES / f"{page}.md").is_file():
            yield f"there is no page {page}"
            continue
        for found in re.finditer(rf"({_NUMBER})(?: to ({_NUMBER}))?((?: {_DETAIL})*)(?:, |$)", parts):
            numbers = between(found[1], found[2]) if found[2] else [found[1]]
            for number in numbers:
                yield from missing(page, number, found[3])


def citations(path: Path) -> Iterator[tuple[int, str]]:
    """Line and body of each citation of a file; one may go on in the next line."""
    text = path.read_text("utf-8")
    if "ules: " not in text:  # of most files nothing is looked at letter by letter
        return
    flat = re.sub(r"\n[ \t]*(?:# )?", lambda broken: " " + "\0" * (len(broken[0]) - 1), text)
    places = [place for place, sign in enumerate(flat) if sign != "\0"]
    for found in _CITATION.finditer(flat.replace("\0", "")):
        yield text.count("\n", 0, places[found.start()]) + 1, found["body"]


def test_every_citation_leads_to_a_heading() -> None:
    checked = [
        (f"{path.relative_to(ROOT)}:{line}: {fault}", fault)
        for path in SOURCES
        for line, body in citations(path)
        for fault in (*faults(body), "")
    ]
    assert len(checked) > 500  # the citations are found at all
    assert [told for told, fault in checked if fault] == []


def test_nothing_else_is_cited() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in (*SOURCES, *TEXTS)
        if path != Path(__file__).resolve()
        if _OLD.search(text := path.read_text("utf-8").lower())
        for number, line in enumerate(text.splitlines(), 1)
        if _OLD.search(line)
    ] == []


@pytest.mark.parametrize("page", sorted(path.stem for path in PAGES.glob("*.md")))
def test_every_heading_says_something(page: str) -> None:
    numbers = [section.number for section in sections(page) if section.name and section.number]
    assert numbers
    assert [f"{page}.md:{section.line}: {section.name}" for section in sections(page) if not section.text] == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("fact-memory 9.3", None),
        ("fact-memory 9.2 to 9.4, 3.5 S3; hybrid-retrieval 8 P4, 3 step 7", None),
        ("context-window 17 rows 4 to 7", None),
        ("fact-memory 9.2 to 9.9", "fact-memory has no heading 9.8"),
        ("fact-memory 3.5 S4", "fact-memory 3.5 has no code S4"),
        ("context-window 17 row 40", "context-window 17 has no row 40"),
        ('fact-memory 9.3 "Ties"', 'fact-memory 9.3 has no heading "Ties"'),
        ("no-such-page 1", "there is no page no-such-page"),
    ],
)
def test_a_citation_that_leads_nowhere_is_found(body: str, fault: str | None) -> None:
    assert next(faults(body), None) == fault
