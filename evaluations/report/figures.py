"""What the parts of an evaluation's report are made of: figures with their intervals and reasons."""

from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    WithJsonSchema,
)

NOT_CALCULATED = "it was not calculated"
#: A whole number is written as one, as `6` and not as `6.0`.
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]


class ReportPart(BaseModel):
    """A part of the report: never changed, and without keys that it does not know."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        # Classes are put together with the first report that is read: no start of a process waits for it.
        defer_build=True,
    )


class Figure(ReportPart):
    """A number with its 95 % interval and what it rests on, or null and why there is none."""

    value: Number | None = None
    ci: tuple[Number, Number] | None = None
    n: int | None = None
    reason: str = NOT_CALCULATED

    @property
    def low(self) -> Number | None:
        """The lower end of the interval."""
        return self.ci[0] if self.ci else None

    @property
    def high(self) -> Number | None:
        """The upper end of the interval."""
        return self.ci[1] if self.ci else None


#: What a report that lacks a figure has in its place.
NO_FIGURE = Figure()


class TestedFigure(ReportPart):
    """A correlation with the p-value of its t-test; its interval, where it has one, is written last."""

    value: Number | None = None
    n: int | None = None
    reason: str = NOT_CALCULATED
    p: Number | None = None
    ci: tuple[Number, Number] | None = None

    @property
    def figure(self) -> Figure:
        """The same as a figure."""
        return Figure(value=self.value, ci=self.ci, n=self.n, reason=self.reason)


class MeanFigure(ReportPart):
    """The mean of figures, and of how many."""

    value: Number | None = None
    reason: str = NOT_CALCULATED
    n: int | None = None


class SampledFigure(ReportPart):
    """The mean over samples, and the middle 95 % of them."""

    value: Number | None = None
    middle: tuple[Number, Number] | None = None
    reason: str = NOT_CALCULATED
    n: int | None = None


class GroupMean(ReportPart):
    """Answers on one side of a cut, and the mean of their scores."""

    n: int = 0
    mean: Number | None = None


class LengthBias(ReportPart):
    """How scores go with the distance between the length of an answer and that of its references."""

    cut: Number | None = None
    near: GroupMean = Field(default_factory=GroupMean)
    far: GroupMean = Field(default_factory=GroupMean)
    value: Number | None = None
    n: int | None = None
    reason: str = NOT_CALCULATED
    welch_p: Number | None = None
    permutation_p: Number | None = None
    draws: int | None = None
    length: TestedFigure | None = None
    distance: TestedFigure | None = None
