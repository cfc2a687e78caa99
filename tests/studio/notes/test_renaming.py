from __future__ import annotations

from pathlib import Path

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.changes.change_set import changed_references
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.renaming import NewName, OldKey, plan_move, plan_move_folder, plan_rename
from lorestudio.studio.notes.vault_notes import VaultNotes
from lorestudio.vault.files import VaultError
from tests.studio.note_worlds import applied, contents, write_vault


def renamed(tmp_path: Path, notes: dict[str, str], note: str, wanted: NewName) -> dict[str, str]:
    """The whole vault after renaming one note; what stayed as it was is left out."""
    vault = write_vault(tmp_path / "vault", notes)
    after = applied(plan_rename([vault], vault.path(note), wanted), vault)
    return {name: text for name, text in after.items() if notes.get(name) != text}


def test_heading_and_file_that_say_the_same_both_change_and_every_style_of_link_stays(tmp_path: Path) -> None:
    links = (
        "[[Skarn]] [[skarn|he]] [[Skarn#Death]] [[Skarn#Death|he]] ![[Skarn]] [[beasts/Skarn]] [[beasts/Skarn.md|x]]\n"
        "[he](beasts/Skarn.md) [he](<beasts/Skarn.md#Death>) ![he](./beasts/Skarn.md) [[Other]] Skarn [[Skarn 2]]\n"
    )
    after = renamed(
        tmp_path,
        {"beasts/Skarn.md": "---\nkeys: [Skarn]\n---\n# Skarn\n\n## Death\n", "Tale.md": links, "Other.md": "Skarn"},
        "beasts/Skarn.md",
        NewName("Old Skarn"),
    )
    assert after == {
        "beasts/Old Skarn.md": "---\nkeys: [Skarn]\n---\n# Old Skarn\n\n## Death\n",
        "Tale.md": (
            "[[Old Skarn]] [[Old Skarn|he]] [[Old Skarn#Death]] [[Old Skarn#Death|he]] ![[Old Skarn]] "
            "[[beasts/Old Skarn]] [[beasts/Old Skarn.md|x]]\n"
            "[he](beasts/Old%20Skarn.md) [he](<beasts/Old Skarn.md#Death>) ![he](./beasts/Old%20Skarn.md) "
            "[[Other]] Skarn [[Skarn 2]]\n"
        ),
    }


def test_a_title_in_the_heading_alone_leaves_the_file_and_links_by_its_name(tmp_path: Path) -> None:
    after = renamed(
        tmp_path,
        {
            "the-archive.md": "# The Archive\n",
            "Tale.md": "[[The Archive]] [[the archive|it]] [[the-archive]] [x](the-archive.md)\n",
        },
        "the-archive.md",
        NewName("The Library"),
    )
    assert after == {
        "the-archive.md": "# The Library\n",
        "Tale.md": "[[The Library]] [[The Library|it]] [[the-archive]] [x](the-archive.md)\n",
    }


@pytest.mark.parametrize(
    ("way", "keys"),
    [
        (OldKey.KEEP, "[the red one, Skarn, Crown]"),
        (OldKey.JOIN, "[the red one, Skarn, Old Skarn, Crown]"),
        (OldKey.REPLACE, "[the red one, Old Skarn, Crown]"),
    ],
)
def test_a_key_that_says_the_old_title_does_what_was_chosen(tmp_path: Path, way: OldKey, keys: str) -> None:
    text = "---\nkeys: {}\n# a comment\n---\n# skarn\n"
    notes = {"Skarn.md": text.format("[the red one, Skarn, Crown]")}
    after = renamed(tmp_path, notes, "Skarn.md", NewName("Old Skarn", old_key=way))
    assert after == {"Old Skarn.md": text.format(keys).replace("# skarn", "# Old Skarn")}


def test_no_key_says_the_old_title_so_none_is_touched(tmp_path: Path) -> None:
    notes = {"Skarn.md": "---\nkeys: [the red one]\n---\n# Skarn\n"}
    after = renamed(tmp_path, notes, "Skarn.md", NewName("Old Skarn", old_key=OldKey.REPLACE))
    assert after == {"Old Skarn.md": "---\nkeys: [the red one]\n---\n# Old Skarn\n"}


