"""Which tokenizer SillyTavern counts with, by its settings (rules: tokens 2).

Names of models are looked for as SillyTavern looks for them, first hit first, its traps included.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.json_text import object_in, objects_in

Object = Mapping[str, Any]
_Rules = tuple[tuple[str, str], ...]

TOKENIZER_IDS: Final = {
    0: "NONE", 1: "GPT2", 2: "OPENAI", 3: "LLAMA", 4: "NERD", 5: "NERD2", 6: "API_CURRENT", 7: "MISTRAL", 8: "YI",
    9: "API_TEXTGENERATIONWEBUI", 10: "API_KOBOLD", 11: "CLAUDE", 12: "LLAMA3", 13: "GEMMA", 14: "JAMBA", 15: "QWEN2",
    16: "COMMAND_R", 17: "NEMO", 18: "DEEPSEEK", 19: "COMMAND_A", 99: "BEST_MATCH",
}  # fmt: skip
"""The tokenizers of SillyTavern's list, by number."""

_BEST_MATCH: Final = 99
_FILES: Final = {"GPT2": "gpt2", "OPENAI": "cl100k_base", "NERD": "nerdstash", "NERD2": "nerdstash_v2"}
_BACKENDS: Final = frozenset({"API_CURRENT", "API_TEXTGENERATIONWEBUI", "API_KOBOLD"})
_TURBO: Final = "gpt-3.5-turbo"

_GPT: Final[_Rules] = (
    ("gpt-4o", "gpt-4o"), ("gpt-4", "gpt-4"), (_TURBO, _TURBO), ("claude", "claude"), ("GPT-NeoXT", "gpt2"),
    ("jamba", "jamba"), ("deepseek", "deepseek"),
)  # fmt: skip
_SOURCES: Final[Mapping[str, _Rules]] = {
    "claude": (("", "claude"),), "makersuite": (("", "gemma"),), "vertexai": (("", "gemma"),),
    "ai21": (("", "jamba"),), "deepseek": (("", "deepseek"),),
    "cohere": (("command-a", "command-a"), ("", "command-r")),
    "mistralai": (("nemo", "nemo"), ("pixtral", "nemo"), ("", "mistral")),
    "openrouter": _GPT,
    "perplexity": (
        ("sonar-reasoning", "deepseek"), ("r1-1776", "deepseek"), ("llama-3", "llama3"), ("llama3", "llama3"),
        ("llama", "llama"), ("mistral", "mistral"), ("mixtral", "mistral"),
    ),
    "groq": (
        ("qwen", "qwen2"), ("llama-3", "llama3"), ("llama3", "llama3"), ("mistral", "mistral"),
        ("mixtral", "mistral"), ("gemma", "gemma"),
    ),
    "electronhub": (
        ("gpt-4o", "gpt-4o"), ("gpt-5", "gpt-4o"), ("gpt-4.1", "gpt-4o"), ("gpt-4.5", "gpt-4o"), ("gpt-4", "gpt-4"),
        (_TURBO, _TURBO), ("claude", "claude"), ("jamba", "jamba"), ("deepseek", "deepseek"),
        ("sonar-reasoning", "deepseek"), ("r1", "deepseek"), ("qwen", "qwen2"), ("gemma", "gemma"),
        ("mistral", "mistral"), ("yi", "yi"), ("llama3", "llama3"), ("llama-3", "llama3"), ("^l3", "llama3"),
        ("llama", "llama"), ("command-a", "command-a"), ("command-r", "command-r"), ("nemo", "nemo"),
    ),
    "chutes": (
        ("deepseek", "deepseek"), ("mai-ds", "deepseek"), ("qwen", "qwen2"), ("qwq", "qwen2"), ("tongyi", "qwen2"),
        ("kimi", "qwen2"), ("llama", "llama3"), ("longcat", "llama3"), ("hermes", "llama3"), ("gemma", "gemma"),
        ("nemo", "nemo"), ("mistral", "mistral"), ("gpt-oss", "gpt-4o"),
    ),
    "workers_ai": (
        ("deepseek", "deepseek"), ("qwen", "qwen2"), ("qwq", "qwen2"), ("kimi", "qwen2"), ("llama-3", "llama3"),
        ("llama-4", "llama3"), ("llama", "llama"), ("gemma", "gemma"), ("mistral", "mistral"), ("phi", _TURBO),
        ("gpt-oss", "gpt-4o"),
    ),
}  # fmt: skip
"""What stands in the model's name, and the name that the client then sends; "" fits every model, ^ its beginning."""

