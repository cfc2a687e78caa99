"""English words that say nothing about a subject; other languages' get little weight by being common."""

from __future__ import annotations

from typing import Final

_WORDS: Final = """
    a about after again all also am an and any are as at away back be because been before being but by came can
    come could did do does don't down even ever every for from get go goes got had has have he her here hers him
    his how i if i'll i'm in into is it its it's just know let like look looked looks made make may me might
    more most much must my never no nor not now of off oh old on once one only or other our out over own right
    said say says see seem she should so some still such take than that that's the their them then there these
    they thing this those though through to too toward two under until up upon us very want was way we well went
    were what when where which while who whom whose why will with without would yes yet you your yours
"""
COMMON_WORDS: Final = frozenset(_WORDS.split())
