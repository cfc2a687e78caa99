"""Rules of recap memory beyond the case file."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_3_35
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap import session
from lorestudio.systems.recap.asking import (
    QuestionPreset,
    WorkContext,
    answer_object,
    answer_value,
    filled,
    read_preset,
)
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.queue import QueueState
from lorestudio.systems.recap.records import set_data, with_values
from lorestudio.systems.recap.running import after_deletion
from lorestudio.systems.recap.scenes import scenes
from lorestudio.systems.recap.scenes.break_search import fitted_end
from lorestudio.systems.recap.scenes.scenes import (
    edited,
    extracted_stage,
    organised_stage,
    parsed_stage,
    recap_in_words,
    stage_entity,
    turned,
    versions_of,
    with_recap,
)
from tests.cases.recap import walked
from tests.systems.recap.chats import Words, World, chat


@given(st.integers(0, 60), st.integers(0, 200), st.integers(1, 2))
def test_a_range_is_cut_until_it_fits_and_no_further_than_the_last_step(start, length, step):
    end = start + length
    for limit in (0, length // 3, length, length + 5):
        found = fitted_end(start, end, lambda last, limit=limit: last - start <= limit, step)
        assert found - start <= limit
        if length <= limit:
            assert found == end
        else:
            # The last phase drops `step` at a time, so less than one more step would have fitted.
            assert found - start > limit - step or found < start


def test_the_way_a_range_is_cut():
    tried = []

    def fits(end):
        tried.append(end)
        return end <= 60

    # 50 fits and is taken back to 100; 56 fits and is taken back to 75; then one at a time.
    assert fitted_end(0, 100, fits, 1) == 60
    assert tried == [100, 50, 100, 75, 56, *range(75, 59, -1)]


@dataclass(frozen=True)
class Whole:
    """An estimate by length that is no `CharacterEstimate`, so that the whole text is counted."""

    name: str = "whole"
    exact: bool = False

    def count(self, text):
        return CHARS_3_35.count(text)


@given(st.lists(st.text(st.sampled_from("ab é\U0001f56f"), max_size=12), max_size=8), st.integers(0, 30))
def test_lengths_that_add_up_count_as_the_whole_text_does(recaps, limit):
    messages = [{"mes": "m", "extra": {"auto_recap": {"memory": recap}}} for recap in recaps]
    one, other = (walked(messages, RecapSurroundings(counter=counter), limit) for counter in (CHARS_3_35, Whole()))
    assert one == other


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('"a": 1}', {"a": 1}),
        ('Sure: {"a": [1, 2,], } bye', {"a": [1, 2]}),
        ('{"a": {"b": "x', {"a": {"b": "x"}}),
        ("Here [1, 2] there", [1, 2]),
        ("{“a”: 1}", {"a": 1}),
    ],
)
def test_json_is_found_in_what_models_write(text, value):
    assert answer_value(text) == value


@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"b": 1}'])
def test_an_answer_without_the_object_that_was_asked_for_is_an_error(text):
    with pytest.raises(ValueError, match="answer"):
        answer_object(text, required=("a",))


def test_values_of_macros_are_taken_literally():
    assert filled("{{a}} {{b}} {{c}}", {"a": "{{b}}", "b": [1]}) == "{{b}} [\n  1\n] {{c}}"


class TestRequests:
    def test_a_presets_prompts_come_first_and_its_limits_hold(self):
        preset = QuestionPreset((("system", "Be brief."), ("user", "Ready?"), ("assistant", "Yes.")), "So:", 50, 4000)
        params = {"user": "Wren", "message": "Text."}
        ctx = WorkContext(presets={"own": preset})
        made = ctx.request("recap", "Do {{user}}:\n{{message}}", params, 200, preset="own")
        assert made.system == "Be brief."
        assert made.before == (("user", "Ready?"), ("assistant", "Yes."), ("system", "Do Wren:"))
        assert (made.user, made.prefill, made.max_tokens) == ("Text.", "So:", 50)

    def test_a_given_prefill_wins_over_the_presets_and_its_prompts_can_be_left_out(self):
        ctx = WorkContext(presets={"own": QuestionPreset((("system", "x"),), "So:")})
        made = ctx.request(
            "recap",
            "Do:\n{{message}}",
            {"message": "Text."},
            1,
            preset="own",
            prefill="Then:",
            with_preset_prompts=False,
        )
        assert (made.system, made.before, made.prefill) == ("Do:", (), "Then:")

    def test_sillytaverns_presets_give_what_is_switched_on_in_its_order(self):
        document = {
            "prompts": [
                {"identifier": "main", "role": "system", "content": "Main."},
                {"identifier": "off", "content": "Off."},
                {"identifier": "chatHistory", "marker": True},
                {"identifier": "nsfw", "role": "user", "content": " Own. "},
            ],
            "prompt_order": [
                {"order": [{"identifier": "nsfw", "enabled": True}, {"identifier": "main", "enabled": True},
                           {"identifier": "off", "enabled": False}]}
            ],
            "assistant_prefill": "Well,", "openai_max_tokens": 300, "openai_max_context": 8192,
        }  # fmt: skip
        assert read_preset(document) == QuestionPreset((("user", "Own."), ("system", "Main.")), "Well,", 300, 8192)

    def test_a_document_without_anything_of_a_preset_is_refused(self):
        with pytest.raises(ValueError, match="neither"):
            read_preset({"temperature": 1})

    def test_a_request_is_counted_with_the_safety_factor(self):
        ctx = WorkContext(RecapSurroundings(RecapSettings(tokenizer_correction_factor=1.5), Words()), context_size=4)
        made = ctx.request("recap", "one two\n{{message}}", {"message": "three"}, 1)
        counted = ctx.tokens(made)
        # The JSON has 9 words: two objects of "role": x, "content": y, of which one y has two.
        assert counted.total == 14
        assert counted.too_large
        assert not replace(ctx, context_size=0).tokens(made).too_large


class TestStages:
    def test_entities_under_their_short_names(self):
        found = stage_entity({"t": "item", "n": "Key", "k": "silver", "c": "old", "u": 3})
        assert found == {"type": "item", "name": "Key", "keywords": ["silver"], "content": ["old"], "uid": 3}
        assert stage_entity({"c": " "}) == {"type": "unknown", "name": "", "keywords": [], "content": []}

    @pytest.mark.parametrize(
        "value",
        [["a", "b"], {"chronological_items": ["a", "b"]}, {"plot": "a", "goals": ["b"]}, {"rc": "a", "docs": "b"}],
    )
    def test_extracts_of_many_shapes(self, value):
        assert extracted_stage(value)["extracted"] == ["a", "b"]

    def test_what_holds_nothing_is_an_error_but_nothing_new_is_none(self):
        with pytest.raises(ValueError, match="empty"):
            extracted_stage({"sn": "x"})
        with pytest.raises(ValueError, match="recap"):
            organised_stage({"sn": "x"})
        assert parsed_stage({"open": []}) == {"developments": [], "open": [], "state": [], "resolved": []}
        assert parsed_stage({"recap": {"open": "a"}})["open"] == ["a"]
        assert parsed_stage({"rc": "a"})["developments"] == ["a"]

    @pytest.mark.parametrize(
        ("stored", "words"),
        [
            ("plain text ", "plain text"),
            ('{"sn": "x", "recap": "told"}', "told"),
            ('{"stage1": {"extracted": ["a", "b"]}}', "EXTRACTED:\na\nb"),
            ('{"stage1": {"extracted": ["a"]}, "stage2": {"recap": {"threads": ["c"]}}}', "THREADS:\nc"),
            ('{"stage2": {"recap": {"threads": ["c"]}}, "stage3": {"open": ["d"], "state": "e"}}',
             "OPEN:\nd\n\nSTATE:\ne"),
        ],
    )  # fmt: skip
    def test_a_stored_recap_is_read_from_its_last_step(self, stored, words):
        assert recap_in_words(stored) == words


class TestSceneVersions:
    def scene(self):
        message = with_values({"mes": "m"}, {"scene_break": True, "scene_break_visible": True})
        for text in ("one", "two"):
            message = with_recap(message, text, (0, 4), append_range=True, metadata={"startIdx": 0, "entries": [1]})
        return message

    def test_each_version_has_its_metadata_without_lorebook_entries(self):
        data = self.scene()["extra"]["auto_recap"]["scene_recap_metadata"]
        assert data["1"] == {"startIdx": 0, "allEntries": [], "entries": [], "created_entry_uids": []}

    def test_turning_stops_at_both_ends_and_mirrors_the_text(self):
        back = turned(self.scene(), -1)
        data = back["extra"]["auto_recap"]
        assert (data["scene_recap_current_index"], data["scene_break_recap"], data["scene_recap_memory"]) == (
            0, "one", "one",
        )  # fmt: skip
        assert turned(back, -1) is back

    def test_editing_changes_the_current_version_only_and_writes_json_compactly(self):
        after = edited(turned(self.scene(), -1), '{"recap": "new"}')
        assert versions_of(after).texts == ('{"recap":"new"}', "two")


class TestChat:
    def test_deleting_a_message_moves_what_is_stored_about_later_ones(self):
        found = chat("a", "b", "c", "d")
        found = found.with_message(2, set_data(found.messages[2], "scene_recap_memory", "x"))
        found = found.with_running(found.running.added("r", 1, 0, 0, 2))
        store, gone = after_deletion(found.running, 0, 4, found.recaps)
        assert (gone, store.get().reaches) == ((), 1)
        store, gone = after_deletion(found.running, 2, 4, found.recaps)
        assert (gone, store.versions) == ((0,), ())

    def test_deleting_the_newest_scene_takes_its_versions_and_lets_its_messages_be_searched_again(self):
        found = chat(*"abcdefgh")
        for index in (2, 5):
            found = found.with_messages(scenes.toggle(found.messages, index))
            found = found.with_message(index, set_data(found.messages[index], "scene_recap_memory", "x"))
        found = found.with_messages(scenes.checked(found.messages, 0, 5))
        found = found.with_running(found.running.added("r1", 1, 0, 0, 2).added("r2", 2, 0, 2, 5))
        left = found.without_scene(5)
        assert left.breaks == (2,)
        assert [version.content for version in left.running.versions] == ["r1"]
        assert left.running.current == 0
        marks = [message["extra"]["auto_recap"].get(scenes.CHECKED) for message in left.messages[:6]]
        assert marks == [True, True, True, False, False, False]
        # An older one leaves the marks alone.
        older = found.without_scene(2)
        assert (older.breaks, older.running.get().content) == ((5,), "r2")
        assert all(message["extra"]["auto_recap"][scenes.CHECKED] for message in older.messages[:6])

    def test_a_branch_keeps_what_it_reaches(self):
        found = chat("a", "b", "c", "d")
        for index in (1, 3):
            found = found.with_message(index, set_data(found.messages[index], "scene_recap_memory", "x"))
        found = found.with_running(found.running.added("r1", 1, 0, 0, 1).added("r2", 2, 0, 1, 3))
        metadata = {**found.metadata, "main_chat": "Tale"}
        branch = replace(found, id="Branch #2", messages=found.messages[:3], metadata=metadata)
        assert [version.content for version in branch.running.versions] == ["r1"]
        assert branch.running.current == 0
        assert branch.storage.outcome == "adopted_branch"


class TestTriggers:
    def world(self, **settings):
        settings.setdefault("recap_delay", 0)
        return World(chat("a", "b", "c", "d", "e", "f"), **settings)

    def on_message(self, world, index=5, queue=None, **how):
        found = session.on_message(world.chat, index, queue or QueueState(), world.context, **how)
        return [(item.type, item.params.get("index", item.params.get("endIndex"))) for item in found]

    def test_a_reply_brings_recaps_and_the_search(self):
        assert self.on_message(self.world(auto_recap_message_limit=1)) == [("recap", 5), ("detect_scene_break", 5)]

    def test_a_message_of_the_users_brings_no_search(self):
        assert self.on_message(self.world(auto_recap_message_limit=1), 4) == [("recap", 5)]

    def test_recaps_that_are_queued_are_not_queued_again(self):
        world = self.world(auto_recap_message_limit=1)
        asked = world.worker
        asyncio.run(asked.enqueue(session.due_recaps(world.chat, asked.state, world.context)[0]))
        assert self.on_message(world, queue=asked.state) == []  # and a busy queue is not searched beside

    def test_a_swipe_is_not_searched_while_the_newest_are_left_alone(self):
        assert self.on_message(self.world(auto_recap=False, auto_scene_break_message_offset=1), swiped=True) == []
        found = self.on_message(self.world(auto_recap=False, auto_scene_break_message_offset=0), swiped=True)
        assert found == [("detect_scene_break", 5)]

    def test_switched_off_nothing_happens(self):
        assert self.on_message(self.world(enabled=False)) == []

    def test_an_edited_message_with_a_recap_gets_a_new_one(self):
        world = self.world()
        assert session.on_edit(world.chat, 1, world.context) == ()
        changed = world.chat.with_message(1, set_data(world.chat.messages[1], "memory", "x"))
        assert [item.params for item in session.on_edit(changed, 1, world.context)] == [{"index": 1}]

    def test_a_swipe_of_a_message_with_a_recap_gets_one_of_its_own(self):
        world = self.world()
        swiped = {
            **world.chat.messages[1], "swipe_id": 1, "swipes": ["b", "B"],
            "swipe_info": [{"extra": {"auto_recap": {"memory": "x"}}}, {}],
        }  # fmt: skip
        changed = world.chat.with_message(1, swiped)
        assert [item.params for item in session.on_swipe(changed, 1, world.context)] == [{"index": 1}]
        with_own = changed.with_message(1, set_data(swiped, "memory", "y"))
        assert session.on_swipe(with_own, 1, world.context) == ()

    def test_opening_a_chat_looks_behind_the_last_break(self):
        world = self.world(auto_scene_break_on_load=True)
        opened = world.chat.with_messages(scenes.toggle(world.chat.messages, 1))
        after, found = session.on_load(opened, QueueState(), world.context)
        flags = [message.get("extra", {}).get("auto_recap", {}).get(scenes.CHECKED) for message in after.messages]
        assert flags[:3] == [True, True, None]
        assert [item.params for item in found] == [{"startIndex": 2, "endIndex": 5, "offset": 0}]


def test_a_chat_without_anything_has_nothing_to_show():
    empty = RecapChat("none")
    assert (empty.breaks, empty.recaps, empty.running.versions, empty.at(0)) == ((), (), (), None)
