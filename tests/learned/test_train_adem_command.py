"""`manage.py train-adem`: what it trains, what it says of it, and what it refuses."""

import csv
import io
import json
import random
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from distillery_learned.training.sources import NO_REFERENCE, NO_SCORE, contexts_of, folds, read, split
from distillery_learned.training.study import idle_forms, talks_of, turns_of
from evaluations.answer_table import Row
from evaluations.errors import EvaluationError
from evaluations.table_sources import opened
from metrics.catalogue import metric
from metrics.metaeval.breakdown import CUT
from metrics.metaeval.correlation import p_of_correlation
from metrics.model_folders import with_models
from metrics.profiles import profile
from tests.evaluations.answer_tables import WORDS, as_csv, invented
from tests.learned import tiny
from tests.releases.world import make_world

HOSTILE = "</td><script>alert(1)</script> <img src=x onerror=alert(2)>"
FAST = {
    "metrics": ("bleu-2", "rouge-l"), "processes": 1, "replicates": 20, "draws": 49, "scale": (1, 5),
    "n": (15,), "rate": (0.01,), "epochs": 12, "patience": 4,
}  # fmt: skip
FORMS = ["adem", "c-adem", "r-adem"]


def answers(questions=40, systems=("A", "B", "C", f"D{HOSTILE}"), seed=2):
    """Answers of which people see how many words of the reference they have; some are much longer."""
    chance = random.Random(seed)
    rows = invented(questions, systems, seed)
    for row in rows:
        first, *rest = row["question"].split(" ", 2)
        row["question"] = f"{first} {rest[0]}\n{rest[1]}{HOSTILE}"
        row["id"] = f"{row['question'].split()[4]}-{row['system'][0]}"
        if chance.random() < 0.3:
            row["answer"] += " it" * (CUT + 3)
    return rows


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny.sentence_encoder(tmp_path_factory.mktemp("encoder") / "tiny", WORDS)


def trained(*sources, encoder, **options):
    out = io.StringIO()
    call_command("train-adem", *map(str, sources), encoder=str(encoder), stdout=out, **{**FAST, **options})
    return " ".join(out.getvalue().split())


def refused(*sources, encoder="none", **options):
    with pytest.raises(CommandError) as refusal:
        trained(*sources, encoder=encoder, **options)
    return str(refusal.value)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "answers.csv"
    path.write_text(as_csv(answers()))
    return path


@pytest.fixture(scope="module")
def made(table, encoder, tmp_path_factory):
    """A model, its report, and what the terminal showed."""
    folder = tmp_path_factory.mktemp("made")
    said = trained(table, encoder=encoder, out=folder / "model", report=folder / "report")
    return folder, json.loads((folder / "report" / "report.json").read_text()), said


@pytest.fixture(scope="module")
def crossed(table, encoder, tmp_path_factory):
    """Scores out of fold, and the report beside them."""
    folder = tmp_path_factory.mktemp("crossed")
    trained(table, encoder=encoder, folds=3, scores=folder / "scores.csv", json=folder / "it.json", seed=5)
    with (folder / "scores.csv").open() as file:
        return list(csv.DictReader(file)), json.loads((folder / "it.json").read_text())


@pytest.fixture(scope="module")
def scores(made):
    """Human scores and those of the trained model, by the metrics of the catalogue, and the test rows."""
    folder, _, _ = made
    rows = answers()
    own = with_models(profile("default"), [folder / "model"])
    given = (
        [row["answer"] for row in rows],
        [[row["reference1"]] for row in rows],
        [row["question"] for row in rows],
    )
    found = {name: metric(name, own).score(*given) for name in FORMS}
    found["bleu-2"] = metric("bleu-2").score(*given)
    keys = [" ".join(row["question"].split()).casefold() for row in rows]
    return np.array([float(row["scores"]) for row in rows]), found, split(keys, 0)


def pearson(a, b):
    return float(np.corrcoef(a, b)[0, 1])


