"""`manage.py evaluate`: which metric agrees with people, on tables of many kinds."""

import csv
import gzip
import io
import json
import math
import random
import re
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from core.accounts.commandline import pairs
from core.progress import silent
from evaluations.choices import choose
from evaluations.commandline import names, scale
from evaluations.errors import EvaluationError
from evaluations.report.answer import summary
from evaluations.report.model import read_report
from evaluations.table_evaluation import Options, run_evaluation
from evaluations.table_sources import opened
from metrics.metaeval.breakdown import sweep_of
from tests.evaluations.answer_tables import as_csv, invented
from tests.evaluations.reports import make_report
from tests.evaluations.test_score_command import run

MARCO = Path(__file__).resolve().parents[3] / "shared" / "data" / "kpqa" / "marco_all.csv"
FILES = ["report.html", "report.json", "scores.csv", "table.tex"]
FAST = {"metrics": ("rouge-1", "bleu-1"), "replicates": 20, "draws": 49, "processes": 1}


@pytest.fixture
def table(tmp_path):
    def write(content, name="answers.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def evaluated(path, **options):
    """What the terminal shows, and report.json."""
    out = io.StringIO()
    folder = path.parent / "report"
    call_command("evaluate", str(path), stdout=out, **{**FAST, "report": folder, **options})
    return " ".join(out.getvalue().split()), json.loads((folder / "report.json").read_text())


def reported(
    path,
    column=(),
    external=(),
    lower_better=(),
    scale=None,
    metrics=FAST["metrics"],
    profile="default",
    **options,
):
    """The report alone, as the command has it made; the page is most of the work."""
    with opened(
        str(path),
        columns=pairs("--column", column),
        external=external,
        lower_better=lower_better,
        scale=scale,
        scored=True,
    ) as table:
        picked = choose(table, metrics=metrics, profile=profile)
        asked = Options(**{"replicates": 20, "draws": 49, "processes": 1, **options})
        return run_evaluation(table, picked, asked, progress=silent).report.as_json()


def refused(path, **options):
    folder = path.parent / "report"
    with pytest.raises(CommandError) as refusal:
        evaluated(path, **options)
    assert not folder.exists()
    return str(refusal.value).replace(f"{path.parent}/", "")


def pearson(report, name="rouge-1"):
    return report["metrics"][name]["pearson"]["global"]["value"]


def warned(report, words):
    return any(words in warning for warning in report["warnings"])


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory):
    """An evaluation that many tests look at: its folder, what the terminal showed, and report.json."""
    path = tmp_path_factory.mktemp("ordinary") / "answers.csv"
    path.write_text(as_csv(invented()))
    said, report = evaluated(path, seed=7)
    return path.parent / "report", said, report


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """The report of the table that others are compared with."""
    path = tmp_path_factory.mktemp("usual") / "answers.csv"
    path.write_text(as_csv(invented()))
    return reported(path)


def test_it_writes_four_files_prints_the_table_and_says_how_it_was_made(ordinary):
    folder, said, report = ordinary
    assert sorted(each.name for each in folder.iterdir()) == FILES
    assert report["n"] == {"answers": 90, "questions": 30, "systems": 3, "scored": 90, "ratings": 0}
    assert "answers.csv: 90 answers to 30 questions by 3 systems" in said
    assert f"rouge-1 90 {pearson(report):.3f}" in said
    pairs = report["metrics"]["rouge-1"]["pair_acc"]
    assert f"{pairs['value']:.3f} ({pairs['n']})" in said
    assert pearson(report) > 0.4
    assert "Written to" in said
    assert (report["seed"], report["replicates"], report["draws"]) == (7, 20, 49)
    assert report["profile"] == "default"
    assert report["metrics"]["bleu-1"]["signature"].startswith("metric:bleu-1|v:1|tok:default.2")
    assert sorted(report["metrics"]["bleu-1"]["corpus"]) == ["A", "B", "C"]
    assert report["source"] == "answers.csv, comma-separated, utf-8"
    assert "numpy" in report["versions"]
    rows = list(csv.DictReader(io.StringIO((folder / "scores.csv").read_text())))
    assert list(rows[0]) == ["row", "line", "question", "system", "type", "human", "rouge-1", "bleu-1"]
    assert len(rows) == 90
    assert (rows[1]["row"], rows[1]["line"], rows[1]["system"], rows[1]["type"]) == ("2", "3", "B", "where")
    mean = math.fsum(float(row["rouge-1"]) for row in rows if row["system"] == "A") / 30
    assert report["systems"][0]["metrics"]["rouge-1"]["mean"] == pytest.approx(mean)
    page = (folder / "report.html").read_text()
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(https?:)?//", page)


