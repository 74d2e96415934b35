"""Forms of the filters page: a recipe's rules with their parameters, applying, undoing, topping up."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.http import QueryDict

from crowd.desk.forms import Form, OnceForm
from web.forms import MoneyField
from web.revisions import Conflict

if TYPE_CHECKING:
    from metrics.agreement.recipes import Recipe

#: Rules in their fixed order, with what researchers read.
RULES = {
    "technical": "Technical: too fast, always the same score, test accounts",
    "checks": "Attention checks",
    "kappa": "Kappa of each judge with the others",
    "z": "Single responses by z",
}
RECIPES = {
    "default": "Default: attention checks, then kappa",
    "kpqa-2021": "KPQA 2021: responses by z alone",
    "adem-2017": "ADEM 2017: any failed check, then median pairwise kappa",
    "none": "None: everything counts",
}
_WORDS: dict[str, tuple[str, str]] = {
    "seconds_below": ("Seconds per judgment below", "Judges whose median is below are removed; 0: off."),
    "straight_share": ("Share of one unbroken score", "0 to 1; judges at or above are removed; 0: off."),
    "technical_least": ("Least judgments to decide", "With fewer, a judge stays and is flagged."),
    "test_accounts": (
        "Test accounts",
        "Ids with commas between; one that ends in * stands for all that begin so.",
    ),
    "checks_failed": ("Failed checks that remove a judge", ""),
    "checks_least": ("Least checks shown to decide", "With fewer, a judge stays and is flagged."),
    "kappa_below": ("Kappa below", "Judges below are removed."),
    "kappa_least": ("Least judgments beside others", "With fewer, a judge stays and is flagged."),
    "kappa_weights": ("Weights", ""),
    "kappa_reference": ("Against", ""),
    "z_limit": ("|z| above", "Responses further from their answer's mean are removed."),
    "z_cap": ("At most per answer", ""),
    "z_ddof": ("Standard deviation", ""),
    "z_least": ("Least judgments of the answer", ""),
    "z_keep": ("Judgments that always stay", ""),
    "z_ties": ("Equal |z| at the cap", ""),
}
_CHOICES = {
    "kappa_weights": [("quadratic", "quadratic"), ("linear", "linear")],
    "kappa_reference": [
        ("pooled", "all others together"),
        ("consensus", "the others' mean"),
        ("pairwise", "each other judge, median"),
    ],
    "z_ddof": [("0", "of the population"), ("1", "of a sample")],
    "z_ties": [("submission", "the earlier goes"), ("group", "all of them or none")],
}


class RecipeForm(Form):
    """The rules of a recipe with their parameters; those of rules that do not run are not looked at."""

    rules = forms.MultipleChoiceField(
        choices=list(RULES.items()), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, data: QueryDict | None, recipe: "Recipe") -> None:
        super().__init__(data)
        self.recipe = recipe
        self.fields["rules"].initial = list(recipe.rules)
        for name, (label, hint) in _WORDS.items():
            self.fields[name] = _field(name, getattr(recipe, name), label, hint)

    @property
    def groups(self) -> list[tuple[str, str, bool, list[forms.BoundField]]]:
        """Each rule with whether it is on and the fields of its parameters."""
        chosen = self["rules"].value() or []
        groups: dict[str, list[forms.BoundField]] = {rule: [] for rule in RULES}
        for name in _WORDS:
            groups[rule_of(name)].append(self[name])
        return [(rule, RULES[rule], rule in chosen, fields) for rule, fields in groups.items()]

    @property
    def parameters(self) -> dict[str, Any]:
        """What the service takes: the rules in the order given, and the parameters of the rules that run."""
        rules = [rule for rule in self.cleaned_data["rules"] if rule in RULES]
        given = {
            name: self.cleaned_data[name]
            for name in _WORDS
            if rule_of(name) in rules and self.cleaned_data.get(name) not in (None, "")
        }
        return {"rules": rules, **given}


def rule_of(name: str) -> str:
    """The rule that a parameter belongs to."""
    prefix = name.split("_", maxsplit=1)[0]
    return prefix if prefix in RULES else "technical"


def _field(name: str, value: Any, label: str, hint: str) -> forms.Field:
    options: dict[str, Any] = {"label": label, "help_text": hint, "required": False}
    if name in _CHOICES:
        return forms.ChoiceField(choices=_CHOICES[name], initial=str(value), **options)
    if isinstance(value, tuple):
        return forms.CharField(initial=", ".join(value), max_length=2000, **options)
    if isinstance(value, int):
        return forms.IntegerField(
            initial=value,
            min_value=0,
            max_value=10**6,
            widget=forms.NumberInput(attrs={"size": 6}),
            **options,
        )
    return forms.FloatField(
        initial=value,
        min_value=-1,
        max_value=10**6,
        widget=forms.NumberInput(attrs={"size": 6, "step": "any"}),
        **options,
    )


class ParametersField(forms.JSONField):
    """A recipe's parameters, which are nested two deep."""

    def to_python(self, value: Any) -> Any:
        """The value of the JSON."""
        try:
            return super().to_python(value)
        except RecursionError as error:
            raise forms.ValidationError("These parameters are nested too deep.") from error


class ApplyForm(OnceForm):
    """What was previewed, sent once; `seen` is the run in force that the person saw."""

    conflict: Conflict | None = None

    recipe = forms.CharField(max_length=40, widget=forms.HiddenInput)
    parameters = ParametersField(widget=forms.HiddenInput)
    seen = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**62,
        initial=0,
        label="Seed of the report",
        help_text="For its intervals and halves.",
        widget=forms.NumberInput(attrs={"size": 6}),
    )


class UndoForm(Form):
    """Why filters are undone."""

    reason = forms.CharField(
        max_length=300,
        label="Why",
        help_text="Stays in the log with your name.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class TopUpForm(OnceForm):
    """The amount that the page showed, sent once."""

    most = MoneyField(widget=forms.HiddenInput)
