import random

import numpy as np
import pytest

from distillery_learned.metrics.gru import GruSettings, load, train_gru
from distillery_learned.metrics.text_encoders import text_encoder
from metrics.errors import MetricError

SETTINGS = GruSettings(
    pieces=330, embedding=16, units=24, width=20, longest=20, turns=4, batch=16, rate=0.01, epochs=6,
    device="cpu",
)  # fmt: skip
SMALL = GruSettings(pieces=300, embedding=8, units=8, width=8, epochs=1, batch=16, device="cpu")
LONG = "who sees the cat and the dog and the fish and the king and the queen and the bird " * 3


def dialogues(count: int = 240) -> list[tuple[str, ...]]:
    """The last turn says who and what of the first, in another order."""
    drawn = random.Random(0)
    who, does = ("cat", "dog", "bird", "fish", "king", "queen"), ("eats", "sees", "likes", "hates")
    found = []
    for _ in range(count):
        one, verb, other = drawn.choice(who), drawn.choice(does), drawn.choice(who)
        found.append((f"Does the {one} {verb} the {other}?", f"yes, {other} {verb} {one}", "good"))
    return found


@pytest.fixture(scope="module")
def encoder():
    return train_gru(dialogues(), SETTINGS)


@pytest.mark.long
def test_the_dialogue_model_learns_what_comes_next(encoder):
    history = encoder.history
    perplexity = history["perplexity"]

    assert perplexity[-1] < perplexity[1] < perplexity[0]
    assert perplexity[history["best"]] == min(perplexity) < history["unigram"] / 2
    assert history["dialogues"] + history["held"] == len(set(dialogues()))


@pytest.mark.long
def test_neither_padding_nor_company_changes_a_vector(encoder):
    contexts = [("yes",), ("Does the cat see the dog?", "yes", LONG), ("", "good"), (LONG,), ("a",) * 9]
    together = encoder.contexts(contexts)
    alone = np.concatenate([encoder.contexts([context]) for context in contexts])

    assert together.shape == (5, 20)
    assert together == pytest.approx(alone, abs=1e-6)
    assert encoder.contexts(contexts[::-1])[::-1] == pytest.approx(together, abs=1e-6)


@pytest.mark.long
def test_a_text_is_a_context_of_one_turn_and_turns_count_in_order(encoder):
    assert encoder.texts(["good"]) == pytest.approx(encoder.contexts([("good",)]), abs=1e-6)
    two, other = encoder.contexts([("yes", "good"), ("good", "yes")])
    assert np.abs(two - other).max() > 1e-3
    assert encoder.texts([]).shape == (0, 20)


@pytest.mark.long
def test_the_last_turns_are_read_and_the_first_pieces(encoder):
    many = tuple(f"turn {number}" for number in range(9))

    assert encoder.contexts([many]) == pytest.approx(encoder.contexts([many[-4:]]), abs=1e-6)
    assert encoder.texts([LONG]) == pytest.approx(encoder.texts([LONG + " more"]), abs=1e-6)


def test_padded_steps_leave_the_states_of_a_gru_alone():
    import torch

    from distillery_learned.metrics.networks import NormedGru

    with torch.random.fork_rng():
        torch.manual_seed(0)
        gru = NormedGru(3, 4)
        inputs = torch.randn(2, 5, 3)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    states = gru(inputs, mask)

    assert torch.allclose(states[1, -1], gru(inputs[1:, :3], mask[1:, :3])[0, -1], atol=1e-6)


def test_a_state_is_that_of_a_literal_step():
    import torch

    from distillery_learned.metrics.networks import NormedGru

    def normed(values):
        return (values - values.mean()) / torch.sqrt(values.var(unbiased=False) + 1e-5)

    with torch.random.fork_rng():
        torch.manual_seed(1)
        gru = NormedGru(3, 4)
        inputs = torch.randn(1, 2, 3)
        for parameter in (gru.gains, gru.biases):
            torch.nn.init.normal_(parameter)
    state = torch.zeros(4)
    for step in range(2):
        own, around = (
            [
                normed(part) * gru.gains[which, gate] + gru.biases[which, gate]
                for gate, part in enumerate((layer.weight @ given).split(4))
            ]
            for which, (layer, given) in enumerate(((gru.inward, inputs[0, step]), (gru.around, state)))
        )
        reset, keep = torch.sigmoid(own[0] + around[0]), torch.sigmoid(own[1] + around[1])
        state = (1 - keep) * torch.tanh(own[2] + reset * around[2]) + keep * state

    assert torch.allclose(gru(inputs, torch.ones(1, 2, dtype=bool))[0, -1], state, atol=1e-6)


def test_the_loss_of_a_batch_is_that_of_its_dialogues_one_by_one():
    import torch

    from distillery_learned.metrics.networks import END, Dialogue, Reader

    with torch.random.fork_rng():
        torch.manual_seed(2)
        model = Dialogue(Reader(12, 5, 6, 7), 6).eval()
    ids = torch.tensor([[4, 5, END, 0], [6, END, 0, 0], [7, 8, 9, END], [10, END, 0, 0]])
    turns = torch.tensor([[0, 1, 2], [2, 3, -1]])
    with torch.inference_mode():
        whole, count = model(ids, turns)
        parts = [
            model(ids[[0, 1, 2]], torch.tensor([[0, 1, 2]])),
            model(ids[[2, 3]], torch.tensor([[0, 1]])),
        ]

    assert int(count) == 2 + 4 + 2 == sum(int(part[1]) for part in parts)
    assert float(whole) == pytest.approx(sum(float(part[0]) for part in parts), abs=1e-4)


@pytest.fixture(scope="module")
def small_encoder():
    return train_gru(dialogues(40), SMALL)


def test_the_same_dialogues_and_seed_give_the_same_encoder(small_encoder):
    again = train_gru(dialogues(40)[::-1], SMALL)

    assert small_encoder.digest == again.digest
    assert small_encoder.history == again.history


def test_what_was_saved_is_loaded_as_it_was(small_encoder, tmp_path):
    small_encoder.save(tmp_path / "gru")
    again = text_encoder(tmp_path / "gru", device="cpu")

    assert (again.kind, again.digest, again.width) == ("gru", small_encoder.digest, 8)
    assert np.array_equal(again.texts(["good", LONG]), small_encoder.texts(["good", LONG]))
    (tmp_path / "gru" / "tokenizer.json").unlink()
    with pytest.raises(MetricError, match="Is the folder whole"):
        load(tmp_path / "gru")


def test_dialogues_of_one_turn_teach_nothing():
    with pytest.raises(MetricError, match="two turns or more"):
        train_gru([("alone",), ("also alone",)], SETTINGS)
