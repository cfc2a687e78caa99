"""The text that goes into the prompt: macros, comments, signs, room, and idle places (rules: deeplore 5.8)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from lorestudio.domain.entry import Position
from lorestudio.domain.javascript import length, number_text, trim
from lorestudio.vault.lint.model import Hit, Note, Rules

_MACRO: Final = re.compile(r"\{\{([^{}\n]*)\}\}")
_NAME: Final = re.compile(r"[!?~>/#.$@\s]*([A-Za-z_][\w-]*)")
_DOLLAR: Final = re.compile(r"\$[$&`']")
_START: Final = "%%deeplore-exclude%%"
_END: Final = "%%/deeplore-exclude%%"

_NAMES: Final = (
    "user char bot charifnotgroup group groupnotmuted notchar description chardescription personality",
    "charpersonality scenario charscenario persona mesexamples mesexamplesraw charprompt charinstruction",
    "charjailbreak charversion version char_version chardepthprompt charcreatornotes creatornotes charfirstmessage",
    "greeting model original ismobile newline space trim noop input reverse comment pipe outlet banned roll random",
    "pick if else each loop_key loop_value lastmessage lastmessageid lastusermessage lastcharmessage",
    "firstincludedmessageid firstdisplayedmessageid lastswipeid currentswipeid allchatrange lastgenerationtype",
    "hasextension time date weekday isotime isodate datetimeformat timediff idle_duration idleduration setvar",
    "addvar incvar decvar getvar hasvar varexists deletevar flushvar setglobalvar addglobalvar incglobalvar",
    "decglobalvar getglobalvar hasglobalvar globalvarexists deleteglobalvar flushglobalvar pushvar popvar var arg",
    "maxprompt maxcontext maxcontexttokens maxresponse maxresponsetokens maxprompttokens systemprompt sysprompt",
    "defaultsystemprompt globalsystemprompt charsystemprompt instructsystem instructuserprefix instructusersuffix",
    "instructassistantprefix instructassistantsuffix instructsystemprefix instructsystemsuffix",
    "instructfirstassistantprefix instructlastassistantprefix instructfirstuserprefix instructlastuserprefix",
    "instructstop instructuserfiller instructsysteminstructionprefix instructstorystringprefix",
    "instructstorystringsuffix instructinput instructoutput instructfirstoutput instructlastoutput",
    "instructfirstinput instructlastinput instructseparator chatstart exampleseparator chatseparator authorsnote",
    "charauthorsnote defaultauthorsnote summary wibefore wiafter lorebefore loreafter anchorbefore anchorafter",
    "axiombefore title content",
)
MACROS: Final = frozenset(name for line in _NAMES for name in line.split())
"""Names that SillyTavern fills in, in lower case, and the two of DeepLore's template."""


def macros(note: Note, _rules: Rules) -> Iterator[Hit]:
    """M51: macros of unknown names."""
    content = note.entry.content
    if "{" not in content or "{{" not in content:  # a single sign is looked for ten times as fast
        return
    for written in dict.fromkeys(found[1] for found in _MACRO.finditer(content)):
        name = _NAME.match(written)
        if written.lstrip().startswith(("//", ".", "$", "@")) or (name is None and not written.strip()):
            continue  # a comment, the short form of a variable, or nothing
        lower = name[1].lower() if name is not None else ""
        if lower in MACROS or lower.startswith("time_utc"):
            continue
        near = get_close_matches(lower, MACROS, 1, 0.75) if lower else []
        hint = f"Did you mean {{{{{near[0]}}}}}?" if near else ""
        yield Hit("M51", f"{{{{{written}}}}} is no macro that SillyTavern is known to fill in.", "body",
                  f"{{{{{written}}}}}", advice=hint)  # fmt: skip


def dollars(note: Note, _rules: Rules) -> Iterator[Hit]:
    """M52: dollar signs that the template takes for its own."""
    entry = note.entry
    for where, text in (("title", entry.title), ("body", entry.content)):
        for sign in dict.fromkeys(_DOLLAR.findall(text) if "$" in text else ()):
            yield Hit("M52", f"The template replaces {sign}, so the prompt has another text there.", where, sign)


def comments(note: Note, _rules: Rules) -> Iterator[Hit]:
    """M53, M54: texts that were to stay out and do not."""
    if note.text is not None and "%" in note.text and _START in note.body:
        last = note.body.rfind(_START)
        if note.body.find(_END, last) < 0:
            line = note.places.at(last)
            yield Hit("M53", "The excluded part has no end, so its text goes into the prompt.", "body", line=line)
    if "%" in note.entry.content and "%%" in note.entry.content:
        found = note.entry.content.index("%%")
        excerpt = note.entry.content[found : found + 30].split("\n")[0]
        yield Hit("M54", f"A comment stays in the prompt: {excerpt}", "body", excerpt)


def idle_places(note: Note, rules: Rules) -> Iterator[Hit]:
    """I01, I02: a depth or a role where none counts. Of an outlet's entries the role does count."""
    entry = note.entry
    position = rules.settings.injection_position if entry.position is None else entry.position
    in_chat = position == Position.IN_CHAT and not entry.outlet
    where = f"into the outlet “{entry.outlet}”" if entry.outlet else "outside the chat"
    if entry.depth is not None and not in_chat:
        told = f"“{entry.title}” goes {where}, so its depth of {number_text(entry.depth)} has no effect."
        yield Hit("I01", told, "depth")
    if entry.role is not None and not in_chat and not entry.outlet:
        yield Hit("I02", f"“{entry.title}” goes {where}, so its role has no effect.", "role")


LONG: Final = 1500
"""Tokens from which on an entry is long (rules: deeplore-tools 3.3 Z01)."""
LONG_SEED: Final = 2000
"""Tokens from which on a seed is long (Z02)."""


def long_entries(note: Note, rules: Rules) -> Iterator[Hit]:
    """Z01, Z02, Z51: entries that take much room, or more than there is."""
    entry, settings = note.entry, rules.settings
    if entry.tokens > LONG:
        yield Hit("Z01", f"“{entry.title}” has {rules.about}{entry.tokens:,} tokens.", "body")
    if entry.seed and entry.tokens > LONG_SEED:
        yield Hit("Z02", f"The seed “{entry.title}” has {rules.about}{entry.tokens:,} tokens.", "body")
    limited = not settings.unlimited_budget and not entry.guide and not entry.outlet
    if limited and entry.tokens > settings.max_tokens_budget:
        told = f"“{entry.title}” has {rules.about}{entry.tokens:,} tokens"
        yield Hit("Z51", f"{told}; the whole budget has {settings.max_tokens_budget:,}.", "body")


def summaries(note: Note, rules: Rules) -> Iterator[Hit]:
    """A01, A51: summaries that the AI selector lacks, or has too much of."""
    entry, settings = note.entry, rules.settings
    if not rules.settings.uses_ai or entry.guide:
        return
    if not trim(entry.summary):
        told = f"“{entry.title}” has no summary for the AI selector."
        if settings.manifest_summary_mode == "summary_only" and not entry.constant:
            told = f"“{entry.title}” has no summary, so the AI selector is never offered it."
        yield Hit("A01", told, "summary")
    shown, size = settings.ai_search_manifest_summary_length, length(entry.summary)
    if size > shown and settings.manifest_summary_mode != "content_only":
        told = f"The summary has {size:,} characters; of an entry without one, the selector is shown {shown:,}."
        yield Hit("A51", told, "summary")
