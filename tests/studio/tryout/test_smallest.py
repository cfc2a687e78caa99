from hypothesis import given
from hypothesis import strategies as st

from lorestudio.studio.tryout.why_not import smallest


@given(st.integers(0, 300), st.integers(0, 320))
def test_the_least_that_is_enough_is_found_with_few_questions(count, enough):
    asked = []

    def attempt(number):
        asked.append(number)
        return f"at {number}" if number >= enough else None

    found = smallest(range(count), attempt)

    assert found == ((enough, f"at {enough}") if enough < count else None)
    assert len(asked) <= 2 * count.bit_length() + 2


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_what_is_found_works_and_the_step_before_it_does_not(works):
    found = smallest(range(len(works)), lambda number: number if works[number] else None)

    if found is None:
        assert not works[0]
        assert not works[-1]
    else:
        place, result = found
        assert result == place
        assert works[place]
        assert place == 0 or not works[place - 1]