def test_the_model_is_a_folder_with_a_card(made, table):
    folder, report, said = made
    card = json.loads((folder / "model" / "card.json").read_text())

    assert card["kind"] == "adem"
    assert report["model"]["digest"] == card["digest"]
    assert card["split"] == {
        "train": {"contexts": 28, "answers": 112},
        "validation": {"contexts": 6, "answers": 24},
        "test": {"contexts": 6, "answers": 24},
    }
    assert list(card["data"][0]["files"]) == ["answers.csv"]
    assert re.fullmatch("[0-9a-f]{64}", card["data"][0]["files"]["answers.csv"])
    assert (
        card["results"]["adem"]["test"]["pearson"] == report["table3"]["metrics"]["adem"]["test"]["pearson"]
    )
    assert card["printed"]["table3"]["adem"]["test"]["pearson"] == 0.395
    assert card["training"]["forms"]["adem"]["history"][0]["epoch"] == 0
    assert card["versions"]["torch"]
    assert "160 answers to 40 questions by 4 systems" in said
    assert "ADEM (Lowe et al. 2017)" in (folder / "model" / "README.md").read_text()


@pytest.mark.long
def test_table_3_is_what_the_kept_model_scores(made, scores):
    _, report, _ = made
    human, found, parts = scores

    for form in FORMS:
        for part, rows in (("validation", parts.validation), ("test", parts.test)):
            said = report["table3"]["metrics"][form][part]["pearson"]
            assert said["value"] == pytest.approx(pearson(human[rows], found[form][rows]), abs=1e-6)
            assert said["p"] == pytest.approx(p_of_correlation(said["value"], 24))
    said = report["table3"]["metrics"]["bleu-2"]
    assert said["full"]["pearson"]["value"] == pytest.approx(pearson(human, found["bleu-2"]))
    assert said["test"]["pearson"]["value"] == pytest.approx(
        pearson(human[parts.test], found["bleu-2"][parts.test])
    )
    assert set(report["table3"]["metrics"]["embedding"]) == {"trained", "full", "test"}


def test_it_learns_what_people_see(made, scores):
    human, found, parts = scores
    _, report, _ = made

    assert pearson(human[parts.test], found["r-adem"][parts.test]) > 0.2
    history = report["history"]["r-adem"]
    assert min(each["validation"] for each in history) < history[0]["validation"]


def test_tables_4_8_and_14_and_figure_7_are_of_the_kept_model(made, scores):
    _, report, _ = made
    human, found, parts = scores
    systems = np.array([row["system"] for row in answers()])[parts.test]

    def means(values):
        return [values[parts.test][systems == name].mean() for name in sorted(set(systems))]

    said = report["table4"]["metrics"]["adem"]["pearson"]
    assert said["n"] == 4
    assert said["value"] == pytest.approx(pearson(means(human), means(found["adem"])), abs=1e-6)
    _, report, _ = made
    human, found, parts = scores
    rows = answers()
    far = np.array([abs(len(row["answer"].split()) - 6) > CUT for row in rows])[parts.test]

    for name, values in (("human", human), ("adem", found["adem"])):
        said = report["table8"][name]
        assert said["far"]["n"] == far.sum()
        assert said["near"]["mean"] == pytest.approx(values[parts.test][~far].mean(), abs=1e-6)
        assert said["far"]["mean"] == pytest.approx(values[parts.test][far].mean(), abs=1e-6)
    _, report, _ = made

    points = report["table14"]["points"]
    assert [point["contexts"] for point in points] == [28, 21, 14, 7, 3, 1]
    whole = report["table3"]["metrics"]["adem"]["test"]
    assert points[0]["pearson"]["value"] == pytest.approx(whole["pearson"]["value"])
    assert points[0]["spearman"]["p"] == pytest.approx(whole["spearman"]["p"])
    _, report, _ = made

    for form in FORMS:
        kept = report["watched"][form][report["chosen"][form]["epoch"]]
        said = report["table3"]["metrics"][form]["test"]
        assert kept["pearson"] == pytest.approx(said["pearson"]["value"])
        assert len(report["watched"][form]) == len(report["history"][form])


def test_table_5_has_a_line_for_each_system_that_training_has_not_seen(made):
    _, report, _ = made

    rows = report["table5"]["systems"]
    assert [row["system"][0] for row in rows] == ["A", "B", "C", "D"]
    assert [row["trained_on"] for row in rows] == [84] * 4
    assert [row["removed"]["pearson"]["n"] for row in rows] == [6] * 4
    assert report["table5"]["at_random"]["trained_on"] == 84
    # Trained on three systems it is another metric than that trained on four.
    whole = report["table3"]["metrics"]["adem"]["test"]["pearson"]["value"]
    assert all(row["full"]["pearson"]["value"] != whole for row in rows)


