"""Digests of a replay's inputs, so that what was run before can be told from what has to be run again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence

import lorestudio
from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.studio.project.library import reading_key
from lorestudio.studio.project.project import Project
from lorestudio.systems.deeplore.notepad import notes_of
from lorestudio.trace.serialize import record_to_json


def input_digests(project: Project, generations: Sequence[Generation], answers: str) -> tuple[str, ...]:
    """For each generation the SHA-256 of everything that it and the ones before it depend on.

    An edit late in the chat leaves the digests of earlier generations as they were.
    """
    chat = project.chat or Chat()
    parts = (
        lorestudio.__version__,  # another version may decide otherwise
        project.index.digest,
        project.settings.model_dump_json(),
        project.behaviour.model_dump_json(),
        repr(record_to_json(project.controls)),
        # Every generation begins with the notepad without the notes of later replies.
        repr([notes_of(message) for message in chat.messages] if project.controls.notepad else []),
        repr((project.seed, project.counter.name, chat.character_name, answers)),
        repr(project.context_size) if project.context_size else "",
    )
    return _growing(parts, chat, generations, _told)


def system_digests(project: Project, generations: Sequence[Generation], system: str) -> tuple[str, ...]:
    """As `input_digests`, for a system beside DeepLore; `system` tells which one it is and what it decides by.

    DeepLore's settings count as far as they say how notes are read; of a message everything counts, because systems
    read more of it than DeepLore does.
    """
    chat = project.chat or Chat()
    parts = (
        lorestudio.__version__,
        system,
        project.index.digest,
        repr(reading_key(project.settings, project.counter)),
        repr(record_to_json(project.controls)),
        repr((project.seed, project.counter.name, chat.character_name, chat.user_name, project.context_size)),
    )
    return _growing(parts, chat, generations, repr)


def _growing(
    parts: Iterable[str], chat: Chat, generations: Sequence[Generation], told: Callable[[Message], str]
) -> tuple[str, ...]:
    """The digest of the parts and, for each generation, of all messages before it as `told` tells them."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
    found: list[str] = []
    done = 0
    for generation in generations:
        for message in chat.messages[done : generation.message]:
            digest.update(told(message).encode("utf-8", "surrogatepass"))
        done = max(done, generation.message)
        digest.update(repr(generation).encode())
        found.append(digest.hexdigest())
    return tuple(found)


def _told(message: Message) -> str:
    """What a run reads of a message."""
    tools = message.extra.get("tool_invocations")  # at the end of the chat they decide whether a generation runs
    flags = (message.is_user, message.is_system, message.scannable, isinstance(tools, list | dict) or bool(tools))
    return repr((message.name, message.text, flags, message.swipe))
