"""What is put into a prompt, in pieces that know where they come from."""

from __future__ import annotations

import pytest

from lorestudio.studio.prompt.injections import stripped
from lorestudio.trace.prompt import Origin, PromptOrigin

ONE, OTHER, FRAME = (PromptOrigin(Origin.ENTRY, name) for name in ("Lamp", "Tide", "between"))


@pytest.mark.parametrize(
    ("pieces", "left"),
    [
        ([(" \n", FRAME), ("\n ", FRAME), (" A lamp. ", ONE), (" ", FRAME), ("\tThe tide.\n", OTHER), ("\n", FRAME)],
         [("A lamp. ", ONE), (" ", FRAME), ("\tThe tide.", OTHER)]),
        ([("", FRAME), (" A lamp. ", ONE), ("", OTHER)], [("A lamp.", ONE)]),
        ([(" ", ONE), ("\n", OTHER)], []),
    ],
)  # fmt: skip
def test_white_space_goes_from_both_ends_of_the_whole_and_stays_inside(
    pieces: list[tuple[str, PromptOrigin]], left: list[tuple[str, PromptOrigin]]
) -> None:
    assert stripped(pieces) == left
