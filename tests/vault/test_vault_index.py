from __future__ import annotations

from lorestudio.domain.entry import BUILT_IN_FIELDS, Folder, LeftOutNote, NoteProblem
from lorestudio.domain.tokens import CHARS_3_35, CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index

SETTINGS = DeepLoreSettings()
DEFINITIONS = "DeepLore/field-definitions.yaml"


def lore(body: str = "", front: str = "") -> str:
    return f"---\ntags: [lorebook]\n{front}\n---\n{body}"


def vault(name: str, **files: str) -> VaultFiles:
    return VaultFiles(name, tuple(NoteFile(f"{title}.md", text) for title, text in files.items()))


def files(*names_and_texts: tuple[str, str], name: str = "V") -> VaultFiles:
    return VaultFiles(name, tuple(NoteFile(*pair) for pair in names_and_texts))


def test_no_vault() -> None:
    index = build_index([], SETTINGS, CHARS_4)
    assert index.entries == ()
    assert index.fields == BUILT_IN_FIELDS


def test_ids_are_positions_across_vaults() -> None:
    index = build_index([vault("A", b=lore(), a=lore()), vault("B", c=lore())], SETTINGS, CHARS_4)
    assert [(entry.id, entry.vault, entry.title) for entry in index.entries] == [
        (0, "A", "b"), (1, "A", "a"), (2, "B", "c"),
    ]  # fmt: skip
    assert index.vaults == ("A", "B")


def test_tokens_come_from_the_counter() -> None:
    (entry,) = build_index([vault("V", a=lore("x" * 67))], SETTINGS, CHARS_3_35).entries
    assert entry.tokens == 20


def test_links_resolve_to_titles_and_keep_repetitions() -> None:
    notes = vault("V", Foo=lore(), bar=lore(), n=lore("[[foo]] [[FOO]] [[Bar]] [[Foo]] [[Foo#part]] [[gone]]"))
    entry = build_index([notes], SETTINGS, CHARS_4).entries[2]
    assert entry.links == ("foo", "FOO", "Bar", "Foo", "Foo#part", "gone")
    assert entry.resolved_links == ("Foo", "Foo", "bar", "Foo")


def test_the_last_spelling_of_a_title_wins() -> None:
    index = build_index([vault("V", Foo=lore(), FOO=lore(), n=lore("[[foo]]"))], SETTINGS, CHARS_4)
    assert index.entries[2].resolved_links == ("FOO",)


def test_dangling_references_are_taken_out_and_kept_as_written() -> None:
    front = "requires: [A, gone]\nexcludes: [gone]\ncascade_links: [a]"
    entry = build_index([vault("V", n=lore(front=front), A=lore())], SETTINGS, CHARS_4).entries[0]
    assert (entry.requires, entry.written_requires) == (("A",), ("A", "gone"))
    assert (entry.excludes, entry.written_excludes) == ((), ("gone",))
    assert (entry.cascade_links, entry.written_cascade_links) == (("a",), None)


def test_a_guide_counts_as_existing_and_a_disabled_note_does_not() -> None:
    notes = vault(
        "V",
        n=lore(front="requires: [guide, off]"),
        guide="---\ntags: [lorebook-guide]\n---\n",
        off=lore(front="enabled: false"),
    )
    index = build_index([notes], SETTINGS, CHARS_4)
    assert index.entries[0].requires == ("guide",)
    assert [(note.filename, note.problem) for note in index.left_out] == [("off.md", NoteProblem.DISABLED)]


def test_folders_count_what_is_in_and_below_them() -> None:
    names = ("r.md", "b/x.md", "b/c/y.md", "a/z.md", "a/d/z.md", "a/d/w.md")
    index = build_index([files(*((name, lore()) for name in names))], SETTINGS, CHARS_4)
    assert index.folders == (Folder("a", 3), Folder("b", 2), Folder("a/d", 2), Folder("b/c", 1))


