"""Decimal commas: in scores of files and in amounts of forms, where they mean one thing only."""

import pytest

import evaluations.file_table
import judgments.rating_table
import releases.score_files
from core.files.cells import AmbiguousNumberError, with_point
from core.files.refusals import FileRefusedError
from core.files.text_source import TextSource
from core.money import AmountError, entered_cents
from evaluations.errors import EvaluationError
from judgments.rating_source import number, read_integer
from metrics.agreement import scale
from releases.score_files import Scale, row_of

HALVES = scale.Scale.of("1", "5", "0.5")


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("0,30", 30),
        ("0.3", 30),
        ("$ 12", 1200),
        ("€0,05", 5),
        ("1,234.50", 123_450),
        ("1.234,50", 123_450),
        ("1 234,50", 123_450),
        ("1,234,567", 123_456_700),
    ],
)
def test_amounts_are_taken_as_people_write_them(text, cents):
    assert entered_cents(text) == cents


@pytest.mark.parametrize("text", ["1,234", "1.234", "$ 12,000"])
def test_an_amount_that_may_be_two_is_refused_with_both_ways_to_write_it(text):
    with pytest.raises(AmountError, match=r"thousands or three decimals: write \d+\.00, or an amount"):
        entered_cents(text)


@pytest.mark.parametrize("text", ["", "-1", "1,23,4", "0.005", "12,34.5", "one", "1e3"])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(AmountError, match="Write an amount with two decimals"):
        entered_cents(text)


def test_the_sign_of_another_currency_is_no_amount_where_one_is_meant():
    assert entered_cents("€2", "EUR") == entered_cents("2", "EUR") == entered_cents("$ 2", "USD") == 200
    for text, currency in (("€2", "USD"), ("2 £", "USD"), ("$2", "EUR"), ("$2", "PLN")):
        with pytest.raises(AmountError, match=f"Sums here are in {currency}, not in [$€£]"):
            entered_cents(text, currency)


def test_a_form_refuses_the_sign_of_another_currency_than_its_own():
    from crowd.desk.forms import AmountForm

    assert AmountForm({"amount": "€2"}).errors == {
        "amount": ["Sums here are in USD, not in €. Write the amount without a sign."]
    }
    assert AmountForm({"amount": "€2"}, currency="EUR").is_valid()
    assert "not in $" in str(AmountForm({"amount": "$2"}, currency="EUR").errors)


def test_an_amount_of_thousands_of_digits_is_refused():
    with pytest.raises(AmountError, match="too long for an amount"):
        entered_cents("9" * 5000)


def test_every_field_of_money_takes_a_decimal_comma():
    from crowd.desk.forms import BudgetForm
    from crowd.study.schema import Amount
    from marketplace.requester.batchforms import AmountField as Batch
    from marketplace.requester.forms import BonusForm, DepositForm

    desk, requester, money = (
        form.base_fields[name]
        for form, name in ((BudgetForm, "budget"), (BonusForm, "amount"), (DepositForm, "amount"))
    )
    fields = (desk, Batch(), requester, money)
    taken = [field.clean("0,30") for field in fields]
    assert [*taken, Amount().read("0,30")] == [30] * 5


def test_scores_have_a_point_or_a_comma():
    rows = [{"query": "q", "answer": "a", "score": score} for score in ("3,5", "3.5", " 4,0 ")]
    assert [row_of(row, line=1, scale=Scale(1, 5)).mean for row in rows] == [3.5, 3.5, 4.0]
    assert (number("12,5"), read_integer("3,0"), number("1,234")) == (12.5, 3, None)


def test_a_score_that_may_be_two_numbers_is_refused_in_a_sentence():
    with pytest.raises(AmbiguousNumberError, match=r"1,234 may be 1\.234 or 1234: write it with"):
        with_point("1,234")
    assert [with_point(text) for text in ("0,125", "12,3456", "1,2,3", "x,5")] == [
        "0.125", "12.3456", "1,2,3", "x,5",
    ]  # fmt: skip


@pytest.fixture(params=["evaluate", "import-scores", "filter"])
def means(request, tmp_path):
    """Scores of two rows as each command reads them, with what it says of them."""

    def read(separator, *scores):
        path = tmp_path / "t.csv"
        quoted = [f'"{score}"' for score in scores]
        if request.param == "filter":
            rows = [["item", "worker", "score"], ["q", "a", quoted[0]], ["q", "b", quoted[1]]]
        else:
            rows = [
                ["question", "answer", "reference", "scores"],
                ["q", "a", "r", quoted[0]],
                ["q", "b", "r", quoted[1]],
            ]
        path.write_text("".join(separator.join(row) + "\n" for row in rows))
        if request.param == "evaluate":
            table = evaluations.file_table.open_table(path, scored=True)
            return [row.human for row in table.rows()], table.notes
        if request.param == "filter":
            said = judgments.rating_table.read_ratings(path, scale=HALVES)
            return [score / 2 for score in said.ratings.scores.tolist()], said.notes
        refused = []
        table = releases.score_files.open_table(TextSource(path))
        found = [row.mean for row in table.rows(Scale(), lambda *why: refused.append(why))]
        if refused:
            raise ValueError(" ".join(map(str, refused)))
        return found, table.hints()

    return read


def test_every_reader_takes_decimal_commas_where_no_comma_separates_and_says_so(means):
    for separator in (";", "|"):
        found, said = means(separator, "3,5", "4,0")
        assert found == [3.5, 4.0]
        assert [each for each in said if each.startswith("Commas")] == [
            "Commas in numbers were read as decimal points: 3,5 as 3.5. If two numbers were meant, write "
            "them apart."
        ]
    assert not [each for each in means(";", "3.5", "4")[1] if each.startswith("Commas")]


@pytest.mark.parametrize(
    ("separator", "score", "words"),
    [
        (",", "3,5", r"3.* 3,5 may have a decimal comma, or be two numbers: write it with a decimal point"),
        (";", "1,234", r"3.* 1,234 may be 1\.234 or 1234: write it with a decimal point, or without a comma"),
    ],
)
def test_every_reader_refuses_what_may_be_two_numbers_with_its_line(means, separator, score, words):
    with pytest.raises((ValueError, EvaluationError, FileRefusedError), match=words):
        means(separator, "3", score)
