"""How ADEM is trained (Lowe et al. 2017, section 4 and appendix D)."""

from collections.abc import Callable
from dataclasses import dataclass

from metrics.errors import MetricError

#: With context and reference, with the context alone, with the reference alone.
ADEM, CONTEXT, REFERENCE = FORMS = ("adem", "c-adem", "r-adem")
#: What is better on validation.
ERROR, PEARSON = JUDGES = ("error", "pearson")
#: Hears how much is done, of how much, and what.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """The paper's values, where it gives them.

    `n` are the principal components, `penalty` is the weight of the L1 norm, `rate` is Adam's. Where one of
    them is None it is chosen of `sizes`, `penalties`, `rates`: what does best on validation. An n above what
    the vectors have means all of them. `batch` are examples at once. Training ends after `epochs`, or when
    validation found nothing better in `patience` of them; `judge` says what better is: the mean squared
    error, or Pearson's correlation. `oversample` repeats examples until length says little about the score.
    `which` forms are trained. The scores of the training part span `scale` before training.
    """

    n: int | None = 7
    penalty: float | None = 0.02
    rate: float | None = 0.01
    batch: int = 16
    epochs: int = 200
    patience: int = 20
    judge: str = ERROR
    seed: int = 0
    oversample: bool = False
    which: tuple[str, ...] = FORMS
    scale: tuple[float, float] = (1.0, 5.0)
    sizes: tuple[int, ...] = (7, 20, 50, 150, 400)
    penalties: tuple[float, ...] = (0.0, 0.002, 0.02)
    rates: tuple[float, ...] = (0.01, 0.001)

    def __post_init__(self) -> None:
        if unknown := [form for form in self.which if form not in FORMS] or not self.which:
            raise MetricError(f"ADEM has the forms {', '.join(FORMS)}, not {unknown}.")
        if self.scale[0] >= self.scale[1]:
            raise MetricError(f"A scale goes from low to high, not from {self.scale[0]} to {self.scale[1]}.")
        if self.judge not in JUDGES:
            raise MetricError(f"Validation judges by {' or '.join(JUDGES)}, not by {self.judge!r}.")
        counts = {"batch": self.batch, "epochs": self.epochs, "patience": self.patience}
        for name, count in counts.items():
            if count < 1:
                raise MetricError(f"{name} is {count}, and must be 1 or more.")
        if not (self.tried_sizes and self.tried_penalties and self.tried_rates):
            raise MetricError("There is nothing to choose n, the penalty or the rate from.")
        if min(self.tried_sizes) < 1:
            raise MetricError(f"n is {min(self.tried_sizes)}, and must be 1 or more.")
        if min(self.tried_rates) <= 0 or min(self.tried_penalties) < 0:
            raise MetricError("The rate must be above 0, and a penalty not below it.")

    @property
    def tried_sizes(self) -> tuple[int, ...]:
        """What n is chosen from."""
        return self.sizes if self.n is None else (self.n,)

    @property
    def tried_penalties(self) -> tuple[float, ...]:
        """What the penalty is chosen from."""
        return self.penalties if self.penalty is None else (self.penalty,)

    @property
    def tried_rates(self) -> tuple[float, ...]:
        """What the rate is chosen from."""
        return self.rates if self.rate is None else (self.rate,)
