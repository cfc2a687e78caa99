import re

import pytest

from lorestudio.domain.records import replace
from lorestudio.settings.declaration import camel_case
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.registry import KINDS
from lorestudio.trace.budget import ORIGINS
from lorestudio.trace.explain import explain, explain_reason, explain_stage
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import Limit, Outcome, Phase, StageRecord, StageStatus, Verdict
from lorestudio.trace.summary import summary
from lorestudio.trace.vocabulary import COMMON, PLAIN, Explanation, Reason, Tone, table
from lorestudio.trace.wording import WORDS
from tests.trace import examples
from tests.trace.examples import CROWN, MOUSE, OATH, SKARN, TAVERN, fields, story

VOCABULARIES = {name: kind.words for name, kind in KINDS.items()}
REASONS = {code: reason for words in VOCABULARIES.values() for code, reason in words.reasons.items()}
"""Those of all systems."""

FIELD = {"field": "era", "label": "Era", "entry_value": ["old"], "context_value": None, "operator": "match_any",
         "tolerance": "strict"}  # fmt: skip

DOCUMENTED = {
    "constant": {}, "bootstrap": {"threshold": 3, "chat_length": 1}, "key_hit": {"key": "oath", "depth": 4},
    "active_character": {"name": "Oath"}, "cascade": {"source": "Skarn", "source_id": 0},
    "recursion": {"key": "oath", "step": 2}, "fuzzy": {"score": 1.25, "threshold": 0.5, "terms": ["swear"]},
    "wiki_link": {"source": "Skarn", "source_id": 0},
    "ai_pick": {"confidence": "high", "reason": "They swear.", "match": "exact"},
    "refine_blocked": {"key": "oath", "refine_keys": ["king"]},
    "refine_logic": {"key": "oath", "refine_keys": ["king"], "logic": "not_any"},
    "warmup_short": {"needed": 3, "found": 1},
    "probability_zero": {}, "probability_lost": {"probability": 0.5, "roll": 0.75}, "cooling_down": {"left": 1},
    "relabeled": {"key": "oath"}, "no_key_hit": {"messages": 4, "characters": 812}, "guide_hidden": {},
    "ai_not_selected": {}, "prefilter_dropped": {"category": "npc"},
    "below_confidence": {"confidence": "low", "threshold": "high"}, "gated_field": FIELD,
    "outside_folders": {"folder": "a/b", "folders": ["c", "d"]}, "blocked": {},
    "reinjection_pause": {"left": 1, "window": 3}, "missing_requirement": {"missing": ["A", "B"]},
    "excluded_by": {"titles": ["A"]}, "already_in_context": {"generations": 2}, "pinned": {},
    "pin_upgraded": {"priority": 10}, "replaced_by_pin": {"title": "Oath"},
    "exempt": {"by": "seed", "would": "outside_folders"},
    "fits": {"tokens": 1, "total": 1842}, "truncated": {"tokens": 98, "original_tokens": 298},
    "outlet": {"outlet": "weather", "tokens": 40}, "over_entry_cap": {"cap": 10},
    "over_budget": {"tokens": 298, "free": 40, "needs": 258},
    "behind_cut": {"stopped_by": "Crown", "tokens": 50, "needs": 260},
    "placed": {"tag": "deeplore_lore", "position": 0, "depth": 0, "role": 0}, "off": {"setting": "recursiveScan"},
    "no_context": {}, "no_folder_filter": {}, "no_pins_or_blocks": {}, "scan_depth_zero": {},
    "log_cleared": {"why": "swipe"}, "nothing_left": {}, "rolled_back": {"swipe_key": "3|0"},
    "not_bootstrapping": {"threshold": 3, "chat_length": 12}, "stopped_early": {}, "no_prompt": {},
    "quiet_or_disabled": {}, "tool_or_system_tail": {}, "empty_vault": {},
}  # fmt: skip
"""Every code of the contract with its documented details."""

