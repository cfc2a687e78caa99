"""The whole prompt of a generation: lore, card, persona and chat in the order and roles that the model gets.

The order is that of SillyTavern's chat completion with the Prompt Manager as it is delivered (spec:
deeplore-ai-and-tools 5.7): main prompt, persona, description, personality, scenario, example messages, chat history,
post-history. The lore is what the trace says that the host was handed, by position:

* 2 before the main prompt, 0 after it, each a message of its own;
* 1 in the chat; texts of one depth and role are one message;
* -1 nowhere, except where `{{outlet::name}}` asks for it.

`lorestudio.trace.prompt_order` says which stands before which, and what is not placed at all.

The chat's author's note and the card's depth prompt are placed by the same rules. Where the context is full, the oldest
messages give way first, with what was injected among them, then example messages. Attachments, regex scripts, and
orders that a person made in the Prompt Manager are not known here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Position
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.engine.macros import Macros, Segment
from lorestudio.studio.example_messages import example_blocks
from lorestudio.studio.prompt_injections import ROLES, Injection, examples_of, handed_over
from lorestudio.studio.prompt_setup import GROUP_NUDGE, NEW_CHAT, NEW_EXAMPLE, NEW_GROUP_CHAT, PromptSetup
from lorestudio.trace.assembled import (
    AssembledMessage,
    AssembledPart,
    AssembledPrompt,
    Left,
    LeftOutPart,
    Origin,
    PromptOrigin,
    Role,
    Section,
)
from lorestudio.trace.model import Trace
from lorestudio.trace.prompt_order import AtDepth, PromptOrder, prompt_order

MESSAGE_OVERHEAD: Final = 4
"""Tokens that a message costs beside its text, and 3 for the reply's beginning; rules of thumb for the room."""

_REPLY_OVERHEAD: Final = 3


def assemble(
    trace: Trace, chat: Chat, setup: PromptSetup | None = None, counter: TokenCounter = CHARS_4
) -> AssembledPrompt:
    """The prompt that the run of `trace` leads to, in this chat.

    The chat ends before the reply that the run is for. Nothing is decided about lore here: the texts and their places
    are those of the trace.
    """
    setup = setup or PromptSetup()
    return _Assembly(trace, chat, setup, counter).made()


