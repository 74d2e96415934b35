"""The stage interface: what a kind of work must bring so that `crowd` can run it.

`crowd` knows bundles, people and money; a kind knows what the work is about. Each is a part of its app's
extension:

    EXTENSION = Extension(MyKind())

`docs/stages.md` writes one in sixty lines.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict, ValidationError

from core.extensions import parts_of
from core.projects.models import Project
from crowd.models import Assignment, Stage
from crowd.texts import LANGUAGES, StageTexts


class StageConfig(BaseModel):
    """Base of a kind's typed options; unknown options are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    #: Options that most studies leave as they are; forms fold them away.
    advanced: ClassVar[frozenset[str]] = frozenset()
    #: Options that the form of a new project asks for already, besides `instructions`.
    asked_options: ClassVar[tuple[str, ...]] = ()
    #: `instructions` are Markdown and may show pictures of the project.
    markdown: ClassVar[bool] = False

    @property
    def texts(self) -> Mapping[str, StageTexts]:
        """Its texts in further languages; none of a kind that has no option for them."""
        return getattr(self, LANGUAGES, {})

    def in_language(self, language: str) -> Self:
        """The options as somebody reads them in this language."""
        texts = self.texts.get(language)
        return self if texts is None else self.model_copy(update=texts.worded_options(self))


@dataclass(frozen=True, slots=True)
class PendingUnit:
    """A unit that still needs `missing` more good responses."""

    unit: str
    missing: int


@dataclass(frozen=True, slots=True)
class Page:
    """What a worker sees of one unit: a template and its context, the same for the same seed.

    `instructions` stand once above all units, below what the stage says to workers.
    """

    template: str
    context: Mapping[str, Any]
    instructions: str = ""
    #: Units of a HIT come one at a time where scripts run, with a way back.
    steps: bool = False


@dataclass(frozen=True, slots=True)
class ParsedForm:
    """A worker's form, read: a response that fits into JSON, or errors by field in words for the worker.

    With errors, `remember` has what to keep until the next try: it comes back among the fields, under names
    with a "+" before them that no worker can send.
    """

    response: Any = None
    errors: Mapping[str, str] = field(default_factory=dict)
    remember: Mapping[str, str] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """No errors."""
        return not self.errors


@dataclass(frozen=True, slots=True)
class HitTerms:
    """What a text for workers may say of a stage's HITs; `config` is None while its options are incomplete.

    `units` has the checks in it, which workers must not be able to tell from the rest.
    """

    units: int = 1
    minutes: float | None = None
    config: StageConfig | None = None

    @property
    def time(self) -> str:
        """How long one HIT takes, in brackets to end a title with; empty where there is no guess."""
        if self.minutes is None:
            return ""
        if self.minutes < 1:
            return " (less than a minute)"
        number = f"{self.minutes:.1f}".removesuffix(".0")
        return f" (about {number} minute{'' if number == '1' else 's'})"

    def count(self, one: str, many: str) -> str:
        """The units of a HIT in words: `one` for a single one, else how many there are at most."""
        return one if self.units == 1 else f"up to {self.units:,} {many}"


@dataclass(frozen=True, slots=True)
class Listing:
    """What workers read in the marketplace's list."""

    title: str = ""
    description: str = ""
    keywords: str = ""


@dataclass(frozen=True, slots=True)
class KindPreset:
    """Terms that a new stage can begin with, as a study's file has them: a protocol, with its source."""

    name: str
    title: str
    about: str
    source: str
    terms: Mapping[str, Any]


