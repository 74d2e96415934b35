"""BLEU-1-KPQA and ROUGE-L-KPQA are the formulas over the model's weights, whatever they are scored with."""

import math
import pickle
import socket
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import metrics
from distillery_learned.metrics import word_weights
from distillery_learned.metrics.kpqa import NO_MODEL
from distillery_learned.metrics.word_weights import on_tokens, weigher
from evaluations.choices import choose
from metrics.catalogue import KPQA as KPQA_NAMES
from metrics.catalogue import MAKERS, missing
from metrics.errors import MetricError
from metrics.explanation import explainable
from metrics.model_folders import choice, with_models
from metrics.profiles import profile
from metrics.scoring import in_chunks, score, score_chunks
from metrics.texts import NO_REFERENCE, Answers
from metrics.tokens import tokeniser_named
from tests.learned import tiny

ROWS = [
    ("How much does the ticket cost?", "The ticket costs 12 euros.", ["It costs 12 euros.", "12"]),
    (
        "How much does the ticket cost?",
        "It is 12 12 euros",
        ["The ticket costs 12 euros and weighs 9 grams."],
    ),
    (
        "What is it?",
        "the house the house in the city",
        ["the old house in the city, at the river", "a house"],
    ),
    ("What is it?", "The ticket costs 12 euros.", ["The book costs 9 euros."]),
    ("", "a question of no words", ["a question"]),
    ("What is 漢字?", "漢字 🙂 \x00 naïve", ["🙂 naïve 漢字"]),
    ("Who?", "", ["nobody"]),
    ("Who?", "nobody", [""]),
    ("Who?", "nothing alike", ["the red car"]),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    word_weights._load.cache_clear()
    return tiny.kpqa(tmp_path_factory.mktemp("kpqa") / "model")


@pytest.fixture(scope="module")
def here(model):
    return with_models(profile("default"), [model.path])


def columns(rows=ROWS):
    return [c for _, c, _ in rows], [r for *_, r in rows], [q for q, *_ in rows]


def tokens_and_weights(model, question, text):
    tokens = tokeniser_named("default").split(text)
    weighed = weigher(choice(model.path)[1]).weigh([(question, text)])[0]
    return tokens, on_tokens(text, tokens, weighed)


def f_of(precision, recall, beta=1.0):
    above, below = (1 + beta**2) * precision * recall, recall + beta**2 * precision
    return above / below if below else 0.0


def share(above, below):
    return above / below if below else 0.0


def literal_bleu(c, wc, r, _wr, *, repo):
    matched = 0.0
    for token in set(c):
        own = [weight for each, weight in zip(c, wc, strict=True) if each == token]
        matched += min(len(own), r.count(token)) * sum(own) / len(own)
    if not repo:
        return share(matched, sum(wc))
    ratio = (len(c) + 1e-15) / (len(r) + 1e-9)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    return (matched + 1e-15) / (sum(wc) + 1e-9) * penalty


def heaviest(c, r, weight):
    """Every common subsequence is tried, the heaviest counts."""
    table = [[0.0] * (len(r) + 1) for _ in range(len(c) + 1)]
    for i in range(1, len(c) + 1):
        for j in range(1, len(r) + 1):
            matched = table[i - 1][j - 1] + weight(i - 1, j - 1) if c[i - 1] == r[j - 1] else 0.0
            table[i][j] = max(table[i - 1][j], table[i][j - 1], matched)
    return table[-1][-1]


def literal_rouge(c, wc, r, wr, beta=1.0):
    precision = share(heaviest(c, r, lambda i, _: wc[i]), sum(wc))
    recall = share(heaviest(c, r, lambda _, j: wr[j]), sum(wr))
    return f_of(precision, recall, beta)


def literal_rouge_repo(c, wc, r, wr):
    table = [[0.0] * (len(c) + 1) for _ in range(len(r) + 1)]
    for j in range(1, len(r) + 1):
        for i in range(1, len(c) + 1):
            same = r[j - 1] == c[i - 1]
            table[j][i] = table[j - 1][i - 1] + wr[j - 1] if same else max(table[j - 1][i], table[j][i - 1])
    found = table[-1][-1] if c and r else 0.0
    return f_of(share(found, sum(wc)), share(found, sum(wr)))


LITERAL = {
    "bleu-1-kpqa": lambda *pair: literal_bleu(*pair, repo=False),
    "bleu-1-kpqa-repo": lambda *pair: literal_bleu(*pair, repo=True),
    "rouge-l-kpqa": literal_rouge,
    "rouge-l-kpqa-repo": literal_rouge_repo,
}


@pytest.mark.parametrize("name", LITERAL)
def test_values_are_the_formula_over_the_weights_of_the_model(name, model, here):
    found = metrics.metric(name, here).score(*columns())

    for value, (question, candidate, references) in zip(found, ROWS, strict=True):
        first = tokens_and_weights(model, question, candidate)
        every = [
            LITERAL[name](*first, *tokens_and_weights(model, question, reference)) for reference in references
        ]
        assert value == pytest.approx(max(every), abs=1e-6)


def test_beta_weighs_recall(model, here):
    tilted = with_models(profile("default"), [model.path])
    settings = {**tilted.settings, "kpqa": {**tilted.settings["kpqa"], "beta": 1.2}}
    tilted = type(tilted)(tilted.name, tilted.says, tilted.metrics, tilted.tokeniser, settings)
    made = metrics.metric("rouge-l-kpqa", tilted)
    question, candidate, references = ROWS[1]
    pair = (
        *tokens_and_weights(model, question, candidate),
        *tokens_and_weights(model, question, references[0]),
    )

    assert made.score(*columns([ROWS[1]]))[0] == pytest.approx(literal_rouge(*pair, beta=1.2), abs=1e-6)
    assert "|beta:1.2|" in made.signature


@pytest.mark.parametrize("name", KPQA_NAMES)
def test_values_stay_in_range_and_have_a_reason_where_there_is_none(name, here):
    rows = [*ROWS, ("Who?", "somebody", []), ("Who?", "", [])]
    made = metrics.metric(name, here)
    candidates, references, questions = columns(rows)
    found = score(Answers(candidates, references, questions), [made])

    values = found.values[name]
    assert np.isnan(values).tolist() == [not given for given in references]
    assert found.undefined[name] == {NO_REFERENCE: 2}
    some = values[~np.isnan(values)]
    assert ((some >= made.low) & (some <= made.high)).all()
    assert values[6] == pytest.approx(0, abs=1e-5)
    assert values[0] > values[8]


@pytest.mark.long
def test_order_and_company_of_answers_change_no_value(here):
    every = [metrics.metric(name, here) for name in KPQA_NAMES]
    candidates, references, questions = columns()
    whole = score(Answers(candidates, references, questions), every).values
    for place in (2, 0, 5):
        word_weights._load.cache_clear()
        alone = score(Answers(*columns([ROWS[place]])[:2], questions=[questions[place]]), every).values
        for name in KPQA_NAMES:
            assert alone[name][0] == pytest.approx(whole[name][place], abs=1e-6)


@pytest.mark.long
def test_two_processes_give_the_same_values(here):
    every = [metrics.metric(name, here) for name in KPQA_NAMES]
    candidates, references, questions = columns()
    chunks = in_chunks(Answers(candidates, references, questions), 5)
    one, two = (list(score_chunks(chunks, every, processes=number).values()) for number in (1, 2))
    for alone, shared in zip(one, two, strict=True):
        for name in KPQA_NAMES:
            assert shared[name] == pytest.approx(alone[name], abs=1e-6)


def test_weights_are_computed_once_for_all_metrics(here, monkeypatch):
    word_weights._load.cache_clear()
    asked = []
    compute = word_weights.LoadedModel.weights
    monkeypatch.setattr(
        word_weights.LoadedModel, "weights", lambda self, pairs: asked.extend(pairs) or compute(self, pairs)
    )
    candidates, references, questions = columns()
    score(Answers(candidates, references, questions), [metrics.metric(name, here) for name in KPQA_NAMES])

    pairs = {(q, text) for q, c, rs in ROWS for text in (c, *rs)}
    assert sorted(asked) == sorted(pairs)


def test_signatures_name_model_question_and_variant(model, here, tmp_path):
    short = model.signature
    assert [metrics.metric(name, here).signature for name in KPQA_NAMES] == [
        f"metric:bleu-1-kpqa|v:1|tok:default.2|variant:paper|refs:best|question:yes|model:{short}",
        f"metric:bleu-1-kpqa-repo|v:1|tok:default.2|variant:repo|refs:best|question:yes|model:{short}",
        f"metric:rouge-l-kpqa|v:1|tok:default.2|variant:weighted|beta:1|refs:best|question:yes|model:{short}",
        f"metric:rouge-l-kpqa-paper|v:1|tok:default.2|variant:paper|beta:1|refs:best|question:yes|model:{short}",
        f"metric:rouge-l-kpqa-repo|v:1|tok:default.2|variant:repo|beta:1|refs:best|question:yes|model:{short}",
    ]
    blind = tiny.kpqa(tmp_path / "blind", with_question=False)
    made = metrics.metric("bleu-1-kpqa", with_models(profile("default"), [blind.path]))
    assert f"|question:no|model:{blind.signature}" in made.signature


def test_without_a_model_a_metric_says_what_it_lacks():
    made = metrics.metric("rouge-l-kpqa")
    assert missing(made) == NO_MODEL
    assert made.signature.endswith("|question:yes|model:none")
    with pytest.raises(MetricError, match=r"rouge-l-kpqa cannot be scored here: no KPQA model is chosen"):
        made.score(["a"], [["a"]], ["q"])


def test_a_model_that_is_gone_or_another_is_refused(tmp_path):
    held = tiny.kpqa(tmp_path / "model")
    chosen = with_models(profile("default"), [held.path])
    (tmp_path / "model").rename(tmp_path / "moved")
    with pytest.raises(MetricError, match=r"cannot be scored here: .* is no model"):
        metrics.metric("bleu-1-kpqa", chosen).score(["a"], [["a"]], ["q"])
    tiny.kpqa(tmp_path / "model", seed=3)
    with pytest.raises(MetricError, match=r"holds the model kpqa-\w+, and kpqa-\w+ is asked for"):
        metrics.metric("bleu-1-kpqa", chosen).score(["a"], [["a"]], ["q"])


def test_questions_are_needed(here):
    with pytest.raises(MetricError, match="needs questions"):
        metrics.metric("bleu-1-kpqa", here).score(["a"], [["a"]])


def test_the_papers_profile_takes_word_pieces_for_tokens(model):
    kpqa = with_models(profile("kpqa-2021"), [model.path])
    made = metrics.metric("bleu-1-kpqa-repo", kpqa)
    assert "|tok:pieces|" in made.signature
    question, answer = "How much does it cost?", "zz costs 12 euros"
    weighed = weigher(choice(model.path)[1]).weigh([(question, answer)])[0]
    z, costs, number, euros = weighed.weights
    pieces = [z, z, costs, number, number, euros]  # z ##z costs 1 ##2 euros

    found = made.score([answer], [["zq zq zq costs 12"]], [question])[0]
    assert found == pytest.approx((z + costs + 2 * number) / sum(pieces) * math.exp(1 - 9 / 6), abs=1e-6)


def test_its_metrics_are_left_out_with_a_note_where_no_model_is_chosen():
    table = type("Table", (), {"has": {"question", "answer", "references"}, "title": "t", "external": {}})()
    chosen = choose(table, metrics=[], profile="kpqa-2021")

    assert "bleu-1-kpqa-repo" not in [made.name for made in chosen.metrics]
    notes = [note for note in chosen.notes if "kpqa-repo" in note]
    assert len(notes) == 2
    assert all(NO_MODEL in note for note in notes)


def test_they_are_in_the_catalogue_without_phrasing_aware_forms(here):
    assert set(KPQA_NAMES) <= set(MAKERS)
    assert not {f"pa-{name}" for name in KPQA_NAMES} & set(MAKERS)
    assert metrics.metric("BLEU1-KPQA", here).name == "bleu-1-kpqa"
    assert explainable(KPQA_NAMES, here) == []
    made = metrics.metric("rouge-l-kpqa", here)
    assert pickle.loads(pickle.dumps(made)).signature == made.signature


def test_the_catalogue_does_not_load_pytorch():
    code = (
        "import sys; from metrics.catalogue import metric; from metrics.catalogue import MAKERS; "
        "[metric(name) for name in MAKERS]; "
        "sys.exit(sum(name in sys.modules for name in ('torch', 'transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_asked_of_the_network(here, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a connection was asked for")

    word_weights._load.cache_clear()
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert metrics.metric("bleu-1-kpqa", here).score(["12 euros"], [["12 euros"]], ["How much?"])[0] == 1


@pytest.mark.long
def test_long_answers_in_a_chunk_do_not_fill_the_memory(here):
    long = " ".join(f"the car costs {n} euros" for n in range(150))
    candidates = [long] * 2 + [f"it costs {n % 50} euros" for n in range(4094)]
    references = [[long], ["the car"]] + [["it costs 7 euros"]] * 4094
    every = [metrics.metric(name, here) for name in KPQA_NAMES]
    score(Answers(candidates[:3], references[:3], ["How much?"] * 3), every)  # what is loaded once
    tracemalloc.start()
    try:
        found = score(Answers(candidates, references, ["How much?"] * 4096), every)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.values["rouge-l-kpqa"][0] == 1
    assert peak < 100 * 2**20
