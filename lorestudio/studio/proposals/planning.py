"""Making proposals: which notes are asked about, which are left out and why, what is asked, and asking it.

Planning reads the notes and asks nobody. Asking is paced and stoppable, and what is done is kept by whoever asked;
answers are recorded a file a vault, so that nothing is asked for twice. Contents and limits: rules: deeplore-tools 2.1,
2.5, 2.6.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Message, transcript
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.file_names import underscored_name
from lorestudio.domain.javascript import Json, fold, head, trim
from lorestudio.domain.lifecycle import CancelToken, heed
from lorestudio.domain.resources import prompt_text
from lorestudio.domain.texts import text_digest
from lorestudio.exchange.problems import InputError
from lorestudio.llm.cost import CostEstimate, estimate
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import AnswerSource, ChatRequest, as_sent
from lorestudio.settings.deeplore import INHERIT, DeepLoreSettings, tool_model
from lorestudio.settings.rules import NEW
from lorestudio.studio.notes.book_entries import is_book_entry, parsed_entry, read_text
from lorestudio.studio.notes.vault_notes import aliases_of
from lorestudio.studio.project.answering import Asked, Connections, Source, load_recorded, make_answers
from lorestudio.studio.project.project import Project
from lorestudio.studio.proposals.judging import Judge
from lorestudio.studio.proposals.model import (
    DraftPassage,
    Material,
    Proposal,
    ProposalKind,
    ProposalPlan,
    ProposalTask,
    Skipped,
    is_locked,
    is_locked_itself,
)
from lorestudio.studio.proposals.reading import one_line
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.files import VaultError, default_folder

SUMMARY_SOURCE: Final = 3000
"""Code units of a note's content that a summary is made from."""
KEYS_SOURCE: Final = 1500
"""Code units of a note's content that keys are made from."""
SUMMARY_TOKENS: Final = 300
MOST_TITLES: Final = 500
"""So many titles at most are named to keep a draft from repeating them; the check of its title knows all of them."""

ALONE: Final = "keyword"

MODES: Final[Mapping[str, str]] = {
    ALONE: "The keys alone decide whether the note is used, so be precise.",
    "two-stage": "The keys only preselect; a model then chooses among what matched. So broader words are welcome.",
}
"""How the keys are used, by the values of DeepLore's setting optimizeKeysMode."""

_KEYS_SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {"suggested": {"type": "array", "items": {"type": "string"}}, "reasoning": {"type": "string"}},
    "required": ["suggested", "reasoning"],
    "additionalProperties": False,
}
_DRAFT_SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "keys": {"type": "array", "items": {"type": "string"}},
        "summary": {"type": "string"},
        "content": {"type": "string"},
    },
    "required": ["title", "keys", "summary", "content"],
    "additionalProperties": False,
}
_TAGS: Final = re.compile(r"<(?=/?(?:note|note_text|existing_titles|passage|subject|hint)>)")
_WORD: Final = re.compile(r"\w{3,}")


def summary_request(material: Material, settings: DeepLoreSettings, model: str = "") -> ChatRequest:
    """The question for a summary. `model` is the one of the answer source where the settings name none.

    DeepLore 2.6 has settings of its own for summaries (rules: deeplore-newer 2).
    """
    newer = settings.rules.startswith(NEW)
    own = settings.summary_system_prompt if newer else ""
    return ChatRequest(
        ProposalKind.SUMMARY.value,
        own if trim(own) else prompt_text(ProposalKind.SUMMARY),
        _note(material, SUMMARY_SOURCE),
        max_tokens=settings.summary_max_tokens if newer else SUMMARY_TOKENS,
        timeout_ms=settings.summary_timeout if newer else settings.ai_search_timeout,
        model=settings.ai_search_model or model,
        prose=True,
    )


def keys_request(material: Material, mode: str, settings: DeepLoreSettings, model: str = "") -> ChatRequest:
    """The question for better keys; `mode` is one of `MODES`. DeepLore itself always gives the two-stage hint."""
    own = settings.optimize_keys_prompt
    return ChatRequest(
        ProposalKind.KEYS.value,
        own if trim(own) else prompt_text(ProposalKind.KEYS),
        f"{_tagged('hint', MODES[mode])}\n{_note(material, KEYS_SOURCE)}",
        max_tokens=settings.optimize_keys_max_tokens,
        timeout_ms=settings.optimize_keys_timeout,
        json_schema=_KEYS_SCHEMA,
        schema_name="note_keys",
        model=tool_model(settings.optimize_keys_connection_mode, settings.optimize_keys_model, settings) or model,
    )


