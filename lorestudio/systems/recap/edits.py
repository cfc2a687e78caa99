"""What a person changes in a chat's recaps; after each change the chat is up to date and on the disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lorestudio.exchange.problems import InputError
from lorestudio.systems.recap import scenes
from lorestudio.systems.recap import scenes as scene_recaps
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.chat_file import ChatBook
from lorestudio.systems.recap.context import WorkContext
from lorestudio.systems.recap.records import Record, edit_memory, set_data
from lorestudio.systems.recap.refresh import Refresh, refreshed


@dataclass(frozen=True, slots=True)
class RecapEdits:
    """Changes to the open chat. Each raises InputError where it cannot be made or written."""

    path: Path
    book: ChatBook
    context: WorkContext

    async def refresh(self) -> Refresh:
        """Bring the chat up to date and write it."""
        chat = await self.book.change(lambda chat: refreshed(chat, self.context.around, self.context.context_size).chat)
        return refreshed(chat, self.context.around, self.context.context_size)

    async def toggle_break(self, index: int) -> Refresh:
        """Set, hide or show a scene break."""
        self.message(index)
        return await self._changed(lambda chat: chat.with_messages(scenes.toggle(chat.messages, index)))

    async def delete_scene(self, index: int) -> Refresh:
        """Take a scene out: its break, its recap, and the versions of the running recap that reach to it."""
        if not scenes.is_break(self.message(index)):
            raise InputError(self.path, f"message {index} ends no scene.")
        return await self._changed(lambda chat: chat.without_scene(index))

    async def exclude(self, index: int, *, wanted: bool) -> Refresh:
        """Exclude the recap of a message, or include it again."""
        self.message(index)
        return await self._changed(
            lambda chat: chat.with_message(index, set_data(chat.messages[index], "exclude", wanted))
        )

    async def keep_hidden(self, index: int, *, wanted: bool) -> Refresh:
        """Hide a message for good, or leave it to hiding by scenes again."""
        self.message(index)
        return await self._changed(
            lambda chat: chat.with_message(index, set_data(chat.messages[index], scenes.PINNED_HIDDEN, wanted))
        )

    async def edit_message(self, index: int, text: str) -> Refresh:
        """Write the recap of a message."""
        self.message(index)
        shown = self.context.settings.show_prefill
        return await self._changed(
            lambda chat: chat.with_message(index, edit_memory(chat.messages[index], text, show_prefill=shown))
        )

    async def edit_scene(self, index: int, text: str) -> Refresh:
        """Write the current version of a scene's recap. Raises InputError where it is locked."""
        self.check_lock(index)
        return await self._changed(
            lambda chat: chat.with_message(index, scene_recaps.edited(chat.messages[index], text))
        )

    async def turn_scene(self, index: int, step: int) -> Refresh:
        """Put another version of a scene's recap in force. Raises InputError where it is locked."""
        self.check_lock(index)
        return await self._changed(
            lambda chat: chat.with_message(index, scene_recaps.turned(chat.messages[index], step))
        )

    async def use_running(self, number: int) -> Refresh:
        """Choose a version of the running recap. Raises InputError where there is none of this number."""
        self._version(number)
        return await self._changed(lambda chat: chat.with_running(chat.running.with_current(number)))

    async def edit_running(self, text: str) -> Refresh:
        """Make a new version of the running recap with this text. Raises InputError where there is none to edit."""
        if self.book.chat.running.get() is None:
            raise InputError(self.path, "there is no running recap to edit yet.")
        now = self.context.now_ms()
        return await self._changed(lambda chat: chat.with_running(chat.running.edited(text, now_ms=now)))

    async def delete_running(self, number: int) -> Refresh:
        """Delete a version of the running recap. Raises InputError where there is none of this number."""
        self._version(number)
        return await self._changed(lambda chat: chat.with_running(chat.running.without(number)))

    async def forget_checks(self) -> Refresh:
        """Let every message count as not looked through for breaks."""
        return await self._changed(lambda chat: chat.with_messages(scenes.without_checks(chat.messages)))

    async def _changed(self, how: Callable[[RecapChat], RecapChat]) -> Refresh:
        """Change the chat, bring it up to date and write it."""
        around, size = self.context.around, self.context.context_size
        chat = await self.book.change(lambda chat: refreshed(how(chat), around, size).chat)
        return refreshed(chat, around, size)

    def message(self, index: int) -> Record:
        """The message at this position. Raises InputError where there is none."""
        message = self.book.chat.at(index)
        if message is None:
            raise InputError(
                self.path, f"there is no message {index}; the last one is {len(self.book.chat.messages) - 1}."
            )
        return message

    def _version(self, number: int) -> None:
        store = self.book.chat.running
        if store.get(number) is None:
            known = ", ".join(str(version.number) for version in store.versions) or "none"
            raise InputError(self.path, f"the running recap has no version {number}. There are: {known}.")

    def check_lock(self, index: int) -> None:
        """Raises InputError where the scene that ends here must not change."""
        self.message(index)
        lock = scenes.locks(self.book.chat.messages).get(index)
        if lock is not None and lock.locked:
            who = "it is" if lock.by_itself else "a later scene is"
            raise InputError(
                self.path,
                f"the scene that ends at message {index} is locked: {who} part of the running recap. "
                "Delete that version of the running recap, or make it again from all scenes.",
            )