@pytest.mark.long
def test_the_same_seed_gives_the_same_model_and_another_another(table, encoder, made, tmp_path):
    digests = []
    for seed in (0, 1):
        trained(table, encoder=encoder, out=tmp_path / str(seed), seed=seed)
        digests.append(json.loads((tmp_path / str(seed) / "card.json").read_text())["digest"])

    assert digests[0] == made[1]["model"]["digest"] != digests[1]


@pytest.mark.long
def test_scores_out_of_fold_are_those_of_the_report_and_no_question_is_on_both_sides(crossed):
    rows, report = crossed

    assert list(rows[0]) == ["row", "line", "id", "fold", "human", *FORMS, "bleu-2", "rouge-l"]
    assert [row["row"] for row in rows] == [str(number) for number in range(1, 161)]
    assert [row["id"] for row in rows] == [row["id"] for row in answers()]
    human = np.array([float(row["human"]) for row in rows])
    for name in (*FORMS, "bleu-2", "rouge-l"):
        values = np.array([float(row[name]) for row in rows])
        if name in FORMS:
            assert report["folds"]["metrics"][name]["squared_error"] == pytest.approx(
                ((values - human) ** 2).mean()
            )
            for number in ("1", "2", "3"):
                of = np.array([row["fold"] == number for row in rows])
                values[of] = (values[of] - values[of].mean()) / values[of].std()
        said = report["folds"]["metrics"][name]["pearson"]
        assert said["value"] == pytest.approx(pearson(human, values))
        assert said["ci"][0] <= said["value"] <= said["ci"][1]
    rows, _ = crossed
    of = {}
    for row, given in zip(rows, answers(), strict=True):
        of.setdefault(given["question"], set()).add(row["fold"])

    assert all(len(found) == 1 for found in of.values())
    assert {fold for found in of.values() for fold in found} == {"1", "2", "3"}
    keys = [" ".join(row["question"].split()).casefold() for row in answers()]
    for number, fold in enumerate(folds(keys, 3, 5), start=1):
        assert {rows[place]["fold"] for place in fold.test} == {str(number)}


@pytest.mark.long
def test_each_form_is_compared_with_the_best_metric_that_is_not_trained(crossed):
    _, report = crossed
    found = report["folds"]
    values = {name: of["pearson"]["value"] for name, of in found["metrics"].items()}

    beside = ["adem-before", "c-adem-before", "r-adem-before", "cosine", "constant"]
    assert list(found["metrics"]) == ["bleu-2", "rouge-l", *FORMS, *beside]
    assert found["rival"] == max(("bleu-2", "rouge-l", *beside[:-1]), key=values.__getitem__)
    assert values["constant"] is None
    assert found["metrics"]["constant"]["squared_error"] > found["metrics"]["adem"]["squared_error"]
    assert found["metrics"]["cosine"]["squared_error"] is None
    assert [(each["a"], each["statistic"]) for each in found["differences"]] == [
        (form, which) for form in FORMS for which in ("pearson", "spearman")
    ]
    for each in found["differences"]:
        of = {name: found["metrics"][name][each["statistic"]]["value"] for name in (each["a"], each["b"])}
        assert each["value"] == pytest.approx(of[each["a"]] - of[found["rival"]])
        assert 0 < each["p"] <= 1


def test_a_form_to_which_training_adds_nothing_is_named_with_what_does_as_well():
    def of(pearson, error, *, trained=False):
        return {"trained": trained, "pearson": {"value": pearson}, "squared_error": error}

    metrics = {
        "bleu-2": of(0.5, None),
        "r-adem": of(0.370, 1.56, trained=True),
        "adem": of(0.6, 1, trained=True),
    }
    metrics |= {"r-adem-before": of(0.401, 3), "adem-before": of(0.1, 3)}
    metrics |= {"cosine": of(0.385, None), "constant": of(None, 1.4)}

    assert idle_forms(metrics) == [
        "Training adds nothing to R-ADEM here: out of fold it has Pearson 0.370; "
        "R-ADEM before training 0.401, cosine of the same vectors 0.385.",
        "R-ADEM is no nearer to people's scores than one score for all answers: "
        "its squared error is 1.56, that of the mean score 1.40.",
    ]


