"""One note: its properties and its text to edit, the text that would go into the prompt, and the file itself.

Small labels tell the facts about the entry at a glance, a sentence tells what its keys find in the chat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QTabBar, QTextBrowser, QWidget

from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.studio.notes.book_entries import is_book_entry, parsed_entry, ranked_by_order
from lorestudio.studio.notes.vault_notes import attachments, read_aliases
from lorestudio.studio.project.project import Project
from lorestudio.studio.tryout.preview import EntryOutcome, Preview
from lorestudio.trace.found_keys import WouldMatch
from lorestudio.ui.features.notes.conflict_dialog import ConflictDialog
from lorestudio.ui.features.notes.editor.body import BodyEdit, is_address
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.editor.fields import FieldContext
from lorestudio.ui.features.notes.editor.names import TitleBook
from lorestudio.ui.features.notes.editor.note_editor import NoteEditor
from lorestudio.ui.features.notes.history import Safety
from lorestudio.ui.features.notes.store import NoteStore, OnDisk
from lorestudio.ui.features.vault.table import note_title
from lorestudio.ui.shell.jobs import Job, Jobs
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import Tone, count, number, tr
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.find_line import FindLine
from lorestudio.ui.widgets.layouts import (
    Wrapping,
    able,
    column,
    holding,
    in_lines,
    label,
    named,
    row,
    stack,
    tight,
    tool,
)
from lorestudio.ui.widgets.paint import draw_glyph, draw_words, entry_kind, hairline, set_inks
from lorestudio.ui.widgets.pane import ElidedLabel, FoldingRow, MessageBar, Pane
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.index import polling_seconds
from lorestudio.vault.links.references import Reference
from lorestudio.vault.links.targets import NOTE_SUFFIX, is_file_name

_UNUSED: Final = {
    "constant": "The entry is constant, so its keys decide nothing.",
    "guide": "A guide never goes into the story, so its keys decide nothing.",
    "scan_depth_zero": "The scan depth is 0, so no message is searched for the keys.",
    "ai_only": "In AI-only mode the keys decide nothing.",
}
_EDIT: Final = "sillytavern.edit"


def match_words(match: WouldMatch) -> tuple[str, str]:
    """The sentence and its tone (good, neutral or warning). Messages are numbered as SillyTavern does, from 0."""
    if match.unused:
        return tr(_UNUSED.get(match.unused, "The keys decide nothing here.")), "neutral"
    found = [key for key in match.keys if key.found]
    hit = next((key for key in found if key.key == match.key), found[0] if found else None)
    if hit is None or hit.message is None:
        searched = count(match.messages, "message", "messages")
        return tr("Would not match: no key occurs in the last {messages}.", messages=searched), "neutral"
    where = tr("“{key}” in message #{message}", key=hit.key, message=number(hit.message))
    if hit.count > 1:
        where = tr("{where}, {times} in all", where=where, times=count(hit.count, "time", "times"))
    if match.missing_refine and any(each.found for each in match.refine_keys):
        return tr("Would not match: {where}, but its refine logic keeps it out.", where=where), "warning"
    if match.missing_refine:
        return tr("Would not match: {where}, but none of the refine keys.", where=where), "warning"
    others = len(found) - 1
    more = tr(" and {others}", others=count(others, "other key", "other keys")) if others else ""
    return tr("Would match: {where}{more}.", where=where, more=more), "good"


def outcome_words(outcome: EntryOutcome) -> tuple[str, str]:
    """What the run makes of the entry where the system cannot tell key by key, and the tone."""
    if outcome.goes_in:
        return tr("Would go in. {why}", why=outcome.sentence), "good"
    return tr("Would not go in. {why}", why=outcome.sentence), "neutral"


class NoteChip(Struct, frozen=True):
    """One label. `tone` is good, neutral, warning or error; `icon` may be ""."""

    text: str
    tone: str = "neutral"
    icon: str = ""


class ChipRow(Wrapping):
    """Chips in lines as wide as the widget; its accessible name lists them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: tuple[NoteChip, ...] = ()

    def set_chips(self, chips: tuple[NoteChip, ...]) -> None:
        """Show other chips."""
        self._chips = chips
        self.setAccessibleName(", ".join(chip.text for chip in chips))
        self.setVisible(bool(chips))
        self.settle()
        self.update()

    def arrange(self, width: int, *, move: bool) -> int:
        """See `Wrapping`; the chips are drawn where they belong."""
        boxes = self._boxes(width)
        return boxes[-1].bottom() + 1 if boxes else 0

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the chips."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(scaled(self.font(), 0.9))
        for chip, box in zip(self._chips, self._boxes(self.width()), strict=True):
            frame = QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5)
            set_inks(painter, hairline(self._theme.color("border")), self._theme.color(f"{chip.tone}_soft"))
            painter.drawRoundedRect(frame, 5, 5)
            left = frame.left() + 7
            if chip.icon:
                ink = getattr(self._theme.palette, chip.tone)
                draw_glyph(painter, QRectF(left, frame.top(), 13, frame.height()), chip.icon, ink, 13)
                left += 17
            painter.setPen(self._theme.color("text"))
            draw_words(painter, QRectF(left, frame.top(), frame.right() - left - 2, frame.height()), chip.text)

    def _boxes(self, width: int) -> list[QRect]:
        metrics, most = QFontMetricsF(scaled(self.font(), 0.9)), max(width, 40)
        wanted = (round(metrics.horizontalAdvance(chip.text) + 16 + (17 if chip.icon else 0)) for chip in self._chips)
        return in_lines(
            (min(wide, most) for wide in wanted), width, QPoint(), height=max(20, round(metrics.height()) + 6), gap=5
        )


