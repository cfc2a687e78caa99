from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.records import replace
from lorestudio.llm import profiles
from lorestudio.llm.http.client import client_for
from lorestudio.llm.profiles import FORMAT, Api, KeySource, Profile, ProfileError, load_profiles, save_profiles
from lorestudio.settings.files import SettingsError

LOCAL = Profile("Local", url="http://127.0.0.1:11434", model="small")
CLOUD = Profile(
    "Cloud", Api.ANTHROPIC, "https://api.example.com", "big", KeySource.ENVIRONMENT, "MY_KEY", 60_000, 500, False
)


def write(path: Path, *profiles: object) -> Path:
    path.write_text(json.dumps({"format": FORMAT, "version": 1, "profiles": profiles}), encoding="utf-8")
    return path


def test_profiles_come_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "profiles.json"
    save_profiles(path, [LOCAL, CLOUD])
    loaded = load_profiles(path)
    assert loaded.profiles == (LOCAL, CLOUD)
    assert loaded.problems == ()
    assert loaded.find("Cloud") == CLOUD
    assert loaded.find("cloud") is None


def test_names_that_are_taken_are_kept_in_mind_and_not_gathered_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, handed = profiles._read, list[object]()

    def reading(item: Any, taken: Any) -> Any:
        handed.append(taken)
        return read(item, taken)

    monkeypatch.setattr(profiles, "_read", reading)
    items = [{"name": name, "api": "openai", "url": "http://localhost:1", "model": "m"} for name in ("A", "B", "A")]
    found = load_profiles(write(tmp_path / "profiles.json", *items))
    assert ([each.name for each in found.profiles], len(found.problems)) == (["A", "B"], 1)
    assert len({id(each) for each in handed}) == 1


def test_missing_file_is_empty(tmp_path: Path) -> None:
    assert load_profiles(tmp_path / "none.json").profiles == ()


def test_a_file_that_cannot_be_reached_is_not_taken_for_a_missing_one(
    tmp_path: Path, go_away: Callable[..., None]
) -> None:
    path = write(tmp_path / "p.json", {"name": "A", "url": "http://localhost:1/v1"})
    go_away(tmp_path)
    with pytest.raises(SettingsError, match="cannot be read \\(Input/output error\\)"):
        load_profiles(path)


def test_smallest_profile(tmp_path: Path) -> None:
    path = write(tmp_path / "p.json", {"name": "A", "url": "http://localhost:1/v1"})
    (profile,) = load_profiles(path).profiles
    assert profile == Profile("A", Api.OPENAI, "http://localhost:1/v1", "", KeySource.NONE, "", None, None, True)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("timeout_ms", "", '""'), ("max_tokens", "", '""'), ("supports_schema", "", '""'), ("api", "", '""'),
        ("key_source", "", '""'), ("supports_schema", None, "null"), ("api", None, "null"), ("model", None, "null"),
        ("key_variable", None, "null"),
    ],
)  # fmt: skip
def test_a_field_that_says_nothing_counts_as_left_out_and_is_told(
    tmp_path: Path, field: str, value: object, said: str
) -> None:
    path = write(tmp_path / "p.json", {"name": "A", "url": "http://h", field: value})
    loaded = load_profiles(path)
    assert loaded.profiles == (Profile("A", url="http://h"),)
    (problem,) = loaded.problems
    assert problem.startswith(f'{path}, profile 1: The field "{field}" is {said}, which counts as left out.')


def test_nothing_is_told_where_nothing_is_what_a_field_holds(tmp_path: Path) -> None:
    nothing = {"model": "", "key_variable": "", "timeout_ms": None, "max_tokens": None}
    loaded = load_profiles(write(tmp_path / "p.json", {"name": "A", "url": "http://h", **nothing}))
    assert (loaded.profiles, loaded.problems) == ((Profile("A", url="http://h"),), ())


