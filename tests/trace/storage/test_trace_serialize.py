import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.records import field_names, is_record, replace
from lorestudio.systems.registry import words_of
from lorestudio.trace import model
from lorestudio.trace.model import StageRecord, Trace
from lorestudio.trace.storage.serialize import TraceFormatError, from_json, to_json
from tests.trace.examples import quiet_run, story, strange

TEXT = st.text(max_size=5) | st.sampled_from(["$tuple", "$number", "$object", "\ud800", "😀"])
NUMBER = st.integers() | st.floats()
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=8,
)
DETAILS = st.dictionaries(TEXT, JSON, max_size=3)
SMALL = st.integers(-5, 2**40)


def few(strategy):
    return st.lists(strategy, max_size=3).map(tuple)


REFS = st.builds(model.EntryRef, SMALL, TEXT, TEXT, TEXT, NUMBER, SMALL)
VERDICTS = st.builds(model.Verdict, SMALL, st.sampled_from(model.Outcome), TEXT, DETAILS)
BREAKERS = st.builds(model.Breaker, st.sampled_from(model.BreakerState), SMALL, st.none() | SMALL)
ITEMS = st.builds(
    model.ReplyItem, TEXT, st.sampled_from(model.TitleMatch), st.sampled_from(model.ItemResult), few(SMALL), TEXT,
    NUMBER, TEXT, TEXT,
)  # fmt: skip
STAGES = st.builds(
    StageRecord, TEXT, st.sampled_from(model.Phase), st.sampled_from(model.StageStatus), few(SMALL), few(SMALL),
    few(VERDICTS), TEXT, TEXT, DETAILS, NUMBER, TEXT,
    st.none() | st.builds(model.AiRecord, BREAKERS, BREAKERS, few(ITEMS)),
)  # fmt: skip
INJECTIONS = st.builds(
    model.Injection, SMALL, TEXT, TEXT, SMALL, NUMBER, SMALL, NUMBER, SMALL, TEXT, TEXT, st.booleans(),
    st.none() | SMALL,
)  # fmt: skip
BLOCKS = st.builds(
    model.PromptBlock, TEXT, SMALL, NUMBER, SMALL, TEXT,
    few(st.builds(model.PromptPart, SMALL, SMALL, st.none() | SMALL)),
)  # fmt: skip
LIMITS = st.builds(model.Limit, TEXT, NUMBER, st.none() | NUMBER, TEXT)
CALLS = st.builds(model.AiCall, TEXT, TEXT, TEXT, SMALL, st.booleans(), TEXT, TEXT, TEXT, TEXT, NUMBER, DETAILS)
TRACES = st.builds(
    Trace, TEXT, TEXT, st.sampled_from(model.RunOutcome), st.builds(model.Turn, SMALL, SMALL, SMALL, TEXT),
    st.dictionaries(SMALL, REFS, max_size=3), SMALL, few(STAGES), few(INJECTIONS), few(BLOCKS), few(LIMITS),
    few(st.tuples(TEXT, TEXT)), few(CALLS), SMALL, few(NUMBER), st.dictionaries(TEXT, TEXT, max_size=2), SMALL, TEXT,
    few(TEXT), DETAILS, few(BLOCKS),
)  # fmt: skip


def there_and_back(trace):
    return from_json(json.loads(json.dumps(to_json(trace), allow_nan=False)), words_of)


