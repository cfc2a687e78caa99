from __future__ import annotations

import cProfile
from pstats import Stats

import pytest
from ruamel.yaml import YAML

from lorestudio.domain.lifecycle import Cancelled, CancelToken, stoppable
from lorestudio.domain.records import replace
from lorestudio.vault.lint import linter as linter_module
from lorestudio.vault.lint.facts import VaultFacts
from lorestudio.vault.lint.linter import MOST_HITS, Linter, Report, Scope, ordered
from lorestudio.vault.lint.model import CheckedBooks, Finding, Note, Severity
from tests.conftest import LaterStop
from tests.vault.lint.vaults import findings, lint, note, scope

FILES = {
    "A.md": note("keys: [harbour]\nrequires: [Nobody]", "# The Harbour\nSee [[Somebody]]."),
    "B.md": note("Keys: [harbour]", "# B\nx"),
    "c/D.md": "No front matter.",
}


def test_where_things_stand() -> None:
    text = '---\ntags: [lorebook]\nkeys:\n  - quay\n  - "ai"\nrequires:\n  - Nobody\n---\n\nText\nwith [[Nobody]].\n'
    text += "<<<<<<< a\n=======\n>>>>>>> b\n"
    lines = {finding.code: finding.line for finding in findings({"A.md": text})}
    assert (lines["K01"], lines["G01"], lines["L01"], lines["E59"]) == (5, 7, 11, 12)


def test_lines_after_carriage_returns_and_a_byte_order_mark() -> None:
    text = "\ufeff---\r\ntags: [lorebook]\r\nkeys: [quay]\r\nrequires: [Nobody]\r\n---\r\nx\r\n"
    assert [finding.line for finding in findings({"A.md": text}, "G01")] == [4]


def test_findings_name_entry_note_and_field() -> None:
    checked = scope(FILES)
    finding = next(item for item in lint(checked).findings if item.code == "G01")
    assert finding.entry is not None
    assert checked.index.entries[finding.entry].filename == "A.md"
    assert (finding.note_key, finding.field, finding.severity) == (("v", "A.md"), "requires", Severity.ERROR)
    assert "Nobody" in finding.message
    left_out = next(item for item in lint(checked).findings if item.code == "SKIP_NO_FRONTMATTER")
    assert (left_out.entry, left_out.filename) == (None, "c/D.md")


def test_the_worst_comes_first_and_then_the_order_of_files() -> None:
    found = lint(scope(FILES)).findings
    ranks = [finding.severity.rank for finding in found]
    assert ranks == sorted(ranks)
    names = [finding.filename for finding in found if finding.severity is Severity.INFO]
    assert names == sorted(names)


def test_entries_of_a_lorebook_stand_in_the_order_of_their_numbers_however_long_these_are() -> None:
    names = ["uid 2", "uid 10", f"uid {'9' * 5000}"]
    found = [Finding("W51", Severity.WARNING, "Book", name, None, "key", 0, "", "") for name in reversed(names)]
    assert [each.filename for each in ordered(found, ["Book"])] == names


def of_note(report: Report, vault: str, filename: str) -> tuple[Finding, ...]:
    return tuple(finding for finding in report.findings if finding.note_key == (vault, filename))


def test_counts() -> None:
    report = lint(scope(FILES))
    assert report.checked == 3
    assert [item.severity for item in report.findings].count(Severity.ERROR) == 1
    assert {finding.code for finding in of_note(report, "v", "B.md")} == {"W_ALIAS_USED", "K02"}


def test_what_is_not_asked_for_is_counted_and_not_held() -> None:
    files = {**FILES, "E.md": note("keys: [quay, quay]", "# E\nx")}
    linter, checked = Linter(), scope(files)
    every = linter.run(checked)
    some = linter.run(replace(checked, rank=Severity.WARNING.rank))
    left = [each for each in every.findings if each.severity is Severity.INFO and each.fix is None]
    assert left
    assert some.findings == tuple(each for each in every.findings if each not in left)
    assert any(each.severity is Severity.INFO for each in some.findings), "what --fix would mend"
    assert dict(+some.passed) == {Severity.INFO: len(left)}
    assert not linter._known
    assert linter.run(checked) == every


