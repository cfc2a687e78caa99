"""The open chat: changed in memory, written a second after the last change, or at once where it has to be.

Where another program has written the file meanwhile, its version is taken and the changes are carried over to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lorestudio.exchange.problems import InputError
from lorestudio.memory.recap.chat import RecapChat
from lorestudio.studio.recap.chat_file import (
    ChangedMeanwhileError,
    ChatFile,
    carried_over,
    read_chat_file,
    write_chat_file,
)

DEBOUNCE_S: Final = 1.0
"""How long after the last change the chat is written (spec: recap-memory 20)."""

_ATTEMPTS: Final = 3

Change = Callable[[RecapChat], RecapChat]


@dataclass(slots=True, eq=False)
class ChatBook:
    """A chat file that is open. One event loop uses it; the disk is waited for in a thread.

    `on_problem` gets a sentence where a delayed write failed; the change stays in memory and is tried again.
    """

    file: ChatFile
    chat: RecapChat
    debounce_s: float = DEBOUNCE_S
    on_problem: Callable[[str], None] | None = None
    _timer: asyncio.TimerHandle | None = None
    _writing: asyncio.Task[None] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def open(cls, path: Path) -> ChatBook:
        """Open a chat file. Raises InputError; waits for the disk."""
        file = read_chat_file(path)
        return cls(file, file.chat)

    @property
    def is_saved(self) -> bool:
        """Whether the file holds everything."""
        return self.chat == self.file.chat

    async def change(self, how: Change) -> RecapChat:
        """Change the chat and write it at once. Raises InputError; then the chat is as it was before."""
        async with self._lock:
            await self._refresh()
            before = self.chat
            self.chat = how(before)
            try:
                await self._write()
            except BaseException:
                self.chat = before
                raise
        return self.chat

    def edit(self, how: Change) -> RecapChat:
        """Change the chat; it is written when a second has passed without another change."""
        self.chat = how(self.chat)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self.debounce_s, self._begin_writing)
        return self.chat

    async def flush(self) -> None:
        """Write what is not written yet. Raises InputError."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        async with self._lock:
            await self._write()

    async def close(self) -> None:
        """Write what is not written yet and end. Raises InputError."""
        if self._writing is not None:
            await asyncio.wait({self._writing})
        await self.flush()

    def _begin_writing(self) -> None:
        self._timer = None
        self._writing = asyncio.ensure_future(self._write_later())

    async def _write_later(self) -> None:
        try:
            await self.flush()
        except InputError as error:
            if self.on_problem is not None:
                self.on_problem(str(error))

    async def _refresh(self) -> None:
        """Take over what another program has written meanwhile."""
        theirs = await asyncio.to_thread(read_chat_file, self.file.path)
        if theirs.document.digest != self.file.document.digest:
            self._take(theirs)

    def _take(self, theirs: ChatFile) -> None:
        """Their chat with our changes. Raises InputError where a changed message is another one there."""
        try:
            chat = carried_over(self.file.chat, self.chat, theirs.chat)
        except ValueError as error:
            raise InputError(
                self.file.path,
                f"another program has changed the chat, and {error}. Open the chat again; what was changed here since "
                "the last writing has to be done once more.",
            ) from error
        self.file, self.chat = theirs, chat

    async def _write(self) -> None:
        for _ in range(_ATTEMPTS):
            if self.is_saved:
                return
            try:
                written = await asyncio.to_thread(write_chat_file, self.file, self.chat)
            except ChangedMeanwhileError:
                self._take(await asyncio.to_thread(read_chat_file, self.file.path))
                continue
            self.file = written
            self.chat = written.chat
            return
        raise InputError(self.file.path, "another program keeps writing the chat. Close it there and try again.")