class _Assembly:
    """One prompt while it is put together."""

    def __init__(self, trace: Trace, chat: Chat, setup: PromptSetup, counter: TokenCounter) -> None:
        self._trace, self._chat, self._setup, self._counter = trace, chat, setup, counter
        self._group = chat.is_group
        self._end = min(trace.turn.message, len(chat.messages))
        self._user = setup.user_name(chat)
        self._character = self._speaker()
        self._macros = Macros(self._values())
        self._left: list[LeftOutPart] = []
        self._used = _REPLY_OVERHEAD
        self._room = max(0, setup.context_size - setup.reply_tokens) if setup.context_size > 0 else None

    def made(self) -> AssembledPrompt:
        injections = handed_over(self._trace, self._chat, self._end, self._setup.card, self._macros)
        order = prompt_order(injections)
        opening, ending = self._opening(order), self._ending()
        start = self._message(Role.SYSTEM, self._frame(self._new_chat(), "start of the chat"), Section.HISTORY)
        nudge = self._frame(GROUP_NUDGE, "who speaks next") if self._group else []
        last = self._message(Role.SYSTEM, nudge, Section.HISTORY)
        fixed = [each for each in (*opening, *ending, start, last) if each is not None]
        self._used += sum(each.tokens + MESSAGE_OVERHEAD for each in fixed)
        history = self._history(order)
        examples = self._examples()
        messages = (*opening, *examples, start, *history, last, *ending)
        self._note_places(order)
        return AssembledPrompt(
            messages=tuple(each for each in messages if each is not None),
            left_out=tuple(self._left),
            room=self._room,
            counter=self._counter.name,
            exact=self._counter.exact,
            unknown_macros=tuple(self._macros.unknown),
            group=self._group,
            speaker=self._character,
        )

    # ---- names and macros -------------------------------------------------------------------------------------------

    def _speaker(self) -> str:
        """Who is to speak: in a group whoever wrote the reply, or spoke last."""
        if not self._group:
            return self._setup.character_name(self._chat)
        messages = self._chat.messages
        wrote = messages[self._end].name if self._end < len(messages) and not messages[self._end].is_user else None
        earlier = (each.name for each in reversed(messages[: self._end]) if not each.is_user and each.scannable)
        return wrote or next((name for name in earlier if name), None) or self._setup.character_name(self._chat)

    def _values(self) -> dict[str, str]:
        names = {each.name: None for each in self._chat.messages if each.name and not each.is_user and each.scannable}
        group = ", ".join(names) if self._group else self._character
        values = {"char": self._character, "user": self._user, "newline": "\n", "noop": "", "trim": ""}
        values |= {"group": group, "charifnotgroup": group}
        first = Macros(values)
        persona = first.fill(self._setup.persona.text)
        values["persona"] = persona
        card = self._setup.card
        if card is not None:
            data = card.data
            values |= {
                "description": first.fill(data.description),
                "personality": first.fill(data.personality),
                "scenario": first.fill(data.scenario),
                "mesexamples": first.fill(data.mes_example),
                "charprompt": first.fill(data.system_prompt),
                "charinstruction": first.fill(data.post_history_instructions),
                "charversion": data.character_version,
                "char_version": data.character_version,
            }
        seen = [each for each in self._chat.messages[: self._end] if not each.is_system]
        for name, found in (
            ("lastmessage", seen),
            ("lastusermessage", [each for each in seen if each.is_user]),
            ("lastcharmessage", [each for each in seen if not each.is_user]),
        ):
            values[name] = found[-1].text if found else ""
        return values

    def _frame(self, text: str, label: str) -> list[Segment]:
        return self._macros.expand(text, PromptOrigin(Origin.FRAME, label))

    def _new_chat(self) -> str:
        return NEW_GROUP_CHAT if self._group else NEW_CHAT

    def _note_places(self, order: PromptOrder[Injection]) -> None:
        """Tell what no place of the prompt took."""
        for each in order.nowhere:
            if not each.outlet or each.position != Position.OUTLET:
                self._leave(each.segments, Left.NO_PLACE)
            elif each.outlet not in self._macros.used:
                self._leave(each.segments, Left.OUTLET_UNUSED)

    def _leave(self, segments: Iterable[Segment], reason: Left) -> None:
        for text, source in segments:
            if text.strip():
                self._left.append(LeftOutPart(source, reason, self._counter.count(text)))

    # ---- the parts of the prompt ------------------------------------------------------------------------------------

    def _opening(self, order: PromptOrder[Injection]) -> list[AssembledMessage | None]:
        setup, card = self._setup, self._setup.card
        before = [self._relative(each, Section.BEFORE_MAIN) for each in order.before]
        after = [self._relative(each, Section.AFTER_MAIN) for each in order.after]
        own = card.data.system_prompt if card is not None and setup.prefer_card else ""
        main = self._prompt(setup.main, own, "main prompt", Section.MAIN)
        texts = [
            (setup.persona.text, PromptOrigin(Origin.PERSONA, f"persona {self._user}"), Section.PERSONA),
        ]
        if card is not None:
            data = card.data
            texts += [
                (data.description, PromptOrigin(Origin.CARD, "description"), Section.DESCRIPTION),
                (data.personality, PromptOrigin(Origin.CARD, "personality"), Section.PERSONALITY),
                (data.scenario, PromptOrigin(Origin.CARD, "scenario"), Section.SCENARIO),
            ]
        described = [
            self._message(Role.SYSTEM, self._macros.expand(text, source), section) for text, source, section in texts
        ]
        return [*before, main, *after, *described]

    def _ending(self) -> list[AssembledMessage | None]:
        setup, card = self._setup, self._setup.card
        own = card.data.post_history_instructions if card is not None and setup.prefer_card else ""
        return [self._prompt(setup.post_history, own, "post-history", Section.POST_HISTORY)]

    def _prompt(self, text: str, own: str, label: str, section: Section) -> AssembledMessage | None:
        """A prompt of the frame, or the card's own in its place."""
        if not own.strip():
            return self._message(Role.SYSTEM, self._frame(text, label), section)
        source = PromptOrigin(Origin.CARD, label)
        original = self._macros.fill(text)
        return self._message(Role.SYSTEM, self._macros.expand(own, source, original), section)

    def _relative(self, injection: Injection, section: Section) -> AssembledMessage | None:
        return self._message(ROLES.get(injection.role, Role.SYSTEM), injection.segments, section)

    def _examples(self) -> list[AssembledMessage]:
        card = self._setup.card
        top, bottom = examples_of(self._trace)
        own = [(card.data.mes_example, PromptOrigin(Origin.CARD, "example messages"))] if card is not None else []
        return [message for text, source in (*top, *own, *bottom) for message in self._example(text, source)]

    def _example(self, text: str, source: PromptOrigin) -> list[AssembledMessage]:
        """The messages of an example text; one in which nobody speaks has no place, as in SillyTavern."""
        made: list[AssembledMessage] = []
        blocks = example_blocks(self._macros.fill(text), self._user, self._character)
        if not blocks and source.entry is not None:
            self._leave([(text, source)], Left.NO_PLACE)
        for block in blocks:
            turns: list[AssembledMessage] = []
            head = self._message(Role.SYSTEM, self._frame(NEW_EXAMPLE, "start of an example"), Section.EXAMPLES)
            if head is None or not self._fits(head):
                self._leave([(turn.text, source) for turn in block], Left.NO_ROOM)
                continue
            self._used += head.tokens + MESSAGE_OVERHEAD
            for turn in block:
                segments = self._macros.spread(turn.text, source)
                message = self._message(Role.SYSTEM, segments, Section.EXAMPLES)
                if message is None:
                    continue
                name = "example_user" if turn.by_user else "example_assistant"
                if self._fits(message):
                    self._used += message.tokens + MESSAGE_OVERHEAD
                    turns.append(replace(message, name=name))
                else:
                    self._leave(segments, Left.NO_ROOM)
            if turns:
                made += [head, *turns]
            else:
                self._used -= head.tokens + MESSAGE_OVERHEAD
        return made

    def _history(self, order: PromptOrder[Injection]) -> list[AssembledMessage]:
        """The messages and what is injected among them, as many of the newest as there is room for."""
        said = self._said()
        newest: list[AssembledMessage] = []
        done = 0
        for group in reversed(order.in_chat):
            newest += said[done : group.depth]
            done = group.depth
            newest += self._injected(group)
        newest += said[done:]
        kept: list[AssembledMessage] = []
        for place, message in enumerate(newest):
            if not self._fits(message):
                for lost in newest[place:]:
                    self._leave([(lost.text_of(part), part.source) for part in lost.parts], Left.NO_ROOM)
                break
            self._used += message.tokens + MESSAGE_OVERHEAD
            kept.append(message)
        return [message for message in reversed(kept) if message.text]

    def _said(self) -> list[AssembledMessage]:
        """The messages that the host hands over, newest first."""
        made: list[AssembledMessage] = []
        for index in range(self._end - 1, -1, -1):
            message = self._chat.messages[index]
            if message.is_system:
                continue
            text = message.text.replace("\r", "")
            source = PromptOrigin(Origin.CHAT, f"#{index} {message.name or ''}".strip(), message=index)
            if self._is_named(message):
                text = f"{message.name}: {text}"
            # Depth counts every message of the chat, one with an empty text too.
            segments = self._macros.expand(text, source)
            made.append(self._message(_role(message), segments, Section.HISTORY) or _empty(_role(message)))
        return made

    def _is_named(self, message: Message) -> bool:
        """Whether the text begins with the speaker's name: in groups, and for a character that is a guest."""
        if not message.name or message.name == self._user or message.extra.get("type") == "narrator":
            return False
        return self._group or bool(message.raw.get("force_avatar") and not message.is_user)

    def _injected(self, place: AtDepth[Injection]) -> list[AssembledMessage]:
        """What goes to this depth in this role, as one message; none where all of it is empty."""
        segments: list[Segment] = []
        for each in place.prompts:
            stripped = each.stripped
            if stripped and segments:
                segments.append(("\n", PromptOrigin(Origin.FRAME, "between texts", tag=each.tag)))
            segments += stripped
        message = self._message(ROLES[place.role], segments, Section.HISTORY)
        return [] if message is None else [replace(message, depth=place.depth)]

    def _fits(self, message: AssembledMessage) -> bool:
        return self._room is None or self._used + message.tokens + MESSAGE_OVERHEAD <= self._room

    def _message(self, role: Role, segments: Iterable[Segment], section: Section) -> AssembledMessage | None:
        """One message of these texts, None where they hold nothing."""
        texts: list[str] = []
        parts: list[AssembledPart] = []
        start = 0
        for text, source in segments:
            if text:
                texts.append(text)
                parts.append(AssembledPart(start, start + len(text), source, self._counter.count(text)))
                start += len(text)
        whole = "".join(texts)
        if not whole.strip():
            return None
        return AssembledMessage(role, whole, tuple(parts), section, self._counter.count(whole))


def _empty(role: Role) -> AssembledMessage:
    return AssembledMessage(role, "", (), Section.HISTORY, 0)


def _role(message: Message) -> Role:
    if message.extra.get("type") == "narrator":
        return Role.SYSTEM
    return Role.USER if message.is_user else Role.ASSISTANT
