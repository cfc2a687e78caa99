"""Who becomes a candidate, and whom candidates bring along: by cascade links, or wiki links for a model to choose from.

Others come by keys, without one as constants and their like, in AI-only mode all.
Rules: deeplore 3.2, 3.4, 3.5, 3.6, 4.1, 4.2.
"""

from __future__ import annotations

from lorestudio.domain.entry import ANY_REFINE, Entry
from lorestudio.domain.javascript import Json
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.keys import KeyHit, KeyMatcher, ScanWindow
from lorestudio.systems.deeplore.state import RunState, is_rested, is_warm, luck_decides, passes
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord


@stage("keywords", Phase.MATCH)
def keywords_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """One pass over the chat finds all keys; then each entry that was hit has to pass its own conditions.

    In 2.0.2 that is warmup, then probability, then cooldown: the roll is made even where the cooldown then decides.
    """
    settings, window = ctx.settings, state.window
    if settings.scan_depth <= 0 or window is None:
        return ledger.skipped("scan_depth_zero")
    matcher = ctx.matcher
    if ctx.is_fixed("window_filter") and _reaches_further(window, ctx):
        state.note_switch("window_filter", ledger.name, "the window reaches further back past hidden messages")
    hits = matcher.find_in_lines([line.text for line in window.lines])
    windows: dict[float, tuple[int, str]] = {}
    for entry_id in matcher.hit_entries(hits):
        entry = ctx.index.vault.entries[entry_id]
        if entry.constant or entry.guide:
            continue
        depth = ctx.depth_of(entry)
        if depth not in windows:
            windows[depth] = window.offset(depth), window.text[window.offset(depth) :]
        offset, text = windows[depth]
        hit = matcher.test(entry_id, hits, offset)
        if hit is None:
            blocked = matcher.test_primary(entry_id, hits, offset)
            if blocked is not None and entry.refine_keys:
                where = _hit_details(window, ctx, matcher, blocked, depth)
                where |= {"refine_keys": list(entry.refine_keys), "searched": window.count(depth)}
                if entry.selective_logic == ANY_REFINE:
                    ledger.refuse(entry, "refine_blocked", **where)
                else:
                    ledger.refuse(entry, "refine_logic", **where, logic=entry.selective_logic)
            continue
        if not _passes(state, ctx, ledger, entry, text):
            continue
        details = _hit_details(window, ctx, matcher, hit, depth) if ledger.detailed else {}
        if entry.id in state.matched:  # a bootstrap entry: the key takes over as the reason
            state.set_label(entry, hit.key)
            ledger.change(entry, "relabeled", **details)
        else:
            state.let_in(entry, hit.key)
            ledger.add(entry, "key_hit", **details)
    depth = settings.scan_depth
    searched: dict[str, Json] = {"messages": window.count(depth), "characters": len(window.tail(depth))}
    return ledger.close(state.candidates, default_reason="no_key_hit", details={"depth": depth, **searched})


def _passes(state: RunState, ctx: Inputs, ledger: Ledger, entry: Entry, text: str) -> bool:
    """Whether the entry's own conditions let it in."""
    if ctx.rules.one_gate:
        return passes(state, ledger, entry, ctx.matcher, text)
    warm = entry.warmup is None or is_warm(ledger, entry, ctx.matcher, text)
    return warm and luck_decides(state, ledger, entry) and is_rested(state, ledger, entry)


def _reaches_further(window: ScanWindow, ctx: Inputs) -> bool:
    """Whether some entry's window holds a message that it would not hold if hidden ones used up places."""
    exact = ScanWindow(ctx.moment.chat, len(ctx.moment.chat), case_sensitive=True)
    return any(window.count(depth) > exact.count(depth) for depth in (ctx.settings.scan_depth, *ctx.index.scan_depths))


def _hit_details(window: ScanWindow, ctx: Inputs, matcher: KeyMatcher, hit: KeyHit, depth: float) -> dict[str, Json]:
    """The key and the refine key that decided, each with its place; those of the refine key begin with `refine_`."""
    details: dict[str, Json] = {"key": hit.key, "depth": depth, **_in_file(window, ctx, hit.start, matcher.size(hit))}
    if hit.refine is not None:
        place = _in_file(window, ctx, hit.refine.start, matcher.size(hit.refine))
        details["refine_key"] = hit.refine.key
        details |= {f"refine_{name}": value for name, value in place.items()}
    return details


