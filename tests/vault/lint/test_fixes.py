from __future__ import annotations

import pytest

from lorestudio.domain.entry import NoteKey, OfNote
from lorestudio.domain.records import replace
from lorestudio.domain.texts import difference_lines
from lorestudio.vault import front_matter
from lorestudio.vault.lint import linter
from lorestudio.vault.lint.fixes import MOST_FIXES, Repair, most_fixes, work_out
from lorestudio.vault.lint.linter import Linter
from lorestudio.vault.lint.model import Finding, Fix, FixSpec
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import apply_edits
from tests.vault.lint.vaults import findings, note, scope

A: NoteKey = ("v", "A.md")


def fixed(text: str, finding: Finding) -> str:
    assert finding.fix is not None
    return apply_edits(text, finding.fix.edits[finding.filename])


@pytest.mark.parametrize(
    ("code", "before", "after", "settings"),
    [
        ("W_ALIAS_USED", "Keys: [harbour] ", "keys: [harbour] ", {}),
        ("W_COMMA_SPLIT", "keys: harbour, old quay", "keys: [harbour, old quay]", {}),
        ("W_COERCED_NUM", "keys: [harbour]\npriority: '5'", "keys: [harbour]\npriority: 5", {}),
        ("P51", 'keys: [harbour]\ncooldown: "2"', "keys: [harbour]\ncooldown: 2", {"lenientAuthoring": False}),
        ("P57", "keys: [a b]\nKEYS: [a b]", "keys: [a b]", {}),
        ("P58", 'keys: [harbour]\nscanDepth: "3"', "keys: [harbour]\nscanDepth: 3", {}),
        ("P58", "keys: [harbour]\nposition: In Chat", "keys: [harbour]\nposition: in_chat", {}),
        ("P61", "keys: [harbour]\nrefine_keys: storm, rain", "keys: [harbour]\nrefine_keys: [storm, rain]", {}),
        ("G01", "keys: [harbour]\nrequires: [Nobody, B]", "keys: [harbour]\nrequires: [B]", {}),
        ("G01", "keys: [harbour]\nrequires:\n  - Nobody\npriority: 5", "keys: [harbour]\npriority: 5", {}),
        ("G01", 'keys: [harbour]\nrequires: ["[[b]]"]', 'keys: [harbour]\nrequires: ["B"]', {}),
        (
            "G03",
            "keys: [harbour]\ncascade_links:\n  - C\n  - b # quay",
            "keys: [harbour]\ncascade_links:\n  - C\n  # quay\n  - B",
            {},
        ),
        ("G02", "keys: [harbour]\nexcludes: B, C", "keys: [harbour]\nexcludes: [B, C]", {}),
        ("G04", "keys: [harbour]\nexcludes: [A, B]", "keys: [harbour]\nexcludes: [B]", {}),
        ("K52", "keys: [quay, Quay, pier]", "keys: [quay, pier]", {}),
        ("K56", 'keys: [" quay", pier]', 'keys: ["quay", pier]', {}),
        ("K61", "keys: [quay, , pier]", "keys: [quay, pier]", {}),
    ],
)
def test_a_safe_fix_changes_what_it_says_and_mends_it(
    code: str, before: str, after: str, settings: dict[str, bool]
) -> None:
    others = {"B.md": note("keys: [meadow]"), "C.md": note("keys: [tower]")}
    text = note(before)
    finding = findings({"A.md": text, **others}, code, settings=settings)[0]
    assert finding.fix is not None
    assert finding.fix.safe
    assert fixed(text, finding) == note(after)
    assert not findings({"A.md": note(after), **others}, code, settings=settings)


def test_a_fix_of_a_list_leaves_its_lines_and_comments() -> None:
    text = note('keys: [harbour]\nrequires:\n  # the family\n  - C\n  - "[[b]]"\n  - Nobody\n  - D')
    others = {f"{title}.md": note("keys: [meadow]") for title in "BCD"}
    finding = findings({"A.md": text, **others}, "G01")[0]
    assert fixed(text, finding) == text.replace("[[b]]", "B")


