"""Tokenisers by name."""

from metrics.errors import MetricError
from metrics.tokens import distillery
from metrics.tokens.plain import CHAR, DEFAULT, WHITESPACE
from metrics.tokens.ptb import PTB, PTB_KPQA, PTB_KPQA_WORDS
from metrics.tokens.tokeniser import Tokeniser

TOKENISERS: dict[str, Tokeniser] = {tokeniser.name: tokeniser for tokeniser in (DEFAULT, CHAR, WHITESPACE)}
TOKENISERS |= {one.name: one for one in (distillery.PLAIN, distillery.MARKS, distillery.FIT)}
TOKENISERS |= {one.name: one for one in (PTB, PTB_KPQA, PTB_KPQA_WORDS)}


def tokeniser(name: str) -> Tokeniser:
    """The tokeniser of that name; MetricError names those that there are."""
    try:
        return TOKENISERS[name]
    except KeyError:
        raise MetricError(f"There is no tokeniser {name!r}; there are {', '.join(TOKENISERS)}.") from None
