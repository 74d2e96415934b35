"""The report that stands alone: its answer, its tables, and that it needs nothing and believes nobody."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from evaluations.report.model import read_report
from evaluations.report.page import context_of, page_of
from evaluations.table_evaluation import NONE, Points
from tests.evaluations.reports import NAMES, WHY, make_points, make_report
from tests.scale import TEST_ALL

HOSTILE = "<script>alert(1)</script>"
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Outline(HTMLParser):
    """Elements as they open and close; what is left open, and every id and address."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def named(self, attribute: str) -> list[str]:
        return [value for _, name, value in self.attributes if name == attribute]


def words(page: str) -> str:
    """What is read on a page, tables and all, without the style sheet and the drawings."""
    page = re.sub(r"<style>.*?</style>|<svg.*?</svg>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def cases() -> dict[str, tuple[dict[str, Any], Points]]:
    plain = make_report()
    many = make_report(
        {f"metric-{at}": 0.5 - at / 100 for at in range(40)},
        systems=[f"system {at}" for at in range(30)],
        types=[f"type {at}" for at in range(9)],
    )
    hostile = make_report(
        {HOSTILE: 0.4, "=1+1": 0.3, "a\x00\x0b\u202eb\ufffe": 0.1},
        systems=["<img src=x onerror=alert(1)>", "</style>", "\U0001f600"],
        types=["<b>x</b>", "]]>"],
        title="</title><script>",
        warnings=["<script>warned()</script>"],
    )  # fmt: skip
    nulls = make_report(dict.fromkeys(NAMES))
    return {
        "an ordinary report": (plain, make_points(plain)),
        "one without points": (plain, NONE),
        "forty metrics and thirty systems": (many, make_points(many, 40)),
        "hostile names": (hostile, make_points(hostile, 40)),
        "nulls everywhere": (nulls, make_points(nulls, 40)),
        "one metric": (make_report({"meteor": 0.4}), make_points(make_report({"meteor": 0.4}), 40)),
        "no metric": ({"metrics": {}}, NONE),
        "nothing at all": ({}, NONE),
    }


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {
        name: page_of(read_report(report), points)
        for name, (report, points) in cases().items()
        if name in EVERY
    }


#: The page of forty metrics takes as long as all others.
EVERY = [name for name in cases() if TEST_ALL or not name.startswith("forty")]


@pytest.mark.parametrize("case", EVERY)
def test_every_report_is_a_whole_document_that_needs_nothing_from_elsewhere(pages, case):
    outline = Outline(pages[case])
    assert (outline.open, outline.wrong) == ([], [])
    assert outline.seen[:2] == ["html", "head"]
    ids = outline.named("id")
    assert len(ids) == len(set(ids))
    assert not {"script", "link", "img", "iframe", "object", "use", "image"} & set(outline.seen)
    assert not outline.named("src")
    assert all(address.startswith("#") for address in outline.named("href"))
    assert not any(name.startswith("on") for _, name, _ in outline.attributes)
    assert not re.search(r"https?://|//[a-z]|url\(|@import", pages[case])
    assert {address[1:] for address in outline.named("href")} <= set(ids)
    assert not re.search(r"\bnan\b|\bNone\b|\binf\b", words(pages[case]))


def test_the_answer_comes_first_then_every_metric_by_its_agreement_and_how_it_was_made(pages):
    page = pages["an ordinary report"]
    said = words(page)
    first = (
        "Of 5 metrics METEOR agrees best with people: .422 [.362, .482] over 900 answers (Pearson, global)."
    )
    assert first in said
    assert said.index(first) < said.index("How well each metric agrees with people")
    main = re.search(r"<table.*?</table>", page[page.index('id="h-metrics"') :], re.DOTALL)
    assert main
    assert re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', main[0]) == [
        "METEOR", "BLEU-1", "ROUGE-L", "CIDER", "BLEU-4", "-|length difference|", "Length",
        "people, leave one rater out", "people, split half",
    ]  # fmt: skip
    read = said.replace("\u00a0", " ")
    assert ".480] n = 900" in read
    assert "% [" in read
    assert "] n = 855" in read  # pairs of answers
    for part in ("Seed 7", "9,999", "metric:bleu-1|v:1|tok:ptb", "numpy 2.4.0", "capitals/1.0.0"):
        assert part in said
    assert "@media (prefers-color-scheme: dark)" in page


def test_a_missing_figure_leads_to_the_reason(pages):
    page = pages["nulls everywhere"]
    assert f'<a class="why" href="#why-1" title="{WHY}">' in page
    assert f'<li id="why-1">{WHY.capitalize()}.</li>' in page


def test_hostile_names_are_text(pages):
    page = pages["hostile names"]
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<img" not in page
    assert page.count("</style>") == 1
    head, _, body = page.partition("<body")
    assert head.count("</title>") == 1
    assert body.count("</title>") == body.count("<title>")  # whole names beside plots
    assert not re.search("[\x00-\x08\x0b\x0e-\x1f\u202e\ufffe]", page)


def test_every_plot_has_words_a_caption_and_a_table(pages):
    page = pages["an ordinary report"]
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert len(figures) == 16
    for figure in figures:
        said = re.search(r'role="img" aria-label="([^"]{20,})"', figure)
        assert said
        assert f"<figcaption>{said[1]}" in figure
        assert "<table" in figure


@pytest.mark.long
def test_forty_metrics_make_a_page_that_can_be_sent():
    report, points = cases()["forty metrics and thirty systems"]
    assert len(page_of(read_report(report), points)) < 3_000_000


def test_the_same_report_gives_the_same_page_and_the_desk_gets_its_parts():
    report = make_report({"meteor": 0.4, "bleu-1": 0.3})
    points = make_points(report, 50)
    page = page_of(read_report(report), points)
    assert page == page_of(read_report(report), points)
    shown = context_of(read_report(report), points)
    assert shown["sentence"].startswith("Of 2 metrics METEOR agrees best")
    assert set(shown["figures"]) == {
        "correlation", "significance", "scatter", "types", "systems", "length_bias",
    }  # fmt: skip
    contents = page.split('aria-label="On this page"')[1].split("</nav>")[0]
    entries = re.findall(r'href="#(h-[a-z]+)"', contents)
    assert entries[0] == "h-metrics"
    assert [name for name in entries if f'id="{name}"' not in page] == []
