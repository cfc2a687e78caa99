"""What becomes of each field between World Info and notes, in words: for reports, and for the table in the manual."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from lorestudio.exchange.lorebooks.crossing import Fidelity, FieldFate
from lorestudio.exchange.lorebooks.entry import BookPlace


class FieldWay(Struct, frozen=True):
    """A field and what it becomes; `plain` is its fate where the other side can say it, `other` where it cannot."""

    field: str
    becomes: str
    plain: tuple[Fidelity, str] = (Fidelity.EXACT, "")
    other: tuple[Fidelity, str] = (Fidelity.CARRIED, "")

    def fate(self, *, fits: bool) -> FieldFate:
        """What is said of one entry."""
        return _fate(self.field, self.plain if fits else self.other)


@lru_cache(1024)
def _fate(field: str, said: tuple[Fidelity, str]) -> FieldFate:
    """One for all entries: of a hundred thousand they would take 50 MB."""
    return FieldFate(field, *said)


_FOR_ST: Final = (Fidelity.CARRIED, "DeepLore has nothing like it; it has its effect in World Info alone.")
_APPROXIMATE: Final = Fidelity.APPROXIMATE

INTO_NOTES: Final[Mapping[str, FieldWay]] = {
    way.field: way
    for way in (
        FieldWay(
            "comment", "title and file name",
            other=(_APPROXIMATE, "The title is made from it, as it is no line that a note can be called."),
        ),
        FieldWay(
            "content", "text below the title",
            other=(_APPROXIMATE, "It stands there as it is; DeepLore leaves comments, pictures and link marks out."),
        ),
        FieldWay(
            "key", "keys",
            other=(_APPROXIMATE, "DeepLore has no patterns: for a simple one its words stand there; others find none."),
        ),
        FieldWay(
            "keysecondary", "refine_keys",
            other=(Fidelity.CARRIED, "DeepLore cannot ask for them in this way: the entry comes in without them."),
        ),
        FieldWay(
            "selectiveLogic", "selective_logic (DeepLore 2.6)",
            other=(_APPROXIMATE, "DeepLore 2.0.2 takes any one refine key for enough, or knows no exclusion."),
        ),
        FieldWay("selective", "", other=(Fidelity.CARRIED, "Without it secondary keys do not count.")),
        FieldWay("constant", "constant", other=(_APPROXIMATE, "It is no true or false, but counts as one.")),
        FieldWay("disable", "enabled: false", other=(_APPROXIMATE, "It is no true or false, but counts as one.")),
        FieldWay("order", "priority: 1000 less the order", other=(_APPROXIMATE, "No priority gives this order again.")),
        FieldWay("position", "position, outlet", other=(_APPROXIMATE, "DeepLore has no such place.")),
        FieldWay("depth", "depth", other=(Fidelity.CARRIED, "At this position it has no effect.")),
        FieldWay("role", "role", other=(Fidelity.CARRIED, "At this position it has no effect.")),
        FieldWay("outletName", "outlet", other=(Fidelity.CARRIED, "At this position it has no effect.")),
        FieldWay(
            "probability", "probability from 0 to 1",
            other=(_APPROXIMATE, "It is no number from 0 to 100, or no lot is drawn."),
        ),
        FieldWay("useProbability", "", other=(Fidelity.CARRIED, "No lot is drawn.")),
        FieldWay("scanDepth", "scanDepth"),
        FieldWay(
            "excludeRecursion", "excludeRecursion",
            (_APPROXIMATE, "In World Info recursion does not find the entry; in DeepLore its text finds no others."),
        ),
        FieldWay(
            "preventRecursion", "",
            other=(Fidelity.CARRIED, "DeepLore's excludeRecursion means this, but World Info's own is kept there."),
        ),
        FieldWay(
            "cooldown", "cooldown in generations, two messages each",
            other=(_APPROXIMATE, "DeepLore counts generations; half the messages, rounded up."),
        ),
        *(
            FieldWay(member, "", other=_FOR_ST)
            for member in (
                "delayUntilRecursion", "sticky", "delay", "group", "groupOverride", "groupWeight",
                "useGroupScoring", "triggers", "ignoreBudget", "vectorized", "automationId", "matchPersonaDescription",
                "matchCharacterDescription", "matchCharacterPersonality", "matchCharacterDepthPrompt", "matchScenario",
                "matchCreatorNotes",
            )
        ),
        FieldWay("caseSensitive", "", other=(Fidelity.CARRIED, "DeepLore has one setting for all entries.")),
        FieldWay("matchWholeWords", "", other=(Fidelity.CARRIED, "DeepLore has one setting for all entries.")),
        FieldWay("characterFilter", "", other=(Fidelity.CARRIED, "DeepLore knows no filter by cards or tags.")),
        FieldWay("addMemo", "", other=(Fidelity.CARRIED, "It only concerns SillyTavern's editor.")),
        FieldWay("displayIndex", "", other=(Fidelity.CARRIED, "It only concerns SillyTavern's editor.")),
    )
}  # fmt: skip
"""By the member of an entry. What `becomes` says nothing for stands in a property named after it with `wi_`."""

PLACES: Final[Mapping[BookPlace, str]] = {
    BookPlace.BEFORE: "DeepLore puts it before the main prompt, not before the character.",
    BookPlace.AFTER: "DeepLore puts it after the main prompt, not after the character.",
    BookPlace.NOTE_TOP: "DeepLore puts it at depth 4, where the author's note usually stands, in every turn.",
    BookPlace.NOTE_BOTTOM: "DeepLore puts it at depth 4, where the author's note usually stands, in every turn.",
    BookPlace.EXAMPLES_TOP: "DeepLore puts it before the main prompt, not above the examples.",
    BookPlace.EXAMPLES_BOTTOM: "DeepLore puts it after the main prompt, not below the examples.",
    BookPlace.NOWHERE: "SillyTavern puts it nowhere; DeepLore puts it where its settings say.",
}
"""What DeepLore does with a place that it does not have."""

FOREIGN: Final = "World Info does not know this member; the note keeps it."

_NO_RULE: Final = "World Info has no such condition: the entry comes in without it."
_NO_MODEL: Final = "In World Info no model chooses."
_KEPT: Final = (Fidelity.CARRIED, "It means nothing to World Info; the entry keeps it.")

OUT_OF_NOTES: Final[Mapping[str, FieldWay]] = {
    way.field: way
    for way in (
        FieldWay("keys", "key", other=(_APPROXIMATE, "Without keys an entry that is not constant never comes in.")),
        FieldWay("refine_keys", "keysecondary"),
        FieldWay("selective_logic", "selectiveLogic"),
        FieldWay("constant", "constant"),
        FieldWay("enabled", "disable"),
        FieldWay("priority", "order: 1000 less the priority"),
        FieldWay("position", "position", (_APPROXIMATE, "Before or after the character, not the main prompt.")),
        FieldWay("depth", "depth"),
        FieldWay("role", "role"),
        FieldWay("outlet", "position 7, outletName"),
        FieldWay("probability", "probability in percent"),
        FieldWay("scanDepth", "scanDepth"),
        FieldWay(
            "excludeRecursion", "excludeRecursion",
            (_APPROXIMATE, "In DeepLore its text finds no others; in World Info recursion does not find the entry."),
        ),
        FieldWay("cooldown", "cooldown in messages, two for a generation"),
        FieldWay("text", "content", other=(_APPROXIMATE, "As DeepLore cleans it: without comments and link marks.")),
        *(
            FieldWay(name, "extensions.lorestudio.deeplore", other=(Fidelity.CARRIED, _NO_RULE))
            for name in ("requires", "excludes", "warmup", "era", "location", "scene_type", "character_present")
        ),
        FieldWay(
            "cascade_links", "extensions.lorestudio.deeplore",
            other=(Fidelity.CARRIED, "World Info brings no other entries in; only recursion over the text may."),
        ),
        FieldWay(
            "compress", "extensions.lorestudio.deeplore",
            other=(_APPROXIMATE, "DeepLore shortened the text when it was imported; the original is gone."),
        ),
        FieldWay("summary", "extensions.lorestudio.deeplore", other=(Fidelity.CARRIED, _NO_MODEL)),
        FieldWay("tags", "extensions.lorestudio.deeplore", other=(Fidelity.CARRIED, "World Info has no tags.")),
    )
}  # fmt: skip
"""By the property of a note. All other properties are kept as `KEPT` says."""

KEPT: Final = FieldWay("", "extensions.lorestudio.deeplore", other=_KEPT)
REPLACED: Final = FieldFate("", Fidelity.LOST, "The note says something else beside it since; this goes:")
"""What becomes of a property that begins with `wi_`, where what it stands for was changed in another one."""
