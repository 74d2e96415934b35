"""Word vectors in half precision."""

import numpy as np

from retrieval.network.vectors import single_precision


def test_every_finite_half_is_the_same_number_in_single_precision():
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    expected = halves.astype(np.float32)
    assert single_precision(halves).view(np.uint32).tolist() == expected.view(np.uint32).tolist()
