from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from lorestudio.domain.entry import Entry
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.note_files import (
    Template,
    built_in,
    fill,
    in_format,
    plan_delete,
    plan_duplicate,
    plan_new,
    templates,
)
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.note.document import NoteDocument
from tests.studio.note_worlds import applied, write_vault

NOW = datetime(2024, 10, 5, 15, 4, 9)  # noqa: DTZ001  # a person's own time


def test_a_new_note_is_made_with_its_folder(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": ""})
    template = Template("x", '---\nkeys: ["{{title}}"]\nmade: {{date}}\n---\n# {{title}}\n')
    planned = plan_new([vault], vault, "people/dead", " Hob ", template, NOW)
    assert planned.changes.title == "New note Hob"
    after = applied(planned, vault)
    assert after["people/dead/Hob.md"] == '---\nkeys: ["Hob"]\nmade: 2024-10-05\n---\n# Hob\n'


def test_a_folder_that_is_there_in_other_capitals_is_meant(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"Places/Old Town/A.md": "", "B.md": ""})
    before = {"Places/Old Town/A.md", "B.md"}
    planned = plan_new([vault], vault, "places/old town/inns", "Hob", None, NOW)
    assert set(applied(planned, vault)) == {*before, "Places/Old Town/inns/Hob.md"}


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("YYYY YY MMMM MMM MM M", "2024 24 October Oct 10 10"),
        ("DD D dddd ddd", "05 5 Saturday Sat"),
        ("HH H hh h mm ss A", "15 15 03 3 04 09 PM"),
        ("[Day] D, [at] h A", "Day 5, at 3 PM"),
        ("MMMM Do YYYY, h:m:s a", "October 5th 2024, 3:4:9 pm"),
        ("dd d DDDD DDD Q", "Sa 6 279 279 4"),
        ("GGGG-[W]WW W", "2024-W40 40"),
        ("YYYY-MM-DDTHH:mm", "2024-10-05T15:04"),
        pytest.param("[" * 1_000_000, "[" * 1_000_000, id="brackets without an end"),
    ],
)
def test_a_moment_in_the_format_of_a_template(form: str, words: str) -> None:
    assert in_format(NOW, form) == words


@pytest.mark.parametrize(
    ("day", "words"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (22, "22nd")]
)
def test_a_day_is_counted(day: int, words: str) -> None:
    assert in_format(NOW.replace(day=day), "Do") == words


def test_a_year_of_weeks_begins_with_a_monday() -> None:
    assert in_format(datetime(2021, 1, 3), "GGGG WW W d DDDD DDD") == "2020 53 53 0 003 3"  # noqa: DTZ001 - local time


@pytest.mark.parametrize("form", ["YYYY-MM-DD x", "Mo", "D of MMMM", "HH:mm:ss.SSS", "YYYYY"])
def test_a_format_that_is_not_known_stays_as_it_is(form: str) -> None:
    assert fill(f"# {{{{title}}}} {{{{date:{form}}}}}\n", "Hob", NOW) == f"# Hob {{{{date:{form}}}}}\n"


def test_midnight_is_twelve_in_the_morning() -> None:
    assert in_format(NOW.replace(hour=0), "H h A") == "0 12 AM"


def test_a_template_is_filled_as_obsidian_does() -> None:
    template = (
        "---\nmade: {{date:YYYY-MM-DD HH:mm}}\nat: {{time}}\n---\n# {{title}}\n"
        "{{date:dddd, D MMMM YYYY}} {{time:HH.mm}} {{date}} {{other}}\n"
    )
    text = fill(template, "{{date}}", NOW)
    assert NoteDocument(text).find("made").value == "2024-10-05 15:04"
    assert NoteDocument(text).find("at").value == "15:04"
    assert text.endswith("# {{date}}\nSaturday, 5 October 2024 15.04 2024-10-05 {{other}}\n")


def test_dates_are_written_as_obsidian_is_set(tmp_path: Path) -> None:
    text = "{{title}} {{date}} {{time}} {{date:YYYY}}"
    vault = write_vault(tmp_path / "vault", {"Stencils/Beast.md": text})
    kept = tmp_path / "vault" / ".obsidian" / "templates.json"
    kept.parent.mkdir()
    kept.write_text('{"folder": "Stencils/", "dateFormat": "D. M. YYYY", "timeFormat": ""}', encoding="utf-8")
    planned = plan_new([vault], vault, "", "Hob", templates(vault)[0], NOW)
    assert applied(planned, vault)["Hob.md"] == "Hob 5. 10. 2024 15:04 2024"