@pytest.mark.parametrize(("old", "new"), [("skarn", "old skarn"), ("Skarn", "Old Skarn"), ("SKARN", "Old Skarn")])
def test_a_file_in_other_capital_letters_goes_along(tmp_path: Path, old: str, new: str) -> None:
    after = renamed(tmp_path, {f"{old}.md": "# Skarn\n", "A.md": "[[Skarn]]"}, f"{old}.md", NewName("Old Skarn"))
    assert after == {f"{new}.md": "# Old Skarn\n", "A.md": "[[Old Skarn]]"}


def test_a_title_property_that_says_the_same_goes_along(tmp_path: Path) -> None:
    notes = {"lamp-note.md": "---\ntitle: 'Lamp' \n---\n# Lamp\n", "b.md": "---\ntitle: Lamp\n---\n# Bell\n"}
    after = renamed(tmp_path, notes, "lamp-note.md", NewName("Torch"))
    assert after == {"lamp-note.md": "---\ntitle: 'Torch' \n---\n# Torch\n"}


def test_one_remark_tells_of_many_notes(tmp_path: Path) -> None:
    notes = {"Lamp.md": "# Lamp\n"} | {f"{number}.md": "[[Lamp]] and [[Lamp]]" for number in range(5)}
    vault = write_vault(tmp_path / "vault", notes)
    (remark,) = plan_rename([vault], vault.path("Lamp.md"), NewName(name="note")).remarks
    assert remark.endswith("In 0.md, 1.md, 2.md and 2 more.")


def test_without_a_heading_the_file_carries_the_title(tmp_path: Path) -> None:
    after = renamed(tmp_path, {"Lamp.md": "A lamp.", "Tale.md": "[[Lamp]]"}, "Lamp.md", NewName("Torch"))
    assert after == {"Torch.md": "A lamp.", "Tale.md": "[[Torch]]"}


def test_fields_keep_their_style_and_get_quotes_where_they_need_them(tmp_path: Path) -> None:
    after = renamed(
        tmp_path,
        {
            "Lamp.md": "# Lamp\n",
            "A.md": "---\nrequires: [Lamp, Bell]\nexcludes:\n  - bell # x\n  - lamp\ncascade_links: Lamp\n---\n",
            "B.md": "---\r\nrequires:\r\n- \"[[Lamp|the lamp]]\"\r\n- 'Lamp'\r\nup: '[[Lamp]]'\r\n---\r\nLamp\r\n",
        },
        "Lamp.md",
        NewName("Wren's, Lamp"),
    )
    assert after["Wren's, Lamp.md"] == "# Wren's, Lamp\n"
    assert after["B.md"] == (
        "---\r\nrequires:\r\n- \"[[Wren's, Lamp|the lamp]]\"\r\n- Wren's, Lamp\r\n"
        "up: '[[Wren''s, Lamp]]'\r\n---\r\nLamp\r\n"
    )
    assert after["A.md"] == (
        "---\nrequires: [\"Wren's, Lamp\", Bell]\nexcludes:\n  - bell # x\n  - Wren's, Lamp\n"
        "cascade_links: Wren's, Lamp\n---\n"
    )


def test_deeplore_reads_the_fields_as_meant_afterwards(tmp_path: Path) -> None:
    vault = write_vault(
        tmp_path / "vault",
        {"Lamp.md": "# Lamp\n", "A.md": "---\nrequires: [Lamp, 'Bell, old']\nexcludes:\n  - Lamp\n---\n"},
    )
    applied(plan_rename([vault], vault.path("Lamp.md"), NewName("A: b, 'c'", name="Lamp")), vault)
    after = write_vault(tmp_path / "vault", {})
    assert [link.target.filename for link in after.index.outgoing("A.md")] == ["Lamp.md", None, "Lamp.md"]
    assert [link.reference.target for link in after.index.outgoing("A.md")] == ["A: b, 'c'", "Bell, old", "A: b, 'c'"]


def test_line_ends_and_byte_order_marks_stay(tmp_path: Path) -> None:
    after = renamed(
        tmp_path,
        {"Lamp.md": "\ufeff# Lamp\r\nx\r\n", "A.md": "\ufeff---\r\nrequires: [Lamp]\r\n---\r\n[[Lamp]]\r\n"},
        "Lamp.md",
        NewName("Torch"),
    )
    assert after == {
        "Torch.md": "\ufeff# Torch\r\nx\r\n",
        "A.md": "\ufeff---\r\nrequires: [Torch]\r\n---\r\n[[Torch]]\r\n",
    }


