"""Commands for provider profiles: who can be asked, and how."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lorestudio.llm.clients import client_for
from lorestudio.llm.errors import LlmError
from lorestudio.llm.keys import Keys
from lorestudio.llm.messages import ChatRequest
from lorestudio.llm.profiles import Api, KeySource, Profile, ProfileError, load_profiles, save_profiles
from lorestudio.settings import SettingsError
from lorestudio.studio.answering import profiles_path

profiles = typer.Typer(help="Provider profiles: who can be asked, and how. Keys stay in the system's keyring.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the profile.")]


def _fail(message: str) -> typer.Exit:
    typer.echo(f"lorestudio: {message}", err=True)
    return typer.Exit(2)


def _found(name: str) -> Profile:
    try:
        profile = load_profiles(profiles_path()).find(name)
    except SettingsError as error:
        raise _fail(str(error)) from error
    if profile is None:
        raise _fail(f"there is no profile “{name}”. See: lorestudio profiles list")
    return profile


@profiles.command("list")
def list_profiles() -> None:
    """Show all profiles."""
    try:
        file = load_profiles(profiles_path())
    except SettingsError as error:
        raise _fail(str(error)) from error
    table = Table(box=None)
    for heading in ("name", "API", "URL", "model", "key"):
        table.add_column(heading)
    for profile in file.profiles:
        key = profile.key_variable if profile.key_source is KeySource.ENVIRONMENT else profile.key_source.value
        table.add_row(profile.name, profile.api.value, profile.url, profile.model, key)
    Console().print(table if file.profiles else "There is no profile yet. Add one: lorestudio profiles add --help")
    for problem in file.problems:
        typer.echo(f"lorestudio: {problem}", err=True)


@profiles.command()
def add(
    name: Name,
    url: Annotated[str, typer.Option("--url", help="The server's address, such as http://127.0.0.1:11434/v1.")],
    model: Annotated[str, typer.Option("--model", help="The model's name at the provider.")] = "",
    api: Annotated[Api, typer.Option("--api", help="The kind of API the server speaks.")] = Api.OPENAI,
    key_variable: Annotated[str, typer.Option("--key-variable", help="The environment variable with the key.")] = "",
    ask_key: Annotated[bool, typer.Option("--ask-key", help="Ask for the key and keep it in the keyring.")] = False,
) -> None:
    """Add a profile, or replace the one of this name."""
    source = KeySource.ENVIRONMENT if key_variable else KeySource.KEYRING if ask_key else KeySource.NONE
    try:
        profile = Profile(name, api, url, model, source, key_variable)
        file = load_profiles(profiles_path())
        if ask_key:
            Keys().store(name, typer.prompt("Key", hide_input=True, err=True))
        kept = [other for other in file.profiles if other.name != name]
        save_profiles(profiles_path(), [*kept, profile], file.unreadable)
    except (ProfileError, SettingsError, LlmError) as error:
        raise _fail(str(error)) from error
    typer.echo(f"The profile “{name}” is kept in {profiles_path()}; its key is not.")


@profiles.command()
def remove(name: Name) -> None:
    """Remove a profile and its key."""
    profile = _found(name)
    file = load_profiles(profiles_path())
    try:
        if profile.key_source is KeySource.KEYRING:
            Keys().delete(name)
    except LlmError as error:
        typer.echo(f"lorestudio: {error}", err=True)
    save_profiles(profiles_path(), [other for other in file.profiles if other.name != name], file.unreadable)
    typer.echo(f"The profile “{name}” is removed.")


@profiles.command()
def test(name: Name) -> None:
    """Ask the provider for one word and say how long it took."""
    profile = _found(name)
    request = ChatRequest("test", "Answer with one word.", "ping", max_tokens=8, timeout_ms=15_000)
    try:
        reply = asyncio.run(client_for(profile).complete(replace(request, model=profile.model)))
    except LlmError as error:
        typer.echo(f"lorestudio: {error}", err=True)
        raise typer.Exit(1) from error
    typer.echo(f"“{profile.name}” answered in {reply.duration_ms:,.0f} ms: {reply.text.strip()[:80]}")