@runtime_checkable
class StageKind(Protocol):
    """One kind of work. Units are named by strings that mean something to the kind alone.

    No page has these names, only the units' places in the HIT: workers must not read from it which units are
    checks, or where something comes from.
    """

    name: str
    label: str

    @property
    def config(self) -> type[StageConfig]:
        """The model of its options."""

    def choices(self, project: Project) -> Mapping[str, Mapping[str, str]]:
        """Options that name things of the project: by option the names there are, with words for a form."""

    def prepare(self, stage: Stage) -> None:
        """Bring what it asks about up to date; called before each quote of what opening would cost."""

    def left_out(self, stage: Stage) -> Mapping[str, int]:
        """How many units are not asked about, by the reason in words, for the quote."""

    def cautions(self, stage: Stage) -> Sequence[str]:
        """What to know before the stage asks people, in sentences for the quote."""

    def pending(self, stage: Stage) -> Iterable[PendingUnit]:
        """Units that need responses, beyond those recorded and not rejected or removed."""

    def freeze(self, stage: Stage, units: Sequence[str]) -> None:
        """HITs of these units are planned: keep what their pages show of data that may change later.

        Called in the transaction that plans them, and again whenever a unit is asked again.
        """

    def checks(self, stage: Stage) -> list[str]:
        """Attention checks: units with a known answer, to be mixed in."""

    def overlap(self, stage: Stage) -> list[str]:
        """Units that everybody gets, besides their own."""

    def together(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """Which units belong together: what they have in common, by unit; who is left out is alone.

        They come in one HIT where it has room for all of them, and stand one after the other in it.
        """

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """What the worker sees of a unit."""

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """The worker's fields of a unit, without their prefix."""

    def passes(self, stage: Stage, unit: str, response: Any) -> bool:
        """Whether the response to a check is right."""

    def scopes(self, stage: Stage, unit: str) -> list[str]:
        """Exclusion scopes that keep a worker from this unit."""

    def marks(self, stage: Stage, unit: str) -> list[str]:
        """Exclusion scopes that a worker gets by answering this unit."""

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Store a response; called once, in the transaction that stores the assignment's answer."""

    def pages(self, stage: Stage, units: Sequence[str], seed: int) -> Mapping[str, Page]:
        """`page` of all units of a HIT, in few statements."""

    def scopes_by_unit(self, stage: Stage, units: Sequence[str]) -> Mapping[str, Collection[str]]:
        """`scopes` of each of these units."""

    def all_scopes(self, stage: Stage, units: Sequence[str]) -> set[str]:
        """`scopes` of all these units."""

    def all_marks(self, stage: Stage, units: Sequence[str]) -> set[str]:
        """`marks` of all these units."""

    def record_all(self, assignment: Assignment, responses: Mapping[str, Any]) -> None:
        """`record` for all units of an assignment."""

    def simulated_caution(self, stage: Stage) -> str:
        """What must be said of results that simulated workers gave; nothing where there is nothing to say."""

    def settle(self, stage: Stage) -> dict[str, Any]:
        """Turn responses into decisions; a summary for the log. Called again, it changes nothing more.

        Called in each round of the timer that follows new answers or decisions about them, before `pending`.
        """

    def count_waiting_decisions(self, stage: Stage) -> int:
        """Units that have their responses, and about which the next `settle` will decide."""

    def reconsider(self, stage: Stage, changed: Mapping[int, str]) -> None:
        """Decide again what was decided on work that began or ceased to count: why, by assignment.

        Called in a transaction, and perhaps again for the same work.
        """

    def accept(self, assignment: Assignment, actor: Any) -> None:
        """A person approved the whole work: decide the same about what in it waits for a reviewer.

        Called in the transaction of that decision, and perhaps again.
        """

    def undecided(self, assignment: Assignment) -> str:
        """What of work that a person approved still waits for a reviewer, and why; nothing: nothing does."""

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """What researchers read for each unit: a short text instead of its name."""


class SimpleKind(ABC):
    """What most kinds do not need, answered with nothing; inherit to write less.

    What `crowd` asks for many units at once is answered unit by unit: a kind whose HITs are long overrides
    `pages`, `scopes_by_unit`, `all_marks` and `record_all`.
    """

    #: Terms that the form of a new stage begins with, as a study's file has them.
    suggested: ClassVar[Mapping[str, Any]] = {}
    #: Whether each person has pages by a seed of their own (`crowd.services.responses.page_seed`).
    seeded_by_person = False

    def presets(self) -> Sequence[KindPreset]:
        """None."""
        return ()

    def choices(self, project: Project) -> Mapping[str, Mapping[str, str]]:
        """No option names things of the project."""
        return {}

    def left_out(self, stage: Stage) -> Mapping[str, int]:
        """Nothing is left out."""
        return {}

    def cautions(self, stage: Stage) -> Sequence[str]:
        """Nothing to know."""
        return ()

    def prepare(self, stage: Stage) -> None:  # noqa: B027 - nothing to override for most kinds
        """Nothing to prepare."""

    def freeze(self, stage: Stage, units: Sequence[str]) -> None:  # noqa: B027 - as `prepare`
        """Nothing that changes."""

    def checks(self, stage: Stage) -> list[str]:
        """No attention checks."""
        return []

    def overlap(self, stage: Stage) -> list[str]:
        """No overlap."""
        return []

    def together(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """No unit belongs to another."""
        return {}

    def passes(self, stage: Stage, unit: str, response: Any) -> bool:
        """Nothing to fail."""
        return True

    def scopes(self, stage: Stage, unit: str) -> list[str]:
        """Open to all."""
        return []

    def marks(self, stage: Stage, unit: str) -> list[str]:
        """Bars from nothing."""
        return []

    @abstractmethod
    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """What the worker sees of a unit: every kind has its own."""

    @abstractmethod
    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Store a response: every kind has its own way."""

    def pages(self, stage: Stage, units: Sequence[str], seed: int) -> Mapping[str, Page]:
        """One after the other."""
        return {unit: self.page(stage, unit, seed) for unit in units}

    def scopes_by_unit(self, stage: Stage, units: Sequence[str]) -> Mapping[str, Collection[str]]:
        """One after the other."""
        return {unit: self.scopes(stage, unit) for unit in units}

    def all_scopes(self, stage: Stage, units: Sequence[str]) -> set[str]:
        """Those of each together."""
        return {scope for scopes in self.scopes_by_unit(stage, units).values() for scope in scopes}

    def all_marks(self, stage: Stage, units: Sequence[str]) -> set[str]:
        """One after the other."""
        return {mark for unit in units for mark in self.marks(stage, unit)}

    def record_all(self, assignment: Assignment, responses: Mapping[str, Any]) -> None:
        """One after the other."""
        for unit, response in responses.items():
            self.record(assignment, unit, response)

    def planned_units(self, config: StageConfig) -> int | None:
        """How many units there will be, where the options alone tell; None where they do not."""
        return None

    def listing(self, terms: HitTerms) -> Listing:
        """Texts for the marketplace's list, made from the terms; empty ones are left to the researcher."""
        return Listing()

    def simulated_caution(self, stage: Stage) -> str:
        """Nothing."""
        return ""

    def settle(self, stage: Stage) -> dict[str, Any]:
        """Nothing to decide."""
        return {}

    def count_waiting_decisions(self, stage: Stage) -> int:
        """None."""
        return 0

    def reconsider(self, stage: Stage, changed: Mapping[int, str]) -> None:  # noqa: B027 - as `prepare`
        """What counts is asked of the database each time; nothing that was decided is kept."""

    def accept(self, assignment: Assignment, actor: Any) -> None:  # noqa: B027 - as `prepare`
        """Nothing in it is reviewed by itself."""

    def undecided(self, assignment: Assignment) -> str:
        """Nothing in it is reviewed by itself."""
        return ""

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """The names themselves."""
        return {unit: unit for unit in units}


class Habit(StrEnum):
    """How a simulated person comes to an answer."""

    KNOWS = "knows"
    RANDOM = "random"
    CONSTANT = "constant"
    REVERSED = "reversed"
    PASTES = "pastes"


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of simulated person.

    `pace` is the median time as a share of what a careful reader needs, `spread` the sigma of its log-normal
    distribution. `mistakes` is the share of answers that miss what they meant; the three after it are
    probabilities per HIT. `bias_spread` is by how many points of a scale people differ in how strict they
    are (a standard deviation), `bias` by how many points their scores lie above the truth.
    """

    name: str
    habit: Habit
    pace: float
    spread: float
    mistakes: float = 0.0
    leaves: float = 0.0
    returns: float = 0.0
    clicks_twice: float = 0.0
    bias_spread: float = 0.4
    bias: float = 0.0

    @property
    def who_gives_back(self) -> "Profile":
        """The same habits; but a HIT that is left is given back, not kept until its time is over."""
        return replace(self, leaves=0.0, returns=max(self.leaves, self.returns))


@runtime_checkable
class SimulatedKind(Protocol):
    """What a kind may bring besides its interface: what a person who understood a unit would answer."""

    def simulate(
        self, stage: Stage, unit: str, profile: Profile, rng: random.Random
    ) -> Mapping[str, str] | None:
        """Fields of a knowing answer, without prefix; None leaves it to chance that all readers share.

        A box to write in whose text is "" stays empty.
        Mistakes, haste and bad habits are added to it by the profile.
        """


@cache
def _kinds() -> dict[str, StageKind]:
    # The type is only compared with, never called.
    return {kind.name: kind for kind in parts_of(StageKind)}  # type: ignore[type-abstract]


def kind_named(name: str) -> StageKind:
    """The kind of this name; raises KeyError, naming those there are."""
    try:
        return _kinds()[name]
    except KeyError:
        raise KeyError(
            f"There is no kind of stage {name!r}; there are {', '.join(sorted(_kinds()))}."
        ) from None


def kinds() -> Iterator[StageKind]:
    """All kinds, by name."""
    return iter(sorted(_kinds().values(), key=lambda kind: kind.name))


def kind_of(stage: Stage) -> StageKind:
    """The kind of a stage."""
    return kind_named(stage.kind)


def made_listing(
    kind: StageKind,
    *,
    units_per_hit: int = 1,
    checks_per_hit: int = 0,
    minutes: float | None = None,
    config: StageConfig | Mapping[str, Any] | None = None,
) -> Listing:
    """What the kind makes of these terms; nothing where it makes no texts."""
    make = getattr(kind, "listing", None)
    if make is None:
        return Listing()
    if config is not None and not isinstance(config, StageConfig):
        try:
            config = kind.config.model_validate(config)
        except ValidationError:
            config = None
    listing: Listing = make(HitTerms(units_per_hit + checks_per_hit, minutes, config))
    return listing


def config_of(stage: Stage) -> StageConfig:
    """The stage's options, typed, with its texts in the language that somebody reads them in."""
    return kind_of(stage).config.model_validate(stage.config).in_language(stage.text_language)
