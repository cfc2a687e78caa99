from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.studio.project.problems import ProblemFinder, preview
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.vault.lint.model import Finding, Severity

Texts = dict[str, str]


def note(front: str, body: str = "Some text.", tags: str = "lorebook") -> str:
    return f"---\ntags: [{tags}]\n{front}\n---\n{body}\n"


def make(folder: Path, notes: Texts, lines: list[str] | None = None, **more: object) -> Project:
    """A project of notes by name; `lines` are messages of a user and a character by turns, the user first."""
    vault = folder / "vault"
    for name, text in notes.items():
        path = vault / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    chat = None
    if lines is not None:
        chat = folder / "chat.jsonl"
        records: list[dict[str, object]] = [
            {"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": more.get("metadata", {})}
        ]
        for place, line in enumerate(lines):
            user = place % 2 == 0
            records.append({"name": "Wren" if user else "Ottoline", "is_user": user, "mes": line})
        chat.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    settings = None
    if "settings" in more:
        settings = folder / "settings.json"
        settings.write_text(json.dumps(more["settings"]), encoding="utf-8")
    return open_project([vault], chat, settings)


def found(project: Project, code: str = "", *, run: bool = True) -> tuple[Finding, ...]:
    traces = asyncio.run(Simulator(project).replay()) if run and project.chat is not None else ()
    findings = ProblemFinder().find(project, traces).findings
    return tuple(finding for finding in findings if code in ("", finding.code))


QUIET = ["Hello there.", "Good day."]


