"""The text that goes into the prompt: macros, comments, signs with a meaning of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from lorestudio.vault.lint.model import Hit
from lorestudio.vault.lint.note import Note, Rules

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
    if "{{" not in content:
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
        for sign in dict.fromkeys(_DOLLAR.findall(text)):
            yield Hit("M52", f"The template replaces {sign}, so the prompt has another text there.", where, sign)


def comments(note: Note, _rules: Rules) -> Iterator[Hit]:
    """M53, M54: texts that were to stay out and do not."""
    if note.text is not None and _START in note.body:
        last = note.body.rfind(_START)
        if note.body.find(_END, last) < 0:
            line = note.places.at(last)
            yield Hit("M53", "The excluded part has no end, so its text goes into the prompt.", "body", line=line)
    if "%%" in note.entry.content:
        found = note.entry.content.index("%%")
        excerpt = note.entry.content[found : found + 30].split("\n")[0]
        yield Hit("M54", f"A comment stays in the prompt: {excerpt}", "body", excerpt)
