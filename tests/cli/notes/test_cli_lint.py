from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from lorestudio.cli.notes import lint as module
from lorestudio.vault.lint.model import CheckGroup, all_checks

Run = Callable[..., Result]
DOCS = Path(__file__).resolve().parents[3] / "resources" / "docs"


def write(folder: Path, name: str, front: str, body: str = "Some text.") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.md"
    path.write_text(f"---\ntags: [lorebook]\n{front}\n---\n{body}\n", encoding="utf-8", newline="")
    return path


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """A vault with an error, two warnings and a remark, of which the error and one warning can be fixed."""
    folder = tmp_path / "messy"
    write(folder, "A", "keys: [harbour]\nrequires: [Nobody]")
    write(folder, "B", "Keys: [meadow]")
    write(folder, "C", "keys: [ai]\nsticky: 2")
    return folder


def test_a_sound_vault_ends_with_0(lorestudio: Run, tmp_path: Path) -> None:
    write(tmp_path / "sound", "A", "keys: [harbour]")
    result = lorestudio("lint", tmp_path / "sound")
    assert result.exit_code == 0
    assert "0 errors, 0 warnings and 0 remarks." in result.stdout


def test_errors_end_with_1_and_name_file_and_line(lorestudio: Run, messy: Path) -> None:
    result = lorestudio("lint", messy)
    assert result.exit_code == 1
    assert "\nB.md\n  warning W_ALIAS_USED" in result.stdout
    assert "error G01" in result.stdout
    assert "A.md:4" in result.stdout
    assert "K01" not in result.stdout
    assert "1 error, 2 warnings and 1 remark." in result.stdout
    assert "1 not shown; --severity info shows all." in result.stdout
    assert "--fix would mend 2 of them." in result.stdout


@pytest.mark.parametrize(
    ("severity", "codes"),
    [("error", {"G01"}), ("warning", {"G01", "W_ALIAS_USED", "W_NOT_IMPLEMENTED"}),
     ("info", {"G01", "W_ALIAS_USED", "W_NOT_IMPLEMENTED", "K01"})],
)  # fmt: skip
def test_severities(lorestudio: Run, messy: Path, severity: str, codes: set[str]) -> None:
    result = lorestudio("lint", messy, "--severity", severity, "--json")
    assert {finding["code"] for finding in json.loads(result.stdout)["findings"]} == codes
    assert result.exit_code == 1


def test_warnings_end_with_0_unless_strict(lorestudio: Run, tmp_path: Path) -> None:
    write(tmp_path / "vault", "B", "Keys: [meadow]")
    assert lorestudio("lint", tmp_path / "vault").exit_code == 0
    assert lorestudio("lint", tmp_path / "vault", "--strict").exit_code == 1
    assert lorestudio("lint", tmp_path / "vault", "--strict", "--severity", "error").exit_code == 1


def test_json_holds_the_same_findings(lorestudio: Run, messy: Path) -> None:
    value = json.loads(lorestudio("lint", messy, "--json").stdout)
    assert value["counts"] == {"error": 1, "warning": 2, "info": 1}
    assert (value["notes"], value["entries"], value["runs"], value["fixed"]) == (3, 3, 0, [])
    finding = value["findings"][0]
    assert {name: finding[name] for name in ("code", "severity", "vault", "filename", "field", "line")} == {
        "code": "G01", "severity": "error", "vault": "messy", "filename": "A.md", "field": "requires", "line": 4,
    }  # fmt: skip
    text = (messy / "A.md").read_text(encoding="utf-8")
    (edit,) = finding["fix"]["edits"]
    assert finding["fix"]["safe"] is True
    assert text[: edit["start"]] + edit["text"] + text[edit["end"] :] == text.replace("requires: [Nobody]\n", "")