_LOWERED: Final = frozenset({"chutes", "workers_ai"})
_RAW: Final = frozenset({"openai", "azure_openai", "custom"})
_ROUTED: Final = {"Llama2": "llama", "Llama3": "llama3", "Mistral": "mistral", "Yi": "yi", "Gemini": "gemma",
                  "Qwen": "qwen2", "Cohere": "command-r"}  # fmt: skip
"""What OpenRouter's list of models says of a model's tokenizer, over chat completion."""
_ROUTED_PLAIN: Final = {"Llama2": 3, "Llama3": 12, "Yi": 8, "Mistral": 7, "Gemini": 13, "Claude": 11, "Cohere": 16,
                        "Qwen": 15}  # fmt: skip

_SERVER: Final[_Rules] = (
    ("=o1", "o1"), ("o1-preview", "o1"), ("o1-mini", "o1"), ("o3-mini", "o1"), ("gpt-5", "o1"), ("o3", "o1"),
    ("o4-mini", "o1"), ("gpt-4o", "gpt-4o"), ("chatgpt-4o-latest", "gpt-4o"), ("gpt-4.1", "gpt-4o"),
    ("gpt-4.5", "gpt-4o"), ("gpt-4-32k", "gpt-4-32k"), ("gpt-4", "gpt-4"),
    ("gpt-3.5-turbo-0301", "gpt-3.5-turbo-0301"), (_TURBO, _TURBO),
)  # fmt: skip
_SERVER_LATER: Final[_Rules] = (
    ("claude", "claude"), ("llama3", "llama3"), ("llama-3", "llama3"), ("llama", "llama"), ("mistral", "mistral"),
    ("yi", "yi"), ("deepseek", "deepseek"), ("gemma", "gemma"), ("gemini", "gemma"), ("learnlm", "gemma"),
    ("jamba", "jamba"), ("qwen2", "qwen2"), ("command-r", "command-r"), ("command-a", "command-a"), ("nemo", "nemo"),
)  # fmt: skip
_OLD_MODELS: Final = frozenset({
    "text-davinci-003", "text-davinci-002", "text-davinci-001", "text-curie-001", "text-babbage-001", "text-ada-001",
    "code-davinci-002", "code-davinci-001", "code-cushman-002", "code-cushman-001", "text-davinci-edit-001",
    "code-davinci-edit-001", "text-embedding-ada-002", "text-similarity-davinci-001", "text-similarity-curie-001",
    "text-similarity-babbage-001", "text-similarity-ada-001", "text-search-davinci-doc-001",
    "text-search-curie-doc-001", "text-search-babbage-doc-001", "text-search-ada-doc-001",
    "code-search-babbage-code-001", "code-search-ada-code-001",
})  # fmt: skip

_PLAIN: Final[tuple[tuple[str, int], ...]] = (
    ("llama3", 12), ("llama-3", 12), ("mistral", 7), ("mixtral", 7), ("gemma", 13), ("nemo", 17), ("pixtral", 17),
    ("deepseek", 18), ("yi", 8), ("jamba", 14), ("command-r", 16), ("command-a", 19), ("qwen2", 15),
)  # fmt: skip
_ASKED: Final = frozenset({"ooba", "tabby", "koboldcpp", "llamacpp", "vllm", "aphrodite"})
"""Backends that are asked for counts once they are connected."""

_MODEL_KEYS: Final = {"makersuite": "google_model", "ooba": "custom_model"}
_UNNAMED: Final = frozenset({"koboldcpp"})
"""Backends whose model has no field in the settings."""


