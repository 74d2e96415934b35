"""The loss of a batch is that of a literal loop over words, however windows are batched and padded."""

import pytest
import torch

from distillery_learned.metrics.encoders import encoder
from distillery_learned.metrics.networks import KeyphraseNetwork
from distillery_learned.training.kpqa_epochs import NO_WORD, batch_of, labelled, logits_of, loss_of
from tests.learned import tiny

EXAMPLES = [
    *tiny.costs(5),
    tiny.Example("How much?", "4 euros", ((0, 1),), "made", "1"),
    tiny.Example("How much? " * 8, "the book costs 7 euros " * 6, ((15, 16), (38, 39)), "made", "2"),
]


@pytest.fixture(scope="module", params=["bert", "roberta"])
def base(request, tmp_path_factory):
    return encoder(getattr(tiny, request.param)(tmp_path_factory.mktemp(request.param)))


@pytest.fixture
def network(base):
    torch.manual_seed(1)
    return KeyphraseNetwork(base.model, 16).eval()


def padding(base):
    return base.tokenizer.pad_token_id


def gradients(network):
    return {name: value.grad.clone() for name, value in network.named_parameters() if value.grad is not None}


@pytest.mark.parametrize("with_question", [True, False])
@pytest.mark.parametrize("longest", [64, 20])
def test_the_loss_of_a_batch_is_that_of_a_literal_loop(base, network, with_question, longest) -> None:
    data = labelled(base.tokenizer, EXAMPLES, longest, with_question=with_question)
    batch = batch_of(data, range(len(data)), padding(base), "cpu")
    with torch.no_grad():
        ours = loss_of(logits_of(network, batch), batch)
        literal = tiny.literal_loss(network, base.tokenizer, EXAMPLES, longest, with_question=with_question)
    assert float(ours) == pytest.approx(float(literal), abs=1e-6)


def test_padding_and_order_change_neither_loss_nor_gradients(base, network) -> None:
    data = labelled(base.tokenizer, EXAMPLES, 64)
    network.double()

    def of(*batches):
        network.zero_grad()
        losses = []
        for which in batches:
            batch = batch_of(data, which, padding(base), "cpu")
            losses.append(loss_of(logits_of(network, batch), batch, mean=False) / len(data.labels))
        sum(losses).backward()
        return float(sum(losses).detach()), gradients(network)

    everything = list(range(len(data)))
    loss, whole = of(everything)
    for batches in ([everything[::-1]], [[at] for at in everything], [everything[:3], everything[3:]]):
        other, parts = of(*batches)
        assert other == pytest.approx(loss, abs=1e-12)
        for name, value in whole.items():
            torch.testing.assert_close(parts[name], value, rtol=0, atol=1e-12)
    network.float()


def test_only_first_pieces_of_words_of_the_answer_have_a_part(base, network) -> None:
    data = labelled(base.tokenizer, EXAMPLES, 64)
    batch = batch_of(data, range(len(data)), padding(base), "cpu")
    logits = network(batch.ids, batch.mask, batch.types)  # of every piece
    logits.retain_grad()
    chosen = logits.gather(1, batch.firsts[:, :, None].expand(-1, -1, 2))
    torch.testing.assert_close(chosen, logits_of(network, batch), rtol=0, atol=1e-6)
    loss_of(chosen, batch).backward()
    touched = {(int(row), int(at)) for row, at, _ in logits.grad.nonzero()}
    firsts = {(row, int(batch.firsts[row, at])) for row, at in (batch.labels != NO_WORD).nonzero().tolist()}
    assert touched == firsts
    assert len(firsts) == batch.word_count


def test_only_the_layer_for_whole_sentences_learns_nothing_and_is_left_out(base, network) -> None:
    data = labelled(base.tokenizer, EXAMPLES, 64)
    batch = batch_of(data, range(len(data)), padding(base), "cpu")
    network.zero_grad()
    loss_of(logits_of(network, batch), batch).backward()
    without = [name for name, value in network.named_parameters() if value.grad is None]
    assert without == []


def test_logits_in_half_precision_are_compared_in_full(base, network) -> None:
    data = labelled(base.tokenizer, EXAMPLES, 64)
    batch = batch_of(data, range(len(data)), padding(base), "cpu")
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        logits = logits_of(network, batch)
    assert logits.dtype == torch.float32
    with torch.no_grad():
        assert float(loss_of(logits, batch)) == pytest.approx(
            float(loss_of(logits_of(network, batch), batch)), abs=0.05
        )
