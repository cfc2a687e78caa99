"""Settings of systems from files and from NAME=VALUE."""

import json

import pytest

from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.files import SettingsError
from lorestudio.settings.sections import assigned, dump_section, read_section


def test_a_file_says_what_differs(tmp_path):
    file = tmp_path / "window.json"
    file.write_text(json.dumps({"totalTokenBudget": 900, "fill_mode": True, "tokenCountingBias": 1}))
    settings = read_section(file, ContextWindowSettings)
    assert (settings.total_token_budget, settings.fill_mode, settings.token_counting_bias) == (900, True, 1)
    assert dump_section(settings) == {"totalTokenBudget": 900, "fillMode": True, "tokenCountingBias": 1}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"totalTokenBuget": 1}, "“totalTokenBuget”: there is no such setting. Did you mean “totalTokenBudget”?"),
        ({"totalTokenBudget": "many"}, "“totalTokenBudget”: 'many' is no number"),
        ({"totalTokenBudget": 1.5}, "is no whole number"),
        ({"nonWordSplitCount": 0}, "“nonWordSplitCount”: 0 is not in the range 1 to 100 characters"),
        ({"fillMode": 1}, "is neither true nor false"),
        ({"truncateMethod": "Left"}, "'Left' is none of TruncateTop, TruncateBottom, TruncateMiddle"),
        ([], "holds no object of settings"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, document, words):
    file = tmp_path / "window.json"
    file.write_text(json.dumps(document))
    with pytest.raises(SettingsError) as error:
        read_section(file, ContextWindowSettings)
    assert words in str(error.value)
    assert str(file) in str(error.value)


def test_assignments_change_what_a_file_said():
    base = ContextWindowSettings(total_token_budget=900, fill_mode=True)
    settings = assigned(["fill_mode=false", "tokenCountingBias=0.5"], ContextWindowSettings, base)
    assert (settings.total_token_budget, settings.fill_mode, settings.token_counting_bias) == (900, False, 0.5)
    with pytest.raises(SettingsError, match="Write fill_mode=VALUE"):
        assigned(["fill_mode"], ContextWindowSettings, base)
