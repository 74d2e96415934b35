"""How a release is built: formats, splits, and what only people can say about the data."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from releases.errors import ReleaseError
from releases.formats.registry import FORMATS
from releases.groups import OPTIONAL
from releases.tables import SPLITS

_EVERYTHING = (1.0, 0.0, 0.0)


class Options(BaseModel):
    """What a person chose for a release; stored with it, and part of its manifest.

    By default all is in `train`: a small data set loses more by splits than it gains, and who evaluates
    systems on human scores wants all of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    formats: tuple[str, ...] = Field(default=("jsonl", "csv", "parquet"), min_length=1, max_length=20)
    seed: int = Field(default=0, ge=0, le=2**62, description="Of the splits.")
    shares: tuple[
        Annotated[float, Field(ge=0, le=1)],
        Annotated[float, Field(ge=0, le=1)],
        Annotated[float, Field(ge=0, le=1)],
    ] = Field(default=_EVERYTHING, description="Shares of train, validation and test; together 1.")
    include: tuple[str, ...] = Field(
        default=(), max_length=20, description="Groups of what is not accepted that go in all the same."
    )
    answers: dict[str, Annotated[str, Field(max_length=10_000)]] = Field(
        default_factory=dict, max_length=100, description="Answers to the data card's questions, by key."
    )

    @field_validator("formats")
    @classmethod
    def _known_formats(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for name in given:
            if name not in FORMATS:
                raise ValueError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
        return tuple(name for name in FORMATS if name in given)

    @field_validator("include")
    @classmethod
    def _known_groups(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for name in given:
            if name not in OPTIONAL:
                raise ValueError(f"there is no group {name!r} to bring in; there are {', '.join(OPTIONAL)}")
        return tuple(name for name in OPTIONAL if name in given)

    @field_validator("shares")
    @classmethod
    def _sum_to_one(cls, given: tuple[float, float, float]) -> tuple[float, float, float]:
        if abs(sum(given) - 1) > 1e-6:
            raise ValueError(f"the shares of {', '.join(SPLITS)} must add up to 1, not {sum(given):g}")
        if not given[0]:
            raise ValueError("train must have a share; loaders take it for granted")
        return given


def options_of(given: dict[str, Any]) -> Options:
    """Options from stored or typed values; ReleaseError names the first that is wrong, in words."""
    try:
        return Options.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ReleaseError(f"{name}: {first['msg'].removeprefix('Value error, ')}.") from error
