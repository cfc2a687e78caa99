import asyncio
import json

import pytest

from lorestudio.llm.messages import RECAP_CHECK, RECAP_STAGES, RUNNING_RECAP, SCENE_BREAK, SCENE_RECAP, ChatRequest
from lorestudio.llm.stand_in import RUNNING_LENGTH, StandInAnswers


def answer(kind, user, system="", before=()):
    reply = asyncio.run(StandInAnswers().answer(ChatRequest(kind, system, user, before=tuple(before))))
    assert reply.repeatable
    return reply.text


def test_a_message_is_recapped_by_its_first_sentences():
    assert answer("recap", "Wren: I open the gate. It creaks. " + "Dust falls. " * 40).startswith(
        "Wren: I open the gate. It creaks."
    )
    assert len(answer("recap", "Wren: " + "Dust falls. " * 40)) <= 170


def test_a_scene_gets_the_first_sentence_of_each_message_and_a_name():
    scene = "[USER: Wren]\nI see the Old Mill. It is shut.\n\n[CHARACTER: Quay]\nThe door of Old Mill opens. Dust."
    told = json.loads(answer(SCENE_RECAP, scene))
    assert told == {"sn": "Old Mill", "recap": "I see the Old Mill. The door of Old Mill opens."}


def test_the_running_recap_grows_at_its_end():
    assert answer(RUNNING_RECAP, "New.", before=[("user", "Old."), ("system", "x")]) == "Old.\n\nNew."


def test_a_running_recap_that_is_too_long_loses_words_at_its_beginning():
    told = answer(RUNNING_RECAP, "The end.", before=[("user", f"Before {'long ago ' * 600}")])
    assert told.endswith("long ago\n\nThe end.")
    assert len(told) <= RUNNING_LENGTH < len(told) + len("long ")
    assert told.split()[0] in {"long", "ago"}


def test_what_is_no_list_of_things_keeps_none_of_them():
    assert json.loads(answer(RECAP_STAGES[-1], '["Mill"]')) == {"entities": ["Mill"]}
    assert json.loads(answer(RECAP_STAGES[-1], "the Mill")) == {"entities": []}


PARAGRAPHS = (
    "Message #invalid choice [USER]: one\n\nMessage #1 [CHARACTER]: two\n\nMessage #2 [USER]: {}\n\n"
    "Message #3 [CHARACTER]: four"
)


@pytest.mark.parametrize(
    ("third", "system", "chosen"),
    [("The next morning comes.", "", 1), ("three", "", False), ("three", "You have to choose one.", 3)],
)
def test_a_scene_ends_before_another_time(third, system, chosen):
    told = json.loads(answer(SCENE_BREAK, PARAGRAPHS.format(third), system))
    assert told["sceneBreakAt"] == chosen
    assert told["sceneBreakAt"] is chosen or chosen is not False


def test_the_four_steps_fit_together():
    scene = "[USER: Wren]\nI see the Old Mill.\n\n[CHARACTER: Quay]\nThe door of Old Mill opens."
    first = answer(RECAP_STAGES[0], scene)
    second = answer(RECAP_STAGES[1], first)
    assert json.loads(second)["recap"]["outcomes"] == ["I see the Old Mill.", "The door of Old Mill opens."]
    third = answer(RECAP_STAGES[2], second, before=[("user", "I see the Old Mill.")])
    assert json.loads(third)["developments"] == ["The door of Old Mill opens."]
    entities = json.loads(second)["entities"]
    assert json.loads(answer(RECAP_STAGES[3], json.dumps(entities))) == {"entities": entities}


def test_words_are_sound_and_nothing_is_not():
    assert answer(RECAP_CHECK, "She opens it.") == "VALID"
    assert answer(RECAP_CHECK, "...") == "INVALID"