def draft_request(
    messages: Sequence[Message], titles: Sequence[str], focus: str, settings: DeepLoreSettings, model: str = ""
) -> ChatRequest:
    """The question for a new note from these messages; hidden and system messages are left out."""
    own = settings.auto_suggest_prompt
    passage = transcript(messages, len(messages))
    parts = [_tagged("existing_titles", "\n".join(_named(titles, passage)))]
    if trim(focus):
        parts.append(_tagged("subject", trim(focus)))
    return ChatRequest(
        ProposalKind.DRAFT.value,
        own if trim(own) else prompt_text(ProposalKind.DRAFT),
        "\n".join([*parts, _tagged("passage", passage)]),
        max_tokens=settings.auto_suggest_max_tokens,
        timeout_ms=settings.auto_suggest_timeout,
        json_schema=_DRAFT_SCHEMA,
        schema_name="note_draft",
        model=tool_model(settings.auto_suggest_connection_mode or INHERIT, settings.auto_suggest_model, settings)
        or model,
    )


def _note(material: Material, limit: int) -> str:
    entry = material.entry
    fields = (("Title", (entry.title,)), ("Aliases", material.aliases), ("Keys", entry.keys))
    written = "\n".join(f"{name}: {', '.join(one_line(item) for item in items)}" for name, items in fields if items)
    return f"{_tagged('note', written)}\n{_tagged('note_text', _whole(head(entry.content, limit)))}"


def _tagged(tag: str, text: str) -> str:
    """The text between tags; what looks like one of our tags in it is made harmless."""
    return f"<{tag}>\n{_TAGS.sub('‹', text)}\n</{tag}>"


def _whole(text: str) -> str:
    """Without the half of a character that a cut may leave at the end."""
    return text[:-1] if text and "\ud800" <= text[-1] <= "\udbff" else text


def _named(titles: Iterable[str], passage: str) -> list[str]:
    """The titles to name: all, or of too many first those that share a word with the passage."""
    written = [one_line(title) for title in titles]
    if len(written) <= MOST_TITLES:
        return written
    said = set(_WORD.findall(fold(passage)))
    return sorted(written, key=lambda title: said.isdisjoint(_WORD.findall(fold(title))))[:MOST_TITLES]


LOCKED_ITSELF: Final = "It is locked by its own property “locked”."
LOCKED_HERE: Final = "It is locked in the studio. Unlock it to have proposals for it."
UNSAVED: Final = "It has unsaved text in the editor. Save it first."
NO_FOLDER: Final = "Its vault has no folder here, so it cannot be written."
NOTHING_TO_READ: Final = "It has no text to go by."
HAS_SUMMARY: Final = "It has a summary."
NO_SUMMARIES: Final = "It is an entry of a lorebook, and these have no summaries."

MOST_MESSAGES: Final = 100
"""So many messages at most make a passage."""


class Guard(Struct, frozen=True):
    """What must not be touched: the studio's locked notes (`NoteLocks.load`), and notes with unsaved text."""

    locked: Collection[str] = frozenset()
    unsaved: Collection[Path] = frozenset()

    def reason(self, path: Path, text: str) -> str:
        """Why nothing may be proposed for a note, "" where something may."""
        if is_locked_itself(text):
            return LOCKED_ITSELF
        if is_locked(path, self.locked):
            return LOCKED_HERE
        return UNSAVED if path in self.unsaved else ""


def plan_summaries(
    project: Project,
    entries: Iterable[Entry] | None = None,
    guard: Guard | None = None,
    *,
    model: str = "",
    again: bool = False,
    cancel: CancelToken | None = None,
) -> ProposalPlan:
    """Ask for a summary of each of the entries, by default all of the project, that has none; with `again`, of all.

    Notes that have one are named as skipped where entries were chosen; of a whole vault they are passed over.
    Raises Cancelled.
    """
    chosen = entries is not None

    def asked(material: Material) -> ChatRequest | str:
        if is_book_entry(material.path):
            return NO_SUMMARIES
        if not again and trim(material.entry.summary):
            return HAS_SUMMARY if chosen else ""
        return summary_request(material, project.settings, model)

    wanted = project.index.entries if entries is None else entries
    return _plan(project, ProposalKind.SUMMARY, wanted, guard, asked, cancel)


