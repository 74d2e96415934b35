"""The token classifier: encoder, a layer of 768 units with tanh, two classes (Lee et al. 2021, C.1)."""

import inspect
from pathlib import Path
from typing import Any

import torch
from torch import nn

from metrics.errors import MetricError
from metrics.learned.encoders import Encoder, encoder, quiet

UNITS = 768
_ENCODER, _HEAD = "encoder", "head.safetensors"


class KeyphraseNetwork(nn.Module):  # type: ignore[misc]  # torch's types are not read
    """Says of each word piece how likely its word is part of the key phrase.

    The encoder's layer for whole sentences (`pooler`), if it has one, is taken off: nothing here uses it, and
    where a checkpoint lacks it it would be random.
    """

    def __init__(self, base: Any, units: int = UNITS) -> None:
        super().__init__()
        self.base = base
        if getattr(base, "pooler", None) is not None:
            base.pooler = None
        self.typed = (
            "token_type_ids" in inspect.signature(base.forward).parameters
            and getattr(base.config, "type_vocab_size", 2) > 1
        )
        self.layer = nn.Linear(base.config.hidden_size, units)
        self.classes = nn.Linear(units, 2)

    def forward(self, ids: Any, mask: Any, types: Any = None, firsts: Any = None) -> Any:
        """Word pieces (B, L) with their mask -> logits (B, L, 2), of `firsts` (B, W) alone (B, W, 2)."""
        given = {"input_ids": ids, "attention_mask": mask}
        if types is not None and self.typed:
            given["token_type_ids"] = types
        states = self.base(**given).last_hidden_state
        if firsts is not None:
            states = states.gather(1, firsts[:, :, None].expand(-1, -1, states.shape[-1]))
        return self.classes(torch.tanh(self.layer(states)))


def save(network: KeyphraseNetwork, tokenizer: Any, folder: Path) -> None:
    """The files of a predictor: the encoder with its tokeniser as others can load them, and the head."""
    from safetensors.torch import save_file

    network.base.config._name_or_path = ""  # where the encoder lay does not make it another model
    with quiet():
        network.base.save_pretrained(folder / _ENCODER, safe_serialization=True)
        tokenizer.save_pretrained(folder / _ENCODER)
    head = {**_named("layer", network.layer), **_named("classes", network.classes)}
    save_file(head, folder / _HEAD)


def load(folder: Path, units: int = UNITS) -> tuple[KeyphraseNetwork, Encoder]:
    """What `save` wrote, ready to score; MetricError where the head is not one of `units` for the encoder."""
    from safetensors.torch import load_file

    base = encoder(folder / _ENCODER)
    network = KeyphraseNetwork(base.model, units)
    try:
        head = load_file(folder / _HEAD)
        network.layer.load_state_dict(_of("layer", head))
        network.classes.load_state_dict(_of("classes", head))
    except (OSError, ValueError, RuntimeError) as error:
        raise MetricError(f"{folder / _HEAD} is no head of {units} units for its encoder.") from error
    return network.eval(), base


def _named(name: str, module: Any) -> dict[str, Any]:
    return {f"{name}.{key}": value.contiguous().cpu() for key, value in module.state_dict().items()}


def _of(name: str, head: dict[str, Any]) -> dict[str, Any]:
    return {key.removeprefix(f"{name}."): value for key, value in head.items() if key.startswith(f"{name}.")}