def shape(value):
    """The value with every type spelled out: NaN equals itself here, and 1, 1.0 and true are three things."""
    if isinstance(value, dict) or hasattr(value, "keys"):
        return {"mapping": [(shape(key), shape(item)) for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [shape(item) for item in value]}
    if is_record(type(value)):
        return {type(value).__name__: [shape(getattr(value, name)) for name in field_names(type(value))]}
    return type(value).__name__, repr(value)


@given(TRACES)
def test_every_trace_comes_back_the_same(trace):
    assert shape(there_and_back(trace)) == shape(trace)


@pytest.mark.parametrize("trace", [story(), quiet_run(), strange()], ids=["story", "quiet", "strange"])
def test_examples_come_back_the_same(trace):
    assert shape(there_and_back(trace)) == shape(trace)


def test_a_story_is_equal_after_the_way_through_json():
    assert there_and_back(story()) == story()


def test_the_document_says_what_it_is():
    document = to_json(story())
    assert (document["format"], document["version"]) == ("lorestudio-trace", 1)
    assert document["trace"]["stages"][1] == {
        "name": "constants", "phase": "match", "status": "ran", "entered": [], "left": [0], "note": "",
        "verdicts": [{"entry": 0, "outcome": "added", "reason": "constant", "details": {}}], "default_reason": "",
        "details": {}, "duration_ms": 0.0, "error": "", "ai": None,
    }  # fmt: skip


def test_numbers_that_json_does_not_know():
    document = to_json(strange())
    assert document["trace"]["limits"][0]["used"] == {"$number": "NaN"}
    assert document["trace"]["limits"][1]["maximum"] == {"$number": "Infinity"}
    assert document["trace"]["injections"][0]["priority"] == {"$number": "-Infinity"}
    assert math.isnan(from_json(document).limits[0].used)


def test_a_field_that_is_not_there_has_its_default():
    document = to_json(story())
    del document["trace"]["warnings"], document["trace"]["stages"][0]["duration_ms"]
    assert from_json(document).warnings == ()


def test_a_stage_written_before_replies_were_on_record_is_still_read():
    asked = replace(story().stages[0], name="AI selection", ai=model.AiRecord())
    document = to_json(replace(story(), stages=(asked,)))
    del document["trace"]["stages"][0]["ai"]
    assert from_json(document).stages == (replace(asked, ai=None),)


MISSING = object()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("stages", 3, "phase"), "nonsense",
         "trace.stages[3].phase: one of load, match, select, gate, budget, inject expected, found 'nonsense'"),
        (("stages", 3, "phase"), ["load"],
         "trace.stages[3].phase: one of load, match, select, gate, budget, inject expected, found ['load']"),
        (("stages", 3, "verdicts", 1, "entry"), "2",
         "trace.stages[3].verdicts[1].entry: a whole number expected, found '2'"),
        (("stages", 3, "verdicts", 1, "entry"), True,
         "trace.stages[3].verdicts[1].entry: a whole number expected, found True"),
        (("turn", "message"), 1.5, "trace.turn.message: a whole number expected, found 1.5"),
        (("turn",), [], "trace.turn: an object expected, found []"),
        (("entries", "x"), {}, "trace.entries: a whole number expected as name, found 'x'"),
        (("entries", "3", "title"), None, "trace.entries.3.title: text expected, found None"),
        (("limits", 0, "used"), "many", "trace.limits[0].used: a number expected, found 'many'"),
        (("limits", 0, "used"), {"$number": "Inf"},
         "trace.limits[0].used: a number expected, found {'$number': 'Inf'}"),
        (("injections", 2, "truncated"), 1, "trace.injections[2].truncated: true or false expected, found 1"),
        (("labels", 0), ["only one"], "trace.labels[0]: a list of 2 expected, found ['only one']"),
        (("digests", "vault"), 5, "trace.digests.vault: text expected, found 5"),
        (("facts",), {"a": {"$tuple": 5}}, "trace.facts.a: a list expected, found 5"),
        (("facts",), {"a": {"$object": [[1, 2]]}}, "trace.facts.a: pairs of name and value expected, found [[1, 2]]"),
        (("facts",), {"a": {1, 2}}, "trace.facts.a: JSON expected, found {1, 2}"),
        (("warnings",), "text", "trace.warnings: a list expected, found 'text'"),
        (("system",), MISSING, "trace.system: missing"),
        (("stages", 0, "colour"), "red", "trace.stages[0].colour: unknown field"),
        (("stages",), "x" * 100, "trace.stages: a list expected, found '" + "x" * 58 + "…"),
    ],
)  # fmt: skip
def test_errors_name_the_field(path, value, message):
    document = json.loads(json.dumps(to_json(story())))
    place = document["trace"]
    for step in path[:-1]:
        place = place[step]
    if value is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(TraceFormatError) as caught:
        from_json(document)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "format: this is no trace"),
        ({"format": "other"}, "format: this is no trace"),
        ({"format": "lorestudio-trace", "version": 2, "trace": {}},
         "version: this trace has version 2; this program reads version 1"),
        ({"format": "lorestudio-trace", "version": 1}, "trace: missing"),
    ],
)  # fmt: skip
def test_other_documents_are_refused(data, message):
    with pytest.raises(TraceFormatError, match=f"^{message}"):
        from_json(data)


def test_a_trace_comes_back_with_the_words_of_its_system():
    document = to_json(story())
    assert "words" not in document["trace"]
    assert from_json(document, words_of).words is story().words
    assert from_json(document).words.label("some_code") == "Some code"