def test_clusters_are_explained_only_as_far_as_there_are_several():
    for clusters, words in (
        ([["bleu-4"], ["rouge-l"]], "Metrics of a better cluster agree with people significantly more"),
        ([["bleu-4", "rouge-l"]], "There is one cluster: no group of metrics agrees"),
        ([], ""),
    ):
        out = io.StringIO()
        report = make_report() | {"clusters": {"pearson|global": clusters} if clusters else {}}
        summary(read_report(report), out)
        assert words in out.getvalue()
        assert out.getvalue().count("cluster") == (2 if clusters else 0)  # the column and the sentence


@pytest.mark.long
def test_the_files_without_a_folder_go_beside_where_it_runs_and_latex_has_a_row_for_each_metric(
    table, monkeypatch
):
    path = table(gzip.compress(as_csv(invented()).encode()), "a_b & 100%.csv.gz")
    monkeypatch.chdir(path.parent)
    call_command("evaluate", str(path), stdout=io.StringIO(), **FAST)
    folder = path.parent / "a_b & 100%-evaluation"
    assert sorted(each.name for each in folder.iterdir()) == FILES
    report = json.loads((folder / "report.json").read_text())
    text = (folder / "table.tex").read_text()
    assert f"rouge-1 & 90 & ${pearson(report):.3f}$ &" in text
    pairs = report["metrics"]["rouge-1"]["pair_acc"]
    assert f"& ${pairs['value']:.3f}$ ({pairs['n']}) " in text
    assert "% question, pair acc. ($n$): this floor is made of the human scores of the other answers" in text
    assert r"a\_b \& 100\%.csv" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 2


def test_no_figure_is_nan_and_every_missing_one_has_a_reason(table):
    report = reported(table(as_csv(invented(4, systems=("A",)))))
    text = json.dumps(report)
    assert not re.search(r"\bNaN\b|\bInfinity\b", text)

    def look(value, path=""):
        if isinstance(value, dict):
            if "value" in value and value["value"] is None:
                assert value.get("reason"), path
            for name, each in value.items():
                look(each, f"{path}/{name}")
        elif isinstance(value, list):
            for each in value:
                look(each, path)

    look(report)


def test_the_scale_is_that_of_the_data_or_given_and_makes_no_difference(table, usual):
    for ends in ((0, 1), (0, 100), (-2, 2)):
        rows = invented(scale=ends)
        report = reported(table(as_csv(rows)))
        found = [float(row["scores"]) for row in rows]
        assert report["scale"] == [min(found), max(found)]
        assert warned(report, "The scale of the human scores was taken from the data")
        assert pearson(report) == pytest.approx(pearson(usual), abs=1e-3)
    report = reported(table(as_csv(invented())), scale=(0, 10))
    assert (report["scale"], report["gap"]) == ([0, 10], 5)
    assert not warned(report, "taken from the data")
    assert reported(table(as_csv(invented(scale=(0, 1)))), scale=(0, 1), gap=0.25)["gap"] == 0.25
    assert "is not on the scale from 1 to 5" in refused(table(as_csv(invented(scale=(0, 100)))), scale=(1, 5))


