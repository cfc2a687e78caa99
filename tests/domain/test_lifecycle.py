from __future__ import annotations

import asyncio

import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken, heed, heeding, run_whole, stoppable


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


def test_whoever_waits_can_stop_work_that_was_handed_no_token() -> None:
    token, done = CancelToken(), list[int]()

    def work() -> None:
        for item in heeding(range(5)):
            done.append(item)
            if item == 2:
                token.cancel()

    with pytest.raises(Cancelled), stoppable(token):
        work()
    assert done == [0, 1, 2]
    heed()  # for which nobody has asked to stop
    with stoppable(token), pytest.raises(Cancelled), stoppable(None):
        heed()
