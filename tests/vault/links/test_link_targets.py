from __future__ import annotations

import pytest

from lorestudio.vault.links.references import references
from lorestudio.vault.links.targets import FoundBy, LinkTargets, NoteNames, base_name

NOTES = [
    NoteNames("Lamp.md", "Lamp"),
    NoteNames("deep/er/Bell.md", "Old Bell", ("Ding", "The Bell")),
    NoteNames("deep/Bell.md", "Young Bell"),
    NoteNames("harbour/ferry-quay.md", "The Ferry Quay", ("Lamp",)),
    NoteNames("harbour/Jörn.md", "Jörn"),
    NoteNames("z/Twin.md", "Twin"),
    NoteNames("Other.md", "twin"),
    NoteNames("n.md.md", "n.md"),
]
TARGETS = LinkTargets(NOTES, ["maps/coast.png", "coast.png"])


@pytest.mark.parametrize(
    ("target", "source", "expected", "by"),
    [
        ("Lamp", "a/x.md", "Lamp.md", FoundBy.NAME),
        ("lAMP.md", "a/x.md", "Lamp.md", FoundBy.NAME),
        ("Bell", "a/x.md", "deep/Bell.md", FoundBy.NAME),  # the shortest path
        ("er/Bell", "a/x.md", "deep/er/Bell.md", FoundBy.PATH),
        ("deep/er/Bell.md", "x.md", "deep/er/Bell.md", FoundBy.PATH),
        ("/deep/Bell", "deep/er/x.md", "deep/Bell.md", FoundBy.PATH),
        ("/er/Bell", "x.md", None, FoundBy.NOTHING),
        ("./Bell", "deep/er/x.md", "deep/er/Bell.md", FoundBy.PATH),
        ("../Bell", "deep/er/x.md", "deep/Bell.md", FoundBy.PATH),
        ("../Bell", "x.md", None, FoundBy.NOTHING),
        ("the ferry quay", "x.md", "harbour/ferry-quay.md", FoundBy.TITLE),
        ("Ding", "x.md", "deep/er/Bell.md", FoundBy.ALIAS),
        ("Jo\u0308rn", "x.md", "harbour/Jörn.md", FoundBy.NAME),
        ("coast.png", "x.md", "coast.png", FoundBy.NAME),
        ("maps/coast.png", "x.md", "maps/coast.png", FoundBy.PATH),
        ("coast", "x.md", None, FoundBy.NOTHING),
        ("n.md", "x.md", "n.md.md", FoundBy.NAME),
        ("Nobody", "x.md", None, FoundBy.NOTHING),
    ],
)
def test_resolve(target: str, source: str, expected: str | None, by: FoundBy) -> None:
    found = TARGETS.resolve(target, source)
    assert (found.filename, found.by, found.exists) == (expected, by, expected is not None)


@pytest.mark.parametrize("name", ["Gate", "GATE"])
@pytest.mark.parametrize("form", ["{}", "{}.md", "/a/{}", "a/{}", "./{}.md"])
def test_of_names_that_differ_in_letter_case_the_one_as_written_is_meant(name: str, form: str) -> None:
    targets = LinkTargets(NoteNames(f"a/{each}.md", f"Title of {each}") for each in ("GATE", "Gate", "gate"))
    found = targets.resolve(form.format(name), "a/x.md")
    assert found.filename == f"a/{name}.md"


def test_of_equal_titles_the_last_in_the_index_is_meant() -> None:
    # A folder's own files come before those of its sub-folders.
    found = TARGETS.by_title("TWIN")
    assert found is not None
    assert found.filename == "z/Twin.md"


def test_fields_of_titles_look_for_the_title_first() -> None:
    targets = LinkTargets([NoteNames("Lamp.md", "Old Lamp"), NoteNames("b.md", "Lamp")])
    field, link = references("---\nrequires: [Lamp]\n---\n[[Lamp]]")
    assert targets.find(field, "x.md").filename == "b.md"
    assert targets.find(link, "x.md").filename == "Lamp.md"


def test_markdown_links_are_relative_first() -> None:
    targets = LinkTargets([NoteNames("Lamp.md", "A"), NoteNames("f/Lamp.md", "B")])
    markdown, wiki = references("[x](Lamp.md) [[Lamp]]")
    assert targets.find(markdown, "f/x.md").filename == "f/Lamp.md"
    assert targets.find(wiki, "f/x.md").filename == "Lamp.md"


def test_a_link_without_target_leads_to_its_own_note() -> None:
    (link,) = references("[[#Head]]")
    assert TARGETS.find(link, "deep/Bell.md").filename == "deep/Bell.md"


def test_changed_leaves_the_first_as_it_was() -> None:
    changed = TARGETS.changed({"Lamp.md": None, "deep/Bell.md": NoteNames("deep/Bell.md", "Gong", ("Boom",))})
    assert changed.resolve("Lamp", "x.md").by is FoundBy.ALIAS
    assert changed.resolve("Young Bell", "x.md").exists is False
    assert changed.resolve("Boom", "x.md").filename == "deep/Bell.md"
    assert TARGETS.resolve("Young Bell", "x.md").filename == "deep/Bell.md"
    assert TARGETS.resolve("Lamp", "x.md").filename == "Lamp.md"


@pytest.mark.parametrize(("path", "name"), [("a/b.md", "b"), ("b.MD", "b"), ("a.b/c", "c"), ("x.png", "x.png")])
def test_base_name(path: str, name: str) -> None:
    assert base_name(path) == name
