"""A lorebook and its notes brought together in the window: what changed where, and who is right."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import spell
from lorestudio.studio.lorebooks.links import BookLink, links_of
from lorestudio.studio.lorebooks.syncing import (
    Gone,
    Prefer,
    SyncChoice,
    SyncItem,
    SyncPlan,
    copy_of_book,
    plan_sync,
)
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.lorebooks.report_view import EntryRow, LoreDialog
from lorestudio.ui.features.notes.conflict_dialog import ConflictDialog
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, shorten, tr
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.widgets.layouts import button, combo, holding, row
from lorestudio.vault.entries import ParseRules

_PREFER: Final[Mapping[Prefer | None, str]] = {
    None: "leave both as they are",
    Prefer.NOTE: "the note is right",
    Prefer.BOOK: "the book is right",
}
_GONE: Final[Mapping[Gone, str]] = {
    Gone.LEAVE: "leave the other one",
    Gone.FOLLOW: "delete the other one, too",
    Gone.UNLINK: "keep the other one, alone from now on",
}
_SHOWN: Final = 40


class SyncDialog(LoreDialog):
    """Compares on opening and after each choice; what is ticked is brought together."""

    def __init__(self, theme: Theme, work: NoteWork, jobs: Jobs, project: Project, parent: QWidget) -> None:
        super().__init__(theme, tr("Sync with a lorebook"), tr("Write both sides"), (tr("Entry"), tr("Found")), parent)
        self._work, self._jobs = work, jobs
        self._rules = ParseRules.from_settings(project.settings)
        self.decided: dict[str, dict[str, Json | Prefer]] = {}
        self._open: list[tuple[SyncItem, str]] = []
        self.view.hide()
        self.book = combo(self, tr("Lorebook"))
        self.prefer = combo(self, tr("Changed in both"), {way: tr(words) for way, words in _PREFER.items()})
        self.gone = combo(self, tr("Gone on one side"), {way: tr(words) for way, words in _GONE.items()})
        self.new = QCheckBox(tr("Take new entries and notes over"), self)
        self.new.setChecked(True)
        form = QFormLayout()
        form.addRow(tr("Book"), self.book)
        self.decide = button(self, tr("Decide one by one…"), self._decide)
        self.decide.setEnabled(False)
        form.addRow(tr("Changed in both"), holding(row((self.prefer, 1), self.decide, margins=0)))
        form.addRow(tr("Gone"), self.gone)
        form.addRow("", self.new)
        self.arrange(form)
        for choice in (self.book, self.prefer, self.gone):
            choice.currentIndexChanged.connect(lambda _place: self._look())
        self.new.toggled.connect(lambda _on: self._look())
        work.ask(_links, self._offer, self.refuse)

    def _offer(self, links: Sequence[tuple[Path, BookLink]]) -> None:
        if not links:
            self.refuse(tr("The vault is linked to no lorebook. Import or export one first."))
        for folder, link in links:
            self.book.addItem(f"{link.book} · {link.file}", (str(folder), link.place))

    def _plan(self, vaults: Sequence[VaultNotes], only: Collection[str] | None = None) -> SyncPlan:
        folder, place = self.book.currentData()
        vault = next(each for each in vaults if str(each.folder) == folder)
        link = next(each for each in links_of(vault) if each.place == place)
        prefer = self.prefer.currentData()  # Qt gives enumerations of texts back as texts
        right = Prefer(prefer) if prefer else None
        choice = SyncChoice(right, self.decided, Gone(self.gone.currentData()), self.new.isChecked(), only)
        return plan_sync(link, vault, self._rules, choice)

    def _look(self) -> None:
        if self.book.currentData() is not None:
            self.state.setText(tr("Comparing…"))
            self._work.ask(self._plan, self._show, self.refuse)

    def _show(self, plan: SyncPlan) -> None:
        self.show_reports([], [_row(item) for item in plan.items])
        items = plan.items
        self._open = [(item, name) for item in items for name in item.clashes]
        self.decide.setEnabled(bool(self._open))
        left = sum(not item.settled for item in items)
        told = count(len(items), "entry", "entries") if items else tr("Both sides say the same.")
        self.state.setText(told + (tr("; left open: {left}", left=number(left)) if left else ""))
        self.ready = not plan.is_idle
        self.settle()

    def _decide(self) -> None:
        """Ask about the next field that both changed, piece by piece where it is a text, until all are decided."""
        if not self._open:
            self._look()
            return
        item, name = self._open.pop(0)
        values = (item.before.get(name), *item.clashes[name])
        before, mine, theirs = map(_as_text, values)
        what = f"{item.title}: {name}"
        lines = isinstance(values[1], str | list | tuple)
        dialog = ConflictDialog(
            self.theme, what, (before, mine, theirs), self, there=tr("In the book"), lines=lines
        )  # fmt: skip

        def merged(text: str) -> None:
            side = Prefer.NOTE if text == mine else Prefer.BOOK if text == theirs else None
            made: Json = text.splitlines() if isinstance(values[1], list | tuple) else text
            self.decided.setdefault(item.uid, {})[name] = side or made
            self._decide()

        dialog.merged.connect(merged)
        dialog.rejected.connect(self._look)
        dialog.open()

    def go(self) -> None:
        """Write both sides of what is ticked."""
        only = frozenset(uid for uid, _found in self.entries.chosen)
        self.ok.setEnabled(False)

        def plan(vaults: Sequence[VaultNotes]) -> Planned:
            found = self._plan(vaults, only)
            copy_of_book(found)
            return Planned(found.changes, found.remarks)

        report = self.watched(tr("Writing both sides:"))

        self._work.carry_out(plan, lambda _done: self.accept(), refused=self.refuse, report=report)


def _links(vaults: Sequence[VaultNotes]) -> list[tuple[Path, BookLink]]:
    return [(vault.folder, link) for vault in vaults for link in links_of(vault)]


def _row(item: SyncItem) -> EntryRow:
    clashes = [
        tr("{name}: the note says {mine}, the book {theirs}", name=name, mine=_short(mine), theirs=_short(theirs))
        for name, (mine, theirs) in item.clashes.items()
    ]
    said = "; ".join(clashes) or ", ".join(item.members)
    return EntryRow((item.uid, item.found.value), item.title, tr(item.found.value), said)


def _as_text(value: Json) -> str:
    """A value as lines that can be chosen: a list with a line for each item."""
    if isinstance(value, list | tuple) and all(isinstance(item, str) and "\n" not in item for item in value):
        return "".join(f"{item}\n" for item in value)
    return value if isinstance(value, str) else spell(value)


def _short(value: object) -> str:
    return shorten(spell(value), _SHOWN)  # type: ignore[arg-type]  # values of JSON