def test_fix_makes_the_safe_fixes_and_prints_them(lorestudio: Run, messy: Path) -> None:
    untouched = (messy / "C.md").stat().st_mtime_ns
    result = lorestudio("lint", messy, "--fix")
    assert result.exit_code == 0
    assert "-requires: [Nobody]" in result.stdout
    assert "-Keys: [meadow]\n+keys: [meadow]" in result.stdout
    assert "Fixed: 2 in 2 notes." in result.stdout
    assert (messy / "A.md").read_text(encoding="utf-8") == "---\ntags: [lorebook]\nkeys: [harbour]\n---\nSome text.\n"
    assert (messy / "C.md").stat().st_mtime_ns == untouched
    assert "nothing was fixed: no finding has a safe fix." in lorestudio("lint", messy, "--fix").stderr
    assert sorted(path.name for path in messy.iterdir()) == ["A.md", "B.md", "C.md"]


def test_what_fix_changed_is_undone_in_one_step_and_kept_as_versions(lorestudio: Run, messy: Path) -> None:
    before = {path: path.read_bytes() for path in messy.iterdir()}
    lorestudio("lint", messy, "--fix")
    assert "Make the safe fixes of 2 notes" in lorestudio("history", messy / "A.md").stdout
    result = lorestudio("undo", messy, "--yes")
    assert result.stderr == "lorestudio: undone: Make the safe fixes of 2 notes (2 files).\n"
    assert {path: path.read_bytes() for path in messy.iterdir()} == before


