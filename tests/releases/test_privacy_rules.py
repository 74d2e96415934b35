"""What the rules of the privacy check find in a text, and what they leave alone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from releases.privacy import Finder, excerpt, parts

ROOT = Path(__file__).resolve().parent.parent.parent
FINDER = Finder(["A3QIQQ3OVX2YTF", "anna-walker", "p01", "17", "12345", "654321"])


def found(text: str, finder: Finder = FINDER) -> list[tuple[str, str]]:
    """Rule and what it found."""
    return [(span.rule, text[span.start : span.end]) for span in finder.find(text)]


@pytest.mark.parametrize(
    ("text", "rule", "span"),
    [
        ("ask jane.doe+x@example.co.uk, please", "email", "jane.doe+x@example.co.uk"),
        ("jane\uff20example.org", "email", "jane\uff20example.org"),
        ("jane [at] example [dot] org", "email", "jane [at] example [dot] org"),
        ("jane(at)example.org!", "email", "jane(at)example.org"),
        ("call (212) 555-0100 now", "phone", "(212) 555-0100"),
        ("+1 (212) 555-0100", "phone", "+1 (212) 555-0100"),
        ("it is +44 20 7946 0958.", "phone", "+44 20 7946 0958"),
        ("+49 (0)30 12345678", "phone", "+49 (0)30 12345678"),
        ("0049 30 1234567", "phone", "0049 30 1234567"),
        ("1-800-555-0199", "phone", "1-800-555-0199"),
        ("212.555.0100", "phone", "212.555.0100"),
        ("(030) 1234567", "phone", "(030) 1234567"),
        ("01 23 45 67 89", "phone", "01 23 45 67 89"),
        ("13812345678 是他的电话", "phone", "13812345678"),
        ("我的电话\uff1a62785001", "phone", "62785001"),
        ("٠٣٠ ١٢٣٤ ٥٦٧٨", "phone", "٠٣٠ ١٢٣٤ ٥٦٧٨"),
        ("tel: 555-0100", "phone", "555-0100"),
        ("text me at 2125550100", "phone", "2125550100"),
        ("written by A3QIQQ3OVX2YTF, ok", "worker-id", "A3QIQQ3OVX2YTF"),
        ("a3qiqq3ovx2ytf", "worker-id", "a3qiqq3ovx2ytf"),
        ("I am A2SUAM1J3GNN3B", "worker-id", "A2SUAM1J3GNN3B"),
        ("Anna-Walker said so", "worker-id", "Anna-Walker"),
        ("by p01.", "worker-id", "p01"),
        ("I am 654321", "worker-id", "654321"),
        ("see twitter.com/jane_doe", "profile", "twitter.com/jane_doe"),
        ("https://bob:pw@host.org/x", "profile", "https://bob:pw@host.org"),
        ("http://cs.example.edu/~smith/papers", "profile", "http://cs.example.edu/~smith"),
    ],
)
def test_what_may_tell_who_a_person_is_is_found(text, rule, span):
    assert found(text) == [(rule, span)]


@pytest.mark.parametrize(
    "text",
    [
        "from 1990-2000",
        "1914-18 and 1939-45",
        "1914 1918 1939 1945",
        "it costs $2125550100",
        "about 2125550100 people",
        "0306406152",  # an ISBN-10 by its check digit
        "ISBN 978-3-16-148410-0",
        "ISBN: 0-19-852663-6",
        "12.05.1984 10:30",
        "2026-11-21 12:49:10",
        "05-06-2014 15:00",
        "version 10.15.7 of 3.11.12",
        "192.168.100.100",
        "1,234,567,890",
        "299 792 458 m/s",
        "3.14159265358979",
        "51.5074, -0.1278",
        "population 331449281",
        "pages 123-1245",
        "RFC 0791 2460 8200",
        "call it 1984 or 2001",
        "@ 5 dollars each",
        "twitter.com/search",
        "ANTIDISESTABLISHMENT",
        "17 of 12345",  # ids of a few digits are everyday numbers
        "p012 and anna walker",
        "",
    ],
)
def test_ordinary_numbers_and_words_are_left_alone(text):
    assert found(text) == []


def test_two_people_in_one_text_are_two_findings_and_none_overlaps_another():
    text = "a@b.org or c@d.org, tel. 030 1234 5678; https://github.com/jane"
    assert [rule for rule, _ in found(text)] == ["email", "email", "phone", "profile"]
    said = excerpt("x" * 500 + "\u202e\na@b.org" + "y" * 500, 502, 509)
    assert said == "…" + "x" * 58 + "  a@b.org" + "y" * 60 + "…"
    assert parts(said, 502, 509).found == "a@b.org"


def test_the_sample_texts_have_one_address_and_no_number_of_anybody():
    texts = list(_texts())
    hits = [hit for text in texts for hit in found(text)]
    assert hits == [("email", "anna.miller@example.org")]
    assert len(texts) > 3000


def _texts() -> Iterator[str]:
    for folder in ("annotation/sample", "judgments/sample"):
        for path in sorted((ROOT / folder).glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                yield from _walk(json.loads(line))


def _walk(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _walk(each)


def test_long_runs_of_one_character_take_no_time_to_speak_of():
    for piece in ("a", "1", "a.", "+1 ", "(", "1-", "@", "a@", "x.com/", "http://", "A1", "[at]"):
        FINDER.find(piece * 20_000)


@given(st.text(max_size=80), st.data())
def test_an_excerpt_falls_apart_where_its_finding_is(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    before, hit, after = parts(excerpt(text, start, end), start, end)
    assert len(hit) == end - start
    assert f"{before}{hit}{after}" == excerpt(text, start, end)
    if text.isprintable():
        assert hit == text[start:end]
