"""What notes may be called in a link, where each name leads, and what is offered while one is typed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.ui.features.notes.editor.body import links_in
from lorestudio.ui.features.notes.editor.names import MOST, TitleBook, half_typed
from tests.ui.conftest import drain
from tests.ui.features.notes.editor.notes import PLAIN, link, offered, place
from tests.ui.worlds import ENTRIES, LEFT_OUT

BOOK = TitleBook(VaultIndex(ENTRIES, LEFT_OUT), {"skarn": ("the Grey One",)})


@pytest.mark.parametrize(
    ("target", "filename"),
    [
        ("Dawnkeep", "places/Dawnkeep.md"),
        ("dawnkeep#The gate", "places/Dawnkeep.md"),
        ("places/Dawnkeep", "places/Dawnkeep.md"),
        ("Crown.md", "items/Crown.md"),
        ("The grey one", "Skarn.md"),
        ("README", "README.md"),
        ("Nobody", None),
        ("#The gate", None),
    ],
)
def test_where_a_link_leads(target: str, filename: str | None) -> None:
    found = BOOK.find(link(target))
    assert (found.filename if found else None) == filename


def test_links_lead_where_the_links_pane_and_a_renaming_say() -> None:
    one, two = Entry(0, "a/Moth.md", "v", "Grey Moth"), Entry(1, "b/Grub.md", "v", "Moth")
    other, plain = (
        Entry(2, "Moth.md", "w", "Moth"),
        LeftOutNote("b/Cafe\u0301.md", "v", NoteProblem.NO_LOREBOOK_TAG, ""),
    )
    book = TitleBook(VaultIndex((one, two, other), (plain,)), {"b/Cafe\u0301.md": ("Coffee",)})
    moths = [book.find(link("Moth"), place) for place in (("v", "x.md"), ("w", "x.md"))]
    assert moths == [one, other]  # a file's name first
    assert book.find(link("../b/Grub"), ("v", "a/Moth.md")) == two
    (beside,) = links_in("[x](Grub.md)")  # others read the path of a Markdown link from its own folder
    assert book.find(beside, ("v", "b/x.md")) == two
    assert book.find(link("Caf\u00e9"), ("v", "x.md")) == book.find(link("coffee")) == plain
    assert [name.link for name in book.offers("caf\u00e9")] == ["Cafe\u0301"]
    assert [name.link for name in book.offers("cof")] == ["Cafe\u0301|Coffee"]
    assert book.offers("caf", titles_only=True) == []


def test_notes_of_one_name_are_told_apart_and_each_can_be_linked() -> None:
    one, two = Entry(0, "a/Moth.md", "v", "Moth"), Entry(1, "long/b/moth.md", "v", "Moth")
    other = Entry(2, "Moth.md", "w", "Moth")  # a vault of its own
    book = TitleBook(VaultIndex((one, two, other)), {"moth": ("Grub",)})
    found = {name.offer: name.link for name in book.offers("Moth")}
    assert found == {"Moth   (a)": "Moth", "Moth   (long/b)": "long/b/moth|Moth", "Moth": "Moth"}
    for words, note in (("Moth", one), ("long/b/moth", two)):
        assert book.find(link(words), ("v", "x.md")) == note


def test_only_titles_of_entries_count_for_deeplore() -> None:
    assert BOOK.is_title("SKARN")
    assert not BOOK.is_title("the Grey One")
    assert not BOOK.is_title("README")


def test_a_folder_that_cannot_be_read_is_no_note_to_link_to() -> None:
    locked = LeftOutNote("locked", "v", NoteProblem.UNREADABLE, "No permission.")
    book = TitleBook(VaultIndex((Entry(0, "Moth.md", "v", "Moth"),), (locked,)))
    assert book.find(link("locked")) is None
    assert book.offers("lock") == []


def test_offers_are_ranked_and_few() -> None:
    many = TitleBook(VaultIndex(tuple(Entry(n, f"{n}.md", "v", f"Dragon {n}") for n in range(3000))))
    assert len(many.offers("dragon")) == MOST
    assert many.offers("dragon 2999")[0].text == "Dragon 2999"
    assert [name.link for name in BOOK.offers("grey")] == ["Skarn|the Grey One"]
    assert BOOK.offers("grey", titles_only=True) == []
    apart = TitleBook(VaultIndex((Entry(0, "0.md", "v", "Aranna"),)))
    assert [name.text for name in apart.offers("arna")] == ["Aranna"]  # it has no other letters


def test_files_are_offered_before_notes_where_something_is_embedded_and_each_can_be_named() -> None:
    files = {"v": ("map.png", "old/map.png", "art/Moth.jpg", "data.json"), "w": ("far.png",), "none": ("lost.png",)}
    one, far = Entry(0, "Moth.md", "v", "Moth"), Entry(1, "Far.md", "w", "Far")
    book = TitleBook(VaultIndex((one, far)), {}, files)
    assert [name.link for name in book.offers("", files=True)] == [
        "map.png", "old/map.png", "Moth.jpg", "far.png", "Moth", "Far"
    ]  # fmt: skip
    assert [name.offer for name in book.offers("map", files=True)] == [
        "map.png   (the vault's own folder)", "map.png   (old)"
    ]  # fmt: skip
    for name in book.offers("", files=True):
        assert book.place(link(name.link), name.place) == name.place
    assert [name.text for name in book.offers("mo")] == ["Moth"]
    assert book.offers("map") == []


# ---- while one is typed -------------------------------------------------------------------------------------------


def test_a_half_typed_link() -> None:
    assert half_typed("a [[Daw") == "Daw"
    assert half_typed("a [[Daw]] ") is None
    assert half_typed("a [Daw") is None


def test_two_brackets_offer_titles_and_aliases(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[")
    assert "Dawnkeep" in offered(editor)
    QTest.keyClicks(editor.body, "dwn")
    assert offered(editor)[0] == "Dawnkeep"
    QTest.keyClick(editor.body, Qt.Key.Key_Return)
    drain()
    assert "A dragon. [[Dawnkeep]]\n" in editor.buffer.text
    assert offered(editor) == []
    QTest.keyClicks(editor.body, " More")
    assert "A dragon. [[Dawnkeep]] More\n" in editor.buffer.text


def test_a_number_sign_offers_the_headings_of_the_note_in_order(make_editor) -> None:
    editor, asked = make_editor(PLAIN), []

    def text_of(link, take) -> None:
        asked.append(link.target)
        take("---\n# no: yes\n---\n# Gate\n```\n# code\n```\n## The old [[Wall]]: north\n### Gate\n#tag\n")

    editor.completer.text_of = text_of
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[the grey one#")
    assert offered(editor) == ["Gate", "The old Wall north"]
    QTest.keyClicks(editor.body, "old")
    assert (offered(editor), set(asked)) == (["The old Wall north"], {"the grey one"})
    QTest.keyClick(editor.body, Qt.Key.Key_Return)
    assert "A dragon. [[the grey one#The old Wall north]]\n" in editor.buffer.text
    assert offered(editor) == []
    QTest.keyClicks(editor.body, " [[#zzz")
    assert (offered(editor), asked[-1]) == ([], "")


def test_headings_that_come_after_something_else_was_typed_are_not_offered(make_editor) -> None:
    editor, waiting = make_editor(PLAIN), []
    editor.completer.text_of = lambda _link, take: waiting.append(take)
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[Bell#t")
    QTest.keyClicks(editor.body, "h")
    first, *_others, last = waiting
    first("# Toll\n")
    assert offered(editor) == []
    last("# Toll\n# Then\n")
    assert offered(editor) == ["Then"]


def test_files_are_offered_behind_the_sign_that_embeds(make_editor) -> None:
    editor = make_editor(PLAIN)
    book = TitleBook(VaultIndex(ENTRIES, LEFT_OUT), {}, {"vault": ("art/bell tower.png",)})
    editor.set_context(replace(editor.context, book=book))
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[bell")
    assert offered(editor) == ["Bell"]
    QTest.keyClick(editor.completer.completer.popup(), Qt.Key.Key_Escape)
    QTest.keyClicks(editor.body, "]] ![[bell tow")
    assert offered(editor) == ["bell tower.png"]
    QTest.keyClick(editor.body, Qt.Key.Key_Return)
    assert "![[bell tower.png]]\n" in editor.buffer.text


def test_an_alias_is_written_with_its_title(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[grey")
    QTest.keyClick(editor.body, Qt.Key.Key_Tab)
    assert "[[Skarn|the Grey One]]" in editor.buffer.text


def test_brackets_that_are_there_already_are_not_doubled(make_editor) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "A []] dragon."))
    place(editor, "A [", end=True)
    QTest.keyClicks(editor.body, "[bel")
    QTest.keyClick(editor.body, Qt.Key.Key_Return)
    assert "A [[Bell]] dragon." in editor.buffer.text
    QTest.keyClicks(editor.body, "!")
    assert "A [[Bell]]! dragon." in editor.buffer.text


def test_what_nobody_is_called_offers_nothing(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[zzzz")
    assert offered(editor) == []
    assert not editor.completer.completer.popup().isVisible()


def test_an_offer_is_taken_with_a_click(make_editor) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "A dragon. 🐉"))
    editor.body.moveCursor(QTextCursor.MoveOperation.End)
    editor.body.moveCursor(QTextCursor.MoveOperation.Left)
    editor.body.setFocus()
    QTest.keyClicks(editor.body, "[[e")
    popup, names = editor.completer.completer.popup(), offered(editor)
    row = names.index("Dawnkeep")
    assert row > 0
    assert 240 <= popup.width() <= 420
    spot = popup.visualRect(popup.model().index(row, 0)).center()
    QTest.mouseClick(popup.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert "A dragon. 🐉[[Dawnkeep]]\n" in editor.buffer.text
    assert offered(editor) == []


def test_the_first_offer_is_chosen_and_another_with_the_arrows(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[e")
    popup, names = editor.completer.completer.popup(), offered(editor)
    assert popup.currentIndex().row() == 0
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    name = names[1].partition("   → ")[0]
    assert f"{name}]]\n" in editor.buffer.text


def test_offers_go_where_the_caret_leaves_the_link_and_come_by_typing_only(make_editor) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "A [[Bel dragon."))
    place(editor, "[[Bel", end=True)
    QTest.keyClick(editor.body, Qt.Key.Key_Left)
    assert offered(editor) == []
    QTest.keyClick(editor.body, Qt.Key.Key_Right)
    QTest.keyClicks(editor.body, "l")
    assert offered(editor)[0] == "Bell"
    QTest.keyClick(editor.completer.completer.popup(), Qt.Key.Key_Left)
    assert offered(editor)[0] == "Bell"  # still in the link
    place(editor, "Skarn")
    assert offered(editor) == []
    place(editor, "[[Bell", end=True)
    editor.body.textCursor().insertText("e")  # not typed: taken from elsewhere
    assert offered(editor)[:1] == ["Bell"] or offered(editor) == []
    QTest.keyClick(editor.body, Qt.Key.Key_Backspace)
    assert offered(editor)[0] == "Bell"
    QTest.keyClicks(editor.body, "]")
    assert offered(editor)[:1] in ([], ["Bell"])
    QTest.keyClicks(editor.body, "] ")
    assert offered(editor) == []


def test_a_text_that_changes_without_the_keyboard_offers_nothing(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " ")
    editor.form.add_button.setFocus()
    editor.body.textCursor().insertText("[[")
    assert offered(editor) == []
    before = editor.buffer.text
    editor.completer.take(99)
    editor.completer.take(-1)
    assert editor.buffer.text == before


def test_two_brackets_over_a_selection_offer_what_it_may_lead_to(make_editor, qtbot) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "The dawn breaks."))
    editor.show()
    editor.body.setFocus()
    editor.body.setTextCursor(editor.body.document().find("dawn"))
    qtbot.keyClicks(editor.body, "[[")
    assert offered(editor)[0] == "Dawnkeep"
    qtbot.keyClick(editor.completer.completer.popup(), Qt.Key.Key_Return)
    assert editor.buffer.text == PLAIN.replace("A dragon.", "The [[Dawnkeep]] breaks.")
