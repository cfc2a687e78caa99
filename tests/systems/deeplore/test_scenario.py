from __future__ import annotations

import json
import re
from collections import Counter
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.report.page import Format, ReportPrompts, report_text
from lorestudio.studio.report.pictures import budget_svg, flow_svg, lay_out
from lorestudio.studio.report.source import ReportSource, ReportTurn, found_keys, gather, without_words
from lorestudio.trace.budget import budget_view
from lorestudio.trace.flow import SANKEY_FROM, Measure, flow
from lorestudio.trace.model import Phase, Trace
from lorestudio.trace.storage.serialize import from_json
from lorestudio.trace.summary import summary
from tests.studio.report.worlds import replayed
from tests.trace.examples import ADDED, ENTRIES, OATH, REFUSED, REMOVED, SKARN, ref, stage, story, trace, verdict

VOID = {"meta", "link", "br", "img", "input", "hr", "col"}


@pytest.fixture(scope="module")
def demo() -> Simulator:
    return replayed(demo_project())


class Page(HTMLParser):
    """Checks that every element is closed, and collects what a test asks about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.counts: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.counts[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.counts[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_a_turn_as_a_page_tells_the_run(demo: Simulator) -> None:
    generation = demo.generations[-1]
    ran = demo.traces[generation]
    page = Page(report_text(gather(demo.project, demo.traces, generation), Format.HTML))
    text = "".join(page.words)
    assert summary(ran) in text
    for injection in ran.injections:
        assert injection.title in text
    for setting in ("Token budget", "Recursive scan"):
        assert setting in text
    assert ran.prompt[0].text[:40] in text


def test_a_page_needs_nothing_from_elsewhere(demo: Simulator) -> None:
    for chosen in (demo.generations[-1], None):
        page = Page(report_text(gather(demo.project, demo.traces, chosen), Format.HTML))
        assert not {"script", "link", "img", "iframe", "object"} & set(page.counts)
        assert not [value for _tag, name, value in page.attributes if name in {"src", "data"} or name.startswith("on")]
        assert all(value.startswith("#") for _tag, name, value in page.attributes if name == "href")
        assert not re.search(r"url\((?!#)|@import", "".join(page.words))


def test_a_page_can_be_read_by_a_screen_reader(demo: Simulator) -> None:
    page = Page(report_text(gather(demo.project, demo.traces), Format.HTML))
    assert ("html", "lang", "en") in page.attributes
    assert page.counts["h1"] == 1
    assert page.counts["main"] == 1
    assert page.counts["caption"] == page.counts["table"] > 0
    columns = [name for tag, name, _value in page.attributes if tag == "th"]
    assert columns.count("scope") == page.counts["th"]
    pictures = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert len(pictures) == page.counts["svg"] > 0
    assert all(len(words) > 10 for words in pictures)
    anchors = {value for _tag, name, value in page.attributes if name == "id"}
    links = {value[1:] for _tag, name, value in page.attributes if name == "href"}
    assert links <= anchors


def test_markup_in_the_vault_is_text(tmp_path: Path) -> None:
    page = report_text(gather(demo_project(), {Generation(12, 0): _hostile()}), Format.HTML)
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    markdown = report_text(gather(demo_project(), {Generation(12, 0): _hostile()}), Format.MARKDOWN)
    assert "\\<script\\>" in markdown


def _hostile() -> Trace:
    title = "<script>alert(1)</script>"
    made = story()
    injections = (replace(made.injections[0], title=title), *made.injections[1:])
    return replace(made, entries={**ENTRIES, SKARN: ref(SKARN, title, 10, 300)}, injections=injections)


def test_found_keys_are_marked_in_the_messages(demo: Simulator) -> None:
    generation = next(each for each in demo.generations if found_keys(demo.traces[each]))
    source = gather(demo.project, demo.traces, generation)
    marked = [message for message in source.turns[0].messages if message.marks]
    assert marked
    keys = {
        str(verdict.details.get(name)).casefold()
        for record in demo.traces[generation].stages
        for verdict in record.verdicts
        for name in ("key", "refine_key")
    }
    for message in marked:
        for mark in message.marks:
            assert message.text[mark.start : mark.end].casefold() in keys
    page = report_text(source, Format.HTML)
    assert page.count("<mark") == sum(len(message.marks) for message in marked)


def test_refine_keys_are_marked_apart_and_every_mark_says_whose_it_is() -> None:
    details = {"key": "oath", "message": 0, "start": 0, "end": 4, "refine_key": "king"}
    hit = verdict(SKARN, ADDED, "key_hit", **details, refine_message=0, refine_start=9, refine_end=13)
    short = {"key": "oath", "message": 0, "start": 0, "end": 4, "refine_keys": ["x"], "searched": 4}
    stages = (stage("keywords", Phase.MATCH, (), (SKARN,), hit, verdict(OATH, REFUSED, "refine_blocked", **short)),)
    both, king = found_keys(trace(entries=ENTRIES, stages=stages))[0]
    assert (both.start, both.refine, both.lacking) == (0, False, False)  # for one of the two it was enough
    assert both.words.startswith("Key of “Skarn”. Key of “Oath”. None of its refine keys (“x”)")
    assert (king.start, king.end, king.refine, king.words) == (9, 13, True, "Refine key of “Skarn”.")


def test_the_whole_chat_has_a_table_of_contents_and_the_prompts(demo: Simulator) -> None:
    source = gather(demo.project, demo.traces)
    text = report_text(source, Format.HTML)
    assert text.count("<section class='turn'") == len(demo.traces)
    assert "All turns" in text
    assert text.count("What was handed over") == sum(bool(ran.prompt) for ran in demo.traces.values())
    for ran in demo.traces.values():
        assert escape(ran.injections[0].title) in text
    redacted = report_text(without_words(source), Format.HTML)
    assert redacted.count("What was handed over") == text.count("What was handed over")


def test_prompts_that_are_too_much_are_left_out_from_the_oldest_on_and_said(demo: Simulator) -> None:
    source = gather(demo.project, demo.traces)
    prompts = ReportPrompts(source, most=len("".join(block.text for block in source.turns[-1].trace.prompt)))
    told = [prompts.html(turn.trace, {}, "a") for turn in source.turns]
    assert "What was handed over" in told[-1]
    assert "Left out for the size" in told[0]
    left = sum("Left out" in html for html in told)
    assert 0 < left < len(told)
    assert f"the {left} oldest turns" in prompts.left_out
    assert ReportPrompts(source).left_out == ""


def test_a_block_that_stood_in_an_earlier_turn_is_written_once(demo: Simulator) -> None:
    turn = gather(demo.project, demo.traces, demo.generations[-1]).turns[0]
    block = replace(turn.trace.prompt[0], text="The same long text. " * 20, parts=())
    ran = replace(turn.trace, prompt=(block,))
    later = replace(ran, turn=replace(ran.turn, message=99))
    prompts = ReportPrompts(ReportSource("v", "c", (ReportTurn(ran), ReportTurn(later))))
    assert "The same long text." in prompts.html(ran, {}, "first")
    again = prompts.html(later, {}, "second")
    assert "The same long text." not in again
    assert "href='#first'" in again


def test_markdown_and_text_and_json(demo: Simulator) -> None:
    generation = demo.generations[-1]
    source = gather(demo.project, demo.traces, generation)
    assert report_text(source, Format.MARKDOWN).startswith("# Lore report: vault\n")
    assert summary(demo.traces[generation]) in report_text(source, Format.TEXT)
    value = json.loads(report_text(source, Format.JSON))
    assert from_json(value["turns"][0]["trace"]) == demo.traces[generation]
    redacted = json.loads(report_text(without_words(source), Format.JSON))
    assert from_json(redacted["turns"][0]["trace"]).total_tokens == demo.traces[generation].total_tokens


def test_a_generation_that_was_not_run_is_refused(demo: Simulator) -> None:
    with pytest.raises(ValueError, match="has not been run"):
        gather(demo.project, {}, Generation(2, 0))


@pytest.mark.parametrize(
    ("name", "wanted"), [("a.html", Format.HTML), ("a.HTM", Format.HTML), ("b.md", Format.MARKDOWN)]
)
def test_the_name_decides_the_format(name: str, wanted: Format) -> None:
    assert Format.of(Path(name)) is wanted


def test_another_ending_is_refused() -> None:
    with pytest.raises(InputError, match="ending"):
        Format.of(Path("report.pdf"))


# ---- pictures -------------------------------------------------------------------------------------------------------


def test_ribbons_are_as_wide_as_what_they_stand_for(demo: Simulator) -> None:
    for ran in (*demo.traces.values(), leaky()):
        stream = flow(ran)
        for measure in Measure:
            picture = lay_out(stream, measure, 700)
            shapes = [shape for row in picture.rows for shape in row.ribbons]
            assert all(picture.trunk_at - 1e-6 <= each.near <= each.far <= picture.labels_at for each in shapes)
            for row in picture.rows:
                assert row.box.top + row.box.height <= picture.height
                scale = (picture.labels_at - picture.trunk_at - 34) / stream.widest(measure)
                assert row.trunk[-1].width == pytest.approx(scale * row.stage.amount(measure))
                for shape in row.ribbons:
                    assert shape.far - shape.near == pytest.approx(scale * shape.ribbon.amount(measure))


def leaky() -> Trace:
    """Four stages, and each drops an entry."""
    everyone = list(ENTRIES)
    names = ("contextual gating", "requires and excludes", "duplicate stripping", "budget")
    reasons = ("gated_field", "excluded_by", "already_in_context", "over_budget")
    stages = [
        stage(name, Phase.GATE, everyone[place:], everyone[place + 1 :], verdict(everyone[place], REMOVED, reason))
        for place, (name, reason) in enumerate(zip(names, reasons, strict=True))
    ]
    return trace(entries=ENTRIES, stages=tuple(stages))


def test_four_stages_that_drop_make_a_flow() -> None:
    assert flow(leaky()).dropping == SANKEY_FROM
    picture = flow_svg(flow(leaky()), Measure.ENTRIES)
    assert picture.count("class='ribbon'") == 4
    assert "−1 Cut by the budget" in picture


def test_pictures_are_whole_files() -> None:
    for picture in (
        flow_svg(flow(leaky()), Measure.TOKENS, alone=True),
        flow_svg(flow(story()), Measure.ENTRIES, alone=True),
    ):
        root = ET.fromstring(picture)  # noqa: S314 - made here
        assert root.tag.endswith("svg")
        assert "var(" not in picture
        assert root.attrib["aria-label"]


def test_a_flow_is_drawn_only_where_enough_stages_drop_something() -> None:
    assert flow(story()).dropping < SANKEY_FROM
    assert "class='ribbon'" not in flow_svg(flow(story()), Measure.ENTRIES)
    assert "Oath" in budget_svg(budget_view(story()))
