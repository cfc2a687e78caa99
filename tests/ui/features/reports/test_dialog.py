"""What the preview makes of a report's page."""

from __future__ import annotations

from lorestudio.ui.features.reports.dialog import LONGEST_PAGE, preview_html


def test_words_stay_and_what_the_preview_cannot_show_goes() -> None:
    page = (
        "<style>p{}</style><a class='skip' href='#turns'>Skip</a><p>Hear the "
        "<mark class='refine' title='x'>bell</mark>.</p><svg><text>a picture</text></svg>"
        "<span class='who' style='color:var(--ink)'>Bell</span>"
    )
    assert preview_html(page) == ("<p>Hear the <u>bell</u>.</p><span class='who'>Bell</span>", True)


def test_a_long_page_is_cut_between_elements() -> None:
    shown, whole = preview_html("<p>word</p>" * LONGEST_PAGE)
    assert not whole
    assert LONGEST_PAGE - 12 < len(shown) <= LONGEST_PAGE
    assert shown.endswith(("</p>", "word"))


def test_a_page_that_just_fits_is_shown_whole() -> None:
    page = "<p>" + "x" * (LONGEST_PAGE - 7) + "</p>"
    assert preview_html(page) == (page, True)
    assert preview_html(page + "<")[1] is False