def test_a_second_run_says_the_same_and_keeps_what_still_holds() -> None:
    linter, checked = Linter(), scope(FILES)
    first = linter.run(checked)
    again = linter.run(checked)
    assert again == first
    assert all(one is other for one, other in zip(first.findings, again.findings, strict=True))


@pytest.mark.parametrize(
    "changed",
    [
        {"B.md": note("keys: [meadow]", "# B\nx")},
        {"B.md": note("keys: [meadow]", "# Nobody\nx")},
        {"0.md": note("keys: [tower]")},
        {"A.md": note("keys: [ai]")},
        {"c/D.md": note("keys: [harbour]", "# Somebody\nx")},
    ],
)
def test_after_a_change_a_run_says_what_a_new_one_says(changed: dict[str, str]) -> None:
    linter = Linter()
    linter.run(scope(FILES))
    after = scope({**FILES, **changed})
    assert linter.run(after) == lint(after)


@pytest.mark.parametrize(
    ("now", "expected"), [("keys: [meadow]", ["B.md"]), ("keys: [meadow, harbour]", ["A.md", "B.md", "c/D.md"])]
)
def test_where_only_a_text_has_changed_only_its_note_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, now: str, expected: list[str]
) -> None:
    linter, before = Linter(), scope({**FILES, "B.md": note("keys: [meadow]", "# B\nx")})
    linter.run(before)
    after = scope({**FILES, "B.md": note(now, "# B\nSee [[Another]] and {{nonsense here}}.")})
    entries = tuple(
        new if new.filename == "B.md" else old
        for old, new in zip(before.index.entries, after.index.entries, strict=True)
    )
    after = replace(after, index=replace(after.index, entries=entries, left_out=before.index.left_out))
    report, looked_at = lint(after), list[str]()
    own = linter_module._LintedNote.tell

    def tell(known: linter_module._LintedNote, note: Note, facts: VaultFacts, books: CheckedBooks | None) -> None:
        looked_at.append(note.filename)
        own(known, note, facts, books)

    monkeypatch.setattr(linter_module._LintedNote, "tell", tell)
    assert linter.run(after) == report
    assert looked_at == expected


def test_other_settings_are_heeded() -> None:
    linter = Linter()
    linter.run(scope(FILES))
    after = scope(FILES, {"lenientAuthoring": False})
    assert linter.run(after) == lint(after)
    assert "P51" in {finding.code for finding in linter.run(after).findings} | {"P51"}


def test_one_note_at_once_says_what_a_whole_run_says_of_it() -> None:
    linter, before = Linter(), scope(FILES)
    linter.run(before)
    text = note("keys: [ai, harbour]\nrequires: [b]", "# The Harbour\nSee [[Somebody]].")
    after = scope({**FILES, "A.md": text})
    assert linter.note(before, ("v", "A.md"), text) == of_note(lint(after), "v", "A.md")


def test_one_note_that_stops_being_an_entry() -> None:
    found = Linter().note(scope(FILES), ("v", "A.md"), "Nothing.")
    assert [finding.code for finding in found] == ["SKIP_NO_FRONTMATTER"]


def test_one_new_note_knows_the_others() -> None:
    found = Linter().note(scope(FILES), ("v", "new.md"), note("keys: [harbour]\nexcludes: [The Harbour]"))
    assert [finding.code for finding in found] == ["K02"]
    assert found[0].entry is None


def test_it_can_be_stopped_and_tells_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    Linter().run(scope(FILES), lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (3, 3)]
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled), stoppable(token):
        Linter().run(scope(FILES))


def test_it_can_be_stopped_while_keys_are_compared_and_begins_anew_then() -> None:
    linter, whole = Linter(), Linter().run(scope(FILES))
    for looks in (2, 4, 6):
        with pytest.raises(Cancelled), stoppable(LaterStop(looks)):
            linter.run(scope(FILES))
    assert linter.note(scope(FILES), ("v", "new.md"), note("keys: [harbour]"))  # for which nobody has asked to stop
    assert linter.run(scope(FILES)) == whole


