"""For each check a vault that it reports, and one that is only just right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from lorestudio.domain.entry import LeftOutNote, NoteProblem, VaultIndex
from lorestudio.vault.lint.linter import Scope
from lorestudio.vault.lint.model import CheckGroup, all_checks
from tests.vault.lint.vaults import codes, lint, note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lorestudio.domain.javascript import Json


@dataclass(frozen=True)
class Case:
    """`bad` has the problem, `good` just does not; values are files by name, or the text of A.md alone."""

    code: str
    bad: str | Mapping[str, object]
    good: str | Mapping[str, object]
    settings: Mapping[str, Json] = field(default_factory=dict)
    good_settings: Mapping[str, Json] | None = None
    file: bool = False


LOGIC = note("keys: [harbour]\nrefine_keys: [quay]\nselective_logic: not_any")
NEW = {"rules": "2.6"}
AI = {"aiSearchEnabled": True, "aiSearchMode": "two-stage"}
PROXY = AI | {"aiSearchConnectionMode": "proxy"}
REVERSED = {"priorityReversed": True}  # a sign of 2.5 by itself
WORDS = {"matchWholeWords": True}
OTHER = note("keys: [meadow]")
FIELDS = """fields:
  - name: season
    label: Season
    values:
      - spring
      - autumn
  - name: danger
    type: number