def test_scores_that_are_all_the_same_tell_no_scale(table):
    rows = [{**row, "scores": "5"} for row in invented()]
    report = reported(table(as_csv(rows)))
    assert report["scale"] is None
    assert warned(report, "All human scores are 5, so their scale is unknown. Say it: --scale LOW-HIGH.")
    assert reported(table(as_csv(rows)), scale=(1, 5))["scale"] == [1, 5]


def test_systems_without_a_name_are_told_by_the_order_of_rows(table, usual):
    columns = ("question", "answer", "reference1", "scores")
    report = reported(table(as_csv(invented(), *columns)))
    assert [system["name"] for system in report["systems"]] == ["system 1", "system 2", "system 3"]
    assert all(system["inferred"] for system in report["systems"])
    assert warned(report, "inferred from the order of the rows")
    assert report["metrics"]["rouge-1"]["pearson"]["item"] == usual["metrics"]["rouge-1"]["pearson"]["item"]
    blocks = sorted(invented(), key=lambda row: row["system"])
    report = reported(table(as_csv(blocks, *columns)))
    assert report["metrics"]["rouge-1"]["pearson"] == usual["metrics"]["rouge-1"]["pearson"]


def test_another_order_of_the_rows_and_two_processes_give_the_same_report(table, usual):
    rows = invented()
    random.Random(3).shuffle(rows)
    assert reported(table(as_csv(rows)), processes=2) == usual


def test_several_references_and_empty_ones(table):
    rows = invented()
    for number, row in enumerate(rows):
        row["reference2"] = "stone river bridge" if number % 2 else ""
    report = reported(table(as_csv(rows)))
    assert report["metrics"]["rouge-1"]["n"] == 90


def test_jsonl_semicolons_and_utf_16_give_the_same_figures(table, usual):
    rows = invented()
    lines = "".join(
        json.dumps(
            {**row, "references": [row["reference1"]], "reference1": None, "scores": float(row["scores"])}
        )
        + "\n"
        for row in rows
    )
    for content in (lines, as_csv(rows, delimiter=";"), as_csv(rows).replace("\n", "\r\n").encode("utf-16")):
        assert reported(table(content))["metrics"] == usual["metrics"]


def test_a_score_under_the_header_of_a_reference(table):
    rows = [{**row, "reference2": row["scores"]} for row in invented()]
    path = table(as_csv(rows, "question", "answer", "reference1", "reference2"))
    assert "--column scores=reference2" in refused(path)
    report = reported(path, column=["scores=reference2"])
    assert pearson(report) > 0.4


def test_single_ratings_give_a_ceiling(table):
    chance = random.Random(2)
    rows = []
    for row in invented():
        score = float(row["scores"])
        rows.append(row | {f"score{rater}": round(score + chance.uniform(-1, 1)) for rater in (1, 2, 3)})
    names = ["question", "answer", "reference1", "system", "score1", "score2", "score3"]
    said, report = evaluated(table(as_csv(rows, *names)))
    assert report["n"]["ratings"] == 270
    assert 0.5 < report["ceiling"]["leave_one_out"]["pearson"]["value"] < 1
    assert "Ceiling: one person against the mean of the others" in said


def test_scores_of_another_tool_are_one_more_metric(table):
    rows = [row | {"comet": row["scores"], "judge": ""} for row in invented()]
    rows[0]["judge"], rows[4]["judge"], rows[8]["judge"] = "1", "2", "3"
    report = reported(table(as_csv(rows)), external=("comet", "judge"))
    assert pearson(report, "comet") == pytest.approx(1)
    assert report["metrics"]["comet"]["signature"] == "metric:comet|external"
    assert report["metrics"]["judge"]["n"] == 3


