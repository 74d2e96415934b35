"""How ADEM is trained (Lowe et al. 2017, section 4 and appendix D)."""

from collections.abc import Callable
from dataclasses import dataclass

from metrics.errors import MetricError

#: With context and reference, with the context alone, with the reference alone.
ADEM, CONTEXT, REFERENCE = FORMS = ("adem", "c-adem", "r-adem")
#: Hears how much is done, of how much, and what.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """The paper's values, where it gives them.

    `n` are the principal components, `penalty` is the weight of the L1 norm; None takes of `sizes`, of
    `penalties`, what has the lowest error on validation. `rate` is Adam's, `batch` its examples at once.
    Training ends after `epochs`, or when validation found nothing better in `patience` of them. `oversample`
    repeats examples until length says nothing about the score. `which` forms are trained. The scores of the
    training part span `scale` before training.
    """

    n: int | None = 7
    penalty: float | None = 0.02
    rate: float = 0.01
    batch: int = 16
    epochs: int = 200
    patience: int = 20
    seed: int = 0
    oversample: bool = False
    which: tuple[str, ...] = FORMS
    scale: tuple[float, float] = (1.0, 5.0)
    sizes: tuple[int, ...] = (5, 7, 15, 30, 50, 100)
    penalties: tuple[float, ...] = (0.0, 0.005, 0.02, 0.05)

    def __post_init__(self) -> None:
        if unknown := [form for form in self.which if form not in FORMS] or not self.which:
            raise MetricError(f"ADEM has the forms {', '.join(FORMS)}, not {unknown}.")
        if self.scale[0] >= self.scale[1]:
            raise MetricError(f"A scale goes from low to high, not from {self.scale[0]} to {self.scale[1]}.")
        counts = {"n": self.n, "batch": self.batch, "epochs": self.epochs, "patience": self.patience}
        for name, count in counts.items():
            if count is not None and count < 1:
                raise MetricError(f"{name} is {count}, and must be 1 or more.")
        if self.rate <= 0 or min((self.penalty or 0.0, *self.penalties)) < 0:
            raise MetricError("The rate must be above 0, and a penalty not below it.")
        if (self.n is None and not self.sizes) or (self.penalty is None and not self.penalties):
            raise MetricError("There is nothing to choose n, or the penalty, from.")

    @property
    def tried_sizes(self) -> tuple[int, ...]:
        """What n is chosen from."""
        return self.sizes if self.n is None else (self.n,)

    @property
    def tried_penalties(self) -> tuple[float, ...]:
        """What the penalty is chosen from."""
        return self.penalties if self.penalty is None else (self.penalty,)
