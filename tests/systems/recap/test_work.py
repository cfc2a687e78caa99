import json

import pytest

from lorestudio.systems.recap.message_recaps import recap_operation, whole_sentences
from lorestudio.systems.recap.queue import NewOperation, OperationType
from lorestudio.systems.recap.records import set_data, with_values
from lorestudio.systems.recap.scenes import scenes
from lorestudio.systems.recap.scenes.breaks import Chain, detect_operation, scene_operation
from lorestudio.systems.recap.scenes.recaps import combine_operation, running_operation
from lorestudio.systems.recap.scenes.scenes import recap_hash, versions_of
from tests.systems.recap.chats import World, chat

TALE = ("I open the gate.", "It creaks.", "I go in.", "Dust falls.", "The next morning I ride out.", "Rain begins.")


def found(at, rationale="time has passed"):
    return json.dumps({"sceneBreakAt": at, "rationale": rationale})


def with_breaks(tale, *places):
    for place in places:
        tale = tale.with_messages(scenes.toggle(tale.messages, place))
    return tale


class TestMessages:
    def test_the_recap_is_stored_with_what_it_was_made_of(self):
        world = World(chat(*TALE), {"recap": ["  She opens it. "]}).do(recap_operation(0))
        assert world.data(0) == {
            "memory": "  She opens it.",
            "include": "Recap of message(s)",
            "hash": recap_hash("I open the gate."),
            "error": None,
            "edited": False,
            "prefill": "",
            "reasoning": None,
        }

    def test_an_answer_without_a_word_says_why_and_nothing_of_the_address(self):
        error = World(chat(*TALE), {"recap": [""] * 3}).do(recap_operation(0)).data(0)["error"]
        assert error == (
            "scripted answers sent something that is not a valid answer. It says: the answer is empty. Try again, or "
            "choose another model."
        )

    def test_the_prefill_begins_the_answer_and_is_not_stored_with_it(self):
        world = World(chat(*TALE), {"recap": ["opens it."]}, prefill="Wren ").do(recap_operation(0))
        assert (world.data(0)["memory"], world.data(0)["prefill"]) == ("opens it.", "Wren ")
        assert world.answers.requests[0].prefill == "Wren "

    def test_reasoning_is_kept_apart_and_leaves_no_prefill(self):
        script = {"recap": ["It is a gate.</think>\nShe opens it."]}
        world = World(chat(*TALE), script, prefill="<think>").do(recap_operation(0))
        data = world.data(0)
        assert (data["memory"], data["reasoning"], data["prefill"]) == ("She opens it.", "It is a gate.", "")

    def test_thinking_without_an_answer_is_no_recap(self):
        script = {"recap": ["<think>It is a gate, so"] * 3}
        data = World(chat(*TALE), script).do(recap_operation(0)).data(0)
        assert data.get("memory") is None
        assert "the answer is empty" in data["error"]

    def test_the_story_goes_as_the_users_words_and_the_prompt_as_instructions(self):
        world = World(chat(*TALE), {"recap": ["x"]}, include_message_history_mode="messages_only",
                      include_user_messages_in_history=True, include_message_history=1)  # fmt: skip
        world.do(recap_operation(2))
        asked = world.answers.requests[0]
        assert asked.user == "Wren: I go in."
        assert ("user", "Quay: It creaks.") in asked.before
        assert "I go in." not in asked.system
        assert "I open the gate." not in "".join(asked.texts)

    def test_with_one_block_everything_is_one_text(self):
        world = World(chat(*TALE), {"recap": ["x"]}, nest_messages_in_prompt=True).do(recap_operation(0))
        asked = world.answers.requests[0]
        assert (asked.system, asked.before) == ("", ())
        assert asked.user.endswith("Wren: I open the gate.")

    def test_a_recap_of_a_text_that_changed_meanwhile_is_dropped(self):
        world = World(chat(*TALE), {"recap": ["She opens it."]})
        answer, start = world.answers.answer, world.chat

        async def changing(request):
            changed = {**start.messages[0], "mes": "I close the gate."}
            world.book.chat = start.with_message(0, changed)
            return await answer(request)

        world.answers.answer = changing
        world.do(recap_operation(0))
        assert "memory" not in world.data(0)
        assert "has changed meanwhile" in world.worker.state.log[-1].summary

    def test_a_failure_for_good_is_on_the_message(self):
        error = {"error": {"message": "no", "status": 401}}
        world = World(chat(*TALE), {"recap": [error]}).do(recap_operation(0))
        assert world.data(0)["memory"] is None
        assert "refused the key" in world.data(0)["error"]
        assert world.log == [("recap", "failed")]

    def test_a_recap_that_is_there_survives_a_failure(self):
        start = chat(*TALE)
        start = start.with_message(0, set_data(start.messages[0], "memory", "old"))
        world = World(start, {"recap": [{"error": {"message": "no", "status": 403}}]}).do(recap_operation(0))
        assert world.data(0)["memory"] == "old"
        assert world.data(0)["error"]

    def test_an_unsound_recap_is_made_again_and_at_last_excluded(self):
        checking = {"error_detection_enabled": True, "message_recap_error_detection_retries": 1}
        script = {"recap": ["bad", "good"], "recap_check": ["INVALID", "valid"]}
        assert World(chat(*TALE), script, **checking).do(recap_operation(0)).data(0)["memory"] == "good"
        script = {"recap": ["bad", "worse"], "recap_check": ["INVALID", "invalid: no"]}
        data = World(chat(*TALE), script, **checking).do(recap_operation(0)).data(0)
        assert (data["memory"], data["exclude"]) == (None, True)
        assert data["error"]

    @pytest.mark.parametrize("said", [[], ["<think>Is it"] * 4])  # the check has few tokens
    def test_a_check_that_fails_counts_as_approval(self, said):
        script = {"recap": ["fine"] * 4, "recap_check": said}
        world = World(chat(*TALE), script, error_detection_enabled=True).do(recap_operation(0))
        assert world.data(0)["memory"] == "fine"

    def test_an_answer_without_text_is_asked_for_again(self):
        world = World(chat(*TALE), {"recap": [" \n", "at last"]}).do(recap_operation(0))
        assert world.data(0)["memory"] == "at last"

    @pytest.mark.parametrize(
        ("text", "whole"),
        [("One. Two and", "One."), ("No end", "No end"), ("“Yes!” And", "“Yes!”"), ("A. B.", "A. B.")],
    )
    def test_whole_sentences(self, text, whole):
        assert whole_sentences(text) == whole


