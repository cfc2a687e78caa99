"""Commands about tokenizers: which there are, which one SillyTavern counts with, fetching one, and counting."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from lorestudio.cli.command import command, command_group
from lorestudio.cli.options import ChatOption, JsonOption, SettingsOption, TokenizerOption
from lorestudio.cli.output import echo, print_json, read_text, say_all
from lorestudio.cli.screen import Screen, filled, fold, listing
from lorestudio.domain.records import picked
from lorestudio.studio.project.tokens import counting_for, fetch, tokenizer_files

tokens = command_group("Tokenizers: which are here, which one SillyTavern counts with, and how many tokens texts have.")


@command(tokens, "list")
def list_tokenizers(
    settings: SettingsOption = None,
    chat: ChatOption = None,
    tokenizer: TokenizerOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the tokenizers, where their files were found, and which one counts for these settings or this chat."""
    counting = counting_for(tokenizer, (settings, chat))
    found = list(tokenizer_files(counting.folders))
    if as_json:
        files = [{**picked(each, "name", "title"), "file": path and str(path)} for each, path in found]
        print_json(
            {
                "tokenizers": files, "counts": counting.budgets.name, "exact": counting.budgets.exact,
                "sentence": counting.sentence, "problems": counting.problems,
            }, 1,
        )  # fmt: skip
        return
    rows = ((each.name, each.title, each.kind.value, str(path or "not found")) for each, path in found)
    Screen().print(filled(listing(*map(fold, ("name", "counts for", "kind", "file"))), rows))
    echo(counting.sentence)
    say_all(counting.problems)


@command(tokens, "fetch")
def fetch_tokenizer(name: Annotated[str, "<NAME>", "cl100k, o200k, p50k or r50k: OpenAI's public tables."]) -> None:
    """Fetch a public rank table from OpenAI's server, check it and keep it. Everything else never asks the network."""
    echo(f"Kept as {fetch(name)}.")


@command(tokens)
def count(
    file: Annotated[list[Path], "<FILE...>", "Texts in UTF-8; - for standard input."],
    tokenizer: TokenizerOption = "",
    as_json: JsonOption = False,
) -> None:
    """Say how many tokens texts have, as the model counts them; with chat: or plain: as SillyTavern does."""
    counting = counting_for(tokenizer)
    counter = counting.budgets if tokenizer.startswith(("chat:", "plain:")) else counting.bills
    counts = [(str(path), counter.count(read_text(path))) for path in file]
    if as_json:
        print_json([{"file": name, "tokens": count, "exact": counter.exact} for name, count in counts], 1)
        return
    about = "" if counter.exact else "≈ "
    for name, number in counts:
        echo(f"{about}{number:,} tokens  {name}")
    echo(counting.sentence)
    say_all(counting.problems)
