from __future__ import annotations

import asyncio
import json
from pathlib import Path
from weakref import ref

import frontmatter
import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken, stoppable
from lorestudio.domain.records import replace
from lorestudio.domain.state import EntryRule
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.problems import ProblemFinder, preview
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Deciding
from lorestudio.systems.registry import KINDS, kind_of
from lorestudio.trace.journey import FOREIGN_IDS, renumbered
from lorestudio.vault.folder import read_listed
from lorestudio.vault.lint import linter
from lorestudio.vault.lint.model import Finding, Severity
from lorestudio.vault.note.yaml_handler import HANDLER

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


def by_world_info(**settings: object) -> Deciding:
    return Deciding(kind_of("world-info"), WorldInfoSettings.model_validate(settings))


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


LINES = "Ann: The lamp.\nBob: The lamp is out.\n" * 6


def make_book(folder: Path, *entries: dict[str, object], lines: str = "") -> Project:
    """A project of a lorebook whose entries say this otherwise than new ones; `lines` are a chat."""
    book, chat = folder / "Book.json", folder / "chat.txt"
    listed = {str(uid): {**NEW_ENTRY, "uid": uid, "content": f"Text {uid}.", **raw} for uid, raw in enumerate(entries)}
    book.write_text(json.dumps({"entries": listed}), encoding="utf-8")
    chat.write_text(lines, encoding="utf-8")
    return open_project([book], chat if lines else None)


def told(project: Project) -> list[tuple[str, str, str]]:
    return [(each.code, each.filename, each.field) for each in found(project)]


def test_a_lorebooks_entries_are_checked_by_its_own_rules(tmp_path: Path) -> None:
    """“/ship|boat/” is a pattern in World Info and no pattern in a note (K55)."""
    project = make_book(tmp_path, {"key": ["/ship|boat/"]}, {"key": []}, {"key": ["ai"]}, lines=LINES)
    expected = [("W51", "uid 1", "key"), ("D51", "uid 0", ""), ("D51", "uid 1", ""), ("D51", "uid 2", ""),
                ("K01", "uid 2", "key")]  # fmt: skip
    assert told(project) == expected
    problems = ProblemFinder().find(project)
    assert (problems.notes, problems.failures) == (3, ())
    assert "over 3 entries" in problems.checked


def test_entries_that_are_switched_off_are_not_looked_at(tmp_path: Path) -> None:
    off: dict[str, object] = {"key": ["lamp", "a"], "disable": True, "probability": 0}
    assert told(make_book(tmp_path, {"key": ["lamp"]}, off)) == []


def test_settings_of_deeplore_have_no_say_in_a_lorebook(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"scanDepth": 0, "maxTokensBudget": 1, "vaults": []}), encoding="utf-8")
    path = make_book(tmp_path, {"key": ["lamp"]}).book_paths[0]
    assert told(open_project([path], None, settings)) == []


def test_keys_are_compared_as_each_entry_has_them_searched(tmp_path: Path) -> None:
    exact: dict[str, object] = {"key": ["e\u0301lan"], "caseSensitive": True}
    loose: dict[str, object] = {"key": ["e\u0301clair"]}
    clinging: dict[str, object] = {"key": ["-san"]}
    anywhere: dict[str, object] = {"key": ["-kun"], "matchWholeWords": False}
    project = make_book(tmp_path, exact, loose, clinging, anywhere)
    assert told(project) == [("K58", "uid 0", "key"), ("K62", "uid 2", "key")]


def test_that_whole_words_do_not_hold_is_said_where_it_is_unusual(tmp_path: Path) -> None:
    assert told(make_book(tmp_path, {"key": ["war room"]}, {"key": ["маяк"]})) == [("K57", "uid 1", "key")]


def test_a_short_key_whose_case_counts_is_not_sure_to_be_in_a_longer_one(tmp_path: Path) -> None:
    lamp: dict[str, object] = {"key": ["lamp"], "matchWholeWords": False}
    longer: dict[str, object] = {"key": ["lamps"]}
    assert told(make_book(tmp_path, lamp, longer)) == [("K54", "uid 0", "key")]
    assert told(make_book(tmp_path, {**lamp, "caseSensitive": True}, longer)) == []


def test_patterns_and_keys_of_an_entrys_own_ways_are_looked_for_in_the_chat(tmp_path: Path) -> None:
    entries: tuple[dict[str, object], ...] = (
        {"key": ["/l.mp/", "/b.at/", "{{user}}"]},
        {"key": ["am", "out"], "matchWholeWords": False},
        {"key": ["Lamp", "out"], "caseSensitive": True, "comment": "Case"},
    )
    findings = [each for each in found(make_book(tmp_path, *entries, lines=LINES), run=False) if each.code[0] == "D"]
    assert [(each.code, each.filename, each.message) for each in findings] == [
        ("D53", "uid 0", "The key “/l.mp/” is in 12 of 12 messages."),
        ("D53", "uid 1", "The key “am” is in 12 of 12 messages."),
        ("D53", "uid 1", "The key “out” is in 6 of 12 messages."),
        ("D53", "uid 2", "The key “out” is in 6 of 12 messages."),
        ("D54", "uid 0", "The key “/b.at/” is in none of 12 messages."),
        ("D54", "uid 2", "The key “Lamp” is in none of 12 messages."),
    ]


