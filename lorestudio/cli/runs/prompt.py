"""`lorestudio prompt`: the whole prompt of a generation, part by part."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.rule import Rule
from rich.text import Text

from lorestudio.cli.command import Limits
from lorestudio.cli.options import ChatOptions, JsonOption, OfflineRun, ReplyOption, chosen_generation
from lorestudio.cli.output import print_json, read_text, say, say_all
from lorestudio.cli.screen import Screen
from lorestudio.domain.records import replace
from lorestudio.exchange.chat_preset import load_preset
from lorestudio.exchange.problems import InputError
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.setup import REPLY_TOKENS, PromptSetup, remarks_of, with_preset
from lorestudio.trace.prompt import AssembledPrompt, source_words
from lorestudio.trace.storage.serialize import record_to_json
from lorestudio.trace.wording import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupOptions:
    """What a prompt is made of besides the lore, and how much room it has."""

    preset: Annotated[Path | None, "SillyTavern's preset of chat completion, or its settings.json."] = None
    main: Annotated[Path | None, "A file with your main prompt; it goes before the preset's."] = None
    context: Annotated[
        int | None, "--context-size", "--context", "TOKENS", Limits(0),
        "Context size of the model; 0: as large as needed. Default: the preset's, else 0.",
    ] = None  # fmt: skip
    reply: Annotated[
        int | None, "TOKENS", Limits(1), f"Room for the reply. Default: the preset's, else {REPLY_TOKENS}."
    ] = None

    def added_to(self, setup: PromptSetup) -> PromptSetup:
        """The setup with what the options say. Raises InputError."""
        if self.preset is not None:
            setup = with_preset(setup, load_preset(self.preset), self.preset)
        if self.main is not None:
            setup = replace(setup, main=read_text(self.main))
        size = setup.context_size if self.context is None else self.context
        return replace(setup, context_size=size, reply_tokens=self.reply or setup.reply_tokens)


def show_prompt(
    given: ChatOptions, by: OfflineRun, *, message: ReplyOption = None, asked: SetupOptions, as_json: JsonOption = False
) -> None:
    """Print the whole prompt of a reply: lore, card, persona and chat in the order and roles that the model gets.

    Nobody is asked.
    """
    project = given.project()
    setup = asked.added_to(project.setup)
    project = replace(project, setup=setup)
    if asked.context != 0:  # 0 asks for a prompt without a limit
        setup = project.reply_setup
    simulator = by.simulator(project)
    generation = chosen_generation(simulator, message)
    trace = asyncio.run(simulator.generate(generation))
    say_all(project.problems)
    if project.chat is None:
        raise InputError(given.chat, "there is no chat in it.")
    prompt = assemble(trace, project.chat, setup, project.bills)
    say_all(remarks_of(setup))
    say_all(prompt.remarks)
    for macro in prompt.unknown_macros:
        say(f"{macro} is a macro that only SillyTavern can fill in; it stays as it is.")
    if as_json:
        print_json(record_to_json(prompt))
    else:
        _print(prompt)


def _print(prompt: AssembledPrompt) -> None:
    console = Screen()
    about = "" if prompt.exact else "≈ "
    for message in prompt.messages:
        where = message.section.value
        if message.depth is not None:
            where = f"depth {message.depth:g}"
        name = f" ({message.name})" if message.name else ""
        console.print(Rule(f"{message.role.value}{name} · {where} · {about}{message.tokens:,} tokens", align="left"))
        labels = dict.fromkeys(source_words(part.source) for part in message.parts)
        console.print(Text(", ".join(labels), style="dim"))
        console.print(Text(message.text))
    console.print(Rule(align="left"))
    room = f" of {prompt.room:,}" if prompt.room is not None else ""
    counts = ", ".join(f"{origin.value} {count:,}" for origin, count in prompt.tokens_by_origin.items())
    console.print(
        f"{about}{prompt.tokens:,}{room} tokens in {plural(len(prompt.messages), '# message|# messages')}: {counts}"
    )
    if prompt.lore_tokens:
        console.print(f"lore as SillyTavern counts it: {prompt.lore_tokens:,} tokens")
    for left in prompt.left_out:
        console.print(f"not in it: {left.source.label} ({left.reason.value}, {left.tokens:,} tokens)")
