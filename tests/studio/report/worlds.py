"""A vault and a chat of words that exist nowhere else, so that one that survives a redaction is seen."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from lorestudio.domain.records import replace
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.deeplore import sanitise
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import system_of

MARK = "zqx"
"""Every word of the world begins with this."""


class Words:
    """Makes words that nobody has used."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, hint: str) -> str:
        word = f"{MARK}{hint}{len(self.made)}"
        self.made.append(word)
        return word


class Answers:
    """Chooses what it is told to choose; every third question fails."""

    name = "own"

    def __init__(self, titles: list[str], words: Words) -> None:
        self.titles, self.words, self.asked = titles, words, 0
        self.label = words("profile")

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.asked += 1
        if self.asked % 3 == 0:
            raise LlmError(ErrorKind.SERVER, f"{self.words('failure')} went wrong", status=500)
        if request.kind == "prefilter":
            return ChatReply(json.dumps([self.titles[0]]), source=self.label)
        picks = [
            {"title": title, "confidence": "high", "reason": self.words("because")}
            for title in [*self.titles[:3], self.words("unknown")]
        ]
        return ChatReply(json.dumps(picks), source=self.label)


def secret_world(folder: Path, mode: str = "two-stage") -> tuple[Project, Answers]:
    """Notes with every kind of field, a chat with every kind of choice, settings with texts of the person's own.

    With a model only a folder is used, so that other gates have something to do without.
    """
    words = Words()
    titles = [words("title") for _ in range(8)]
    keys = [words("key") for _ in range(8)]
    place, field, context = words("place"), words("field"), words("context")
    parts, elsewhere, outlet, tag = words("folder"), words("elsewhere"), words("outlet"), words("tag")
    fronts = [
        f"keys: [{keys[0]}]\n{field}: {words('era')}\nsummary: {words('summary')}",
        f"keys: [{keys[1]}]\nrefine_keys: [{words('refine')}]",
        f"keys: [{keys[2]}]\nrequires: [{titles[3]}]",
        f"keys: [{words('never')}]",
        f"keys: [{keys[4]}]\nlocation: [{place}]\npriority: 20",
        f"keys: [{keys[5]}]\noutlet: {outlet}\ncascade_links: [{titles[6]}]",
        f"keys: [{words('cascaded')}]\nexcludes: [{titles[0]}]\nwarmup: 3",
        f"keys: [{keys[7]}]\nprobability: 0",
    ]
    vault = folder / words("vault")
    for number, front in enumerate(fronts):
        path = vault / (parts if number % 2 else elsewhere if number > 1 else "") / f"{words('file')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = " ".join(words("body") for _ in range(40))
        text = f"---\ntags: [lorebook, {tag}]\n{front}\n---\n# {titles[number]}\n\n{body} [[{titles[0]}]]\n"
        path.write_text(text, encoding="utf-8")
    (vault / "DeepLore").mkdir()
    (vault / "DeepLore" / "field-definitions.yaml").write_text(
        f"fields:\n  - name: {field}\n    label: {words('label')}\n    contextKey: {context}\n", encoding="utf-8"
    )
    user, character = words("user"), words("character")
    metadata: dict[str, Any] = {
        "deeplore_context": {"location": [place], context: words("chosen")},
        "deeplore_blocks": [titles[4]],
        "deeplore_pins": [titles[1], titles[3]],
        "deeplore_folder_filter": [parts] if mode != "keywords-only" else None,
        "deeplore_notebook": words("notebook"),
    }
    records: list[dict[str, Any]] = [{"user_name": user, "character_name": character, "chat_metadata": metadata}]
    for number in range(8):
        said = " ".join([*keys, words("said")])
        mine = number % 2 == 0
        records.append({"name": user if mine else character, "is_user": mine, "mes": f"{said}."})
    chat = folder / f"{words('chat')}.jsonl"
    chat.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    project = open_project([vault], chat, seed=5)
    values: dict[str, Any] = {
        "enabled": True, "aiSearchEnabled": mode != "keywords-only",
        "aiSearchMode": "two-stage" if mode == "keywords-only" else mode, "maxTokensBudget": 200,
        "recursiveScan": True, "fuzzySearchEnabled": True, "fuzzySearchMinScore": 0.1, "notebookEnabled": True,
        "aiSearchSystemPrompt": f"{words('prompt')} {{{{maxEntries}}}}", "seedTag": words("seedtag"),
        "injectionTemplate": f"[{words('template')} {{{{title}}}}]{{{{content}}}}", "aiSearchModel": words("model"),
    }  # fmt: skip
    behaviour = Behaviour(title_collisions="fixed", window_filter="fixed")
    project = replace(project, settings=sanitise(values).settings, behaviour=behaviour)
    return project, Answers(titles, words)


def replayed(project: Project, answers: object = None) -> Simulator:
    """The chat, run."""
    simulator = Simulator(project, system_of(project.scene(answers)))  # type: ignore[arg-type]
    asyncio.run(simulator.replay())
    return simulator