def test_unknown_fields_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "p.json", {"name": "A", "url": "http://h", "colour": {"deep": ["x"]}})
    loaded = load_profiles(path)
    save_profiles(path, [replace(loaded.profiles[0], model="m")])
    written = json.loads(path.read_text(encoding="utf-8"))["profiles"][0]
    assert written["colour"] == {"deep": ["x"]}
    assert written["model"] == "m"


@pytest.mark.parametrize("field", ["key", "api_key", "apiKey", "token", "password", "client_secret"])
def test_keys_in_the_file_are_neither_used_nor_written_back(tmp_path: Path, field: str) -> None:
    path = write(tmp_path / "p.json", {"name": "A", "url": "http://h", field: "sk-do-not-keep"})
    loaded = load_profiles(path)
    assert "sk-do-not-keep" not in repr(loaded)
    assert f'profile 1: The field "{field}"' in loaded.problems[0]
    assert "keyring" in loaded.problems[0]
    save_profiles(path, loaded.profiles, loaded.unreadable)
    assert "sk-do-not-keep" not in path.read_text(encoding="utf-8")
    save_profiles(path, [replace(LOCAL, extra={field: "sk-do-not-keep"})])
    assert "sk-do-not-keep" not in path.read_text(encoding="utf-8")


BROKEN: dict[str, tuple[Any, str]] = {
    "no object": ("x", "no object"),
    "no name": ({"url": "http://h"}, '"name"'),
    "blank name": ({"name": "  ", "url": "http://h"}, '"name"'),
    "no address": ({"name": "A"}, '"url"'),
    "file address": ({"name": "A", "url": "file:///etc/passwd"}, '"url"'),
    "no host": ({"name": "A", "url": "http://"}, '"url"'),
    "bad port": ({"name": "A", "url": "http://h:99999"}, '"url"'),
    "blank in address": ({"name": "A", "url": "http://h/a b"}, '"url"'),
    "odd brackets": ({"name": "A", "url": "http://[::1"}, '"url"'),
    "password in address": ({"name": "A", "url": "http://me:hunter2@h"}, "key or a password"),
    "key in address": ({"name": "A", "url": "http://h?key=hunter2"}, "key or a password"),
    "unknown kind": ({"name": "A", "url": "http://h", "api": "gemini"}, "openai, anthropic"),
    "unknown source": ({"name": "A", "url": "http://h", "key_source": "file"}, "keyring, environment, none"),
    "no variable": ({"name": "A", "url": "http://h", "key_source": "environment"}, '"key_variable"'),
    "key as variable": (
        {"name": "A", "url": "http://h", "key_source": "environment", "key_variable": "sk-hunter2"}, "not the key",
    ),
    "text as number": ({"name": "A", "url": "http://h", "timeout_ms": "5"}, '"timeout_ms"'),
    "truth as number": ({"name": "A", "url": "http://h", "max_tokens": True}, '"max_tokens"'),
    "no time": ({"name": "A", "url": "http://h", "timeout_ms": 0}, "from 1 to 999999"),
    "number as truth": ({"name": "A", "url": "http://h", "supports_schema": 1}, '"supports_schema"'),
    "number as text": ({"name": "A", "url": "http://h", "model": 5}, '"model"'),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_profiles_are_told_and_kept(tmp_path: Path, case: str) -> None:
    item, words = BROKEN[case]
    path = write(tmp_path / "p.json", {"name": "Good", "url": "http://h"}, item)
    loaded = load_profiles(path)
    assert [profile.name for profile in loaded.profiles] == ["Good"]
    (problem,) = loaded.problems
    assert problem.startswith(f"{path}, profile 2: ")
    assert words in problem
    assert "hunter2" not in problem
    save_profiles(path, loaded.profiles, loaded.unreadable)
    assert json.loads(path.read_text(encoding="utf-8"))["profiles"][1] == item


RANDOM = "Zq7wPl0aBn3Xy8Kd2MvTc4Rf6Gh1JsUe"


@pytest.mark.parametrize("key", [f"gsk_{RANDOM}", f"sk_live_{RANDOM}", "hf_" + "AbCdEfGhIj" * 3, f"a_{RANDOM}"])
def test_a_key_typed_in_place_of_a_variable_s_name_is_refused_and_not_repeated(key: str) -> None:
    profile = Profile("A", url="http://h", key_source=KeySource.ENVIRONMENT, key_variable=key)
    with pytest.raises(ProfileError, match="not the key") as caught:
        profile.check_variable()
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY", "HF_TOKEN", "hf_token", "my_own_key", "key2", "ACCOUNT_2_OF_MY_OWN_SERVER_9",
        "my_openrouter_api_key_2", "Anthropic_Api_Key_2026", "task_acharacteristicallylongname",
    ],
)  # fmt: skip
def test_names_of_variables_are_taken(tmp_path: Path, name: str) -> None:
    item = {"name": "A", "url": "http://h", "key_source": "environment", "key_variable": name}
    (profile,) = load_profiles(write(tmp_path / "p.json", item)).profiles
    profile.check_variable()
    assert profile.key_variable == name


