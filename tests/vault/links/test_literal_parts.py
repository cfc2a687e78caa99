from __future__ import annotations

import pytest

from lorestudio.vault.links.references import inside, literal_parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain [[A]]", []),
        ("a `b` c", ["`b`"]),
        ("a ``b ` c`` d", ["``b ` c``"]),
        ("a `b\nc` d", ["`b\nc`"]),
        ("a `b\n\nc` d", []),
        ("no end ` here", []),
        (r"an escaped \` and ` alone", []),
        ("```\n[[A]]\n```\nb", ["```\n[[A]]\n```"]),
        ("```py\nx\n````\nb", ["```py\nx\n````"]),
        ("````\n```\nx\n````", ["````\n```\nx\n````"]),
        ("~~~\nx\n```\n~~~", ["~~~\nx\n```\n~~~"]),
        ("```\nnever closed", ["```\nnever closed"]),
        ("> ```\n> x\n> ```\ny", ["> ```\n> x\n> ```"]),
        ("- ```\n  x\n  ```\ny", ["- ```\n  x\n  ```"]),
        ("```not a fence``` but code", ["```not a fence```"]),
        ("a %%b [[c]]\nd%% e", ["%%b [[c]]\nd%%"]),
        ("50 %% of", []),
        ("a <!-- b\nc --> d", ["<!-- b\nc -->"]),
        ("<!-- open", []),
        ("`%%` [[A]] %%", ["`%%`"]),
        ("```\r\nx\r\n```\r\ny", ["```\r\nx\r\n```\r"]),
    ],
)
def test_literal_parts(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in literal_parts(text)] == expected


def test_from_a_place_on() -> None:
    text = "`a` `b`"
    assert literal_parts(text, 3) == [(4, 7)]


def test_inside() -> None:
    parts = [(2, 4), (6, 9)]
    assert [inside(parts, place) for place in range(10)] == [
        False, False, True, True, False, False, True, True, True, False,
    ]  # fmt: skip