class TokenizerChoice(Struct, frozen=True):
    """What SillyTavern counts with.

    Over chat completion `client` is the name that is sent and `server` what the server takes it for; otherwise `key`
    and `id` are those of SillyTavern's list. `model` is what the person chose. `open` says what the settings cannot
    tell, "" where they tell everything.
    """

    is_chat: bool
    client: str = ""
    server: str = ""
    key: str = ""
    id: int = 0
    model: str = ""
    open: str = ""

    @property
    def is_claude(self) -> bool:
        """Whether one of Claude's models writes: by the source, or by the model's name (rules: deeplore-newer 1.14)."""
        return self.is_chat and any("claude" in name.lower() for name in (self.client, self.model))

    @property
    def tokenizer(self) -> str:
        """The name of the tokenizer's file, "" where the backend counts itself, "guess" where nobody does."""
        if not self.is_chat:
            if self.key in _BACKENDS:
                return ""
            return "guess" if self.key == "NONE" else _FILES.get(self.key, self.key.lower().replace("_", "-"))
        from tiktoken.model import encoding_name_for_model  # noqa: PLC0415  # most commands begin without

        try:
            return encoding_name_for_model(self.server)
        except KeyError:
            return self.server


def tokenizer_choice(settings: Object, state: Object | None = None) -> TokenizerChoice:
    """The choice by SillyTavern's settings; `state` is what they do not hold: connected or not, lists of models."""
    known = state or {}
    if settings.get("main_api") == "openai":
        return _chat(object_in(settings, "oai_settings"), known)
    chosen = object_in(settings, "power_user").get("tokenizer", _BEST_MATCH)
    number, model, unsure = chosen if isinstance(chosen, int) else _BEST_MATCH, "", ""
    if number == _BEST_MATCH:
        number, model, unsure = _best_match(settings, known)
    return TokenizerChoice(False, key=TOKENIZER_IDS.get(number, "NONE"), id=number, model=model, open=unsure)


def has_choice(settings: Object) -> bool:
    """Whether these are settings that say how tokens are counted."""
    return isinstance(settings.get("main_api"), str)


def with_preset(settings: Object, preset: Object) -> dict[str, Any]:
    """The settings with what a chat completion preset says of source and model."""
    said = {
        name: value for name, value in preset.items() if name.endswith("_model") or name == "chat_completion_source"
    }
    return {**settings, "oai_settings": {**object_in(settings, "oai_settings"), **said}}


def with_profile(settings: Object, name: str) -> dict[str, Any]:
    """The settings as a connection profile of that name or id would leave them; as they are where there is none."""
    manager = object_in(object_in(settings, "extension_settings"), "connectionManager")
    found = next(
        (each for each in objects_in(manager.get("profiles")) if name in (each.get("name"), each.get("id"))), None
    )
    if found is None:
        return dict(settings)
    api, model, changed = str(found.get("api") or ""), found.get("model"), dict(settings)
    api = {"oai": "openai", "google": "makersuite", "kcpp": "koboldcpp"}.get(api, api)
    if api in {"kobold", "novel", "koboldhorde"}:
        changed["main_api"] = api
    elif api in _ASKED or found.get("mode") == "tc":
        own = {"type": api} | ({f"{api}_model": model} if model else {})
        changed["main_api"] = "textgenerationwebui"
        changed["textgenerationwebui_settings"] = {**object_in(settings, "textgenerationwebui_settings"), **own}
    else:
        own = {"chat_completion_source": api} | ({_MODEL_KEYS.get(api, f"{api}_model"): model} if model else {})
        changed["main_api"], changed["oai_settings"] = "openai", {**object_in(settings, "oai_settings"), **own}
    tokenizer = found.get("tokenizer")
    named = (each for each, key in TOKENIZER_IDS.items() if isinstance(tokenizer, str) and key == tokenizer.upper())
    number = next(named, tokenizer)
    if isinstance(number, int):
        changed["power_user"] = {**object_in(settings, "power_user"), "tokenizer": number}
    return changed


