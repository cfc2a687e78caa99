"""Whatever the vault is: after a rename or move every reference leads where it led, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.renaming import NewName, plan_move, plan_rename
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, read_vault_notes
from lorestudio.vault.links.references import references
from tests.examples import examples
from tests.studio.note_worlds import applied, write_vault

FOLDERS = ["", "a/", "a/b/", "c/"]
NAMES = ["Lamp", "Bell", "old lamp", "Jörn", "T.1"]
TITLES = ["Lamp", "The Bell", "Jörn", "Lamp, old"]
LINKS = [
    "[[{0}]]", "[[{0}|x]]", "[[{0}#h]]", "![[{0}]]", "[x]({1}.md)", "[x](./{1}.md)", "[x](../{1}.md#h)", "[[a/{0}]]",
    "[[/a/b/{0}]]", "[[../{0}]]", "[[./{0}.md]]", "[x](<a/{0}.md>)", "[x](a/b/{1})", "`[[{0}]]`",
]  # fmt: skip


@st.composite
def vaults(draw: st.DrawFn) -> dict[str, str]:
    """Notes with links and references to each other, to nobody and to themselves."""
    paths = draw(
        st.lists(st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)), min_size=1, max_size=5, unique=True)
    )
    notes = {}
    for folder, name in paths:
        heading = draw(st.one_of(st.none(), st.just(name), st.sampled_from(TITLES)))
        words = draw(st.lists(st.tuples(st.sampled_from(LINKS), st.sampled_from([*NAMES, *TITLES])), max_size=5))
        body = " ".join(link.format(target, target.replace(" ", "%20")) for link, target in words)
        items = draw(st.lists(st.sampled_from([*NAMES, *TITLES]), max_size=2))
        front = "---\nrequires:\n" + "".join(f"  - {item}\n" for item in items) + "---\n" if items else ""
        notes[f"{folder}{name}.md"] = f"{front}{'' if heading is None else f'# {heading}'}\n{body}\n"
    return notes


def leads(vault: VaultNotes, name: str) -> list[str | None]:
    """Where each reference of a note leads, in order."""
    found = references(vault.index.notes[name].text)
    return [vault.index.targets.find(reference, name).filename for reference in found]


def leads_in_deeplore(vault: VaultNotes, name: str) -> list[str | None]:
    """Where DeepLore finds each reference of a note, in order."""
    titles = [reference.deeplore_name for reference in references(vault.index.notes[name].text)]
    found = [None if title is None else vault.index.targets.by_title(title) for title in titles]
    return [None if target is None else target.filename for target in found]


def check(notes: dict[str, str], vault: VaultNotes, planned: Planned, renamed: dict[str, str]) -> None:
    after = read_vault_notes(vault.folder)
    told = " ".join(planned.remarks)
    assert after.index.notes.keys() == {renamed.get(name, name) for name in notes}
    for name in notes:
        new = renamed.get(name, name)
        if name in told or " more." in told:
            continue
        for where in (leads, leads_in_deeplore):
            for old_target, new_target in zip(where(vault, name), where(after, new), strict=True):
                if old_target is not None:  # a file that did not exist may do now
                    assert new_target == renamed.get(old_target, old_target), after.index.notes[new].text


def test_a_title_that_two_notes_have_and_that_comes_to_lead_to_the_other(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"a/Jörn.md": "", "a/Bell.md": "# Jörn\n[[Jörn]]\n"})
    planned = plan_rename([vault], vault.path("a/Bell.md"), NewName(name="New"))
    (remark,) = planned.remarks  # New stands behind Jörn in the index
    assert remark.startswith("“Jörn” led to a/Jörn.md in DeepLore and will lead to a/New.md, which has the same title.")


@settings(max_examples=examples(150), deadline=None)
@given(vaults(), st.data())
def test_renaming(notes: dict[str, str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(notes)))
    wanted = data.draw(
        st.one_of(
            st.builds(NewName, title=st.sampled_from(["New", "Lamp", "Bell", "New, too"])),
            st.builds(NewName, name=st.sampled_from(["New", "Bell"])),
            st.builds(NewName, folder=st.sampled_from(["", "a", "a/b", "d"])),
        )
    )
    with TemporaryDirectory() as directory:
        vault = write_vault(Path(directory) / "vault", notes)
        try:
            planned = plan_rename([vault], vault.path(name), wanted)
        except InputError:
            return
        applied(planned, vault)
        new = [change.new_path for change in planned.changes.changes if change.path == vault.path(name)]
        moved = {name: new[0].relative_to(vault.folder).as_posix()} if new and new[0] is not None else {}
        check(notes, vault, planned, moved)


@settings(max_examples=examples(100), deadline=None)
@given(vaults(), st.data())
def test_moving(notes: dict[str, str], data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(notes)), min_size=1, unique=True))
    folder = data.draw(st.sampled_from(["", "a", "a/b", "d/e"]))
    with TemporaryDirectory() as directory:
        vault = write_vault(Path(directory) / "vault", notes)
        try:
            planned = plan_move([vault], [vault.path(name) for name in names], folder)
        except InputError:
            return
        applied(planned, vault)
        check(notes, vault, planned, {name: f"{folder}/{name.rpartition('/')[2]}".lstrip("/") for name in names})
