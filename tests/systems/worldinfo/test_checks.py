"""For each check of World Info's fields a lorebook that it reports, and one that is only just right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from lorestudio.domain.javascript import Json
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.reading import read_lorebook
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import Scene
from lorestudio.systems.worldinfo.books import KIND
from lorestudio.vault.lint.model import CheckedBooks, CheckGroup, Hit, all_checks

Raw = Mapping[str, Any]


def entry(**said: Json) -> dict[str, Any]:
    """An entry of the editor with a key, a name and a text."""
    return {**NEW_ENTRY, "key": ["bell"], "comment": "Bell", "content": "It rings.", **said}


def without(name: str, **said: Json) -> dict[str, Any]:
    """The same in a file that lacks a field."""
    return {other: value for other, value in entry(**said).items() if other != name}


def checked(*entries: Raw, settings: Mapping[str, Any] | None = None, context: int = 0) -> CheckedBooks:
    return checked_book({str(place): {"uid": place, **raw} for place, raw in enumerate(entries)}, settings, context)


def checked_book(
    listed: Mapping[str, Raw], settings: Mapping[str, Any] | None = None, context: int = 0
) -> CheckedBooks:
    book = read_lorebook({"entries": listed}, "Book")
    assert KIND.books is not None
    scene = Scene(KIND.books.index((book,)), books=(book,), reply_tokens=100)
    return KIND.books.checked(WorldInfoSettings(**(settings or {})), scene, context)


def hits(*entries: Raw, **more: Any) -> list[Hit]:
    found = checked(*entries, **more)
    return [*found.hits, *(hit for note in found.notes.values() for hit in note.hits)]


@dataclass(frozen=True)
class Case:
    """`bad` has the problem, `good` just does not."""

    code: str
    bad: Raw | tuple[Raw, ...]
    good: Raw | tuple[Raw, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    good_settings: Mapping[str, Any] | None = None
    context: int = 0


LONG = "x" * 400
"""A text of a hundred tokens."""
HALF = "x" * 200
CAP = {"world_info_budget_cap": 100}

CASES = [
    Case("W51", entry(key=[]), entry(key=[], constant=True)),
    Case("W51", entry(key=[""]), entry(key=["a"])),
    Case("W51", entry(key=[]), entry(key=[], content="@@activate\nIt rings.")),
    Case("W51", entry(key=[]), entry(key=[], disable=True)),
    Case("W51", entry(key=[]), entry(key=[], vectorized=True)),
    Case("W52", entry(key=[], vectorized=True), entry(vectorized=True)),
    Case("W52", *[entry(key=[], vectorized=True)] * 2, good_settings={"enabled_world_info": True}),
    Case("W53", entry(delayUntilRecursion=1, excludeRecursion=True), entry(delayUntilRecursion=1)),
    Case(
        "W53",
        *[entry(delayUntilRecursion=True, excludeRecursion=True)] * 2,
        good_settings={"world_info_recursive": False},
    ),
    Case(
        "W53",
        *[entry(delayUntilRecursion=2)] * 2,
        {"world_info_max_recursion_steps": 1},
        {"world_info_max_recursion_steps": 2},
    ),
    Case("W54", entry(scanDepth=0), entry(scanDepth=1)),
    Case("W54", entry(scanDepth=0), entry(scanDepth=0, constant=True)),
    Case("W55", entry(key=["bell", " "]), entry(key=["bell", ""])),
    Case("W56", entry(key=["/bell(/i"]), entry(key=["/bell/i"])),
    Case("W56", entry(key=["/bell/gate/"]), entry(key=[r"/bell\/gate/"])),
    Case("W56", entry(keysecondary=["/(?<=/"]), entry(keysecondary=["/gate"])),
    Case("W57", entry(key="bell, gate"), entry(key=["bell, gate"])),
    Case("W57", entry(keysecondary=[None]), entry(keysecondary=[3])),
    Case("W58", entry(keysecondary=["gate"], selective=False), entry(keysecondary=["gate"])),
    Case("W58", without("selective", keysecondary=["gate"]), without("selective")),
    Case("W58", entry(keysecondary=["gate"], selective=False), entry(keysecondary=[" "], selective=False)),
    Case(
        "W59", entry(keysecondary=["gate"], selectiveLogic=4), entry(keysecondary=["gate"], selectiveLogic=3)
    ),
    Case("W60", entry(probability=0), entry(probability=1)),
    Case("W60", entry(probability=0), entry(probability=0, useProbability=False)),
    Case("W61", entry(probability=50, useProbability=False), entry(probability=100, useProbability=False)),
    Case("W62", entry(group="weather", groupWeight=0), entry(group="weather", groupWeight=1)),
    Case("W62", entry(group="weather", groupWeight=0), entry(group="weather", groupWeight=0, groupOverride=True)),
    Case("W63", entry(groupWeight=50), entry(groupWeight=50, group="weather")),
    Case("W63", entry(groupOverride=True), entry(groupWeight="100")),
    Case("W63", entry(useGroupScoring=True), entry(useGroupScoring=False)),
    Case("W64", entry(content=["It rings."]), entry(content=None)),
    Case("W64", entry(group=7), entry(group="7")),
    Case("W65", entry(content=" \n"), entry(content=" .")),
    Case("W65", entry(content=""), entry(content="", automationId="chime")),
    Case("W65", without("content"), entry(content=7)),
    Case("W66", without("position"), entry(position=6)),
    Case("W66", entry(position=4, role=3), entry(position=4, role=2)),
    Case("W66", entry(position=7), entry(position=7, outletName="here")),
    Case("W67", entry(depth=2), entry(depth=2, position=4)),
    Case("W67", entry(role=1), entry(role=1, position=4)),
    Case("W68", (entry(uid=7), entry(uid=7)), (entry(uid=7), entry(uid=8))),
    Case("W69", (entry(), entry()), (entry(), entry(content="It tolls."))),
    Case("W69", (entry(), entry()), (entry(), entry(disable=True))),
    Case("W70", (entry(), entry(comment="bell ")), (entry(), entry(comment=""))),
    Case("W71", entry(group="weather"), (entry(group="weather"), entry(group="x, weather"), entry(group="x"))),
    Case("W72", entry(content=LONG), entry(content=LONG), CAP, {"world_info_budget_cap": 101}),
    Case("W72", entry(content=LONG), entry(content=LONG, ignoreBudget=True), context=500),
    Case(
        "W73",
        (entry(content=HALF, constant=True),) * 2,
        (entry(content=HALF, constant=True), entry(content=HALF)),
        CAP,
    ),
]  # fmt: skip


def found(case: Case, book: Raw | tuple[Raw, ...], settings: Mapping[str, Any]) -> set[str]:
    entries = book if isinstance(book, tuple) else (book,)
    return {hit.code for hit in hits(*entries, settings=settings, context=case.context)}


def test_entries_without_a_number_are_one_to_sillytavern() -> None:
    listed = {name: without("uid", comment=name, content=name) for name in ("Bell", "Gate")}
    found = [hit for note in checked_book(listed).notes.values() for hit in note.hits]
    assert [hit.message for hit in found] == [
        f"2 entries of “Book” have no number, “{name}” among them." for name in listed
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_reported(case: Case) -> None:
    assert case.code in found(case, case.bad, case.settings)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_not_reported(case: Case) -> None:
    assert case.code not in found(case, case.good, case.settings if case.good_settings is None else case.good_settings)


def test_every_check_of_world_info_has_a_case() -> None:
    listed = {code for code, check in all_checks().items() if check.group is CheckGroup.WORLD_INFO}
    assert {case.code for case in CASES} == listed


def test_a_new_entry_with_a_key_and_a_text_is_fine() -> None:
    assert hits(entry()) == []


def test_what_is_no_plain_text_is_left_to_these_checks() -> None:
    """Keys are trimmed before they are looked for; patterns, and keys with macros, are no texts to compare."""
    keys = [" bell ", "/gate|door/i", "/gate(/", "{{user}}", "", "x" * 300]
    (note,) = checked(entry(key=keys, keysecondary=["oak"], caseSensitive=True, group="a")).notes.values()
    assert note.entry.keys == ("bell",)
    assert note.entry.refine_keys == ("oak",)
    assert (note.keys.case_sensitive, note.keys.match_whole_words, note.keys.counted) == (True, True, True)


def test_an_entry_is_read_again_with_another_text() -> None:
    books = checked(entry(), entry(disable=True))
    assert list(books.notes) == [("Book", "uid 0")]
    again = books.read(("Book", "uid 0"), "---\ncomment: Gong\nkey: []\norder: 100\nposition: 0\n---\nIt rings.")
    assert again is not None
    assert (again.entry.title, [hit.code for hit in again.hits]) == ("Gong", ["W51"])
    assert books.read(("Book", "uid 0"), "---\ndepth: deep\n---\n") is None


def test_entries_of_one_text_name_each_other_by_name_or_else_by_number() -> None:
    said = [hit.message for hit in hits(entry(), entry(comment=""), entry(comment="Gong")) if hit.code == "W69"]
    assert said == [
        "The text of “Bell” is also that of “uid 1” and “Gong”.",
        "The text of “bell” is also that of “Bell” and “Gong”.",
        "The text of “Gong” is also that of “Bell” and “uid 1”.",
    ]


def test_entries_of_one_text_and_one_name_are_told_apart_by_their_numbers() -> None:
    """“The text of “Bell” is also that of “Bell”” said of neither which it was."""
    said = [hit.message for hit in hits(entry(), entry(), entry(comment="Gong")) if hit.code in {"W69", "W70"}]
    assert said == [
        "The text of “Bell” is also that of “uid 1” and “Gong”.",
        "The name of “Bell” is also that of “uid 1”.",
        "The text of “Bell” is also that of “uid 0” and “Gong”.",
        "The name of “Bell” is also that of “uid 0”.",
        "The text of “Gong” is also that of “uid 0” and “uid 1”.",
    ]


def test_of_many_entries_of_one_text_the_first_are_named_and_the_others_counted() -> None:
    named = [entry(comment=f"Bell {place}") for place in range(7)]
    said = [hit.message.partition(" is also that of ")[2] for hit in hits(*named) if hit.code == "W69"]
    assert said[0] == "“Bell 1”, “Bell 2”, “Bell 3”, “Bell 4” and 2 more."
    assert said[3] == "“Bell 0”, “Bell 1”, “Bell 2”, “Bell 4” and 2 more."
    assert said[4] == said[5] == said[6] == "“Bell 0”, “Bell 1”, “Bell 2”, “Bell 3” and 2 more."
