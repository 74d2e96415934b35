"""`manage.py import-queries`."""

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Query, QuerySource
from core.projects.services import create_project
from tests.cases import apart

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return create_project(slug="answers", title="Answers")


def run(capsys, *words):
    call_command("import-queries", *map(str, words))
    return capsys.readouterr().out


def test_it_imports_and_says_how_much(project, write, capsys):
    path = write("log.csv", "query,count\nwho is he,3\nwww.a.com,1\nbad,1,2\nWHO IS HE,1\n")
    out = run(capsys, "answers", path)
    lines = {" ".join(line.split()[:-1]): line.split()[-1] for line in out.splitlines()}
    assert (
        "log.csv: CSV, comma-separated, with a header; all distinct queries, without sampling, seed 1." in out
    )
    assert (lines["records read"], lines["address of a page (navigational)"], lines["repeated"]) == (
        "3",
        "-1",
        "-1",
    )
    assert (lines["refused"], lines["distinct queries"], lines["stored"]) == ("-1", "1", "1")
    assert "log.csv, line 4: The line has 3 columns instead of 2." in out
    assert Query.objects.get().count == 4


def test_it_says_how_many_queries_the_project_has_in_another_spelling(project, write, capsys):
    run(capsys, "answers", write("a.csv", "query\nwhat\u2019s new\nwho is he\n"))
    out = run(capsys, "answers", write("b.csv", "query\nwhat's new\nwho is he\n"))
    lines = {" ".join(line.split()[:-1]): line.split()[-1] for line in out.splitlines()}
    assert (lines["already there"], lines["in another spelling"], lines["stored"]) == ("2", "1", "0")


def test_a_sample_by_count_has_a_seed_and_quotas_make_strata(project, write, capsys):
    path = write("log.csv", "query,count\n" + "".join(f"query {n},{n}\n" for n in range(1, 100)))
    run(capsys, "answers", path, "--sample", 10, "--by", "count", "--seed", 5)
    design = QuerySource.objects.get().options["design"]
    assert (Query.objects.count(), design["by"], design["seed"]) == (10, "count", 5)
    Query.objects.all().delete()
    run(capsys, "answers", path, "--quota", "head=3", "--quota", "tail=4")
    assert sorted(Query.objects.values_list("stratum", flat=True)) == ["head"] * 3 + ["tail"] * 4


def test_columns_words_rules_and_the_report(project, write, capsys, tmp_path):
    path = write("log.csv", "Frage;Zahl\nkraken im meer;2\nwww.a.de;1\n")
    words = write("words.txt", "# own\nkraken\n")
    run(
        capsys, "answers", path, "--column", "text=Frage", "--column", "count=Zahl", "--words", words,
        "--without", "url", "--report", tmp_path / "report.json",
    )  # fmt: skip
    assert Query.objects.get().text == "www.a.de"
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["rules"]["words"]["dropped"] == 1
    assert "url" not in report["rules"]


def test_a_dry_run_says_so(project, write, capsys):
    assert "nothing was stored" in run(capsys, "answers", write("a.csv", "query\nwho is he\n"), "--dry-run")
    assert Query.objects.count() == 0


def test_what_cannot_be_done_ends_with_a_sentence(project, write, subtests):
    for words, error in [
        (["nowhere", "FILE"], "There is no project 'nowhere'."),
        (["answers", "FILE", "--column", "text"], "--column 'text' is not of the form NAME=VALUE."),
        (["answers", "FILE", "--quota", "head=few"], "The quota of 'head' is no whole number: 'few'."),
        (["answers", "FILE", "--as", "nobody"], "There is no user named 'nobody'."),
        (["answers", "gone.csv"], "gone.csv cannot be read: No such file or directory."),
        (["answers", "FILE", "--strict"], "a.csv, line 3: The line has 2 columns instead of 1."),
        (["answers", "FILE", "--by", "count"], "--by needs a --sample, or a --quota for each stratum."),
        (["answers", "FILE", "--by", "count", "--quota", "head=1"], "Quotas are for --by strata."),
        (["answers", "FILE", "--words", "gone.txt"], "The word list could not be read"),
    ]:
        with apart(subtests, words=words, error=error):
            path = write("a.csv", "query\nwho is he\na,b\n")
            with pytest.raises(CommandError, match="^" + error.replace(".", r"\.").replace("(", r"\(")):
                call_command("import-queries", *[str(path) if word == "FILE" else word for word in words])
            assert QuerySource.objects.count() == 0
