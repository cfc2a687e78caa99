from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry
from lorestudio.systems.deeplore.ideas.matching import MOST_IDEAS, key_ideas


def ideas(text, known=(), aliases=(), notes=(), **fields):
    note = Entry(0, "a.md", "v", **{"title": "The Glass Kite", "keys": ("kite string",), **fields})
    return key_ideas(note, f"Wren: {text}", [Message("Wren", text)], known, aliases, notes)


def test_the_note_s_own_names_come_first():
    assert ideas("A kite, my Glass Kite, flies.")[0] == "Glass Kite"
    assert ideas("Old Blue flies.", aliases=("Old Blue",))[0] == "Old Blue"


def test_other_forms_of_its_words_are_found():
    assert "kites" in ideas("All kites are up.")


def test_only_what_stands_there_and_is_no_key_yet():
    assert "kite" not in [word.lower() for word in ideas("The kite flies.", known=("kite",))]
    assert "silver" not in ideas("Nothing moves.", content="A frame of silver.")


def test_words_that_say_nothing_are_left_out():
    assert {"with", "that", "doesn"} & {word.lower() for word in ideas("It doesn’t go with that harbour.")} == set()


def test_of_the_note_s_words_those_come_first_that_fewer_notes_have():
    found = ideas("silver under the harbour", content="The silver and the harbour.", notes=("harbour", "harbour"))
    assert found.index("silver") < found.index("harbour")


def test_there_are_never_many():
    words = " ".join(f"wordnumber{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    assert len(ideas(words, content=words)) <= MOST_IDEAS
