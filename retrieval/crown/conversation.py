"""The conversational query: which earlier turns speak with the question, and how loudly.

Paper 001, section 2.2, with what its published code does where the two differ; turns are numbered from 1, the
question is turn T. See docs/crown.md.

    current          q_T
    cq1              q_T and q_1, unweighted
    cq2              q_T and q_1 with 1, q_(T-1) with (T-1)/T
    cq2-unweighted   the same turns, all with 1: what the published code sends to its search engine
    cq3              q_T and q_1 with 1, every other turn t with t/T
"""

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType

#: Query models by their names here, and what they are called for people.
MODELS: Mapping[str, str] = MappingProxyType(
    {
        "cq1": "current and first turn",
        "cq2": "current, previous and first turn, the previous one weaker",
        "cq2-unweighted": "current, previous and first turn, all alike",
        "cq3": "all turns, later ones stronger",
        "current": "current turn only",
    }
)
DEFAULT_MODEL = "cq2"
#: What the published page and its endpoint call them.
PUBLISHED: Mapping[str, str] = MappingProxyType({"conv_uw": "cq1", "conv_w1": "cq2", "conv_w2": "cq3"})


def model_named(name: str) -> str:
    """A query model by its own or its published name. ValueError for others: none is ever guessed."""
    model = PUBLISHED.get(name, name)
    if model not in MODELS:
        raise ValueError(f"There is no query model {name!r}. There are {', '.join(MODELS)}.")
    return model


def turn_weights(n_turns: int, model: str) -> list[float]:
    """Weight of each of n turns, oldest first; 0 for turns that do not take part.

    >>> turn_weights(4, "cq2")
    [1.0, 0.0, 0.75, 1.0]
    """
    weights = [0.0] * n_turns
    for place in _members(n_turns, model):
        turn = place + 1
        is_whole = turn in (1, n_turns) or model == "cq2-unweighted"
        weights[place] = 1.0 if is_whole else turn / n_turns
    return weights


def query_terms(
    turns: Sequence[Sequence[str]], model: str, *, known: Container[str] | None = None
) -> dict[str, float]:
    """Words of the conversational query with their weights, in the published order.

    turns: content words of each turn, oldest first. A word of several turns gets the largest of their
    weights. The order decides which word a passage's word belongs to when two are equally similar: those of
    the question come first, then those of the first turn, then those of the others, the newest first. Words
    not in `known` are left out (the published code leaves out words without a vector).
    """
    weights = turn_weights(len(turns), model)
    terms: dict[str, float] = {}
    for place in _members(len(turns), model):
        for word in turns[place]:
            if known is None or word in known:
                terms[word] = max(terms.get(word, 0.0), weights[place])
    return terms


def _members(n_turns: int, model: str) -> list[int]:
    """Places of the turns that take part, in the order in which their words enter the query."""
    if n_turns < 1:
        return []
    last = n_turns - 1
    match model_named(model):
        case "current":
            places = [last]
        case "cq1":
            places = [last, 0]
        case "cq2" | "cq2-unweighted":
            places = [last, 0, max(last - 1, 0)]
        case _:
            places = [last, 0, *range(last - 1, 0, -1)]
    return list(dict.fromkeys(places))
