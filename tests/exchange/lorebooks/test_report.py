"""The report of what becomes of lore: counts, the worst first, and what is said for programs."""

from __future__ import annotations

from lorestudio.exchange.lorebooks.report import EntryFate, Fidelity, FieldFate, LoreReport, told_once

KEYS = FieldFate("keys", Fidelity.EXACT)
BIAS = FieldFate("bias", Fidelity.CARRIED)
LOGIC = FieldFate("logic", Fidelity.LOST, "there is no such thing")
ENTRIES = (EntryFate("0", "Mira", (KEYS, BIAS)), EntryFate("1", "Quay", (KEYS, LOGIC)))


def test_fields_are_counted_by_fate_the_worst_first() -> None:
    report = LoreReport("A", "B", ENTRIES)
    assert [(one.field, one.fate, one.entries) for one in report.counts()] == [
        ("logic", Fidelity.LOST, 1),
        ("bias", Fidelity.CARRIED, 1),
        ("keys", Fidelity.EXACT, 2),
    ]
    assert report.loses
    assert not LoreReport("A", "B", ENTRIES[:1]).loses


def test_it_is_said_for_programs() -> None:
    told = LoreReport("A", "B", ENTRIES[1:], ("Hm.",)).as_json()
    assert told == {
        "from": "A",
        "to": "B",
        "remarks": ["Hm."],
        "counts": [
            {"field": "logic", "fate": "lost", "how": "there is no such thing", "entries": 1},
            {"field": "keys", "fate": "exact", "how": "", "entries": 1},
        ],
        "entries": [
            {
                "uid": "1",
                "title": "Quay",
                "left_out": "",
                "fields": [
                    {"field": "keys", "fate": "exact", "how": ""},
                    {"field": "logic", "fate": "lost", "how": "there is no such thing"},
                ],
            }
        ],
    }


def test_two_ways_are_told_as_one() -> None:
    second = LoreReport("B", "C", (EntryFate("1", "Quay", (BIAS,), "no text"), EntryFate("7", "New")), ("Once.",))
    both = LoreReport("A", "B", ENTRIES, ("Once.",)).then(second)
    assert (both.source, both.target, both.remarks) == ("A", "C", ("Once. (2 times)",))
    assert both.entries == (
        ENTRIES[0],
        EntryFate("1", "Quay", (KEYS, LOGIC, BIAS), "no text"),
        EntryFate("7", "New"),
    )


def test_a_remark_is_told_once_with_its_number() -> None:
    assert told_once(["a", "b", "a", "a"]) == ("a (3 times)", "b")
