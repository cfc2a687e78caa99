"""Text as it goes into the prompt: cutting at a sentence, filling the template (rules: deeplore 5.7)."""

from __future__ import annotations

from typing import Final

import regex

from lorestudio.domain.javascript import WHITE_SPACE, head, length, trim_end

_ENDERS: Final = frozenset('.!?*")}`]$。！？”）】’」_')
_EMOJI: Final = regex.compile(r"[\p{Emoji_Presentation}\p{Extended_Pictographic}]")
_WORTHWHILE: Final = 0.4
"""A sentence end before this share of the limit is not worth stopping at."""

DEFAULT_TEMPLATE: Final = "<{{title}}>\n{{content}}\n</{{title}}>"


def truncate_to_sentence(text: str, limit: int) -> str:
    """At most `limit` code units of `text`, to the last end of a sentence where one is near, else with `...`."""
    if length(text) <= limit:
        return text
    cut = head(text, limit)
    for place in range(len(cut) - 1, -1, -1):
        emoji = not cut[place].isascii() and _EMOJI.match(cut[place]) is not None
        if emoji or cut[place] in _ENDERS:
            standing_alone = not emoji and place > 0 and cut[place - 1] in WHITE_SPACE
            sentence = trim_end(cut[: place if standing_alone else place + 1])
            if sentence and length(sentence) > _WORTHWHILE * limit:
                return sentence
            break
    return trim_end(cut) + "..."


def xml_escape(text: str) -> str:
    """Escape what an attribute cannot hold; apostrophes stay."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def render(template: str, title: str, content: str, *, literal: bool = False, checked: bool = False) -> str:
    """One entry in its template. `$` patterns in title and content act as in a JavaScript replacement.

    With `literal` they do not. With `checked` a template that has no place for the content is none
    (rules: deeplore-newer 1.13).
    """
    if not template or (checked and "{{content}}" not in template):
        template = DEFAULT_TEMPLATE
    if literal:
        return template.replace("{{title}}", xml_escape(title)).replace("{{content}}", content)
    filled = _replace_all(template, "{{title}}", xml_escape(title))
    return _replace_all(filled, "{{content}}", content)


def _replace_all(text: str, placeholder: str, value: str) -> str:
    if "$" not in value:
        return text.replace(placeholder, value)
    pieces: list[str] = []
    done = 0
    place = text.find(placeholder)
    while place >= 0:
        end = place + len(placeholder)
        pieces += (text[done:place], _expand(value, placeholder, text[:place], text[end:]))
        done = end
        place = text.find(placeholder, end)
    return "".join(pieces) + text[done:]


def _expand(value: str, placeholder: str, before: str, after: str) -> str:
    patterns = {"$": "$", "&": placeholder, "`": before, "'": after}
    pieces = value.split("$")
    expanded = pieces[0]
    place = 1
    while place < len(pieces):
        piece = pieces[place]
        if not piece and place + 1 < len(pieces):  # `$$`
            expanded += "$" + pieces[place + 1]
            place += 2
            continue
        expanded += patterns[piece[0]] + piece[1:] if piece and piece[0] in "&`'" else "$" + piece
        place += 1
    return expanded
