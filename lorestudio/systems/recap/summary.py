"""A refresh of recap memory in one sentence."""

from __future__ import annotations

from lorestudio.trace.limits import token_limit
from lorestudio.trace.model import Trace
from lorestudio.trace.wording import fill, number_words, plural

_NONE = "No message has a recap that takes part"
_RECAPS = "{included:# message recap fits|# message recaps fit} ({total:# token|# tokens}[ of {limit}])"


def recap_summary(trace: Trace) -> str:
    """How many message recaps fit, how much of the chat is hidden, and what goes into the prompt."""
    parts: list[str] = []
    walk = trace.stage("inclusion walk")
    if walk is not None and walk.note == "recap_off":
        return "Recap memory is off for this chat, so nothing goes into the prompt."
    if walk is not None:
        parts.append((fill(_RECAPS, walk.details) if walk.left else None) or _NONE)
    hiding = trace.stage("auto-hide")
    hidden = sum(verdict.reason == "recap_hidden" for verdict in hiding.verdicts) if hiding is not None else 0
    if hidden:
        parts.append(plural(hidden, "# message is hidden|# messages are hidden"))
    return f"{', '.join(parts)}{', and' if parts else ''} {_injected(trace)}.".lstrip()


def _injected(trace: Trace) -> str:
    if not trace.injections:
        return "no running recap goes into the prompt"
    limit = token_limit(trace)
    room = "" if limit is None or limit.maximum is None else f" of {number_words(limit.maximum)}"
    item = trace.injections[0]
    name = item.title[:1].lower() + item.title[1:].replace(",", "")
    return f"{name} goes into the prompt ({number_words(item.tokens)}{room} tokens)"