SENTENCES = {
    "bootstrap": "The chat has 1 message; bootstrap entries come in up to 3.",
    "key_hit": "The key “oath” was found (scan depth 4).",
    "cascade": "“Skarn” came in and names “Oath” among its cascade links.",
    "recursion": "The key “oath” was found in the text of an entry that had come in (recursion step 2).",
    "fuzzy": "The text resembles the recent chat with a score of 1.25; 0.5 is enough (word in common: swear).",
    "ai_pick": "The AI chose “Oath” with high confidence: “They swear.”.",
    "refine_blocked": "The key “oath” was found, but its refine key “king” was not.",
    "refine_logic": "The key “oath” was found, but not as the note's logic “not_any” wants its refine key “king”.",
    "warmup_short": "Its keys occur once; the warmup asks for 3.",
    "cooling_down": "It went in a short while ago; its cooldown has 1 generation left.",
    "no_key_hit": "None of the keys of “Oath” is in the last 4 messages (812 characters).",
    "gated_field": (
        "Era: the note has “old” and the chat has nothing, but they need a value in common (tolerance strict)."
    ),
    "outside_folders": "“Oath” is in the folder “a/b”; the chat uses only “c” and “d”.",
    "reinjection_pause": "It went in within the last 3 generations and pauses for 1 more generation.",
    "missing_requirement": "“Oath” requires “A” and “B”, which are not in this generation.",
    "excluded_by": "“Oath” excludes “A”, which is in this generation too.",
    "exempt": "This stage would have stopped “Oath” (Other folder), but it is a seed and so exempt.",
    "fits": "It takes 1 token, which makes 1,842 so far.",
    "over_entry_cap": "10 entries were in already, and no more may go in.",
    "over_budget": "“Oath” needs 298 tokens; 40 were left of the budget.",
    "behind_cut": "The budget ended at “Crown”; “Oath” (50 tokens) comes after it and was not tried.",
    "placed": "It stands after the main prompt, as system.",
    "off": "“Recursive scan” is off.",
    "log_cleared": (
        "The log of recent injections was emptied first (this is a swipe), so nothing counts as a duplicate."
    ),
}  # fmt: skip