def test_code_and_comments_follow_as_deeplore_counts_links_there(tmp_path: Path) -> None:
    after = renamed(
        tmp_path,
        {"Lamp.md": "", "A.md": "`[[Lamp]]` %% [[Lamp]] %% `![[Lamp]]` `[x](Lamp.md)`"},
        "Lamp.md",
        NewName("Torch"),
    )
    assert after["A.md"] == "`[[Torch]]` %% [[Torch]] %% `![[Lamp]]` `[x](Lamp.md)`"


def test_a_link_in_a_heading_keeps_what_is_read_there(tmp_path: Path) -> None:
    after = renamed(
        tmp_path,
        {"Lamp.md": "", "A.md": "# Home of [[Lamp]] and [[Lamp|it]]\n", "B.md": "[[Home of Lamp and it]]"},
        "Lamp.md",
        NewName("Torch"),
    )
    assert after["A.md"] == "# Home of [[Torch|Lamp]] and [[Torch|it]]\n"
    assert "B.md" not in after


def test_links_to_the_heading_that_changes(tmp_path: Path) -> None:
    after = renamed(
        tmp_path,
        {"lamp.md": "# The Lamp\n[[#The Lamp]]\n", "A.md": "[[lamp#The Lamp]] [x](lamp.md#The%20Lamp) [[lamp#Oil]]"},
        "lamp.md",
        NewName("Old Torch"),
    )
    assert after == {
        "lamp.md": "# Old Torch\n[[#Old Torch]]\n",
        "A.md": "[[lamp#Old Torch]] [x](lamp.md#Old%20Torch) [[lamp#Oil]]",
    }


def test_a_file_alone_gets_another_name_and_deeplores_links_stay_with_the_title(tmp_path: Path) -> None:
    vault = write_vault(
        tmp_path / "vault", {"Lamp.md": "# Lamp\n", "A.md": "[[Lamp]] [[lamp#x]] ![[Lamp]] [x](Lamp.md)"}
    )
    planned = plan_rename([vault], vault.path("Lamp.md"), NewName(name="lamp-note"))
    assert applied(planned, vault) == {
        "lamp-note.md": "# Lamp\n",
        "A.md": "[[Lamp]] [[lamp-note#x]] ![[lamp-note]] [x](lamp-note.md)",
    }
    (remark,) = planned.remarks
    assert remark.startswith("“Lamp” goes on to lead to lamp-note.md in DeepLore")
    assert remark.endswith("In A.md.")


def test_a_name_that_another_file_has_elsewhere_gets_its_path(tmp_path: Path) -> None:
    after = renamed(
        tmp_path,
        {"a/Lamp.md": "a", "b/Torch.md": "# Other\n", "T.md": "![[Lamp]] ![[Torch]] [[Lamp#x]]"},
        "a/Lamp.md",
        NewName(name="Torch"),
    )
    # b/Torch.md was the only Torch; with a/Torch.md beside it, both need their folders.
    assert after == {"a/Torch.md": "a", "T.md": "![[a/Torch]] ![[b/Torch]] [[a/Torch#x]]"}


def test_only_capital_letters(tmp_path: Path) -> None:
    after = renamed(tmp_path, {"lamp.md": "x", "A.md": "[[lamp]] [[LAMP]]"}, "lamp.md", NewName("Lamp"))
    assert after == {"Lamp.md": "x", "A.md": "[[Lamp]] [[Lamp]]"}


