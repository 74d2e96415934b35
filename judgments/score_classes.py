"""Which scores a histogram shows together: each alone, or in classes where a scale has very many."""

from dataclasses import dataclass

from metrics.agreement.scale import Scale

#: Scores that a table or a plot shows one by one, and classes of longer scales.
_MOST_ALONE, _CLASSES = 21, 20


@dataclass(frozen=True, slots=True)
class ScoreClass:
    """Scores that are counted together, in units, with the name that a table gives them."""

    name: float | int | str
    steps: range


def score_classes(scale: Scale) -> list[ScoreClass]:
    """Classes from the lowest score; of 0 to 100 each has five, and the last one the 100 too."""
    scores = scale.scores
    if len(scores) <= _MOST_ALONE:
        return [ScoreClass(scale.number(step), scores[at : at + 1]) for at, step in enumerate(scores)]
    width = -(-(len(scores) - 1) // _CLASSES)
    starts = range(0, len(scores) - 1, width)
    parts = [scores[start : len(scores) if start == starts[-1] else start + width] for start in starts]
    return [ScoreClass(f"{scale.text(part[0])}\N{EN DASH}{scale.text(part[-1])}", part) for part in parts]