def _first(rules: _Rules, name: str) -> str | None:
    for part, found in rules:
        fits = name == part[1:] if part[:1] == "=" else name.startswith(part[1:]) if part[:1] == "^" else part in name
        if fits:
            return found
    return None


def _chat(settings: Object, state: Object) -> TokenizerChoice:
    source = str(settings.get("chat_completion_source") or "openai")
    model = str(settings.get(_MODEL_KEYS.get(source, f"{source}_model")) or "")
    unsure = ""
    if source in _RAW:
        client = model or ("" if source == "custom" else _TURBO)
    else:
        client = _routed(model, state) if source == "openrouter" else ""
        sought = model.lower() if source in _LOWERED else model
        client = client or _first(_SOURCES.get(source, ()), sought) or _TURBO
        if source == "openrouter" and not state.get("model_list") and client == _TURBO:
            unsure = "Which tokenizer SillyTavern uses for this OpenRouter model is not in its settings."
    return TokenizerChoice(True, client=client, server=served(client), model=model or source, open=unsure)


def _routed(model: str, state: Object) -> str:
    client = _ROUTED.get(_listed(state, "model_list", model), "")
    return "command-a" if client == "command-r" and "command-a" in model else client


def _listed(state: Object, name: str, model: str) -> str:
    """The tokenizer that a list of OpenRouter's models gives a model, "" where it has none."""
    listed: Any = state.get(name)
    found = next((each for each in listed or () if each.get("id") == model), None)
    return "" if found is None else str(object_in(found, "architecture").get("tokenizer"))


def served(name: str) -> str:
    """What SillyTavern's server takes a model's name for, capitals and small letters told apart."""
    found = _first(_SERVER, name)
    if found is None and name in _OLD_MODELS:
        found = name
    return found or _first(_SERVER_LATER, name) or _TURBO


def _best_match(settings: Object, state: Object) -> tuple[int, str, str]:
    """Number, model, and what the settings leave open."""
    api = settings.get("main_api")
    if api == "novel":
        model = str(object_in(settings, "nai_settings").get("model_novel") or "")
        return next((n for part, n in (("clio", 4), ("kayra", 5), ("erato", 12)) if part in model), 0), model, ""
    if api not in {"kobold", "koboldhorde", "textgenerationwebui"}:
        return 0, "", ""
    session = object_in(state, "sess")
    status = str(state.get("online_status", "no_connection"))
    connected = status != "no_connection" and not session.get("tokenizationWarningShown")
    if api != "textgenerationwebui":
        able = api == "kobold" and connected and object_in(state, "kai_flags").get("can_use_tokenization")
        return (10 if able else 3), "", "" if state or api != "kobold" else _BACKEND
    text = object_in(settings, "textgenerationwebui_settings")
    kind = str(text.get("type") or "ooba")
    model = "" if kind in _UNNAMED else str(text.get(_MODEL_KEYS.get(kind, f"{kind}_model")) or "")
    model = "tgi" if kind == "huggingface" else model
    if connected:
        number = _connected(kind, model, session, state)
        if number is not None:
            return number, model or status, ""
    sought = (model or status).lower()
    asked = kind in _ASKED or kind in {"openrouter", "dreamgen"}
    number = next((number for part, number in _PLAIN if part in sought), 3)
    return number, model, _BACKEND if asked and not state else ""


_BACKEND: Final = (
    "SillyTavern asks the backend itself once it is connected, and its settings do not say whether it was."
)


def _connected(kind: str, model: str, session: Object, state: Object) -> int | None:
    if kind in _ASKED and (kind != "ooba" or session.get("tokenizationSupported")):
        return 9
    if kind == "openrouter":
        if "jamba" in model:
            return 14
        return _ROUTED_PLAIN.get(_listed(state, "openRouterModels", model), 2)
    if kind == "dreamgen":
        return 12 if model.startswith(("lucid-v1-extra-large", "lucid-v1-max")) else 7
    return None
