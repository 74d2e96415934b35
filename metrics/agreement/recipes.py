"""Recipes: named, versioned sets of filter rules with their parameters.

The order of the rules is fixed: what is technically wrong, then attention checks, then each worker's kappa,
then (if at all) single responses by z. A recipe that orders them otherwise is refused: kappa measured on
responses that z has already trimmed to their item's middle no longer sees noise.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

TECHNICAL, CHECKS, KAPPA, Z = "technical", "checks", "kappa", "z"
ORDER = (TECHNICAL, CHECKS, KAPPA, Z)
#: The z filter looks at every two scores of a scale, so it takes none with more.
MOST_FOR_Z = 201
WEIGHTS = ("quadratic", "linear")
REFERENCES = ("pooled", "consensus", "pairwise")
TIES = ("submission", "group")

_MOST = 10**9
_WHY_Z_LAST = (
    "kappa must be measured on responses that z has not trimmed: after z it finds a quarter to two fifths of "
    "the noisy workers, before z nearly all of them"
)
_WHY_KNOWN_FIRST = (
    "each worker is compared with the others, who must first be rid of those known to be careless"
)


class RecipeError(ValueError):
    """A recipe that cannot be run, and why, in words for the one who asked for it."""


def _within(name: str, value: float, low: float, high: float | None = None) -> None:
    if not (low <= value <= (high if high is not None else _MOST)):
        bounds = f"from {low} to {high}" if high is not None else f"{low} or more"
        raise RecipeError(f"{name} must be {bounds}, not {value}.")


def _among(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise RecipeError(f"{name} must be one of {', '.join(choices)}, not {value!r}.")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which rules run, and with which parameters; parameters of rules that do not run say nothing.

    Ratings that repeat an earlier one of the same worker on the same item are set aside under every recipe.
    Defaults of the z rule are those for use outside `kpqa-2021`.
    """

    name: str
    version: int = 1
    rules: tuple[str, ...] = ()
    #: technical: workers whose median time per rating, in seconds, is below this; 0 switches it off.
    seconds_below: float = 0.0
    #: technical: workers whose longest run of one score holds at least this share of their ratings; 0: off.
    straight_share: float = 0.0
    #: technical: a worker with fewer ratings is undetermined by time and by runs.
    technical_least: int = 10
    #: technical: workers with these names are removed; a name that ends in * stands for all that begin so.
    test_accounts: tuple[str, ...] = ()
    #: checks: failures that remove a worker.
    checks_failed: int = 2
    #: checks: workers who were shown fewer are undetermined.
    checks_least: int = 4
    #: kappa: workers below are removed.
    kappa_below: float = 0.2
    #: kappa: workers with fewer ratings on items with two raters are undetermined.
    kappa_least: int = 10
    kappa_weights: str = "quadratic"
    kappa_reference: str = "pooled"
    #: z: responses with |z| above are candidates for removal.
    z_limit: float = 2.0
    #: z: at most so many per item.
    z_cap: int = 5
    #: z: 0 for the population's standard deviation, 1 for the sample's.
    z_ddof: int = 0
    #: z: items with fewer ratings are left alone.
    z_least: int = 5
    #: z: so many ratings of an item stay.
    z_keep: int = 3
    #: z: at the cap, the earlier submission goes first, or a whole group of equal |z| or none of it.
    z_ties: str = "group"
    #: Names of parameters that differ from the named recipe.
    changed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = [rule for rule in self.rules if rule not in ORDER]
        if unknown:
            raise RecipeError(f"There is no rule {unknown[0]!r}; the rules are {', '.join(ORDER)}.")
        if len(set(self.rules)) < len(self.rules):
            raise RecipeError("A rule is named twice.")
        places = [ORDER.index(rule) for rule in self.rules]
        if places != sorted(places):
            raise RecipeError(
                f"The order of the rules is fixed: {', '.join(ORDER)}. {', '.join(self.rules)} is refused, "
                f"because {_WHY_Z_LAST if Z in self.rules[:-1] else _WHY_KNOWN_FIRST}."
            )
        _within("kappa_below", self.kappa_below, -1, 1)
        _among("kappa_weights", self.kappa_weights, WEIGHTS)
        _among("kappa_reference", self.kappa_reference, REFERENCES)
        _among("z_ties", self.z_ties, TIES)
        _within("z_ddof", self.z_ddof, 0, 1)
        _within("straight_share", self.straight_share, 0, 1)
        for name in ("seconds_below", "z_limit", "z_cap", "z_keep"):
            _within(name, getattr(self, name), 0)
        for name in ("technical_least", "checks_failed", "checks_least", "kappa_least", "z_least"):
            _within(name, getattr(self, name), 1)

    def has(self, rule: str) -> bool:
        """Whether the rule runs."""
        return rule in self.rules

    @property
    def judges_workers(self) -> bool:
        """Whether a rule can remove whole workers."""
        return any(self.has(rule) for rule in (TECHNICAL, CHECKS, KAPPA))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that say something, by name: those of the rules that run."""
        return {
            name: value
            for name, value in asdict(self).items()
            if (rule := _rule_of(name)) is not None and self.has(rule)
        }

    @property
    def title(self) -> str:
        """Name and version, and that it was changed: `kpqa-2021 v1`, `default v1, changed: kappa_below`."""
        changed = f", changed: {', '.join(self.changed)}" if self.changed else ""
        return f"{self.name} v{self.version}{changed}"


DEFAULT = Recipe("default", rules=(CHECKS, KAPPA))
#: Lee et al. 2021 (KPQA), 4.2: |z| > 1 within an item, at most five, largest first.
KPQA_2021 = Recipe(
    "kpqa-2021", rules=(Z,), z_limit=1.0, z_cap=5, z_ddof=0, z_least=2, z_keep=0, z_ties="submission"
)
#: Lowe et al. 2017 (ADEM), 3: any failed check, then the median pairwise kappa.
ADEM_2017 = Recipe(
    "adem-2017",
    rules=(CHECKS, KAPPA),
    checks_failed=1,
    checks_least=1,
    kappa_reference="pairwise",
    kappa_weights="quadratic",
)
NONE = Recipe("none")
RECIPES: Mapping[str, Recipe] = {each.name: each for each in (DEFAULT, KPQA_2021, ADEM_2017, NONE)}


def named(name: str) -> Recipe:
    """The recipe of that name; RecipeError names those that there are."""
    if name not in RECIPES:
        raise RecipeError(f"There is no recipe {name!r}; there are {', '.join(RECIPES)}.")
    return RECIPES[name]


def with_parameters(recipe: Recipe, parameters: Mapping[str, Any]) -> Recipe:
    """The recipe with other parameters; texts are read as the parameter's kind, `rules` as `checks,kappa`.

    RecipeError for a parameter that does not exist, cannot be read, or belongs to a rule that does not run.
    """
    if not parameters:
        return recipe
    kinds = {each.name: type(getattr(recipe, each.name)) for each in fields(Recipe)}
    for name in ("name", "version", "changed"):
        del kinds[name]
    read = {}
    for name, value in parameters.items():
        if name not in kinds:
            raise RecipeError(f"There is no parameter {name!r}; there are {', '.join(kinds)}.")
        read[name] = _read(name, value, kinds[name])
    changed = replace(recipe, **read)
    for name in read:
        rule = _rule_of(name)
        if rule is not None and not changed.has(rule):
            rules = ",".join(each for each in ORDER if changed.has(each) or each == rule)
            raise RecipeError(
                f"{name} would change nothing: the recipe {recipe.name} has no rule {rule}. "
                f"Switch it on with rules={rules}."
            )
    before = named(recipe.name) if recipe.name in RECIPES else recipe
    differ = tuple(name for name in kinds if getattr(changed, name) != getattr(before, name))
    return replace(changed, changed=differ)


def recipe_of(name: str, parameters: Mapping[str, Any]) -> Recipe:
    """The recipe of a stored name and stored parameters."""
    return with_parameters(named(name), parameters)


def _rule_of(parameter: str) -> str | None:
    prefix = parameter.split("_", maxsplit=1)[0]
    if prefix in {"seconds", "straight", "technical", "test"}:
        return TECHNICAL
    return prefix if prefix in ORDER and "_" in parameter else None


def _read(name: str, value: Any, kind: type) -> Any:
    if kind is tuple:
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(part.strip() for part in parts if part.strip())
    try:
        if kind is int and isinstance(value, float) and not value.is_integer():
            raise ValueError
        return kind(value)
    except (TypeError, ValueError):
        raise RecipeError(f"{name}={value} is no {'whole ' if kind is int else ''}number.") from None