def test_scores_that_are_better_the_lower_they_are_are_turned_where_that_is_said(table):
    rows = [row | {"ter": f"{-float(row['scores'])}"} for row in invented()]
    path = table(as_csv(rows))
    asked = reported(path, external=("ter",))
    words = "ter agrees with people most closely of all, but the other way round (r = -1.000)."
    assert warned(asked, words) and warned(asked, "--lower-better ter")
    no_better = [each.partition("): ")[2] for each in asked["warnings"] if "than the floor" in each]
    assert not any("ter" in names for names in no_better)
    turned = reported(path, external=("ter",), lower_better=("ter",))
    assert pearson(turned, "ter") == pytest.approx(1)
    assert warned(turned, "ter: lower values are better, so they are taken with the opposite sign.")
    with pytest.raises(EvaluationError, match="name the column with --external as well"):
        reported(path, lower_better=("ter",))


def test_a_column_with_the_name_of_a_metric_is_no_second_one(table):
    path = table(as_csv([row | {"rouge-1": "1"} for row in invented(5)]))
    assert "a metric of that name is scored here as well" in refused(path, external=("rouge-1",))


def test_answers_without_a_human_score_take_no_part_and_names_are_harmless_on_the_terminal(table):
    rows = [{**row, "system": f"\x1b[31m{row['system']}[bold]"} for row in invented()]
    for row in rows[::10]:
        row["scores"] = ("", "NA", "nan")[len(row["answer"]) % 3]
    said, report = evaluated(table(as_csv(rows)), statistics=("spearman",))
    assert (report["n"]["answers"], report["n"]["scored"]) == (90, 81)
    assert "81 of them with a human score" in said
    assert "\x1b" not in said
    assert "spearman" in report["metrics"]["rouge-1"]
    assert "pearson" not in report["metrics"]["rouge-1"]
    shutil.rmtree(table("").parent / "report")
    assert "no answer has a human score" in refused(table(as_csv([{**row, "scores": ""} for row in rows])))


@pytest.mark.long
def test_small_and_strange_tables_have_a_report_in_words(table, subtests):
    rows = invented(6)
    for case, strange in {
        "one row": rows[:1],
        "two rows": rows[:2],
        "constant scores": [{**row, "scores": "3"} for row in rows],
        "empty answers": [{**row, "answer": ""} for row in rows],
        "no references": [{**row, "reference1": ""} for row in rows],
        "perfect answers": [{**row, "answer": row["reference1"]} for row in rows],
        "one system": [row for row in rows if row["system"] == "A"],
        "no questions": [{**row, "question": ""} for row in rows],
    }.items():
        with subtests.test(case=case):
            path = table(as_csv(strange))
            said, report = evaluated(path)
            assert sorted(each.name for each in (path.parent / "report").iterdir()) == FILES
            assert "nan" not in said.lower().split()
            assert report["warnings"]


def test_a_wrong_row_is_named_before_anything_is_written(table):
    rows = invented()
    rows[50]["scores"] = "good"
    assert refused(table(as_csv(rows))).startswith(
        "answers.csv, line 52: column 'scores': 'good' is no number"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metrics": ("blue",)}, "There is no metric 'blue'"),
        ({"statistics": ("pearsons",)}, "There is no statistic 'pearsons'"),
        ({"protocols": ("table9",)}, "There is no protocol 'table9'"),
        ({"external": ("comet",)}, "there is no column 'comet'"),
        ({"column": ["scores=mark"]}, "there is no column 'mark'"),
        ({"stage": "judging"}, "only releases have stages"),
        ({"draws": 10**9}, "--draws is at most 1,000,000"),
    ],
)
def test_options_that_cannot_be_are_refused(table, options, said):
    assert said in refused(table(as_csv(invented(5))), **options)


def test_a_protocol_of_a_paper_by_its_name(table):
    report = reported(table(as_csv(invented())), protocols=("kpqa-table7", "resample_overall"))
    assert report["protocols"]["kpqa-table7"]["metrics"]["rouge-1"]["pairs"] > 0
    assert "resample_overall" in report["protocols"]


def test_metrics_of_a_profile_that_need_what_is_not_there_are_left_out(table):
    path = table(as_csv(invented(5)))
    report = reported(path, metrics=(), profile="default")
    assert {"bleu-1", "rouge-l"} <= set(report["metrics"])


