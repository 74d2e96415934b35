"""Packed linear layers say what plain ones say."""

import copy

import pytest
import torch
from torch import nn

from distillery_learned.metrics import networks
from distillery_learned.metrics.networks import PackedLinear, pack
from tests.learned import tiny


@pytest.fixture
def network():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        inner = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 7, bias=False))
        return nn.ModuleDict({"first": nn.Linear(24, 24), "rest": inner}).eval()


def outcome(network, inputs):
    with torch.inference_mode():
        return network["rest"](network["first"](inputs))


@pytest.mark.parametrize("shape", [(24,), (1, 24), (5, 24), (3, 1, 24), (2, 40, 24), (0, 24)])
def test_a_packed_network_says_what_the_plain_one_says(network, shape):
    inputs = torch.linspace(-2, 2, torch.Size(shape).numel()).reshape(shape)
    plain = outcome(network, inputs)
    packed = copy.deepcopy(network)
    pack(packed)
    found = outcome(packed, inputs)

    assert found.shape == plain.shape
    assert torch.allclose(found, plain, atol=1e-6, rtol=1e-5)


def test_inputs_need_not_lie_in_one_piece(network):
    inputs = torch.linspace(-2, 2, 24 * 10).reshape(24, 10).T
    packed = copy.deepcopy(network)
    pack(packed)
    assert torch.allclose(outcome(packed, inputs), outcome(network, inputs), atol=1e-6, rtol=1e-5)


def test_linear_layers_are_packed_where_the_operators_are_there(network):
    pack(network)
    kinds = {type(module) for module in network.modules()}
    assert (PackedLinear in kinds) == networks.works()


def test_a_network_stays_as_it_is_where_they_are_not(network, monkeypatch):
    monkeypatch.setattr(networks, "works", lambda: False)
    pack(network)
    assert PackedLinear not in {type(module) for module in network.modules()}


def test_layers_of_other_kinds_and_precisions_stay(network):
    network = network.double()
    pack(network)
    assert PackedLinear not in {type(module) for module in network.modules()}


def test_a_whole_encoder_says_the_same(tmp_path):
    from distillery_learned.metrics.encoders import encoder

    base = encoder(tiny.bert(tmp_path / "bert"))
    given = base.tokenizer(["the ticket costs 12 euros", "it is red"], padding=True, return_tensors="pt")
    with torch.inference_mode():
        plain = base.model(**given).last_hidden_state
        pack(base.model)
        packed = base.model(**given).last_hidden_state
    assert torch.allclose(packed, plain, atol=2e-6)
