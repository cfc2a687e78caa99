"""Which notes a vault behind Obsidian's plugin has: its folders are listed one by one (spec: deeplore-engine 1.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from lorestudio.domain.entry import LeftOutNote, NoteProblem
from lorestudio.vault.folder import MAX_LEVELS
from lorestudio.vault.obsidian_requests import FileError, Session

R = TypeVar("R")


class Listing:
    """Lists a vault's folders, some at a time."""

    def __init__(self, session: Session, vault: str) -> None:
        self._session = session
        self._vault = vault
        self.found: set[str] = set()
        self.left_out: list[LeftOutNote] = []
        self.failure = ""

    async def run(self) -> None:
        """Raises ObsidianError where the root cannot be listed."""
        await self._take("", await self._session.listing(""), 0)

    async def _take(self, prefix: str, names: Sequence[str], level: int) -> None:
        folders = []
        for name in dict.fromkeys(names):
            plain = name.removesuffix("/")
            if not plain or plain.startswith(".") or "/" in plain:
                continue
            filename = prefix + plain
            if not _is_text(filename):
                shown = filename.encode("utf-8", "replace").decode()
                self._leave_out(
                    shown, NoteProblem.UNREADABLE, f"The name of “{shown}” is not valid text. Rename it in Obsidian."
                )
            elif name.endswith("/"):
                folders.append(filename)
            elif name.endswith(".md"):
                self.found.add(filename)
        await all_of([self._list(filename, level + 1) for filename in folders])

    async def _list(self, folder: str, level: int) -> None:
        if level >= MAX_LEVELS:
            self._leave_out(
                folder, NoteProblem.TOO_DEEP,
                f"The folder “{folder}” lies {level} levels deep, and DeepLore lists {MAX_LEVELS - 1}. Move it up.",
            )  # fmt: skip
            return
        try:
            names = await self._session.listing(f"{folder}/")
        except FileError as error:
            self.failure = self.failure or f"The folder “{folder}” of “{self._vault}” was not listed. {error}"
            self._leave_out(folder, NoteProblem.UNREADABLE, f"The folder “{folder}” was not listed. {error}")
            return
        await self._take(f"{folder}/", names, level)

    def _leave_out(self, filename: str, problem: NoteProblem, message: str) -> None:
        self.left_out.append(LeftOutNote(filename, self._vault, problem, message))


async def all_of(jobs: Sequence[Coroutine[Any, Any, R]]) -> list[R]:
    """The results of all jobs in order; the first failure, or being cancelled, stops the others."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