def test_moving_rewrites_paths_as_they_are_written(tmp_path: Path) -> None:
    notes = {
        "a/Lamp.md": "[x](Bell.md) [y](../Tale.md) ![z](pic.png) [[Bell]] [[a/Bell]] [[./Bell]] ![[pic.png]]",
        "a/Bell.md": "[x](Lamp.md) [y](./Lamp.md) [[./Lamp|z]] [[Lamp]]",
        "Tale.md": "[x](a/Lamp.md) [[a/Lamp]] [[Lamp]] [[/a/Lamp]]",
        "a/pic.png": "",
    }
    after = renamed(tmp_path, notes, "a/Lamp.md", NewName(folder="b/c"))
    assert after == {
        "b/c/Lamp.md": (
            "[x](../../a/Bell.md) [y](../../Tale.md) ![z](../../a/pic.png) [[Bell]] [[a/Bell]] [[../../a/Bell]] "
            "![[pic.png]]"
        ),
        "a/Bell.md": "[x](../b/c/Lamp.md) [y](../b/c/Lamp.md) [[../b/c/Lamp|z]] [[Lamp]]",
        "Tale.md": "[x](b/c/Lamp.md) [[b/c/Lamp]] [[Lamp]] [[/b/c/Lamp]]",
    }


def test_moving_several_keeps_the_links_between_them(tmp_path: Path) -> None:
    vault = write_vault(
        tmp_path / "vault",
        {"a/A.md": "[x](B.md) [[a/B]] [y](../C.md)", "a/B.md": "[x](A.md)", "C.md": "[x](a/A.md)", "d/D.md": ""},
    )
    planned = plan_move([vault], [vault.path("a/A.md"), vault.path("a/B.md"), vault.path("d/D.md")], "d")
    assert planned.changes.title == "Move 2 notes to d"
    assert applied(planned, vault) == {
        "d/A.md": "[x](B.md) [[d/B]] [y](../C.md)", "d/B.md": "[x](A.md)", "C.md": "[x](d/A.md)", "d/D.md": "",
    }  # fmt: skip


def test_a_folder_moves_with_the_folders_in_it_and_the_links_follow(tmp_path: Path) -> None:
    notes = {"a/A.md": "[x](b/B.md) [y](../C.md)", "a/b/B.md": "[[a/A]]", "ab/D.md": "", "C.md": "[x](a/b/B.md) [[B]]"}
    vault = write_vault(tmp_path / "vault", notes)
    planned = plan_move_folder([vault], vault.folder, "a", "old/c")
    assert (planned.changes.title, planned.remarks) == ("Move the folder a to old/c", ())
    assert applied(planned, vault) == {
        "old/c/A.md": "[x](b/B.md) [y](../../C.md)", "old/c/b/B.md": "[[old/c/A]]", "ab/D.md": "",
        "C.md": "[x](old/c/b/B.md) [[B]]",
    }  # fmt: skip
    for place in ("a", "a/b/c", ".."):
        with pytest.raises(InputError):
            plan_move_folder([vault], vault.folder, "a", place)
    with pytest.raises(InputError, match="To change capital letters alone, give it a third name first"):
        plan_move_folder([vault], vault.folder, "a", "A")


PICTURE = bytes(range(256)) + b"\r\n\xef\xbb\xbf"
WITH_PICTURES = {
    "a/A.md": "![[map.png]] ![](b/map.png) ![[a/b/map.png]]",
    "C.md": "![[a/b/map.png|40]] ![](a/b/map.png) ![[map.png]]",
}  # fmt: skip


def card(folder: str) -> bytes:
    """A canvas that names a picture and a note of the folder."""
    text = '{"nodes":[{"type":"file","file":"FOLDER/b/map.png"},{"type":"text","text":"[[FOLDER/A]]"}]}'
    return text.replace("FOLDER", folder).encode()


def with_pictures(tmp_path: Path) -> VaultNotes:
    """A vault with a picture and a canvas in the folder `a`."""
    vault = write_vault(tmp_path / "vault", WITH_PICTURES)
    vault.path("a/b").mkdir()
    vault.path("a/b/map.png").write_bytes(PICTURE)
    vault.path("a/b/Plot.canvas").write_bytes(card("a"))
    return write_vault(vault.folder, {})


def test_pictures_and_canvases_move_along_with_a_folder_and_come_back(tmp_path: Path) -> None:
    vault = with_pictures(tmp_path)
    before = {path: path.read_bytes() for path in vault.folder.rglob("*.*")}
    planned = plan_move_folder([vault], vault.folder, "a", "old/c")
    assert planned.remarks == ()
    log = ChangeLog(tmp_path / "kept", [vault.folder])
    log.apply(planned.changes)
    assert {path.relative_to(vault.folder).as_posix(): path.read_bytes() for path in vault.folder.rglob("*.*")} == {
        "old/c/A.md": b"![[map.png]] ![](b/map.png) ![[old/c/b/map.png]]",
        "C.md": b"![[old/c/b/map.png|40]] ![](old/c/b/map.png) ![[map.png]]",
        "old/c/b/map.png": PICTURE,
        "old/c/b/Plot.canvas": card("old/c"),
    }
    log = ChangeLog(tmp_path / "kept", [vault.folder])  # as after a restart
    log.undo()
    assert {path: path.read_bytes() for path in vault.folder.rglob("*.*")} == before
    log.redo()
    assert vault.path("old/c/b/map.png").read_bytes() == PICTURE


