"""Forms: a new evaluation, scores from elsewhere, two evaluations to compare."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms

from crowd.desk.forms import Form, OnceForm
from evaluations.errors import EvaluationError
from evaluations.models import ExternalScores
from evaluations.plans import MOST_DRAWS, MOST_REPLICATES, EvaluationPlan, plan_of
from releases.models import Release

LARGEST_UPLOAD = 64 << 20
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
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        self._external = {each.name: each for each in external}
        self._choose("stage", list(stages.items()))
        self._choose("profile", list(profiles))
        self._choose("metrics", [(name, name) for name in metrics])
        self._choose("protocols", list(protocols.items()))
        self._choose("external", [(each.name, each.name) for each in external])
        if profiles:
            self.fields["profile"].initial = profiles[0][0]

    def advanced(self) -> list[Any]:
        """Fields that have good values already, but for the protocols."""
        return [self[name] for name in _ADVANCED if name != "protocols"]

    @property
    def open_advanced(self) -> bool:
        """Something among them is wrong, so they are shown."""
        return any(name in self.errors for name in _ADVANCED)

    def plan(self) -> EvaluationPlan:
        """What a valid form asks for; EvaluationError where it makes no sense."""
        given = self.cleaned_data
        external = [{"name": name, "digest": self._external[name].digest} for name in given["external"]]
        return plan_of(
            {
                "stage": given["stage"],
                "profile": given["profile"],
                "metrics": given["metrics"],
                "external": external,
                "seed": given["seed"],
                "replicates": given["replicates"],
                "draws": given["draws"],
                "gap": None if given["gap"] is None else float(given["gap"]),
                "protocols": given["protocols"],
            }
        )

    def clean(self) -> dict[str, Any]:
        """A plan can be made of it."""
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.plan()
            except EvaluationError as error:
                raise forms.ValidationError(str(error)) from error
        return cleaned

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices


class ReleaseField(forms.ModelChoiceField[Release]):
    """A release by its version."""

    def label_from_instance(self, obj: Any) -> str:
        """The version."""
        return str(obj.version)


class UploadForm(Form):
    """A column of scores of a release's candidates in a file."""

    release = ReleaseField(
        queryset=Release.objects.none(), to_field_name="version", label="Release", empty_label=None
    )
    name = forms.RegexField(
        r"\A[a-z0-9][a-z0-9._+-]{0,59}\Z",
        label="Name",
        help_text="As reports will call it, such as comet-22: small letters, digits, and . _ + - between.",
        error_messages={"invalid": "Small letters, digits, and . _ + - after the first; at most 60."},
    )
    says = forms.CharField(
        max_length=300, required=False, label="What it is", help_text="For readers of reports."
    )
    direction = forms.ChoiceField(
        choices=[(choice.value, choice.label.capitalize()) for choice in ExternalScores.Direction],
        label="Better values are",
        help_text="Where lower is better, the sign is turned, so that all metrics point the same way.",
    )
    column = forms.CharField(
        max_length=200,
        required=False,
        label="Column of the scores",
        help_text="Empty: score, or the only column that is no id.",
    )
    file = forms.FileField(
        label="File",
        max_length=200,
        help_text="CSV, TSV or JSONL, plain or gzip, with a header: candidate_id and score, or query_id, "
        f"system and score. Up to {LARGEST_UPLOAD >> 20} MB.",
    )

    def __init__(self, data: Any = None, files: Any = None, *, releases: Any, **options: Any) -> None:
        super().__init__(data, files=files, **options)
        field = self.fields["release"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = releases

    def clean_file(self) -> Any:
        """Not larger than one page load can read."""
        file = self.cleaned_data["file"]
        if file.size > LARGEST_UPLOAD:
            raise forms.ValidationError(
                f"This file is larger than {LARGEST_UPLOAD >> 20} MB. Give it to manage.py evaluate instead."
            )
        return file
