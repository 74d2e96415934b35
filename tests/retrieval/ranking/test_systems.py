"""Systems by name."""

from pathlib import Path

import pytest

from retrieval.errors import ParametersError
from retrieval.ranking.systems import parse_system


@pytest.mark.parametrize(
    "written, name",
    [
        ("bm25", "bm25"),
        (" BM25 ", "bm25"),
        ("bm25:cq2", "bm25"),
        ("bm25:cq1", "bm25:cq1"),
        ("bm25:conv_w2", "bm25:cq3"),
        ("bm25:query_model=current", "bm25:current"),
        ("rrf(bm25+bm25:cq1)", "rrf(bm25+bm25:cq1)"),
        ("rrf( bm25 + bm25:cq3 ):k=10:depth=50", "rrf(bm25+bm25:cq3):k=10:depth=50"),
        ("rrf(bm25+rrf(bm25:cq1+bm25:cq3):k=1)", "rrf(bm25+rrf(bm25:cq1+bm25:cq3):k=1)"),
        ("crown", "balanced"),
        ("balanced:cq3:alpha=0.80:candidates=200", "balanced:cq3:alpha=0.8:candidates=200"),
        ("crown-2020:beta=0", "crown-2020:beta=0"),
        (
            "crown-2020:prior=.7:node=.1:edge=.1:pos=.1",
            "crown-2020:prior=0.7:node=0.1:edge=0.1:pos=0.1",
        ),
        ("crown-2020:prior=0.4:node=0.3:edge=0.2:pos=0.1", "crown-2020"),
        ("rrf(bm25+balanced)", "rrf(bm25+balanced)"),
        ("cross-encoder(bm25):cq1:depth=20", "cross-encoder(bm25):cq1:depth=20"),
    ],
)
def test_a_system_is_named_by_what_differs_from_the_usual(written, name):
    system = parse_system(written, cross_encoder=Path("somewhere"))
    assert system.name == name
    assert parse_system(system.name, cross_encoder=Path("somewhere")) == system


@pytest.mark.parametrize(
    "written, why",
    [
        ("", "There is no system ''"),
        ("bm26", "There is no system 'bm26'. There are, for example: bm25"),
        ("bm25:cq9", "There is no query model 'cq9'. There are cq1, cq2"),
        ("bm25:cq1:cq2", "says query_model twice"),
        ("bm25:alpha=1", "has no option 'alpha'; it has a query model"),
        ("balanced:alpha=2", "alpha: “2” is not in the range from 0.5 to 1"),
        ("balanced:profile=crown-2020", "profile"),
        ("balanced:results=5", "results"),
        ("crown-2020:prior=.7", "weight_node: This weight is missing"),
        ("crown-2020:coverage=.7", "coverage: There is no such option"),
        ("bm25(bm25)", "bm25 takes no systems in brackets"),
        ("rrf(bm25)", "at least two systems"),
        ("rrf", "at least two systems"),
        ("rrf(bm25+bm25:cq2)", "fuses a system with itself"),
        ("rrf(bm25+bm25:cq1):k=0", "k is a whole number from 1 to 1000"),
        ("rrf(bm25+bm25:cq1):k=²", "k is a whole number from 1 to 1000"),
        ("rrf(bm25+bm25:cq1", "brackets"),
        ("rrf(bm25+bm25:cq1))", "brackets"),
        ("bm25)(", "brackets"),
        ("rrf()+bm25", "There is no system"),
        ("rrf(" * 6 + "bm25" + ")" * 6, "brackets in brackets"),
        ("cross-encoder(bm25+bm25:cq1)", "name the one system that it reads"),
        ("bm25" * 200, "at most 500 characters"),
    ],
)
def test_a_name_that_cannot_be_is_refused_in_words(written, why):
    with pytest.raises(ParametersError) as refused:
        parse_system(written, cross_encoder=Path("somewhere"))
    assert why in refused.value.faults["system"]