def test_what_is_too_large_for_the_undo_stays_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = with_pictures(tmp_path)
    monkeypatch.setattr("lorestudio.studio.notes.renaming._MOST_BESIDE", 200)
    planned = plan_move_folder([vault], vault.folder, "a", "c")
    told = "What is no note stays in a, as it is too large to be kept for the undo: a/b/Plot.canvas, a/b/map.png."
    assert planned.remarks == (told,)
    assert [change.place.name for change in planned.changes.changes if change.new_path] == ["A.md"]


def test_a_picture_of_that_name_is_not_written_over(tmp_path: Path) -> None:
    vault = with_pictures(tmp_path)
    vault.path("c/b").mkdir(parents=True)
    vault.path("c/b/map.png").write_bytes(b"other")
    with pytest.raises(InputError, match=r"c/b/map\.png"):
        plan_move_folder([vault], vault.folder, "a", "c")


@pytest.mark.parametrize("plan", [
    lambda vault: plan_move([vault], [vault.path("B.md")], "places"),
    lambda vault: plan_rename([vault], vault.path("B.md"), NewName(folder="places")),
])  # fmt: skip
def test_a_folder_in_other_capitals_is_the_one_that_is_there(tmp_path: Path, plan) -> None:
    vault = write_vault(tmp_path / "vault", {"Places/A.md": "", "B.md": "# B\n"})
    assert set(applied(plan(vault), vault)) == {"Places/A.md", "Places/B.md"}


def test_moving_to_the_vaults_own_folder(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"a/A.md": "[x](../C.md)", "C.md": "[x](a/A.md) [[a/A#h]]"})
    planned = plan_move([vault], [vault.path("a/A.md")], "")
    assert planned.changes.title == "Move A to the vault's own folder"
    assert applied(planned, vault) == {"A.md": "[x](C.md)", "C.md": "[x](A.md) [[A#h]]"}


def test_titles_are_followed_into_other_vaults(tmp_path: Path) -> None:
    home = write_vault(tmp_path / "one", {"Lamp.md": "x"})
    other = write_vault(
        tmp_path / "two", {"A.md": "---\nrequires: [lamp]\n---\n[[Lamp]] ![[Lamp]]", "B.md": "[[Bell]]", "Bell.md": ""}
    )
    after = applied(plan_rename([home, other], home.path("Lamp.md"), NewName("Torch")), home, other)
    assert after["A.md"] == "---\nrequires: [Torch]\n---\n[[Torch]] ![[Lamp]]"
    assert after["B.md"] == "[[Bell]]"


def test_plain_text_that_goes_on_saying_the_old_title_is_told(tmp_path: Path) -> None:
    notes = {
        "Rook.md": "---\nkeys: [Rook]\n---\n# Rook\n\nRook smokes. Rookery. A rook.\n",
        "Ilse.md": "[[Rook]] met Rook, (Rook).", "Pell.md": "[[Rook]].",
    }  # fmt: skip
    vault = write_vault(tmp_path / "vault", notes)
    for title in ("Crane", "Old Rook"):
        planned = plan_rename([vault], vault.path("Rook.md"), NewName(title))
        assert planned.remarks == ("Plain text still says “Rook” 3 times, in 2 notes: search for it to replace it.",)
    assert plan_rename([vault], vault.path("Pell.md"), NewName("Mell")).remarks == ()


def test_undone_it_is_as_before(tmp_path: Path) -> None:
    notes = {"a/Lamp.md": "# Lamp\n", "A.md": "---\nrequires: [Lamp]\n---\n[[Lamp]]"}
    vault = write_vault(tmp_path / "vault", notes)
    planned = plan_rename([vault], vault.path("a/Lamp.md"), NewName("Torch", folder="b"))
    assert applied(planned, vault) != notes
    applied(type(planned)(planned.changes.inverse), vault)
    assert contents(vault) == notes


