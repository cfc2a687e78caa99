"""A vault of notes on disk with a chat, and answer sources that say what a test tells them to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.llm.errors import LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.studio.project.project import Project, open_project

DAWNKEEP = """---
tags: [lorebook]
# the old ones
keys: [dawnkeep, fortress]
aliases: [The Keep]
priority: 50
---
# Dawnkeep

Dawnkeep is a fortress on the Salt Cliff. It was built by Mara Vey. Nobody enters without a lamp.
"""
SKARN = """---\r
tags:\r
  - lorebook\r
keys:\r
  - Skarn\r
summary: "A dragon."\r
---\r
# Skarn\r
\r
Skarn is a dragon that circles above Dawnkeep.\r
"""
CROWN = "---\ntags: [lorebook]\nkeys: [crown]\nlocked: true\n---\n# Crown\n\nThe crown is lost.\n"
BELL = "---\ntags: [lorebook]\nkeys: bell\n---\n# Bell\n\nIt rings.\n"


def messages() -> tuple[Message, ...]:
    return (
        Message("Ada", "Welcome to Dawnkeep, traveller."),
        Message("Wren", "Is that the fortress? I see Skarn above the Keep.", is_user=True),
        Message("Ada", "Old Tam of the Ferry says that Skarn sleeps. Ask Old Tam."),
        Message("Wren", "(( the fortress, out of character ))", is_user=True, is_system=True),
        Message("Wren", "Who is Old Tam?", is_user=True),
    )


def vault_at(folder: Path, **notes: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (notes or {"Dawnkeep": DAWNKEEP, "Skarn": SKARN, "Crown": CROWN, "Bell": BELL}).items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8", newline="")
    return folder


def project_at(folder: Path, **notes: str) -> Project:
    chat = Chat(messages(), "Wren", "Ada")
    return replace(open_project([vault_at(folder, **notes)]), chat=chat)


class Saying:
    """Answers with the texts given, in order, the last one again and again; a LlmError is raised instead."""

    name = "saying"
    label = "saying"

    def __init__(self, *answers: str | ChatReply | LlmError, live: bool = False, delay: float = 0) -> None:
        self.answers = list(answers)
        self.asked: list[ChatRequest] = []
        self.live = live
        self.delay = delay

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        await asyncio.sleep(self.delay)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, LlmError):
            raise answer
        return answer if isinstance(answer, ChatReply) else ChatReply(answer, source=self.label, live=self.live)


def titles(items: Iterable[object]) -> list[str]:
    return [str(getattr(item, "title", "")) for item in items]
