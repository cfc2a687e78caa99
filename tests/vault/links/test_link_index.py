from __future__ import annotations

from lorestudio.vault.files import NoteFile
from lorestudio.vault.links.index import LinkIndex
from lorestudio.vault.links.mentions import MentionOf
from lorestudio.vault.links.targets import FoundBy

FILES = {
    "Lamp.md": "---\naliases: [Light]\nkeys: [lantern]\n---\n# Lamp\nSee [[Quay]] and [[Nowhere]] and ![[map.png]].\n",
    "harbour/ferry-quay.md": "---\nrequires: [Lamp]\n---\n# Quay\nA [[Lamp#Oil|light]].\nTwo: [[LAMP]] `[[Lamp]]`\n",
    "Other.md": "[x](Lamp.md) [[light]] ![[Lamp]]\n",
    "picture.txt": "[[Lamp]]",
}


def build(files: dict[str, str]) -> LinkIndex:
    return LinkIndex.build([NoteFile(name, text) for name, text in files.items()], ["map.png"])


def test_backlinks_with_line_and_context() -> None:
    found = build(FILES).backlinks("Lamp.md")
    assert [(link.source, link.excerpt.line, link.by, link.in_deeplore) for link in found] == [
        ("Other.md", 1, FoundBy.NAME, False),
        ("Other.md", 1, FoundBy.ALIAS, False),
        ("Other.md", 1, FoundBy.NAME, False),
        ("harbour/ferry-quay.md", 2, FoundBy.TITLE, True),
        ("harbour/ferry-quay.md", 5, FoundBy.NAME, False),
        ("harbour/ferry-quay.md", 6, FoundBy.NAME, True),
        ("harbour/ferry-quay.md", 6, FoundBy.NAME, True),
    ]
    last = found[-1].excerpt
    assert last.text == "Two: [[LAMP]] `[[Lamp]]`"
    assert last.text[last.start : last.end] == "[[Lamp]]"


def test_outgoing_links_say_what_does_not_exist_yet() -> None:
    found = build(FILES).outgoing("Lamp.md")
    assert [(link.reference.target, link.target.filename, link.in_deeplore) for link in found] == [
        ("Quay", "harbour/ferry-quay.md", True),
        ("Nowhere", None, False),
        ("map.png", "map.png", False),
    ]


def test_unknown_notes_have_nothing() -> None:
    index = build(FILES)
    assert (index.backlinks("No.md"), index.outgoing("No.md"), index.mentions("No.md")) == ((), (), ())


STEPS: list[tuple[str, str | None]] = [
    ("New.md", "---\naliases: [Nowhere]\nkeys: [wick]\n---\nThe lamp and its lantern.\n"),
    ("Lamp.md", "# Torch\nNo [[Quay]]. A wick, the quay.\n"),
    ("Other.md", None),
    ("harbour/ferry-quay.md", "---\naliases: [torch]\n---\nNothing here but the Torch.\n"),
    ("New.md", "A torch. Nowhere. The wick.\n"),
    ("Lamp.md", None),
    ("Other.md", "lamp LAMP torch [[Torch]] quay\n"),
]


def test_changed_step_by_step_is_as_built_at_once() -> None:
    files = {name: text for name, text in FILES.items() if name.endswith(".md")}
    index = build(files)
    for name, text in STEPS:
        index = index.changed(name, text)
        if text is None:
            del files[name]
        else:
            files[name] = text
        fresh = build(files)
        for note in files:
            assert index.backlinks(note) == fresh.backlinks(note)
            assert index.outgoing(note) == fresh.outgoing(note)
            assert index.mentions(note) == fresh.mentions(note)


def test_changed_leaves_the_index_before_as_it_was() -> None:
    index = build(FILES)
    before = (index.backlinks("Lamp.md"), index.mentions("Lamp.md"))
    index.changed("Lamp.md", "# Torch\n")
    index.changed("Other.md", "lamp, lantern, light")
    assert (index.backlinks("Lamp.md"), index.mentions("Lamp.md")) == before


def test_many_new_names_are_found_too() -> None:
    index = build({"A.md": "name 7 and name 403 and name 1\n", "B.md": ""})
    keys = ", ".join(f"name {number}" for number in range(450))
    changed = index.changed("B.md", f"---\nkeys: [{keys}]\n---\n")
    assert [mention.excerpt.text[mention.start : mention.end] for mention in changed.mentions("B.md")] == [
        "name 7", "name 403", "name 1",
    ]  # fmt: skip
    assert changed.changed("B.md", "").mentions("B.md") == ()
    assert [mention.of for mention in changed.mentions("B.md")] == [MentionOf.KEY] * 3