def _in_file(window: ScanWindow, ctx: Inputs, start: int, size: int) -> dict[str, Json]:
    """Where the hit is, with the message counted as in the chat file."""
    where: dict[str, Json] = dict(window.locate(start, size))
    message = where["message"]
    if isinstance(message, int):
        where["message"] = ctx.moment.position(message)
    return where


@stage("constants", Phase.MATCH)
def constants_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Every constant goes in; no probability, cooldown or warmup holds it back."""
    for entry in ctx.index.constants:
        state.let_in(entry, "(constant)")
        ledger.add(entry, "constant")
    return ledger.close(state.candidates)


def _figures(ctx: Inputs) -> dict[str, int]:
    return {"threshold": ctx.settings.new_chat_threshold, "chat_length": len(ctx.moment.chat)}


@stage("bootstrap", Phase.MATCH)
def bootstrap_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Up to the new-chat threshold the bootstrap entries go in without a key."""
    if not state.bootstrapping:
        return ledger.skipped("not_bootstrapping", _figures(ctx))
    for entry in ctx.index.bootstraps:
        if entry.id not in state.matched:
            state.let_in(entry, "(bootstrap)")
            ledger.add(entry, "bootstrap", **_figures(ctx))
    return ledger.close(state.candidates)


@stage("active character", Phase.MATCH)
def active_character_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """The entry named like the active character, or else the first with that name as a key, goes in unconditionally.

    In 2.6 all that have it as title or key go in (rules: deeplore-newer 1.11).
    """
    if not ctx.settings.character_context_scan:
        return ledger.skipped("off", {"setting": "characterContextScan"})
    if ctx.settings.scan_depth <= 0:
        return ledger.skipped("scan_depth_zero")
    name = ctx.character.lower()
    titled, keyed = (ctx.index.of_lower_title.get(name, ()), ctx.index.of_lower_key.get(name, ())) if name else ((), ())
    wanted = [*titled, *keyed] if ctx.rules.all_characters else [*titled[-1:], *keyed[:1]][:1]
    for entry in wanted:
        if entry.id not in state.matched:
            state.let_in(entry, "(active character)")
            ledger.add(entry, "active_character", name=ctx.character)
    return ledger.close(state.candidates)


@stage("whole vault", Phase.MATCH)
def whole_vault_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """All visible entries are candidates; what goes in anyway gets its label now."""
    for entry in ctx.index.visible:
        state.candidates.append(entry)
        if entry.constant:
            ledger.add(entry, "constant")
        elif state.bootstrapping and entry.bootstrap:
            state.set_label(entry, "(bootstrap)")
            ledger.add(entry, "bootstrap", **_figures(ctx))
        else:
            ledger.add(entry, "offered")
    for entry in ctx.index.constants:
        if not state.has_label(entry):
            state.set_label(entry, "(constant)")
    return ledger.close(state.candidates)


@stage("cascade links", Phase.MATCH)
def cascade_links_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Each candidate brings the entries that its note names; those bring none of theirs. Cooldown, then probability.

    Of equal titles the last one comes in 2.0.2, all of them in 2.6 (rules: deeplore-newer 1.11).
    """
    if ctx.settings.scan_depth <= 0:
        return ledger.skipped("scan_depth_zero")
    for source in tuple(state.candidates):
        for title in source.cascade_links:
            copies = ctx.index.of_lower_title.get(title.lower(), ())
            for linked in copies if ctx.rules.all_copies else copies[-1:]:
                if linked.id not in state.matched and passes(state, ledger, linked, ctx.matcher, None):
                    state.let_in(linked, f"(cascade from: {source.title})")
                    ledger.add(linked, "cascade", source=source.title, source_id=source.id)
    return ledger.close(state.candidates)


@stage("wiki links", Phase.SELECT)
def wiki_links_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Entries that the matched ones link to become candidates; one hop, no conditions.

    Of equal titles the last one comes in 2.0.2, one of each vault in 2.6 (rules: deeplore-newer 1.11). What was matched
    is kept for the fallbacks.
    """
    state.keyword_matches = list(state.candidates)
    by_vault = ctx.rules.all_copies
    there = {entry.tracker_key if by_vault else entry.title for entry in state.candidates}
    for source in state.keyword_matches:
        for title in source.resolved_links:
            copies = ctx.index.of_title.get(title, ())
            for linked in copies if by_vault else copies[-1:]:
                key = linked.tracker_key if by_vault else title
                if key not in there and not linked.constant:
                    there.add(key)
                    state.candidates.append(linked)
                    state.set_label(linked, f"(wiki-linked from: {source.title})")
                    ledger.add(linked, "wiki_link", source=source.title, source_id=source.id)
    return ledger.close(state.candidates)