DETAILS = {
    "stage_failed": "error", "went_in": "tokens", "bootstrap": "threshold chat_length", "key_hit": "key depth",
    "relabeled": "key", "active_character": "name", "cascade": "source source_id", "recursion": "key step",
    "fuzzy": "score threshold terms", "wiki_link": "source source_id", "ai_pick": "confidence reason match",
    "refine_blocked": "key refine_keys", "refine_logic": "key refine_keys logic", "warmup_short": "needed found",
    "probability_lost": "probability roll", "cooling_down": "left", "no_key_hit": "messages characters",
    "prefilter_dropped": "category", "prefilter_rescued": "category", "below_confidence": "confidence threshold",
    "gated_field": "field label entry_value context_value operator tolerance", "outside_folders": "folder folders",
    "reinjection_pause": "left window", "missing_requirement": "missing", "excluded_by": "titles",
    "already_in_context": "generations", "pin_upgraded": "priority", "replaced_by_pin": "title", "exempt": "by would",
    "fits": "tokens total", "truncated": "tokens original_tokens", "outlet": "outlet tokens", "over_entry_cap": "cap",
    "over_budget": "tokens free needs", "behind_cut": "stopped_by tokens needs", "placed": "tag position depth role",
    "log_cleared": "why", "rolled_back": "swipe_key", "not_bootstrapping": "threshold chat_length",
    "ai_error": "error fallback", "ai_empty": "fallback", "cw_match": "trigger occurrences", "cw_link": "source",
    "cw_dependant": "names", "cw_unsatisfied": "names", "cw_passthrough": "words", "cw_page_locked": "page",
    "cw_whole": "cost", "cw_pages": "budget words", "cw_rank": "weight rank of", "cw_taken": "cost used limit",
    "cw_no_room": "cost room limit needs", "cw_filled": "cost used limit", "cw_element": "cost limit",
    "cw_element_cut": "cost limit why", "cw_turns": "kept of used limit", "cw_placed": "position depth role",
    "fm_later": "first last", "fm_found": "score rank", "fm_below": "score threshold", "fm_beyond": "score rank limit",
    "fm_weighed": "score rank", "fm_placed": "position depth role", "hy_key": "key", "hy_no_key": "messages",
    "hy_ranked": "score threshold rank", "hy_below": "score threshold", "hy_beyond": "score rank limit",
    "hy_duplicate": "other", "hy_pattern": "problem", "hy_order": "priority rank of",
    "hy_placed": "position depth role", "excluded_too_short": "tokens threshold", "recap_in_chat": "index",
    "recap_hidden": "scenes", "recap_included": "tokens total", "recap_over_limit": "total limit over",
    "recap_after_limit": "stopped_by", "recap_scene": "first last", "recap_bookmark": "last",
    "recap_scene_covered": "version", "recap_scene_behind": "version reaches", "recap_current": "version",
    "recap_other_version": "version current", "recap_placed": "where tag speaker", "recap_nowhere": "position",
    "recap_adopted": "owner", "recap_nothing_hidden": "breaks scenes", "recap_walk": "included total", "wi_key": "key",
    "wi_secondary": "key secondary rule", "wi_vector": "score", "wi_similar": "score threshold rank",
    "wi_unlike": "score threshold", "wi_similar_beyond": "score limit rank", "wi_vectors_off": "marked",
    "wi_vectors_failed": "problem", "wi_compared": "by", "wi_books": "books", "wi_empty_books": "books",
    "wi_silent": "owners speaker", "wi_stopped": "books", "wi_trigger": "kinds kind", "wi_character": "names",
    "wi_tags": "tags", "wi_delay": "delay", "wi_cooling": "until", "wi_only_recursion": "level",
    "wi_no_key": "messages", "wi_pattern": "problem", "wi_group_sticky": "group", "wi_group_timed": "group",
    "wi_group_score": "group most score", "wi_group_active": "group", "wi_group_lost": "group",
    "wi_group_bystander": "group source", "wi_replaced": "winner", "wi_group_drawn": "group of",
    "wi_group_priority": "group", "wi_lost": "roll probability", "wi_fits": "used budget",
    "wi_ignores_budget": "used budget", "wi_over_budget": "used budget", "wi_placed": "position depth role",
    "wi_other_slot": "slot",
}  # fmt: skip
"""What a verdict of a code comes with always, so that its sentence may rest on it; the others come with nothing."""


def details_of(code):
    return set(DETAILS.get(code, "").split())


def about_oath(code, **details):
    return explain_reason(code, details, story(), OATH)


def test_every_code_of_the_contract_is_in_the_table():
    assert set(DOCUMENTED) <= set(VOCABULARIES["deeplore"].reasons)
    assert set(DETAILS) <= set(REASONS)
    assert all(code == reason.code for code, reason in REASONS.items())


def test_no_code_means_two_things():
    """Neither in one system nor between two of them: what several say alike is in the table common to all."""
    own = [code for words in VOCABULARIES.values() for code in words.reasons.keys() - COMMON.keys()]
    assert len(own) == len(set(own))
    assert all(words.reasons[code] is COMMON[code] for words in VOCABULARIES.values() for code in COMMON)
    with pytest.raises(ValueError, match="constant is there twice"):
        table([Reason("constant", Tone.GOOD, "Constant", "It is here.")])


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_vocabulary_speaks_of_reasons_that_its_table_has(name):
    words = VOCABULARIES[name]
    groups = [
        words.unasked,
        words.tells_keys,
        words.found,
        words.ranked,
        words.without_text,
        words.takes_no_part,
        words.elsewhere,
    ]
    groups += [words.found, words.not_chosen, words.no_choice, words.unsure, words.budget_ended]
    groups += [words.key_lacks, words.parts, words.groups, words.cuts, words.would, *words.origins.values()]
    assert {code for group in groups for code in group} <= words.reasons.keys()
    assert words.origins.keys() <= {origin.word for origin in ORIGINS}
    assert not fields(words.widening(examples.trace(words=words)))


