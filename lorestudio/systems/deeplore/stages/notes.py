"""The chat's notebook and the AI's notepad as prompts of their own (rules: deeplore 5.10)."""

from __future__ import annotations

from lorestudio.domain.javascript import trim
from lorestudio.domain.state import Prompt
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord

NOTEPAD_INSTRUCTION = (
    "You may keep private notes for later turns: plans, promises, moods, open questions. If there is something worth "
    "keeping, put it at the very end of your reply, on a new line after everything else, in one single block that "
    "begins with <dle-notes> and ends with </dle-notes>. Write short lines for yourself. Never write notes as part of "
    "the story, and never speak of the notes: the reader does not see them."
)
"""What tag mode asks of the writing model; the wording is the studio's own."""


@stage("notes", Phase.INJECT)
def notes_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Both are written only by generations that come this far."""
    settings = ctx.settings
    if not settings.notebook_enabled and not settings.ai_notepad_enabled:
        return ledger.skipped("off", {"setting": "notebookEnabled"})
    managed = settings.injection_mode == "prompt_list"
    before = state.prompts
    written: list[Prompt] = []
    notebook = trim(ctx.moment.controls.notebook)
    if settings.notebook_enabled and notebook:
        place = (settings.notebook_position, settings.notebook_depth, settings.notebook_role)
        written.append(Prompt("deeplore_notebook", notebook, *place, managed=managed))
    notepad = _notepad(ctx)
    if settings.ai_notepad_enabled and notepad:
        place = (settings.ai_notepad_position, settings.ai_notepad_depth, settings.ai_notepad_role)
        written.append(Prompt("deeplore_ai_notepad", notepad, *place, managed=managed))
    tags = [prompt.tag for prompt in written]
    state.prompts = (*(prompt for prompt in before if prompt.tag not in tags), *written)
    if state.outcome is not None and state.prompts != before:
        state.note_switch("notes_without_lore", ledger.name, "they went in without lore")
    return ledger.close(state.candidates, details={"prompts": tags})


def _notepad(ctx: Inputs) -> str:
    parts: list[str] = []
    notes = trim(ctx.moment.controls.notepad)
    if notes:
        parts.append(f"[Your previous session notes]\n{notes}\n[End of session notes]")
    if ctx.settings.ai_notepad_mode == "tag":
        own = ctx.settings.ai_notepad_prompt
        parts.append(own if trim(own) else NOTEPAD_INSTRUCTION)
    return "\n\n".join(parts)
