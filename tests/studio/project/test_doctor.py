from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project import doctor
from lorestudio.studio.project.answering import Connections, KeySource, Profile, ProfileFile, default_profiles_path
from lorestudio.studio.project.doctor import CheckResult, examine

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of this test's own, so that nobody's are touched."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return tmp_path


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which every library is there, Qt included."""
    monkeypatch.setattr(doctor, "requires", lambda _name: ["numpy>=1.0"])
    monkeypatch.setattr(doctor, "version", lambda _name: "1.0")


def by_subject(findings: tuple[CheckResult, ...]) -> dict[str, CheckResult]:
    return {finding.subject: finding for finding in findings}


@pytest.mark.usefixtures("installed")
def test_all_is_well() -> None:
    findings = by_subject(examine(has_display=True))
    assert [finding.subject for finding in findings.values() if not finding.ok] == []
    assert "67 entries, 27 generations." in findings["Demo"].message
    assert findings["Display"].message == "a window can be opened"


@pytest.mark.usefixtures("installed")
def test_no_display_is_no_fault() -> None:
    display = by_subject(examine(has_display=False))["Display"]
    assert display.ok
    assert display.message.startswith("none;")


@pytest.mark.usefixtures("installed")
def test_a_window_that_does_not_load_is_a_fault() -> None:
    window = by_subject(examine(has_display=True, window_problem="libEGL is missing."))["Window"]
    assert window == CheckResult("Window", ok=False, message="libEGL is missing.")


def test_a_missing_library_is_named_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", missing)
    findings = by_subject(examine(has_display=True))
    assert findings["numpy"] == CheckResult("numpy", ok=False, message="not installed. Run: pip install numpy")


@pytest.mark.parametrize(
    ("found", "ok"),
    [("6.9.3", False), ("6.10", True), ("6.10.0", True), ("6.11.3", True), ("6.12.0", False), ("6.12.1", True)],
)
def test_a_library_in_a_version_that_does_not_do_is_named_with_the_cure(
    monkeypatch: pytest.MonkeyPatch, *, found: str, ok: bool
) -> None:
    monkeypatch.setattr(
        doctor, "requires", lambda _: ["PySide6-Essentials!=6.12.0,>=6.10", "optuna>=5; extra == 'tune'"]
    )
    monkeypatch.setattr(doctor, "version", lambda _: found)
    findings = by_subject(examine(has_display=True))
    cure = f'{found} does not do. Run: pip install "PySide6-Essentials!=6.12.0,>=6.10"'
    assert findings["PySide6-Essentials"] == CheckResult("PySide6-Essentials", ok, found if ok else cure)
    assert "optuna" not in findings


def test_the_libraries_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {requirement.split(">")[0].split("<")[0] for requirement in project["dependencies"]}
    assert set(map(spelled, doctor.libraries())) == set(map(spelled, names))


def spelled(name: str) -> str:
    return name.lower().replace(".", "-")


@pytest.mark.usefixtures("installed")
def test_a_folder_that_cannot_be_written(homes: Path) -> None:
    (homes / "xdg_data_home").write_text("a file stands where the folder should be")
    finding = by_subject(examine(has_display=True))["Data folder"]
    assert not finding.ok
    assert "cannot be written" in finding.message
    assert "xdg_data_home" in finding.message


@pytest.mark.usefixtures("installed")
def test_a_demo_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorestudio.studio.project.project.resource", tmp_path.joinpath)
    finding = by_subject(examine(has_display=True))["Demo"]
    assert not finding.ok
    assert str(tmp_path) in finding.message
    assert finding.message.endswith("Install the program again.")


@pytest.mark.usefixtures("installed")
def test_a_store_that_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: Path) -> None:
        raise RuntimeError("no such module: sqlite")

    monkeypatch.setattr(doctor, "TraceStore", broken)
    finding = by_subject(examine(has_display=True))["Trace store"]
    assert finding == CheckResult("Trace store", ok=False, message="SQLite does not work here: no such module: sqlite")


@pytest.mark.usefixtures("installed")
def test_who_can_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def answers() -> CheckResult:
        return by_subject(examine(has_display=True))["Answers"]

    assert answers() == CheckResult("Answers", ok=True, message="offline stand-in")
    monkeypatch.setenv("SET_KEY", "secret-value")
    monkeypatch.delenv("GONE_KEY", raising=False)
    profiles = (
        Profile("Local", url="http://127.0.0.1:11434/v1"),
        Profile("Ring", url="https://ring.test", key_source=KeySource.KEYRING),
        Profile("Set", url="https://set.test", key_source=KeySource.ENVIRONMENT, key_variable="SET_KEY"),
        Profile("Gone", url="https://gone.test", key_source=KeySource.ENVIRONMENT, key_variable="GONE_KEY"),
    )
    Connections(default_profiles_path()).save(ProfileFile(profiles))
    assert answers().ok
    assert answers().message == (
        "offline stand-in, “Local” (127.0.0.1:11434, no key), “Ring” (ring.test, key in the keyring), "
        "“Set” (set.test, key in SET_KEY), “Gone” (gone.test, key in GONE_KEY, which is not set)"
    )
    default_profiles_path().write_text("{}")
    assert not answers().ok
    assert "is not a file of profiles" in answers().message


def test_what_answers_rest_on() -> None:
    """In passing only what a person has to know: an estimate, other rules, today's state, texts as stored, scripts."""
    project = replace(doctor.demo_project(), chat=None)
    assert [each.words for each in doctor.basis_of(project) if each.words] == ["≈ by script"]
    hidden = Chat((Message("Wren", "Hello.", is_system=True), Message("Wren", "Who is there?")))
    said = ChatBasis(history="now", scan_text="stored")
    settings = project.settings.model_copy(update={"rules": "2.6"})
    changed = replace(project, chat=hidden, basis=replace(project.basis, settings=said), settings=settings)
    changed = changed.with_tokenizer("chars/4")
    told = {each.subject: each for each in doctor.basis_of(changed)}
    assert [each.words for each in told.values()] == ["2.6", "≈ chars/4", "as it is now", "texts as stored"]
    assert "1 message that is hidden today counts as hidden all along" in told["History"].sentence
    then = {each.subject: each.sentence for each in doctor.basis_of(replace(changed, basis=project.basis))}
    assert "Since when is only assumed for 1" in then["History"]
    assert "no regex script is known" in then["Texts"]
    assert told["Rules"].sentence == "As DeepLore 2.6 decides, its quirks included."
    other = doctor.basis_of(changed, "hybrid")[0]
    assert (other.words, other.sentence.split(".")[0]) == ("", "As Hybrid retrieval decides")


@pytest.mark.usefixtures("installed")
def test_kept_runs_that_cannot_be_looked_at_are_a_line_of_the_list(homes: Path) -> None:
    """The list ended there, of which this is what it is made for."""
    kept = homes / "xdg_data_home" / "lorestudio" / "runs" / "traces.sqlite"
    kept.parent.mkdir(parents=True)
    kept.symlink_to(kept)
    found = {each.subject: each for each in examine(has_display=False)}
    told = f"{kept.parent} cannot be read (Too many levels of symbolic links). Check its permissions."
    assert found["Kept runs"] == CheckResult("Kept runs", False, told)
    assert found["Display"].ok
