"""Wilson's interval of a proportion."""

import pytest

from metrics.agreement.quotes import wilson


def test_published_intervals():
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3: 81/263, 15/148, 0/20, 1/29.
    for successes, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_it_stays_inside_and_has_a_width():
    assert wilson(4, 4) == pytest.approx((0.5101, 1.0), abs=5e-5)
    assert wilson(0, 0) is None