class TestScenes:
    def test_a_scene_recap_goes_into_the_running_recap_and_is_locked(self):
        scene = json.dumps({"sn": "The gate", "recap": "They went in."})
        thought = "<think>Who [went]?</think>\n"
        script = {"scene_recap": [thought + scene], "running_recap": [f"{thought}All so far."]}
        world = World(with_breaks(chat(*TALE), 3), script).do(scene_operation(3, 9))
        data = world.data(3)
        assert versions_of(world.chat.messages[3]).texts == ('{"sn":"The gate","recap":"They went in."}',)
        assert data["scene_break_name"] == "The gate 0-3"
        assert data["scene_recap_metadata"]["0"]["combined_at"] == 1000
        assert scenes.locks(world.chat.messages)[3].by_itself
        assert world.chat.running.content == "All so far."
        assert world.chat.running.get().reaches == 3
        assert world.chat.metadata["auto_recap_running_scene_recaps"]["chat_id"] == "Tale"
        assert "They went in." in "".join(world.answers.requests[1].texts)

    def test_the_next_scene_is_worked_into_the_version_before_it(self):
        script = {"scene_recap": ["First.", "Second."], "running_recap": ["First so far.", "Both."]}
        world = World(with_breaks(chat(*TALE), 2, 4), script).do(scene_operation(2, 9), scene_operation(4, 8))
        first, second = world.chat.running.versions
        assert (first.scene_count, second.scene_count, second.previous_scene, second.reaches) == (1, 2, 2, 4)
        asked = world.answers.requests[-1]
        assert [text for role, text in asked.before if role == "user"] == ["First so far."]
        assert asked.user == "Second."

    @pytest.mark.parametrize("asked", [False, True])
    def test_a_break_that_has_gone_gets_no_recap_and_the_next_scene_does(self, asked):
        """A message before it was deleted, so that the break stands elsewhere, before it was asked or meanwhile."""
        start = with_breaks(chat(*TALE), 3, 5)
        world = World(start, {"scene_recap": ["One.", "Two."][not asked :], "running_recap": ["All."]})
        answer = world.answers.answer

        async def changing(request):
            world.answers.answer, world.book.chat = answer, with_breaks(chat(*TALE), 2, 5)
            return await answer(request)

        if asked:
            world.answers.answer = changing
        else:
            world.book.chat = with_breaks(chat(*TALE), 2, 5)
        world.do(scene_operation(3, 9, Chain((5,))))
        assert world.chat.recaps == (5,)
        assert world.worker.state.log[0].outcome == ("completed" if asked else "failed")

    def test_a_recap_asked_for_by_hand_leaves_the_running_recap_alone(self):
        world = World(with_breaks(chat(*TALE), 3), {"scene_recap": ["They went in."]})
        world.do(scene_operation(3, 0, manual=True))
        assert world.log == [("generate_scene_recap", "completed")]
        assert world.chat.running.versions == ()

    def test_rebuilding_leaves_out_the_newest(self):
        script = {"scene_recap": ["One.", "Two."], "running_recap": ["All."]}
        world = World(with_breaks(chat(*TALE), 2, 4), script, running_scene_recap_auto_generate=False)
        world.do(scene_operation(2, 9), scene_operation(4, 8), running_operation(0))
        version = world.chat.running.get()
        assert (version.content, version.scene_count, version.excluded_count, version.reaches) == ("All.", 1, 1, 2)
        assert world.answers.requests[-1].user == "Scene 1:\nOne."

    def test_the_running_recap_may_come_as_the_originals_json(self):
        recap = {"recap": {"developments": ["a"], "open": [], "state": ["b"]}}
        world = World(with_breaks(chat(*TALE), 3), {"scene_recap": ["x"], "running_recap": [json.dumps(recap)]})
        assert world.do(scene_operation(3, 9)).chat.running.content == "DEVELOPMENTS:\na\n\nSTATE:\nb"

    @pytest.mark.parametrize("said", ["null", "[]", '["They went in."]', "7", "true"])
    def test_json_that_is_no_record_is_no_scene_recap(self, said):
        world = World(with_breaks(chat(*TALE), 3), {"scene_recap": [said] * 3}).do(scene_operation(3, 9))
        assert versions_of(world.chat.messages[3]).texts == ()
        assert not world.data(3).get("scene_recap_memory")
        last = world.worker.state.log[-1]
        assert (last.type, last.outcome) == (OperationType.SCENE_RECAP, "failed")
        assert f"no recap: {said}" in last.summary

    @pytest.mark.parametrize("said", ["It was 7 [the bell].", "[The gate opens.]", '{"mood": "dark"}'])
    def test_other_words_of_a_scene_are_kept_as_they_came(self, said):
        world = World(with_breaks(chat(*TALE), 3), {"scene_recap": [said], "running_recap": ["So far."]})
        assert versions_of(world.do(scene_operation(3, 9)).chat.messages[3]).texts == (said,)

    def test_without_a_scene_recap_there_is_no_running_recap_to_make(self):
        world = World(chat(*TALE)).do(running_operation())
        assert world.log == [("generate_running_recap", "failed")]
        assert world.do(combine_operation(3, (0, 3))).log[-1] == ("combine_scene_with_running", "failed")

    def test_four_steps_make_one_version(self):
        script = {
            "recap_extract": ['{"sn": "Gate", "extracted": ["It opened."]}'],
            "recap_organise": ['{"recap": {"outcomes": ["It opened."]}, "entities": [{"n": "Gate", "c": "old"}]}'],
            "recap_filter": ['{"developments": ["It opened."], "open": [], "state": [], "resolved": []}'],
            "recap_entities": ['{"entities": [{"type": "item", "name": "Gate", "content": ["old"]}]}'],
            "running_recap": ["It opened."],
        }
        world = World(with_breaks(chat(*TALE), 3), script, scene_recap_format="stages").do(scene_operation(3, 9))
        assert [kind for kind, _ in world.log] == [
            "generate_scene_recap", "organize_scene_recap", "parse_scene_recap", "filter_scene_recap_sl",
            "combine_scene_with_running",
        ]  # fmt: skip
        texts = versions_of(world.chat.messages[3]).texts
        assert len(texts) == 1
        assert list(json.loads(texts[0])) == ["scene_name", "stage1", "stage2", "stage3", "stage4"]
        assert world.data(3)["scene_break_name"] == "Gate 0-3"
        assert world.answers.requests[-1].user == "DEVELOPMENTS:\nIt opened."

    def test_a_scene_with_nothing_new_changes_no_running_recap(self):
        script = {
            "recap_extract": ['["It opened."]'],
            "recap_organise": ['{"recap": {}, "entities": []}'],
            "recap_filter": ['{"developments": [], "open": [], "state": [], "resolved": []}'],
        }
        world = World(with_breaks(chat(*TALE), 3), script, scene_recap_format="stages").do(scene_operation(3, 9))
        assert world.chat.running.versions == ()
        assert "stage4" in versions_of(world.chat.messages[3]).texts[0]

    def test_a_scene_too_large_to_be_read_is_cut(self):
        tale = with_breaks(chat(*[f"word{number} " * 40 for number in range(8)]), 7)
        world = World(tale, {"scene_break": [found(3)]}, context_size=120)
        world.do(scene_operation(7, 9))
        assert world.log[0] == ("generate_scene_recap", "completed")
        assert not scenes.is_break(world.chat.messages[7])
        assert "detect_scene_break" in [kind for kind, _ in world.log]