def test_the_runs_of_a_long_chat_are_gone_through_once(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [harbour]")}, QUIET)
    traces = asyncio.run(Simulator(project).replay())
    assert ProblemFinder().find(project, iter(traces)).runs == len(traces) > 0


def test_notes_on_disk_are_checked(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [harbour]\nrequires: [Nobody]"), "B": "Text."})
    problems = ProblemFinder().find(project)
    assert [finding.code for finding in problems.findings] == ["G01", "SKIP_NO_FRONTMATTER"]
    assert (problems.notes, problems.entries, problems.unread, problems.runs) == (2, 1, 0, 0)
    assert problems.count(Severity.ERROR) == 1
    assert "2 notes" in problems.checked
    assert "chat" not in problems.checked


def test_a_lorebooks_entries_are_not_checked_as_notes(tmp_path: Path) -> None:
    """“/ship|boat/” is a pattern in World Info and no pattern in a note (K55)."""
    book, entry = tmp_path / "book.json", {"uid": 0, "key": ["/ship|boat/"], "content": "A ship.", "comment": "Ship"}
    book.write_text(json.dumps({"entries": {"0": entry}}), encoding="utf-8")
    chat = tmp_path / "chat.txt"
    chat.write_text("Ann: The lamp.\nBob: The lamp is out.", encoding="utf-8")
    project = open_project([book], chat)
    traces = asyncio.run(Simulator(project).replay())
    problems = ProblemFinder().find(project, traces)
    assert [(finding.code, finding.filename) for finding in problems.findings] == [("D51", "uid 0")]
    [told] = problems.failures
    assert "of a lorebook is told what its chat shows" in told


def test_what_never_matched_and_what_never_went_in(tmp_path: Path) -> None:
    notes = {
        "In": note("keys: [hello]"),
        "Silent": note("keys: [dragon]"),
        "Always": note("constant: true"),
        "Guide": note("keys: [dragon]", tags="lorebook-guide"),
        "Kept out": note("keys: [hello]\nexcludes: [In]\npriority: 200"),
        "Unlucky": note("keys: [hello]\nprobability: 0"),
    }
    project = make(tmp_path, notes, QUIET)
    assert [finding.filename for finding in found(project, "D51")] == ["Silent.md"]
    stopped = {finding.filename: finding.message for finding in found(project, "D52")}
    assert set(stopped) == {"Kept out.md", "Unlucky.md"}
    assert "2 times it was stopped in “requires and excludes”" in stopped["Kept out.md"]
    assert "“keywords” (probability 0)" in stopped["Unlucky.md"]


def test_without_runs_nothing_is_said_of_entries(tmp_path: Path) -> None:
    project = make(tmp_path, {"Silent": note("keys: [dragon]")}, QUIET)
    assert found(project, "D51", run=False) == ()


def test_what_the_ai_did_not_choose_from_the_whole_vault_did_not_match(tmp_path: Path) -> None:
    settings = {"enabled": True, "aiSearchEnabled": True, "aiSearchMode": "ai-only"}
    notes = {"Silent": note("keys: [dragon]\nsummary: Wings and fire.", "Wings and fire.")}
    project = make(tmp_path, notes, QUIET, settings=settings)
    assert found(project, "D52") == ()
    assert len(found(project, "D51")) == 1


@pytest.mark.parametrize(("hits", "reported"), [(4, False), (5, True)])
def test_a_key_in_more_than_a_third_of_the_messages(tmp_path: Path, hits: int, reported: bool) -> None:
    lines = ["The harbour."] * hits + ["Nothing."] * (12 - hits)
    project = make(tmp_path, {"A": note("keys: [harbour]")}, lines)
    assert [finding.line for finding in found(project, "D53", run=False)] == ([3] if reported else [])


def test_short_chats_say_nothing_about_shares(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [harbour]")}, ["The harbour."] * 11)
    assert found(project, "D53", run=False) == ()


def test_a_key_that_never_hit_beside_one_that_did(tmp_path: Path) -> None:
    notes = {"A": note("keys:\n  - harbour\n  - quay"), "B": note("keys: [dragon]")}
    project = make(tmp_path, notes, ["The harbour.", *["Nothing."] * 11])
    assert [(item.filename, item.line, item.field) for item in found(project, "D54", run=False)] == [
        ("A.md", 5, "keys")
    ]


def test_keys_are_found_as_the_engine_finds_them(tmp_path: Path) -> None:
    lines = ["Harbours everywhere."] * 12
    notes = {"A": note("keys: [harbour]")}
    assert found(make(tmp_path / "a", notes, lines), "D53", run=False)
    whole = make(tmp_path / "b", notes, lines, settings={"enabled": True, "matchWholeWords": True})
    assert found(whole, "D53", run=False) == ()


def test_a_key_in_a_speakers_name(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [otto]"), "B": note("keys: [lotto]")}, QUIET * 6)
    told = found(project, "D55", run=False)
    assert [(finding.filename, finding.line) for finding in told] == [("A.md", 3)]
    assert "Ottoline" in told[0].message


@pytest.mark.parametrize(("times", "reported"), [(2, False), (3, True)])
def test_searches_in_vain(tmp_path: Path, times: int, reported: bool) -> None:
    gaps = [
        {"type": "search", "query": "The Old Quay", "frequency": times, "hadResults": False},
        {"type": "flag", "query": "A flag", "frequency": 9},
    ]
    project = make(tmp_path, {"A": note("keys: [harbour]")}, QUIET, metadata={"deeplore_lore_gaps": gaps})
    assert [("The Old Quay" in finding.message) for finding in found(project, "B01", run=False)] == [True] * reported


def test_searches_in_vain_in_the_settings(tmp_path: Path) -> None:
    counts = {"quay": 4, "pier": 2, "bell": 10**398}
    queries = [*({"query": query, "count": times} for query, times in counts.items()), "odd"]
    unmet = {"_librarian": {"topUnmetQueries": queries}}
    settings = {"enabled": True, "analyticsData": unmet}
    told = found(make(tmp_path, {"A": note("keys: [harbour]")}, settings=settings), "B01")
    assert len(told) == 1
    assert "4 times for “quay”" in told[0].message


def test_the_settings_file_is_checked(tmp_path: Path) -> None:
    settings = {"enabled": True, "vaults": [], "aiSearchEnabled": True, "aiSearchMode": "ai-only"}
    project = make(tmp_path, {"A": note("keys: [harbour]\nsummary: x")}, settings=settings)
    assert {"S01", "S04"} <= {finding.code for finding in found(project)}


def test_a_settings_file_that_is_gone_is_told(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [harbour]")}, settings={"enabled": True})
    assert project.settings_path is not None
    project.settings_path.unlink()
    failures = ProblemFinder().find(project).failures
    assert len(failures) == 1
    assert "settings.json" in failures[0]


def test_unsaved_texts_count_instead_of_what_is_on_disk(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [harbour]"), "B": note("keys: [ai]")})
    draft = {tmp_path / "vault" / "A.md": note("keys: [harbour]\nrequires: [Nobody]")}
    codes = {(finding.filename, finding.code) for finding in ProblemFinder().find(project, drafts=draft).findings}
    assert codes == {("A.md", "G01"), ("B.md", "K01")}


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [harbour]")})
    finder = ProblemFinder()
    assert finder.find(project).findings == ()
    make(tmp_path, {"A": note("keys: [harbour]", "{{nonsense here}}")})
    assert [finding.code for finding in finder.find(project.reloaded()).findings] == ["M51"]


def test_repairs_are_those_of_the_files_as_they_are(tmp_path: Path) -> None:
    notes = {"A": note("Keys: [harbour]"), "B": note("keys: [meadow]"), "C": note("Keys: [tower]")}
    project = make(tmp_path, notes)
    finder = ProblemFinder()
    assert [repair.filename for repair in finder.repairs(project)] == ["A.md", "C.md"]
    only = finder.repairs(project, [("vault", "A.md"), ("vault", "gone.md")])
    assert [(repair.filename, repair.after) for repair in only] == [("A.md", note("keys: [harbour]"))]


def test_preview_of_one_fix(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("Keys: [harbour]\nrequires: [Nobody]")})
    finder = ProblemFinder()
    finding = next(item for item in finder.find(project).findings if item.code == "G01")
    text = finder.text(finding.note)
    assert text is not None
    repair = preview(finding, text)
    assert repair is not None
    assert repair.after == note("Keys: [harbour]")
    assert preview(next(iter(found(make(tmp_path / "x", {"A": note("")})))), "x") is None


def test_it_can_be_stopped(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [harbour]")})
    with pytest.raises(Cancelled):
        ProblemFinder().find(project, cancelled=lambda: True)


def test_a_vault_that_vanished_is_a_failure_and_the_rest_is_checked(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [ai]")})
    (tmp_path / "vault").rename(tmp_path / "elsewhere")
    problems = ProblemFinder().find(project)
    assert len(problems.failures) == 1
    assert [finding.code for finding in problems.findings] == ["K01"]
