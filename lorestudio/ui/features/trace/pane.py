"""What one generation did: a sentence, then the table of answers, the funnel, the prompt and the whole as text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from lorestudio.domain.entry import NoteKey
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.behaviour import switches
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.studio.verify.causes import Verified
from lorestudio.trace.diff import compare
from lorestudio.trace.journey import PHASES, Journeys
from lorestudio.trace.model import Outcome, Phase, Trace, Turn
from lorestudio.trace.summary import SummaryPiece, seen_brief, seen_lines, summary_pieces
from lorestudio.trace.text import as_markdown, as_text, escaped, markdown_table, one_cell, turn_words
from lorestudio.ui.features.trace.ai_page import AiPage, remedy
from lorestudio.ui.features.trace.answer_view import AnswerView
from lorestudio.ui.features.trace.answers import AnswerTable, RowChange, cell_sentence, recorded_marks, row_changes
from lorestudio.ui.features.trace.flow import FlowPage, FunnelList, FunnelStep
from lorestudio.ui.features.trace.prompt_page import PromptPage
from lorestudio.ui.features.trace.summary import LiveBar, Said, SummaryLine, said_of
from lorestudio.ui.shell.qt import ENTRY_ID, ITEM, plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_case, tr
from lorestudio.ui.state.ai_calls import failures, switch_lines
from lorestudio.ui.state.choices import source_title
from lorestudio.ui.state.drafts import LiveEffects, preview_words, tried
from lorestudio.ui.state.expected import ExpectedMark, ExpectedMarks
from lorestudio.ui.state.replay_worker import LiveRun, live_trace
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.cells import CellDelegate
from lorestudio.ui.widgets.layouts import (
    SearchField,
    TabCorner,
    column,
    filling,
    holding,
    iconed,
    letters,
    named,
    split,
    stack,
    tabbed,
    text_view,
    tight,
    tool,
)
from lorestudio.ui.widgets.pane import EmptyState, FilterStrip, Pane, filter_doors
from lorestudio.ui.widgets.rows import RowList

ANSWERS, FUNNEL, PROMPT, LOG, AI = range(5)
"""Tabs that are filled when they are first looked at."""

WIDE = 480
"""From this width on (device-independent pixels) the filter has room for more than its name."""

NARROWEST = 300
"""So wide are the views at least (device-independent pixels)."""

LIVE_OWN_SECONDS, LIVE_OTHER_SECONDS = 0.15, 0.4
"""A stage that runs for so long is worth showing: that of the chosen reply, and that of another one."""


class TracePane(Pane):
    """Follows the chosen generation, entry and stage, and sets entry and stage.

    `fold_changed` follows phases that were folded or unfolded. What the prompt's page says, `prompt_copied` and
    `message_chosen` say: the page is made when somebody first looks at it or asks for it, as that of the AI calls.
    """

    fold_changed = Signal()
    prompt_copied = Signal(str)
    message_chosen = Signal(int)

    def __init__(
        self, theme: Theme, session: Session, selection: Selection, expected: ExpectedMarks, whole: LiveEffects
    ) -> None:
        super().__init__("trace", tr("Trace"), theme)
        self._session, self._selection, self._expected, self._whole = session, selection, expected, whole
        self._trace: Trace | None = None
        self._verified: Verified | None = None
        self._filled: set[int] = set()
        self._reply = ""
        self._following = False
        self._live: tuple[object, ...] = ()
        self._compared: tuple[Trace | None, Trace | None] = (None, None)
        self._changes: dict[NoteKey, RowChange] = {}
        self._build()
        self._connect()
        self._show()

    def _build(self) -> None:
        theme = self.theme
        self.live = LiveBar(self.theme, self)
        self.live.cancelled.connect(lambda: self.wanted.emit("replay.cancel"))
        self.live.followed.connect(lambda: self.wanted.emit("replay.follow"))
        self.summary = SummaryLine(theme, self)
        self.summary.chosen.connect(self.show_only)
        self.summary.wanted.connect(self.wanted)
        self.model = AnswerTable(self)
        self.model.held = self._held
        self.answers = AnswerView(theme, self.model, self)
        self.answers.copy = self.copy_row
        self.answers.fold_wanted.connect(lambda phase: self.unfold(self.model.unfolded ^ {phase}))
        self.funnel_model = FunnelList(self)
        self.funnel = named(RowList(self), tr("Funnel: candidates by stage"))
        self.funnel.setModel(self.funnel_model)
        self.funnel.setItemDelegate(CellDelegate(theme, self.funnel, 44, 240))
        self.flow = FlowPage(theme, self.funnel, self.funnel_model, self)
        self.flow.listed.connect(self.show_only)
        self.log = text_view(self, tr("The run as text"), fixed=True)
        self.log.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._prompt_place, self._ai_place = QWidget(self), QWidget(self)
        self.tabs = tabbed(
            self, tr("Views of the run"), (self._make_answers_page(), tr("Answers")), (self.flow, tr("Funnel")),
            (self._prompt_place, tr("Prompt")), (self.log, tr("Log")), (self._ai_place, tr("AI")),
        )  # fmt: skip
        TabCorner(self.tabs, self.filter, self._filter_place, self.all_stages)
        # The widest page, seldom looked at, would push the window out of its screen.
        self.tabs.setMinimumWidth(round(NARROWEST * min(letters(self), 1.35)))
        self.tabs.currentChanged.connect(self._tab_chosen)
        self._shown_page = holding(tight(column(self.summary, margins=(12, 8, 12, 6)), (self.tabs, 1)))
        self.column.addWidget(self.live)
        self.column.addWidget(self.or_empty("trace", self._shown_page), 1)

    @cached_property
    def prompt(self) -> PromptPage:
        """The page of the prompt."""
        made = filling(self._prompt_place, PromptPage(self.theme, self._session.jobs, self._prompt_place))
        made.entry_chosen.connect(self._selection.choose_entry)
        made.copied.connect(self.prompt_copied)
        made.message_chosen.connect(self.message_chosen)
        return made

    @cached_property
    def ai(self) -> AiPage:
        """The page of what the model was asked."""
        made = filling(self._ai_place, AiPage(self.theme, self._ai_place))
        made.entry_chosen.connect(self._selection.choose_entry)
        made.wanted.connect(self.wanted)
        return made

    def _held(self, entry: int) -> ExpectedMark | None:
        """What was found expected of an entry; nothing of a run with something that is tried out."""
        runs, generation = self._session.runs, self._selection.generation
        tried = runs.preview_shown and runs.preview_of(generation) is not None
        return None if tried else self._expected.at(generation, entry)

    def _connect(self) -> None:
        session, selection = self._session, self._selection
        self.answers.selectionModel().currentChanged.connect(self._cell_chosen)
        self.funnel.activated.connect(self._step_chosen)
        self._whole.changed.connect(self._show_state)
        self._expected.changed.connect(self.answers.fit)
        session.project_changed.connect(self._show)
        session.traces_changed.connect(lambda _generations: self._show())
        session.preview_changed.connect(self._show)
        session.setup_changed.connect(self._make_prompt_again)
        session.state_changed.connect(self._show_state)
        session.choice_changed.connect(self._show_state)
        session.live_changed.connect(self._show_live)
        selection.generation_changed.connect(self._show)
        selection.stage_changed.connect(self._show_entry)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrow pane keeps room for its tabs."""
        larger = letters(self)
        wide = event.size().width() >= WIDE * larger
        self.filter.setMinimumWidth(round((118 if wide else 92) * larger))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Escape shows all rows again."""
        if event.key() == Qt.Key.Key_Escape and not self.only.isHidden():
            self.show_all_rows()
        else:
            super().keyPressEvent(event)

    def focus_target(self) -> QWidget:
        """The current view of the run."""
        if self.pages.currentWidget() is not self._shown_page:
            return self
        tab = self.tabs.currentIndex()
        if tab == PROMPT:
            return self.prompt.focus_target()
        if tab == AI:
            return self.ai.focus_target()
        return {FUNNEL: self.flow.focus_target(), LOG: self.log}.get(tab, self.answers)

    def open_search(self) -> bool:
        """Go to the field that filters the rows, or open the line that finds words in what the model was asked."""
        if self._trace is None:
            return False
        if self.tabs.currentIndex() == AI:
            self.ai.finder.begin()
            return True
        self.tabs.setCurrentIndex(0)
        return super().open_search()

    def show_only(self, entries: tuple[int, ...], words: str) -> None:
        """Filter the answers to these entries; `words` say what they are."""
        self.filter.clear()
        self.model.set_only(frozenset(entries))
        self.only.say(words)
        self.tabs.setCurrentIndex(0)
        self._show_entry()
        self.answers.setFocus()

    def show_all_rows(self) -> None:
        """Show all rows again."""
        if not self.only.isHidden():
            self.only.hide()
            self.model.set_only(None)
            self._show_entry()

    def unfold(self, phases: frozenset[Phase]) -> None:
        """Show the stages of these phases; with all of them the funnel shows stages that decided nothing, too."""
        self.model.unfold(phases)
        self.flow.set_trace(self._trace, everything=phases >= set(PHASES), running=self._running)
        self.all_stages.setChecked(phases >= set(PHASES))
        self._show_entry()
        self.fold_changed.emit()

    def take_why(self, why: QWidget) -> None:
        """Show below the table what explains its chosen row."""
        self.splitter.addWidget(why)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        self.splitter.setChildrenCollapsible(False)

    def copy_row(self) -> None:
        """The chosen entry's journey as a Markdown table."""
        trace, entry = self._trace, self._selection.entry
        if trace is None or entry is None:
            return
        head = f"**{escaped(one_cell(self.model.title(entry)))}**: {tr(self.model.result(entry).word)}"
        cells = zip(trace.stages, self._session.runs.journeys(trace).cells(entry), strict=True)
        rows = [
            (record.name, cell_sentence(trace, entry, record, cell))
            for record, cell in cells
            if cell.verdict is not None
        ]
        QGuiApplication.clipboard().setText("\n".join((head, "", *markdown_table(("Stage", "Why"), rows))) + "\n")

    def copy_report(self) -> None:
        """The whole run as Markdown."""
        project = self._session.project
        if self._trace is not None and project is not None:
            QGuiApplication.clipboard().setText(as_markdown(self._trace, project.index))

    def _make_answers_page(self) -> QWidget:
        self.search_field = self.filter = SearchField(self, tr("Filter the answers"), tr("Filter rows"), self._filter)
        self.filter.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # its least width, or a line
        self._filter_place = QWidget(self)
        wanted = partial(self.wanted.emit, "trace.all_stages")
        tip = tr("Unfold all phases into their stages (Q)")
        stages = tool(self, tr("Unfold the phases"), wanted, tip=tip, checkable=True)
        self.all_stages = iconed(self.theme, stages, "columns")
        self.nothing = EmptyState(self.theme, "search", self)
        self.nothing.pressed.connect(self._press)
        self.only = FilterStrip(self.theme, self)
        self.only.cleared.connect(self.show_all_rows)
        self._rows_or_nothing = stack(self.answers, self.nothing)
        self.splitter = split(holding(tight(self._filter_place, self.only, (self._rows_or_nothing, 1))))
        return self.splitter

    def _show(self) -> None:
        if self._live and self._wanted_live() is not None:
            self._show_live()
            return
        self._live = ()
        self.answers.watch_last(False)
        trace = self._session.runs.trace(self._selection.generation)
        self._show_state()
        self._reply = self._reply_words(trace) if trace is not None else ""
        if trace is not None and trace is self._trace:
            self._show_rows()
            return
        if trace is not None:
            journeys = self._session.runs.journeys(trace)
            self._take(trace, journeys)
            self._show_run(trace, summary_pieces(trace, journeys))
            return
        if self._trace is not None:
            self._take(None)
        self._show_empty()

    def _take(self, trace: Trace | None, journeys: Journeys | None = None) -> None:
        """Have the views hold a run, finished or under way."""
        self._trace, self._filled = trace, set()
        self.only.hide()  # another run has other entries
        self.model.set_only(None)
        project = self._session.project
        index = project.index if project is not None else None
        self.model.set_trace(trace, index, self._running, journeys, self._changes_in(trace))
        self._show_recorded()
        self.flow.set_trace(trace, everything=self.all_stages.isChecked(), running=self._running)

    def set_recorded(self, found: Verified | None) -> None:
        """Show in the answers what the chat recorded of each reply; None for nothing."""
        self._verified = found
        self._show_recorded()

    def _show_recorded(self) -> None:
        trace, reply = self._trace, None
        if trace is not None and self._verified is not None:
            reply = self._verified.of(trace.turn.generation)
        self.model.set_there(None if reply is None or reply.record is None else recorded_marks(reply))

    def _show_run(self, trace: Trace, summary: Sequence[SummaryPiece]) -> None:
        """Bring into sight what the views hold."""
        self.summary.set_pieces(summary)
        self.pages.setCurrentWidget(self._shown_page)
        self._fill_tab()
        self._show_entry()

    # ---- a run under way --------------------------------------------------------------------------------------------

    def _wanted_live(self) -> LiveRun | None:
        """The run under way where it is to be shown: that of the chosen reply, or any while there is nothing else."""
        live, chosen = self._session.replays.live, self._selection.generation
        if live is None or self._session.project is None:
            return None
        own = live.generation == chosen
        if not own and self._session.runs.trace(chosen) is not None:
            return None
        if self._live[:1] == (live.generation,):
            return live
        return live if live.elapsed() >= (LIVE_OWN_SECONDS if own else LIVE_OTHER_SECONDS) else None

    @property
    def _running(self) -> str:
        """The stage that runs in what is shown."""
        return str(self._live[2]) if self._live else ""

    def _show_live(self) -> None:
        """Follow the run under way, or go back to the finished one."""
        now = self._session.replays.live
        if now is None or now.elapsed() < LIVE_OTHER_SECONDS:
            self.live.hide()
        else:
            here = now.generation == self._selection.generation
            self.live.say(self._live_words(now), now.elapsed(), elsewhere=not here)
        live, project = self._wanted_live(), self._session.project
        if live is None or project is None:
            if self._live:
                self._live, self._trace = (), None
                self._show()
            return
        shown = (live.generation, len(live.records), live.stage)
        if shown != self._live:
            self._live, choice = shown, self._session.choice
            trace = live_trace(live, project.index, choice.system, choice.mode.value)
            self._reply = tr("{reply}, under way", reply=turn_words(trace.turn))
            self._take(trace)
            self._show_run(trace, [SummaryPiece(self._live_summary(trace, live))])
            self._show_state()
            self.answers.watch_last(True)
        self.funnel_model.set_elapsed(tr("{seconds:.0f} s", seconds=live.elapsed()))
        if AI in self._filled:
            self.ai.set_live(live)

    def _live_words(self, live: LiveRun) -> str:
        reply = turn_words(Turn(live.generation.message, live.generation.swipe, 0)) if self._session.project else ""
        stage = live.stage or tr("The next stage")
        if live.request is not None:
            source = self._session.choice.source
            who = tr("you") if source.kind is AnswerKind.TYPED else source.profile or source_title(source)
            return tr("{reply}: {stage} waits for {who}", reply=reply, stage=stage, who=who)
        return tr("{reply}: {stage} is running", reply=reply, stage=stage)

    def _live_summary(self, trace: Trace, live: LiveRun) -> str:
        done = count(len(live.records), "stage is done", "stages are done")
        left = count(len(trace.stages[-1].left) if trace.stages else 0, "candidate", "candidates")
        return tr("Under way: {done}, {left} so far.", done=done, left=left)

    def _changes_in(self, trace: Trace | None) -> dict[NoteKey, RowChange]:
        """What the last change has done to this run, or the text that is tried out in it."""
        before = self._before(trace) if trace is not None and not self._live else None
        if (before, trace) != self._compared:
            self._compared = before, trace
            if before is None or trace is None or before is trace:
                self._changes = {}
            else:
                project = self._session.project
                notes = project.index.note_keys if project is not None else ()
                self._changes = row_changes(compare(before, trace, notes))
        return self._changes

    def _before(self, trace: Trace) -> Trace | None:
        runs, generation = self._session.runs, self._selection.generation
        preview = runs.preview_of(generation)
        if preview is not None:
            return preview.before if preview.trace is trace else None
        return None if runs.outdated(generation) else runs.before_change(generation)

    def _said(self, trace: Trace) -> list[Said]:
        """Failed stages in red, warnings, what to know of the run, and where a behaviour switch made a difference."""
        found: list[Said] = []
        failed = failures(trace)
        if failed:
            text = "\n".join(f"{sentence_case(name)}: {sentence}" for name, sentence in failed)
            cure = remedy(trace)
            found.append(replace(cure, text="\n".join(filter(None, (text, cure.text)))))
        elif trace.warnings:
            found.append(Said("\n".join(trace.warnings), "warning"))
        found += said_of(trace)
        lines = switch_lines(trace, {switch.name: switch.title for switch in switches()})
        if lines:
            found.append(Said(tr("Fixed behaviour changed this run. {lines}", lines=" ".join(lines))))
        brief = seen_brief(trace)
        if brief:
            found.append(Said(tr(brief), "text_muted"))
        self.summary.setToolTip(plain("\n".join(map(tr, seen_lines(trace)))))
        return found

    def _reply_words(self, trace: Trace) -> str:
        project, message = self._session.project, self._selection.message
        note = turn_words(trace.turn)
        if message is not None and message != trace.turn.message:
            return tr("{reply}, the one after message #{message}", reply=note, message=message)
        if project is not None and project.chat is not None and trace.turn.message == len(project.chat.messages):
            return tr("The reply to come")
        return note

    def _show_empty(self) -> None:
        project = self._session.project
        self.note_changed.emit("")
        if project is None:
            self.empty.say(tr("No trace"), tr("A trace shows what the pipeline did with every entry, and why."))
        elif project.chat is None:
            text = tr("A run needs a chat: its last messages are searched for the keys of the entries.")
            text += " " + tr("Or test any text against the entries at once.")
            buttons = (("chat.open", tr("Open chat…")), ("pane.bench", tr("Test a text")))
            self.empty.say(tr("No chat to run"), text, buttons)
        elif self._session.busy:
            self.empty.say(tr("Working…"), tr("The trace appears as soon as this reply has been run."))
        elif self._selection.generation is None:
            text = tr("Choose a message of the chat to see what its reply was given.")
            self.empty.say(tr("No message chosen"), text)
        else:
            text = tr("This reply has not been run.")
            buttons = (("replay.here", tr("Run to here")), ("replay.all", tr("Replay all")))
            self.empty.say(tr("No trace yet"), text, buttons)
        self.pages.setCurrentWidget(self.empty)

    def _passing(self) -> Said | None:
        """That the run is an older one, or what the unsaved texts do to it."""
        runs, generation = self._session.runs, self._selection.generation
        stale = runs.outdated(generation) if not self._live else ""
        if stale and self._session.busy:
            return Said(tr("{stale} The replay is under way.", stale=stale), "warning", passing=True)
        if stale:
            reload, again = ("vault.reload", tr("Read again and replay")), ("replay.all", tr("Replay all"))
            return Said(stale, "warning", (reload if stale == runs.stale else again,), passing=True)
        preview = runs.preview_of(generation) if not self._live else None
        if preview is None:
            return None
        if runs.preview_shown:
            before = (("preview.toggle", tr("Show the run before")),)
            whole = self._whole.words if preview.notes else ""  # of a setting its field says it
            words = " ".join(filter(None, (preview_words(preview), whole)))
            return Said(words, "neutral", before, passing=True)
        shown = (("preview.toggle", tr("Show it as tried out")),)
        return Said(tr("This is the run without {what}.", what=tried(preview)), "neutral", shown, passing=True)

    def _show_state(self) -> None:
        trace, passing = self._session.runs.trace(self._selection.generation) or self._trace, self._passing()
        said = self._said(trace) if trace is not None else []
        self.summary.set_notes([*([passing] if passing is not None else []), *said])
        if self._trace is None and self._session.runs.trace(self._selection.generation) is None:
            self._show_empty()

    def _show_rows(self) -> None:
        shown, total = self.model.rowCount(), self.model.candidates
        words = count(total, "entry", "entries")
        if self.filter.text() or not self.only.isHidden():
            words = tr("{shown} of {total}", shown=number(shown), total=words)
        project = self._session.project
        lost = sum(note.problem.broken for note in project.index.left_out) if project is not None else 0
        broken = tr("without {notes}", notes=count(lost, "broken note", "broken notes")) if lost else ""
        self.note_changed.emit(" · ".join(part for part in (self._reply, words, broken) if part))
        if shown:
            self._rows_or_nothing.setCurrentWidget(self.answers)
            return
        if self.filter.text():
            text = tr("Rows are filtered by title, result and reason.")
            self.nothing.say(tr("No row fits the filter"), text, filter_doors())
        else:
            widening = tr(self._trace.words.widening(self._trace)) if self._trace is not None else ""
            doors: tuple[tuple[str, str], ...] = ()
            if project is not None and not project.index.entries:
                widening = tr("There are no entries yet: make some of the vault's notes, or open a lorebook.")
                first = ("note.entries", tr("Make entries of notes…"))
                if not project.index.vaults:
                    widening = tr("No notes are open: open the vault or the lorebook that goes with this chat.")
                    first = ("vault.open", tr("Open vault folder…"))
                doors = (first, ("book.open", tr("Open lorebook…")))
            self.nothing.say(tr("Nothing came into question"), widening, doors)
        self._rows_or_nothing.setCurrentWidget(self.nothing)

    def _filter(self, text: str) -> None:
        self.model.set_filter(text)
        self._show_entry()

    def _show_entry(self) -> None:
        entry = self._selection.entry
        self._following = True  # rows that come and go move the view's own cursor
        try:
            guest = self._session.entry(entry) is not None and not self.filter.text() and self.only.isHidden()
            self.model.set_guest(entry if guest else None)
            self._show_rows()  # it may have been the only row, or be the first one
            self._follow(entry)
            if PROMPT in self._filled:
                self.prompt.choose_entry(entry)
        finally:
            self._following = False

    def _follow(self, entry: int | None) -> None:
        place = self.model.place_of(entry)
        if place < 0:
            self.answers.selectionModel().clear()
            return
        self._rows_or_nothing.setCurrentWidget(self.answers)
        index = self.model.index(place, self.model.stage_column(self._selection.stage))
        if self.answers.currentIndex() != index:
            self.answers.setCurrentIndex(index)  # which brings it into sight, at the latest when the view is shown

    def _cell_chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        entry = current.data(ENTRY_ID)
        if isinstance(entry, int) and not self._following:
            self._selection.choose_entry(entry, self.model.stage_at(current.row(), current.column()))

    def _step_chosen(self, index: QModelIndex) -> None:
        step = index.data(ITEM)
        if isinstance(step, FunnelStep) and self._trace is not None:
            record = self._trace.stage(step.stage)
            decided = [each.entry for each in record.verdicts if each.outcome is not Outcome.KEPT] if record else []
            if decided:
                self.show_only(tuple(dict.fromkeys(decided)), step.stage)
                self._selection.choose_entry(decided[0], step.stage)

    def _tab_chosen(self, tab: int) -> None:
        self.filter.setVisible(tab == 0)
        self.all_stages.setVisible(tab <= 1)
        self._fill_tab()

    def _fill_tab(self) -> None:
        """Texts are made when their tab is first looked at."""
        tab, trace = self.tabs.currentIndex(), self._trace
        if trace is None or tab in self._filled:
            return
        self._filled.add(tab)
        if tab == AI:
            self.ai.set_trace(None if self._live else trace)
        elif tab == PROMPT:
            project = self._session.project
            chat = self._session.chat if not self._live else None
            setup = project.setup if project is not None else None
            self.prompt.set_trace(trace, chat, setup, project.bills if project is not None else CHARS_4)
            self.prompt.choose_entry(self._selection.entry)
        elif tab == LOG:
            self.log.setPlainText(as_text(trace))

    def _make_prompt_again(self) -> None:
        """Card, persona or frame are others; the run is the same."""
        self._filled.discard(PROMPT)
        self._fill_tab()