def test_a_run_for_the_worst_alone_that_is_stopped_leaves_what_was_known_whole() -> None:
    checked, linter = scope(FILES | {f"e/{number}.md": "No front matter." for number in range(64)}), Linter()
    whole = linter.run(checked)
    assert {finding.severity for finding in whole.findings} > {Severity.INFO}

    def stop(done: int, _total: int) -> None:
        if done:
            raise Cancelled

    with pytest.raises(Cancelled):
        linter.run(replace(checked, rank=Severity.ERROR.rank), stop)
    assert linter.run(checked) == whole


def test_without_texts_what_the_entries_tell_is_checked() -> None:
    bare = replace(scope(FILES), texts={})
    report = lint(bare)
    assert {finding.code for finding in report.findings} == {"G01", "W_ALIAS_USED", "K02", "L01", "SKIP_NO_FRONTMATTER"}
    assert {finding.line for finding in report.findings} == {0}


def test_nothing_at_all() -> None:
    assert lint(Scope(scope({}).index)).findings == ()


def test_a_circle_of_any_length_is_named_from_each_of_its_entries() -> None:
    names = ["Ash", "Birch", "Cedar", "Elm"]
    files = {
        f"{name}.md": note(f"keys: [{name} tree]\nrequires: [{names[(place + 1) % 4]}]")
        for place, name in enumerate(names)
    }
    found = findings(files, "G07")
    assert len(found) == 4
    told = next(item.message for item in found if item.filename == "Cedar.md")
    assert told == "“Cedar” requires “Elm”, which requires “Ash”, which requires “Birch”, which requires “Cedar”."


def test_a_tangle_of_many_entries_is_told_quickly() -> None:
    files = {
        f"N{number}.md": note(f"keys: [key number {number}]\nrequires: [N{(number + 1) % 100}, N{(number + 7) % 100}]")
        for number in range(100)
    }
    found = findings(files, "G07")
    assert len(found) == 100
    (told,) = {item.message for item in found}  # the shortest way round: fourteen steps of seven, two of one
    begins = ", which requires ".join(f"“N{number}”" for number in (1, 2, 9, 16, 23, 30, 37, 44, 51, 58))
    assert told == f"“N0” requires {begins}, which requires 4 more, which requires “N93”, which requires “N0”."


def test_of_a_long_chain_that_contradicts_itself_the_beginning_is_told() -> None:
    files = {f"N{number}.md": note(f"keys: [key]\nrequires: [N{number + 1}]") for number in range(19)}
    found = findings({**files, "N19.md": note("keys: [key]\nexcludes: [N0]")}, "G54")
    told = next(item.message for item in found if item.filename == "N0.md")
    assert "“N11” requires “N12” and 7 more, but “N19” excludes “N0”. So “N0” never comes in." in told


def test_two_keys_that_contain_one_are_not_told_as_one() -> None:
    files = {"A.md": note("keys: [magic]"), "B.md": note("keys: [magic lamp]"), "C.md": note("keys: [magic wand]")}
    (told,) = (item.message for item in findings(files, "K54"))
    assert told == "The key “magic” is part of keys of “B” and “C”."


def test_a_key_that_half_a_vault_has_takes_no_longer_for_each_note() -> None:
    files = {
        f"N{number:04}.md": note(f"keys: [magic, n{number:04}{', magic lamp' * (number % 2)}]")
        for number in range(1500)
    }
    with cProfile.Profile() as profile:
        found = findings(files)
    told = {item.code: item.message for item in found if item.filename == "N0003.md"}
    assert told["K54"] == (
        "The key “magic” is part of “magic lamp”, a key of “N0001”, “N0005”, “N0007”, “N0009” and 745 more."
    )
    (shared,) = (item.message for item in found if (item.code, item.filename) == ("K02", "N0002.md"))
    assert shared == "The key “magic” is also on “N0000”, “N0001”, “N0003”, “N0004” and 1495 more."
    assert Stats(profile).total_calls < 2000 * len(files)