@pytest.mark.parametrize(
    ("code", "before", "after"),
    [
        ("P52", "keywords: [harbour]", "keys: [harbour]"),
        ("P52", "keys: [harbour]\nenabld: false", "keys: [harbour]\nenabled: false"),
        ("P59", "keys: [harbour]\nenabled: no", "keys: [harbour]\nenabled: false"),
        ("E53", "keys: [harbour]\nprobability: 50", "keys: [harbour]\nprobability: 0.5"),
        ("G01", "keys: [harbour]\nrequires: [Meadowlandss]", "keys: [harbour]\nrequires: [Meadowlands]"),
    ],
)
def test_what_may_be_meant_otherwise_is_offered_but_not_safe(code: str, before: str, after: str) -> None:
    others = {"Meadowlands.md": note("keys: [meadow]")}
    text = note(before)
    finding = findings({"A.md": text, **others}, code)[0]
    assert finding.fix is not None
    assert not finding.fix.safe
    assert fixed(text, finding) == note(after)
    assert Linter().repair(scope({"A.md": text, **others}), A) is None


def test_a_value_with_a_comment_is_written_as_yaml_reads_it() -> None:
    text = note("keys: [harbour]\npriority: 10 # important")
    finding = findings({"A.md": text}, "P58")[0]
    yaml_text, _ = front_matter.split(fixed(text, finding))
    assert front_matter.parse(yaml_text or "")["priority"] == 10


@pytest.mark.parametrize(("title", "written"), [("Cafe\u0301", "Caf\u00e9"), ("Caf\u00e9", "Cafe\u0301")])
def test_a_title_in_other_characters_is_written_as_it_stands_and_not_removed(title: str, written: str) -> None:
    text = note(f"keys: [harbour]\nrequires: [{written}]")
    files = {"A.md": text, f"{title}.md": note("keys: [meadow]")}
    finding = findings(files, "G01")[0]
    assert "in other characters" in finding.message
    assert finding.fix is not None
    mended = fixed(text, finding)
    assert mended == note(f"keys: [harbour]\nrequires: [{title}]")
    assert not findings(files | {"A.md": mended}, "G01")


def test_a_missing_title_that_is_only_asleep_is_not_removed() -> None:
    files = {"A.md": note("keys: [harbour]\nrequires: [B]"), "B.md": note("enabled: false")}
    finding = findings(files, "G01")[0]
    assert finding.fix is None
    assert "switched off" in finding.message


def test_a_copy_that_counts_for_the_warmup_stays() -> None:
    assert findings({"A.md": note("keys: [quay, Quay]\nwarmup: 2")}, "K52")[0].fix is None


def test_all_safe_fixes_of_a_note_follow_each_other() -> None:
    text = note('Keys: [" quay", Quay, pier]\nPriority: "5"\nrequires: [Nobody, Nothing]\nconstant: yes')
    repair = Linter().repair(scope({"A.md": text}), A)
    assert repair is not None
    assert repair.before == text
    assert repair.after == note('keys: ["quay", pier]\npriority: 5\nconstant: yes')
    assert len(repair.titles) == 7  # two names, two titles, quotes, blanks, a copy
    assert Linter().repair(scope({"A.md": repair.after}), A) is None


def test_fixes_keep_line_ends_comments_and_byte_order_mark() -> None:
    text = "\ufeff" + "---\r\n# mine\r\nTags: [lorebook]\r\nkeys: harbour, quay\r\n---\r\nText.\r\n"
    repair = Linter().repair(scope({"A.md": text}), A)
    assert repair is not None
    assert repair.after == "\ufeff---\r\n# mine\r\ntags: [lorebook]\r\nkeys: [harbour, quay]\r\n---\r\nText.\r\n"