class Texts(HTMLParser):
    """Elements and texts of a page."""

    def __init__(self):
        super().__init__()
        self.elements, self.attributes, self.texts = set(), set(), []

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_has_all_tables_and_figures_and_texts_of_the_table_as_texts(made):
    folder, _, _ = made
    text = (folder / "report" / "report.html").read_text()
    page = Texts()
    page.feed(text)

    assert not page.elements & {"script", "img"}
    assert not any(name.startswith("on") for name in page.attributes)
    assert any(HOSTILE in " ".join(each.split()) for each in page.texts)
    assert "http://" not in text.replace("http://www.w3.org", "")
    for number in (3, 4, 5, 6, 7, 8, 14):
        assert f"Table {number}" in text
    for key in ("scatter-1", "systems-1", "learning-epochs-1", "learning-curve-1"):
        assert f'id="{key}"' in text


def test_rows_that_nothing_can_be_learned_from_are_counted(tmp_path):
    rows = answers(12)
    rows[0]["scores"], rows[1]["reference1"], rows[2]["reference1"] = "", "", " "
    path = tmp_path / "some.csv"
    path.write_text(as_csv(rows))

    found = read([str(path)], lambda name: opened(name, scored=True))

    assert found.left_out == {NO_SCORE: 1, NO_REFERENCE: 2}
    assert (len(found), len(found.places)) == (45, 48)
    assert [place.used for place in found.places[:4]] == [False, False, False, True]


def test_one_text_or_one_id_is_one_context():
    rows = [
        Row(1, "x", ["r"], "Who  is it", "1"),
        Row(2, "x", ["r"], "who is it", "2"),
        Row(3, "x", ["r"], "who was it", "2"),
        Row(4, "x", ["r"], "where is it", "3"),
        Row(5, "x", ["r"], "", "4"),
    ]

    codes, names = contexts_of(rows, {"question_id"})
    backwards, again = contexts_of(rows[::-1], {"question_id"})

    assert codes.tolist() == backwards.tolist()[::-1]
    assert names == again
    assert codes[0] == codes[1] == codes[2]
    assert len(set(codes.tolist())) == 3
    assert names[codes[0]] == "who is it"


def test_tables_are_joined_with_ids_apart_unless_their_scales_differ(tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}.csv").write_text(as_csv(answers(12, seed=number)))

    files = [str(tmp_path / "1.csv"), str(tmp_path / "2.csv")]
    found = read(files, lambda name: opened(name, scored=True, scale=(1, 5)))

    assert [source.used for source in found.sources] == [48, 48]
    assert [place.source for place in found.places] == [0] * 48 + [1] * 48
    # The same questions stand in both tables, so their answers have the same contexts.
    assert found.contexts[:48].tolist() == found.contexts[48:].tolist()
    assert found.table.stored_rows[48].id == f"2: {found.places[48].id}"
    (tmp_path / "1.csv").write_text(as_csv(answers(12)))
    scales = iter([(1, 5), (0, 9)])

    with pytest.raises(EvaluationError, match="different scales, 0-9 and 1-5"):
        read([str(tmp_path / "1.csv")] * 2, lambda name: opened(name, scored=True, scale=next(scales)))


@pytest.mark.long
@pytest.mark.django_db
def test_a_release_is_a_source(tmp_path, settings):
    settings.RELEASES_STORAGE = str(tmp_path / "shelf")
    make_world()
    call_command(
        "release", "build", "capitals", "--formats", "jsonl", "--out", str(tmp_path / "release"),
        "--accept-findings", "simulated people", stdout=io.StringIO(),
    )  # fmt: skip
    (tmp_path / "more.csv").write_text(as_csv(answers(9)))

    found = read(
        [str(tmp_path / "release"), str(tmp_path / "more.csv")],
        lambda name: opened(name, scale=(1, 5), scored=True),
    )

    assert [source.title for source in found.sources] == ["capitals 1.0.0", "more.csv"]
    assert list(found.sources[0].files) == ["manifest.json"]
    assert found.sources[0].used > 2
    assert found.table.stored_rows[0].question_id.startswith("1: ")
    assert "who" not in found.examples[0].references
    assert found.table.scale == (1, 5)


def test_a_gru_reads_questions_and_references_of_its_training_alone(table):
    found = read([str(table)], lambda name: opened(name, scored=True))
    rows = answers()

    talks = talks_of(found, np.arange(8))

    assert talks == [
        (*rows[0]["question"].split("\n"), rows[0]["reference1"]),
        (*rows[4]["question"].split("\n"), rows[4]["reference1"]),
    ]


