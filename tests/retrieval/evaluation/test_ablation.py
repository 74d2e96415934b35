"""Terms left out one by one, and the measurements of paper 001, on a judged set of five passages."""

import json
import math

import pytest
from django.core.management import CommandError

from retrieval.errors import EvaluationError
from retrieval.evaluation.paper_001 import SectionSettings, judged_sets, measure_section
from retrieval.evaluation.report import variants_of, without_weight
from retrieval.ranking.crown import Crown
from retrieval.ranking.parameters import BALANCED, CROWN_2020, Parameters, defaults
from retrieval.ranking.systems import parse_system
from tests.retrieval.evaluation.world import evaluated, judged_set


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return judged_set(tmp_path_factory.mktemp("ablation"))


def test_a_weight_that_is_left_out_leaves_the_others_in_their_proportions():
    """.4 .3 .2 .1 without .4: 3/6, 2/6, 1/6."""
    published = {"prior": 0.4, "node": 0.3, "edge": 0.2, "pos": 0.1}
    assert without_weight(published, "prior") == pytest.approx(
        {"prior": 0, "node": 1 / 2, "edge": 1 / 3, "pos": 1 / 6}
    )
    assert without_weight({"node": 1.0, "edge": 0.0}, "node") == {}


def test_the_published_profile_has_four_terms_and_four_other_query_models():
    found = [variant.change for variant in variants_of(parse_system("crown-2020"))]
    assert found == [
        *("without prior", "without node", "without edge", "without pos"),
        *("with cq1", "with cq2-unweighted", "with cq3", "with current"),
    ]


def test_each_variant_differs_in_one_thing():
    for profile in (BALANCED, CROWN_2020):
        whole = defaults(profile)
        for variant in variants_of(Crown(whole)):
            mine = variant.ranker.parameters
            assert (mine.alpha, mine.beta, mine.candidates) == (whole.alpha, whole.beta, whole.candidates)
            assert math.fsum(mine.weights.values()) == pytest.approx(1)
            assert (mine.query_model == whole.query_model) == (variant.kind == "weight")


def test_a_weight_of_nothing_is_not_left_out_again():
    weights = {"prior": 0.5, "node": 0.5, "edge": 0, "pos": 0}
    only = Parameters.of({"profile": CROWN_2020, "weights": weights})
    changes = [variant.part for variant in variants_of(Crown(only)) if variant.kind == "weight"]
    assert changes == ["prior", "node"]


def test_the_command_reports_every_variant_against_the_whole_system(folder):
    shown, report = evaluated(folder, systems="bm25,crown-2020", ablate=True)
    bm25, crown = report["ablations"]
    assert (bm25["system"], crown["system"]) == ("bm25", "crown-2020")
    assert [row["change"] for row in crown["rows"]][:2] == ["without prior", "without node"]
    assert {row["kind"] for row in bm25["rows"]} == {"query model"}
    whole = crown["means"]["nDCG@10"]
    for row in crown["rows"]:
        difference = row["differences"]["nDCG@10"]["difference"]
        assert row["means"]["nDCG@10"] - whole == pytest.approx(difference)
    assert "Ablations of crown-2020, nDCG@10" in shown
    assert [each["name"] for each in report["systems"]] == ["bm25", "crown-2020"]


def test_a_variant_gives_what_its_weights_give_by_name(folder):
    """Without prior and without edge and pos are systems that can be asked for by name, too."""
    name = "crown-2020:prior=0:node=0.5:edge=0.333333:pos=0.166667"
    _, report = evaluated(folder, systems=f"crown-2020,{name}", ablate=True)
    by_name = next(each["means"] for each in report["systems"] if each["name"] == name)
    [row] = [row for row in report["ablations"][0]["rows"] if row["change"] == "without prior"]
    assert row["means"] == by_name


def test_systems_without_terms_are_refused(folder):
    with pytest.raises(CommandError, match="--systems names none of them"):
        evaluated(folder, systems="rrf(bm25+crown-2020)", ablate=True)


def test_the_section_of_paper_001_has_the_papers_settings(folder):
    rows = measure_section(folder)
    assert [row["system"] for row in rows.profiles] == ["bm25", "crown-2020"] * 2
    assert [row["system"] for row in rows.models] == [f"crown-2020:{name}" for name in ("cq1", "cq2", "cq3")]
    assert [row["system"].removeprefix("crown-2020 without ") for row in rows.terms] == [
        "prior",
        "node",
        "edge",
        "pos",
    ] * 2
    json.dumps([*rows.profiles, *rows.models, *rows.terms], allow_nan=False)


def test_sets_lie_in_a_folder_or_in_folders_of_it(folder, tmp_path):
    assert judged_sets(folder) == [folder]
    (tmp_path / "b").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "c").mkdir()
    judged_set(tmp_path / "b", conversations__jsonl="")
    judged_set(tmp_path / "a")
    assert [path.name for path in judged_sets(tmp_path)] == ["a", "b"]
    with pytest.raises(EvaluationError, match="no judged set"):
        judged_sets(tmp_path / "c")
    rows = measure_section(tmp_path / "b", SectionSettings(draws=99, most=1))
    assert (list(rows.models), {row["set"] for row in rows.profiles}) == ([], {"b queries"})


@pytest.mark.parametrize(
    ("gone", "answer"),
    [(["passages"], "no passages.jsonl"), (["queries", "conversations"], "no queries.jsonl")],
)
def test_a_set_that_lacks_a_file_says_which(gone, answer, tmp_path):
    judged_set(tmp_path)
    for name in gone:
        (tmp_path / f"{name}.jsonl").unlink()
    with pytest.raises(EvaluationError, match=answer):
        measure_section(tmp_path)