@pytest.mark.parametrize("char", list('*"\\/<>:|?#^[]'))
def test_signs_that_no_file_may_have(tmp_path: Path, char: str) -> None:
    vault = write_vault(tmp_path / "vault", {"Lamp.md": "x"})
    with pytest.raises(InputError) as caught:
        plan_rename([vault], vault.path("Lamp.md"), NewName(f"To{char}rch"))
    assert char in caught.value.message


@pytest.mark.parametrize("char", list("|#^[]"))
def test_signs_that_no_link_could_name(tmp_path: Path, char: str) -> None:
    vault = write_vault(tmp_path / "vault", {"lamp-note.md": "# Lamp\n"})
    with pytest.raises(InputError, match="title"):
        plan_rename([vault], vault.path("lamp-note.md"), NewName(f"To{char}rch"))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (NewName(), "is called so already"),
        (NewName("Lamp"), "is called so already"),
        (NewName("  "), "needs a title"),
        (NewName("A\nb"), "one line"),
        (NewName("Bell"), "a file of this name already"),
        (NewName("bELL"), "the same name on some systems"),
        (NewName("STRASSE"), "the same name on some systems"),
        (NewName("Gong"), "has this title already"),
        (NewName("con"), "Windows keeps this name"),
        (NewName(".hidden"), "dot"),
        (NewName("Etc."), "end with a dot"),
        (NewName("x" * 260), "longer than"),
        (NewName("Torch.md"), "without .md"),
        (NewName(folder="../elsewhere"), "inside the vault"),
        (NewName(folder="a:b"), "cannot stand in"),
        (NewName("Torch", name="other"), "has no heading"),
    ],
)
def test_names_that_cannot_be_had(tmp_path: Path, wanted: NewName, message: str) -> None:
    notes = {"Lamp.md": "x", "Bell.md": "# Old Bell\n", "c/gong-note.md": "# Gong\n", "Straße.md": "# Road\n"}
    vault = write_vault(tmp_path / "vault", notes)
    with pytest.raises(InputError, match=message):
        plan_rename([vault], vault.path("Lamp.md"), wanted)
    assert contents(vault) == notes


def test_moving_onto_a_file_or_nowhere(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"a/A.md": "", "b/A.md": "", "c/a.md": ""})
    with pytest.raises(InputError, match="a file of this name already"):
        plan_move([vault], [vault.path("a/A.md")], "b")
    with pytest.raises(InputError, match="would have the same name"):
        plan_move([vault], [vault.path("a/A.md"), vault.path("c/a.md")], "d")
    with pytest.raises(InputError, match="already"):
        plan_move([vault], [vault.path("a/A.md")], "a")
    with pytest.raises(InputError, match="no note is chosen"):
        plan_move([vault], [], "a")


def test_a_note_that_is_not_of_the_vaults(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": ""})
    with pytest.raises(InputError, match="no note of the open vaults"):
        plan_rename([vault], tmp_path / "B.md", NewName("C"))


def test_what_is_on_disk_counts_and_not_what_was_read(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"Lamp.md": "x", "A.md": "[[Lamp]]"})
    vault.path("A.md").write_text("New words. [[Lamp]]")
    after = applied(plan_rename([vault], vault.path("Lamp.md"), NewName("Torch")), vault)
    assert after["A.md"] == "New words. [[Torch]]"
    vault.path("A.md").unlink()
    vault.path("Torch.md").rename(vault.path("Lamp.md"))
    with pytest.raises(VaultError, match=r"A\.md"):
        plan_rename([vault], vault.path("Lamp.md"), NewName("Torch"))


def test_notes_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault", {"Lamp.md": "x"})
    for name, words in {"Bad": b"[x](L%61mp.md)", "Other": b"[[Moth]]", "Wide": "[[Lamp]]".encode("utf-16")}.items():
        (tmp_path / "vault" / f"{name}.md").write_bytes(words + b" \xff")
    (tmp_path / "vault" / "loop").symlink_to(tmp_path)
    vault = write_vault(tmp_path / "vault", {})
    planned = plan_rename([vault], vault.path("Lamp.md"), NewName("Torch"))
    told = [remark.partition(",")[0] for remark in planned.remarks]
    assert told == ["Bad.md cannot be read", "Wide.md cannot be read"]


