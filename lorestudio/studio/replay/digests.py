"""Digests of a replay's inputs, so that what was run before can be told from what has to be run again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.resources import VERSION
from lorestudio.studio.project.library import reading_key
from lorestudio.studio.project.project import Project
from lorestudio.systems.base import System
from lorestudio.trace.serialize import record_to_json


def input_digests(project: Project, generations: Sequence[Generation], system: System) -> tuple[str, ...]:
    """For each generation the SHA-256 of everything that it and the ones before it depend on.

    An edit late in the chat leaves the digests of earlier generations as they were.
    """
    chat = project.chat or Chat()
    digest = hashlib.sha256()
    for part in (
        VERSION,  # another version may decide otherwise
        f"{system.name}:{system.inputs}",
        project.index.digest,
        repr(reading_key(project.settings, project.counter)),
        repr(record_to_json(project.controls)),
        system.reads_of_chat(chat, project.controls),
        repr((project.seed, project.counter.name, chat.character_name, chat.user_name, project.context_size)),
    ):
        digest.update(part.encode("utf-8", "surrogatepass"))
    found: list[str] = []
    done = 0
    for generation in generations:
        for message in chat.messages[done : generation.message]:
            digest.update(system.reads_of(message).encode("utf-8", "surrogatepass"))
        done = max(done, generation.message)
        digest.update(repr(generation).encode())
        found.append(digest.hexdigest())
    return tuple(found)
