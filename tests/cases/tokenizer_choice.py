"""Cases of which tokenizer SillyTavern counts with: pieces of settings and the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lorestudio.exchange.tokenizer_choice import tokenizer_choice
from tests.cases.runner import Case, plain_cases


def cases(document: Any) -> Iterator[Case]:
    """Those that the settings decide alone; in the others SillyTavern is connected, which no file tells."""
    return (case for case in plain_cases(document) if not case.get("state"))


def outcome(case: Case) -> Any:
    """The answer, in the words of the file."""
    found = tokenizer_choice(case["settings"])
    if found.is_chat:
        return {"way": "chat", "client": found.client, "server": found.server}
    return {"way": "plain", "tokenizer": found.key, "id": found.id}
