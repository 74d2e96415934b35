from dataclasses import replace

import numpy as np
import pytest

from distillery_learned.metrics.adem import Projection
from distillery_learned.metrics.adem_examples import FORMS, RatedResponse, Settings, encode
from distillery_learned.training.adem import train
from distillery_learned.training.sources import split
from metrics.errors import MetricError
from metrics.metaeval.correlation import column_correlation
from tests.learned.adem.making import Letters, encoded, rated

SETTINGS = Settings(n=7, penalty=0.001, epochs=60, seed=1)


@pytest.fixture(scope="module")
def whole():
    return encoded(600, contexts=120)


@pytest.fixture(scope="module")
def parts(whole):
    rows = split(whole.keys, seed=0)
    return [whole.part(each) for each in (rows.train, rows.validation, rows.test)]


@pytest.fixture(scope="module")
def trained(parts):
    return train(parts[0], parts[1], SETTINGS)


def test_each_text_is_encoded_once():
    encoder = Letters()
    examples = [
        RatedResponse("a", ("one", "two"), ("yes", "no"), "maybe", "s", 1.0),
        RatedResponse("a", ("one", "two"), ("yes",), "no", "t", 2.0),
        RatedResponse("b", (), (), "maybe", "s", 3.0),
    ]
    heard = []
    found = encode(examples, encoder, lambda *said: heard.append(said))

    assert encoder.asked == [("one", "two"), "maybe", "yes", "no"]
    assert found.contexts.tolist() == [0, 0, -1]
    assert found.responses.tolist() == [1, 3, 1]
    assert (found.references.tolist(), found.starts.tolist()) == ([2, 3, 2], [0, 2, 3, 3])
    assert heard[-1] == (4, 4, "encoding texts")


def test_a_part_keeps_what_belongs_to_its_examples():
    found = encoded(12, contexts=4, references=3)
    part = found.part([7, 2])

    assert part.keys == (found.keys[7], found.keys[2])
    assert part.scores.tolist() == found.scores[[7, 2]].tolist()
    assert part.references.tolist() == [*found.references[21:24], *found.references[6:9]]
    assert part.starts.tolist() == [0, 3, 6]


@pytest.mark.long
def test_training_finds_what_people_like(parts, trained):
    test = parts[2]
    before, after = (
        column_correlation(values, test.scores) for values in (trained.initial(test), trained.score(test))
    )

    assert after > 0.5
    assert after > before
    assert set(trained.forms) == set(FORMS)


def test_scores_before_training_span_the_scale_on_the_training_part(parts, trained):
    for form in FORMS:
        values = trained.initial(parts[0], form)
        assert (values.min(), values.max()) == pytest.approx((1, 5), abs=1e-9)


def test_scores_are_those_of_a_literal_loop(parts, trained):
    test, projection = parts[2], trained.projection
    form = trained.forms["adem"]
    for row in range(5):
        c, a = (
            projection.components @ (test.vectors[place] - projection.mean)
            for place in (test.contexts[row], test.responses[row])
        )
        r = projection.components @ (test.vectors[test.references[test.starts[row]]] - projection.mean)
        value = (c @ form.m @ a + r @ form.n @ a - form.alpha) / form.beta
        assert trained.score(test)[row] == pytest.approx(value, abs=1e-9)


def test_the_projection_sees_training_alone(parts, trained):
    used = {*parts[0].contexts, *parts[0].responses, *parts[0].references}
    alone = Projection.of(parts[0].vectors[sorted(used)], 7)
    other = replace(parts[1], scores=parts[1].scores[::-1], vectors=parts[1].vectors.copy())
    outside = sorted({*range(len(other.vectors))} - used)
    other.vectors[outside] += 100

    assert trained.projection.components == pytest.approx(alone.components, abs=1e-9)
    assert np.array_equal(
        train(parts[0], other, SETTINGS).projection.components, trained.projection.components
    )


def test_forms_look_at_what_they_compare_with_alone(parts, trained):
    test = parts[2]
    others = np.roll(test.references, 1)
    without = replace(test, references=others)
    elsewhere = replace(test, contexts=np.roll(test.contexts, 1))

    assert np.array_equal(trained.score(without, "c-adem"), trained.score(test, "c-adem"))
    assert np.array_equal(trained.score(elsewhere, "r-adem"), trained.score(test, "r-adem"))
    assert not np.array_equal(trained.score(without), trained.score(test))
    assert not np.array_equal(trained.score(elsewhere), trained.score(test))


def test_order_and_company_of_examples_change_no_score(parts, trained):
    test = parts[2]
    order = np.random.default_rng(0).permutation(len(test))
    whole = trained.score(test)

    assert trained.score(test.part(order)) == pytest.approx(whole[order], abs=1e-9)
    assert trained.score(test.part([3])) == pytest.approx(whole[[3]], abs=1e-9)