def test_settings_of_world_info_count_for_its_entries(tmp_path: Path) -> None:
    project = make_book(tmp_path, {"key": ["lamp"], "content": "x" * 400})
    for cap, expected in ((101, []), (100, ["W72"])):
        problems = ProblemFinder().find(project, by=by_world_info(world_info_budget_cap=cap))
        assert [each.code for each in problems.findings] == expected


def test_the_keys_of_notes_are_looked_at_as_the_system_that_decides_searches_them(tmp_path: Path) -> None:
    keys = note("keys: [/l.mp/, ' oak ', lamp, lamplight, /x/]")
    other = note("keys: [/x/y]\nrefine_keys: [/oa?k/]")
    project = make(tmp_path, {"A": keys, "B": other}, ["The lamp.", "The lamp is out."] * 6)

    def told(by: Deciding | None) -> list[tuple[str, str]]:
        return [(each.code, each.message) for each in ProblemFinder().find(project, by=by).findings]

    plain = told(None)
    assert [text.split("”")[0].removeprefix("The key “") for code, text in plain if code == "K55"] == [
        "/l.mp/", "/x/", "/x/y", "/oa?k/",
    ]  # fmt: skip
    assert [code for code, _ in plain].count("K56") == 1
    assert ("K54", "The key “/x/” is part of “/x/y”, a key of “B”.") in plain
    scanned = told(by_world_info(match_whole_words=False))
    assert [each for each in scanned if each[0] != "D54"] == [
        ("D53", "The key “/l.mp/” is in 12 of 12 messages."),
        ("D53", "The key “lamp” is in 12 of 12 messages."),
        ("K53", "Found anyway: “lamp” wherever “lamplight” is."),
    ]
    assert {code for code, _ in told(by_world_info(case_sensitive=True, match_whole_words=True))} == {"D53", "D54"}