def test_a_long_name_of_a_variable_takes_no_longer_than_its_length() -> None:
    profile = Profile("A", url="http://h", key_source=KeySource.ENVIRONMENT, key_variable="A" * 20_000)
    started = time.process_time()
    profile.check_variable()
    assert time.process_time() - started < 1


@pytest.mark.parametrize("left_over", ["my key", f"gsk_{RANDOM}"])
def test_a_variable_that_is_not_used_is_left_alone(tmp_path: Path, left_over: str) -> None:
    item = {"name": "A", "url": "http://h", "key_source": "keyring", "key_variable": left_over}
    loaded = load_profiles(write(tmp_path / "p.json", item))
    assert not loaded.problems
    loaded.profiles[0].check_variable()
    assert loaded.profiles[0].key_variable == left_over


def test_a_profile_that_was_kept_with_an_odd_variable_is_loaded(tmp_path: Path) -> None:
    item = {"name": "A", "url": "http://h", "key_source": "environment", "key_variable": f"sk_{RANDOM}"}
    assert load_profiles(write(tmp_path / "p.json", item)).find("A")


def test_names_are_unique(tmp_path: Path) -> None:
    path = write(tmp_path / "p.json", {"name": "A", "url": "http://h"}, {"name": "A", "url": "http://i"})
    loaded = load_profiles(path)
    assert [profile.url for profile in loaded.profiles] == ["http://h"]
    assert "Rename" in loaded.problems[0]
    with pytest.raises(ProfileError, match="Rename"):
        save_profiles(path, [LOCAL, LOCAL])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"profiles": []}',
        json.dumps({"format": FORMAT, "version": 2}),
        json.dumps({"format": FORMAT, "version": True, "profiles": []}),
        json.dumps({"format": FORMAT, "version": 1}),
    ],
)
def test_files_that_are_no_profile_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"p\.json"):
        load_profiles(path)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(SettingsError, match="cannot be written"):
        save_profiles(tmp_path / "file" / "p.json", [LOCAL])


@given(
    st.builds(
        Profile,
        name=st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip),
        api=st.sampled_from(Api),
        url=st.sampled_from(["http://h", "https://h:8/v1"]),
        model=st.text(st.characters(codec="utf-8")),
        key_source=st.sampled_from([KeySource.KEYRING, KeySource.NONE]),
        timeout_ms=st.none() | st.integers(1, 999_999),
        max_tokens=st.none() | st.integers(1, 10_000),
        supports_schema=st.booleans(),
    )
)
def test_any_profile_comes_back(tmp_path_factory: pytest.TempPathFactory, profile: Profile) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    save_profiles(path, [profile])
    assert load_profiles(path).profiles == (profile,)


def test_client_for_a_profile() -> None:
    assert client_for(LOCAL).label == "Local · small"
    assert "127.0.0.1:11434" in repr(client_for(LOCAL))
    assert type(client_for(CLOUD).dialect).__name__ == "AnthropicMessages"
    assert client_for(LOCAL).dialect.address(LOCAL.url) == "http://127.0.0.1:11434/v1/chat/completions"
