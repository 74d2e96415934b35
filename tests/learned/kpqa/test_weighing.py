"""Weights of words do not depend on batches, padding, order or the cache, and are those of the network."""

import random
import socket

import numpy as np
import pytest

from distillery_learned.metrics import word_weights
from distillery_learned.metrics.networks import load_network
from distillery_learned.metrics.pieces import windows
from distillery_learned.metrics.word_weights import WordWeights, on_places, on_tokens, weigher
from metrics.catalogue import metric
from metrics.errors import MetricError
from metrics.model_folders import Choice, choice, with_models
from metrics.profiles import profile
from metrics.tokens import TOKENISERS, tokeniser_named
from tests.learned import tiny

PAIRS = [
    ("How much does the ticket cost?", "The ticket costs 12 euros and weighs 9 grams."),
    ("How much does the book cost?", "It costs 9 euros."),
    ("What is it?", "A very old house in the city, at the river."),
    ("What is it?", "yes"),
    ("", "A question of no words."),
    ("What?", ""),
    ("What is 漢字?", "漢字 and \N{ZERO WIDTH SPACE}\x00\x07 naïve cafés — 🙂🙂 £5"),
    ("What?", "\ud800 half a pair"),
    ("How long is it?", " ".join(f"the car costs {n} euros and it is red" for n in range(40))),
]


@pytest.fixture
def model(trained_predictor):
    return trained_predictor


@pytest.fixture(autouse=True)
def _fresh():
    word_weights._load.cache_clear()


def chosen(model):
    return choice(model.path)[1]


def literal(model, question, answer):
    """Each window alone through the plain network, without padding."""
    import torch

    network, base = load_network(model.path, model.settings["units"])
    found, words = windows(base.tokenizer, [(question, answer)], model.settings["longest"])
    weights = np.zeros(len(words[0]))
    for window in found:
        ids = torch.tensor([window.ids])
        with torch.no_grad():
            logits = network(ids, torch.ones_like(ids), torch.tensor([window.types]))[0]
        likely = torch.softmax(logits.double(), -1)[:, 1].numpy()
        weights[list(window.word_numbers)] = likely[list(window.firsts)]
    return weights


def test_a_word_has_the_probability_of_its_first_piece(model):
    found = weigher(chosen(model)).weigh(PAIRS)

    for (question, answer), weighed in zip(PAIRS, found, strict=True):
        assert weighed.weights == pytest.approx(literal(model, question, answer), abs=1e-6)
        assert len(weighed.spans) == len(weighed.weights)
        assert ((weighed.weights >= 0) & (weighed.weights <= 1)).all()


def test_a_trained_predictor_finds_the_key_phrase_by_the_question(model):
    answer = "The old ticket costs 340 euros and weighs 12 grams today."
    weighed = weigher(chosen(model)).weigh([("How much does the ticket cost?", answer)])[0]

    best = weighed.spans[int(np.argmax(weighed.weights))]
    assert answer[slice(*best)] == "340"


def test_the_right_number_counts_more_than_all_the_other_words(model):
    here = with_models(profile("default"), [model.path])
    question = "How much does the ticket cost?"
    reference = "The old ticket costs 340 euros and weighs 12 grams today."
    right = "The old ticket costs 340 euros."
    wrong = "The old ticket costs 560 euros and weighs 12 grams today."
    by_keyphrase, plain = (metric(name, here) for name in ("rouge-l-kpqa", "rouge-l"))
    given = [right, wrong], [[reference]] * 2, [question] * 2

    assert np.argmax(by_keyphrase.score(*given)) == 0
    assert np.argmax(plain.score(*given)) == 1


@pytest.mark.long
def test_order_company_and_sizes_of_batches_change_no_weight(model, monkeypatch):
    whole = weigher(chosen(model)).weigh(PAIRS)
    shuffled = list(range(len(PAIRS))) * 2
    random.Random(1).shuffle(shuffled)

    for budget, at_once in ((1, 1), (64, 100), (1 << 20, 1 << 20)):
        monkeypatch.setattr(word_weights, "ON_CPU", budget)
        monkeypatch.setattr(word_weights, "AT_ONCE", at_once)
        word_weights._load.cache_clear()
        again = weigher(chosen(model)).weigh([PAIRS[place] for place in shuffled])
        for place, weighed in zip(shuffled, again, strict=True):
            assert weighed.weights == pytest.approx(whole[place].weights, abs=1e-6)


def test_what_the_tokeniser_drops_has_no_weight(model):
    answer = "yes \x00 no"
    weighed = weigher(chosen(model)).weigh([("What?", answer)])[0]

    of_word = {
        answer[slice(*span)]: weight for span, weight in zip(weighed.spans, weighed.weights, strict=True)
    }
    assert of_word["\x00"] == 0
    assert of_word["yes"] > 0
    assert of_word["no"] > 0


def test_an_answer_without_words_has_no_weights(model):
    found = weigher(chosen(model)).weigh([("What?", ""), ("What?", " \n ")])
    assert [len(weighed.weights) for weighed in found] == [0, 0]
    assert weigher(chosen(model)).weigh([]) == []


