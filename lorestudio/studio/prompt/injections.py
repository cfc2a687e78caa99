"""What the host was handed to put into the prompt, and what of it stands among the messages.

That is the lore and notes of a run, the author's note and the depth prompt. At a depth they stand beside the preset's
own prompts, read by their order, and within one order assistant, user, system. What has depth, order and role in common
is one message: the preset's texts first, then those of the host, which have the order 100 (rules: sillytavern 5.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import EXAMPLE_TAGS, NOTE_TAG, Chat, authors_note
from lorestudio.domain.entry import Position
from lorestudio.domain.javascript import WHITE_SPACE
from lorestudio.domain.records import replace
from lorestudio.exchange.regex_scripts import ScriptPlace
from lorestudio.studio.prompt.card import CardTexts
from lorestudio.studio.prompt.regex import RegexRun
from lorestudio.systems.macros import Macros, Segment
from lorestudio.trace.model import PromptBlock, Trace
from lorestudio.trace.prompt import DEEPEST, MessageRole, Origin, PromptOrder, PromptOrigin

ROLES: Final = {0: MessageRole.SYSTEM, 1: MessageRole.USER, 2: MessageRole.ASSISTANT}

_NOTE_ORIGIN: Final = PromptOrigin(Origin.NOTE, "author's note", tag=NOTE_TAG)
_OUTLET: Final = "customWIOutlet_"


class HeldInjection(Struct, frozen=True):
    """A text that the host holds under a tag, with the place it is meant for."""

    tag: str
    position: int
    depth: float
    role: int
    segments: Sequence[Segment]

    @property
    def outlet(self) -> str:
        """The outlet's name, "" for what is none."""
        return self.tag.removeprefix(_OUTLET) if self.tag.startswith(_OUTLET) else ""


def stripped(segments: Sequence[Segment]) -> list[Segment]:
    """The segments without white space at both ends of their whole."""
    found = [(text, source) for text, source in segments if text]
    while found and not (first := found[0][0].lstrip(WHITE_SPACE)):
        found.pop(0)
    while found and not found[-1][0].rstrip(WHITE_SPACE):
        found.pop()
    if found:
        found[0] = (first, found[0][1])
        found[-1] = (found[-1][0].rstrip(WHITE_SPACE), found[-1][1])
    return found


def handed_over(trace: Trace, chat: Chat, end: int, card: CardTexts, scripts: RegexRun) -> list[HeldInjection]:
    """All of it for a generation behind the first `end` messages, macros filled in.

    The outlets among them become known to the macros of `scripts`. Entries of World Info around the author's note come
    with it; those that are example dialogue are not among them, see `examples_of`.
    """
    macros = scripts.macros
    lore = (block for block in trace.prompt if block.tag not in EXAMPLE_TAGS)
    blocks = [_held(block, _lore(block, trace, scripts), macros) for block in lore]
    for block in trace.notes:
        source = PromptOrigin(
            Origin.NOTE, trace.words.notes.get(block.tag, "from an earlier generation"), tag=block.tag
        )
        blocks.append(_held(block, [(block.text, source)], macros))
    note = None if any(block.tag == NOTE_TAG for block in trace.prompt) else _authors_note(chat, end, macros)
    own = [*([note] if note is not None else []), *_depth_prompts(card, macros)]
    found = [*own, *blocks]
    macros.outlets = {each.outlet: each.segments for each in found if each.outlet}
    return [
        each if each.outlet else replace(each, segments=[part for one in each.segments for part in macros.spread(*one)])
        for each in found
    ]


def examples_of(trace: Trace, scripts: RegexRun) -> tuple[list[Segment], list[Segment]]:
    """World Info that is example dialogue before the card's and after it, in the order the model reads it.

    The host puts each one before what is there, so that of the former the highest order stands first.
    """
    found: dict[str, list[Segment]] = {tag: [] for tag in EXAMPLE_TAGS}
    for block in trace.prompt:
        if block.tag in found:
            found[block.tag] += [each for each in _lore(block, trace, scripts) if each[1].entry is not None]
    top, bottom = (found[tag] for tag in EXAMPLE_TAGS)
    return list(reversed(top)), bottom


