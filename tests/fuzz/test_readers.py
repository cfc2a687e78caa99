"""Whatever a file holds, its reader takes it or refuses it with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.records import replace
from tests.examples import examples
from tests.fuzz.inputs import give, one
from tests.fuzz.readers import ALL, Reader

CASES = Path(__file__).parent / "cases"
BY_NAME = {reader.name: reader for reader in ALL}


@pytest.mark.parametrize("reader", ALL, ids=BY_NAME)
def test_every_seed_is_taken(reader: Reader) -> None:
    for seed in reader.seeds:
        give(replace(reader, refuses=()), seed)


@pytest.mark.long
@pytest.mark.parametrize("reader", ALL, ids=BY_NAME)
@given(number=st.integers(0, 2**32))
@settings(max_examples=examples(100))
def test_no_damage_ends_in_another_error(reader: Reader, number: int) -> None:
    give(reader, one(reader, number))


@pytest.mark.parametrize("case", sorted(CASES.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_a_reader_once_failed_at(case: Path) -> None:
    give(BY_NAME[case.parent.name], case.read_bytes())
