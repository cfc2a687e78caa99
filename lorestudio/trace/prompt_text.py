"""A whole prompt as text to copy, plain or as Markdown."""

from __future__ import annotations

import re

from lorestudio.trace.assembled import AssembledMessage, AssembledPrompt, PromptOrigin
from lorestudio.trace.text import escaped
from lorestudio.trace.wording import number_words, plural


def message_head(message: AssembledMessage) -> str:
    """Who speaks, where, and how much: `system, in the chat at depth 4 (120 tokens)`."""
    where = message.section.value if message.depth is None else f"in the chat at depth {number_words(message.depth)}"
    name = f" ({message.name})" if message.name else ""
    return f"{message.role.value}{name}, {where} ({plural(message.tokens, '# token|# tokens')})"


def source_words(source: PromptOrigin) -> str:
    """Where a text comes from: `chat: #4 Wren, changed by the regex script “Brackets”`."""
    words = f"{source.origin.value}: {source.label}"
    return f"{words}, {changed_words(source)}" if source.changed_by else words


def changed_words(source: PromptOrigin) -> str:
    """Which regex scripts changed a text, "" where none did."""
    names = ", ".join(f"“{name}”" for name in source.changed_by)
    return f"changed by the regex script{'s' if len(source.changed_by) > 1 else ''} {names}" if names else ""


def prompt_as_text(prompt: AssembledPrompt) -> str:
    """The messages in order, each under a line that says who speaks."""
    return "\n\n".join(f"--- {message_head(message)}\n{message.text}" for message in prompt.messages) + "\n"


def prompt_as_markdown(prompt: AssembledPrompt) -> str:
    """The messages in order, each under a heading, their texts in code blocks."""
    parts = [f"# Prompt ({plural(prompt.tokens, '# token|# tokens')})"]
    for message in prompt.messages:
        longest = max((len(run) for run in re.findall(r"`+", message.text)), default=0)
        fence = "`" * max(3, longest + 1)
        parts.append(f"## {escaped(message_head(message))}\n\n{fence}\n{message.text}\n{fence}")
    return "\n\n".join(parts) + "\n"