class TestDetection:
    def test_a_break_is_set_the_scene_recapped_and_the_search_goes_on(self):
        tale = chat(*[f"message {number}" for number in range(14)])
        script = {
            "scene_break": [found(5), found(False), found(False)],
            "scene_recap": ["First scene."],
            "running_recap": ["So far."],
        }
        world = World(tale, script).do(detect_operation(0, 13, 0))
        assert world.chat.breaks == (5,)
        assert [kind for kind, _ in world.log] == [
            "detect_scene_break", "detect_scene_break_backwards", "generate_scene_recap",
            "combine_scene_with_running", "detect_scene_break",
        ]  # fmt: skip
        resumed = world.answers.requests[-1]
        assert "Message #6" not in resumed.user  # too early to be chosen
        assert "Message #8 [USER]: message 8" in resumed.user

    def test_breaks_that_were_missed_come_first(self):
        tale = chat(*[f"message {number}" for number in range(12)])
        script = {"scene_break": [found(9), found(4), found(False)], "scene_recap": ["One.", "Two."],
                  "running_recap": ["So far one.", "So far two."]}  # fmt: skip
        world = World(tale, script).do(detect_operation(0, 11, 0))
        assert world.chat.breaks == (4, 9)
        recaps = [item.words for item in world.worker.state.log if item.type == OperationType.SCENE_RECAP]
        assert recaps == ["Recap of a scene, #4", "Recap of a scene, #9"]
        assert [version.reaches for version in world.chat.running.versions] == [4, 9]

    def test_without_recaps_the_search_goes_on_at_once(self):
        tale = chat(*[f"message {number}" for number in range(12)])
        script = {"scene_break": [found(3), found(False), found(False)]}
        world = World(tale, script, auto_scene_break_generate_recap=False).do(detect_operation(0, 11, 0))
        kinds = [kind for kind, _ in world.log]
        assert kinds == ["detect_scene_break", "detect_scene_break_backwards", "detect_scene_break"]

    def test_a_reason_about_formatting_is_asked_about_once_more(self):
        answers = [found(4, "there is a divider"), found(4, "a horizontal rule")]
        world = World(chat(*TALE), {"scene_break": answers}).do(detect_operation(0, 5, 0))
        assert world.log == [("detect_scene_break", "completed")] * 2
        assert world.chat.breaks == ()
        assert scenes.CHECKED not in world.data(0)

    def test_a_break_for_a_plan_alone_is_refused(self):
        tale = chat("one", "two", "three", "four", "five", "six")
        world = World(tale, {"scene_break": [found(2, "they decided on a plan")]})
        world.do(detect_operation(0, 5, 0))
        assert world.chat.breaks == ()
        assert [bool(world.data(place).get(scenes.CHECKED)) for place in range(4)] == [True, True, True, False]

    def test_no_break_counts_the_range_as_looked_through(self):
        world = World(chat(*TALE), {"scene_break": [found(False)]}).do(detect_operation(0, 5, 0))
        assert all(world.data(place)[scenes.CHECKED] for place in range(6))

    def test_a_choice_that_is_too_early_moves_the_search_on(self):
        world = World(chat(*TALE), {"scene_break": [found(1), found(False)]}).do(detect_operation(0, 5, 0))
        assert [item.words for item in world.worker.state.log] == [
            "Search for a scene break, #0 to 5",
            "Search for a scene break, #2 to 5",
        ]

    def test_an_impossible_choice_is_asked_about_again(self):
        script = {"scene_break": [found(99), "no idea", found(False)]}
        world = World(chat(*TALE), script).do(detect_operation(0, 5, 0))
        assert len(world.answers.requests) == 3
        assert world.log == [("detect_scene_break", "completed")]

    def test_too_few_messages_ask_nobody(self):
        world = World(chat("one", "two")).do(detect_operation(0, 1, 0))
        assert world.answers.requests == []

    def test_when_a_recap_in_the_chain_fails_the_search_goes_on_nevertheless(self):
        tale = chat(*[f"message {number}" for number in range(14)])
        refused = {"error": {"message": "no", "status": 401}}
        script = {"scene_break": [found(5), found(False), found(False)], "scene_recap": [refused]}
        world = World(tale, script).do(detect_operation(0, 13, 0))
        assert world.log[-1] == ("detect_scene_break", "completed")
        assert ("generate_scene_recap", "failed") in world.log


def test_operations_of_other_kinds_are_taken_out_with_a_reason():
    world = World(chat(*TALE)).do(NewOperation("create_lorebook_entry"))
    assert world.log == [("create_lorebook_entry", "failed")]
    assert "are not done here" in world.worker.state.log[0].summary


def test_a_missing_preset_is_told():
    world = World(chat(*TALE), {"recap": ["x"]}, message_recap_preset="none.json").do(recap_operation(0))
    assert "The preset “none.json” cannot be used" in world.data(0)["error"]


def test_every_message_gets_its_flag_when_a_recap_is_stored():
    start = chat(*TALE)
    start = start.with_message(1, with_values(start.messages[1], {"memory": "old"}))
    world = World(start, {"recap": ["new words"]}, message_recap_context_type="absolute",
                  message_recap_context_limit=2.0).do(recap_operation(0))  # fmt: skip
    assert [world.data(place)["include"] for place in range(3)] == [None, "Recap of message(s)", None]
