"""Front matter through python-frontmatter and ruamel.yaml: what is written is what DeepLore and YAML read back."""

from datetime import UTC, datetime

import frontmatter
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lorestudio.domain.javascript import Json
from lorestudio.vault import front_matter
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.spelling import equal
from lorestudio.vault.note.yaml_handler import HANDLER, compose_note
from lorestudio.vault.note.yaml_reading import read_yaml, same
from tests.vault.note.test_note_document_properties import NAMES, NUMBERS, TEXTS

VALUES = st.one_of(TEXTS, NUMBERS, st.lists(TEXTS, max_size=3))


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.text(max_size=10))
@example({"keys": ["\t"]}, "")
@example({"keys": ["yes", "{{title}}"], "x": 'it\'s "so"', "summary": "", "depth": None}, "---\n\n  end \n\n")
def test_both_readers_give_every_value_back(properties: dict[str, Json], body: str) -> None:
    body = "\n" + body
    try:
        text = compose_note(properties, body, alike=True)
    except ValueError:
        # YAML writes those as escapes, which DeepLore does not read
        assume(
            all(
                "".join(value if isinstance(value, list) else str(value)).isprintable() for value in properties.values()
            )
        )
        assert not all(_editable(name, value) for name, value in properties.items())
        return
    head, rest = front_matter.split(text)
    assert rest == body
    read = front_matter.parse(head or "")
    assert list(read) == list(properties)
    assert all(equal(read[name], value) for name, value in properties.items())
    for found in read_yaml(head or "").values.values():
        assert same(properties[found.name], found.value, block_scalar=True)


def _editable(name: str, value: Json) -> bool:
    try:
        NoteDocument("").set(name, value)
    except ValueError:
        return False
    return True


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12))
def test_yaml_gives_back_what_deeplore_has_no_spelling_for(text: str) -> None:
    fields, body = frontmatter.parse(compose_note({"x": text, "y": [text]}, "Body.\n"), handler=HANDLER)
    assert body == "Body."
    assert str(fields["x"]).removesuffix("\n") == text
    assert fields["y"] in ([text], [text + "\n"])


def test_new_notes_are_spelled_plainly() -> None:
    moment = datetime(2026, 2, 28, 22, 30, 5, 123_000, UTC)
    assert compose_note({"keys": ["Mill", "yes"], "depth": 4.0, "on": True, "at": moment, "x": None}, "# M\n") == (
        '---\nkeys:\n  - Mill\n  - "yes"\ndepth: 4\non: true\nat: 2026-02-28T22:30:05.123Z\nx: null\n---\n# M\n'
    )
    assert compose_note({}, "# M\n") == "# M\n"


def test_what_was_read_keeps_its_comments_order_and_quotes() -> None:
    text = "# mine\nzeta: 'a'  # why\nalpha: [b, \"c\"]\nempty:\nold: yes\n"
    post = frontmatter.Post("Body.\n\n", HANDLER)
    post.metadata = HANDLER.load(text)
    post["alpha"].append("d")  # type: ignore[attr-defined]
    assert frontmatter.dumps(post) == "---\n" + text.replace('"c"]', '"c", d]') + "---\nBody.\n\n"


def test_what_yaml_cannot_read_is_said() -> None:
    with pytest.raises(ValueError, match="YAML cannot read the front matter: "):
        frontmatter.parse("---\na: [b\n---\nBody", handler=HANDLER)
    assert not HANDLER.detect("No front matter\n---\nx\n---\n")
    assert frontmatter.parse("---\n- a\n---\nBody", handler=HANDLER) == ({}, "Body")


def test_properties_of_megabytes_are_not_read_as_yaml() -> None:
    """They took the reader half a minute."""
    found = read_yaml("a: b\n" * 60_000)
    assert (found.error, found.values) == ("it has more than 200,000 characters", {})
