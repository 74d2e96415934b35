"""What is scored, with which models and by how many processes: for the commands and for the job alike.

What looks for models and reads them is `evaluations.model_shelf`, for those who need one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evaluations.errors import EvaluationError
from metrics.catalogue import ALIASES, metric, missing
from metrics.errors import MetricError
from metrics.profiles import ADEM, BERTSCORE, KINDS, KPQA, Profile
from metrics.profiles import profile as profile_named

if TYPE_CHECKING:
    from evaluations.answer_table import AnswerTable
    from metrics.texts import Metric

#: Kinds of models and encoders as people call them.
WORDS = {KPQA: "KPQA", ADEM: "ADEM", BERTSCORE: "BERTScore"}


def kinds_of(name: str) -> frozenset[str]:
    """`kpqa`, `adem`, and `bertscore` for what needs an encoder; empty for a metric that needs no model."""
    plain = name.strip().lower().replace("_", "-")
    plain = ALIASES.get(plain, plain)
    kinds = {KPQA} if plain.endswith(("-kpqa", "-kpqa-repo", "-kpqa-paper")) else set()
    if plain.endswith("adem"):
        kinds.add(ADEM)
    if plain.startswith("bertscore"):
        kinds.add(BERTSCORE)
    return frozenset(kinds)


def kinds_of_all(names: Iterable[str]) -> frozenset[str]:
    """What any of these metrics needs."""
    return frozenset().union(*map(kinds_of, names))


def model_kinds(names: Iterable[str]) -> list[str]:
    """Kinds of models that these metrics need, in the order of `KINDS`."""
    needed = kinds_of_all(names)
    return [kind for kind in KINDS if kind in needed]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a command: `models` are folders or names in METRIC_MODELS."""

    models: Sequence[str] = ()
    encoder: str = ""
    layer: int | None = None
    idf: bool = False
    download: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked for."""
        return not (self.models or self.encoder or self.layer is not None or self.idf or self.download)


@dataclass(frozen=True, slots=True)
class Models:
    """What learned metrics score with: nothing here. `notes` are sentences about it."""

    notes: tuple[str, ...] = ()

    def within(self, profile: Profile) -> Profile:
        """The profile with them."""
        return profile

    def used(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """What a report says of those that these metrics score with."""
        return []


NO_MODELS = Models()


#: What a metric may need of a table, by the field of `metrics.texts.Answers`: our field, and in words.
_NEEDS = {
    "candidates": ("answer", "the answers"),
    "references": ("references", "the references"),
    "questions": ("question", "the questions"),
    "labels": ("label", "the opinions of the answers (Yes, No, Depends)"),
    "reference_labels": ("labels", "the opinions of the references"),
    "entities": ("entities", "the gold entities of the questions"),
}
_INSTALL = "Install it, or leave the metric out."


@dataclass(frozen=True, slots=True, eq=False)
class MetricChoice:
    """Metrics to be scored under a profile, and sentences about those that were left out.

    `models` are what reports say of the models that they score with.
    """

    metrics: "list[Metric]"
    profile: str
    tokeniser: str
    notes: list[str]
    models: list[dict[str, Any]] = field(default_factory=list)


def choose(
    table: "AnswerTable",
    *,
    metrics: Sequence[str],
    profile: str,
    tokeniser: str = "",
    models: Models = NO_MODELS,
) -> MetricChoice:
    """The metrics that are named; without names those of the profile, as far as they can be scored here.

    A `tokeniser` takes the place of all that the profile has. Learned metrics score with `models`.
    MetricError for a metric, profile or tokeniser that there is not; EvaluationError for a named metric that
    needs a column which the table has not.
    """
    own = profile_named(profile)
    if tokeniser:
        from metrics.tokens import tokeniser_named  # numpy, only where something is chosen

        others = {
            family: {key: value for key, value in settings.items() if key != "tokeniser"}
            for family, settings in own.settings.items()
        }
        own = replace(own, tokeniser=tokeniser_named(tokeniser).name, settings=others)
    own = models.within(own)
    by_name: dict[str, Metric] = {}
    notes = list(models.notes)
    texts = {"answer", "references"} <= table.has
    if not texts and not metrics:
        notes.append(
            "No metric is scored here, as no column holds the answers or the references; there are scores "
            f"of {', '.join(table.external)}. If one does: --column answer=NAME --column references=NAME."
        )
    for name in metrics or (own.metrics if texts else ()):
        try:
            candidate = metric(name, own)
            if why := _lacking(candidate, table):
                raise EvaluationError(why)
            if why := missing(candidate):
                remedy = "Or leave the metric out." if candidate.lacks else _INSTALL
                raise EvaluationError(f"{candidate.name} cannot be scored here: {why}. {remedy}")
        except (MetricError, EvaluationError) as error:
            if metrics:
                raise
            notes.append(f"{name} of the profile {own.name} is left out: {error}")
            continue
        by_name.setdefault(candidate.name, candidate)
    if not by_name and not table.external:
        raise EvaluationError(" ".join(["There is no metric to score.", *notes]))
    if clash := [name for name in table.external if name in by_name]:
        raise EvaluationError(
            f"--external {clash[0]}: a metric of that name is scored here as well. Rename the column."
        )
    used = models.used(list(by_name))
    return MetricChoice(list(by_name.values()), own.name, own.tokeniser, notes, used)


def _lacking(metric: "Metric", table: "AnswerTable") -> str:
    for need in ("candidates", "references", *sorted(metric.needs)):
        ours, theirs = _NEEDS.get(need, (need, need))
        if ours not in table.has:
            return (
                f"{metric.name} needs {theirs}, and no column of {table.title} holds them. Say which "
                f"one does: --column {ours}=NAME."
            )
    return ""


def processes_for(processes: int, *, small: bool) -> int:
    """How many processes work: as asked; with 0 one for each core that this process may use.

    One for what is `small`: it is done before others have started.
    """
    from metrics.scoring import cores  # numpy, only where something is scored

    return processes or (1 if small else cores())


def scoring_processes(processes: int, choice: MetricChoice, *, small: bool) -> int:
    """The same for scoring; 0 leaves it to the scoring, which begins alone.

    Where models score, every process loads them: this one, or the others, but not both.
    """
    return processes_for(processes, small=small) if choice.models else processes
