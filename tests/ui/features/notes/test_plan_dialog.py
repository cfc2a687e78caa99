"""What a plan would do to each file, said before it is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.vault_notes import Planned
from lorestudio.ui.features.notes.plan_dialog import ChangeView

if TYPE_CHECKING:
    from lorestudio.ui.shell.theme import Theme

VAULT = Path("/vault")


def test_each_file_says_what_becomes_of_it(theme: Theme) -> None:
    view = ChangeView(theme)
    changes = (
        NoteFileChange(VAULT / "New.md", None, "text"),
        NoteFileChange(VAULT / "Gone.md", "text", None),
        NoteFileChange(VAULT / "Old.md", "text", "text", VAULT / "Better.md"),
        NoteFileChange(VAULT / "Same.md", "one", "two"),
    )
    view.show_plan(Planned(ChangeSet("All", changes), ("A link breaks.",)), (VAULT,))
    tips = [view.files.item(row).toolTip() for row in range(view.files.count())]
    assert tips == ["New.md is made", "Gone.md goes to the trash", "Old.md becomes Better.md", "Same.md"]
    assert [view.files.item(row).text() for row in range(4)] == ["New.md", "Gone.md", "Better.md", "Same.md"]
    assert view.summary.text() == "4 notes change."
    assert view.remarks.toPlainText() == "A link breaks."
    view.say("Nothing to do.")
    assert (view.files.count(), view.split.isHidden(), view.remarks.isHidden()) == (0, True, True)
    view.deleteLater()
