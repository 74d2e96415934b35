"""`manage.py retrieval-eval` on a judged set of five passages."""

import csv
import gzip
import json

import pytest
from django.core.management import CommandError

from retrieval.services.indexing import build_index
from tests.retrieval.evaluation.world import PASSAGES, evaluated, judged_set, means
from tests.retrieval.ranking.models import make_cross_encoder
from tests.retrieval.world import make_corpus, make_project

SYSTEMS = {"systems": "bm25,bm25:current"}


@pytest.fixture
def folder(tmp_path):
    return judged_set(tmp_path)


def refused(folder, **options):
    with pytest.raises(CommandError) as refusal:
        evaluated(folder, **{**SYSTEMS, **options})
    assert not (folder / "report.json").exists()
    return str(refusal.value)


def test_passages_beside_the_queries_are_searched_without_a_database(folder):
    shown, report = evaluated(folder, systems="bm25")
    assert means(report, "bm25") == {"nDCG@10": 1.0, "MRR@10": 1.0, "R@100": 1.0}
    assert "Means over 3 queries" in shown
    assert "│ bm25 │ 1.0000 │ 1.0000 │ 1.0000 │" in shown
    assert report["passages"] == {"file": "passages.jsonl", "passages": 5}
    assert report["comparisons"] == []


