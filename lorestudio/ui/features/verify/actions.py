"""Comparing what a chat recorded with its runs, and taking over what explains the differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from lorestudio.domain.chat import Generation
from lorestudio.domain.history import HistoryRule
from lorestudio.domain.records import replace
from lorestudio.settings.studio import ALONE, FOLLOWED
from lorestudio.studio.project.project import Project
from lorestudio.studio.verify.agreement import ComparedReply
from lorestudio.studio.verify.causes import Verified, verify
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.ui.shell.actions import Action, Need
from lorestudio.ui.shell.feature import Context, Feature, late_pane
from lorestudio.ui.shell.jobs import Job, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import tr

if TYPE_CHECKING:
    from lorestudio.ui.features.verify.pane import VerifyPane

SETTLE_MS = 600
"""So long nothing may change before a chat that was compared once is compared again."""

MENU = "Trace/Compare"


class VerifyFeature(Feature):
    """Owns the pane. What was found is shown beside the replies and the answers until something else counts."""

    def __init__(
        self, context: Context, jump: Callable[[object, object], None], show_beside: Callable[[Verified | None], None]
    ) -> None:
        """`jump` leads to a generation, `show_beside` marks the replies."""
        super().__init__(context)
        self._jump, self._show_beside = jump, show_beside
        self.found: Verified | None = None
        self._found_in: Project | None = None
        self._seen: tuple[Project | None, object] = (None, None)
        self._newest = Newest(context.session.jobs)
        self._settle = later(self, self._look_again, SETTLE_MS)
        context.session.project_changed.connect(self._changed)
        context.session.choice_changed.connect(self._changed)

    @late_pane("verify", "Recorded and replayed")
    def pane(self) -> VerifyPane:
        """What was found, which nobody asks for before the pane is seen."""
        from lorestudio.ui.features.verify.pane import VerifyPane

        pane = VerifyPane(self.context.theme, self.home("verify"))
        pane.reply_view.picked.connect(self._go)
        pane.cause_view.chosen.connect(lambda _cause: self.context.actions_changed())
        return pane

    def pane_made(self, _name: str) -> None:
        """Say what it is for."""
        self._say_what_for()

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        has_records = self.context.has_chat.also(self._has_records, "No chat keeps what this system put in.")
        return (
            Action(
                "verify.compare", "Compare with what the chat recorded", MENU, 240, self.compare,
                when=has_records, off=self._why_not, icon="columns",
                tip="Hold what went into the real prompts against the runs, and look for what explains differences",
            ),
            Action(
                "verify.follow", "Begin from what was recorded", MENU, 241, self.follow, when=has_records,
                off=self._why_not, ticked=lambda: self._records == FOLLOWED,
                tip="Each reply begins from what the chat recorded of those before it; a model's choice is taken over",
            ),
            Action(
                "verify.take", "Apply the chosen cause", MENU, 242, self.take,
                when=Need(self._can_take, "Compare with what the chat recorded, and choose a cause first."),
            ),
        )  # fmt: skip

    # ---- comparing --------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        """Something else counts: what was compared before is compared anew, another chat waits to be asked for."""
        session = self.context.session
        project = session.project
        before = self._seen[0]
        if (project, session.choice) == self._seen:
            return
        same_chat = before is not None and project is not None and before.chat_path == project.chat_path
        if same_chat and (self.found is not None or self._newest.busy):
            if self.is_made("verify") and not self._in_this_chat:
                self.pane.take.hide()
            self._settle.start()
            return
        self._settle.stop()
        self._newest.cancel()
        self._forget()

    def _forget(self) -> None:
        self.found, self._found_in, self._seen = None, None, (None, None)
        self._show_beside(None)
        if self.is_made("verify"):
            self._say_what_for()

    def _has_records(self) -> bool:
        """Whether chats may keep what the system that decides put in."""
        return self.context.has_chat() and bool(kind_of(self.context.session.choice.system).records)

    def _why_not(self) -> str:
        """Why nothing can be compared, "" where that goes without saying."""
        if not self.context.has_chat() or self._has_records():
            return ""
        title = tr(kind_of(self.context.session.choice.system).title)
        return tr("{system}: no chat keeps what it put into its prompts", system=title)

    def _say_what_for(self) -> None:
        kind, project = kind_of(self.context.session.choice.system), self.context.session.project
        if project is None or project.chat is None:
            text = tr("Open a chat that was written with {system}, and the vault that it was written with.")
            if project is not None and project.of_books:
                text = tr("Open a chat that was written with {system} and this lorebook.")
            doors = (("chat.open", tr("Open chat…")),)
            self.pane.show_nothing(tr("No chat open"), text.format(system=tr(kind.title)), doors)
            return
        if not kind.records:
            text = tr("No chat keeps what {system} put into its prompts, so there is nothing to hold the runs against.")
            self.pane.show_nothing(tr("Nothing to compare with"), text.format(system=tr(kind.title)))
            return
        text = tr(
            "DeepLore writes beside each reply what it put into the prompt. Here that is held against the runs, and "
            "what differs is explained."
        )
        if not kind.in_project:
            text = tr(
                "Some extensions write beside each reply what {system} put into the prompt. Here that is held against "
                "the runs, and what differs is explained."
            ).format(system=tr(kind.title))
        buttons = (("verify.compare", tr("Compare")),)
        self.pane.show_nothing(tr("Nothing is compared yet"), text, buttons)

    def compare(self) -> None:
        """Compare, and show the pane."""
        self.context.uncover("verify")
        self._look_again()

    def _look_again(self) -> None:
        session = self.context.session
        project, choice = session.project, session.choice
        if project is None or not self._has_records():
            self._forget()
            return
        self._settle.stop()
        self._seen = (project, choice)

        def work(job: Job) -> Verified:
            system = system_of(project.scene(), kind_of(choice.system), choice.settings)
            return verify(project, system, job, job.token)

        title = tr("Comparing with what the chat recorded")
        done = partial(self._done, project)
        self._newest.start(
            title, work, done=done, failed=self._failed, reported=self.pane.show_progress, owner=self.pane
        )

    def _failed(self, error: Exception) -> None:
        self._forget()
        self.context.failing("verify")(error)

    def _done(self, project: Project, found: Verified) -> None:
        self.found, self._found_in = found, project
        self.pane.show_verified(found)
        self._show_beside(found)
        self.context.actions_changed()

    def _go(self, reply: ComparedReply) -> None:
        generation: Generation = reply.generation
        project, before = self.context.session.project, self._found_in
        known = project is not None and before is not None and project.index is before.index  # else numbers are others
        entries = (each.entry for each in reply.differing if known and each.entry is not None)
        self._jump(generation, next(entries, None))

    # ---- taking over ------------------------------------------------------------------------------------------------

    @property
    def _records(self) -> str:
        project = self.context.session.project
        return project.basis.settings.records if project is not None else ALONE

    def follow(self) -> None:
        """Have the replay begin from the records, or go its own way again."""
        project = self.context.session.project
        if project is not None:
            chosen = ALONE if self._records == FOLLOWED else FOLLOWED
            settings = project.basis.settings.model_copy(update={"records": chosen})
            basis = replace(project.basis, settings=settings)
            self.context.session.parts.adjust(tr("what answers rest on"), basis=basis)

    @property
    def _in_this_chat(self) -> bool:
        """Whether what was found is of the chat as it is; in another one messages have other numbers."""
        project, before = self.context.session.project, self._found_in
        return project is not None and before is not None and project.chat is before.chat

    def _can_take(self) -> bool:
        cause = self.pane.cause if self._in_this_chat else None
        return cause is not None and cause.can_be_taken_over

    def take(self) -> None:
        """Make the chosen cause hold here: a setting, or since when a message is hidden."""
        cause, session = self.pane.cause, self.context.session
        project = session.project
        if cause is None or project is None:
            return
        hidden, values = cause.suspect.hidden, cause.suspect.settings
        if hidden:
            then = project.basis.settings.model_copy(
                update={"history": HistoryRule.THEN.value}
            )  # else it would say nothing
            basis = replace(project.basis, settings=then)
            for each in hidden:
                basis = basis.saying(each.first, each.last, each.since)
            session.parts.adjust(cause.title, basis=basis)
        else:
            session.parts.change(cause.title, values)


def badges(found: Verified | None) -> dict[tuple[int, int], tuple[str, str, str]]:
    """What stands beside each reply: its glyph, its colour, and what became of it in a word or two."""
    if found is None:
        return {}
    from lorestudio.ui.features.verify.pane import SIGNS

    return {
        (each.generation.message, each.generation.swipe): (*SIGNS[each.verdict], tr(each.verdict.value))
        for each in found.replies
    }
