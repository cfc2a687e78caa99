"""Books that became notes and books again do in play what they did: recorded with SillyTavern 1.18.0's own file.

`world-info.notes.json.gz` holds books with every field, in odd texts and types, a chat of 20 messages, and what
SillyTavern made of the book; the other files hold what it made of its own books, those of wrong types among them.
"""

import pytest

from lorestudio.exchange.lorebooks.notes import entry_of, note_of
from lorestudio.vault.entries import ParseRules
from tests.cases import world_info
from tests.cases.runner import FOLDER, read_document
from tests.examples import some_at_once

CASES = [
    case
    for name, every in (("notes", 1), ("minimal", 1), ("types", 1), ("", 11))
    for case in read_document(FOLDER / f"{'.'.join(filter(None, ('world-info', name)))}.json.gz", every)
    if all("entries" in book for book in case["scenario"]["books"])
]


def through_notes(entries, rules):
    """Nothing but the notes is left of the entries."""
    back = {key: entry_of(note_of(raw, "Book", rules, key).text, "x.md", rules) for key, raw in entries.items()}
    return {key: {"uid": entries[key].get("uid", key), **entry.raw} for key, entry in back.items()}


@pytest.mark.parametrize("rules", [ParseRules(), ParseRules(refine_logic=True)], ids=["2.0.2", "2.6"])
@pytest.mark.parametrize("case", some_at_once(CASES, lambda case: case["id"]))
def test_a_book_made_of_notes_alone_does_the_same(case, rules):
    given = case["scenario"]
    books = [{**book, "entries": through_notes(book["entries"], rules)} for book in given["books"]]
    made = world_info.outcome({**case, "scenario": {**given, "books": books}})
    assert world_info.same(made, case["expected"])