def test_a_report_takes_the_place_of_the_one_before_and_not_of_a_file(table, ordinary):
    path = table(as_csv(invented(5)))
    shutil.copytree(ordinary[0], path.parent / "report")
    _, report = evaluated(path, seed=2)
    assert report["seed"] == 2
    with pytest.raises(CommandError, match="is a file"):
        evaluated(path, report=path)


@pytest.mark.long
def test_it_needs_no_database(table):
    path = table(as_csv(invented(5)))
    done = run(
        "evaluate", str(path), "--metrics", "rouge-1", "--report", str(path.parent / "out"),
        "--draws", "49", "--replicates", "10", "--processes", "1",
        env={"DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "15 answers to 5 questions by 3 systems" in done.stdout


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--gap", "none"], "'none' is no number above 0"),
        (["--gap", "-1"], "'-1' is no number above 0"),
        (["--scale", "5-1"], "a scale goes from a lower to a higher score"),
        (["--scale", "five"], "'five' is no scale; write it as 1-5 or 0-1"),
        (["--seed", "x"], "'x' is no whole number from 0"),
        (["--processes", "0"], "give a number from 1 to 256"),
        (["--metrics", ","], "name at least one, with commas between them"),
    ],
)
def test_values_that_cannot_be_are_refused(table, given, said):
    with pytest.raises(CommandError, match=re.escape(said)):
        call_command("evaluate", str(table(as_csv(invented(2)))), *given)


@pytest.mark.parametrize(
    ("given", "expected"), [("0-1", [0, 1]), ("-1:1", [-1, 1]), ("0.5..2.5", [0.5, 2.5])]
)
def test_ways_to_write_a_scale(given, expected):
    assert list(scale(given)) == expected


def test_metrics_are_compared_by_koehns_paired_bootstrap_where_it_is_asked_for(table, ordinary):
    _, _, plain = ordinary
    _, asked = evaluated(table(as_csv(invented())), paired_bootstrap=True)
    tests = [test for test in asked["tests"] if test["method"] == "bootstrap"]
    assert not any(test["method"] == "bootstrap" for test in plain["tests"])
    assert [test["statistic"] for test in tests] == ["pearson", "spearman"]
    assert all(0 < test["p"] <= 1 for test in tests)


def test_weights_of_adapted_metrics_stand_behind_their_names(table):
    rows = [
        {**row, "label": ("Yes", "No")[number % 2], "label1": "Yes"} for number, row in enumerate(invented(8))
    ]
    wanted = names("adapted-bleu-1(alpha=0.5, beta=0),adapted-bleu-1,adapted-bleu-1(alpha=4)")
    report = reported(table(as_csv(rows)), metrics=wanted)
    signatures = {name: entry["signature"] for name, entry in report["metrics"].items()}
    assert list(signatures) == [
        "adapted-bleu-1",
        "adapted-bleu-1(alpha=0.5,beta=0)",
        "adapted-bleu-1(alpha=4)",
    ]
    assert "|alpha:0.5|beta:0|" in signatures["adapted-bleu-1(alpha=0.5,beta=0)"]
    assert "|alpha:4|beta:1|" in signatures["adapted-bleu-1(alpha=4)"]
    assert len({pearson(report, name) for name in signatures}) == 3


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("bleu-4(alpha=1)", "only adapted metrics have weights"),
        ("adapted-bleu-4(alpha=x)", "write the weights as adapted-bleu-4(alpha=2,beta=1)"),
        ("adapted-bleu-4(alpha=1", "write the weights as"),
        ("adapted-bleu-4(gamma=1)", "BLEU has none"),
    ],
)
def test_weights_that_make_no_sense_are_refused(table, metric, words):
    assert words in refused(table(as_csv(invented(8))), metrics=(metric,))


def opinionated():
    """Answers with opinions, so that the weight of the bonus for them matters."""
    return [
        {**row, "label": ("Yes", "No", "Yes")[number % 3], "label1": "Yes"}
        for number, row in enumerate(invented(8))
    ]


