"""`lorestudio prompt`: the whole prompt of a generation, part by part."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from lorestudio.cli.asking import answering
from lorestudio.cli.messages import clear_messages, say, say_all
from lorestudio.cli.previewing import chosen_generation
from lorestudio.exchange.character_card import load_card
from lorestudio.studio import InputError, Simulator, open_project
from lorestudio.studio.answering import AnswerKind
from lorestudio.studio.modes import Mode, with_mode
from lorestudio.studio.prompt_assembly import assemble
from lorestudio.studio.prompt_setup import REPLY_TOKENS, PromptSetup, read_persona
from lorestudio.trace.assembled import AssembledPrompt
from lorestudio.trace.serialize import record_to_json


def show_prompt(
    vault: Annotated[list[str], typer.Argument(metavar="VAULT...", help="The vaults, as for “replay”.")],
    *,
    chat: Annotated[Path, typer.Option("--chat", help="A SillyTavern chat (.jsonl) or plain text.")],
    message: Annotated[
        int | None, typer.Option("--message", min=0, help="The number of a reply. Default: the reply to come.")
    ] = None,
    card: Annotated[Path | None, typer.Option("--card", help="The character's card: PNG or JSON, V1 to V3.")] = None,
    persona: Annotated[
        str, typer.Option("--persona", metavar="TEXT|FILE", help="Your persona. A first line “# Name” names it.")
    ] = "",
    main: Annotated[Path | None, typer.Option("--main", help="A file with your main prompt.")] = None,
    settings: Annotated[
        Path | None, typer.Option("--settings", help="DeepLore settings, or SillyTavern's settings.json.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the probability rolls.")] = 0,
    context: Annotated[
        int,
        typer.Option("--context", metavar="TOKENS", min=0, help="Context size of the model; 0: as large as needed."),
    ] = 0,
    reply: Annotated[int, typer.Option("--reply", metavar="TOKENS", min=1, help="Room for the reply.")] = REPLY_TOKENS,
    mode: Annotated[str | None, typer.Option("--mode", help=f"One of {', '.join(Mode)}.")] = None,
    answers: Annotated[str, typer.Option("--answers", help="stand-in (offline) or recorded.")] = "stand-in",
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Print the whole prompt of a reply: lore, card, persona and chat in the order and roles that the model gets.

    Nobody is asked.
    """
    with clear_messages():
        if answers not in {AnswerKind.STAND_IN, AnswerKind.RECORDED}:
            raise InputError("--answers", "this command asks no provider. Choose stand-in or recorded.")
        project = replace(open_project(vault, chat, settings, seed), context_size=context)
        if mode is not None:
            if mode not in set(Mode):
                raise InputError("--mode", f"there is no mode “{mode}”. There are: {', '.join(Mode)}.")
            project = with_mode(project, Mode(mode))
        setup = PromptSetup(
            card=load_card(card) if card is not None else None,
            persona=read_persona(persona),
            context_size=context,
            reply_tokens=reply,
        )
        if main is not None:
            setup = replace(setup, main=_text(main))
        asked = answering(answers, project)
        simulator = Simulator(project, asked.source, model=asked.model)
        generation = chosen_generation(simulator, message)
        trace = asyncio.run(simulator.generate(generation))
        say_all(project.problems)
        if project.chat is None:
            raise InputError(chat, "there is no chat in it.")
        prompt = assemble(trace, project.chat, setup, project.counter)
        for macro in prompt.unknown_macros:
            say(f"{macro} is a macro that only SillyTavern can fill in; it stays as it is.")
        if as_json:
            typer.echo(json.dumps(record_to_json(prompt), ensure_ascii=False).encode("utf-8", "backslashreplace"))
        else:
            _print(prompt)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"the main prompt cannot be read as UTF-8 text: {error}.") from error


def _print(prompt: AssembledPrompt) -> None:
    console = Console(highlight=False, markup=False)
    about = "" if prompt.exact else "≈ "
    for message in prompt.messages:
        where = message.section.value
        if message.depth is not None:
            where = f"depth {message.depth:g}"
        name = f" ({message.name})" if message.name else ""
        console.print(Rule(f"{message.role.value}{name} · {where} · {about}{message.tokens:,} tokens", align="left"))
        labels = dict.fromkeys(f"{part.source.origin.value}: {part.source.label}" for part in message.parts)
        console.print(Text(", ".join(labels), style="dim"))
        console.print(Text(message.text))
    console.print(Rule(align="left"))
    room = f" of {prompt.room:,}" if prompt.room is not None else ""
    counts = ", ".join(f"{origin.value} {count:,}" for origin, count in prompt.tokens_by_origin.items())
    console.print(f"{about}{prompt.tokens:,}{room} tokens in {len(prompt.messages)} messages: {counts}")
    for left in prompt.left_out:
        console.print(f"not in it: {left.source.label} ({left.reason.value}, {left.tokens:,} tokens)")
