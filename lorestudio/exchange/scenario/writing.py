"""Writing scenario files: what `reading` reads, in the golden format 1."""

from __future__ import annotations

import json
from typing import Any

from lorestudio.domain.chat import Message
from lorestudio.domain.javascript import Json
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.scenario.reading import Scenario

_READ_EXTRAS = ("type", "isSmallSys", "tool_invocations")
"""What of a message's extras a run looks at; the rest says more about a chat than anybody needs to repeat it."""


def scenario_bytes(scenario: Scenario) -> bytes:
    """The scenario as one JSON object in UTF-8, without what is at its default."""
    value = scenario.model_dump(exclude_defaults=True)
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "backslashreplace") + b"\n"  # half a surrogate pair becomes its JSON escape


def message_record(message: Message) -> dict[str, Any]:
    """A message as far as a run reads it (golden format 1.3)."""
    record: dict[str, Any] = {"mes": message.text, "is_user": message.is_user}
    if message.name is not None:
        record["name"] = message.name
    if message.is_system:
        record["is_system"] = True
    if message.is_thoughts:
        record["is_thoughts"] = True
    if message.swipe_id:
        record["swipe_id"] = message.swipe_id
    extra = {key: message.extra[key] for key in _READ_EXTRAS if key in message.extra}
    return record | ({"extra": extra} if extra else {})


def controls_metadata(controls: ChatControls) -> dict[str, Json]:
    """A person's choices for a chat in its metadata's keys (golden format 1.4); what is not chosen is not there."""
    values: dict[str, Json] = {
        "deeplore_pins": [_rule(rule) for rule in controls.pins],
        "deeplore_blocks": [_rule(rule) for rule in controls.blocks],
        "deeplore_folder_filter": list(controls.folders),
        "deeplore_context": dict(controls.context),
        "deeplore_notebook": controls.notebook,
        "deeplore_ai_notepad": controls.notepad,
        "deeplore_lastScribeSummary": controls.scribe_summary,
    }
    return {key: value for key, value in values.items() if value}


def _rule(rule: EntryRule) -> Json:
    return {"title": rule.title, "vaultSource": rule.vault} if rule.vault else rule.title
