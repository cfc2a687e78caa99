from __future__ import annotations

import pytest

from lorestudio.domain.lifecycle import Closing


class Door(Closing):
    def __init__(self) -> None:
        self.open = True

    def close(self) -> None:
        self.open = False


def test_it_is_closed_behind_the_block() -> None:
    with Door() as door:
        assert door.open
    assert not door.open


def test_it_is_closed_after_an_error_which_goes_on() -> None:
    door = Door()
    with pytest.raises(KeyError), door:
        raise KeyError
    assert not door.open
