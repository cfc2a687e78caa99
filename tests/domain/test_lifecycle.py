from __future__ import annotations

import asyncio

from lorestudio.domain.lifecycle import run_whole


class Vault:
    printed = 0

    def __repr__(self) -> str:
        Vault.printed += 1
        return "a vault of 40 MB"


async def opened() -> Vault:
    return Vault()


def test_what_the_work_comes_to_is_handed_on_and_never_printed() -> None:
    async def notebook() -> Vault:
        return run_whole(opened())

    assert isinstance(run_whole(opened()), Vault)
    assert Vault.printed == 0
    assert isinstance(asyncio.run(notebook()), Vault)
