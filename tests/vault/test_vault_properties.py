"""Nothing that can stand in a file stops the reading, and nothing is lost by saving."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.javascript import DOT, WHITE_SPACE, WS, code_units, number, simple_hash, trim
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault import cleaning, fields, front_matter
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.files import NoteFile, VaultError, VaultFiles
from lorestudio.vault.index import build_index
from lorestudio.vault.writer import read_note, save_note

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


# What is read by a shortcut where it can be is what the plain definition says.


# As the original has them (rules: deeplore 1.8); ours go through a text once, however many marks it leaves open.
DIV, EMBED, IMAGE = r"</?div[^>]*>", rf"!\[\[{DOT}*?\]\]", rf"!\[{DOT}*?\]\({DOT}*?\)"
NAMED_LINK, PLAIN_LINK = r"\[\[[^\]|]+\|([^\]]+)\]\]", r"\[\[([^\]]+)\]\]"
LINK_TARGET = r"\[\[([^\]|]+)(?:\|[^\]]+)?\]\]"
marks = st.lists(
    st.sampled_from(["!", "[[", "]]", "[", "](", ")", "<div", ">", "a", "b", " ", "|", "\\", "\n# ", "\u2028"]),
    max_size=30,
).map("".join)


@given(text | marks)
def test_cleaning_has_no_shortcut_that_differs(body: str) -> None:
    plain = cleaning._INLINE_COMMENT.sub("", cleaning._without_parts(body, *cleaning._EXCLUDED))
    plain = cleaning._without_heading(re.sub(DIV, "", cleaning._without_parts(plain, *cleaning._COMMENT)))
    plain = re.sub(IMAGE, "", re.sub(EMBED, "", plain))
    plain = re.sub(PLAIN_LINK, r"\1", re.sub(NAMED_LINK, r"\1", plain))
    assert cleaning.clean(body) == trim(cleaning._BLANK_LINES.sub("\n\n", plain))


@given(marks)
def test_links_have_no_shortcut_that_differs(body: str) -> None:
    plain = cleaning._without_heading(body)
    links = [link for link in re.finditer(LINK_TARGET, plain) if not plain[: link.start()].endswith("!")]
    assert cleaning.wikilinks(body) == tuple(dict.fromkeys(trim(link[1]).removesuffix("\\") for link in links))


@given(text.map(lambda line: line.replace("\n", " ")), st.sampled_from(["", "a", "a-b", "1.c ", "é", "²", "_\u2028"]))
def test_field_lines_have_no_shortcut_that_differs(line: str, name: str) -> None:
    plain = re.match(rf"(\w[\w.-]*){WS}*:{WS}*({DOT}*)", (name + line).rstrip(WHITE_SPACE), re.ASCII)
    assert front_matter._field(name + line) == (plain and (plain[1], plain[2].rstrip(WHITE_SPACE)))


@given(st.text("0123456789.-²٣", min_size=1, max_size=20))
def test_numbers_have_no_shortcut_that_differs(figures: str) -> None:
    plain = number(float(figures)) if front_matter._NUMBER.fullmatch(figures) else figures
    found = front_matter.parse(f"a: {figures}")["a"]
    assert (found, type(found)) == (plain, type(plain))


@given(text)
def test_space_around_a_list_is_none_of_its_items(inside: str) -> None:
    assert front_matter._inline_list(inside) == front_matter._inline_list(trim(inside))


@given(st.one_of(text, st.text(st.characters(max_codepoint=127))))
def test_hash_follows_its_definition(content: str) -> None:
    units = code_units(content)
    first, second = (5381, 52711) if units else (0, 0)
    for unit in (low + 256 * high for low, high in zip(units[::2], units[1::2], strict=True)):
        first = (first * 33 + unit) % 2**32
        second = (second * 33 + unit) % 2**32
    count, *hashes = simple_hash(content).split("_")
    assert int(count) == len(units) // 2
    assert [int(digits, 36) for digits in hashes] == ([first, second] if units else [0])


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
