"""The AI part of a generation in the format of the recorded runs (golden format 2.3 to 2.5)."""

from __future__ import annotations

from typing import Any

from lorestudio.engine.deeplore.ai import prompts
from lorestudio.trace.model import AiCall, StageRecord, Trace


class SeenTexts:
    """Where each text stood first, so that a repetition can point there."""

    def __init__(self) -> None:
        self.blocks: dict[str, list[int]] = {}
        self.manifests: dict[str, int] = {}


def ai_report(number: int, trace: Trace, seen: SeenTexts) -> dict[str, Any]:
    """`prefilter`, `manifest`, `ai_calls` and `ai`, as far as the generation came to them."""
    report: dict[str, Any] = {}
    prefilter = trace.stage("category prefilter")
    if prefilter is not None and "kept" in prefilter.details:
        report["prefilter"] = {"candidates": prefilter.details["offered"], "kept": prefilter.details["kept"]}
    manifest = trace.stage("manifest")
    if manifest is None:
        return report
    report["manifest"] = _manifest(number, manifest, seen)
    if trace.ai_calls:
        report["ai_calls"] = [_call(call, manifest) for call in trace.ai_calls]
    selection = trace.stage("AI selection")
    if selection is not None and "results" in selection.details:
        report["ai"] = _selection(selection)
    return report


def _manifest(number: int, record: StageRecord, seen: SeenTexts) -> dict[str, Any]:
    row: dict[str, Any] = {"candidates": record.details["candidates"], "header": record.details["header"]}
    text = str(record.details["text"])
    first = seen.manifests.setdefault(text, number)
    return row | ({"text": text} if first == number or not text else {"same_text_as": first})


def _selection(record: StageRecord) -> dict[str, Any]:
    details = record.details
    row: dict[str, Any] = {
        "cached": details["cached"],
        "error": bool(details.get("error")),
        "results": details["results"],
    }
    if details.get("error"):
        row["error_message"] = details["error"]
    if details["cached"]:
        row["cache_hit"] = True
    return row


def _call(call: AiCall, manifest: StageRecord) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": call.kind, "max_tokens": call.max_tokens, "json_schema": call.json_schema}
    if call.model:
        row["model"] = call.model
    if call.details.get("merged_into_user"):
        row["merged_into_user"] = True
    row["system"] = _system(call)
    row["user"] = _with_placeholders(call.user, manifest)
    return row


def _system(call: AiCall) -> dict[str, Any]:
    """Which prompt was used, without its wording."""
    if call.kind == "prefilter":
        return {"base": "category"}
    start, end = prompts.SELECTION.split(prompts.MAX_ENTRIES)
    if call.system.startswith(start):
        rest = call.system.removeprefix(start)
        wanted, suffix = rest.split(end, 1)
        return {"base": "default", "max_entries": wanted, "suffix": suffix}
    return {"base": "custom", "text": call.system}


def _with_placeholders(user: str, manifest: StageRecord) -> str:
    for name, part in (("{{MANIFEST}}", "text"), ("{{HEADER}}", "header")):
        text = str(manifest.details[part])
        if text:
            user = user.replace(text, name, 1)
    return user