def test_what_most_templates_ask_of_templater_is_filled() -> None:
    template = (
        "---\nkeys: [<% tp.file.title %>]\n---\n# <%tp.file.title%>\n"
        "<% tp.date.now() %> <% tp.date.now('D MMMM') %> <% tp.date.now(\"HH:mm\") %> <% tp.file.cursor(1) %>.\n"
        '<% tp.date.now("YYYY", 7) %><%* x %><%- tp.file.title %>'
    )
    assert fill(template, "Hob, the elf", NOW) == (
        '---\nkeys: ["Hob, the elf"]\n---\n# Hob, the elf\n'
        "2024-10-05 5 October 15:04 .\n"
        '<% tp.date.now("YYYY", 7) %><%* x %><%- tp.file.title %>'
    )


def test_a_new_note_without_template(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {})
    assert applied(plan_new([vault], vault, "", "Hob", None, NOW), vault) == {"Hob.md": "# Hob\n"}


@pytest.mark.parametrize(
    ("title", "message"), [("A", "of this name"), ("a", "same name"), ("Bee", "this title"), ("x/y", "cannot stand")]
)
def test_new_names_that_cannot_be_had(tmp_path: Path, title: str, message: str) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": "", "b.md": "# Bee\n"})
    with pytest.raises(InputError, match=message):
        plan_new([vault], vault, "", title, None, NOW)


@pytest.mark.parametrize("template", built_in(), ids=lambda template: template.name)
@pytest.mark.parametrize("title", ["Hob", "Wren's, the 2nd", "- x", "true", "12", "A & b"])
def test_built_in_templates_make_entries(template: Template, title: str) -> None:
    text = fill(template.text, title, NOW)
    entry = parse_note(text, f"{title}.md", "v", ParseRules(), CHARS_4)
    assert isinstance(entry, Entry)
    assert (entry.title, entry.keys, entry.warnings, entry.summary) == (title, (title,), (), "")
    document = NoteDocument(text)
    assert document.problems == ()
    assert all(found.reading is None for found in document.properties)


def test_a_title_is_quoted_where_the_template_does_not(tmp_path: Path) -> None:
    text = fill("---\nkeys: [{{title}}, old {{title}}]\nother:   [x]\n---\n# {{title}}\n", "Bell, Book", NOW)
    assert text == '---\nkeys: ["Bell, Book", "old Bell, Book"]\nother:   [x]\n---\n# Bell, Book\n'


def test_templates_of_the_vault_come_first_and_take_names(tmp_path: Path) -> None:
    vault = write_vault(
        tmp_path / "vault", {"Templates/Place.md": "own", "Templates/sub/Beast.md": "b", "a/templates/x.md": "no"}
    )
    found = templates(vault)
    assert [(one.name, one.filename) for one in found] == [
        ("Place", "Templates/Place.md"), ("Beast", "Templates/sub/Beast.md"),
        ("character", ""), ("faction", ""), ("item", ""), ("event", ""), ("rule", ""),
    ]  # fmt: skip
    assert found[0].text == "own"


def test_duplicate_with_heading_takes_the_next_free_number(tmp_path: Path) -> None:
    vault = write_vault(
        tmp_path / "vault", {"a/Lamp.md": "---\ntitle: The Lamp\n---\n# The Lamp\nold\n", "b/c.md": "# The Lamp 2\n"}
    )
    planned = plan_duplicate([vault], [vault.path("a/Lamp.md")])
    assert planned.changes.title == "Duplicate The Lamp"
    assert applied(planned, vault)["a/Lamp 3.md"] == "---\ntitle: The Lamp 3\n---\n# The Lamp 3\nold\n"


def test_duplicate_of_a_duplicate_counts_on(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"Lamp.md": "a", "Lamp 2.md": "b", "lamp 3.md": "c"})
    assert applied(plan_duplicate([vault], [vault.path("Lamp 2.md")]), vault)["Lamp 4.md"] == "b"


def test_copies_of_several_notes_are_one_step_and_take_different_names(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"Lamp.md": "a", "Lamp 2.md": "b", "Oil.md": "c"})
    planned = plan_duplicate([vault], [vault.path("Lamp.md"), vault.path("Lamp 2.md"), vault.path("Oil.md")])
    assert planned.changes.title == "Duplicate 3 notes"
    after = applied(planned, vault)
    assert (after["Lamp 3.md"], after["Lamp 4.md"], after["Oil 2.md"]) == ("a", "b", "c")


def test_delete_tells_whose_references_lead_nowhere(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": "[[B]]", "B.md": "", "C.md": "[[A]] [[B]] [[B]]", "D.md": "[[A]]"})
    planned = plan_delete([vault], [vault.path("A.md"), vault.path("B.md")])
    assert planned.changes.title == "Delete 2 notes"
    assert planned.remarks == (
        "References to A.md will lead nowhere: C.md, D.md.",
        "References to B.md will lead nowhere: C.md.",
    )
    assert applied(planned, vault).keys() == {"C.md", "D.md"}