def test_copies_of_keys_are_found_and_removed_as_world_info_reads_keys(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: ['oak ', oak, /o/, Oak]")})
    finder, by = ProblemFinder(), by_world_info()
    assert [each.code for each in finder.find(project, by=by).findings].count("K52") == 2
    (repair,) = finder.repairs(project, by=by)
    assert frontmatter.parse(repair.after, handler=HANDLER)[0]["keys"] == ["oak ", "/o/"]


def test_a_lorebook_is_checked_by_world_info_whoever_decides(tmp_path: Path) -> None:
    project = make_book(tmp_path, {"key": []})
    for name in KINDS:
        kind = kind_of(name)
        problems = ProblemFinder().find(project, by=Deciding(kind, kind.settings_in(project.settings)))
        assert [each.code for each in problems.findings] == ["W51"], name


def test_an_unsaved_entry_counts_instead_and_keeps_its_place(tmp_path: Path) -> None:
    project, finder = make_book(tmp_path, {"key": ["lamp"]}, {"key": ["boat"], "order": 50}), ProblemFinder()
    assert finder.find(project).findings == ()
    text = finder.text(("Book", "uid 1"))
    assert text is not None
    path = project.book_paths[0] / "uid 1"
    draft = text.replace("order: 50", "order: 500\nprobability: 0")
    (finding,) = finder.find(project, drafts={path: draft}).findings
    entry = next(each for each in project.index.entries if each.filename == "uid 1")
    assert (finding.code, finding.entry) == ("W60", entry.id)
    assert finder.find(project, drafts={path: "---\norder: first\n---\n"}).findings == ()


def test_a_fix_is_worked_out_anew_where_anything_of_the_entry_has_changed(tmp_path: Path) -> None:
    entry: dict[str, object] = {"key": ["lamp"], "keysecondary": ["oak"], "selective": False}
    project, finder = make_book(tmp_path, entry), ProblemFinder()
    key, path = ("Book", "uid 0"), project.book_paths[0] / "uid 0"
    finder.find(project)
    text = finder.text(key) or ""
    draft = text.replace("selective: false", "vectorized: true\nselective: false")
    (finding,) = finder.find(project, drafts={path: draft}).findings
    repair = preview(finding, finder.text(key) or "")
    assert repair is not None
    properties, _ = frontmatter.parse(repair.after, handler=HANDLER)
    assert (properties["selective"], properties["vectorized"]) == (True, True)


def test_the_safe_fixes_of_an_entry_leave_its_patterns(tmp_path: Path) -> None:
    keys = ["lamp", "/l.mp/", "Lamp", "zero\u200bwidth"]
    project, finder = make_book(tmp_path, {"key": keys}, {"key": ["boat"]}), ProblemFinder()
    (repair,) = finder.repairs(project)
    assert (repair.filename, repair.titles) == ("uid 0", ("Replace the invisible sign", "Remove the copies"))
    assert "key:\n  - lamp\n  - /l.mp/\n  - zerowidth\n" in repair.after
    assert finder.repairs(project, [("Book", "uid 1"), ("Book", "uid 9")]) == ()


def test_in_a_group_whose_scores_count_keys_no_copy_is_removed(tmp_path: Path) -> None:
    entry: dict[str, object] = {"key": ["lamp", "lamp"], "group": "light"}
    codes = {each.code: each.fix for each in found(make_book(tmp_path, entry))}
    assert codes["K52"] is None


def test_of_entries_of_one_number_no_text_is_known(tmp_path: Path) -> None:
    project = make_book(tmp_path, {"key": ["boat"], "uid": 7}, {"key": ["lamp", "lamp"], "uid": 7})
    findings = ProblemFinder().find(project).findings
    assert sorted(each.code for each in findings) == ["K52", "W68", "W68"]
    assert all(each.fix is None for each in findings)


def test_each_entry_of_one_number_is_looked_at(tmp_path: Path) -> None:
    project = make_book(tmp_path, {"key": [], "uid": 7}, {"key": ["boat"], "uid": 7}, {"key": ["/(/"], "uid": 7})
    problems = ProblemFinder().find(project)
    assert problems.notes == 3
    assert [(each.code, each.filename, each.entry) for each in problems.findings if each.code != "W68"] == [
        ("W51", "uid 7", 0),
        ("W56", "uid 7 (3)", 2),
    ]
    assert [each.entry for each in problems.findings if each.code == "W68"] == [0, 1, 2]


def test_findings_of_entries_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    project = make_book(tmp_path, *({"key": []} for _ in range(11)))
    assert [each.filename for each in found(project)] == [f"uid {uid}" for uid in range(11)]


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


def test_the_ai_is_called_so_where_it_did_not_choose(tmp_path: Path) -> None:
    notes = {"Unchosen": note("keys: [hello]\nsummary: Zinc."), "Chosen": note("keys: [hello]\nsummary: Hello there.")}
    project = make(tmp_path, notes, QUIET, settings={"aiSearchEnabled": True, "aiSearchMode": "two-stage"})
    (finding,) = found(project, "D52")
    assert "(not chosen by the AI)" in finding.message


@pytest.mark.parametrize("name", ["Kept out", "Silent"])
def test_nothing_is_said_of_a_note_that_the_person_blocked(tmp_path: Path, name: str) -> None:
    notes = {"Kept out": note("keys: [hello]"), "Silent": note("keys: [dragon]")}
    project = make(tmp_path, notes, QUIET)
    blocked = replace(project, controls=replace(project.controls, blocks=(EntryRule(name.upper()),)))
    assert f"{name}.md" not in {each.filename for each in found(blocked) if each.code in {"D51", "D52"}}


def test_without_runs_nothing_is_said_of_entries(tmp_path: Path) -> None:
    project = make(tmp_path, {"Silent": note("keys: [dragon]")}, QUIET)
    assert found(project, "D51", run=False) == ()


def test_runs_that_look_at_no_note_of_the_vault_say_nothing_of_any(tmp_path: Path) -> None:
    project = make(tmp_path, {"Silent": note("keys: [dragon]")}, QUIET)
    traces = asyncio.run(Simulator(project).replay())
    of_a_lorebook = [renumbered(trace, FOREIGN_IDS.__add__) for trace in traces]
    of_memories = [replace(trace, words=replace(trace.words, of_notes=False)) for trace in traces]
    told = [
        [finding.code for finding in ProblemFinder().find(project, runs).findings if finding.code == "D51"]
        for runs in (traces, of_a_lorebook, of_memories)
    ]
    assert told == [["D51"], [], []]


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


def test_texts_are_read_only_where_a_file_has_changed_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lorestudio.vault.folder.SETTLING_NS", -(10**12))
    project = make(tmp_path, {"A": note("keys: [ai]"), "B": note("keys: [ma]")}, QUIET)
    read: list[str] = []

    def reading(filename: str, *args: Path | str, **more: bool) -> object:
        read.append(filename)
        return read_listed(filename, *args, **more)  # type: ignore[arg-type]  # handed on as they are

    monkeypatch.setattr("lorestudio.studio.project.problems.read_listed", reading)
    finder = ProblemFinder()
    first = finder.find(project)
    assert sorted(read) == ["A.md", "B.md"]
    assert finder._scope is not None
    assert finder._scope.marks is not None
    for file in project.known_state.vaults[0].files:
        assert finder._scope.marks["vault", file.filename] is file.stamp, "the stamps of a large vault twice"
    texts = ref(finder._scope.texts)
    assert finder.find(project) == first
    assert len(read) == 2
    assert texts() is None, "a list of all files for every note that was looked at"
    assert finder.text(("vault", "A.md")) == note("keys: [ai]")
    (tmp_path / "vault" / "A.md").write_text(note("keys: [tower]", "{{nonsense here}}"))
    assert finder.text(("vault", "A.md")) is None, "what is written there now is not what was looked at"
    anew = ProblemFinder()
    anew.find(project)
    assert anew.text(("vault", "A.md")) == note("keys: [tower]", "{{nonsense here}}"), "as it is on disk, not as known"
    read.clear()
    assert [finding.code for finding in finder.find(project.reloaded()).findings] == ["M51", "K01"]
    assert read == ["A.md"]


def test_repairs_are_those_of_the_files_as_they_are(tmp_path: Path) -> None:
    notes = {"A": note("Keys: [harbour]"), "B": note("keys: [meadow]"), "C": note("Keys: [tower]")}
    notes["D"] = note("keys: [old quay]\nKeys: [far mill]")  # which of the two is meant nobody knows
    project = make(tmp_path, notes)
    finder = ProblemFinder()
    fixes = {
        finding.fix.safe for finding in finder.find(project).findings if finding.fix and finding.filename == "D.md"
    }
    assert fixes == {False}
    assert [repair.filename for repair in finder.repairs(project)] == ["A.md", "C.md"]
    only = finder.repairs(project, [("vault", "A.md"), ("vault", "gone.md")])
    assert [(repair.filename, repair.after) for repair in only] == [("A.md", note("keys: [harbour]"))]


def test_working_out_fixes_tells_how_far_it_is_looks_at_the_vault_once_and_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make(tmp_path, {name: note("Keys: [harbour]") for name in "ABC"})
    made: list[object] = []
    about = linter._about

    def counted(scope: linter.Scope) -> str:
        made.append(scope)
        return about(scope)

    monkeypatch.setattr(linter, "_about", counted)
    finder, token = ProblemFinder(), CancelToken()
    told: list[tuple[int, int]] = []
    repairs = finder.repairs(project, on_progress=lambda *far: told.append(far))
    assert (len(repairs), told) == (3, [(0, 3), (1, 3), (2, 3)])
    assert len(made) == 2  # what the notes have in common, and the settings' own findings

    def stop(done: int, _total: int) -> None:
        if done == 1:
            token.cancel()

    with pytest.raises(Cancelled):
        finder.repairs(project, on_progress=stop, cancel=token)


def test_preview_of_one_fix(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("Keys: [harbour]\nrequires: [Nobody]")})
    finder = ProblemFinder()
    finding = next(item for item in finder.find(project).findings if item.code == "G01")
    text = finder.text(finding.note_key)
    assert text is not None
    repair = preview(finding, text)
    assert repair is not None
    assert repair.after == note("Keys: [harbour]")
    assert preview(next(iter(found(make(tmp_path / "x", {"A": note("")})))), "x") is None