def _held(block: PromptBlock, segments: Sequence[Segment], macros: Macros) -> HeldInjection:
    filled = [(macros.fill(text), source) for text, source in segments]
    return HeldInjection(block.tag, block.position, block.depth, block.role, filled)


def _lore(block: PromptBlock, trace: Trace, scripts: RegexRun) -> list[Segment]:
    """The block's text by entry, and what stands between them.

    The host's scripts for World Info change entries of its own World Info; what extensions hand over they never see.
    """
    depth = block.depth if block.position == Position.IN_CHAT else None
    frame = PromptOrigin(Origin.FRAME, "between entries", tag=block.tag)
    segments: list[Segment] = []
    done = 0
    for part in block.parts:
        segments.append((block.text[done : part.start], frame))
        source = _NOTE_ORIGIN if block.tag == NOTE_TAG else frame
        if part.entry is not None:
            known = trace.entries.get(part.entry)
            title = known.title if known is not None else f"entry {part.entry}"
            source = PromptOrigin(Origin.ENTRY, title, entry=part.entry, tag=block.tag)
        text = block.text[part.start : part.end]
        if trace.words.of_host and part.entry is not None:
            text, changed_by = scripts.run(text, ScriptPlace.WORLD_INFO, depth)
            source = replace(source, changed_by=changed_by)
        segments.append((text, source))
        done = part.end
    return [*segments, (block.text[done:], frame)]


def _authors_note(chat: Chat, end: int, macros: Macros) -> HeldInjection | None:
    """The chat's own note, in the turns in which it is due (rules: sillytavern 5.2, 5.7)."""
    note = authors_note(chat.metadata)
    if not note.text.strip() or not note.due(chat.messages[:end]):
        return None
    return HeldInjection(NOTE_TAG, note.position, note.depth, note.role, [(macros.fill(note.text), _NOTE_ORIGIN)])


def _depth_prompts(card: CardTexts, macros: Macros) -> list[HeldInjection]:
    made: list[HeldInjection] = []
    for tag, prompt, source in card.depth_prompts:
        role = next((number for number, name in ROLES.items() if name == prompt.role), 0)
        made.append(HeldInjection(tag, 1, prompt.depth, role, [(macros.fill(prompt.prompt), source)]))
    return made


HOST_ORDER: Final = 100
_READ: Final = {MessageRole.ASSISTANT: 0, MessageRole.USER: 1, MessageRole.SYSTEM: 2}


class OwnInChat(Struct, frozen=True):
    """A prompt of the preset among the messages, its text filled in."""

    depth: float
    order: float
    role: MessageRole
    segments: Sequence[Segment]

    @property
    def has_place(self) -> bool:
        """Whether SillyTavern asks for its depth at all."""
        return 0 <= self.depth <= DEEPEST and float(self.depth).is_integer()


class InChat(Struct, frozen=True):
    """One message among the messages: exactly `depth` are newer."""

    depth: int
    role: MessageRole
    segments: tuple[Segment, ...]


def in_chat(host: PromptOrder[HeldInjection], own: Iterable[OwnInChat]) -> tuple[InChat, ...]:
    """All of them in the order that the model reads."""
    cells: dict[tuple[int, float, MessageRole], list[tuple[str, Sequence[Segment]]]] = {}
    for prompt in own:
        if prompt.has_place:
            key = (int(prompt.depth), prompt.order, prompt.role)
            cells.setdefault(key, []).append(("", prompt.segments))
    for place in host.in_chat:
        cell = cells.setdefault((place.depth, HOST_ORDER, ROLES[place.role]), [])
        cell += [(each.tag, each.segments) for each in place.prompts]
    read = sorted(cells.items(), key=lambda cell: (-cell[0][0], cell[0][1], _READ[cell[0][2]]))
    return tuple(InChat(depth, role, tuple(_joined(texts))) for (depth, _order, role), texts in read)


def _joined(texts: Iterable[tuple[str, Sequence[Segment]]]) -> list[Segment]:
    segments: list[Segment] = []
    for tag, text in texts:
        bare = stripped(text)
        if bare and segments:
            segments.append(("\n", PromptOrigin(Origin.FRAME, "between texts", tag=tag)))
        segments += bare
    return segments
