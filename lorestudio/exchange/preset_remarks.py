"""What a preset of chat completion says beside the prompt: told, so that nobody takes it for reproduced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json, truthy

_USED: Final = frozenset(
    [
        "prompts",
        "prompt_order",
        "openai_max_context",
        "openai_max_tokens",
        "names_behavior",
        "names_in_completion",
        "send_if_empty",
        "new_chat_prompt",
        "new_group_chat_prompt",
        "new_example_chat_prompt",
        "group_nudge_prompt",
        "scenario_format",
        "personality_format",
        "squash_system_messages",
        "assistant_prefill",
        "chat_completion_source",
        "extensions",
        "main_prompt",
        "nsfw_prompt",
        "jailbreak_prompt",
        "preset_settings_openai",
        "name",
    ]
)
_OTHER_TASKS: Final = frozenset(
    ["impersonation_prompt", "assistant_impersonation", "continue_nudge_prompt", "continue_prefill", "continue_postfix"]
)
"""For what is not done here: speaking for the person, and going on with a message."""

_SAMPLING: Final = frozenset(
    [
        "temperature",
        "temp_openai",
        "top_p",
        "top_p_openai",
        "top_k",
        "top_k_openai",
        "top_a",
        "top_a_openai",
        "min_p",
        "min_p_openai",
        "seed",
        "n",
        "frequency_penalty",
        "freq_pen_openai",
        "presence_penalty",
        "pres_pen_openai",
        "repetition_penalty",
        "repetition_penalty_openai",
        "count_pen",
        "reasoning_effort",
        "verbosity",
    ]
)
_CONNECTION: Final = frozenset(
    [
        "reverse_proxy",
        "proxy_password",
        "stream_openai",
        "max_context_unlocked",
        "show_external_models",
        "bypass_status_check",
        "azure_base_url",
        "azure_deployment_name",
        "azure_api_version",
        "bind_preset_to_connection",
        "show_thoughts",
        "nano_gpt_model",
        "xai_model",
        "legacy_streaming",
        "api_url_scale",
        "use_ai21_tokenizer",
        "use_google_tokenizer",
        "use_alt_scale",
        "api_key_openai",
    ]
)
_CONNECTION_STARTS: Final = (
    "openrouter_",
    "custom_",
    "vertexai_",
    "windowai_",
    "siliconflow_",
    "workers_ai_",
    "azure_",
)
_SHAPING: Final = {
    "wrap_in_quotes": "what you say in quotation marks",
    "image_inlining": "pictures",
    "inline_image_quality": "",
    "video_inlining": "videos",
    "audio_inlining": "sounds",
    "media_inlining": "pictures, videos and sounds",
    "function_calling": "tools",
    "enable_web_search": "web search",
    "request_images": "asking for pictures",
    "request_image_aspect_ratio": "",
    "request_image_resolution": "",
    "tool_reasoning_mode": "",
    "use_sysprompt": "system messages in a field of their own",
    "claude_use_sysprompt": "system messages in a field of their own",
    "use_makersuite_sysprompt": "system messages in a field of their own",
    "human_sysprompt_message": "the first message behind system messages",
    "claude_human_sysprompt_message": "the first message behind system messages",
    "custom_prompt_post_processing": "joining messages for strict providers",
    "bias_preset_selected": "",
    "openai_postfix": "",
}
"""What else may change the request, and what it does; "" for what changes no message."""

_PLAIN_FORMAT: Final = "{0}"


def preset_remarks(document: Mapping[str, Json]) -> tuple[str, ...]:
    """Sentences about the members of a preset, or of `oai_settings`, that a prompt here is not shaped by."""
    told: list[str] = []
    shaping = [
        f"{name} ({what})" if what else name
        for name, what in _SHAPING.items()
        if what and truthy(document.get(name)) and document.get(name) != "none"
    ]
    if shaping:
        told.append(f"Switched on in the preset, and not reproduced here: {', '.join(shaping)}.")
    if (form := document.get("wi_format")) is not None and str(form).strip() not in {"", _PLAIN_FORMAT}:
        told.append("The preset frames SillyTavern's own World Info (wi_format); that is not reproduced here.")
    if any(name in document for name in _SAMPLING) or any(_is_connection(name) for name in document):
        told.append(
            "Whom SillyTavern asks and with which sampling (temperature, top_p and so on) is not taken over: here the "
            "connection says so."
        )
    known = _USED | _OTHER_TASKS | _SAMPLING | _SHAPING.keys() | {"wi_format"}
    unknown = [name for name in document if name not in known and not _is_connection(name)]
    if unknown:
        told.append(f"Not known here, and without effect: {', '.join(sorted(unknown))}.")
    return tuple(told)


def _is_connection(name: str) -> bool:
    return name in _CONNECTION or name.endswith("_model") or name.startswith(_CONNECTION_STARTS)