def test_it_can_be_stopped(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [harbour]")})
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        ProblemFinder().find(project, cancel=token)


def test_the_checks_of_a_lorebooks_fields_can_be_stopped(tmp_path: Path) -> None:
    book, kind, token = tmp_path / "Sea.json", kind_of("world-info"), CancelToken()
    book.write_text(json.dumps({"entries": {"0": {**NEW_ENTRY, "key": ["bell"]}}}), "utf-8")
    scene = open_project([book]).scene()
    token.cancel()
    assert kind.books is not None
    with pytest.raises(Cancelled), stoppable(token):
        kind.books.checked(kind.settings(), scene, 0)


def test_a_vault_that_vanished_is_a_failure_and_the_rest_is_checked(tmp_path: Path) -> None:
    project = make(tmp_path, {"A": note("keys: [ai]")})
    (tmp_path / "vault").rename(tmp_path / "elsewhere")
    problems = ProblemFinder().find(project)
    assert len(problems.failures) == 1
    assert [finding.code for finding in problems.findings] == ["K01"]


def test_how_far_it_is_told_while_a_large_lorebook_is_looked_at_and_while_its_entries_are_compared(
    tmp_path: Path,
) -> None:
    project = make_book(tmp_path, *({"key": [f"lamp {number}"]} for number in range(100)))
    told: list[tuple[int, int]] = []
    ProblemFinder().find(project, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 100), (64, 100), (0, 100), (64, 100), (100, 100)]
