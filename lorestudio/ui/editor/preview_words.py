"""What unsaved texts and settings would do to the prompt of a reply, as one sentence. Qt is not needed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lorestudio.settings.differences import value_text
from lorestudio.studio.preview import Preview
from lorestudio.studio.preview_changes import prompt_changes
from lorestudio.trace.model import EntryRef
from lorestudio.ui.words import count, number, tr

MOST_NAMES: Final = 3


def preview_words(preview: Preview) -> str:
    """Which entries enter and leave, what becomes of the tokens, and where a model's answers came from."""
    changes = prompt_changes(preview.before, preview.trace)
    parts = []
    if changes.entered:
        parts.append(tr("{titles} would enter", titles=_titles(changes.entered)))
    if changes.left:
        parts.append(tr("{titles} would leave", titles=_titles(changes.left)))
    if not parts:
        parts.append(tr("the same entries go in"))
    before, after = changes.tokens_before, changes.tokens_after
    if before == after:
        parts.append(count(after, "token, as before", "tokens, as before"))
    else:
        parts.append(tr("{before} → {after}", before=number(before), after=count(after, "token", "tokens")))
    sentence = tr("With {what}: {changes}.", what=tried(preview), changes="; ".join(parts))
    return " ".join([sentence, *preview.remarks])


def tried(preview: Preview) -> str:
    """What was tried out: `the unsaved text of Gate.md`, `Scan depth 6 messages`, or both."""
    files = ", ".join(edited.note.filename.rpartition("/")[2] for edited in preview.notes)
    parts = [tr("the unsaved text of {files}", files=files)] if files else []
    shown = preview.settings[:MOST_NAMES]
    parts += [f"{tr(one.declaration.title)} {value_text(one.declaration, one.after)}" for one in shown]
    if len(preview.settings) > MOST_NAMES:
        parts.append(count(len(preview.settings) - MOST_NAMES, "other setting", "other settings"))
    return ", ".join(parts)


def _titles(entries: Sequence[EntryRef]) -> str:
    shown = [f"“{entry.title}”" for entry in entries[:MOST_NAMES]]
    if len(entries) > MOST_NAMES:
        shown.append(count(len(entries) - MOST_NAMES, "other", "others"))
    return ", ".join(shown)