"""
LONG = "word " * 1201  # 6,005 characters: 1,501 tokens at four a token, the blank at the end not counted
TOKENS_1500 = "x" * 6000
TOKENS_2001 = "x" * 8004


def two(first: str, second: str = OTHER, **more: str) -> dict[str, str]:
    return {"A.md": first, "B.md": second} | {f"{name}.md": text for name, text in more.items()}


CASES = [
    # front matter
    Case("W_ALIAS_USED", note("Keys: [harbour]"), note("keys: [harbour]")),
    Case("W_COMMA_SPLIT", note("keys: harbour, quay"), note("keys: harbour")),
    Case("W_COERCED_NUM", note('priority: "5"\nkeys: [a b]'), note("priority: 5\nkeys: [a b]")),
    Case("W_NOT_IMPLEMENTED", note("sticky: 2\nkeys: [harbour]"), note("cooldown: 2\nkeys: [harbour]")),
    Case(
        "W_MERGE_CONFLICT",
        {"v": {"T.md": note("sticky: 2\nkeys: [harbour]")}, "w": {"T.md": note("sticky: [x]\nkeys: [harbour]")}},
        {"v": {"T.md": note("sticky: [y]\nkeys: [harbour]")}, "w": {"T.md": note("sticky: [x]\nkeys: [harbour]")}},
        {"multiVaultConflictResolution": "merge"},
    ),
    Case("P51", note("keys: harbour, quay"), note("keys: [harbour, quay]"), {"lenientAuthoring": False}),
    Case(
        "P51", note('keys: [harbour]\npriority: "5"'), note("keys: [harbour]\npriority: 5"), {"lenientAuthoring": False}
    ),
    Case("P52", note("keywords: [harbour]"), note("keywords: [harbour]\nkeys: [quay]")),
    Case("P52", note("keys: [harbour]\nprioriy: 3"), note("keys: [harbour]\npriors: 3\nroles: [sailor]")),
    Case("P52", note("keys: [harbour]\nrefineKeys: [storm]"), note("keys: [harbour]\nrefine_keys: [storm]")),
    Case(
        "P53", note("summary: A line # and more\nkeys: [harbour]"), note("summary: A line, and more\nkeys: [harbour]")
    ),
    Case("P53", note("keys:\n  - harbour # the old one"), note("# the old one\nkeys:\n  - harbour")),
    Case("P54", "---\ntags: [lorebook]\nkeys: [a b]\nText.\n", "---\n\nA line across the page above a text.\n"),
    Case("P55", note("keys: [a b]\nkeys: [c d]"), note("keys: [a b, c d]")),
    Case("P56", "\n" + note(), note()),
    Case("P56", note().replace("---\n", "--- \n", 1), note()),
    Case("P57", note("keys: [harbour]\nKEYS: [quay]"), note("keys: [harbour]\nplaces: [quay]")),
    Case("P58", note("priority: high\nkeys: [harbour]"), note("priority: 3\nkeys: [harbour]")),
    Case("P58", note('scanDepth: "3"\nkeys: [harbour]'), note("scanDepth: 3\nkeys: [harbour]")),
    Case("P58", note("position: in-chat\nkeys: [harbour]"), note("position: In_Chat\nkeys: [harbour]")),
    Case("P58", note("constant: yes\nkeys: [harbour]"), note("constant: true\nkeys: [harbour]")),
    Case(
        "P58",
        note("depth: 10001\nposition: in_chat\nkeys: [harbour]"),
        note("depth: 10000\nposition: in_chat\nkeys: [harbour]"),
    ),
    Case("P58", note("cooldown: -1\nkeys: [harbour]"), note("cooldown: 0\nkeys: [harbour]")),
    Case("W_INVALID", note("keys: [harbour]\nselective_logic: nor"), LOGIC, NEW),
    Case("W_WI_ROUND_TRIP", note("keys: [harbour]\ntriggers: [normal]"), note(), NEW),
    Case("P62", LOGIC, LOGIC, {}, NEW),
    Case("P62", note("keys: [harbour]\nselective_logic: not_any"), LOGIC, NEW),
    Case("P59", note("enabled: no\nkeys: [harbour]"), note("enabled: yes\nkeys: [harbour]")),
    Case("P59", note("enabled: false # off\nkeys: [harbour]"), note("enabled: true\nkeys: [harbour]")),
    Case("P60", note("keys: [harbour]\nsummary: a: b: c\nnote: [x"), note("keys: [harbour]\nsummary: a b c")),
    Case("P61", note("keys: [harbour]\nrefine_keys: storm, rain"), note("keys: [harbour]\nrefine_keys: storm")),
    # notes that are no entries
    Case("SKIP_EMPTY_TITLE", {" .md": note()}, {"A.md": note()}, NEW),
    Case("SKIP_NO_FRONTMATTER", "Just text.", note()),
    Case("SKIP_NO_LOREBOOK_TAG", note(tags="person"), note()),
    Case("SKIP_ENABLED_FALSE", note("enabled: false"), note("enabled: true")),
    Case("SKIP_NEVER_INSERT_TAG", note(tags="lorebook, lorebook-never"), note(tags="lorebook, never")),
    Case("BROKEN_EMPTY_TITLE", {".md": note()}, {"a.md": note()}),
    Case("N51", note(tags='"#lorebook"'), note(tags="lorebook")),
    Case("N51", "---\ntags: lorebook, npc\n---\nx", "---\ntags: loreboook, npc\n---\nx"),
    Case("N51", "Text with #lorebook in it.", "Text with #lorebooks in it."),
    Case("N52", "---\nkeys: [harbour]\n---\nx", "---\nkind: [harbour]\n---\nx"),
    Case(
        "N53",
        {"v": {"T.md": note()}, "w": {"T.md": note()}},
        {"v": {"T.md": note()}, "w": {"U.md": note()}},
        {"multiVaultConflictResolution": "first"},
    ),
    # entry configuration
    Case("E01", note(""), note("keys: [harbour]")),
    Case("E01", note("keys: ['  ']"), note("constant: true")),
    Case("E01", note(""), note("", tags="lorebook-guide")),
    Case("E02", note(body="# Title\n\n%%a comment%%"), note(body="# Title\n\nA word.")),
    Case("E03", note("constant: true\ncooldown: 2"), note("keys: [harbour]\ncooldown: 2")),
    Case("E04", note("keys: [ash, elm]\nwarmup: 2"), note("keys: [ash, elms]\nwarmup: 2")),
    Case("E04", note("keys: [ash]\nwarmup: 2"), note("keys: [ash]\nwarmup: 1")),
    Case("E05", note("", tags="lorebook, lorebook-bootstrap"), note(tags="lorebook, lorebook-bootstrap")),
    Case("E06", note("excludeRecursion: true"), note("excludeRecursion: true\nconstant: true")),
    Case("E07", note("keys: [harbour]\nprobability: 0"), note("keys: [harbour]\nprobability: 0.01")),
    Case("E08", two(note(body="# One\nx"), note("keys: [meadow]", "# one\ny")), two(note(body="# One\nx"))),
    Case("E09", {"v": {"T.md": note()}, "w": {"t.md": note()}}, {"v": {"T.md": note()}, "w": {"U.md": note()}}),
    Case("E52", note("constant: true\nwarmup: 2"), note("keys: [harbour]\nwarmup: 2")),
    Case("E53", note("keys: [harbour]\nprobability: 50"), note("keys: [harbour]\nprobability: 1")),
    Case("E54", note("keys: [harbour]\npriority: 0"), note("keys: [harbour]\npriority: 1")),
    Case("E55", note("constant: true", tags="lorebook-guide"), note("", tags="lorebook-guide")),
    Case("E56", note(body="```\n# code\n```\n"), note(body="# Code\n\n```\n# code\n```\n")),
    Case("E57", note(body="#\n\nTitle\nx"), note(body="# Title\nx")),
    Case("E58", {"A.sync-conflict-20241005-120000-ABCDEF7.md": note()}, {"A.sync-conflict.md": note()}),
    Case("E58", {"A (Conflicted copy Phone 202410051200).md": note()}, {"A (a copy of conflicted Ann).md": note()}),
    Case("E58", {"A (Ann's conflicted copy 2024-10-05).md": note()}, {"A conflicted copy/B.md": note()}),
    Case("E58", {"A_conflict-20241005-120000.md": note()}, {"A_conflict-2024.md": note()}),
    Case("E59", note(body="<<<<<<< HEAD\nOne.\n=======\nTwo.\n>>>>>>> x\n"), note(body="A\n=======\n<<<<<<< x\n")),
    Case("E59", note("<<<<<<< HEAD\r\nkeys: [a b]\r\n=======\r\n>>>>>>> 1a2b"), note("summary: <<<<<<< a = >>>>>>> c")),
    Case("E59", "---\n<<<<<<< HEAD\ntags: []\n=======\ntags: [x]\n>>>>>>> theirs\n---\n", "<<<<<<< HEAD\n"),
    # requires, excludes, cascade links
    Case("G01", note("keys: [harbour]\nrequires: [Nobody]"), two(note("keys: [harbour]\nrequires: [b]"))),
    Case("G02", note("keys: [harbour]\nexcludes: [Nobody]"), two(note("keys: [harbour]\nexcludes: [b]"))),
    Case("G03", note("keys: [harbour]\ncascade_links: [Nobody]"), two(note("keys: [harbour]\ncascade_links: [b]"))),
    Case("G04", note("keys: [harbour]\nexcludes: [a]"), note("constant: true\nexcludes: [a]")),
    Case(
        "G05", two(note("keys: [harbour]\nrequires: [B]\nexcludes: [b]")), two(note("keys: [harbour]\nrequires: [B]"))
    ),
    Case(
        "G06",
        two(note("keys: [harbour]\nexcludes: [B]"), note("constant: true")),
        two(note("keys: [harbour]\nexcludes: [B]")),
    ),
    Case(
        "G06",
        two(note("keys: [harbour]\nexcludes: [B]"), note("constant: true")),
        two(note("keys: [harbour]\nexcludes: [B]"), note("keys: [meadow]", tags="lorebook, lorebook-seed")),
    ),
    Case(
        "G07",
        two(note("keys: [harbour]\nrequires: [B]"), note("keys: [meadow]\nrequires: [A]")),
        two(note("keys: [harbour]\nrequires: [B]"), note("keys: [meadow]\nexcludes: [C]"), C=note("keys: [tower]")),
    ),
    Case(
        "G07",
        two(
            note("keys: [harbour]\nrequires: [B]"),
            note("keys: [meadow]\nrequires: [C]"),
            C=note("keys: [tower]\nrequires: [A]"),
        ),
        two(
            note("keys: [harbour]\nrequires: [B]"),
            note("keys: [meadow]\nrequires: [C]"),
            C=note("constant: true\nrequires: [A]"),
        ),
    ),
    Case(
        "G51",
        {"A.md": note("keys: [harbour]\ncascade_links: [quay]"), "f/quay.md": note("keys: [meadow]", "# The Quay\nx")},
        {
            "A.md": note("keys: [harbour]\ncascade_links: [the quay]"),
            "f/quay.md": note("keys: [meadow]", "# The Quay\nx"),
        },
    ),
    Case(
        "G52",
        two(note("keys: [harbour]\nexcludes: [B]"), note("keys: [meadow]", tags="lorebook, lorebook-bootstrap")),
        two(note("keys: [harbour]\nexcludes: [B]")),
    ),
    Case(
        "G53",
        two(note("keys: [harbour]\nrequires: [B]"), note("", tags="lorebook-guide")),
        two(note("keys: [harbour]\nrequires: [B]")),
    ),
    Case(
        "G53",
        two(note("keys: [harbour]\nrequires: [B]"), note("keys: [meadow]\nprobability: 0")),
        two(note("keys: [harbour]\nrequires: [B]"), note("keys: [meadow]\nprobability: 0.1")),
    ),
    Case(
        "G54",
        two(
            note("keys: [harbour]\nrequires: [B]"),
            note("keys: [meadow]\nrequires: [C]"),
            C=note("keys: [tower]\nexcludes: [A]"),
        ),
        two(
            note("keys: [harbour]\nrequires: [B]"),
            note("keys: [meadow]\nrequires: [C]"),
            C=note("constant: true\nexcludes: [A]"),
        ),
    ),
    Case("G55", two(note("constant: true\nrequires: [B]")), two(note("keys: [harbour]\nrequires: [B]"))),
    Case("G56", note("keys: [harbour]\nrequires: [A]"), two(note("keys: [harbour]\nrequires: [B]"))),
    Case(
        "G57",
        two(note("keys: [harbour]\ncascade_links: [B]"), note("keys: [meadow]\ncascade_links: [A]")),
        two(note("keys: [harbour]\ncascade_links: [B]")),
    ),
    # gating fields
    Case(
        "F51",
        {"A.md": note(), "DeepLore/field-definitions.yaml": 'fields:\n  - name: "season"\n'},
        {"A.md": note(), "DeepLore/field-definitions.yaml": FIELDS},
    ),
    Case(
        "F52",
        {"A.md": note("keys: [harbour]\nseason: winter"), "DeepLore/field-definitions.yaml": FIELDS},
        {"A.md": note("keys: [harbour]\nseason: Autumn"), "DeepLore/field-definitions.yaml": FIELDS},
    ),
    Case(
        "F53",
        {"A.md": note("keys: [harbour]\ndanger: high"), "DeepLore/field-definitions.yaml": FIELDS},
        {"A.md": note("keys: [harbour]\ndanger: 3"), "DeepLore/field-definitions.yaml": FIELDS},
    ),
    # keys
    Case("K01", note("keys: [ai]"), note("keys: [ais]")),
    Case("K01", note("keys: [燈]"), note("keys: [燈守]")),
    Case(
        "K02",
        two(note("keys: [Harbour]"), note("keys: [harbour]")),
        two(note("keys: [Harbour]"), note("keys: [harbours]")),
    ),
    Case(
        "K02",
        two(note("keys: [harbour]"), note("keys: [harbour]")),
        two(note("keys: [harbour]"), note("keys: [harbour]", tags="lorebook-guide")),
    ),
    Case("K51", note("keys: [a]"), note("keys: [ab]")),
    Case("K51", note('keys: [":"]'), note('keys: [":"]'), {}, WORDS),
    Case("K52", note("keys: [Quay, quay]"), note("keys: [Quay, quay]"), {}, {"caseSensitive": True}),
    Case("K53", note("keys: [dragon, dragons]"), note("keys: [dragon, dragons]"), {}, WORDS),
    Case("K53", note("keys: [war, the war room]"), note("keys: [war, ward room]"), WORDS),
    Case(
        "K54",
        two(note("keys: [wick]"), note("keys: [wickwarden]")),
        two(note("keys: [wick]"), note("keys: [wickwarden]")),
        {},
        WORDS,
    ),
    Case("K55", note("keys: [/dragons?/i]"), note("keys: [and/or]")),
    Case("K56", note('keys: [" quay"]'), note("keys: [quay house]")),
    Case("K57", note("keys: [war room]"), note("keys: [war-room]"), WORDS),
    Case("K57", note("keys: [魔法]"), note("keys: [mahou]"), WORDS),
    Case("K58", note("keys: [cafe\u0301]"), note("keys: [caf\u00e9]"), {"caseSensitive": True}),
    Case("K59", note("keys: [old\u00a0quay]"), note("keys: [old quay]")),
    Case("K60", note(f"keys: [{'x' * 201}]"), note(f"keys: [{'x' * 200}]")),
    Case("K61", note("keys: [quay, , pier]"), note("keys: [quay, pier]")),
    Case("K62", note('keys: ["-san"]'), note('keys: ["#hello"]'), WORDS),
    Case("K63", note("keys: [King\u2019s men]"), note("keys: [King's men]")),
    # links, size, AI, injection, text
    Case("L01", note(body="See [[Nobody]]."), two(note(body="See [[b]] and ![[picture.png]]."))),
    Case("Z01", note(body=LONG), note(body=TOKENS_1500)),
    Case("Z02", note(body=TOKENS_2001, tags="lorebook, lorebook-seed"), note(body=TOKENS_2001)),
    Case("Z03", note("constant: true", "x" * 804), note("constant: true", "x" * 800), {"maxTokensBudget": 200}),
    Case("Z51", note(body="x" * 804), note(body="x" * 800), {"maxTokensBudget": 200}),
    Case("Z52", two(note("constant: true"), note("constant: true")), two(note("constant: true")), {"maxEntries": 2}),
    Case("A01", note(), note("keys: [harbour]\nsummary: A quay."), AI),
    Case("A01", note(), note(), AI, {}),
    Case(
        "A51",
        note(f"keys: [harbour]\nsummary: {'x' * 101}"),
        note(f"keys: [harbour]\nsummary: {'x' * 100}"),
        AI | {"aiSearchManifestSummaryLength": 100},
    ),
    Case("I01", note("keys: [harbour]\nposition: before\ndepth: 2"), note("keys: [harbour]\ndepth: 2")),
    Case(
        "I01",
        note("keys: [harbour]\ndepth: 2"),
        note("keys: [harbour]\ndepth: 2\nposition: in_chat"),
        {"injectionPosition": 0},
    ),
    Case("I02", note("keys: [harbour]\nposition: after\nrole: user"), note("keys: [harbour]\nrole: user")),
    Case("M51", note(body="Dear {{usr}},"), note(body="Dear {{user}} and {{Char}}, {{roll:1d6}} {{// a remark}}")),
    Case("M52", note(body="It costs $$5."), note(body="It costs $5 and 5 $ more.")),
    Case("M53", note(body="a %%deeplore-exclude%% b"), note(body="a %%deeplore-exclude%% b %%/deeplore-exclude%%")),
    Case("M54", note(body="a\n%%x\ny%%\nb"), note(body="a\n%%x\ny\n%%\nb")),
    # settings
    Case(
        "S01",
        note(),
        note(),
        {"vaults": [{"enabled": False, "apiKey": "k"}]},
        {"vaults": [{"enabled": True, "apiKey": "k"}]},
        file=True,
    ),
    Case(
        "S02",
        note(),
        note(),
        {"vaults": [{"enabled": True, "name": "W"}]},
        {"vaults": [{"enabled": False, "name": "W"}]},
        file=True,
    ),
    Case("S03", note(), note(), {"scanDepth": 0}, {"scanDepth": 1}),
    Case("S03", note(), note(), {"scanDepth": 0}, {"scanDepth": 0, "aiSearchEnabled": True}),
    Case(
        "S04",
        note(),
        note(),
        {"aiSearchEnabled": True, "aiSearchMode": "ai-only"},
        {"aiSearchEnabled": True, "aiSearchMode": "ai-only", "aiSearchProfileId": "p"},
        file=True,
    ),
    Case(
        "S05",
        note(),
        note(),
        AI | {"aiSearchConnectionMode": "proxy", "aiSearchProxyUrl": ""},
        AI | {"aiSearchConnectionMode": "proxy"},
        file=True,
    ),
    Case(
        "S06",
        note(),
        note(),
        {"scribeEnabled": True, "scribeConnectionMode": "profile"},
        {"scribeEnabled": True},
        file=True,
    ),
    Case(
        "S07",
        note(),
        note(),
        {"scribeEnabled": True, "scribeConnectionMode": "proxy", "scribeProxyUrl": " "},
        {"scribeEnabled": False, "scribeConnectionMode": "proxy", "scribeProxyUrl": " "},
        file=True,
    ),
    Case("S08", note(), note(), {"maxTokensBudget": 199}, {"maxTokensBudget": 200}),
    Case("S08", note(), note(), {"maxTokensBudget": 199}, {"maxTokensBudget": 199, "unlimitedBudget": True}),
    Case(
        "S09",
        note(),
        note(),
        {"recursiveScan": True, "maxRecursionSteps": 1},
        {"recursiveScan": True, "maxRecursionSteps": 2},
    ),
    Case("S10", note(), note(), {"cacheTTL": 0}, {"cacheTTL": 1}),
    Case("S54", note(), note(), REVERSED | {"rules": "2.0.2"}, REVERSED),
    Case("S55", LOGIC, LOGIC, {}, NEW),
    Case("S56", note(), note(), PROXY | NEW, PROXY),
    Case("S51", note(), note(), {"constantTag": "LoreBook"}, {"constantTag": "always"}),
    Case("S52", note(), note(), AI, AI | {"aiSearchProfileId": "p"}, file=True),
    Case("S53", note(), note(), AI | {"scanDepth": 0}, AI | {"scanDepth": 1}),
]


def found(case: Case, files: object, settings: Mapping[str, Json]) -> set[str]:
    named = {"A.md": files} if isinstance(files, str) else files
    more = {"file": settings} if case.file else {"settings": settings}
    return codes(named, **more)  # type: ignore[arg-type]  # files or vaults, as the helper takes them


def name(case: Case) -> str:
    return case.code


@pytest.mark.parametrize("case", CASES, ids=name)
def test_reported(case: Case) -> None:
    assert case.code in found(case, case.bad, case.settings)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_not_reported(case: Case) -> None:
    settings = case.settings if case.good_settings is None else case.good_settings
    assert case.code not in found(case, case.good, settings)


@pytest.mark.parametrize("problem", [problem for problem in NoteProblem if problem.broken])
def test_broken_files_are_errors(problem: NoteProblem) -> None:
    index = VaultIndex(left_out=(LeftOutNote("x.md", "v", problem, "Line 7 is bad."),), vaults=("v",))
    finding = next(item for item in lint(Scope(index)).findings if item.filename)
    assert (finding.code, finding.severity.value, finding.line) == (problem.value, "error", 7)


def test_every_check_has_a_case() -> None:
    tested = {case.code for case in CASES} | {problem.value for problem in NoteProblem}
    elsewhere = {CheckGroup.CHAT, CheckGroup.WORLD_INFO}  # studio/project/test_problems, systems/worldinfo/test_checks
    assert {code for code, check in all_checks().items() if check.group not in elsewhere} == tested


SEVERITIES = {
    "E": "G01 G02 G04 G05 E08 G07 S01 S03 S04 S05 S06 S07",
    "W": "S02 S08 E01 E02 G03 G06 Z01 A01 E04 E05 Z02 I01 I02 E06 E07 Z03",
    "I": "S09 S10 K01 E03 L01 E09 K02 B01",
}
"""DeepLore's severities (rules: deeplore-tools 3.3)."""


@pytest.mark.parametrize(("severity", "listed"), SEVERITIES.items())
def test_severities_of_the_health_check(severity: str, listed: str) -> None:
    for code in listed.split():
        assert all_checks()[code].severity.value[0].upper() == severity, code


def test_every_check_says_why_and_what_to_do() -> None:
    for check in all_checks().values():
        assert check.explanation, check.code
        assert check.advice, check.code
        assert check.title, check.code


def test_a_clean_vault_has_no_findings() -> None:
    assert codes({"A.md": note(), "B.md": note("keys: [meadow]", "See [[A]].")}) == set()
