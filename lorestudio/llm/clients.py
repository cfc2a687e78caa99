"""The client for a profile."""

from __future__ import annotations

from typing import Final

import httpx

from lorestudio.llm.anthropic import AnthropicMessages
from lorestudio.llm.dialect import Dialect
from lorestudio.llm.http_client import HttpChatClient
from lorestudio.llm.keys import Keys
from lorestudio.llm.openai_compatible import OpenAiCompatible
from lorestudio.llm.profiles import Api, KeySource, Profile

_DIALECTS: Final[dict[Api, type[Dialect]]] = {Api.OPENAI: OpenAiCompatible, Api.ANTHROPIC: AnthropicMessages}


def client_for(
    profile: Profile, keys: Keys | None = None, transport: httpx.AsyncBaseTransport | None = None
) -> HttpChatClient:
    """A client that talks as `profile` says. Does nothing yet: the key is read when a request is sent."""
    keys = keys or Keys()
    read_key = None if profile.key_source == KeySource.NONE else lambda: keys.read(profile)
    return HttpChatClient(profile, _DIALECTS[profile.api](), read_key, transport=transport)
