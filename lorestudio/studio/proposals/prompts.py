"""What a model is asked for a proposal (contents and limits: spec deeplore-ai-and-tools 2.1, 2.5, 2.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from lorestudio.domain.chat import Message
from lorestudio.domain.javascript import Json, fold, head, trim
from lorestudio.engine.deeplore.ai.conversation import lines
from lorestudio.llm import ChatRequest
from lorestudio.memory.connection import INHERIT, tool_model
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.proposals.model import Material, ProposalKind
from lorestudio.studio.resources import resource

SUMMARY_SOURCE: Final = 3000
"""Code units of a note's content that a summary is made from."""
KEYS_SOURCE: Final = 1500
"""Code units of a note's content that keys are made from."""
SUMMARY_TOKENS: Final = 300
MOST_TITLES: Final = 500
"""So many titles at most are named to keep a draft from repeating them; the check of its title knows all of them."""

MODES: Final[Mapping[str, str]] = {
    "keyword": "The keys alone decide whether the note is used, so be precise.",
    "two-stage": "The keys only preselect; a model then chooses among what matched. So broader words are welcome.",
}
"""How the keys are used, by the values of DeepLore's setting optimizeKeysMode."""

_KEYS_SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "suggested": {"type": "array", "items": {"type": "string"}},
        "reasoning": {"type": "string"},
    },
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
    """The question for a summary. `model` is the one of the answer source where the settings name none."""
    return ChatRequest(
        ProposalKind.SUMMARY.value,
        prompt(ProposalKind.SUMMARY),
        _note(material, SUMMARY_SOURCE),
        max_tokens=SUMMARY_TOKENS,
        timeout_ms=settings.ai_search_timeout,
        model=settings.ai_search_model or model,
    )


def keys_request(material: Material, mode: str, settings: DeepLoreSettings, model: str = "") -> ChatRequest:
    """The question for better keys; `mode` is one of `MODES`. DeepLore itself always gives the two-stage hint."""
    own = settings.optimize_keys_prompt
    return ChatRequest(
        ProposalKind.KEYS.value,
        own if trim(own) else prompt(ProposalKind.KEYS),
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
    passage = lines(messages, len(messages))
    parts = [_tagged("existing_titles", "\n".join(_named(titles, passage)))]
    if trim(focus):
        parts.append(_tagged("subject", trim(focus)))
    return ChatRequest(
        ProposalKind.DRAFT.value,
        own if trim(own) else prompt(ProposalKind.DRAFT),
        "\n".join([*parts, _tagged("passage", passage)]),
        max_tokens=settings.auto_suggest_max_tokens,
        timeout_ms=settings.auto_suggest_timeout,
        json_schema=_DRAFT_SCHEMA,
        schema_name="note_draft",
        model=tool_model(settings.auto_suggest_connection_mode or INHERIT, settings.auto_suggest_model, settings)
        or model,
    )


@lru_cache(maxsize=8)
def prompt(kind: ProposalKind) -> str:
    """The instructions for a kind of proposal, in the studio's own words."""
    return resource("prompts", f"{kind.value}.txt").read_text(encoding="utf-8").strip()


def _note(material: Material, limit: int) -> str:
    entry = material.entry
    fields = (("Title", (entry.title,)), ("Aliases", material.aliases), ("Keys", entry.keys))
    written = "\n".join(f"{name}: {', '.join(_line(item) for item in items)}" for name, items in fields if items)
    return f"{_tagged('note', written)}\n{_tagged('note_text', _whole(head(entry.content, limit)))}"


def _tagged(tag: str, text: str) -> str:
    """The text between tags; what looks like one of our tags in it is made harmless."""
    return f"<{tag}>\n{_TAGS.sub('‹', text)}\n</{tag}>"


def _line(text: str) -> str:
    return " ".join(text.split())


def _whole(text: str) -> str:
    """Without the half of a character that a cut may leave at the end."""
    return text[:-1] if text and "\ud800" <= text[-1] <= "\udbff" else text


def _named(titles: Iterable[str], passage: str) -> list[str]:
    """The titles to name: all, or of too many first those that share a word with the passage."""
    written = [_line(title) for title in titles]
    if len(written) <= MOST_TITLES:
        return written
    said = set(_WORD.findall(fold(passage)))
    return sorted(written, key=lambda title: said.isdisjoint(_WORD.findall(fold(title))))[:MOST_TITLES]
