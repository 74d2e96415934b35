"""The interval of a proportion that few cases stand behind."""

from math import sqrt

#: Of the standard normal distribution: two-sided 95 %.
Z = 1.959963984540054


def wilson(successes: int, n: int) -> tuple[float, float] | None:
    """Wilson's 95 % score interval of a proportion (JASA 22, 1927); None without cases.

    It stays inside 0 to 1 and has a width also where all cases are alike.
    """
    if n == 0:
        return None
    share = successes / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
