import codecs
import csv
import io

import pytest

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.trace.model import AiCall, PromptBlock, RunOutcome, StageRecord, StageStatus, Turn
from lorestudio.trace.text import as_markdown, as_text, csv_bytes, entry_as_text, markdown_table, turn_words
from tests.trace import examples
from tests.trace.examples import CROWN, MOUSE, OATH, story

STORY = """\
Reply #12: deeplore, keywords-only, 9 entries considered, seed 7, generation 5
Inputs: vault 0123456789ab, chat fedcba987654

5 entries matched, 1 was pinned, 1 was gated out, the budget cut 1, 4 were injected (1,490 of 1,500 tokens, \
and 40 in outlets; 1 shortened).

Stages
  Stage              Phase   In       Added  Removed  Out
  snapshot           load    -        -      -        -
  constants          match   -        1      -        1
  bootstrap          match   skipped
  keywords           match   1        3      -        4
  cascade links      match   4        1      -        5
  recursion          match   skipped
  pins and blocks    gate    5        1      -        6
  contextual gating  gate    6        -      1        5
  budget             budget  5        -      1        4
  placement          inject  4        -      -        4

Notes on the stages
  Stage      Note
  bootstrap  The chat has 12 messages; bootstrap entries come in only up to 3.
  recursion  “Recursive scan” is off.

Entries
  Entry        Result               Why
  Skarn        Injected             “Skarn” is a constant: it comes in on every generation.
  Dawnkeep     Injected             The key “dawnkeep” was found in message #11 (scan depth 4).
  Crown        Injected, shortened  The key “crown” was found in message #10 together with the refine key “king” \
(scan depth 4). Of its 900 tokens only the first 690 went in.
  River        Injected             “River” is pinned in this chat.
  Oath         Behind the cut       The key “oath” was found in message #11 (scan depth 4). \
The budget ended at “Crown”; “Oath” (50 tokens) comes after it and was not tried.
  Tavern       Filtered by context  “Dawnkeep” came in and names “Tavern” among its cascade links. Era: the note has \
“old” and “lost” and the chat has “new”, but they need a value in common (tolerance moderate).
  Style guide  Guide                “Style guide” is a guide: it is for the Librarian and not for the story's prompt.
  Ember        Lost the draw        The draw was 0.7312; a draw above the probability of 0.5 keeps the entry out.

Injected (4, 1,530 tokens)
     Entry     Tokens      Priority  Where
  1  Skarn     300         10        in the chat at depth 4, as system
  2  Dawnkeep  500         40        in the chat at depth 4, as system
  3  Crown     690 of 900  50        in the chat at depth 4, as system
  4  River     40          20        in an outlet

Limits
  Limit         Used
  entries       3 of 10 entries
  token budget  1,490 of 1,500 tokens

Prompt
--- deeplore_p1_d4_r0, in the chat at depth 4, as system
<Skarn>
A dragon.
</Skarn>
--- customWIOutlet_weather, in an outlet
Rain.
"""

OATH_TEXT = """\
“Oath” (places/Oath.md in World, priority 70, 50 tokens)
Reply #12

Removed by the stage “budget”: The budget ended at “Crown”; “Oath” (50 tokens) comes after it and was not tried.
To change it: Raise “Token budget” to 1,760, or give “Oath” a priority number below 50, that of “Crown”.

snapshot           kept
constants          not matched
bootstrap          not looked at  The chat has 12 messages; bootstrap entries come in only up to 3.
keywords           added          The key “oath” was found in message #11 (scan depth 4).
cascade links      kept
recursion          not looked at  “Recursive scan” is off.
pins and blocks    kept
contextual gating  kept
budget             removed
placement          not looked at
"""

NOTHING = """\
Reply #12: deeplore, keywords-only, 214 entries considered, seed 0, generation 5

Nothing matched: none of the keys of 214 entries is in the last 4 messages (812 characters).

Stages
  Stage     Phase  In  Added  Removed  Out
  keywords  match  -   -      -        -
"""

ODD = """\
Reply \\#12: deeplore, keywords-only, 0 entries considered, seed 0, generation 5

Nothing matched.
Warning: \\*careful\\*

## Notes on the stages

| Stage | Note |
| --- | --- |
| odd | The stage failed: a \\| b. |

## Requests to a model

| Kind | Answered by | Result |
| --- | --- | --- |
| search | recorded | answered |
| prefilter | m \\<1\\> | failed: busy |

## Prompt

a\\_b, in the chat at depth 4, as user

````
x ``` y
````

c, before the main prompt, as system

```
z
```
"""


def index(digest="0123456789abcdef"):
    names = [f"E{n}" for n in range(7)] + ["Mouse"]
    entries = tuple(
        Entry(number, f"animals/{name}.md", "World", name, priority=5, tokens=30) for number, name in enumerate(names)
    )
    return VaultIndex(entries=entries, digest=digest)


def test_a_run_as_plain_text():
    assert as_text(story()) == STORY


def test_a_run_in_which_nothing_happened():
    assert as_text(examples.quiet_run()) == NOTHING


