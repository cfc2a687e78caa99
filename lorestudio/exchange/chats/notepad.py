"""The AI notepad of a chat: private notes that the writing model keeps, and what each message contributed to them.

In tag mode the model writes them into its reply between two tags. They go to the end of the chat's notepad and are kept
with each swipe in its `extra`, of which a chat file has a copy in `swipe_info`, so that they can be taken back.
Rules: deeplore-tools 2.3, 4.7, 4.8; sillytavern 5.2.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Message
from lorestudio.domain.javascript import Json, code_units, length, to_number, trim
from lorestudio.domain.json_text import items_in, object_in, text_in, texts_in
from lorestudio.domain.records import replace
from lorestudio.domain.state import NOTEPAD_LIMIT

NOTEPAD_KEY: Final = "deeplore_ai_notepad"
"""Where the chat's metadata has the notepad."""

PINS_KEY: Final = "deeplore_ai_notepad_pins"
"""Where DeepLore 2.5 and later keep which lines are pinned."""

MESSAGE_KEY: Final = "deeplore_ai_notes"


def notes_of(message: Message) -> str:
    """The notes that the active swipe of a message contributed, empty where there are none."""
    return text_in(_extra_at(message, message.swipe).get(MESSAGE_KEY))


def with_notes(message: Message, text: str, notes: str) -> Message:
    """The message with another visible text and its own notes, in every place where its record keeps them.

    `raw` changes along, so that the notes of each swipe are there when the chat is written.
    """
    extra = {key: value for key, value in _extra_at(message, message.swipe).items() if key != MESSAGE_KEY}
    if notes:
        extra[MESSAGE_KEY] = notes
    return _rewritten(message, message.swipe, text, extra)


def _stored_swipe(message: Message) -> int:
    """The swipe that `extra` belongs to: the one that was active in the record."""
    if not message.raw:
        return message.swipe
    stored = message.raw.get("swipe_id")
    whole = isinstance(stored, int | float) and not isinstance(stored, bool) and float(stored).is_integer()
    return int(to_number(stored)) if whole else 0


def _extra_at(message: Message, swipe: int) -> Mapping[str, Json]:
    """The `extra` of one swipe; that of the stored one is the message's, the others are in `swipe_info`."""
    if not message.swipes or swipe == _stored_swipe(message):
        return message.extra
    return swipe_extra(message, swipe)


def swipe_extra(message: Message, swipe: int) -> Mapping[str, Json]:
    """The `extra` that `swipe_info` has of a swipe, an empty one where it has none."""
    infos = items_in(message.raw.get("swipe_info"))
    return object_in(infos[swipe], "extra") if 0 <= swipe < len(infos) else {}


def _rewritten(message: Message, swipe: int, text: str, extra: Mapping[str, Json]) -> Message:
    """Text and `extra` of one swipe, which becomes the active one; the others keep theirs."""
    raw: dict[str, Json] = {**message.raw, "mes": text, "extra": extra}
    if not 0 <= swipe < len(message.swipes):
        return replace(message, text=text, extra=extra, raw=raw if message.raw else message.raw)
    swipes = (*message.swipes[:swipe], text, *message.swipes[swipe + 1 :])
    given = items_in(message.raw.get("swipe_info"))
    padded: list[Json] = [*given, *({} for _ in range(len(swipes) - len(given)))]
    stored = _stored_swipe(message)
    if stored != swipe and 0 <= stored < len(padded):
        padded[stored] = _with_extra(padded[stored], message.extra)
    padded[swipe] = _with_extra(padded[swipe], extra)
    raw |= {"swipes": list(swipes), "swipe_id": swipe, "swipe_info": padded}
    return replace(message, text=text, extra=extra, swipes=swipes, swipe_id=swipe, raw=raw)


def _with_extra(info: Json, extra: Mapping[str, Json]) -> Json:
    return {**(info if isinstance(info, Mapping) else {}), "extra": extra}


OPENING: Final = "<dle-notes>"
CLOSING: Final = "</dle-notes>"
"""The tags of tag mode, lower case only. The instruction in the prompt names the same."""

_BLANK_LINES: Final = re.compile(r"\n{3,}")


class TakenNotes(Struct, frozen=True):
    """A reply without what is not for the reader.

    `text` is what stays visible, `notes` the notes in it, `removed` the pieces that were taken out, as they stood.
    """

    text: str
    notes: str = ""
    removed: tuple[str, ...] = ()


def tagged_notes(reply: str) -> TakenNotes:
    """What tag mode takes from a reply: every whole block, trimmed, one after the other.

    A reply without a whole block stays as it is, to the character, and so does a block that is never closed. Blocks
    without text leave no note.
    """
    kept: list[str] = []
    removed: list[str] = []
    place = 0
    while (start := reply.find(OPENING, place)) >= 0 and (end := reply.find(CLOSING, start)) >= 0:
        kept.append(reply[place:start])
        place = end + len(CLOSING)
        removed.append(reply[start:place])
    rest = "".join((*kept, reply[place:]))
    notes = (trim(block[len(OPENING) : -len(CLOSING)]) for block in removed)
    return TakenNotes(
        text=tidied(rest) if removed else reply, notes="\n".join(note for note in notes if note), removed=tuple(removed)
    )


def added(notepad: str, notes: str) -> str:
    """The notepad with `notes` at its end, cut at its beginning to the limit."""
    if not notes:
        return notepad
    return capped(f"{notepad}\n{notes}" if notepad else notes)


def capped(notepad: str) -> str:
    """The notepad without its oldest lines where it is too long; a last line that is too long loses its beginning.

    DeepLore looks for a blank line to cut at, which notes joined by single line ends hardly ever have.
    """
    if length(notepad) <= NOTEPAD_LIMIT:
        return notepad
    kept = code_units(notepad)[-2 * NOTEPAD_LIMIT :].decode("utf-16-le", "surrogatepass")
    if "\udc00" <= kept[0] <= "\udfff":  # the second half of a character that the cut went through
        kept = kept[1:]
    if notepad[: -len(kept)].endswith("\n"):
        return kept
    _, line_end, whole_lines = kept.partition("\n")
    return whole_lines if line_end and trim(whole_lines) else kept


def newest_lines(notepad: str, most: int, pinned: Collection[str] = ()) -> str:
    """The notepad without its oldest lines beyond `most`, 0 for no limit; pinned ones stay, blank ones do not count.

    Rules: deeplore-newer 2.
    """
    lines = notepad.split("\n")
    written = [place for place, line in enumerate(lines) if trim(line)]
    surplus = max(0, len(written) - most) if most else 0
    gone = set([place for place in written if trim(lines[place]) not in pinned][:surplus])
    return "\n".join(line for place, line in enumerate(lines) if place not in gone)


def pinned_lines(metadata: Mapping[str, Json]) -> frozenset[str]:
    """The lines of the notepad that the person pinned."""
    return frozenset(map(trim, texts_in(metadata.get(PINS_KEY))))


def withdrawn(notepad: str, notes: str) -> str:
    """The notepad without the last occurrence of these notes as whole lines; unchanged where it does not have them.

    DeepLore also takes them out of the middle of a longer line.
    """
    if not notes:
        return notepad
    framed = f"\n{notepad}\n"
    place = framed.rfind(f"\n{notes}\n")
    if place < 0:
        return notepad
    rest = framed[:place] + framed[place + 1 + len(notes) :]
    return rest.removeprefix("\n").removesuffix("\n")


def tidied(text: str) -> str:
    """Without the empty lines that what was taken out leaves behind."""
    return trim(_BLANK_LINES.sub("\n\n", text))
