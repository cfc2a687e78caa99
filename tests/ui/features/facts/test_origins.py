"""A memory's past: its own facts come first, those of the same run after them and fainter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lorestudio.systems.facts.picture import FactHappening, Provenance
from lorestudio.systems.facts.records import FactAction, FactDecision
from lorestudio.ui.features.facts.origins import HistoryPage
from tests.systems.facts.world import memory

if TYPE_CHECKING:
    from lorestudio.ui.shell.theme import Theme


def test_own_facts_stand_before_others_of_the_run(theme: Theme) -> None:
    page, picked = HistoryPage(theme), list[str]()
    page.picked.connect(picked.append)
    own = FactDecision("Skarn is old.", FactAction.SAVE, memory="a")
    other = FactDecision("The gate is shut.", FactAction.SKIP, 0.9, "c", "The gate is closed.", memory="c")
    page.show_past(Provenance(memory("a", [1.0, 0.0]), happenings=(FactHappening(own),), others=(other,)))
    texts = [[page.model.index(row, column).data() for column in range(3)] for row in range(page.model.rowCount())]
    assert texts == [["New", "", "Skarn is old."], ["Known already (same run)", "0.900", "The gate is shut."]]
    page.view.pressed.emit(page.model.rows[1])
    assert picked == ["c"]
    assert not page.view.isHidden()
    page.show_past(None, loading=True)
    assert page.model.rowCount() == 0
    assert page.view.isHidden()
    assert page.words.text() == "Looking it up…"
    page.deleteLater()