def test_a_trace_of_an_unknown_system_can_be_read():
    unknown = replace(story(), system="later", words=PLAIN)
    assert explain_reason("key_hit", {"key": "oath"}, unknown, OATH).sentence == "Key hit"
    assert summary(unknown).startswith("5 entries matched, 1 was pinned, 1 was gated out")
    assert Journeys(unknown).fate(TAVERN).explain(unknown).label == "Gated field"


def test_a_system_calls_its_candidates_what_they_are():
    memories = examples.trace(words=VOCABULARIES["facts"])
    assert explain_stage(examples.stage("a", Phase.GATE, (1, 2), (1, 2)), memories) == "2 memories went through."
    assert explain_stage(examples.stage("a", Phase.GATE), memories) == "No memory came in."


@pytest.mark.parametrize("code", DOCUMENTED)
def test_every_sentence_can_be_filled_from_its_documented_details(code):
    explanation = about_oath(code, **DOCUMENTED[code])
    reason = REASONS[code]
    assert explanation.label == reason.label
    assert explanation.sentence != reason.label
    assert explanation.sentence.endswith((".", "”."))
    assert not re.search(r"[{}\[\]]", explanation.sentence + explanation.fix)
    assert bool(explanation.fix) == bool(reason.fix), "the fix cannot be filled"
    assert details_of(code) <= {*DOCUMENTED[code]}


@pytest.mark.parametrize("code", SENTENCES)
def test_sentences(code):
    assert about_oath(code, **DOCUMENTED[code]).sentence == SENTENCES[code]


@pytest.mark.parametrize("code", REASONS)
def test_a_reason_needs_only_its_own_details_and_what_the_trace_knows(code):
    reason = REASONS[code]
    known = {*details_of(code), "title", "place", "would_label", "setting"}
    assert fields(reason.sentence) <= known
    assert fields(reason.fix) <= known
    assert len(reason.label) <= 24
    assert not reason.label.endswith(".")


@pytest.mark.parametrize("code", [code for code, reason in REASONS.items() if reason.brief])
def test_a_brief_reason_stands_beside_the_title_and_is_no_longer_than_the_sentence(code):
    brief = REASONS[code].brief
    assert fields(brief) <= details_of(code)
    assert "title" not in fields(brief, required=False)
    assert not brief.endswith(".")
    if code in DOCUMENTED:
        words = about_oath(code, **DOCUMENTED[code])
        assert not re.search(r"[{}\[\]]", words.brief)
        assert len(words.brief) < len(words.sentence)


MISTAKES = [code for code, reason in REASONS.items() if reason.tone in (Tone.WARNING, Tone.ERROR)]


@pytest.mark.parametrize("code", MISTAKES)
def test_what_looks_like_a_mistake_has_a_fix(code):
    assert REASONS[code].fix.endswith(".")


@pytest.mark.parametrize(
    "code", ["guide_hidden", "cooling_down", "reinjection_pause", "outside_folders", "blocked", "gated_field",
             "quiet_or_disabled", "off", "no_key_hit"]
)  # fmt: skip
def test_intended_silence_is_neutral(code):
    assert REASONS[code].tone is Tone.NEUTRAL


@pytest.mark.parametrize("code", REASONS)
def test_a_missing_detail_falls_back_to_the_label(code):
    words = next(words for words in VOCABULARIES.values() if code in words.reasons)
    explanation = explain_reason(code, {}, examples.trace(words=words))
    assert explanation.sentence == REASONS[code].label or not fields(REASONS[code].sentence)
    assert "{" not in explanation.fix


def test_an_unknown_code_is_shown_as_it_is():
    assert about_oath("some_new_code", x=1) == Explanation(
        "Some new code", "Some new code", "", Tone.NEUTRAL, "Some new code"
    )
    assert about_oath("").label == "No reason given"