def test_a_field_that_cannot_be_written_is_told_and_the_rest_is_done(tmp_path: Path) -> None:
    title = "Torch \uffff"  # YAML has no such character
    vault = write_vault(tmp_path / "vault", {"lamp-note.md": "# Lamp\n", "A.md": "---\nrequires: Lamp\n---\n[[Lamp]]"})
    planned = plan_rename([vault], vault.path("lamp-note.md"), NewName(title))
    (remark,) = planned.remarks
    assert remark.startswith("“requires” was not changed")
    assert remark.endswith("In A.md.")
    assert applied(planned, vault)["A.md"] == f"---\nrequires: Lamp\n---\n[[{title}]]"


def test_what_is_expected_of_a_note_follows_its_name_and_stays_to_the_letter(tmp_path: Path) -> None:
    expected = (
        "# ours\nexpectations:\n"
        "  - {note: places/Lamp.md, should: be in}  # by its file\n"
        "  - notes: ['lamp', Tide]\n    should: never be together\n"
        "  - note: vault:places/Lamp.md\n    should: not be in\n    because: Lamp is not lit yet\n"
        "  - {notes: constants, should: take at most, tokens: 80}\n"
    )
    vault = write_vault(tmp_path / "vault", {"places/Lamp.md": "# Lamp\n", "Tide.md": "# Tide\n"})
    file = tmp_path / "vault" / "lorestudio-expectations.yaml"
    file.write_text(expected, encoding="utf-8")
    planned = plan_rename([vault], vault.path("places/Lamp.md"), NewName("Lamp, old"))
    (change,) = (each for each in planned.changes.changes if each.path == file)
    assert change.after == expected.replace("{note: places/Lamp.md", '{note: "places/Lamp, old.md"').replace(
        "'lamp'", '"Lamp, old"'
    ).replace("note: vault:places/Lamp.md", 'note: "vault:places/Lamp, old.md"')


def test_what_is_expected_of_one_of_two_notes_with_accents_encoded_otherwise_stays_when_the_other_is_renamed(
    tmp_path: Path,
) -> None:
    vault = write_vault(tmp_path / "vault", {"places/Cafe\u0301.md": "# One\n", "places/Caf\u00e9.md": "# Two\n"})
    file = tmp_path / "vault" / "lorestudio-expectations.yaml"
    file.write_text("expectations:\n  - {note: places/Caf\u00e9.md, should: be in}\n", encoding="utf-8")
    planned = plan_rename([vault], vault.path("places/Cafe\u0301.md"), NewName("Tea"))
    assert [each.path for each in planned.changes.changes if each.path == file] == []


@pytest.mark.parametrize("name", ["places/Caf\u00e9.md", "caf\u00e9"])
def test_what_is_expected_follows_a_note_whose_accents_are_encoded_otherwise(tmp_path: Path, name: str) -> None:
    vault = write_vault(tmp_path / "vault", {"places/Cafe\u0301.md": "# Cafe\u0301\n"})
    file = tmp_path / "vault" / "lorestudio-expectations.yaml"
    file.write_text(f"expectations:\n  - {{note: {name}, should: be in}}\n", encoding="utf-8")
    planned = plan_rename([vault], vault.path("places/Cafe\u0301.md"), NewName("Tea"))
    (after,) = (each.after for each in planned.changes.changes if each.path == file)
    assert after == f"expectations:\n  - {{note: {'places/Tea.md' if '/' in name else 'Tea'}, should: be in}}\n"


def test_what_is_expected_names_the_second_vault_of_one_name_as_the_project_does(tmp_path: Path) -> None:
    for above in ("old", "new"):
        (tmp_path / above).mkdir()
    vaults = [write_vault(tmp_path / above / "Lore", {"Lamp.md": "# Lamp\n"}) for above in ("old", "new")]
    file = tmp_path / "old" / "Lore" / "lorestudio-expectations.yaml"
    file.write_text("expectations:\n  - {note: 'Lore (new):Lamp.md', should: be in}\n", encoding="utf-8")
    planned = plan_rename(vaults, vaults[1].path("Lamp.md"), NewName("Tide"))
    (change,) = (each for each in planned.changes.changes if each.path == file)
    assert change.after == 'expectations:\n  - {note: "Lore (new):Tide.md", should: be in}\n'


