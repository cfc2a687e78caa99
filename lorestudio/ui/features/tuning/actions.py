"""Saying what should be in the prompt, from wherever an entry is looked at, and checking it after every replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.entry import Entry
from lorestudio.domain.records import replace
from lorestudio.domain.texts import comparable
from lorestudio.studio.chat.controls import ControlsPart, toggled
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.vault_notes import Planned
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.checking import CheckedChat, chat_name, checked
from lorestudio.studio.tuning.effects import StepEffect, sensitivity
from lorestudio.studio.tuning.expectations import (
    CONSTANTS,
    Expectation,
    Expectations,
    ReplyMark,
    Should,
    answered,
    expectations_path,
    load,
)
from lorestudio.studio.tuning.scoring import ScoredChat, scored
from lorestudio.ui.features.controls.chips import why_unheeded
from lorestudio.ui.features.tuning.searching import MENU as TUNING
from lorestudio.ui.features.tuning.searching import is_other_lore
from lorestudio.ui.shell.actions import Action, Need, Where
from lorestudio.ui.shell.feature import Context, Feature, late_pane
from lorestudio.ui.shell.jobs import Job, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import Notice, count, number, sentence_of, tr
from lorestudio.ui.state.note_changes import READ_ONLY, Done, NoteWork
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.layouts import menu_of
from lorestudio.ui.widgets.picker import Choice

if TYPE_CHECKING:
    from lorestudio.ui.features.tuning.expectations_pane import ExpectationRow, ExpectationsPane
    from lorestudio.ui.features.tuning.scores_pane import MetricRow, ScoresPane

SETTLE_MS = 120
"""So long nothing may change before the expectations are checked again."""

MENU = "Trace/Expectations"
ON_AN_ENTRY = ("expect.in", "expect.out", "expect.whenever")


_FINER: Final = (
    ("matched", "Should be matched in this reply", 605, Should.MATCHED,
     "Expect a key, a link or a pin to make the chosen entry a candidate, whatever comes of it"),
    ("selected", "Should be selected in this reply", 606, Should.SELECTED,
     "Expect what selects to let the chosen entry go on"),
    ("whole", "Should be in whole in this reply", 607, Should.WHOLE,
     "Expect the chosen entry in the prompt, and not shortened"),
)  # fmt: skip


class TuningFeature(Feature):
    """Owns the pane of expectations. They stand in a file of the vault, and each change of it can be undone."""

    def __init__(
        self,
        context: Context,
        work: NoteWork,
        jump: Callable[[object, object], None],
        message_menu: list[str],
        answers: QWidget,
    ) -> None:
        """`jump` leads to a generation and an entry; `message_menu` is the menu on a message, `answers` has one too."""
        super().__init__(context)
        self._answers = answers
        self._work, self._jump = work, jump
        message_menu += ON_AN_ENTRY
        self.checked: CheckedChat | None = None
        self._scored: tuple[object, ...] = ()
        self._stepped: Simulator | None = None
        """Whose settings were tried by steps."""
        self._steps: Sequence[StepEffect] = ()
        self._scoring, self._stepping = Newest(context.session.jobs), Newest(context.session.jobs)
        self._expected = Expectations()
        self._told: Callable[[ExpectationsPane], None] = lambda _pane: None
        """Shows in the pane what was found last."""
        self._seen: tuple[Project | None, Simulator | None] = (None, None)
        self._newest = Newest(context.session.jobs)
        self._settle = later(self, self.look, SETTLE_MS)
        work.done.connect(self._written)
        session = context.session
        session.project_replaced.connect(self._drop_steps)
        session.project_changed.connect(self._wait)
        session.choice_changed.connect(self._wait)
        session.state_changed.connect(self._runs_changed)

    @late_pane("expectations", "Expectations")
    def pane(self) -> ExpectationsPane:
        """What is expected, and what became of it."""
        from lorestudio.ui.features.tuning.expectations_pane import ExpectationsPane

        pane, commands = ExpectationsPane(self.context.theme), self.context.commands
        commands.attach({Where.EXPECTATIONS: (pane.view,)})
        ways = (name for name in commands.table if name.startswith("expect.") and name != "expect.remove")
        commands.fill(menu_of(pane.add, tips=True), ways)
        pane.view.picked.connect(self._go)
        pane.view.chosen.connect(lambda _row: self.context.actions_changed())
        return pane

    @late_pane("scores", "Scores")
    def scores(self) -> ScoresPane:
        """The chat as it was run in numbers, once somebody looks."""
        from lorestudio.ui.features.tuning.scores_pane import ScoresPane

        pane = ScoresPane(self.context.theme, self.context.preview.whole, self.home("scores"))
        pane.picked.connect(self._look_at)
        pane.looked_at.connect(self.score)
        self.context.enable_with(pane.try_button, "scores.steps")
        return pane

    def pane_made(self, name: str) -> None:
        """Show what was found."""
        if name == "expectations":
            self._told(self.pane)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now = self.context
        has_note = now.has_entry.also(lambda: self._work.writes, READ_ONLY)
        has_run = now.has_chat.also(self._has_run, "Replay the whole chat first.")
        on_entry = partial(Action, when=has_note)
        here = partial(Action, when=has_note.also(now.has_message.met, now.has_message.why))
        return (
            here(
                "expect.in", "Should be in this reply", MENU, 600, partial(self._expect, Should.IN, here=True),
                icon="check", tip="Expect the chosen entry in the prompt of the chosen reply",
            ),
            here(
                "expect.out", "Should not be in this reply", MENU, 601, partial(self._expect, Should.OUT, here=True),
                icon="cross", tip="Expect the chosen entry to stay out of the chosen reply",
            ),
            on_entry(
                "expect.whenever", "Should be in whenever…", MENU, 602, self._ask_text,
                tip="Expect the chosen entry in every reply to a message with a text",
            ),
            on_entry("expect.always", "Should be in every reply", MENU, 603, partial(self._expect, Should.IN)),
            on_entry("expect.never", "Should never be in", MENU, 604, partial(self._expect, Should.OUT)),
            *(
                here(f"expect.{name}", title, MENU, place, partial(self._expect, should, here=True), tip=tip)
                for name, title, place, should, tip in _FINER
            ),
            on_entry(
                "expect.before", "Should come before…", MENU, 610, partial(self._pick_other, Should.BEFORE),
                tip="Expect the chosen entry before another one, wherever both are in the prompt",
            ),
            on_entry(
                "expect.apart", "Should never be together with…", MENU, 611, partial(self._pick_other, Should.APART),
                tip="Expect the chosen entry and another one never in the same prompt",
            ),
            on_entry(
                "expect.tokens", "Should take at most…", MENU, 612, self._ask_tokens,
                tip="Expect the chosen entry to take no more than so many tokens",
            ),
            Action(
                "expect.constants", "Constants should take at most…", MENU, 613,
                partial(self._ask_tokens, constants=True),
                when=now.has_project.also(lambda: self._path is not None and self._work.writes, READ_ONLY),
                tip="Expect all constants together to take no more than so many tokens",
            ),
            Action(
                "expect.remove", "Remove the chosen expectation", MENU, 650, self.remove, ("Del",), Where.EXPECTATIONS,
                Need(self._has_chosen, "Choose an expectation in the pane Expectations first."), "trash",
            ),
            Action(
                "scores.steps", "Try every setting", TUNING, 660, self.try_every_setting, when=has_run,
                tip="Run the whole chat with each setting a step to either side, and say what that does",
            ),
            Action(
                "scores.stop", "Stop trying every setting", TUNING, 661, self._stop_steps,
                when=Need(lambda: self._stepping.busy, "No settings are being tried."),
            ),
            Action(
                "scores.pin", "Try a pin on the whole chat", TUNING, 662, partial(self.try_choice, ControlsPart.PINS),
                when=has_run.also(partial(self._can_try, ControlsPart.PINS), "Choose an entry first."),
                off=partial(self._unheeded, ControlsPart.PINS),
                tip="Say of every reply what pinning the chosen entry would do, or freeing it",
            ),
            Action(
                "scores.block", "Try a block on the whole chat", TUNING, 663,
                partial(self.try_choice, ControlsPart.BLOCKS),
                when=has_run.also(partial(self._can_try, ControlsPart.BLOCKS), "Choose an entry first."),
                off=partial(self._unheeded, ControlsPart.BLOCKS),
                tip="Say of every reply what blocking the chosen entry would do, or freeing it",
            ),
            Action(
                "scores.back", "Try this no more", TUNING, 664, self.context.preview.run,
                when=Need(lambda: now.preview.whole.aside, "Nothing is tried out on the whole chat."),
                tip="Back to the texts and settings that are being edited",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """The menu of an answer has what can be expected of its entry."""
        self._answers.addActions([self.context.action(name) for name in ON_AN_ENTRY])

    # ---- what is expected -------------------------------------------------------------------------------------------

    @property
    def _path(self) -> Path | None:
        project = self.context.session.project
        return expectations_path(project.changed_in) if project is not None else None

    def _expect(self, should: Should, *, here: bool = False, whenever: str = "") -> None:
        project, selection = self.context.session.project, self.context.selection
        entry = self.context.session.entry(selection.entry)
        if project is None or entry is None or (here and selection.generation is None):
            self.context.flash(tr("Choose an entry first.") if entry is None else tr("Choose a reply first."))
            return
        mark = None
        if here and selection.generation is not None:
            message = selection.generation.message
            mark = ReplyMark(chat_name(project), message, answered(project.chat or Chat(), message))
        self.add(Expectation(should, (self._name(entry),), whenever=whenever, reply=mark), entry.title)

    def _name(self, entry: Entry) -> str:
        """What the entry is called in the file: by its own file, with its vault where there are several."""
        project = self.context.session.project
        several = project is not None and len(project.index.vaults) > 1
        return f"{entry.vault}:{entry.filename}" if several else entry.filename

    def _pick_other(self, should: Should) -> None:
        """Let the other entry be picked, and expect both."""
        project, entry = self.context.session.project, self.context.session.entry(self.context.selection.entry)
        if project is None or entry is None:
            return
        others = [Choice(each.title, each.filename, "", each) for each in project.index.entries if each is not entry]
        title = tr("{title} should {what}…", title=entry.title, what=tr(should.value))
        self.context.pick(
            title, tr("Title of the other entry"), others,
            lambda other: self.add(
                Expectation(should, (self._name(entry), self._name(other))), entry.title, other.title
            ),
        )  # fmt: skip

    def _ask_tokens(self, *, constants: bool = False) -> None:
        """Ask how many tokens the entry, or all constants, should take at most."""
        entry = self.context.session.entry(self.context.selection.entry)
        if entry is None and not constants:
            return
        name = CONSTANTS if constants or entry is None else self._name(entry)
        called = CONSTANTS if constants or entry is None else entry.title

        def answered(text: str) -> None:
            if text.isdecimal():
                self.add(Expectation(Should.WITHIN, (name,), int(text)), called)
            else:
                self.context.say(
                    Notice(tr("“{typed}” is no number of tokens.", typed=text), "warning", key="expectations")
                )

        title = tr("Constants should take at most") if name == CONSTANTS else tr("Should take at most")
        dialogs.ask_name(self.context.window, title, tr("Tokens"), "", answered, accept=tr("Expect"))

    def _ask_text(self) -> None:
        entry = self.context.session.entry(self.context.selection.entry)
        if entry is not None:
            chat = self.context.session.chat or Chat()
            said = comparable("\n".join(message.text for message in chat.messages))
            start = next((key for key in entry.keys if comparable(key) in said), next(iter(entry.keys), ""))
            title = tr("{title} should be in whenever this is said", title=entry.title)
            put = partial(self._expect, Should.IN)
            dialogs.ask_name(
                self.context.window, title, tr("Text in the message"), start, lambda text: put(whenever=text),
                accept=tr("Expect"),
            )  # fmt: skip

    def add(self, expectation: Expectation, *called: str) -> None:
        """Write one more; its notes are `called` so."""
        sentence = replace(expectation, notes=called or expectation.notes).sentence
        self._change(tr("Expect: {sentence}", sentence=sentence), lambda now: now.with_added(expectation))

    def remove(self) -> None:
        """Take the chosen one out of the file."""
        row = self.pane.current
        if row is not None and row.checked is not None:
            gone, called = row.checked.expectation, row.checked.judged.called
            self._change(
                tr("Expect no more: {sentence}", sentence=called.sentence), lambda now: now.without(_same(now, gone))
            )

    def _change(self, title: str, change: Callable[[Expectations], Expectations]) -> None:
        path = self._path
        if path is None:
            return

        def plan(_notes: object) -> Planned:
            now = load(path)
            after = change(now)
            before = None if now.digest is None else now.text
            return Planned(ChangeSet(title, (NoteFileChange(path, before, after.text),)))

        self._work.carry_out(plan)

    def _written(self, done: Done) -> None:
        if any(self._path in {each.path, each.place} for each in done.changes.changes):
            self._seen = (None, None)
            self.look()

    # ---- checking ---------------------------------------------------------------------------------------------------

    def _wait(self) -> None:
        if self.context.session.project is not self._seen[0]:
            self.context.expected.take(None)  # numbers of entries may mean others now
        self._grey()
        self._settle.start()

    def _grey(self) -> None:
        """Grey what is of another run than that of now; what is under way for such a run is given up."""
        simulator = self.context.session.runs.complete()
        if self.is_made("scores"):
            self.scores.set_current(current=bool(self._scored) and self._scored[0] is simulator)
        if self._stepped is not None and self._stepped is not simulator:
            self._stepping.cancel()
            self._stepped = None
            self.scores.outdate_steps()

    def _runs_changed(self) -> None:
        if not self.context.session.busy:
            self._wait()

    def look(self) -> None:
        """Read the file and check it against what was run, where either is new."""
        self._settle.stop()
        session, path = self.context.session, self._path
        project, simulator = session.project, session.runs.complete()
        if project is None or path is None:
            self._newest.cancel()
            self._seen, self.checked, self._expected = (None, None), None, Expectations()
            self.context.expected.take(None)
            title, text = tr("No vault"), tr("Open the folder with your notes, and say what should be in the prompt.")
            if project is not None:
                title = tr("Nothing to keep them in")
                text = tr("Expectations are kept in a file of the vault's folder, and nothing of this project has one.")
            self._tell(lambda pane: pane.show_nothing(title, text))
            self.score()
            return
        seen = project, simulator
        if self._seen == seen:
            return
        traces = TraceBook(simulator.traces if simulator is not None else {}).values()
        label = session.choice.title

        def work(_job: object) -> tuple[Expectations, CheckedChat]:
            expected = load(path)
            return expected, checked(project, expected.every, label, traces if expected.every else ())

        title, failed = tr("Checking what is expected"), partial(self._failed, seen)
        self._newest.start(title, work, done=lambda found: self._found(seen, *found), failed=failed)

    def _found(self, seen: tuple[Project, Simulator | None], expected: Expectations, found: CheckedChat) -> None:
        self._seen, self._expected, self.checked = seen, expected, found
        self.context.preview.whole.expect(expected.every)
        self.context.expected.take(found)
        self.score()
        if not expected.every and not expected.problems:
            text = tr(
                "Say which entries should be in a reply, and which should not. After every change you see here what "
                "does not hold any more, and which stage broke it. Choose a reply and an entry first; the menu of an "
                "answer, with the right mouse button, and “Expectations” in the Trace menu have more."
            )
            doors = tuple((each, self.context.commands.title(each)) for each in ("expect.in", "expect.out"))
            if self.context.session.chat is None:
                text = tr("Open a chat, and say which entries should be in its replies, and which should not.")
                doors = (("chat.open", tr("Open chat…")),)
            self._tell(lambda pane: pane.show_nothing(tr("Nothing is expected yet"), text, doors))
        else:
            keys = self.context.keys("replay.all")
            waits = tr("Replay the chat, and it is checked ({keys}).", keys=keys) if seen[1] is None else ""
            problems = [_short(each, self._path) for each in expected.problems]
            self._tell(lambda pane: pane.show_checked(found, problems, waits))
        self.context.actions_changed()

    def _failed(self, seen: tuple[Project, Simulator | None], error: Exception) -> None:
        self._seen, self.checked = seen, None
        self.context.expected.take(None)
        text = sentence_of(error)
        self._tell(lambda pane: pane.show_nothing(tr("The expectations cannot be read"), text))
        self.context.say(Notice(text, "warning", key="expectations"))

    def _tell(self, told: Callable[[ExpectationsPane], None]) -> None:
        """Have the pane show this, now or once it is made."""
        self._told = told
        if self.is_made("expectations"):
            told(self.pane)

    def _has_chosen(self) -> bool:
        row = self.pane.current if self.is_made("expectations") else None
        return row is not None and row.checked is not None

    # ---- scores -----------------------------------------------------------------------------------------------------

    def _has_run(self) -> bool:
        return self.context.session.runs.complete() is not None

    def score(self) -> None:
        """Score the chat as it was run, where somebody looks and that is not done yet."""
        session = self.context.session
        project, simulator = session.project, session.runs.complete()
        if not (self.is_made("scores") and self.scores.isVisible()):
            return
        if project is None or simulator is None:
            self._scoring.cancel()
            self._scored, keys = (), self.context.keys("replay.all")
            if session.chat is None:
                text = tr("Open a chat and replay it ({keys}): then it is scored.", keys=keys)
                self.scores.show_nothing(tr("No chat open"), text, (("chat.open", tr("Open chat…")),))
            else:
                text = tr("Replay the chat ({keys}): then it is scored.", keys=keys)
                self.scores.show_nothing(tr("Nothing was run"), text, (("replay.all", tr("Replay all")),))
            return
        of = (simulator, self._expected.every)
        if of == self._scored:
            return
        self._scored = of
        self.scores.set_current(current=False)
        traces, expected, label = TraceBook(simulator.traces), self._expected.every, session.choice.title

        def work(_job: object) -> tuple[ScoredChat, list[MetricRow]]:
            from lorestudio.ui.features.tuning.scores_pane import metric_rows

            found = scored(project, expected, [(label, traces)])[0]
            return found, metric_rows(found, project.seed)

        title = tr("Scoring the chat")
        failed = self.context.failing("scores", "warning")
        self._scoring.start(title, work, done=lambda found: self.scores.show_scores(*found), failed=failed)

    def _can_try(self, part: ControlsPart) -> bool:
        entry = self.context.session.entry(self.context.selection.entry)
        return self._has_run() and entry is not None and not self._unheeded(part)

    def _unheeded(self, part: ControlsPart) -> str:
        session = self.context.session
        return why_unheeded(session.project, session.choice.system, part)

    def try_choice(self, part: ControlsPart) -> None:
        """Run the whole chat with the chosen entry pinned or blocked, or free where it is that."""
        project, entry = self.context.session.project, self.context.session.entry(self.context.selection.entry)
        if project is not None and entry is not None:
            controls = toggled(project.controls, part, [entry], project.index)
            self.context.preview.whole.try_changes(None, (), controls, aside=True)
            self.show_change()

    def show_change(self) -> None:
        """Show what is tried out does to every reply."""
        self.context.show("scores")
        self.scores.tabs.setCurrentWidget(self.scores.change_page)

    def try_every_setting(self) -> None:
        """Run the whole chat with a step of each setting, and without each pin and block."""
        chat, session = self.context.preview.whole.chat(), self.context.session
        if chat is None:
            return
        self._stepped = session.runs.complete()
        self.context.uncover("scores")
        self.scores.tabs.setCurrentWidget(self.scores.steps_page)

        def work(job: Job) -> tuple[StepEffect, ...]:
            found: list[StepEffect] = []
            for each in sensitivity(chat, cancel=job.token):
                found.append(each)
                job(tuple(found))
            return tuple(found)

        def told(found: Sequence[StepEffect], *, running: bool) -> None:
            self._show_steps(found, count(len(found), "step was tried", "steps were tried"), running=running)

        self._stepping.start(
            tr("Trying every setting"), work, done=partial(told, running=False), reported=partial(told, running=True),
            failed=self.context.failing("scores", "warning"), owner=self.scores,
        )  # fmt: skip
        told((), running=True)

    def _show_steps(self, found: Sequence[StepEffect], tried: str, *, running: bool) -> None:
        self._steps = found
        quiet = sum(not each.effects.changed for each in found)
        words = tr("{steps}; {quiet} change nothing.", steps=tried, quiet=number(quiet))
        self.scores.show_steps(found, words, running=running)
        self.context.actions_changed()

    def _stop_steps(self) -> None:
        """Stop; what was found stays."""
        self._stepping.cancel()
        tried = tr("Stopped after {steps}", steps=count(len(self._steps), "step", "steps"))
        self._show_steps(self._steps, tried, running=False)

    def _drop_steps(self, before: Project | None, now: Project | None, _renewed: str) -> None:
        """Forget what the settings of another vault do."""
        if is_other_lore(before, now) and self.is_made("scores"):
            self._stepping.cancel()
            self._stepped, self._steps = None, ()
            self.scores.show_steps((), "")

    def _look_at(self, place: object, entry: object) -> None:
        """Look at a reply, at the first one from a message on, or at an entry."""
        if isinstance(place, int):
            place = next((each for each in self.context.session.generations if each.message >= place), None)
        self._jump(place, entry)

    def _go(self, row: ExpectationRow) -> None:
        """Look at the first reply in which it is broken; where it is met, at the first of which it speaks."""
        if row.checked is None:
            return
        if row.checked.breaks:
            first = row.checked.breaks[0]
            self._jump(first.generation, first.entry)
        elif row.checked.judged.turns:
            generation: Generation = row.checked.judged.turns[0].generation
            self._jump(generation, None)


def _short(problem: str, path: Path | None) -> str:
    """With the file's name in place of its path."""
    return problem if path is None else problem.replace(str(path), path.name)


def _same(now: Expectations, wanted: Expectation) -> Expectation:
    """The one in the file that says this; where several do, the one that stands nearest to its old line."""
    alike = [each for each in now.every if each == wanted]
    return min(alike, key=lambda each: abs(each.line - wanted.line), default=wanted)
