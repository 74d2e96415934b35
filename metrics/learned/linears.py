"""Linear layers whose weights lie as oneDNN wants them, which computes them in less than half of the time.

The results are those of 32-bit floats in another order of summation. Where PyTorch was built without oneDNN,
or its operators do not say what `nn.Linear` says, a network stays as it is.
"""

from functools import cache
from typing import Any

import torch
from torch import nn

_ALIKE = 1e-4


class PackedLinear(nn.Linear):  # type: ignore[misc]  # torch's types are not read
    """A linear layer for inference on a CPU; it has no gradient."""

    def __init__(self, plain: nn.Linear) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features = plain.in_features, plain.out_features
        self.weight, self.bias = plain.weight, plain.bias
        self._packed = torch.ops.mkldnn._reorder_linear_weight(plain.weight.detach())
        self._added = None if plain.bias is None else plain.bias.detach()

    def forward(self, inputs: Any) -> Any:
        """What `nn.Linear` gives, without a gradient."""
        return torch.ops.mkldnn._linear_pointwise(inputs, self._packed, self._added, "none", [], "")


def pack(network: nn.Module) -> None:
    """Pack the linear layers of a network that lies on the CPU and is used for inference alone."""
    for name, module in network.named_children():
        if type(module) is nn.Linear and _packable(module):
            setattr(network, name, PackedLinear(module))
        else:
            pack(module)


def _packable(plain: nn.Linear) -> bool:
    weight = plain.weight
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.numel() > 0 and works()


@cache
def works() -> bool:
    """Whether this build of PyTorch has the operators, and they say what `nn.Linear` says."""
    if not torch.backends.mkldnn.is_available():
        return False
    with torch.no_grad():
        plain = nn.Linear(3, 5)
        inputs = torch.linspace(-1, 1, 12).reshape(2, 2, 3)
        try:
            return bool((PackedLinear(plain)(inputs) - plain(inputs)).abs().max() < _ALIKE)
        except (AttributeError, RuntimeError, TypeError):
            return False