def test_the_same_data_and_seed_give_the_same_model(parts, trained):
    again = train(parts[0], parts[1], SETTINGS)

    assert again.history == trained.history
    for form in FORMS:
        for name in "mn":
            first, second = (getattr(one.forms[form], name) for one in (trained, again))
            assert first is second is None or np.array_equal(first, second)


@pytest.mark.long
def test_of_several_references_the_best_counts():
    found = encoded(120, references=3)
    rows = split(found.keys, seed=0)
    model = train(found.part(rows.train), found.part(rows.validation), replace(SETTINGS, which=("r-adem",)))
    test = found.part(rows.test)
    each = [
        model.score(
            replace(test, references=test.references[nth::3], starts=np.arange(len(test) + 1)), "r-adem"
        )
        for nth in range(3)
    ]

    assert model.score(test, "r-adem") == pytest.approx(np.max(each, 0), abs=1e-9)


def test_what_an_example_lacks_makes_its_score_undefined(trained):
    examples = rated(3)
    some = [
        examples[0],
        replace(examples[1], references=()),
        replace(examples[2], context=()),
    ]
    found = encode(some, Letters())

    assert np.isnan(trained.score(found, "adem")).tolist() == [False, True, True]
    assert np.isnan(trained.score(found, "c-adem")).tolist() == [False, False, True]
    assert np.isnan(trained.score(found, "r-adem")).tolist() == [False, True, False]
    assert trained.score(found, "r-adem")[2] == pytest.approx(
        trained.score(encode(examples, Letters()), "r-adem")[2], abs=1e-9
    )


@pytest.mark.long
def test_n_penalty_and_rate_are_chosen_by_the_error_on_validation(parts):
    settings = replace(
        SETTINGS,
        n=None,
        penalty=None,
        rate=None,
        sizes=(2, 5, 99),
        penalties=(0.0, 0.1),
        rates=(0.01, 0.001),
        which=("r-adem",),
        epochs=10,
    )
    heard = []
    found = train(parts[0], parts[1], settings, lambda *said: heard.append(said))
    tried = found.tried["r-adem"]

    assert [(each.n, each.penalty, each.rate) for each in tried] == [
        (n, penalty, rate) for n in (2, 5, 12) for penalty in (0.0, 0.1) for rate in (0.01, 0.001)
    ]
    assert found.best_trials["r-adem"] == min(tried, key=lambda each: each.best.validation)
    assert found.forms["r-adem"].size == found.best_trials["r-adem"].n
    assert heard[-1] == (12, 12, "training r-adem")


def test_oversampling_is_part_of_training_alone(parts):
    lengths = np.rint(9 - parts[0].scores).astype(int)
    biased = replace(parts[0], lengths=lengths)
    plain = train(biased, parts[1], replace(SETTINGS, epochs=1))
    more = train(biased, parts[1], replace(SETTINGS, epochs=1, oversample=True))

    assert np.array_equal(more.initial(parts[2]), plain.initial(parts[2]))
    assert not np.array_equal(more.score(parts[2]), plain.score(parts[2]))


def test_what_cannot_be_trained_is_refused_with_a_remedy(parts):
    train_part, validation, _ = parts
    with pytest.raises(MetricError, match="is in training and in validation"):
        train(train_part, train_part, SETTINGS)
    with pytest.raises(MetricError, match="n is 40, and the vectors of training have only 12 components"):
        train(train_part, validation, replace(SETTINGS, n=40))
    with pytest.raises(MetricError, match="different encoders"):
        other = Letters()
        other.digest = "2" * 64
        train(train_part, replace(validation, encoder=other), SETTINGS)
    bare = encode([replace(one, references=()) for one in rated(20, contexts=10)], Letters())
    with pytest.raises(MetricError, match="2 examples for training with a score and context and reference"):
        train(bare.part(range(5)), bare.part(range(5, 10)), SETTINGS)
    assert set(
        train(bare.part(range(5)), bare.part(range(5, 10)), replace(SETTINGS, n=3, which=("c-adem",))).forms
    ) == {"c-adem"}


def test_settings_that_say_nothing_are_refused():
    for wrong, what in (
        ({"which": ()}, "forms"),
        ({"which": ("d-adem",)}, "d-adem"),
        ({"scale": (5.0, 1.0)}, "low to high"),
        ({"batch": 0}, "batch is 0"),
        ({"rate": 0.0}, "rate"),
        ({"penalty": -1.0}, "penalty"),
        ({"n": None, "sizes": ()}, "choose n"),
        ({"n": 0}, "n is 0"),
        ({"judge": "people"}, "error or pearson"),
    ):
        with pytest.raises(MetricError, match=what):
            Settings(**wrong)