def test_a_note_without_a_known_text_has_no_fix() -> None:
    whole = scope({"A.md": note("requires: [Nobody]")})
    bare = replace(whole, texts={})
    assert Linter().repair(bare, A) is None
    assert [item.fix for item in Linter().run(bare).findings if item.code == "G01"] == [None]


def test_diff() -> None:
    assert "".join(difference_lines("a\nb\nc", "a\nB\nc", "f.md", "f.md", 2)) == (
        "--- f.md\n+++ f.md\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n"
    )
    assert [*difference_lines("a", "a", "f.md", "f.md")] == []
    old = Repair("Vault", "f.md", "a\rb\r", "a\rB\r", ())  # line ends of an old Mac: each line is one of the difference
    assert old.diff() == "--- f.md\n+++ f.md\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"


def test_making_the_safe_fixes_of_a_note_works_out_no_more_of_them_than_it_makes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worked_out: list[str] = []

    def counted(spec: FixSpec, document: NoteDocument, filename: str) -> Fix | None:
        worked_out.append(spec.title)
        return work_out(spec, document, filename)

    monkeypatch.setattr(linter, "work_out", counted)
    text = note("keys: [harbour]\nrequires:" + "".join(f"\n  - Nobody {number}" for number in range(40)))
    repair = Linter().repair(scope({"A.md": text}), A)
    assert repair is not None
    assert repair.after == note("keys: [harbour]")
    assert list(repair.titles) == worked_out == [f"Remove “Nobody {number}” from requires" for number in range(40)]


def test_repairing_each_of_many_notes_does_not_look_for_each_among_all(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def note_key(one: OfNote) -> NoteKey:
        nonlocal looks
        looks += 1
        return one.vault, one.filename

    def looks_for(amount: int) -> int:
        nonlocal looks
        looks, names = 0, [f"{number}.md" for number in range(amount)]
        vault, checks = scope({name: note("keys: [harbour]\nrequires: [Nobody]") for name in names}), Linter()
        assert all(checks.repair(vault, ("v", name)) for name in names)
        return looks

    monkeypatch.setattr(OfNote, "note_key", property(note_key))
    assert looks_for(100) < 2.5 * looks_for(50)


def test_of_a_list_as_long_as_a_book_the_first_fixes_are_worked_out_and_made(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def counted(spec: FixSpec, document: NoteDocument, filename: str) -> Fix | None:
        nonlocal read
        read += len(document.text)
        return work_out(spec, document, filename)

    monkeypatch.setattr(linter, "work_out", counted)
    long = note("keys: [harbour]\nrequires:" + "".join(f"\n  - Nobody {number}" for number in range(2_000)))
    checks, vault = Linter(), scope({"A.md": long})
    told = [finding for finding in checks.run(vault).findings if finding.code == "G01"]
    fixes = [finding.fix for finding in told if finding.fix is not None]
    repair = checks.repair(vault, A, fixes)
    assert repair is not None
    assert 0 < len(repair.titles) == len(fixes) < len(told)
    assert list(repair.titles) == [fix.title for fix in fixes]
    assert read < 40 * len(long)
    assert sum(finding.fix is not None for finding in checks.note(vault, A, long)) == len(fixes)


def test_safe_fixes_and_others_take_no_room_of_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linter, "most_fixes", lambda _text: 1)
    text = note("keys: [a b]\nKEYS: [c d]\npriority: 5\nPRIORITY: 6\nrequires: [Nobody, Noone]")
    checks, vault = Linter(), scope({"A.md": text})
    for found in (checks.run(vault).findings, checks.note(vault, A, text)):
        assert sorted(finding.fix.safe for finding in found if finding.fix is not None) == [False, True]


def test_as_many_fixes_are_worked_out_as_a_note_is_short() -> None:
    assert [most_fixes(note("x" * length)) for length in (0, 5_000, 600_000)] == [MOST_FIXES, 100, 1]
    assert most_fixes("x" * 600_000) == MOST_FIXES  # that is no front matter