def plan_keys(
    project: Project,
    entries: Iterable[Entry],
    guard: Guard | None = None,
    *,
    mode: str = "",
    model: str = "",
    cancel: CancelToken | None = None,
) -> ProposalPlan:
    """Ask for better keys of each of the entries. `mode` is one of `MODES`, by default what the settings say.

    Of a lorebook the keys alone decide. Raises Cancelled, and InputError for another mode.
    """
    mode = mode or (ALONE if project.of_books else project.settings.optimize_keys_mode)
    if mode not in MODES:
        raise InputError("mode", f"there is no mode “{mode}”. There are: {', '.join(MODES)}.")
    asked = partial(keys_request, mode=mode, settings=project.settings, model=model)
    return _plan(project, ProposalKind.KEYS, entries, guard, asked, cancel)


def plan_draft(
    project: Project, numbers: Sequence[int], focus: str = "", *, model: str = "", option: str = "messages"
) -> ProposalPlan:
    """Ask for a new note from the messages with these indices. Raises InputError with what to do about the `option`."""
    chat = project.chat
    if chat is None:
        raise InputError("chat", "a draft is written from messages, and no chat is open. Open one first.")
    wanted = tuple(sorted(set(numbers)))
    if not wanted or wanted[0] < 0 or wanted[-1] >= len(chat.messages):
        raise InputError(option, f"choose messages from #0 to #{len(chat.messages) - 1}.")
    if len(wanted) > MOST_MESSAGES:
        raise InputError(option, f"{len(wanted)} are too many for one draft. Choose at most {MOST_MESSAGES}.")
    messages = [chat.messages[number] for number in wanted]
    if not any(message.scannable and trim(message.text) for message in messages):
        raise InputError(option, "they are all hidden or empty. Choose messages that the story has.")
    titles = tuple(dict.fromkeys(entry.title for entry in project.index.entries))
    request = draft_request(messages, titles, focus, project.settings, model)
    passage = DraftPassage(draft_folder(project), wanted, titles)
    return ProposalPlan(ProposalKind.DRAFT, (ProposalTask(ProposalKind.DRAFT, passage, request),))


def draft_folder(project: Project) -> Path:
    """Where drafts go: the folder for suggestions of the first vault that has one. Raises InputError where none has."""
    if not project.roots:
        raise InputError("vault", "a note is written into a vault's folder, and this vault has none.")
    parts = [
        part for part in project.settings.auto_suggest_folder.replace("\\", "/").split("/") if part not in ("", ".")
    ]
    if ".." in parts:
        text = f"the folder for suggestions “{project.settings.auto_suggest_folder}” leads out of the vault."
        raise InputError("settings", text, field="autoSuggestFolder")
    return project.roots[0].joinpath(*parts)


def read_material(project: Project, entry: Entry, guard: Guard) -> Material | Skipped:
    """The note, or the entry of a lorebook, as it is on disk now, or why nothing may be proposed for it."""
    path = project.note_path(entry.vault, entry.filename)
    if path is None:
        return Skipped(entry.filename, entry.title, NO_FOLDER)
    try:
        text, _ = read_text(path)
    except VaultError as error:
        return Skipped(entry.filename, entry.title, str(error))
    reason = guard.reason(path, text)
    if reason:
        return Skipped(entry.filename, entry.title, reason)
    parsed: Entry | LeftOutNote | None
    if is_book_entry(path):
        parsed = parsed_entry(project, NoteText(entry.vault, entry.filename, text)) or entry
    else:
        rules = ParseRules.from_settings(project.settings, project.index.fields)
        parsed = parse_note(text, entry.filename, entry.vault, rules, project.counter)
    if isinstance(parsed, LeftOutNote):
        return Skipped(entry.filename, entry.title, f"It is no entry any more: {parsed.message}")
    if not trim(parsed.content):
        return Skipped(entry.filename, parsed.title, NOTHING_TO_READ)
    return Material(path, parsed, text, aliases_of(text, parsed.title))


def _plan(
    project: Project,
    kind: ProposalKind,
    entries: Iterable[Entry],
    guard: Guard | None,
    asked: Callable[[Material], ChatRequest | str],
    cancel: CancelToken | None,
) -> ProposalPlan:
    """`asked` gives the question about a note, or the reason to leave it out, "" to pass it over without a word."""
    tasks: list[ProposalTask] = []
    skipped: list[Skipped] = []
    for entry in entries:
        heed(cancel)
        material = read_material(project, entry, guard or Guard())
        if isinstance(material, Skipped):
            skipped.append(material)
            continue
        found = asked(material)
        if isinstance(found, ChatRequest):
            tasks.append(ProposalTask(kind, material, found))
        elif found:
            skipped.append(Skipped(entry.filename, material.entry.title, found))
    return ProposalPlan(kind, tuple(tasks), tuple(skipped))