@pytest.mark.long
def test_a_sweep_draws_curves_of_the_weight_and_leaves_the_tests_alone(table):
    path = table(as_csv(opinionated()))
    metrics = ("bleu-1", "adapted-bleu-1")
    said, report = evaluated(path, metrics=metrics, sweep=[sweep_of("alpha=0,2,4")])
    assert list(report["metrics"]) == ["adapted-bleu-1", "bleu-1"]
    found = report["protocols"]["sweep-alpha"]
    assert found["fixed"] == {"adapted-bleu-1": {"beta": 1}}
    points = found["curves"]["adapted-bleu-1"]["overall"]
    assert [point["x"] for point in points] == [0, 2, 4]
    assert points[0]["value"] == pytest.approx(pearson(report, "bleu-1"))
    assert points[1]["value"] == pytest.approx(pearson(report, "adapted-bleu-1"))
    folder = path.parent / "report"
    assert "sweep.csv" in said
    rows = list(csv.DictReader((folder / "sweep.csv").read_text().splitlines()))
    assert [(row["questions"], row["value"]) for row in rows][:3] == [
        ("overall", "0.0"),
        ("overall", "2.0"),
        ("overall", "4.0"),
    ]
    assert float(rows[1]["pearson"]) == points[1]["value"]
    page = (folder / "report.html").read_text()
    assert "With other weights of the bonus" in page
    assert "Adapted BLEU-1, alpha" in page


def test_a_sweep_without_adapted_metrics_is_refused(table):
    said = refused(table(as_csv(opinionated())), sweep=[sweep_of("beta=0,1")])
    assert "--sweep beta changes the weight of adapted metrics, and none is scored here" in said


def test_one_system_left_out_is_a_table_with_intervals_everywhere(table):
    path = table(as_csv(invented()))
    said, report = evaluated(path, leave_one_system_out=True)
    rows = report["protocols"]["adem-table5"]["metrics"]["rouge-1"]["systems"]
    assert [row["system"] for row in rows] == ["A", "B", "C"]
    low, high = rows[0]["rest"]["pearson"]["ci"]
    assert low < rows[0]["rest"]["pearson"]["value"] < high
    assert "One system left out" in said
    assert "ROUGE-1: one system left out" in (path.parent / "report" / "report.html").read_text()


def test_scores_of_other_tools_need_no_texts(table):
    rows = [{**row, "comet": str(number % 7)} for number, row in enumerate(invented(questions=8))]
    path = table(as_csv(rows, "question", "system", "scores", "comet"))
    _, report = evaluated(path, metrics=(), external=("comet",))
    assert list(report["metrics"]) == ["comet"]
    assert report["n"]["answers"] == 24
    assert any(
        "No metric is scored here, as no column holds the answers" in each for each in report["warnings"]
    )
    for options, said in {
        (): "there are 'question', 'system', 'scores', 'comet'. Say which one does: --column answer=NAME. If "
        "they were scored elsewhere, their scores need no texts: --external comet.",
        ("comet",): "rouge-1 needs the answers",
    }.items():
        with pytest.raises(CommandError) as refusal:
            evaluated(path, external=options)
        assert said in str(refusal.value)


def test_terminal_page_and_json_say_what_was_read(table):
    path = table(as_csv([{**row, "note <b>": "x"} for row in invented(questions=4)]))
    shown, report = evaluated(path)
    columns = (
        "question from question; answer from answer; score from scores; system from system; type from type"
    )
    assert f"Read as: {columns}; references from reference1; utf-8; separated by commas" in shown
    assert report["read_as"]["left_out"] == ["note <b>"]
    page = (path.parent / "report" / "report.html").read_text()
    assert f"Read as: {columns}" in page
    assert "Columns that were not read: note &lt;b&gt;." in page
    assert "12 rows read = 12 used + 0 merged + 0 identical repeats + 0 refused." in page