def test_a_skipped_run_is_short():
    run = examples.trace(outcome=RunOutcome.SKIPPED, skip_reason="empty_vault")
    assert as_text(run) == (
        "Reply #12: deeplore, keywords-only, 0 entries considered, seed 0, generation 5\n\n"
        "Nothing was retrieved: the vault has no entries.\n"
    )


def test_markdown_takes_titles_and_texts_literally():
    run = examples.trace(
        warnings=("*careful*",),
        stages=(StageRecord("odd", examples.Phase.GATE, StageStatus.FAILED, error="a | b"),),
        ai_calls=(
            AiCall("search", "", "", 1, False, source="recorded"),
            AiCall("prefilter", "", "", 1, False, model="m <1>", error="busy"),
        ),
        prompt=(PromptBlock("a_b", 1, 4, 1, "x ``` y"), PromptBlock("c", 2, 0, 0, "z")),
    )
    text = as_markdown(run)
    stages = "\n## Stages\n\n| Stage | Phase | In | Added | Removed | Out |\n| --- | --- | --- | --- | --- | --- |\n"
    assert (
        text.replace(f"{stages}| odd | gate | - | - | - | - |\n", "").replace(
            "Nothing matched. The stage “odd” failed: a \\| b.", "Nothing matched."
        )
        == ODD
    )


def test_markdown_has_the_sections_of_the_plain_text():
    headings = [line.removeprefix("## ") for line in as_markdown(story()).splitlines() if line.startswith("## ")]
    assert headings == [
        "Stages", "Notes on the stages", "Entries", "Injected (4, 1,530 tokens)", "Limits", "Prompt"
    ]  # fmt: skip
    assert "| 3 | Crown | 690 of 900 | 50 | in the chat at depth 4, as system |" in as_markdown(story())


def test_a_title_with_line_breaks_stays_on_its_line():
    entries = {**story().entries, OATH: examples.ref(OATH, "Oa\nth", 70, 50)}
    text = as_text(replace(story(), entries=entries))
    assert "\n  Oa th        Behind the cut" in text


def test_a_changed_vault_is_told():
    line = "The vault has changed since this run; run again to see what would happen now."
    assert line in as_text(story(), index("other")).splitlines()
    assert line not in as_text(story(), index())
    assert line in entry_as_text(story(), CROWN, index("other")).splitlines()


def test_the_journey_of_an_entry_as_text():
    assert entry_as_text(story(), OATH) == OATH_TEXT


def test_an_entry_that_the_run_never_looked_at_is_named_by_the_index():
    lines = entry_as_text(story(), MOUSE, index()).splitlines()
    assert lines[:5] == [
        "“Mouse” (animals/Mouse.md in World, priority 5, 30 tokens)",
        "Reply #12",
        "",
        "No key found: None of the keys of “Mouse” is in the last 4 messages (1,812 characters).",
        "To change it: Add a key that the chat uses, or raise “Scan depth” if a key stands further back.",
    ]
    assert lines[9] == "keywords           not matched"  # why is said above


def test_an_index_of_another_vault_names_nothing():
    assert entry_as_text(story(), MOUSE, index("other")).startswith("Entry 7\n")
    assert entry_as_text(story(), 99, index()).startswith("Entry 99\n")


def test_turns_are_numbered_as_the_host_numbers_them():
    assert turn_words(Turn(4, 0, 2)) == "Reply #4"
    assert turn_words(Turn(4, 2, 2, "swipe")) == "Reply #4, swipe 3 (swipe)"


# ---- any table ------------------------------------------------------------------------------------------------------


def test_nothing_in_a_cell_breaks_a_table_of_markdown() -> None:
    assert markdown_table(("Turn", "a|b"), [("1", "*one*\n|two"), ("", "x")]) == [
        "| Turn | a\\|b |",
        "| --- | --- |",
        "| 1 | \\*one\\* \\|two |",
        "|  | x |",
    ]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+ Skarn", "'+ Skarn"),
        ("@home", "'@home"),
        ("\t=1", "'\t=1"),
        ("-5", "-5"),
        (-5, "-5"),
        ("-", "-"),
        ("Skarn", "Skarn"),
        ("1,330", "1330"),
        ("-12,345,678.5", "-12345678.5"),
        ("1,2", "1,2"),
        ("Skarn, 1,330", "Skarn, 1,330"),
        ("95%", "95%"),
        ("\ud800", "?"),
    ],
)
def test_a_spreadsheet_takes_numbers_for_numbers_and_no_text_for_a_formula(cell: str | int, written: str) -> None:
    found = csv_bytes([["Cell", "Next"], [cell, "next"]], grouped=True)
    assert found.startswith(codecs.BOM_UTF8)
    assert list(csv.reader(io.StringIO(found.decode("utf-8-sig"), newline=""))) == [["Cell", "Next"], [written, "next"]]


def test_a_title_with_a_comma_stays_a_title_where_figures_are_plain() -> None:
    found = csv_bytes([["1,984", 1330]]).decode("utf-8-sig")
    assert next(csv.reader(io.StringIO(found, newline=""))) == ["1,984", "1330"]
