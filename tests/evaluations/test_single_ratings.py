"""Tables with a row for each rating: averaged, counted, or refused where two things may be meant."""

import random

import pytest

from evaluations.answer_table import gather
from evaluations.errors import EvaluationError
from evaluations.file_table import open_table
from tests.evaluations.answer_tables import as_csv, invented
from tests.evaluations.test_evaluate_command import evaluated, reported

HEADER = "question,system,answer,reference1,rater,score\n"
RATED = "q,A,yes,yes sir,ann,5\nq,A,yes,yes sir,bob,2\nq,B,no,yes sir,ann,1\nr,A,maybe,no,bob,4\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="answers.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def read(path, **options):
    """Answers by their lines with score and ratings, the counts of rows, and the notes."""
    table = open_table(path, **{"scored": True, **options})
    rows = [(row.line, row.human, row.ratings) for row in table.rows()]
    return rows, table.reading.as_json()["rows"], table.notes


def refused(path, **options):
    with pytest.raises(EvaluationError) as refusal:
        read(path, **options)
    return str(refusal.value).replace(f"{path.parent}/", "")


def rated_by(answers, *, raters=3):
    """A row for each rating of each answer, in the order of chance, and the means that they give."""
    chance = random.Random(4)
    rows = []
    for answer in answers:
        scores = [chance.randint(1, 5) for _ in range(raters)]
        rows += [{**answer, "scores": score, "annotator": f"a{at}"} for at, score in enumerate(scores)]
        answer["scores"] = sum(scores) / raters
    chance.shuffle(rows)
    return rows


def test_a_row_for_each_rating_gives_the_figures_of_the_means(tmp_path):
    means = invented(questions=12)
    ratings = rated_by(means)
    (tmp_path / "means.csv").write_text(as_csv(means))
    (tmp_path / "long.csv").write_text(as_csv(ratings))
    (tmp_path / "joined.csv").write_text(as_csv([{**row, "response_filter": "none"} for row in ratings]))
    wanted = reported(tmp_path / "means.csv")
    shown, report = evaluated(tmp_path / "long.csv")
    for found in (report, reported(tmp_path / "joined.csv")):
        assert found["n"] == {**wanted["n"], "ratings": 108}
        for metric, entry in found["metrics"].items():
            for figure in ("pearson", "spearman", "pair_acc"):
                assert entry[figure] == wanted["metrics"][metric][figure]
        assert found["ceiling"]["leave_one_out"]["pearson"]["raters"] == 3
        counts = {"read": 108, "used": 36, "merged": 72, "repeats": 0, "refused": 0}
        assert found["read_as"]["rows"] == counts
        assert found["read_as"]["columns"]["worker"] == ["annotator"]
    assert "108 rows read = 36 used + 72 merged + 0 identical repeats + 0 refused." in shown
    assert "108 rows are single ratings of 36 answers" in shown


def test_the_first_row_of_an_answer_has_its_ratings_and_repeats_count_once(file):
    rows, counts, notes = read(file(HEADER + RATED + RATED.splitlines()[1] + "\n"))
    assert rows == [
        (2, 3.5, [("ann", 5), ("bob", 2)]),
        (4, 1, [("ann", 1)]),
        (5, 4, [("bob", 4)]),
    ]
    assert counts == {"read": 5, "used": 3, "merged": 1, "repeats": 1, "refused": 0}
    assert "1, the first in line 6, as in line 3" in " ".join(notes)


def test_white_space_makes_no_other_answer(file):
    rows, counts, _ = read(file(HEADER + "q,A,yes  sir,yes,ann,5\nq ,A,yes sir ,yes,bob,2\n"))
    assert rows == [(2, 3.5, [("ann", 5), ("bob", 2)])]
    assert counts == {"read": 2, "used": 1, "merged": 1, "repeats": 0, "refused": 0}


def test_ratings_without_raters_are_averaged_where_systems_are_named(file):
    text = "question,system,answer,reference1,score\nq,A,yes,r,5\nq,B,yes,r,1\nq,A,yes,r,2\n"
    rows, counts, _ = read(file(text))
    assert rows == [(2, 3.5, [("1", 5), ("2", 2)]), (3, 1, [("1", 1)])]
    assert counts["merged"] == 1
    said = refused(file(text + "q,A,yes,r,5\n"))
    assert said.startswith("answers.csv, line 5: the row is the same as line 2")
    assert "--column worker=NAME" in said
    assert read(file(text.replace("r,2", "r,5")))[1] == {
        "read": 3, "used": 2, "merged": 0, "repeats": 1, "refused": 0,
    }  # fmt: skip


def test_the_same_answer_of_unnamed_systems_is_not_averaged_and_said(file):
    rows, counts, notes = read(file("question,answer,reference1,score\nq,yes,r,5\nq,yes,r,1\n"))
    assert [human for _, human, _ in rows] == [5, 1]
    assert counts["used"] == 2
    assert "1, the first in line 3. They count as separate answers" in " ".join(notes)


def test_ids_may_be_of_answers_or_number_the_ratings(file):
    of_answers = "id,question,system,answer,reference1,rater,score\n1,q,A,yes,r,ann,5\n1,q,A,yes,r,bob,2\n"
    numbers = of_answers.replace("1,q,A,yes,r,bob", "2,q,A,yes,r,bob")
    both = numbers + "3,r,A,no,r,ann,5\n3,r,A,no,r,bob,2\n"
    for text in (of_answers, numbers):
        assert [human for _, human, _ in read(file(text))[0]] == [3.5]
    said = refused(file(both))
    assert said.startswith("answers.csv, line 3: question, system and answer are those of line 2, and the id")
    assert [human for _, human, _ in read(file(both), columns={"id": ""})[0]] == [3.5, 3.5]
    unrated = numbers.replace("rater,", "").replace("ann,", "").replace("bob,", "")
    rows, _, notes = read(file(unrated))
    assert [human for _, human, _ in rows] == [5, 2]
    assert "because their ids differ" in " ".join(notes)


def test_rows_that_contradict_one_another_are_refused(file):
    first = "q,A,yes,r,ann,5\n"
    for more, said in {
        "q,A,yes,other,bob,4\n": "system and answer are those of line 2, and references are not.",
        "q,A,yes,r,ann,4\n": "line 3: 'ann' has rated the answer of line 2 before",
    }.items():
        assert said in refused(file(HEADER + first + more))
    without = "question,answer,reference1,rater,score\nq,yes,r,ann,5\nq,yes,r,ann,4\n"
    assert "--column system=NAME" in refused(file(without))


def test_a_filter_of_some_ratings_is_one_of_the_answer(file):
    text = HEADER.replace("score", "score,response_filter,simulated")
    path = file(text + "q,A,yes,r,ann,5,none,\nq,A,yes,r,bob,2,z,yes\nr,A,no,r,ann,1,none,\n")
    rows = list(open_table(path, scored=True).rows())
    assert [(row.response_filter, row.simulated) for row in rows] == [("z", True), ("none", False)]
    assert "through a response filter (z)" in gather(open_table(path, scored=True)).no_ratings


def test_answers_are_scored_once_although_no_scores_are_looked_at(file):
    table = open_table(file(HEADER + RATED), scored=False)
    assert [row.line for row in table.rows()] == [2, 4, 5]
    said = table.reading.as_json()
    assert said["rows"]["merged"] == 1
    assert said["left_out"] == ["score"]