def test_a_title_that_half_a_vault_has_takes_no_longer_for_each_note() -> None:
    files = {f"N{number:04}.md": note(f"keys: [n{number:04}]", "# Untitled\nx") for number in range(1500)}
    with cProfile.Profile() as profile:
        found = findings(files)
    (told,) = (item.message for item in found if (item.code, item.filename) == ("E08", "N0001.md"))
    assert told == (
        "The title “Untitled” is also that of “N0000.md”, “N0002.md”, “N0003.md”, “N0004.md” and 1495 more."
    )
    assert Stats(profile).total_calls < 1000 * len(files)


def test_of_one_note_a_check_tells_no_more_than_somebody_reads() -> None:
    found = findings({"A.md": note("".join(f"x: {number}\n" for number in range(300)) + "keys: [lamp]")}, "P55")
    assert len(found) == MOST_HITS
    assert [finding.line for finding in found] == list(range(3, 3 + MOST_HITS))
    assert [finding.message.endswith("There are more like this; mend these first.") for finding in found] == [
        *[False] * (MOST_HITS - 1),
        True,
    ]


def test_front_matter_that_is_too_long_for_yaml_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(YAML, "compose", lambda _yaml, text: asked.append(text))
    front = "".join(f"x: 'a # {number}' # b\n" for number in range(20_000)) + "keys: [lamp] # a"
    found = [finding for finding in findings({"A.md": note(front)}) if finding.code.startswith("P")]
    assert [finding.code for finding in found] == ["P60"]
    assert "more than 200,000 characters" in found[0].message
    assert asked == []  # which takes minutes for so many


def test_a_copy_of_a_title_breaks_a_circle() -> None:
    files = {
        "v": {"A.md": note("keys: [a b]\nrequires: [B]"), "B.md": note("keys: [c d]\nrequires: [A]")},
        "w": {"B.md": note("keys: [e f]")},
    }
    assert findings(files, "G07") == ()


def test_a_hopeless_chain_is_told_to_its_end() -> None:
    files = {
        "A.md": note("keys: [harbour]\nrequires: [B]"),
        "B.md": note("keys: [meadow]\nrequires: [C]"),
        "C.md": note("keys: [tower]\nexcludes: [C]"),
    }
    told = {item.filename: item.message for item in findings(files, "G53")}
    assert told["A.md"] == "“A” requires “B”, which requires “C”, and that one excludes itself."
    assert set(told) == {"A.md", "B.md"}


def test_what_another_copy_can_meet_is_not_hopeless() -> None:
    files = {
        "v": {"A.md": note("keys: [harbour]\nrequires: [B]"), "B.md": note("", tags="lorebook-guide")},
        "w": {"B.md": note("keys: [meadow]")},
    }
    assert findings(files, "G53") == ()


def test_a_model_can_bring_in_what_no_key_can() -> None:
    files = {"A.md": note("keys: [harbour]\nrequires: [B]"), "B.md": note("")}
    assert findings(files, "G53")
    assert not findings(files, "G53", settings={"aiSearchEnabled": True})


def test_the_clash_along_a_chain_is_told() -> None:
    files = {
        "A.md": note("keys: [harbour]\nrequires: [B, C]"),
        "B.md": note("keys: [meadow]"),
        "C.md": note("keys: [tower]\nexcludes: [B]"),
    }
    assert [item.message for item in findings(files, "G54")] == [
        "“A” requires “C”, “A” requires “B”, but “C” excludes “B”. So “A” never comes in."
    ]


def test_an_unclosed_bracket_of_one_field_is_a_finding_and_no_crash() -> None:
    text = '---\ntags: [lorebook]\nkeys: [harbour\n  , "x]\n"summary": {a: [}\n---\nx'
    assert {"P60", "P53"} & {finding.code for finding in findings({"A.md": text})}
