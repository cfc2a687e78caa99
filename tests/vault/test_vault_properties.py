"""Nothing that can stand in a file stops the reading, and nothing is lost by saving."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault import (
    NoteFile,
    ParseRules,
    VaultError,
    VaultFiles,
    build_index,
    fields,
    parse_note,
    read_note,
    save_note,
)

PIECES = [
    "---", "\n", "\r", "\u2028", ": ", "tags", "lorebook", "keys", "Priority", "era", "requires", "sticky", "- ", "[",
    "]", "[[", "]]", "|", ">", "#", " ", "%%", "%%deeplore-exclude%%", "%%/deeplore-exclude%%", "<div", "'", '"', "\\",
    ",", "5", "-.5", "1e999", "9" * 400, "null", "true", "![", "(", ")", "x", "é", "😀", "\ud83d", "\ufeff", "\u0085",
    "fields:", "  - name: ", "    gating:", "    values:", "      - ", "    type: ",
]  # fmt: skip
text = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=60).map("".join)
note = st.one_of(text, text.map("---\ntags: [lorebook]\n{}".format), text.map("---\ntags: lorebook\n---\n{}".format))


@settings(deadline=None)
@given(note, st.booleans())
def test_parsing_never_raises(content: str, lenient: bool) -> None:
    result = parse_note(content, "f/n.md", "V", ParseRules(lenient=lenient), CHARS_4)
    assert isinstance(result, Entry | LeftOutNote)
    if isinstance(result, Entry):
        assert result.title
        assert result.tokens >= 0


@settings(deadline=None)
@given(text)
def test_definition_files_never_raise(content: str) -> None:
    definitions, errors = fields.parse(content)
    assert len(definitions) + len(errors) <= 2 * content.count("name:")


@settings(deadline=None)
@given(
    st.lists(st.tuples(note, st.sampled_from(["a.md", "b/a.md", "b/c/d.md"])), max_size=5),
    st.sampled_from(["all", "merge"]),
)
def test_an_index_accounts_for_every_note(notes: list[tuple[str, str]], mode: str) -> None:
    vault = VaultFiles("V", tuple(NoteFile(name, content) for content, name in notes))
    index = build_index([vault], DeepLoreSettings(multi_vault_conflict_resolution=mode), CHARS_4)
    assert [entry.id for entry in index.entries] == list(range(len(index.entries)))
    if mode == "all":
        assert len(index.entries) + len(index.left_out) == len(notes)


@settings(deadline=None)
@given(st.text())
def test_saving_and_reading_round_trip(content: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "n.md"
        saved = save_note(path, content, None)
        assert path.read_bytes() == content.encode()
        assert read_note(path) == (content, saved)


def is_utf_8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@settings(deadline=None)
@given(st.binary())
def test_reading_and_saving_round_trip(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "n.md"
        path.write_bytes(data)
        if is_utf_8(data):
            content, digest = read_note(path)
            assert save_note(path, content, digest) == digest
        else:
            with pytest.raises(VaultError, match="UTF-8"):
                read_note(path)
        assert path.read_bytes() == data
