"""SillyTavern's World Info scan, to compare with (rules: sillytavern 5.6)."""

from typing import Final

NAME: Final = "world-info"
TITLE: Final = "World Info"
SUMMARY: Final = (
    "SillyTavern's own scan: keys, recursion, groups, probability and timed effects, over the vault or a lorebook of "
    "SillyTavern's."
)