def test_dialogues_are_lists_of_turns(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text('["hello", "you too", "bye"]\n\n{"turns": ["who", "me"]}\n')
    assert list(turns_of(path)) == [("hello", "you too", "bye"), ("who", "me")]

    wrong = {"{": "line 1 is no JSON", '{"turns": "x"}': "line 1 is no dialogue", '["x", " "]': "fewer than"}
    for line, why in wrong.items():
        path.write_text(line)
        with pytest.raises(EvaluationError, match=why):
            list(turns_of(path))
    with pytest.raises(EvaluationError, match="cannot be read"):
        list(turns_of(tmp_path / "none"))


def test_what_cannot_be_trained_is_refused_in_a_sentence(tmp_path, encoder):
    def write(rows, *columns):
        path = tmp_path / "it.csv"
        path.write_text(as_csv(rows, *columns))
        return path

    few = write(answers(5))
    assert "scored answers to 5 questions, and at least 10" in refused(few, out=tmp_path / "m")
    same = [{**row, "scores": "3"} for row in answers(12)]
    assert "All human scores are 3" in refused(write(same), out=tmp_path / "m")
    none = [{**row, "reference1": ""} for row in answers(12)]
    assert "no answer has both a human score and a reference" in refused(write(none), out=tmp_path / "m")
    unasked = write(answers(12), "answer", "reference1", "scores", "id")
    assert "ADEM and C-ADEM learn from the question, and" in refused(
        unasked, encoder=encoder, out=tmp_path / "m"
    )
    assert "--column question=NAME" in refused(
        unasked, encoder=encoder, out=tmp_path / "m", which=("c-adem",)
    )
    whole = write(answers(12))
    assert "Give the folder of an encoder" in refused(whole, encoder="nobody/has-this", out=tmp_path / "m")
    assert "ADEM has the forms" in refused(whole, encoder=encoder, out=tmp_path / "m", which=("b-adem",))
    assert "There is no metric 'none'" in refused(whole, out=tmp_path / "m", metrics=("none",))
    assert not (tmp_path / "m").exists()


def test_options_that_cannot_be_followed(tmp_path, table):
    assert "Give --out MODEL" in refused(table)
    assert "--folds 1 leaves nothing" in refused(table, folds=1)
    assert "Give --folds K" in refused(table, out=tmp_path / "m", scores=tmp_path / "s.csv")
    assert "--dialogues are for --encoder gru" in refused(table, folds=2, dialogues=tmp_path / "d")
    (tmp_path / "m").mkdir()
    assert "is there already" in refused(table, out=tmp_path / "m")
    assert "would overwrite" in refused(table, folds=2, scores=table)
    assert "There is no file" in refused(tmp_path / "none.csv", folds=2)
    (tmp_path / "f").write_text("")
    assert "is a file" in refused(table, folds=2, report=tmp_path / "f")


@pytest.mark.long
def test_a_table_without_systems_has_no_figures_of_systems(tmp_path, encoder):
    path = tmp_path / "alone.csv"
    path.write_text(as_csv(answers(20), "question", "answer", "reference1", "scores"))

    said = trained(path, encoder=encoder, out=tmp_path / "m", report=tmp_path / "r", which=("adem",))
    report = json.loads((tmp_path / "r" / "report.json").read_text())

    for name in ("table4", "table5"):
        assert report[name]["value"] is None
        assert "--column system=NAME" in report[name]["reason"]
    assert report["n"]["systems"] is None
    assert "by question" not in said
    assert report["table14"]["points"][0]["pearson"]["value"] is not None
    assert "--column system=NAME" in (tmp_path / "r" / "report.html").read_text()


@pytest.mark.long
def test_the_final_model_after_folds_has_seen_all_but_its_validation(table, encoder, tmp_path):
    trained(table, encoder=encoder, folds=2, out=tmp_path / "m", which=("r-adem",))
    card = json.loads((tmp_path / "m" / "card.json").read_text())

    assert card["split"]["train"] == {"contexts": 34, "answers": 136}
    assert card["split"]["test"]["answers"] == 0
    assert card["cross_validation"]["folds"] == 2
    assert set(card["settings"]["forms"]) == {"r-adem"}
    assert card["cross_validation"]["metrics"]["r-adem"]["pearson"]["n"] == 160
