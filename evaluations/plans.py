"""What an evaluation depends on beside its release: chosen by a person, stored with it."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evaluations.errors import EvaluationError
from metrics.errors import MetricError

_Name = Annotated[str, Field(min_length=1, max_length=100)]
MOST_METRICS = 60
MOST_DRAWS, MOST_REPLICATES = 99_999, 20_000
#: Samples of references at each number of them.
MOST_SAMPLES = 1_000
#: Options that came later: a plan without them is stored without them, so that hosts of an earlier version
#: can read it during an upgrade.
_LATER = ("field", "reference_samples", "differences", "sweeps", "paired_bootstrap")


class External(BaseModel):
    """A column of scores from elsewhere, by its name in the release and the digest of its file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: _Name
    digest: str = Field(max_length=64)


class PinnedModel(BaseModel):
    """A model of learned metrics: its name in METRIC_MODELS, and its digest when it was chosen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: _Name
    name: str = Field(max_length=255, pattern=r"^[^/\x00]+$")
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")

    @property
    def signature(self) -> str:
        """As it is in the signatures of scores."""
        return f"{self.kind}-{self.digest[:12]}"


class EvaluationPlan(BaseModel):
    """Stage, profile, metrics and options of an evaluation; the same plan gives the same report.

    `models` are those that learned metrics score with, at most one of a kind, and `encoder` is BERTScore's,
    with the digest that it had when it was chosen.
    An empty `stage` is the newest of the release that has scores. A `field` is one of a questionnaire, whose
    answers are the human scores, or say which of two answers is better. No `metrics` are those of the
    profile. No `gap` is half of the scale. `sweeps` are written as on the command line: alpha=0:10:1.
    `differences` names metrics whose largest differences in rank from people are listed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: str = Field(default="", max_length=100)
    field: str = Field(default="", max_length=40)
    profile: _Name = "default"
    metrics: tuple[_Name, ...] = Field(default=(), max_length=MOST_METRICS)
    external: tuple[External, ...] = Field(default=(), max_length=20)
    models: tuple[PinnedModel, ...] = Field(default=(), max_length=10)
    encoder: str = Field(default="", max_length=500)
    encoder_digest: str = Field(default="", max_length=64)
    seed: int = Field(default=0, ge=0, le=2**53)
    replicates: int = Field(default=1_000, ge=0, le=MOST_REPLICATES)
    draws: int = Field(default=9_999, ge=1, le=MOST_DRAWS)
    gap: float | None = Field(default=None, gt=0, le=1_000)
    protocols: tuple[_Name, ...] = Field(default=(), max_length=20)
    reference_samples: int = Field(default=0, ge=0, le=MOST_SAMPLES)
    differences: tuple[_Name, ...] = Field(default=(), max_length=20)
    sweeps: tuple[_Name, ...] = Field(default=(), max_length=2)
    paired_bootstrap: bool = False

    @field_validator("metrics", "protocols")
    @classmethod
    def _once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(names))

    @field_validator("sweeps")
    @classmethod
    def _swept(cls, sweeps: tuple[str, ...]) -> tuple[str, ...]:
        if not sweeps:
            return sweeps
        from metrics.metaeval.breakdown import sweep_of  # noqa: PLC0415 - numpy, only where there is a sweep

        try:
            weights = [sweep_of(each).weight for each in sweeps]
        except MetricError as error:
            raise ValueError(str(error)) from error
        if len(set(weights)) < len(weights):
            raise ValueError("two sweeps of one weight are chosen")
        return sweeps

    @field_validator("models")
    @classmethod
    def _one_of_a_kind(cls, models: tuple[PinnedModel, ...]) -> tuple[PinnedModel, ...]:
        kinds = [each.kind for each in models]
        if len(set(kinds)) < len(kinds):
            raise ValueError("two models of a kind are chosen")
        return models

    @property
    def encoder_name(self) -> str:
        """BERTScore's encoder as pages call it: of a folder the last part."""
        return self.encoder.rstrip("/").rsplit("/", 1)[-1] if self.encoder.startswith("/") else self.encoder

    def as_json(self) -> dict[str, Any]:
        """For the database."""
        fields = self.model_dump(mode="json")
        return {name: value for name, value in fields.items() if value or name not in _LATER}


def plan_of(fields: Mapping[str, Any]) -> EvaluationPlan:
    """A plan from stored or typed values; EvaluationError names the first that is wrong, in words."""
    try:
        return EvaluationPlan.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise EvaluationError(f"{name}: {first['msg'].removeprefix('Value error, ')}.") from error
