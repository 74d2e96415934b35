"""The form of a new evaluation. It knows the library of metrics, so only its page imports it."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms

from crowd.desk.forms import OnceForm
from evaluations.errors import EvaluationError
from evaluations.learned.needs import WORDS, kinds_of, kinds_of_all
from evaluations.learned.shelf import ModelEntry
from evaluations.models import ExternalScores
from evaluations.plans import MOST_DRAWS, MOST_REPLICATES, EvaluationPlan, plan_of
from metrics.errors import MetricError
from metrics.learned.bert.encoder_folder import known
from metrics.learned.profile_models import BERTSCORE
from metrics.profiles import profile

_ADVANCED = ("seed", "replicates", "draws", "gap", "protocols")


class NewForm(OnceForm):
    """Everything that an evaluation depends on; `release` is chosen before."""

    title = forms.CharField(
        max_length=120, required=False, label="Title", help_text="For lists; empty: its number."
    )
    stage = forms.ChoiceField(label="Human scores of", required=False)
    profile = forms.ChoiceField(label="Profile", widget=forms.RadioSelect)
    metrics = forms.MultipleChoiceField(required=False, label="Metrics", widget=forms.CheckboxSelectMultiple)
    external = forms.MultipleChoiceField(
        required=False,
        label="Scores from elsewhere",
        widget=forms.CheckboxSelectMultiple,
        help_text="Uploaded columns join every table as one more metric.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**53,
        initial=0,
        label="Seed",
        help_text="The same seed gives the same intervals and tests, bit for bit.",
    )
    replicates = forms.IntegerField(
        min_value=0,
        max_value=MOST_REPLICATES,
        initial=1_000,
        label="Bootstrap replicates",
        help_text="Behind each 95 % interval. 0: no intervals.",
    )
    draws = forms.IntegerField(
        min_value=99,
        max_value=MOST_DRAWS,
        initial=9_999,
        label="Permutation draws",
        help_text="Behind each test of two metrics; the smallest p is 1 / (draws + 1).",
    )
    gap = forms.DecimalField(
        required=False,
        min_value=Decimal("0.001"),
        max_value=1_000,
        decimal_places=3,
        label="Gap for pairs far apart",
        help_text="In human scores: pairs of answers that differ by at least this much (KPQA, Table 7). "
        "Empty: half of the scale.",
    )
    protocols = forms.MultipleChoiceField(
        required=False,
        label="Protocols of papers",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(
        self,
        data: Any = None,
        *,
        stages: dict[str, str],
        profiles: Sequence[tuple[str, str]],
        metrics: Sequence[str],
        external: Sequence[ExternalScores],
        protocols: Mapping[str, str],
        models: Mapping[str, Sequence[ModelEntry]],
        encoder: str = "",
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        self._external = {each.name: each for each in external}
        self._models = {kind: {each.name: each for each in found} for kind, found in models.items() if found}
        self._encoder = encoder
        self._choose("stage", list(stages.items()))
        self._choose("profile", list(profiles))
        self._choose("metrics", [(name, name) for name in metrics])
        self._choose("protocols", list(protocols.items()))
        self._choose("external", [(each.name, each.name) for each in external])
        for kind, found in self._models.items():
            self.fields[f"model_{kind}"] = _model_field(kind, list(found.values()))
        if profiles:
            self.fields["profile"].initial = profiles[0][0]

    def advanced(self) -> list[Any]:
        """Fields that have good values already, but for the protocols."""
        return [self[name] for name in _ADVANCED if name != "protocols"]

    @property
    def encoder(self) -> str:
        """BERTScore's as people call it."""
        return EvaluationPlan(encoder=self._encoder).encoder_name

    def models(self) -> list[Any]:
        """Fields in which a model of each kind is chosen, for kinds of which there is any."""
        return [self[f"model_{kind}"] for kind in self._models]

    @property
    def open_advanced(self) -> bool:
        """Something among them is wrong, so they are shown."""
        return any(name in self.errors for name in _ADVANCED)

    def plan(self) -> EvaluationPlan:
        """What a valid form asks for; EvaluationError where it makes no sense."""
        given = self.cleaned_data
        external = [{"name": name, "digest": self._external[name].digest} for name in given["external"]]
        needed = self._needed()
        encoder = self._encoder if BERTSCORE in needed else ""
        chosen = {kind: given[f"model_{kind}"] for kind in self._models if kind in needed}
        models = [self._models[kind][name] for kind, name in chosen.items() if name]
        return plan_of(
            {
                "stage": given["stage"],
                "profile": given["profile"],
                "metrics": given["metrics"],
                "external": external,
                "models": [{"kind": each.kind, "name": each.name, "digest": each.digest} for each in models],
                "encoder": encoder,
                "encoder_digest": known(encoder).digest if encoder else "",
                "seed": given["seed"],
                "replicates": given["replicates"],
                "draws": given["draws"],
                "gap": None if given["gap"] is None else float(given["gap"]),
                "protocols": given["protocols"],
            }
        )

    def clean(self) -> dict[str, Any]:
        """A plan can be made of it, and every learned metric that is named has its model."""
        cleaned = super().clean() or {}
        for kind in self._models:
            named = [name for name in cleaned.get("metrics", ()) if kind in kinds_of(name)]
            if named and not cleaned.get(f"model_{kind}") and f"model_{kind}" not in self.errors:
                self.add_error(f"model_{kind}", f"Choose the model that {named[0]} scores with.")
        if not self.errors:
            try:
                self.plan()
            except (EvaluationError, MetricError) as error:
                raise forms.ValidationError(str(error)) from error
        return cleaned

    def _needed(self) -> frozenset[str]:
        given = self.cleaned_data
        return kinds_of_all(given["metrics"] or profile(given["profile"]).metrics)

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices


def _model_field(kind: str, found: Sequence[ModelEntry]) -> forms.ChoiceField:
    """One of the models of a kind; the only one there is is chosen already."""
    none = [] if len(found) == 1 else [("", "Choose one")]
    return forms.ChoiceField(
        choices=[*none, *((each.name, f"{each.name} ({each.signature})") for each in found)],
        required=False,
        initial=found[0].name if len(found) == 1 else "",
        label=f"{WORDS[kind]} model",
    )
