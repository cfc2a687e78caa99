"""Cases of which tokenizer SillyTavern counts with: pieces of settings, what they do not hold, and the answer."""

from __future__ import annotations

from typing import Any

from lorestudio.exchange.tokenizer_choice import tokenizer_choice
from tests.cases.runner import Case


def outcome(case: Case) -> Any:
    """The answer, in the words of the file."""
    found = tokenizer_choice(case["settings"], case.get("state"))
    if found.is_chat:
        return {"way": "chat", "client": found.client, "server": found.server}
    return {"way": "plain", "tokenizer": found.key, "id": found.id}
