"""What a run asked a model and what it was told: an overview, the request, the raw reply; searchable and copyable.

Where that came to nothing, words and buttons say what a person can do about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QSignalBlocker, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QBoxLayout, QTextBrowser, QWidget

from lorestudio.studio.project.answering import ErrorKind
from lorestudio.trace.explain import explain_reason
from lorestudio.trace.model import AiCall, StageRecord, Trace
from lorestudio.trace.vocabulary import Tone
from lorestudio.ui.features.trace.summary import Said
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme, html_page, html_paragraph, html_text
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.ai_calls import (
    STAGE_OF,
    CallFact,
    ChosenItem,
    call_facts,
    call_title,
    choices,
    dropped_categories,
    duration_words,
    stage_facts,
    stage_failure,
    why_no_call,
)
from lorestudio.ui.state.replay_worker import LiveRun
from lorestudio.ui.widgets.find_line import FindLine, Text
from lorestudio.ui.widgets.layouts import (
    able,
    column,
    combo,
    holding,
    iconed,
    named,
    one_of,
    row,
    stack,
    text_view,
    tight,
    tool,
)
from lorestudio.ui.widgets.pane import FoldingRow

_IN_PROFILE: Final = frozenset({
    ErrorKind.AUTHENTICATION, ErrorKind.QUOTA, ErrorKind.NOT_FOUND, ErrorKind.MODEL_UNKNOWN, ErrorKind.INVALID_ANSWER,
    ErrorKind.CONNECTION, ErrorKind.TIMED_OUT, ErrorKind.NO_KEY,
})  # fmt: skip
"""What is mended in the provider's profile."""


def remedy(trace: Trace) -> Said:
    """What to do about the stages of a run that failed at a question; empty where none did."""
    texts: dict[str, None] = {}
    actions: dict[str, str] = {}
    for record in trace.stages:
        if not stage_failure(record, trace):
            continue
        call = next((call for call in reversed(trace.ai_calls) if STAGE_OF.get(call.kind) == record.name), None)
        if call is not None:
            actions["trace.ai"] = tr("Show the call")
        if call is not None and call.error:
            # Older traces have no advice of their own, so that of the stage's reason is taken.
            texts[str(call.details.get("advice") or "") or _fix(record, trace)] = None
            if call.details.get("error_kind") in _IN_PROFILE:
                actions["profiles.edit"] = tr("Profiles…")
            actions["replay.here"] = tr("Ask again")
        elif call is not None:
            texts[_unreadable(call)] = None
            if call.reply.strip():  # it is recorded by now, so an ordinary run would read the same one again
                actions["replay.fresh"] = tr("Ask everything again…")
            else:
                actions["replay.here"] = tr("Ask again")
        else:
            texts[_fix(record, trace)] = None
    return Said(" ".join(filter(None, texts)), "error", tuple(actions.items()))


def _unreadable(call: AiCall) -> str:
    notes = call.details.get("notes")
    told = [str(note) for note in notes] if isinstance(notes, Sequence) and not isinstance(notes, str) else []
    cut = next((note for note in told if "cut off" in note), "")
    if cut:
        return tr("{cut} Raise the limit of the AI's reply in the settings.", cut=cut)
    if not call.reply.strip():
        return tr("The model answered with nothing. Ask again, or choose another model.")
    return tr("Read the reply; if it is prose and no list, choose another model or shorten the instructions.")


def _fix(record: StageRecord, trace: Trace) -> str:
    """What the table of reasons advises, "" where the stage broke without a reason of its own."""
    if not record.note:
        return ""
    explanation = explain_reason(record.note, record.details, trace)
    if "paused" in str(record.details.get("error") or ""):
        return tr("After two failures in a row DeepLore asks nothing for a while. Mend the first one and replay.")
    return explanation.fix if explanation.tone is Tone.ERROR else ""


PARTS: Final = ("Overview", "System", "User", "Reply")
OVERVIEW, SYSTEM, USER, REPLY = range(4)
CHUNK: Final = 100_000
"""Characters that are laid out at once; a manifest of a large vault has many times as many."""


