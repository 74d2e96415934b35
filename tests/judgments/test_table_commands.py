"""`preferences`, `agreement`, `support`, `nuggets`: tables as people have them, and bad ones."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.metrics.goldens import golden

CROWDRAG = Path(__file__).resolve().parents[3] / "shared" / "data" / "crowdrag25"
QUESTIONS = ("validity", "coverage_broad", "quality_overall")


@pytest.fixture
def measure(tmp_path):
    """The report that a command makes of a text, or of a file, and what it prints."""

    def run(command, content, **options):
        file = content
        if isinstance(content, str):
            file = tmp_path / "table.csv"
            file.write_text(content, encoding="utf-8")
        out, target = io.StringIO(), tmp_path / "report.json"
        call_command(command, file, stdout=out, report=target, **{"replicates": 50, **options})
        report = json.loads(target.read_text())
        target.unlink()
        return report, out.getvalue()

    return run


@pytest.fixture
def refuse(measure, tmp_path):
    def run(command, content, **options):
        with pytest.raises(CommandError) as refusal:
            measure(command, content, **options)
        assert not (tmp_path / "report.json").exists()
        return str(refusal.value).replace(f"{tmp_path}/", "")

    return run


# preferences

PAIRS = "question,model_a,model_b,winner,judge\n" + "".join(
    f"q{number % 9},{left},{right},{winner},j{number % 4}\n"
    for number, (left, right, winner) in enumerate(
        [("x", "y", "model_a"), ("y", "x", "tie"), ("x", "z", "A"), ("z", "x", "left"), ("y", "z", "z"),
         ("z", "y", "right"), ("x", "y", "tie (bothbad)"), ("y", "x", "Y"), ("x", "z", "b")] * 6
    )
)  # fmt: skip


@pytest.mark.only_on("shared")
def test_crowdrags_raw_file_gives_the_golden_figures(measure):
    file, systems = CROWDRAG / "study2_responses.jsonl.gz", CROWDRAG / "systems.csv"
    report, _ = measure(
        "preferences", file, systems=systems, winner=list(QUESTIONS), side=True, replicates=20
    )
    items = ["query_id", "response_a", "response_b"]
    alphas = {
        "alpha_ordinal": {"level": "ordinal", "order": "A,N,B"}, "alpha_nominal": {},
    }  # fmt: skip
    agreement = {
        name: measure("agreement", file, item=items, label=list(QUESTIONS), replicates=0, **options)[0]
        for name, options in alphas.items()
    }
    for question, expected in golden("crowdrag25").items():
        facts = report["questions"][question]
        counts = facts["counts"]
        assert (counts["judgments"], counts["pairs"]) == (expected["judgments"], expected["pairs"])
        assert counts["ties_share"] == pytest.approx(expected["ties"], abs=1e-6)
        assert counts["left_of_decided"] == pytest.approx(expected["left_of_decided"], abs=1e-6)
        assert facts["n"] == expected["comparisons_of_different_systems"]
        for name, member in (("davidson_side", "strengths"), ("half_win", "half_wins")):
            strengths = {row["system"]: row["strength"] for row in facts[member]}
            assert strengths == pytest.approx(expected[name], abs=1e-3)
        assert facts["ties"]["nu"] == pytest.approx(expected["nu"], abs=1e-3)
        assert facts["side"]["effect"] == pytest.approx(expected["side"], abs=1e-3)
        for name, alpha in agreement.items():
            assert alpha["questions"][question]["alpha"] == pytest.approx(expected[name], abs=1e-6)


def test_pairs_are_read_as_arenas_and_people_write_them(measure):
    report, printed = measure("preferences", PAIRS)
    assert report["read_as"]["columns"] == {
        "item": ["question"], "left": ["model_a"], "right": ["model_b"], "winner": ["winner"],
        "worker": ["judge"],
    }  # fmt: skip
    wins = {row["system"]: [row["wins"], row["losses"], row["ties"]] for row in report["strengths"]}
    assert wins == {"x": [12, 18, 12], "y": [12, 12, 12], "z": [18, 12, 0]}
    assert (report["n"], report["judges"], report["seed"]) == (54, 4, 0)
    assert (report["counts"]["ties"], report["counts"]["both_bad"]) == (12, 6)
    assert any("6 answers are “both bad”" in warning for warning in report["warnings"])
    assert [row["strength"] for row in report["strengths"]] == sorted(
        (row["strength"] for row in report["strengths"]), reverse=True
    )
    assert report["triples"]["chance"] == 0.25
    assert report["matrix"]["systems"] == [row["system"] for row in report["strengths"]]
    assert report["side"]["reason"] == "not asked for: --side"
    assert "half wins" in printed and "Ties (davidson): nu" in printed


def test_a_system_beside_itself_says_nothing_and_a_pair_is_one_in_either_order(measure):
    head, rows = "item,left,right,winner,worker\n", "q1,a,b,1,w\nq2,a,b,2,v\nq1,b,a,2,w\n"
    report, _ = measure("preferences", f"{head}{rows}q3,a,a,a,w\n", replicates=0)
    assert (report["n"], report["counts"]["same_system"]) == (3, 1)
    assert any(warning.startswith("1 rows are a worker's further judgment") for warning in report["warnings"])


def test_the_order_of_rows_changes_nothing_and_a_seed_gives_one_report(measure):
    head, *rows = PAIRS.splitlines(keepends=True)
    one, _ = measure("preferences", PAIRS, side=True)
    other, _ = measure("preferences", head + "".join(reversed(rows)), side=True)
    assert one == other
    assert measure("preferences", PAIRS, side=True, seed=7)[0]["strengths"] != one["strengths"]


def test_answers_belong_to_systems_and_their_style_is_taken_out(measure, tmp_path):
    systems = tmp_path / "systems.csv"
    systems.write_text(
        "response,system,length\n" + "".join(f"r{n},{'ab'[n % 2]},{10 + 3 * n}\n" for n in range(8))
    )
    rows = "".join(
        f"q{n % 6},r{n % 8},r{(n * 3 + 1) % 8},{'left' if n % 3 else 'right'},w{n % 5}\n" for n in range(60)
    )
    table = f"item,response_a,response_b,winner,worker\n{rows}"
    report, printed = measure("preferences", table, systems=systems, style=["length"])
    assert {row["system"] for row in report["strengths"]} == {"a", "b"}
    assert report["style"][0]["column"] == "length" and "Style length" in printed
    both = "item,left,right,winner,words_left,words_right\n" + "".join(
        f"q{n % 6},{'ab'[n % 2]},{'ba'[n % 2]},{'left' if n % 3 else 'tie'},{n},{20 + n % 7}\n"
        for n in range(60)
    )
    report, _ = measure("preferences", both, style=["words"], replicates=0)
    assert report["style"][0]["effect"] is not None
    assert report["warnings"][0].startswith("No column names the judges")


def test_one_page_has_the_picture_and_the_latex_table(measure, tmp_path):
    measure("preferences", PAIRS.replace("x", "a&b"), html=tmp_path / "page.html", side=True)
    page = (tmp_path / "page.html").read_text()
    assert page.count("<circle") == 3 and r"a\&amp;b" in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")


def test_what_cannot_be_read_is_named_with_its_line_and_remedy(refuse, tmp_path):
    head = "item,left,right,winner,worker\n"
    cases = {
        f"{head}q,a,b,left,w\nq,a,b,better,w\n": "table.csv, line 3: the winner 'better' is not known",
        f"{head}q,a,b,left,\n": "line 2: the worker is empty",
        f"{head}q,,b,left,w\n": "line 2: the left is empty",
        f"{head}q,A,B,a,w\nq,B,A,a,w\n": "line 3: the winner 'a' may be the side, or the name",
        head: "it has a header but no pairs under it",
        "item,left,right,worker\nq,a,b,w\n": "there is no column 'winner' for the winner",
    }
    for content, words in cases.items():
        assert words in refuse("preferences", content)
    systems = tmp_path / "systems.csv"
    systems.write_text("response,system\na,one\n")
    assert "does not say of which system the answer 'b' is" in refuse(
        "preferences", f"{head}q,a,b,left,w\n", systems=systems
    )
    assert "there are no columns for the style 'length'" in refuse(
        "preferences", f"{head}q,a,b,left,w\n", style=["length"]
    )
    assert "There is no field 'nonsense'" in refuse("preferences", PAIRS, column=["nonsense=a"])


# agreement


def test_labels_sets_and_spans_have_their_alpha(measure):
    table = "item,worker,label\n" + "".join(
        f"i{item},w{worker},{'yes' if (item + worker // 2) % 3 else 'no'}\n"
        for item in range(8)
        for worker in range(5)
    )
    report, _ = measure("agreement", table)
    assert (report["level"], report["n_items"], report["n_workers"]) == ("nominal", 8, 5)
    assert report["alpha"] == pytest.approx(1 - report["observed"] / report["expected"])
    assert report["low"] < report["high"]
    sets = "item,worker,label\n0,a,x|y\n0,b,y\n1,a,\n1,b,\n2,a,z\n2,b,z\n"
    report, _ = measure("agreement", sets, distance="masi")
    assert report["alpha"] == report["beside"]["masi"] != report["beside"]["jaccard"]
    spans = "item,worker,start,end,label,length\nt,x,0,4,a,10\nt,y,0,2,a,10\n"
    report, printed = measure("agreement", spans, spans=True)
    assert report["alpha"] == pytest.approx(0.5642857142857143)
    assert (report["f1_macro"], report["reason"]["low"]) == (
        pytest.approx(2 / 3),
        "one text with two workers",
    )
    assert "F1 of characters: macro 0.667" in printed


def test_labels_that_cannot_be_compared_are_refused_or_null_with_the_reason(measure, refuse):
    words = "item,worker,label\n1,a,good\n1,b,bad\n"
    assert "line 2: the label 'good' is no number" in refuse("agreement", words, level="interval")
    assert "is not in --order bad,fine" in refuse("agreement", words, level="ordinal", order="bad,fine")
    assert "add --level ordinal" in refuse("agreement", words, order="bad,good")
    for table, reason in (
        ("item,worker,label\n1,a,x\n2,a,y\n", "one rater"),
        ("item,worker,label\n1,a,x\n1,b,x\n", "no variation"),
        ("item,worker,label\n1,a,x\n2,b,y\n", "no pairable items"),
    ):
        report, _ = measure("agreement", table)
        assert (report["alpha"], report["reason"]["alpha"]) == (None, reason)
    late = "item,worker,start,end,length\nt,x,3,12,\nt,y,0,2,10\n"
    assert "line 2: the span ends at 12, and the text has 10" in refuse("agreement", late, spans=True)
    assert "the span 4 to 2 is none" in refuse("agreement", "item,worker,start,end\nt,x,4,2\n", spans=True)
    again, _ = measure("agreement", "item,worker,label,simulated\n1,a,x,\n1,a,y,\n1,b,,yes\n2,a,x,\n2,b,y,\n")
    assert [warning.split(":")[0] for warning in again["warnings"]] == ["SIMULATED DATA", "label", "label"]


# support, nuggets

CITED = (
    "item,system,worker,sentence,citation,label\nq1,A,w,1,1,full\nq1,A,w,1,2,none\nq1,A,w,2,,\nq1,A,w,3,1,partial\n"
    "q1,B,w,1,,\nq2,A,w,1,1,full\nq2,B,w,1,1,none\n"
)


def test_support_is_scored_by_its_protocol(measure):
    report, printed = measure("support", CITED, protocol="trec")
    assert report["protocol"] == "trec"
    for row, mean in zip(report["systems"], (0.75, 0), strict=True):
        assert [row["precision"]["value"], row["recall"]["value"], row["n_answers"]] == [mean, mean, 2]
    assert report["systems"][0]["precision"]["low"] == 0.5
    assert report["items"][0] == {
        "item": "q1", "system": "A", "precision": 0.5, "recall": 0.5, "n_sentences": 3, "n_citations": 3,
    }  # fmt: skip
    assert report["agreement"]["citations"]["reason"] == "one rater"
    assert "0.750 (0.500 to 1.000)" in printed
    alce = CITED.splitlines()[0] + "\nq1,A,w,1,,yes\nq1,A,w,1,1,full\nq1,A,w,2,,no\nq1,A,w,2,1,full\n"
    report, _ = measure("support", alce, protocol="alce")
    assert (report["systems"][0]["precision"]["value"], report["systems"][0]["recall"]["value"]) == (0.5, 0.5)
    assert report["systems"][0]["recall"]["reason"] == "one item"
    ais = "item,system,worker,sentence,interpretable,attributable\n"
    ais += "q,A,w,1,yes,yes\nq,A,w,2,no,\nq,A,w,3,yes,no\n"
    report, _ = measure("support", ais, protocol="ais")
    assert report["systems"][0]["attributable"]["value"] == 0.5
    assert report["systems"][0]["not_interpretable"]["value"] == pytest.approx(1 / 3)


def test_nuggets_and_rubrics_are_scored_and_workers_outvote_each_other(measure):
    head = "item,system,worker,nugget,importance,label\n"
    report, _ = measure(
        "nuggets",
        f"{head}q,A,a,n1,vital,support\nq,A,b,n1,vital,not\nq,A,a,n2,vital,partial\nq,A,a,n3,okay,support\n",
    )
    (row,) = report["systems"]
    assert (row["vital"], row["vital_strict"], row["weighted_strict"], row["n"]) == (0.25, 0, 0.2, 1)
    assert row["reason"] == {"low": "one item", "high": "one item"}
    assert report["agreement"]["label"]["alpha"] == pytest.approx(0)
    rubric = "item,system,worker,criterion,points,met\n"
    rubric += "q1,A,w,c1,5,yes\nq1,A,w,c2,3,no\nq1,A,w,c3,-4,yes\nq2,A,w,c1,2,yes\n"
    report, _ = measure("nuggets", rubric)
    assert report["systems"][0]["score"]["value"] == pytest.approx((0.125 + 1) / 2)
    assert [item["score"] for item in report["items"]] == [0.125, 1]


def test_labels_of_parts_that_contradict_each_other_are_refused(refuse):
    head = "item,system,worker,nugget,importance,label\n"
    rubric = "item,system,worker,criterion,points,met\n"
    cases = {
        f"{head}q,A,a,n,vital,support\nq,B,a,n,okay,not\n": "line 3: the nugget 'n' has another importance",
        f"{head}q,A,a,n,vital,maybe\n": "line 2: the label 'maybe' is not known. Write not, partial or",
        f"{rubric}q,A,w,c,many,yes\n": "line 2: the points 'many' are no number",
        "item,system,worker\nq,A,w\n": "there is no column 'nugget' for the nugget",
    }
    for content, words in cases.items():
        assert words in refuse("nuggets", content)
    zero = CITED.replace("q1,A,w,1,1,full", "q1,A,w,0,1,full")
    assert "line 2: the sentence '0' is no whole number from 1" in refuse("support", zero, protocol="trec")
    assert "has citations and no row with an empty citation" in refuse(
        "support", CITED.replace("q1,A,w,2,,\n", "").replace("q1,B,w,1,,\n", ""), protocol="alce"
    )
