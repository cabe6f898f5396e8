"""Markdown: read back with a CommonMark parser, as GitHub would show it; nothing of others' text does anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt

from formats.hostile import NASTY, reports, texts
from formats.judged import REPORTS, RULES, finding, pair, report
from irdiff.api import Report
from irdiff.model.gate import Judgement, RuleTold, Silenced, Unjudged
from irdiff.present.escape import code, flat, prose
from irdiff.present.markdown import MOST, markdown

GITHUB = MarkdownIt("commonmark", {"html": True}).enable("table")
OURS = {
    "h3",
    "p",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ul",
    "li",
    "code",
    "strong",
    "details",
    "summary",
    "pre",
}
INERT = {"code", "pre"}
MENTION = re.compile(r"@\w|#\d|GH-\d|://|www\.", re.IGNORECASE)


class Page(HTMLParser):
    """Tags with what stands in them, and text by whether GitHub would look for mentions and links in it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.open: list[str] = []
        self.live = ""
        self.codes: list[str] = []
        self.comments: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.open.append(tag)
        if tag == "code":
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        if "code" in self.open:
            self.codes[-1] += data
        if not INERT & set(self.open):
            self.live += data


def shown(text: str) -> Page:
    return Page(GITHUB.render(text))


def assert_inert(text: str) -> Page:
    page = shown(text)
    assert set(page.tags) <= OURS
    assert page.attributes == []
    assert page.open == []
    assert page.comments == [" irdiff "]
    assert not MENTION.search(page.live)
    return page


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_no_text_of_others_becomes_html_a_link_or_a_mention(made: Report) -> None:
    assert_inert(markdown(made))


@settings(deadline=None)
@given(texts)
def test_a_code_span_shows_its_text_and_ends_where_it_should(text: str) -> None:
    for frame in ("x {} y", "| a | b |\n| --- | --- |\n| {} | y |", "- {} y"):
        page = shown(frame.format(code(text)))
        assert len(page.codes) == 1
        assert page.codes[0].split() == flat(text).split()
        assert page.live.split()[-1] == "y"
        assert page.tags.count("td") in (0, 2)


@settings(deadline=None)
@given(texts)
def test_prose_is_the_text_and_nothing_else(text: str) -> None:
    page = shown(f"- {prose(text)}")
    assert " ".join((page.live + " ".join(page.codes)).split()) == " ".join(flat(text).split())
    assert set(page.tags) <= {"ul", "li", "code", "p", "ol"}
    assert not MENTION.search(page.live)


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_the_verdict_is_the_first_thing_read(name: str) -> None:
    page = shown(markdown(REPORTS[name]()))
    assert page.tags[0] == "h3"
    assert page.live.strip().startswith("irdiff check: ")


def many(name: str, message: str, *, kernels: int = 5000, rules: int = 24) -> Report:
    found = tuple(
        finding(
            f"RULE{n % rules:03}",
            f"{name}{n}",
            f"{message}{n}",
            path=f"head/{name}{n}",
            source=f"{name}.py:{n}",
        )
        for n in range(kernels)
    )
    told = {
        f"RULE{n:03}": RuleTold(title=name, level="error", default="error", why=message) for n in range(rules)
    }
    return report(
        [pair(f"{name}{n}") for n in range(kernels)],
        Judgement(
            failed=True,
            unsure=True,
            findings=found,
            unjudged=tuple(
                Unjudged(code="missing-stage", message=f"{message}{n}", kernel=f"{name}{n}")
                for n in range(200)
            ),
            silenced=tuple(
                Silenced(rule="RES101", kernel=name, message=message, why=message) for _ in range(200)
            ),
            rules=told,
        ),
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("triton_poi_fused_add_native_layer_norm_backward_" * 6, "0 → 288 B in loop0 "),
        ("<&|`\"'>" * 60, "`|<&>" * 200),
        ("名前" * 300, "\U0001f600" * 500),
    ],
    ids=["long", "escaped", "wide"],
)
def test_five_thousand_changed_kernels_fit_a_comment(name: str, message: str) -> None:
    text = markdown(many(name, message))
    assert len(text.encode()) < MOST
    assert len(text.encode("utf-16-le")) // 2 < MOST
    page = assert_inert(text)
    assert 1 <= page.tags.count("tr") - 1 <= 20
    assert "that would not fit into a comment" in text


def test_no_rule_is_hidden_behind_another_with_many_kernels() -> None:
    found = [finding("AAA101", f"k{n}", f"{n} → {n + 1}", before=n, after=n + 1) for n in range(100)]
    found.append(finding("ZZZ101", "other", "0 → 1"))
    made = report(
        [pair(f"k{n}") for n in range(100)], Judgement(failed=True, unsure=False, findings=tuple(found))
    )
    text = markdown(made)
    assert text.count("| **error** | `AAA101`") == 19
    assert "| **error** | `ZZZ101`" in text
    assert "And 81 more rows: below." in text
    assert text.count("→") - 20 == 100, "all of AAA101 in the details"


def test_what_could_not_be_judged_stands_above_the_table() -> None:
    text = markdown(REPORTS["everything"]())
    assert text.index("Not judged:") < text.index("| --- |")


def test_every_kind_of_nastiness_is_tried() -> None:
    made = report(
        [pair(word or "k") for word in NASTY],
        Judgement(
            failed=True,
            unsure=False,
            findings=tuple(finding("RES101", word, word, path=word, source=word) for word in NASTY),
            rules=RULES,
        ),
    )
    assert_inert(markdown(made))
