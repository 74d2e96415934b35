"""`manage.py paper`: every table and figure of five papers, beside the printed one or with a reason."""

import csv
import io
import json
from collections import defaultdict
from functools import cache
from itertools import permutations
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from django.core.management import CommandError, call_command

import examples
from distillery_learned.papers.report import (
    MODULES,
    PaperData,
    PaperItem,
    PaperSettings,
    PaperSource,
    build_report,
    compared,
    not_made,
    paper_named,
    render_markdown,
    sample_sources,
)
from evaluations.errors import EvaluationError
from evaluations.file_table import open_table
from metrics.agreement.data import ratings_of
from metrics.agreement.recipes import named
from metrics.catalogue import metric
from metrics.scoring import score
from metrics.texts import Answers
from tests.evaluations.release_folders import as_release
from tests.repository import ROOT

#: All tables and figures that the papers number.
NUMBERED = {
    "000": ["Figure 1", "Table 1", "Table 2"],
    "001": [f"Figure {at}" for at in range(1, 9)],
    "002": [*(f"Figure {at}" for at in range(1, 7)), *(f"Table {at}" for at in range(1, 11))],
    "003": ["Figure 1", "Figure 2", "Table 1", "Table 2", "Table 3"],
    "004": [*(f"Figure {at}" for at in range(1, 8)), *(f"Table {at}" for at in range(1, 15))],
}
#: Two take longer than the others together: one compares curves, the other searches for passages.
SAMPLES = [
    pytest.param(number, marks=pytest.mark.long if number in {"000", "001"} else ()) for number in MODULES
]
KEYS = {"name", "status", "reason", "rows", "printed", "differs"}


def run(*words):
    out = io.StringIO()
    call_command("paper", *map(str, words), stdout=out)
    return out.getvalue()