def test_the_fixes_of_two_vaults_are_undone_in_each(lorestudio: Run, messy: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = write(tmp_path / "other" / "messy", "D", "Keys: [tide]")
    lorestudio("lint", messy, other.parent, "--fix")
    assert "undone" in lorestudio("undo", other.parent, "--yes").stderr
    assert "Keys: [tide]" in other.read_text(encoding="utf-8")
    assert "keys: [meadow]" in (messy / "B.md").read_text(encoding="utf-8")
    assert "undone" in lorestudio("undo", messy, "--yes").stderr
    assert "Keys: [meadow]" in (messy / "B.md").read_text(encoding="utf-8")


def test_fix_in_json(lorestudio: Run, messy: Path) -> None:
    value = json.loads(lorestudio("lint", messy, "--fix", "--json").stdout)
    assert [(item["filename"], item["fixes"]) for item in value["fixed"]] == [
        ("A.md", ["Remove “Nobody” from requires"]),
        ("B.md", ["Rename to keys"]),
    ]
    assert value["counts"]["error"] == 0


def test_a_note_that_changes_meanwhile_is_not_overwritten(
    lorestudio: Run, messy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = "---\ntags: [lorebook]\nkeys: [mine]\n---\nMine.\n"
    real = module.read_text

    def read(path: Path) -> tuple[str, str]:
        path.write_text(mine, encoding="utf-8")
        return real(path)

    monkeypatch.setattr(module, "read_text", read)
    result = lorestudio("lint", messy, "--fix")
    assert result.exit_code == 2
    assert "“A.md” has changed while it was checked" in result.stderr
    assert (messy / "A.md").read_text(encoding="utf-8") == mine


def test_a_lorebook_is_checked_and_fixed_in_its_file(lorestudio: Run, tmp_path: Path) -> None:
    book = tmp_path / "Book.json"
    text = (
        '{"entries": {"3": {"uid": 3, "comment": "Bell", "key": ["bell",  "bell"], "position": 0, "content": "Ding."},'
        '  "4": {"uid": 4, "comment": "Gate", "key": [], "position": 0, "content": "It opens."}}}'
    )
    book.write_text(text, encoding="utf-8")
    result = lorestudio("lint", book, "--fix", "--strict", "--severity", "info")
    assert result.exit_code == 1
    assert "\nuid 4 Gate\n  warning W51  “Gate” has no keys" in result.stdout
    assert "0 errors, 1 warning and 0 remarks. The checks of lorebooks over 2 entries." in result.stdout
    assert "Fixed: 1 in 1 entry." in result.stdout
    assert result.stderr == ""
    assert book.read_text(encoding="utf-8") == text.replace('["bell",  "bell"]', '["bell"]')
    assert "undone: Make the safe fixes of 1 entry (1 file)." in lorestudio("undo", tmp_path, "--yes").stderr
    assert book.read_text(encoding="utf-8") == text


def test_entries_are_checked_by_the_settings_that_they_are_scanned_with(lorestudio: Run, tmp_path: Path) -> None:
    book = tmp_path / "Book.json"
    late = {
        "uid": 4,
        "comment": "Gate",
        "key": ["gate"],
        "position": 0,
        "content": "Opens.",
        "delayUntilRecursion": True,
    }
    book.write_text(json.dumps({"entries": {"4": late}}), encoding="utf-8")
    host = tmp_path / "settings.json"
    host.write_text(json.dumps({"world_info_settings": {"world_info_max_recursion_steps": 1}}), encoding="utf-8")
    once = ("--set", "max_recursion_steps=1")
    for options, codes in (((), []), (once, ["W53"]), (("--system-settings", host), ["W53"])):
        value = json.loads(lorestudio("lint", book, "--json", *options).stdout)
        assert [item["code"] for item in value["findings"]] == codes, options


def test_a_chat_tells_what_another_system_never_brings_in(lorestudio: Run, vault: Path, chat: Path) -> None:
    write(vault, "Bound", "keys: [tide]\nwi_secondary: [dragon]\nwi_logic: 3")
    codes = {}
    for system in ("deeplore", "world-info"):
        value = json.loads(
            lorestudio("lint", vault, "--chat", chat, "--severity", "info", "--json", "--system", system).stdout
        )
        codes[system] = {item["code"] for item in value["findings"] if item["filename"] == "Bound.md"}
    assert "D52" not in codes["deeplore"]
    assert "D52" in codes["world-info"]


def test_what_world_info_looks_for_no_key_of_did_not_match(lorestudio: Run, vault: Path, chat: Path) -> None:
    write(vault, "Silent", "keys: [dragon]\nexcludeRecursion: true")
    options = ("--severity", "info", "--json", "--system", "world-info")
    value = json.loads(lorestudio("lint", vault, "--chat", chat, *options).stdout)
    told = {item["filename"]: item["message"] for item in value["findings"] if item["code"] in {"D51", "D52"}}
    assert told["Silent.md"] == f"“Silent” matched in none of {value['runs']} runs."


def test_a_chat_tells_what_never_comes_in(lorestudio: Run, vault: Path, chat: Path) -> None:
    write(vault, "Silent", "keys: [dragon]")
    value = json.loads(lorestudio("lint", vault, "--chat", chat, "--severity", "info", "--json").stdout)
    assert {(item["code"], item["filename"]) for item in value["findings"]} >= {("D51", "Silent.md")}
    assert value["runs"] == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere"],
        ["messy", "--settings", "none.json"],
        ["messy", "--severity", "bad"],
        ["messy", "--chat", "none.jsonl"],
    ],
)
def test_bad_input_ends_with_2(lorestudio: Run, messy: Path, arguments: list[str]) -> None:
    assert messy.is_dir()
    result = lorestudio("lint", messy.parent / arguments[0], *arguments[1:])
    assert result.exit_code == 2
    assert result.stdout == ""


def table_of_checks() -> str:
    """The table as the page has it, one part a group."""
    parts: list[str] = []
    for group in CheckGroup:
        parts.append(f"## {group}\n")
        parts.append("| Code | Severity | What | When and why | What to do | From |\n|---|---|---|---|---|---|")
        for check in (check for check in all_checks().values() if check.group is group):
            origin = "DeepLore" if check.source.startswith("rules: deeplore-tools") else "lorestudio"
            cells = (f"`{check.code}`", check.severity, check.title, check.explanation, check.advice, origin)
            parts.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
        parts.append("")
    return "\n".join(parts)


def test_the_page_has_the_table_of_checks() -> None:
    assert table_of_checks() in (DOCS / "lint.md").read_text(encoding="utf-8")