def default_records() -> Path:
    """Where the answers for proposals lie, a file a vault."""
    return default_folder().parent / "proposals"


def record_of(project: Project, records: Path) -> Path:
    """What the answers for a project's notes lie beside; no file of this name is made."""
    places = "\n".join(project.places or tuple(map(str, (*project.vault_folders, *project.book_paths))))
    name = underscored_name(project.index.vaults[0], "vault") if project.index.vaults else "vault"
    digest = text_digest(places)[:12]
    return records / f"{name}-{digest}.jsonl"


def proposal_answers(
    source: Source,
    project: Project,
    connections: Connections,
    records: Path,
    asked: Asked | None = None,
    *,
    fresh: bool = False,
) -> tuple[AnswerSource, str]:
    """The answer source of a choice, and the model that requests name.

    What a provider or a person answers is recorded for the vault, so that a batch that was stopped, or is made again
    after a restart, asks for nothing twice; `fresh` asks again all the same. Raises AnsweringError or SettingsError.
    """
    return make_answers(source, record_of(project, records), connections, asked=asked, fresh=fresh)


def proposals_cost(
    tasks: Sequence[ProposalTask], source: Source, project: Project, records: Path, *, fresh: bool = False
) -> CostEstimate:
    """What asking costs where the source is one that is paid or waited for; recorded answers are free unless `fresh`.

    Reads the recording. Raises AnsweringError.
    """
    if not source.waits:
        return CostEstimate(exact=project.bills.exact)
    recorded = None if fresh else load_recorded(record_of(project, records)).holds
    return estimate([task.request for task in tasks], project.bills, recorded)


PAUSE_S: Final = 0.5
"""Between a provider's answer and the next question (rules: deeplore-tools 1.3 "Throttle")."""

FAILURES_IN_A_ROW: Final = 3
"""After so many a provider is not asked any further."""

_NOT_NOW: Final = frozenset({ErrorKind.RATE_LIMITED, ErrorKind.CONNECTION, ErrorKind.NOT_SUPPORTED})
"""Failures that the next question would meet as well, besides those that recur until somebody mends them."""


class ProposalsEnded(Struct, frozen=True):
    """How a run of questions ended: how many were answered, and why the others were not asked, "" where all were."""

    done: int
    left: int = 0
    why: str = ""


class Maker(Struct, frozen=True):
    """Asks and judges. With `merged` everything goes as one user message; `clock` is in seconds."""

    answers: AnswerSource
    judge: Judge
    merged: bool = False
    clock: Callable[[], float] = time.monotonic

    async def run(self, tasks: Sequence[ProposalTask], on_proposal: Callable[[int, Proposal], None]) -> ProposalsEnded:
        """Ask about each task in order; `on_proposal(place, proposal)` gets each as it is made.

        A question that fails gives a proposal with the reason as its problem. What would fail again and again ends the
        run; what was not asked can be given to a later run. Raises whatever is no LlmError; what was handed over before
        stays.
        """
        failures = 0
        ready_at = -float("inf")
        for place, task in enumerate(tasks):
            await asyncio.sleep(max(0, ready_at - self.clock()))
            try:
                reply = await self.answers.answer(as_sent(task.request, merged=self.merged))
            except LlmError as error:
                on_proposal(place, self.judge.failed(task, _told(error)))
                failures += error.kind not in (ErrorKind.ABORTED, ErrorKind.NO_RECORDED_ANSWER)
                if error.recurs or error.kind in _NOT_NOW or failures >= FAILURES_IN_A_ROW:
                    return ProposalsEnded(place + 1, len(tasks) - place - 1, error.text)
                continue
            failures = 0
            if reply.live:
                ready_at = self.clock() + PAUSE_S
            on_proposal(place, await asyncio.to_thread(self.judge.answered, task, reply))
        return ProposalsEnded(len(tasks))


def _told(error: LlmError) -> str:
    if error.kind is ErrorKind.ABORTED:
        return "No answer was given. Ask again when you want one."
    return error.text