def test_optional_details_of_a_key_hit():
    assert (
        about_oath("key_hit", key="oath", message=11, refine_key="king", depth=1).sentence
        == "The key “oath” was found in message #11 together with the refine key “king” (scan depth 1)."
    )
    far = {"refine_message": 9, "refine_start": 3, "refine_end": 7}
    assert about_oath("key_hit", key="oath", message=11, refine_key="king", depth=4, **far).sentence == (
        "The key “oath” was found in message #11 together with the refine key “king” in message #9 (scan depth 4)."
    )
    named = {"refine_message": 9, "refine_in_name": True}
    assert "“king” in the speaker's name of message #9" in (
        about_oath("key_hit", key="oath", message=11, refine_key="king", depth=4, **named).sentence
    )
    assert about_oath("refine_blocked", key="oath", message=8, refine_keys=["king"], searched=4).sentence == (
        "The key “oath” was found in message #8, but its refine key “king” was not found in the last 4 messages."
    )
    assert about_oath("key_hit", key="oath", message=0, in_name=True, depth=2).sentence == (
        "The key “oath” was found in the speaker's name of message #0 (scan depth 2)."
    )


def test_terms_may_come_with_their_figures():
    rows = [["dragon", 2, 0.54, 1.2], ["gold", 1, 1.1, 0.8]]
    assert about_oath("fuzzy", score=2.0, threshold=0.5, terms=rows).sentence == (
        "The text resembles the recent chat with a score of 2; 0.5 is enough (words in common: dragon and gold)."
    )


def test_a_loose_match_of_the_ais_spelling_is_mentioned():
    assert about_oath("ai_pick", confidence="low", reason="", match="fuzzy").sentence == (
        "The AI chose “Oath” with low confidence (its spelling of the title differed: nearest match)."
    )


def test_the_title_as_the_ai_wrote_it():
    told = about_oath(
        "ai_pick", confidence="low", reason="r", match="similar title", asked="The Oath", similarity=5 / 7
    )
    assert told.sentence == "The AI chose “Oath” with low confidence: “r” (it wrote “The Oath”, 71 % alike)."


class TestRoom:
    def test_a_cut_entry_learns_the_budget_and_the_priority_it_needs(self):
        cut = next(verdict for verdict in story().stages[8].verdicts if verdict.entry == OATH)
        assert explain(cut, story()).fix == (
            "Raise “Token budget” to 1,760, or give “Oath” a priority number below 50, that of “Crown”."
        )

    def test_the_priority_is_that_of_the_last_entry_before_which_it_fits(self):
        verdict = Verdict(TAVERN, Outcome.REMOVED, "over_budget", {"tokens": 1000, "free": 10, "needs": 990})
        big = replace(story(), entries={**examples.ENTRIES, TAVERN: examples.ref(TAVERN, "Tavern", 60, 1000)})
        # 300 of 1,500 are taken before Dawnkeep and 800 before Crown.
        assert explain(verdict, big).fix == (
            "Raise “Token budget” to 2,490, or give “Tavern” a priority number below 40, that of “Dawnkeep”."
        )

    def test_an_entry_larger_than_the_budget_gets_no_advice_about_priority(self):
        verdict = Verdict(TAVERN, Outcome.REMOVED, "over_budget", {"tokens": 2000, "free": 10, "needs": 1990})
        big = replace(story(), entries={**examples.ENTRIES, TAVERN: examples.ref(TAVERN, "Tavern", 60, 2000)})
        assert explain(verdict, big).fix == "Raise “Token budget” to 3,490."

    def test_priority_0_counts_as_50(self):
        changed = replace(story(), injections=(examples.injection(SKARN, "Skarn", 300, 0),))
        assert "below 50, that of “Skarn”" in about_fix(changed)

    def test_without_a_limit_the_missing_tokens_are_named(self):
        assert about_fix(replace(story(), limits=())).startswith("Raise “Token budget” by 260 tokens, or")

    def test_outlets_take_no_room(self):
        only_outlet = replace(story(), injections=story().injections[3:])
        assert about_fix(only_outlet) == "Raise “Token budget” to 1,760."

    def test_a_shortened_entry_learns_the_whole_budget(self):
        verdict = Verdict(CROWN, Outcome.CHANGED, "truncated", {"tokens": 690, "original_tokens": 900})
        assert explain(verdict, story()).fix == "Raise “Token budget” to 1,700, or shorten the note."
        unlimited = replace(story(), limits=(Limit("token budget", 1490, None, "tokens"),))
        assert explain(verdict, unlimited).fix == "Raise “Token budget”, or shorten the note."