def table(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


@cache
def sample_report(number):
    """The report of a paper's sample."""
    paper = paper_named(number)
    return build_report(paper, PaperData(sample_sources(paper), sample=True), PaperSettings(version="test"))


@pytest.mark.parametrize("number", list(MODULES))
def test_every_table_and_figure_of_a_paper_has_an_item(number):
    assert set(NUMBERED[number]) <= set(paper_named(number).items)


@pytest.mark.parametrize("number", SAMPLES)
def test_each_item_is_the_same_or_differs_because_or_cannot_be_made_because(number):
    report = sample_report(number)
    assert [item.name for item in report.items] == list(paper_named(number).items)
    for item in report.items:
        if item.status == "made":
            assert item.rows
            assert item.differs == "same" or (
                item.differs.startswith("differs by ") and " because " in item.differs
            )
        else:
            assert item.reason.startswith("cannot be made from this data because ")


@pytest.mark.parametrize("number", SAMPLES)
def test_the_reports_of_the_documentation_are_what_the_samples_give(number):
    """Write them again with `make papers`."""
    page = ROOT / "docs" / "papers" / f"{number}.md"
    assert page.read_text(encoding="utf-8") == render_markdown(sample_report(number))


@pytest.mark.parametrize("number", SAMPLES)
def test_every_sample_with_ratings_says_that_programs_gave_them(number):
    assert bool(sample_report(number).simulated) == (number != "001")


@pytest.mark.long
def test_the_printed_example_gives_the_papers_own_pa_bleu():
    table = next(item for item in sample_report("000").items if item.name == "Table 2")
    assert [row["pa-BLEU"] for row in table.rows] == [0.17, 0.02, 0.04, 0.01, 0.03]
    assert [row["BLEU"] for row in table.rows][2:] == [0.36, 0.85, 1.0]


@pytest.mark.long
def test_a_curve_of_references_rises_to_all_of_them():
    item = next(item for item in sample_report("000").items if item.name == "Section 5, references")
    curve = {row["references"]: row["pearson"] for row in item.rows if row["metric"] == "pa-BLEU"}
    assert list(curve) == [1, 2, 3, 4, 5, 6, 8]
    assert curve[8] > curve[1]


def rows_of(number):
    """The rows of a paper's sample, read without our own readers."""
    text = (Path(examples.__file__).parent / "papers" / f"{number}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def item_of(number, name):
    return next(item for item in sample_report(number).items if item.name == name)


def test_two_annotators_agree_as_numpy_says():
    found = {row["of"]: row["PCC"] for row in item_of("003", "Table 1").rows}
    for of, kind in (("Yes-No", "yes-no"), ("Entity", "entity"), ("Overall", "")):
        rows = [row for row in rows_of("003") if row["type"] == kind or not kind]
        first, second = ([float(row[name]) for row in rows] for name in ("rating1", "rating2"))
        assert found[of] == pytest.approx(np.corrcoef(first, second)[0, 1])


def test_all_but_two_printed_figures_of_the_examples_of_003_come_out():
    item = item_of("003", "Examples 1 to 4")
    apart = {
        (row["example"], row["figure"]): printed["value"]
        for row in item.rows
        for printed in item.printed
        if all(row[key] == printed[key] for key in ("example", "figure"))
        and abs(row["value"] - printed["value"]) > 0.005
    }
    assert apart == {("3", "vanilla ROUGE-L"): 0.59, ("3", "adapted ROUGE-L"): 0.78}


def test_curves_begin_at_weight_0_and_pass_the_figures_of_table_2():
    table = {row["metric"]: row for row in item_of("003", "Table 2").rows}
    for name, weight, own, kind in (("Figure 1", "alpha", 2, "Yes-No"), ("Figure 2", "beta", 1, "Entity")):
        rows = item_of("003", name).rows
        points = {(row["metric"], row[weight]): row["PCC"] for row in rows}
        for name_of in ("ROUGE-L", "BLEU-4"):
            assert points[f"Adapted {name_of}", 0] == pytest.approx(table[name_of][kind])
            assert points[f"Adapted {name_of}", own] == pytest.approx(table[f"Adapted {name_of}"][kind])


def quadratic_kappa(pairs):
    """Cohen's kappa with quadratic weights, written out."""
    observed = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
    expected = sum((a - b) ** 2 for a, _ in pairs for _, b in pairs) / len(pairs) ** 2
    return 1 - observed / expected


def test_the_median_kappa_of_004_is_that_of_its_definition():
    kappas = defaultdict(list)
    for one, other in permutations([f"rating{k}" for k in range(1, 5)], 2):
        rows = [row for row in rows_of("004") if row[one] and row[other]]
        kappas[one].append(quadratic_kappa([(int(row[one]), int(row[other])) for row in rows]))
    row = item_of("004", "Table 2").rows[0]
    assert row["kappa"] == pytest.approx(median(median(each) for each in kappas.values()))


def test_systems_of_004_lie_where_the_means_of_their_ratings_are():
    ratings = defaultdict(list)
    for row in rows_of("004"):
        ratings[row["system"]].append(
            np.mean([int(row[f"rating{k}"]) for k in range(1, 5) if row[f"rating{k}"]])
        )
    points = item_of("004", "Figure 4").rows
    assert {point["system"]: point["human"] for point in points} == {
        system: pytest.approx(np.mean(each)) for system, each in ratings.items()
    }
    left_out = item_of("004", "Table 5").rows
    removed = {row["removed"] for row in left_out if row["metric"] == "ROUGE"}
    assert removed == {*ratings, "Average", "at random"}


def report_by_aspect(folder, aspects):
    """Rows of a release of 20 responses by 4 workers with `aspects(chance, row)` each, and its report."""
    chance = np.random.default_rng(4)
    ratings = ratings_of(
        [(f"c{item}", f"w{worker}", 1 + int(chance.integers(5))) for item in range(20) for worker in range(4)]
    )
    file = as_release(ratings, named("none"), folder) / "jsonl/ratings-test.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        row["aspects"] = aspects(chance, row)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = PaperData((PaperSource("rated", str(folder)),))
    report = build_report(paper_named("004"), data, PaperSettings(version="test", replicates=20, draws=49))
    return rows, {item.name: item for item in report.items}


@pytest.fixture(scope="module")
def rated_by_aspect(tmp_path_factory):
    """A release of responses, each with scores of two aspects, and its report."""

    def aspects(chance, row):
        near = min(5, row["score"] + int(chance.integers(2)))
        return [
            {"name": "background", "score": 1 + int(chance.integers(2))},
            {"name": "topicality", "score": near},
        ]

    return report_by_aspect(tmp_path_factory.mktemp("rated") / "release", aspects)


def aspect_of(row, name):
    return next(each["score"] for each in row["aspects"] if each["name"] == name)


def test_table_2_of_004_has_a_kappa_per_aspect(rated_by_aspect):
    rows, items = rated_by_aspect
    found = {row["measurement"]: row for row in items["Table 2"].rows}
    assert list(found) == ["Overall", "Background", "Topicality"]
    for name in ("background", "topicality"):
        given = {(row["worker"], row["candidate_id"]): aspect_of(row, name) for row in rows}
        kappas = defaultdict(list)
        for one, other in permutations([f"w{at}" for at in range(4)], 2):
            pairs = [(given[one, f"c{at}"], given[other, f"c{at}"]) for at in range(20)]
            kappas[one].append(quadratic_kappa(pairs))
        assert found[name.capitalize()]["kappa"] == pytest.approx(
            median(median(each) for each in kappas.values())
        )
        r = np.corrcoef([row["score"] for row in rows], [aspect_of(row, name) for row in rows])[0, 1]
        assert found[name.capitalize()]["r"] == pytest.approx(r)


def test_an_aspect_that_is_not_scored_in_whole_numbers_has_no_kappa_and_says_why(tmp_path):
    _, items = report_by_aspect(
        tmp_path / "release",
        lambda chance, row: [
            {"name": "topicality", "score": row["score"] + 0.5},
            {"name": "background", "score": None},
        ],
    )
    overall, topicality = items["Table 2"].rows
    assert overall["kappa"] is not None
    assert (topicality["measurement"], topicality["kappa"]) == ("Topicality", None)
    assert topicality["r"] == pytest.approx(1)
    assert "topicality has no kappa: scores of aspects are whole numbers" in items["Table 2"].differs
    assert {row["measurement"] for row in items["Figure 5"].rows} == {"Overall", "Topicality"}


def test_a_table_of_answers_has_aspects_in_columns_beside_its_ratings():
    given = [
        (row[f"rating{k}"], row[f"aspect_topicality_{k}"])
        for row in rows_of("004")
        for k in range(1, 5)
        if row[f"rating{k}"]
    ]
    found = {row["measurement"]: row for row in item_of("004", "Table 2").rows}
    assert list(found) == ["Overall", "Background", "Informativeness", "Topicality"]
    assert found["Topicality"]["r"] == pytest.approx(np.corrcoef(np.array(given, float).T)[0, 1])


@pytest.mark.parametrize(
    ("rating", "column", "answer"),
    [
        ("", "aspect_topicality_1", "line 2: there is a score of topicality and none in 'rating1'"),
        ("3", "aspect_topicality_2", "'aspect_topicality_2' is beside no column rating2"),
    ],
)
def test_an_aspect_without_its_rating_is_refused(rating, column, answer, tmp_path):
    path = tmp_path / "rated.csv"
    path.write_text(f"question,answer,reference1,rating1,{column}\nq,a,b,{rating},4\nr,a,b,4,4\n")
    with pytest.raises(EvaluationError, match=answer):
        list(open_table(path).aspect_ratings())


def test_figure_5_of_004_has_scores_less_the_mean_of_their_worker(rated_by_aspect):
    rows, items = rated_by_aspect
    means = defaultdict(list)
    for row in rows:
        means[row["worker"]].append(aspect_of(row, "topicality"))
    own = [
        aspect_of(row, "topicality") - np.mean(means[row["worker"]])
        for row in rows
        if row["candidate_id"] == "c3"
    ]
    points = [row for row in items["Figure 5"].rows if row["measurement"] == "Topicality"]
    assert len(points) == 21
    point = next(row for row in points if row["response"] == "c3")
    assert (point["mean"], point["sd"], point["n"]) == (
        pytest.approx(np.mean(own)), pytest.approx(np.std(own, ddof=1)), 4,
    )  # fmt: skip


def test_cider_by_system_counts_words_in_the_answers_of_that_system_alone():
    text = (Path(examples.__file__).parent / "answers.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["system"] == "sample-a"]
    answers = Answers(
        [row["answer"] for row in rows],
        [[row[f"reference{k}"] for k in (1, 2) if row[f"reference{k}"]] for row in rows],
    )
    alone = score(answers, [metric("cider", "kpqa-2021")]).values["cider"]
    people = [np.mean([float(row[f"rating{k}"]) for k in range(1, 6) if row[f"rating{k}"]]) for row in rows]
    found = next(
        row
        for row in item_of("002", "Table 9").rows
        if (row["metric"], row["system"]) == ("CIDEr", "sample-a")
    )
    assert found["r"] == pytest.approx(np.corrcoef(people, alone)[0, 1])


def test_the_command_writes_one_report_with_the_keys_of_its_contract(tmp_path):
    said = run("002", "--sample", "--report", tmp_path / "out", "--replicates", 20, "--json")
    written = json.loads((tmp_path / "out/report.json").read_text(encoding="utf-8"))
    assert json.loads(said) == written
    assert written["paper"] == "002"
    assert all(set(item) == KEYS for item in written["items"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "report.html",
        "report.json",
        "report.md",
    ]
    assert all(len(source["sha256"]) == 64 for source in written["data"])


def test_list_says_what_each_paper_needs():
    assert [each["paper"] for each in json.loads(run("--list", "--json"))] == list(MODULES)
    assert "qrels.tsv" in run("001", "--list")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ([], "Name a paper"),
        (["000"], "--data SOURCE or --sample"),
        (["000", "--data", "nothing.csv"], "There is no file nothing.csv"),
        (["001", "--data", "."], "has no qrels.tsv"),
        (["001", "--data", "a=x", "--data", "b=y"], "takes one --data"),
        (["002", "--data", "a=x", "--data", "a=y"], "another data set a"),
        (["003", "--data", str(ROOT / "examples/answers.csv")], "about opinions and entities"),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_is_written(words, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=answer):
        run(*words)
    assert list(tmp_path.iterdir()) == []


def test_cells_beyond_the_printed_digits_and_missing_ones_are_counted():
    printed = [{"metric": "a", "r": 0.5}, {"metric": "b", "r": 0.2}, {"metric": "c", "r": 0.1}]
    rows = [{"metric": "a", "r": 0.5004}, {"metric": "b", "r": 0.3}]
    item = compared("Table 3", rows, printed, keys=("metric",), because="the data are others.")
    assert item.differs == (
        "differs by up to 0.1 in 1 of 3 cells and 1 of 3 printed cells that are not here "
        "because the data are others"
    )
    assert compared("Table 3", rows[:1], printed[:1], keys=("metric",), because="x").differs == "same"


def test_printed_cells_that_are_not_here_may_have_a_reason_of_their_own():
    printed = [{"metric": "a", "r": 0.5}, {"metric": "b", "r": 0.2}]
    for rows, said in (
        ([{"metric": "a", "r": 0.5}], "1 of 2 printed cells that are not here because no b"),
        (
            [{"metric": "a", "r": 0.3}],
            "up to 0.2 in 1 of 2 cells because other data, and by 1 of 2 printed cells that are not here "
            "because no b",
        ),
        (
            [{"metric": "a", "r": 0.3}, {"metric": "b", "r": 0.2}],
            "up to 0.2 in 1 of 2 cells because other data",
        ),
    ):
        item = compared("T", rows, printed, keys=("metric",), because="other data.", lacking="no b")
        assert item.differs == f"differs by {said}"


def test_an_item_says_either_how_it_differs_or_why_it_is_not_made():
    assert not_made("Table 1", "it is gone.").reason == "cannot be made from this data because it is gone"
    with pytest.raises(ValueError, match="is not made"):
        PaperItem(name="Table 1", status="not made")
    with pytest.raises(ValueError, match="is made"):
        PaperItem(name="Table 1", status="made", rows=[{"a": 1}])
