"""Systems by name, as commands and settings write them.

    bm25 · crown-2020 · balanced (crown means the same) · rrf(bm25+balanced) · cross-encoder(balanced)

Options follow after colons: a query model (`bm25:cq1`), or NAME=VALUE (`balanced:cq3:alpha=0.8`,
`rrf(bm25+balanced:cq3):k=60`). Several systems are separated by commas.
"""

from collections.abc import Sequence

from retrieval.ranking.base import Ranker


def parse_system(text: str) -> Ranker:
    """The ranker of a name. ParametersError says what is wrong with it and which there are."""
    raise NotImplementedError(text)


def parse_systems(text: str) -> Sequence[Ranker]:
    """The rankers of a list with commas; commas inside of brackets do not separate."""
    raise NotImplementedError(text)