def test_files_are_read_gzipped_and_how_they_were_read_is_in_the_report(folder):
    (folder / "qrels.tsv").write_text("# by hand\nq1 0 cats 1\nq1 0 cats 1\n")
    (folder / "a.run").write_text("q1 Q0 cats 1 2.5 a\n")
    shown, report = evaluated(folder, systems=None, runs=[folder / "a.run"])
    rows = {"read": 3, "used": 1, "merged": 0, "repeats": 1, "refused": 1}
    assert report["read_as"]["qrels"]["rows"] == rows
    assert report["read_as"]["queries"]["columns"]["id"] == ["id"]
    assert report["read_as"]["runs"]["a"]["columns"]["score"] == ["column 5"]
    said = " ".join(shown.split())
    assert "qrels.tsv: Read as: grade from column 4; passage from column 3; query from column 1; " in said
    assert "qrels.tsv: 3 rows read = 1 used + 0 merged + 1 identical repeat + 1 refused." in said
    assert "a: Read as: score from column 5; passage from column 3; query from column 1; " in said
    for name in ("qrels.tsv", "queries.jsonl", "passages.jsonl"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    _, report = evaluated(folder, qrels="qrels.tsv.gz", queries="queries.jsonl.gz", systems="bm25")
    assert means(report, "bm25")["MRR@10"] == 1


def test_turns_are_asked_with_the_turns_before_them(folder):
    (folder / "qrels.tsv").write_text("q1 0 cats 1\nq1b 0 mice 1\nq2 0 bees 1\n")
    _, report = evaluated(folder, queries="conversations.jsonl", **SYSTEMS)
    assert means(report, "bm25")["R@100"] == 1
    assert means(report, "bm25:current")["R@100"] == 1
    [test] = [each for each in report["comparisons"] if each["measure"] == "nDCG@10"]
    assert (test["system"], test["baseline"], test["units"]) == ("bm25:current", "bm25", 2)
    assert report["coverage"]["conversations"] == 2


def test_rewrites_are_asked_alone(folder):
    (folder / "qrels.tsv").write_text("q1b 0 mice 1\n")
    shown, report = evaluated(folder, queries="conversations.jsonl", field="rewrite", systems="bm25")
    assert means(report, "bm25")["MRR@10"] == 1
    assert (report["field"], report["coverage"]["without_field"]["count"]) == ("rewrite", 1)
    assert "Left out, as they have no rewrite: 1 query, such as 'q2'." in shown


def test_queries_that_are_not_judged_or_have_no_relevant_passage_are_counted_and_said(folder):
    (folder / "qrels.tsv").write_text("q1 0 cats 1\nq1 0 gone 2\nq1 0 lost 0\nq9 0 cats 1\nq2 0 bees 0\n")
    shown, report = evaluated(folder, systems="bm25")
    coverage = report["coverage"]
    assert coverage["evaluated"] == 2
    assert coverage["not_judged"] == {"count": 1, "examples": ["q3"]}
    assert coverage["judged_without_query"] == {"count": 1, "examples": ["q9"]}
    assert coverage["without_relevant"] == {"count": 1, "examples": ["q2"]}
    assert coverage["judged_not_among_passages"] == {
        "count": 2,
        "examples": ["gone", "lost"],
        "relevant_judgments": 1,
    }
    assert means(report, "bm25")["R@100"] == 0.25
    assert "Left out, as nothing is judged for them: 1 query, such as 'q3'." in shown
    assert "No system can find what 1 of the judgments ask for." in shown
    (folder / "qrels.tsv").write_text("q1 0 cats 1\nq2 0 bees 0\n")
    shown, report = evaluated(folder, systems="bm25", answerable=True)
    assert (report["coverage"]["evaluated"], means(report, "bm25")["MRR@10"]) == (1, 1)
    assert "Left out, as no passage is relevant for them: 1 query, such as 'q2'." in shown


def test_runs_that_were_written_are_compared_like_systems_and_need_no_passages(folder):
    evaluated(folder, run_out=folder / "runs", **SYSTEMS)
    names = sorted(path.name for path in (folder / "runs").iterdir())
    assert names == ["bm25-current.run", "bm25.run"]
    runs = [folder / "runs" / name for name in names]
    shown, report = evaluated(folder, systems="bm25", runs=runs, baseline="bm25-current")
    assert [each["name"] for each in report["systems"]] == ["bm25", "bm25-current", "bm25 (2)"]
    assert means(report, "bm25") == means(report, "bm25 (2)") == means(report, "bm25-current")
    assert {each["baseline"] for each in report["comparisons"]} == {"bm25-current"}
    assert "Differences from bm25-current" in shown

    def without_times(report):
        for each in report["systems"]:
            each["milliseconds"] = None
        return json.dumps(report)

    first, second = (without_times(evaluated(folder, **SYSTEMS)[1]) for _ in range(2))
    assert first == second
    (folder / "passages.jsonl").unlink()
    (folder / "mine.run").write_text("q1 Q0 cats 1 2 me\nq2 Q0 dogs 1 1 me\n")
    shown, report = evaluated(folder, runs=[folder / "mine.run"])
    assert means(report, "mine")["MRR@10"] == pytest.approx(1 / 3)
    assert report["passages"] is None
    assert "mine: nothing for 1 of 3 queries; they count as 0." in shown


def test_a_run_whose_ranks_contradict_its_scores_is_named(folder):
    """Two lists that were put one after the other: ranks say a, b, c, and scores c, a, b."""
    (folder / "qrels.tsv").write_text("q1 0 cats 1\nq2 0 bees 1\n")
    run = (
        "q1 Q0 cats 1 1.70 s\nq1 Q0 dogs 2 1.60 s\nq1 Q0 mice 3 1.98 s\nq2 Q0 bees 1 2 s\nq2 Q0 cats 2 2 s\n"
    )
    (folder / "concat.run").write_text(run)
    shown, report = evaluated(folder, runs=[folder / "concat.run"])
    words = "the file's ranks contradict its scores; the order is that of the scores, as in trec_eval"
    assert f"concat: {words} (1 of 2 queries)" in shown
    assert report["systems"][0]["notes"] == {words: 1}
    assert means(report, "concat")["MRR@10"] == 0.5


def test_values_of_single_queries_are_written_as_csv(folder):
    (folder / "queries.jsonl").write_text(
        '{"id": "=q1", "text": "cats sleep"}\n{"id": "q2", "text": "bees"}\n'
    )
    (folder / "qrels.tsv").write_text("=q1 0 cats 1\nq2 0 dogs 1\n")
    evaluated(folder, systems="bm25", measures="MRR@10,R@100", per_query=folder / "values.csv")
    with (folder / "values.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["query", "conversation", "system", "MRR@10", "R@100"],
            ["'=q1", "'=q1", "bm25", "1.0", "1.0"],
            ["q2", "q2", "bm25", "0.0", "0.0"],
        ]


def test_a_query_without_a_word_finds_nothing_and_is_said(folder):
    (folder / "queries.jsonl").write_text('{"id": "q1", "text": "?!"}\n{"id": "q2", "text": "bees"}\n')
    shown, report = evaluated(folder, systems="bm25")
    assert means(report, "bm25")["MRR@10"] == 0.5
    assert "bm25: 1 of 2 queries without a word to search for." in shown


def test_the_operators_cross_encoder_is_a_system(folder, tmp_path, settings):
    make_cross_encoder(tmp_path / "model", {"cats": 2.0})
    settings.CROSS_ENCODER = str(tmp_path / "model")
    _, report = evaluated(folder, systems="bm25,cross-encoder(bm25)")
    assert means(report, "cross-encoder(bm25)")["R@100"] == means(report, "bm25")["R@100"]


@pytest.mark.django_db
def test_a_corpus_of_a_project_is_searched_and_an_id_of_two_corpora_counts_once(folder, tmp_path):
    project = make_project()
    texts = [{"id": key, "text": text} for key, text in PASSAGES.items()]
    corpus = make_corpus(tmp_path, *texts, project=project)
    name = f"{project.slug}/{corpus.slug}"
    _, report = evaluated(folder, corpus=[name], systems="bm25")
    assert means(report, "bm25")["nDCG@10"] == 1
    assert report["passages"] == {"corpora": [name], "passages": 5}
    assert report["systems"][0]["generations"][name]["index"] == 1
    names = [f"{project.slug}/{make_corpus(tmp_path, *texts, project=project).slug}" for _ in range(2)]
    _, report = evaluated(folder, corpus=names, systems="bm25")
    assert means(report, "bm25") == {"nDCG@10": 1.0, "MRR@10": 1.0, "R@100": 1.0}


@pytest.mark.django_db
def test_a_corpus_that_cannot_be_searched_is_told(folder, tmp_path):
    corpus = make_corpus(tmp_path, "a text", index=False)
    name = f"{corpus.project.slug}/{corpus.slug}"
    assert refused(folder, corpus=["nowhere"]) == "There is no corpus 'nowhere'. Name one as PROJECT/SLUG."
    assert "There is no project 'nobody'" in refused(folder, corpus=["nobody/x"])
    assert f"Run: manage.py index build {corpus.project.slug}" in refused(folder, corpus=[name])
    build_index(corpus=corpus)
    assert "A corpus has its vectors" in refused(folder, corpus=[name], vectors=folder / "v.txt")


def test_faults_of_files_end_the_command_before_anything_is_written(folder):
    (folder / "qrels.tsv").write_text("other1 0 cats 1\n")
    assert refused(folder) == (
        "None of the queries is judged. Ids of queries are such as 'q1', 'q2', 'q3'; ids in the judgments "
        "are such as 'other1'."
    )
    (folder / "qrels.tsv").write_text("q1 0 cats\nq1 0 cats one\n")
    said = refused(folder, run_out=folder / "runs")
    assert "qrels.tsv was not read.\nqrels.tsv: line 1 [grade]: 'cats' is no whole number." in said
    assert list((folder / "runs").iterdir()) == []
    (folder / "qrels.tsv").write_text("q1 0 cats 1\n")
    (folder / "passages.jsonl").write_text('{"id": "a"}\n')
    assert "passages.jsonl: line 1 [text]: it is missing or empty." in refused(folder)
    (folder / "passages.jsonl").unlink()
    assert "--passages FILE, or --corpus PROJECT/SLUG; or compare runs only" in refused(folder)


def test_what_cannot_be_is_refused_in_words(folder):
    for options, why in (
        ({"systems": "bm25,crowned"}, "There is no system 'crowned'"),
        ({"systems": "bm25, bm25"}, "--systems names bm25 twice."),
        ({"systems": " , "}, "--systems names none."),
        ({"baseline": "other"}, "There is no system 'other' to compare with. There are: bm25, bm25:current."),
        ({"measures": "best@10"}, "There is no measure 'best@10'."),
    ):
        assert why in refused(folder, **options)
    (folder / "qrels.tsv").write_text("q1 0 cats 0\n")
    assert "No query has a relevant passage" in refused(folder, answerable=True)


def test_an_id_with_a_blank_is_told_before_anything_is_searched(folder):
    (folder / "queries.jsonl").write_text('{"id": "my query", "text": "cats sleep"}\n')
    (folder / "qrels.tsv").write_text("my query\t0\tcats\t1\n")
    _, report = evaluated(folder, systems="bm25")
    (folder / "report.json").unlink()
    assert means(report, "bm25")["MRR@10"] == 1
    assert "has a blank in it" in refused(folder, run_out=folder / "runs")