class AiPage(QWidget):
    """Shows the calls of a finished run, or the question of a run under way. `entry_chosen` carries an entry's id.

    `wanted` carries an action that a link stands for.
    """

    entry_chosen = Signal(int)
    wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._trace: Trace | None = None
        self._live: LiveRun | None = None
        self._shown: tuple[object, ...] = ()
        self._whole = ""
        self._laid_out = 0
        self._more = later(self, self._lay_out_more)
        self.finder = FindLine(theme, self.focus_target, self)
        bar = self._make_bar()
        self.overview = named(QTextBrowser(self, openLinks=False), tr("Overview of the call"))
        self.overview.anchorClicked.connect(self._go)
        self.overview.document().setDocumentMargin(12)
        self.text = text_view(self, tr("Text of the call"), fixed=True)
        self._pages = stack(self.overview, self.text)
        tight(bar, self.finder, (self._pages, 1), of=self)
        theme.changed.connect(self._show_anew)
        self._show()

    def set_trace(self, trace: Trace | None) -> None:
        """Show a finished run."""
        self._trace, self._live = trace, None
        calls = trace.ai_calls if trace is not None else ()
        with QSignalBlocker(self.calls):
            self.calls.clear()
            for place, call in enumerate(calls, start=1):
                state = tr("failed") if call.error else duration_words(call.duration_ms)
                self.calls.addItem(f"{place}. {call_title(call)} · {call.source or tr('nobody')} · {state}")
            self.calls.setCurrentIndex(len(calls) - 1)  # the selection of entries comes last
        self._show()

    def set_live(self, live: LiveRun) -> None:
        """Show the question that a run under way has put, and what has arrived of its answer."""
        if self._live is None or self._live.request is not live.request:
            self._shown = ()
        self._live = live
        self._show()

    @property
    def part(self) -> int:
        """Which part is shown: overview, system, user or reply."""
        return self.parts.checkedId()

    def focus_target(self) -> Text:
        """What takes the keyboard: the text in sight."""
        return self.overview if self._pages.currentIndex() == 0 else self.text

    @property
    def plain(self) -> str:
        """What is shown, as plain text."""
        return self.overview.toPlainText() if self._pages.currentIndex() == 0 else self._whole

    def _make_bar(self) -> QBoxLayout:
        self.calls = combo(self, tr("Call"), least=12)
        self.calls.view().setAccessibleName(tr("Calls of this run"))
        self.calls.currentIndexChanged.connect(lambda _place: self._show())
        self.parts = one_of(self, ((tr(name), tr("Show: {part}", part=tr(name))) for name in PARTS))
        self.parts.idClicked.connect(self._show_anew)
        find = iconed(self._theme, tool(self, tr("Find in the text of the call"), self.finder.begin), "search")
        copy = tool(self, tr("Copy this part"), lambda: QGuiApplication.clipboard().setText(self.plain))
        self.copy_button = iconed(self._theme, copy, "copy")
        finding = row(1, find, self.copy_button, spacing=2, margins=0)
        parts = FoldingRow(holding(row(*self.parts.buttons(), 1, spacing=2, margins=0)), holding(finding), self)
        return column(self.calls, parts, spacing=4, margins=(8, 4, 8, 2))

    def _go(self, link: QUrl) -> None:
        if link.scheme() == "entry":
            self.entry_chosen.emit(int(link.path()))
        else:
            self.wanted.emit(link.path())

    def _show_anew(self) -> None:
        """Another part is wanted, or the same one in other colours."""
        self._shown = ()
        self._show()

    def _show(self) -> None:
        """The part that is wanted of the question under way, or of the chosen call."""
        trace, live = self._trace, self._live
        calls = trace.ai_calls if trace is not None and live is None else ()
        self.calls.setVisible(len(calls) > 1)
        call = calls[max(0, self.calls.currentIndex())] if calls else None
        asked = live.request if live is not None else call
        for part in (SYSTEM, USER, REPLY):
            able(self.parts.button(part), asked is not None, tr("No model was asked in this run."))
        self._pages.setCurrentIndex(0 if asked is None or self.part == OVERVIEW else 1)
        if asked is None or self.part == OVERVIEW:
            self._set_html(self._body(trace, call) if live is None else self._live_body(live))
        elif self.part != REPLY:
            self._set_text(asked.system if self.part == SYSTEM else asked.user)
        elif call is None:
            self._grow(live.reply if live is not None else "")
        else:
            self._set_text(call.reply or (tr("No reply arrived: {error}", error=call.error) if call.error else ""))

    def _set_text(self, text: str) -> None:
        if self._shown != (self.part, text):
            self._shown = (self.part, text)
            self._begin_text(text or tr("(empty)"))

    def _begin_text(self, text: str) -> None:
        """Show the beginning of a text at once, and the rest piece by piece."""
        self._whole, self._laid_out = text, min(CHUNK, len(text))
        self.text.setPlainText(text[: self._laid_out])
        self._more.stop()
        if self._laid_out < len(text):
            self._more.start()
        self.finder.renew(another=True)

    def _lay_out_more(self) -> None:
        end = self._laid_out + CHUNK
        with QSignalBlocker(self.text):  # to look for words after each piece would take long
            self._append(self._whole[self._laid_out : end])
        self._laid_out = min(end, len(self._whole))
        if self._laid_out < len(self._whole):
            self._more.start()
        else:
            self.finder.renew()

    def _append(self, text: str) -> None:
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)

    def _grow(self, text: str) -> None:
        """Show a reply that gets longer, without losing what is selected."""
        old = self._shown[1] if self._shown[:1] == (REPLY,) else None
        self._shown = (REPLY, text)
        if not isinstance(old, str) or not old or not text.startswith(old):
            self._begin_text(text or tr("Nothing has arrived yet."))
            return
        bar = self.text.verticalScrollBar()
        at_end = bar.value() == bar.maximum()
        self._whole = text
        if not self._more.isActive():
            self._append(text[len(old) :])
            self._laid_out = len(text)
        if at_end:
            bar.setValue(bar.maximum())

    def _set_html(self, body: str) -> None:
        if self._shown != (OVERVIEW, body):
            self._shown = (OVERVIEW, body)
            self.overview.setHtml(html_page(self._theme.palette, body))
            self.finder.renew(another=True)

    # ---- the overview -----------------------------------------------------------------------------------------------

    def _body(self, trace: Trace | None, call: AiCall | None) -> str:
        if trace is None:
            return self._nothing_asked()
        if call is None:
            record = trace.stage(STAGE_OF["search"])
            parts = [
                html_paragraph(tr("No model was asked in this run"), bold=True),
                html_paragraph(why_no_call(trace)),
            ]
            if trace.words.asks and trace.mode == "keywords-only":
                parts.append(
                    f"<p><a href='action:mode.two-stage'>{html_text(tr('Run the chat in two stages'))}</a></p>"
                )
            if record is not None:
                parts.append(self._facts(stage_facts(record, trace.clock_ms)))
                parts.append(self._choices(record, choices(trace, record)))
            return "".join(parts)
        record = trace.stage(STAGE_OF.get(call.kind, ""))
        parts = [html_paragraph(call_title(call), bold=True), self._facts(call_facts(call, record, trace.clock_ms))]
        if record is not None:
            parts.append(self._outcome(trace, record))
        return "".join(parts)

    def _nothing_asked(self) -> str:
        return html_paragraph(tr("No question has been put yet."), color=self._theme.palette.text_muted)

    def _live_body(self, live: LiveRun) -> str:
        request = live.request
        if request is None:
            return self._nothing_asked()
        facts = (
            CallFact(tr("Question"), tr("put to the answer source; waiting for the reply")),
            CallFact(tr("Model"), request.model or tr("not named")),
            CallFact(tr("Reply limit"), count(request.max_tokens, "token", "tokens")),
            CallFact(tr("Arrived so far"), count(len(live.reply), "character", "characters")),
        )
        tip = tr("Request and reply can be read under System, User and Reply while it waits.")
        return html_paragraph(tr("Waiting for an answer"), bold=True) + self._facts(facts) + html_paragraph(tip)

    def _facts(self, facts: Sequence[CallFact]) -> str:
        palette = self._theme.palette
        rows = []
        for fact in facts:
            ink = getattr(palette, fact.tone) if fact.tone in {"good", "warning", "error"} else palette.text
            rows.append(
                f"<tr><td width='120' style='color:{palette.text_muted};padding:1px 10px 1px 0'>"
                f"{html_text(fact.name)}</td><td style='color:{ink};padding:1px 0'>{html_text(fact.value)}</td></tr>"
            )
        return f"<table cellspacing='0' cellpadding='0'>{''.join(rows)}</table>"

    def _outcome(self, trace: Trace, record: StageRecord) -> str:
        table = self._choices(record, choices(trace, record))
        if record.name != STAGE_OF["prefilter"]:
            return table
        gone = dropped_categories(record)
        text = tr("Left out: {categories}.", categories=", ".join(gone)) if gone else tr("Nothing was left out.")
        return html_paragraph(text, above=8) + table

    def _choices(self, record: StageRecord, found: Sequence[ChosenItem]) -> str:
        palette = self._theme.palette
        remembered = record.details.get("cached") is True
        title = tr("What the remembered choice was matched to") if remembered else tr("What the reply was matched to")
        head = html_paragraph(f"{title} ({number(len(found))})", color=palette.text_muted, bold=True, above=10)
        if not found:
            return head + html_paragraph(tr("Nothing."), color=palette.text_faint)
        names = (tr("Asked for"), tr("Matched to"), tr("How"), tr("Confidence"), tr("Result"))
        rows = [_row([_inked(name, palette.text_faint) for name in names])]
        for choice in found:
            asked = html_text(choice.asked) if choice.asked else _inked(tr("not on record"), palette.text_faint)
            links = [
                html_text(name) if entry is None else f"<a href='entry:{entry}'>{html_text(name)}</a>"
                for name, entry in choice.matched
            ]
            ink = palette.text_muted if choice.tone == "neutral" else getattr(palette, choice.tone)
            how, confidence = html_text(choice.how).replace(" %", "&nbsp;%"), html_text(choice.confidence)
            rows.append(_row([asked, "<br>".join(links) or "–", how], confidence, _inked(choice.result, ink)))
            if choice.reason:
                reason = _inked(choice.reason, palette.text_faint)
                rows.append(f"<tr><td colspan='{len(names)}' style='padding:0 0 4px 12px'>{reason}</td></tr>")
        return head + f"<table cellspacing='0' cellpadding='0'>{''.join(rows)}</table>"


def _row(cells: Sequence[str], *short: str) -> str:
    """A row of a table; the cells are rich text, and `short` ones keep to a line."""
    ways = [(cell, "normal") for cell in cells] + [(cell, "nowrap") for cell in short]
    row = (f"<td style='padding:2px 10px 2px 0;white-space:{way}'>{cell}</td>" for cell, way in ways)
    return f"<tr>{''.join(row)}</tr>"


def _inked(text: str, ink: str) -> str:
    return f"<span style='color:{ink}'>{html_text(text)}</span>"