def test_only_md_is_a_note() -> None:
    index = build_index([files(("a.MD", lore()), ("b.txt", lore()), ("c.md", lore()))], SETTINGS, CHARS_4)
    assert [entry.filename for entry in index.entries] == ["c.md"]
    assert index.left_out == ()


def test_unreadable_files_stay_visible() -> None:
    broken = LeftOutNote("b.md", "A", NoteProblem.UNREADABLE, "no")
    first = VaultFiles("A", (NoteFile("a.md", "plain"),), (broken,))
    index = build_index([first, vault("B", c="plain")], SETTINGS, CHARS_4)
    assert [(note.vault, note.filename) for note in index.left_out] == [("A", "a.md"), ("A", "b.md"), ("B", "c.md")]


def test_definitions_come_from_the_first_vault_only() -> None:
    text = "fields:\n  - name: {}"
    first = files((DEFINITIONS, text.format("mood")), ("n.md", lore(front="mood: calm\nera: old\nrank: 1")))
    second = files((DEFINITIONS, text.format("rank")), name="W")
    index = build_index([first, second], SETTINGS, CHARS_4)
    assert [field.name for field in index.fields] == ["mood"]
    assert index.entries[0].custom_fields == {"mood": "calm"}
    assert build_index([second, first], SETTINGS, CHARS_4).entries[0].custom_fields == {"rank": "1"}


def test_definition_path_of_the_settings() -> None:
    elsewhere = files(("my fields.yaml", "fields:\n  - name: mood"))
    settings = DeepLoreSettings(field_definitions_path="my fields.yaml")
    assert [field.name for field in build_index([elsewhere], settings, CHARS_4).fields] == ["mood"]
    assert build_index([elsewhere], SETTINGS, CHARS_4).fields == BUILT_IN_FIELDS
    default = files((DEFINITIONS, "fields:\n  - name: mood"))
    settings = DeepLoreSettings(field_definitions_path="")
    assert [field.name for field in build_index([default], settings, CHARS_4).fields] == ["mood"]


def test_definition_file_without_a_usable_field_is_reported() -> None:
    index = build_index([files((DEFINITIONS, "- name: era"))], SETTINGS, CHARS_4)
    assert index.fields == BUILT_IN_FIELDS
    assert len(index.field_errors) == 1
    assert index.field_errors[0].startswith(f"{DEFINITIONS}: ")
    assert build_index([files((DEFINITIONS, "  "))], SETTINGS, CHARS_4).field_errors == ()


def test_conflict_mode_and_ids_after_it() -> None:
    vaults = [vault("A", T=lore("one"), U=lore("[[t]]")), vault("B", t=lore("two"), X=lore())]
    index = build_index(vaults, DeepLoreSettings(multi_vault_conflict_resolution="last"), CHARS_4)
    assert [(entry.id, entry.vault, entry.title) for entry in index.entries] == [
        (0, "B", "t"), (1, "A", "U"), (2, "B", "X"),
    ]  # fmt: skip
    assert index.entries[1].resolved_links == ("t",)
    merged = build_index(vaults, DeepLoreSettings(multi_vault_conflict_resolution="merge"), CHARS_3_35)
    assert merged.entries[0].content == "one\n\n---\n\ntwo"
    assert merged.entries[0].tokens == 4  # a merged text is always counted by four characters


def test_digest_follows_names_and_contents() -> None:
    def digest(*vaults: VaultFiles) -> str:
        return build_index(vaults, SETTINGS, CHARS_4).digest

    base = digest(vault("A", a="x", b="y"))
    assert base == digest(vault("A", a="x", b="y"))
    others = {
        digest(vault("B", a="x", b="y")), digest(vault("A", a="x", c="y")), digest(vault("A", a="x", b="z")),
        digest(vault("A", b="y", a="x")), digest(vault("A", a="x"), vault("A", b="y")), digest(),
    }  # fmt: skip
    assert len(others) == 6
    assert base not in others