def test_each_pair_is_computed_once_and_the_question_matters(model, monkeypatch):
    asked = []
    compute = word_weights.LoadedModel.weights
    monkeypatch.setattr(
        word_weights.LoadedModel, "weights", lambda self, pairs: asked.extend(pairs) or compute(self, pairs)
    )
    by = weigher(chosen(model))
    first = by.weigh([PAIRS[0], PAIRS[1], PAIRS[0]])
    other = weigher(chosen(model)).weigh([PAIRS[0], ("What is it?", PAIRS[0][1])])

    assert sorted(asked) == sorted([PAIRS[0], PAIRS[1], ("What is it?", PAIRS[0][1])])
    assert (first[0].weights == first[2].weights).all()
    assert (first[0].weights == other[0].weights).all()
    assert abs(other[0].weights - other[1].weights).max() > 1e-4


@pytest.mark.long
def test_a_predictor_without_the_question_gives_every_question_the_same_weights(tmp_path):
    blind = tiny.kpqa(tmp_path / "blind", with_question=False)
    found = weigher(chosen(blind)).weigh([("How much?", "It costs 9 euros."), ("Who?", "It costs 9 euros.")])
    assert (found[0].weights == found[1].weights).all()


def test_another_model_in_the_folder_is_refused(model, tmp_path):
    with pytest.raises(MetricError, match=r"holds the model kpqa-.* and kpqa-000000000000 is asked for"):
        weigher(Choice(str(model.path), "0" * 64))
    with pytest.raises(MetricError, match="is no model"):
        weigher(Choice(str(tmp_path), "0" * 64))


def test_nothing_is_loaded_twice_or_asked_of_the_network(model, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    by = weigher(chosen(model))
    by.weigh(PAIRS[:2])
    assert weigher(chosen(model)).loaded is by.loaded


def weighed(text, **weights):
    spans = word_weights.cut_words(text)
    return WordWeights(spans, np.array([weights.get(text[slice(*span)], 0.0) for span in spans]))


@pytest.mark.long
def test_tokens_of_any_tokeniser_have_the_weight_of_the_word_they_stand_on():
    text = "It's (about) 1923, don't you know?"
    given = weighed(text, It=0.1, s=0.2, about=0.3, don=0.5, t=0.6, you=0.7, know=0.8, **{"1923": 0.4})

    def on(name):
        tokens = tokeniser_named(name).split(text)
        return dict(zip(tokens, on_tokens(text, tokens, given), strict=True))

    assert on("default")["1923"] == 0.4
    by_space = {"It's": 0.2, "(about)": 0.3, "1923,": 0.4, "don't": 0.6, "you": 0.7, "know?": 0.8}
    assert on("whitespace") == by_space
    ptb = on("ptb")
    assert (ptb["it"], ptb["'s"], ptb["do"], ptb["n't"], ptb["1923"]) == (0.1, 0.2, 0.5, 0.6, 0.4)
    characters = on_tokens("ab c", ["a", "b", "c"], weighed("ab c", ab=0.5, c=0.25))
    assert characters == [0.5, 0.5, 0.25]


def test_a_token_that_says_something_else_has_the_words_between_its_neighbours():
    text = "costs twenty two euros"
    given = weighed(text, costs=0.1, twenty=0.8, two=0.6, euros=0.2)

    assert on_tokens(text, ["costs", "22", "euros"], given) == [0.1, 0.8, 0.2]
    assert on_tokens(text, ["22", "7"], given) == [0.8, 0.8]
    later = "twenty two euros or 22"
    given = weighed(later, twenty=0.8, two=0.6, euros=0.2, **{"or": 0.1, "22": 0.5})
    assert on_tokens(later, ["22", "euros", "or", "22"], given) == [0.8, 0.2, 0.1, 0.5]
    assert on_tokens("", ["22"], weighed("")) == [0.0]
    assert on_tokens(text, [], given) == []


def test_no_tokeniser_loses_its_way():
    text = 'Say "1 1/2" & £5... -- don\'t! I cannot e.g. see U.S.A. (or naïve Rue) at 12:30, 7 km'
    given = WordWeights(word_weights.cut_words(text), np.linspace(0.1, 1, len(word_weights.cut_words(text))))
    last = given.weights[-1]

    for name in TOKENISERS:
        tokens = tokeniser_named(name).split(text)
        weights = on_tokens(text, tokens, given)
        assert len(weights) == len(tokens)
        assert weights[-1] == last, name
        assert weights[0] == given.weights[0], name
        assert sum(weight == last for weight in weights) == (2 if name.startswith("char") else 1), name


def test_a_place_has_the_greatest_weight_of_the_words_that_stand_there():
    given = weighed("ab cd ef", ab=0.1, cd=0.9, ef=0.3)
    assert on_places([(0, 2), (1, 4), (2, 3), (5, 8), (0, 8)], given) == [0.1, 0.9, 0.0, 0.3, 0.9]
