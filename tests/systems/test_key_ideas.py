"""Keys that are proposed for a note are such as its author would choose: names and terms, not just any word."""

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry
from lorestudio.systems.ideas import key_ideas


def other(number, content="", title="", keys=()):
    return Entry(number, f"{number}.md", "v", title=title or f"Other {number}", keys=keys, content=content)


def ideas(text, known=(), aliases=(), notes=(), said=(), **fields):
    note = Entry(0, "a.md", "v", **{"title": "The Glass Kite", "keys": ("kite string",), **fields})
    chat = [*(Message("Ann", each) for each in said), Message("Wren", text)]
    return key_ideas(note, f"Wren: {text}", chat, known, aliases, notes)


def test_the_note_s_own_names_come_first():
    assert ideas("A kite, my Glass Kite, flies.")[0] == "Glass Kite"
    assert ideas("Old Blue flies.", aliases=("Old Blue",))[0] == "Old Blue"


def test_other_forms_of_its_words_are_found():
    assert "kites" in ideas("All kites are up.")


def test_words_that_only_begin_alike_are_no_forms():
    note = {"title": "The Lantern Strike", "keys": ("post house",)}
    assert ideas("A string, a postcard, a portrait.", **note) == ()
    assert set(ideas("They strikes. Two houses.", **note)) == {"strikes", "houses"}


def test_a_common_word_of_a_name_says_not_whose_it_is():
    """“Osk” is a name wherever it stands; “blue” is one word of another note, too."""
    notes = [other(1, "The blue door.")]
    assert ideas("Blue and Ruth.", title="Blue Ruth", keys=(), notes=notes) == ("Ruth",)
    assert ideas("A blue day.", title="Blue Ink", keys=(), said=("A blue day.",)) == ("Blue",)


def test_a_verb_after_the_thing_is_no_key():
    assert ideas("It pours.", title="Weir", keys=(), content="The water pours from a wall.") == ()


def test_only_what_stands_there_and_is_no_key_yet():
    assert "kite" not in [word.lower() for word in ideas("The kite flies.", known=("kite",))]
    assert "silver" not in ideas("Nothing moves.", content="A frame of silver.")


def test_words_that_say_nothing_are_left_out():
    assert {"with", "that", "doesn"} & {word.lower() for word in ideas("It doesn’t go with that harbour.")} == set()


def test_what_the_first_sentence_says_that_it_is():
    assert ideas("The lantern is out.", content="# Lamp\n\nA lantern of brass. It stands on a shelf.") == ("lantern",)
    assert ideas("On the shelf.", content="# Lamp\n\nA lantern of brass. It stands on a shelf.") == ()


def test_names_of_the_text_but_not_its_labels_and_words_of_the_story():
    text = "She held the counter. Her hair, her build! Osk of the Dead Letter Office laughs."
    content = "**Hair:** red\n- Build: slim\nHeld by a counter at noon, says the Dead Letter Office, and by old Osk."
    assert set(ideas(text, content=content)) == {"Dead Letter Office"}  # Osk is too short to be told from any word
    assert "Hair" not in ideas("Hair today.", content="Her long Hair shines.", said=("Red hair.",))


def test_what_belongs_to_another_note_is_not_proposed():
    assert ideas("Saltwick sleeps.", content="It came from Saltwick.") == ("Saltwick",)
    assert ideas("Saltwick sleeps.", content="It came from Saltwick.", notes=[other(1, title="Saltwick")]) == ()
    assert ideas("Saltwick sleeps.", content="It came from Saltwick.", notes=[other(1, keys=("saltwick",))]) == ()


def test_a_name_that_the_title_shares_with_another_note_comes_last():
    vane = [other(1, "Aldric rows, and thinks of death.", title="Aldric Vane", keys=("Aldric", "death"))]
    often = tuple(f"Aldric, {number}." for number in range(9))
    fields = {"title": "Aldric's death", "keys": ("the burial",), "notes": vane, "said": often}
    assert ideas("Does Aldric fear death?", **fields) == ("Aldric",)
    assert ideas("Did Aldric row? The ash tree.", content="Under the ash tree.", **fields)[-1] == "Aldric"
    assert ideas("Where is Aldric?", title="The ferry", content="Aldric rows it.", notes=vane) == ()


def test_what_is_said_all_the_time_is_not_proposed():
    chat = tuple(f"Saltwick, {number}." for number in range(9))
    for fields in ({"content": "It came from Saltwick."}, {"title": "Saltwick's dawn"}):
        assert ideas("Saltwick sleeps.", said=chat, **fields) == ()


def test_of_the_note_s_words_those_come_first_that_fewer_notes_have():
    notes = [other(1, "The harbour."), other(2, "A harbour.")]
    found = ideas("silver under the harbour", content="The silver and the harbour.", notes=notes)
    assert found.index("silver") < found.index("harbour")


def test_there_are_never_many():
    words = " ".join(f"the wordnumber{letter}," for letter in "abcdefghijklmnopqrstuvwxyz")
    assert 0 < len(ideas(words, content=words)) <= 8
