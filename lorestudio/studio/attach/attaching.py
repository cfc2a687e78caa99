"""Attaching: an endpoint whose captures are kept, with the port and token that it had before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lorestudio.domain.records import replace
from lorestudio.studio.attach.captures import Attachment, Captures, capture_of, keep_attachment
from lorestudio.studio.attach.endpoint import Endpoint, provider_address
from lorestudio.studio.attach.exchange import Exchange


def attached(
    folder: Path,
    attachment: Attachment,
    captures: Captures,
    told: Callable[[], object] = lambda: None,
) -> Endpoint:
    """An endpoint that listens, and whose requests for text are kept in `captures`. Waits for the disk.

    Port and token are kept in the folder, so that SillyTavern's address stays. Raises InputError and OSError.
    """
    provider = provider_address(attachment.settings.provider)

    def keep(exchange: Exchange) -> None:
        if exchange.generates and (captures.settings.keep_auxiliary or not exchange.auxiliary):
            captures.add(capture_of(exchange, attachment.token, provider))

    endpoint = Endpoint(provider, attachment.token, attachment.settings.port, keep=keep, told=told)
    endpoint.start()
    try:
        settings = attachment.settings.model_copy(update={"provider": provider, "port": endpoint.port})
        keep_attachment(folder, replace(attachment, settings=settings))
    except OSError:
        endpoint.stop()
        raise
    return endpoint


def steps(endpoint: Endpoint) -> tuple[str, ...]:
    """What a person does in SillyTavern, with these addresses."""
    bare = endpoint.address.removesuffix("/v1")
    return (
        "In SillyTavern open API Connections (the plug).",
        (
            f"Chat Completion, source “Custom (OpenAI-compatible)”: enter {endpoint.address} as Custom Endpoint, and "
            "the provider's own key as Custom API Key. For OpenRouter, NanoGPT and Groq, too."
        ),
        (
            f"Chat Completion with OpenAI, Claude, Mistral, DeepSeek or xAI: under Reverse Proxy enter "
            f"{endpoint.address} as Proxy Server URL (Google: {bare}), and the provider's key as Proxy Password."
        ),
        f"Text Completion: enter {bare} as API URL.",
        "Press Connect. Claude asks for nothing then: press Test Message.",
        f"Give the profile that DeepLore's AI search uses the second address: {endpoint.auxiliary}",
    )


def arrived(endpoint: Endpoint) -> str:
    """A sentence about what has come, by which the steps are checked."""
    last = endpoint.last
    if last is not None and last.problem:
        return f"Something came, but {last.problem}."
    if last is not None and last.status >= 400:
        return f"Something came, and the provider answered {last.status} {last.reason}."
    if endpoint.requests:
        return f"{endpoint.requests} request{'' if endpoint.requests == 1 else 's'} for text went through: it works."
    if endpoint.models_asked:
        return "SillyTavern has asked for the model list: it works."
    return "It listens. Nothing has come yet."