WRITE, TEXT, SOURCE = range(3)


class EntryPane(Pane):
    """Follows the chosen note. Unsaved text is kept per file, so that looking elsewhere loses nothing.

    `saved` follows a successful save with the file's path. `moved` carries the path of a note before and now, where
    another program gave the file another name. `create_wanted` carries the title of a note that a link
    leads to, that does not exist, and that the person wants.
    """

    saved = Signal(object)
    moved = Signal(object, object)
    create_wanted = Signal(str)

    def __init__(self, theme: Theme, session: Session, selection: Selection, drafts: Drafts, jobs: Jobs) -> None:
        super().__init__("entry", tr("Entry"), theme)
        self._session, self._selection, self._drafts = session, selection, drafts
        self.path: Path | None = None
        """The file that is shown."""
        self._filename = self._vault = ""
        self._clash: OnDisk | None = None
        self._saved_again = False
        self._says = ""
        """What the bar speaks of, where that may be over without anybody closing it: "left out", or "unseen"."""
        self._wish: tuple[Path, Callable[[], object]] | None = None
        self._missing = ""
        self._rules = ParseRules()
        self._jobs = jobs
        self._aliases: Mapping[str, tuple[str, ...]] = {}
        self._names_of = tuple[str, ...]()
        self._names_in: VaultIndex | None = None
        self._aliases_in: VaultIndex | None = None
        self.store = NoteStore(drafts, jobs, self)
        self.store.home = self._home
        self.safety = Safety(theme, jobs, self.store, self)
        self.bar = MessageBar(theme, self, stacked=True)
        self.bar.closed.connect(lambda: self._answer(""))
        self.bar.pressed.connect(self._answer)
        self.heading = named(ElidedLabel(self), "", kind="title")
        self.chips = ChipRow(theme, self)
        self.dirty = label(self, tr("● unsaved"), "small", wrap=False)
        self.save_button = tool(self, "", kind="text", beside=True)
        self.editor = NoteEditor(theme, self._parse, self)
        self.source = self.editor.body
        self.editor.completer.text_of = self._text_of
        self.text = named(QTextBrowser(self), tr("Text that goes into the prompt"))
        self.text.document().setDocumentMargin(12)
        self.tabs = named(QTabBar(self, drawBase=False, expanding=False), tr("Views of the note"))
        for title in (tr("Write"), tr("Injected text"), tr("Source")):
            self.tabs.addTab(title)
        tip = tr("What the note put into the prompt that is looked at, and its tokens; its own text where it did not.")
        self.tabs.setTabToolTip(TEXT, tip)
        self._views = stack(self.editor, self.text)
        self.finder = FindLine(theme, self._shown_text, self)
        rule = named(QFrame(self), "", kind="line")
        rule.setFixedHeight(1)
        named_row = row((self.heading, 1), self.dirty, self.save_button)
        head = column(named_row, self.chips, spacing=4, margins=(12, 8, 10, 4))
        views = FoldingRow(self.tabs, holding(row(1, self.editor.toggle, margins=0)), margins=(4, 0, 8, 0))
        self._shown_page = holding(tight(head, self.bar, views, rule, self.finder, (self._views, 1)))
        self.column.addWidget(self.or_empty("entry", self._shown_page), 1)
        self._check_timer = later(self, self._check)
        self._connect()
        self._new_project()

    def focus_target(self) -> QWidget:
        """The current view of the note."""
        if self.pages.currentWidget() is not self._shown_page:
            return self
        return self._shown_text()

    def open_search(self) -> bool:
        """Open the line that finds words in what is shown of the note."""
        if self.pages.currentWidget() is not self._shown_page:
            return False
        self.finder.begin()
        return True

    def _shown_text(self) -> BodyEdit | QTextBrowser:
        return self.text if self.tabs.currentIndex() == TEXT else self.editor.body

    @property
    def unsaved(self) -> bool:
        """Whether the shown note has unsaved text."""
        typed = self._open_buffer() is not None and self.editor.form.half_typed
        return self.path is not None and (typed or self._drafts.get(self.path) is not None)

    def toggle(self, tab: int) -> None:
        """Turn to the file's text or to what would go into the prompt, or back to writing."""
        self.tabs.setCurrentIndex(WRITE if self.tabs.currentIndex() == tab else tab)
        self.focus_target().setFocus()

    def begin(self, path: Path) -> None:
        """Write at the end of this note once it is open: it was made just now."""
        self._once_open(path, self._begin)

    def show_place(self, line: int, start: int, end: int) -> None:
        """Select these characters of a line of the file's text, counted from 1 and from 0, once the note is open."""
        self._once_open(self.path, partial(self._show_place, line, start, end))

    def show_field(self, name: str) -> None:
        """Give the keyboard to a property of a lorebook's entry, or to its content, once it is open."""
        self._once_open(self.path, partial(self._show_field, name))

    def save(self) -> None:
        """Write the unsaved text of the shown note."""
        if self.path is not None:
            self.editor.form.take_typed()
            self._saved_again = self._clash is not None and not self.bar.isHidden()
            self.store.save(self.path)
            self._show_dirty()

    def save_all(self, finished: Callable[[list[str]], None]) -> None:
        """Write every unsaved text; `finished` gets a sentence for each that could not be written."""
        self.store.save_all(None, finished)

    def revert(self) -> None:
        """Throw the unsaved text of the shown note away and read the file again."""
        if self.path is not None:
            self._say_nothing()
            self.store.reopen(self.path)

    def _connect(self) -> None:
        session, store = self._session, self.store
        session.project_changed.connect(self._new_project)
        session.state_changed.connect(self._check_timer.start)
        session.reading.beside_changed.connect(self._look_beside)
        session.traces_changed.connect(lambda _generations: self._show_run())
        session.preview_changed.connect(self._show_run)
        self._selection.generation_changed.connect(self._show_run)
        self._selection.entry_changed.connect(self._show)
        self._drafts.changed.connect(self._drafts_changed)
        self.tabs.currentChanged.connect(self._change_view)
        self.editor.settled.connect(self._settled)
        self.editor.followed.connect(self.follow)
        self.editor.form.typed.connect(self._show_dirty)
        self.editor.source_wanted.connect(self._show_line)
        store.buffers.dropped.connect(self.editor.forget)
        store.opened.connect(self._opened)
        store.saved.connect(self._was_saved)
        store.reloaded.connect(self._reloaded)
        store.clashed.connect(self._clashed)
        store.agreed.connect(self._agreed)
        store.unseen.connect(self._unseen)
        store.failed.connect(self._read_failed)
        store.save_failed.connect(self._save_failed)
        store.writing.connect(self._show_dirty)
        store.keep_failed.connect(lambda error: self._say(str(error), "warning"))

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _new_project(self) -> None:
        project = self._session.project
        if project is not None:
            self._rules = ParseRules.from_settings(project.settings, project.index.fields)
            names = self.editor.context.book
            if project.places != self._names_of:
                names, self._aliases, self._names_of = TitleBook(), {}, project.places
            self._take_names(project, names)
        self._show()

    def _take_names(self, project: Project, names: TitleBook) -> None:
        self.editor.set_context(FieldContext(project.settings, self._rules, names))

    def _look_beside(self) -> None:
        """Gather the names anew where pictures may have come; what notes are called is known by then."""
        project, self._names_in = self._session.project, None
        if project is not None and self.path is not None:
            self._read_names(project)

    def _read_names(self, project: Project) -> None:
        """Have the names of the project's notes gathered: with the aliases known so far at once, then with all.

        That reads every note, so it waits for the first one that is shown; once for each state of the vault.
        """
        if self._names_in is project.index:
            return
        self._names_in, known = project.index, self._aliases
        read = self._aliases_in is project.index

        def work(job: Job) -> tuple[Mapping[str, tuple[str, ...]], TitleBook]:
            job(TitleBook(project.index, known))
            files = {vault: attachments(folder) for vault, folder in project.folders.items() if folder is not None}
            found = known if read else read_aliases(project, job.token)
            return found, TitleBook(project.index, found, files)

        def take(names: TitleBook) -> None:
            now = self._session.project
            if now is not None and now.index is project.index:
                self._take_names(now, names)

        def done(found: tuple[Mapping[str, tuple[str, ...]], TitleBook]) -> None:
            if project.places == self._names_of:
                self._aliases, self._aliases_in = found[0], project.index
            take(found[1])

        self._jobs.start(tr("Reading aliases"), work, done=done, reported=take)

    def _show(self) -> None:
        self._say_nothing()
        note = self._selection.note_of(self._session)
        path = self._session.note_path(note) if note is not None else None
        if path != self.path:
            self.editor.leave()
            if self._wish is not None and self._wish[0] == self.path:
                self._wish = None
        self.path = path
        self._show_dirty()
        if note is None:
            self.note_changed.emit("")
            if self._session.project is None:
                self.say_empty(tr("No entry"), tr("Open a vault to read its notes here."))
            elif self._selection.entry is not None:
                text = tr("What is chosen comes from the chat's memory or a lorebook file. “Why?” tells of it.")
                self.say_empty(tr("No note of the vault"), text)
            elif (index := self._session.project.index).vaults and not index.entries:
                text = tr("An entry is a note with the lorebook tag. It is written and changed here.")
                plain = any(each.problem.untagged for each in index.left_out)
                doors = (("note.entries", tr("Make entries…")),) if plain else ()
                self.say_empty(tr("No entries"), text, (*doors, ("note.new", tr("New note…"))))
            else:
                text = tr("Choose one in the list, the answers or the budget, to read and change it here.")
                self.say_empty(tr("No entry chosen"), text, (("go.entry", tr("Go to entry…")),))
            return
        self._filename, self._vault = note.filename, note.vault
        self.editor.source = note.note_key
        self.note_changed.emit(note.filename)
        self._show_facts(note)
        self.pages.setCurrentWidget(self._shown_page)
        if self.path is None:
            self.editor.show_nothing()
            project, doors = self._session.project, ()
            if project is not None and project.read_only:
                text, doors = tr("SillyTavern's folder is only read here."), ((_EDIT, tr("Edit its lorebooks")),)
            else:
                text = tr("This vault lies behind Obsidian's plugin. Its notes can be read here, but not edited.")
                if project is not None and polling_seconds(project.settings) is None:
                    text += " " + tr("What changes there is seen with F5, or where “Check for changes every” is set.")
            self._say(text, "neutral", doors)
            self.tabs.setCurrentIndex(TEXT)
            return
        if self._session.project is not None:
            self._read_names(self._session.project)
        buffer = self.store.open(self.path)
        if buffer is not None:
            self._show_buffer(buffer)
            self._check_timer.start()
        else:
            self.editor.show_nothing()

    def _show_facts(self, note: Entry | LeftOutNote) -> None:
        """What the pipeline makes of the note: in the heading, the chips and the injected text."""
        if isinstance(note, Entry):
            self._show_entry(note)
            return
        self.heading.setText(note.name)
        broken = note.problem.broken
        words = tr("cannot be read") if broken else tr("left out")
        self.chips.set_chips((NoteChip(words, "error" if broken else "neutral", "broken" if broken else "left-out"),))
        if self._says == "left out" or self.bar.isHidden():  # nothing more urgent is said
            self._say(note.message, "error" if broken else "neutral", of="left out")
        self.tabs.setTabText(TEXT, tr("Injected text"))
        self.text.setPlainText(tr("(Nothing of this note goes into the prompt.)"))

    def _show_entry(self, entry: Entry) -> None:
        self.heading.setText(entry.title)
        kind = entry_kind(entry)
        words = "order {priority}" if ranked_by_order(entry) else "priority {priority}"
        chips = [
            NoteChip(kind.word.split(",")[0], "neutral", kind.icon),
            NoteChip(tr(words, priority=number(entry.priority))),
            NoteChip(self._estimate + count(entry.tokens, "token", "tokens")),
        ]
        if entry.warnings:
            chips.append(NoteChip(count(len(entry.warnings), "warning", "warnings"), "warning", "warning"))
        self.chips.set_chips(tuple(chips))
        self._show_text(entry)

    @property
    def _estimate(self) -> str:
        project = self._session.project
        return "" if project is None or project.counter.exact else "≈ "

    def _show_text(self, entry: Entry) -> None:
        text, tokens = self._injected(entry)
        self.tabs.setTabText(TEXT, tr("Injected text · {tokens}", tokens=self._estimate + number(tokens)))
        shown = text or tr("(The note has no text.)")
        if self._views.currentWidget() is self.text and self.text.toPlainText() != shown:
            place = self.text.verticalScrollBar().value()
            self.text.setPlainText(shown)
            self.text.verticalScrollBar().setValue(place)

    def _injected(self, entry: Entry) -> tuple[str, int]:
        """What of the entry stands in the prompt that is looked at, with its tokens; what it would bring where it is
        not in there as it is now.
        """
        id_, trace = self._selection.entry, self._session.runs.trace(self._selection.generation)
        injections = trace.injections if trace is not None else ()
        same = (each for each in injections if (each.entry, each.content_hash) == (id_, entry.content_hash))
        taken = next(same, None)
        if trace is None or taken is None:
            return entry.content, entry.tokens
        parts = ((block.text, part) for block in trace.prompt for part in block.parts if part.entry == id_)
        return next((text[part.start : part.end] for text, part in parts), entry.content), taken.tokens

    def _show_run(self) -> None:
        parsed = self.editor.parsed if self._open_buffer() is not None else None
        note = parsed or self._session.entry(self._selection.entry)
        if isinstance(note, Entry):
            self._show_text(note)

    def _say(self, text: str, tone: Tone, buttons: tuple[tuple[str, str], ...] = (), *, of: str = "") -> None:
        self._says, self._missing = of, ""
        self.bar.say(text, tone, buttons)

    def _say_nothing(self) -> None:
        self._says, self._clash = "", None
        self.bar.hide()

    def _show_buffer(self, buffer: NoteBuffer) -> None:
        self.store.buffers.use(buffer)
        self.editor.show_buffer(buffer, read_only=not buffer.kept_whole)
        if not buffer.kept_whole:
            self._say(tr("This file has characters that the editor cannot keep, so it is shown only."), "warning")
        self._show_dirty()
        self.finder.renew(another=True)
        self._do_wanted()

    def _change_view(self, tab: int) -> None:
        self.editor.set_source(tab == SOURCE)
        self.editor.toggle.setVisible(tab == WRITE)
        self._views.setCurrentWidget(self.text if tab == TEXT else self.editor)
        self._check_timer.start()
        self._show_run()
        self.finder.renew()

    def _show_line(self, line: int) -> None:
        self.tabs.setCurrentIndex(SOURCE)
        self.editor.select_in_line(line, 0, 0)

    def _once_open(self, path: Path | None, do: Callable[[], object]) -> None:
        """Do this as soon as the note of that file is open, in the place of what was wanted before."""
        self._wish = (path, do) if path is not None else None
        self._do_wanted()

    def _do_wanted(self) -> None:
        if self._wish is not None and self._wish[0] == self.path and self._open_buffer() is not None:
            do, self._wish = self._wish[1], None
            do()

    def _begin(self) -> None:
        self.tabs.setCurrentIndex(WRITE)
        self.editor.body.begin()

    def _show_place(self, line: int, start: int, end: int) -> None:
        if self.tabs.currentIndex() == TEXT or not self.editor.shows_line(line):
            self.tabs.setCurrentIndex(SOURCE)
        self.editor.select_in_line(line, start, end)

    def _show_heading(self, words: str) -> None:
        found = self.editor.line_of(words)
        if found is not None:
            self._show_place(found[0], 0, len(found[1]))

    def _show_field(self, name: str) -> None:
        self.tabs.setCurrentIndex(WRITE)
        if name == "content":
            self.editor.body.setFocus()
        else:
            self.editor.edit_field(name)

    def _show_dirty(self) -> None:
        self.dirty.setVisible(self.unsaved)
        self.save_button.setVisible(self.unsaved)
        able(self.save_button, self.path is None or not self.store.saving(self.path), tr("It is being saved."))

    def _open_buffer(self) -> NoteBuffer | None:
        buffer = self.editor.buffer
        return buffer if buffer is not None and buffer.path == self.path else None

    def _home(self, path: Path) -> Path | None:
        roots = self._session.project.roots if self._session.project is not None else []
        return next((root for root in roots if path.is_relative_to(root)), None)

    # ---- following what happens -------------------------------------------------------------------------------------

    def follow(self, link: Reference) -> None:
        """Go to the note that a link leads to, and to the heading that it names, or ask for the note to be made.

        Other files and addresses the desktop opens.
        """
        if is_address(link):
            self.open_outside(QUrl(link.target))
            return
        note = self.editor.context.book.find(link, self.editor.source)
        if note is not None or not link.target:
            if note is not None:
                self._selection.choose_note(note)
            if link.subpath:
                self._once_open(self.path, partial(self._show_heading, link.subpath.removeprefix("#")))
        elif place := self.editor.context.book.place(link, self.editor.source):
            path = self._session.project.note_path(*place) if self._session.project is not None else None
            if path is not None:
                self.open_outside(QUrl.fromLocalFile(str(path)))
        elif is_file_name(link.target):
            self._say(tr("No file is called “{target}”.", target=link.target), "neutral")
        else:
            name, can = link.target.removesuffix(NOTE_SUFFIX), self.receivers("2create_wanted(QString)")
            if can and name == self._missing and not self.bar.isHidden():
                self._answer("create")
                return
            text = tr("No note is called “{target}”.", target=name)
            if can:  # only where somebody can make it
                text += " " + tr("Follow the link again to make it.")
            self._say(text, "neutral", (("create", tr("Make this note")),) if can else ())
            self._missing = name if can else ""

    def _text_of(self, link: Reference, take: Callable[[str], object]) -> None:
        """Give the text of the note that a link leads to."""
        note = self.editor.context.book.find(link, self.editor.source)
        path = self._session.note_path(note) if note is not None else None if link.target else self.path
        if path is not None:
            self.store.text_of(path, take)

    def open_outside(self, url: QUrl) -> None:
        """Have the desktop open a picture or the like, or an address; say so where no program does.

        Any other file may be a program: a vault comes from anywhere.
        """
        if url.isLocalFile() and not is_file_name(url.path()):
            self._say(tr("“{file}” may be a program, so it is not opened from here.", file=url.fileName()), "warning")
        elif not QDesktopServices.openUrl(url):
            self._say(tr("No program of this computer opens {address}.", address=url.toDisplayString()), "warning")

    def _parse(self, buffer: NoteBuffer) -> Entry | LeftOutNote | None:
        project = self._session.project
        if project is None:
            return None
        if is_book_entry(buffer.path):
            return parsed_entry(project, NoteText(self._vault, self._filename, buffer.text))
        return parse_note(buffer.text, self._filename, self._vault, self._rules, project.counter)

    def _settled(self, buffer: NoteBuffer) -> None:
        if buffer.path == self.path:
            self.store.note_typed(buffer)
            parsed = self.editor.parsed
            if parsed is not None:
                self._show_facts(parsed)
                if isinstance(parsed, Entry) and self._says == "left out":
                    self._say_nothing()

    def _opened(self, buffer: NoteBuffer) -> None:
        if buffer.path == self.path:
            self._show_buffer(buffer)

    def _drafts_changed(self, path: object) -> None:
        if path == self.path:
            self._show_dirty()

    def _check(self) -> None:
        if self.path is not None and self._open_buffer() is not None:
            self.store.check(self.path)

    def changeEvent(self, event: QEvent) -> None:
        """Qt: somebody who comes back to the window may have changed files elsewhere."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.ActivationChange and self.isActiveWindow():
            self._check_timer.start()

    # ---- saving -----------------------------------------------------------------------------------------------------

    def _was_saved(self, buffer: NoteBuffer) -> None:
        if buffer.path == self.path:
            self._saved_again = False
            self._say_nothing()
        self.saved.emit(buffer.path)

    def _reloaded(self, buffer: NoteBuffer) -> None:
        if buffer.path == self.path:
            self._say_nothing()
            self.editor.settle()

    def _clashed(self, buffer: NoteBuffer, found: OnDisk) -> None:
        if buffer.path != self.path:
            return
        new = (each for each in found.moved if self._session.note_at(each) is None and self._drafts.get(each) is None)
        self._clash = found = replace(found, moved=tuple(new))
        if len(found.moved) == 1 and not self.unsaved:
            self._go_on(buffer, found.moved[0])
            return
        self._ask_about_file(buffer, found)
        if self._saved_again:  # what it asks has to be answered first
            self.bar.focus_first()
        self._saved_again = False

    def _ask_about_file(self, buffer: NoteBuffer, found: OnDisk) -> None:
        name = self._session.called(buffer.path)
        if found.text is None:
            again = ("mine", tr("Write it again"))
            if len(found.moved) != 1:
                text = tr("“{name}” is not on disk any more. Your text is kept here.", name=name)
                self._say(text, "warning", (again,))
            else:
                text = tr("“{name}” is “{new}” now. Your text is kept here.", name=name, new=found.moved[0].name)
                self._say(text, "warning", (("moved", tr("Go on there")), again))
            return
        text = tr("“{name}” has changed on disk meanwhile. Your text is kept here; nothing was overwritten.", name=name)
        buttons = (("compare", tr("Compare…")), ("theirs", tr("Take theirs")), ("mine", tr("Keep mine")))
        self._say(text, "warning", buttons)

    def _agreed(self, buffer: NoteBuffer) -> None:
        """What was said of the file on disk is not true any more."""
        if buffer.path == self.path and (self._clash is not None or self._says == "unseen"):
            self._say_nothing()

    def _unseen(self, buffer: NoteBuffer, error: object) -> None:
        if buffer.path == self.path:
            self._say(tr("{error} Your text is kept here.", error=error), "warning", of="unseen")

    def _read_failed(self, path: object, error: object) -> None:
        if path == self.path and isinstance(path, Path):
            self._say(str(error), "neutral" if is_book_entry(path) else "error")
            if self._session.entry(self._selection.entry) is not None:
                self.tabs.setCurrentIndex(TEXT)

    def _save_failed(self, buffer: NoteBuffer, error: object) -> None:
        if buffer.path == self.path:
            self._say(tr("{error} Your text is kept here.", error=error), "error", (("again", tr("Try again")),))

    def _answer(self, button: str) -> None:
        buffer, found = self._open_buffer(), self._clash
        self.focus_target().setFocus()
        if button == "again":
            self.save()
        elif button == "":
            self._say_nothing()
        elif button == "create":
            self._say_nothing()
            self.create_wanted.emit(self._missing)
        elif button == _EDIT:
            self.tabs.setCurrentIndex(WRITE)
            self.wanted.emit(_EDIT)
        if buffer is None or found is None:
            return
        if button == "theirs":
            self.store.take_theirs(buffer, found)
        elif button == "mine":
            self._clash = None
            self.store.save_over(buffer, found)
        elif button == "moved":
            self._go_on(buffer, found.moved[0])
        elif button == "compare":
            self.compare()

    def _go_on(self, buffer: NoteBuffer, path: Path) -> None:
        """Follow the file of the note that is shown to its new name."""
        before = buffer.path

        def gone_on() -> None:
            self.path = path if self.path == before else self.path
            self.moved.emit(before, path)

        self._say_nothing()
        self.store.go_on(buffer, path, gone_on)

    def show_preview(self, preview: object) -> None:
        """Say what a preview found out about the keys of the note that is shown; None says nothing."""
        notes = preview.notes if isinstance(preview, Preview) else ()
        name = (self._vault, self._filename)
        here = next((edited for edited in notes if edited.note.note_key == name), None)
        said = ("", "neutral")
        if here is not None and here.match is not None:
            said = match_words(here.match)
        elif here is not None and here.outcome is not None:
            said = outcome_words(here.outcome)
        self.editor.form.say_match(*said)

    def show_history(self) -> None:
        """Show the earlier versions of the note."""
        buffer = self._open_buffer()
        note = self._session.note_at(buffer.path) if buffer is not None else None
        name = note_title(note) if note is not None else ""
        if buffer is not None and self.safety.show_history(buffer, self, name) is None:
            self._say(tr("No history is kept in this window."), "neutral")

    def compare(self) -> ConflictDialog | None:
        """Show the unsaved text beside the version on disk, and let a person decide piece by piece."""
        buffer, found = self._open_buffer(), self._clash
        if buffer is None or found is None or found.text is None:
            return None
        texts = buffer.base, buffer.text, found.text
        dialog = ConflictDialog(self.theme, self._session.called(buffer.path), texts, self)
        dialog.merged.connect(lambda text: self._take_merged(buffer, found, text))
        dialog.open()
        return dialog

    def _take_merged(self, buffer: NoteBuffer, found: OnDisk, text: str) -> None:
        self._say_nothing()
        self.store.take_merged(buffer, found, text)
        self.editor.settle()
        self.save()