def about_fix(trace):
    return explain(Verdict(OATH, Outcome.REMOVED, "behind_cut", DOCUMENTED["behind_cut"]), trace).fix


def test_a_stopper_given_by_id_is_named():
    sentence = about_oath("behind_cut", stopped_by=CROWN, tokens=50, needs=1).sentence
    assert sentence.startswith("The budget ended at “Crown”;")


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (examples.stage("a", Phase.GATE, (1, 2, 3), (1, 2), examples.verdict(3, Outcome.REMOVED, "blocked")),
         "3 entries came in, 1 was removed, 2 went on."),
        (examples.stage("a", Phase.MATCH, (), (1, 2), examples.verdict(1, Outcome.ADDED, "constant"),
                        examples.verdict(2, Outcome.ADDED, "constant"),
                        examples.verdict(3, Outcome.REFUSED, "blocked")),
         "No entry came in, 2 were added, 1 was refused, 2 went on."),
        (examples.stage("a", Phase.GATE, (1,), (1,)), "1 entry went through."),
        (examples.stage("a", Phase.GATE), "No entry came in."),
        (examples.stage("a", Phase.GATE, (1, 2), (1, 2), note="no_context"),
         "The chat has no context values, so nothing is filtered by them. 2 entries went through."),
        (examples.skipped("a", Phase.MATCH, (1,), "off", setting="fuzzySearchEnabled"), "“Fuzzy search” is off."),
        (examples.skipped("a", Phase.MATCH, (1,), ""), "Skipped."),
        (examples.skipped("a", Phase.MATCH, (1,), "odd_note"), "Odd note."),
        (StageRecord("a", Phase.SELECT, StageStatus.FAILED, error="no answer in 20 s"),
         "The stage failed: no answer in 20 s."),
        (StageRecord("a", Phase.SELECT, StageStatus.FAILED, note="ai_error", error="Busy!",
                     details={"error": "Busy", "fallback": "keyword"}),
         "The stage failed: Busy! The AI gave no usable answer: Busy. Taken instead: what the keys match."),
    ],
)  # fmt: skip
def test_stages_in_words(record, sentence):
    assert explain_stage(record, story()) == sentence


def settings_by_key():
    return {camel_case(name): info.title for name, info in DeepLoreSettings.model_fields.items()}


def test_settings_are_called_what_the_settings_pane_calls_them():
    titles = {info.title for kind in KINDS.values() for info in kind.settings.model_fields.values()}
    named = {name for reason in REASONS.values() for name in re.findall(r"“([^”{}]+)”", reason.fix + reason.sentence)}
    assert named <= titles
    assert {"Token budget", "Scan depth", "Most entries"} <= named


def test_setting_keys_have_the_settings_own_titles():
    titles = settings_by_key()
    keys = {key: words for key, words in WORDS.items() if words.startswith("“")}
    assert {key: f"“{titles[key]}”" for key in keys} == keys


def test_no_key_hit_names_the_entry_where_the_trace_knows_it():
    details = {"messages": 1, "characters": 1}
    assert explain_reason("no_key_hit", details, story(), OATH).sentence == (
        "None of the keys of “Oath” is in the last message (1 character)."
    )
    assert explain_reason("no_key_hit", details | {"messages": 0, "characters": 0}, story(), MOUSE).sentence == (
        "None of the keys of this entry is in the scanned text, which is empty (0 characters)."
    )


def test_the_scan_depth_is_named_where_the_stage_gives_it():
    details = {"messages": 3, "characters": 9, "depth": 4}
    assert explain_reason("no_key_hit", details, story(), OATH).fix == (
        "Add a key that the chat uses, or raise “Scan depth” (now 4) if a key stands further back."
    )
