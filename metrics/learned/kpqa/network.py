"""The token classifier: encoder, a layer of 768 units with tanh, two classes (Lee et al. 2021, C.1)."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from metrics.learned.encoders import Encoder, encoder, quiet

UNITS = 768
_ENCODER, _HEAD = "encoder", "head.safetensors"


class KeyphraseNetwork(nn.Module):  # type: ignore[misc]  # torch's types are not read
    """Says of each word piece how likely its word is part of the key phrase."""

    def __init__(self, base: Any, units: int = UNITS) -> None:
        super().__init__()
        self.base = base
        self.layer = nn.Linear(base.config.hidden_size, units)
        self.classes = nn.Linear(units, 2)

    def forward(self, ids: Any, mask: Any, types: Any = None, firsts: Any = None) -> Any:
        """Word pieces (B, L) with their mask -> logits (B, L, 2), of `firsts` (B, W) alone (B, W, 2)."""
        given = {"input_ids": ids, "attention_mask": mask}
        if types is not None:
            given["token_type_ids"] = types
        states = self.base(**given).last_hidden_state
        if firsts is not None:
            states = states.gather(1, firsts[:, :, None].expand(-1, -1, states.shape[-1]))
        return self.classes(torch.tanh(self.layer(states)))


def save(network: KeyphraseNetwork, tokenizer: Any, folder: Path) -> None:
    """The files of a predictor: the encoder with its tokeniser as others can load them, and the head."""
    from safetensors.torch import save_file  # noqa: PLC0415

    with quiet():
        network.base.save_pretrained(folder / _ENCODER, safe_serialization=True)
        tokenizer.save_pretrained(folder / _ENCODER)
    head = {**_named("layer", network.layer), **_named("classes", network.classes)}
    save_file(head, folder / _HEAD)


def load(folder: Path, units: int = UNITS) -> tuple[KeyphraseNetwork, Encoder]:
    """What `save` wrote, ready to score."""
    from safetensors.torch import load_file  # noqa: PLC0415

    base = encoder(folder / _ENCODER)
    network = KeyphraseNetwork(base.model, units)
    network.load_state_dict(load_file(folder / _HEAD), strict=False)
    return network.eval(), base


def _named(name: str, module: Any) -> dict[str, Any]:
    return {f"{name}.{key}": value.contiguous() for key, value in module.state_dict().items()}