def test_expectations_that_cannot_be_read_do_not_stop_a_rename(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"Lamp.md": "# Lamp\n"})
    (tmp_path / "vault" / "lorestudio-expectations.yaml").write_text("expectations: [", encoding="utf-8")
    (remark,) = plan_rename([vault], vault.path("Lamp.md"), NewName("Lantern")).remarks
    assert "keeps their old names" in remark


CANVAS = (
    '{\n\t"nodes":[\n\t\t{"id":"a{\\"","type":"file","file":"places/Lamp.md","subpath":"#Lamp","x":-1.0},\n'
    '\t\t{"id":"b","type":"text","text":"\\u00fcber [[Lamp|it]]\\n![[Lamp#Lamp]] `[[Lamp]]`","styleAttributes":{}},\n'
    '\t\t{"id":"c","type":"file","file":"places/Lamp.md.png"},{"id":"d","label":"places/Lamp.md","type":"group"},\n'
    '\t\t{"id":"e","type":"text","text":"no \\"[[link]]\\", \\/ and [[Tide]]"}\n\t],\n\t"edges":[ ]\n}'
)
"""Cards that show the note and link to it, and others; with whatever JSON has besides."""


def with_canvas(tmp_path: Path, text: str = CANVAS) -> tuple[VaultNotes, Path]:
    vault = write_vault(tmp_path / "vault", {"places/Lamp.md": "# Lamp\n", "Tide.md": "# Tide\n"})
    board = vault.path("boards/Plot.canvas")
    board.parent.mkdir()
    board.write_text(text, encoding="utf-8", newline="")
    return vault, board


def test_a_canvas_follows_and_stays_to_the_letter_otherwise(tmp_path: Path) -> None:
    vault, board = with_canvas(tmp_path)
    planned = plan_rename([vault], vault.path("places/Lamp.md"), NewName("Lämp"))
    assert changed_references(planned.changes) == (3, 1)  # the file and two links; what is in code is no link
    after = applied(planned, vault)["boards/Plot.canvas"]
    assert after == CANVAS.replace('"places/Lamp.md"', '"places/Lämp.md"', 1).replace('"#Lamp"', '"#Lämp"').replace(
        "[[Lamp|it]]\\n![[Lamp#Lamp]]", "[[L\\u00e4mp|it]]\\n![[L\\u00e4mp#L\\u00e4mp]]"
    )
    ChangeLog(tmp_path / "kept", [vault.folder]).undo()
    assert board.read_text(encoding="utf-8") == CANVAS


def test_a_canvas_follows_into_another_folder(tmp_path: Path) -> None:
    vault, _ = with_canvas(tmp_path)
    after = applied(plan_move([vault], [vault.path("places/Lamp.md")], "lights"), vault)
    assert after["boards/Plot.canvas"] == CANVAS.replace('"places/Lamp.md"', '"lights/Lamp.md"', 1)


@pytest.mark.parametrize("text", ["", "{}", "\ufeff{}"])
def test_an_empty_canvas_names_nothing(tmp_path: Path, text: str) -> None:
    vault, _ = with_canvas(tmp_path, text)
    planned = plan_rename([vault], vault.path("places/Lamp.md"), NewName("Lantern"))
    assert (planned.remarks, [each.path for each in planned.changes.changes]) == ((), [vault.path("places/Lamp.md")])


@pytest.mark.parametrize("data", [b'{"nodes":[', b"\xff", b"}"])
def test_a_canvas_that_cannot_be_read_is_told_and_the_note_is_renamed(tmp_path: Path, data: bytes) -> None:
    vault, board = with_canvas(tmp_path)
    board.write_bytes(data)
    planned = plan_rename([vault], vault.path("places/Lamp.md"), NewName("Lantern"))
    (remark,) = planned.remarks
    assert remark.startswith("It cannot be read, so it keeps what it names")
    assert remark.endswith("In boards/Plot.canvas.")
    ChangeLog(tmp_path / "kept", [vault.folder]).apply(planned.changes)
    assert (vault.path("places/Lantern.md").exists(), board.read_bytes()) == (True, data)
