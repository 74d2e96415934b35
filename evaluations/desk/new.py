"""The form of a new evaluation: what it offers, what it will take, and its checks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from crowd.desk.forms import OnceForm
from evaluations import model_shelf, selectors
from evaluations.choices import WORDS, kinds_of, kinds_of_all
from evaluations.desk.evaluations import FOLDER, TAB
from evaluations.errors import EvaluationError
from evaluations.model_shelf import ModelEntry, publish_models
from evaluations.models import Evaluation, ExternalScores
from evaluations.plans import MOST_DRAWS, MOST_REPLICATES, MOST_SAMPLES, EvaluationPlan, plan_of
from evaluations.services import begin
from metrics.catalogue import ADAPTED, MAKERS, metric, missing
from metrics.errors import MetricError
from metrics.learned_metrics import learned_metrics
from metrics.metaeval.breakdown import MOST, WEIGHTS, sweep_of
from metrics.metaeval.papers import PROTOCOLS
from metrics.profiles import BERTSCORE, KINDS, PROFILES, profile
from releases.models import Release
from web.access import ProjectAccess, Role, on_project
from web.pages import show

#: Families by the beginnings of names, in the order of the page.
_FAMILIES = {
    "BLEU": ("bleu",),
    "ROUGE": ("rouge",),
    "Meaning and consensus": ("meteor", "cider"),
    "Characters and words": ("chrf", "exact", "f1"),
    "References weighed by their agreement": ("pa-",),
    "Opinions and entities": ("adapted",),
    "Length": ("length",),
}
LEARNED, _OTHERS = "Learned", "Others"
#: The papers' own protocols with what each shows.
_PROTOCOLS = {
    "resample_overall": "Corpus scores of samples of questions (Yang et al. 2018)",
    "yang-bootstrap": "Adapted against plain metrics by the paired bootstrap (Yang et al. 2018, 4.2)",
    "adem-table3": "Single answers (ADEM, Table 3)",
    "adem-table4": "Systems (ADEM, Table 4)",
    "adem-table5": "One system left out (ADEM, Table 5)",
    "adem-table6": "Where metrics and people part (ADEM, Table 6)",
    "adem-table8": "Length bias (ADEM, Table 8)",
    "adem-table14": "Learning curve (ADEM, Table 14)",
    "kpqa-table7": "Pairs far apart (KPQA, Table 7)",
}
_NEEDS = {
    "questions": "questions",
    "labels": "opinions of answers",
    "reference_labels": "opinions of references",
    "entities": "entities of questions",
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A metric; `missing` says why it cannot be computed here, `needs` what the data must have."""

    name: str
    title: str
    needs: str
    missing: str


@dataclass(frozen=True, slots=True)
class ProfileOffer:
    """A profile with the metrics that it scores where none are named."""

    name: str
    says: str
    metrics: Sequence[str]


def profiles() -> list[ProfileOffer]:
    """All profiles, `default` first."""
    return [ProfileOffer(each.name, each.says, each.metrics) for each in PROFILES.values()]


@dataclass(frozen=True, slots=True)
class Models:
    """What learned metrics can score with here; it may change while a process lives."""

    of_kind: Mapping[str, Sequence[ModelEntry]]
    encoder: str

    def missing(self, name: str) -> str:
        """Why a learned metric cannot be chosen, in words; empty if it can."""
        if why := learned_metrics().missing():
            return why
        needed = kinds_of(name)
        if kinds := [WORDS[kind] for kind in KINDS if kind in needed and not self.of_kind[kind]]:
            return f"there is no {kinds[0]} model"
        return "there is no encoder" if BERTSCORE in needed and not self.encoder else ""

    def lacking(self) -> list[str]:
        """Kinds of which there is none, in words."""
        kinds = [f"{WORDS[kind]} model" for kind in KINDS if not self.of_kind[kind]]
        return [*kinds, *([] if self.encoder else [f"encoder for {WORDS[BERTSCORE]}"])]


def models() -> Models:
    """The models that are here now."""
    usable = [each for each in model_shelf.shelf() if not each.wrong]
    by_kind = {kind: [each for each in usable if each.kind == kind] for kind in KINDS}
    return Models(by_kind, settings.BERTSCORE_ENCODER)


@cache
def offers(profile_name: str = "default") -> tuple[Offer, ...]:
    """All metrics by name. What is installed does not change while a process lives, but models may come."""
    return tuple(_offer(name, profile_name) for name in MAKERS)


def by_family(profile_name: str = "default", learned: Models | None = None) -> list[tuple[str, list[Offer]]]:
    """Metrics in families, the best known ones first; learned ones where `learned` says what there is."""
    groups: dict[str, list[Offer]] = {family: [] for family in (*_FAMILIES, LEARNED, _OTHERS)}
    for each in offers(profile_name):
        if not kinds_of(each.name):
            groups[_family(each.name)].append(each)
        elif learned is not None:
            groups[LEARNED].append(replace(each, missing=learned.missing(each.name)))
    return [
        (family, sorted(in_family, key=lambda each: each.name))
        for family, in_family in groups.items()
        if in_family
    ]


def known_metrics() -> list[str]:
    """The names of all metrics."""
    return list(MAKERS)


def models_needed(names: Iterable[str]) -> int:
    """How many models and encoders these metrics score with."""
    return len(kinds_of_all(names))


def protocols() -> dict[str, str]:
    """The papers' own protocols by name, in words."""
    return {name: _PROTOCOLS.get(name, name) for name in PROTOCOLS}


def metrics_of_profile(name: str) -> Sequence[str]:
    """The metrics that a profile scores where none are named."""
    return profile(name).metrics


def _family(name: str) -> str:
    families = [family for family, beginnings in _FAMILIES.items() if name.startswith(beginnings)]
    return families[0] if families else _OTHERS


def _offer(name: str, profile_name: str) -> Offer:
    try:
        offered = metric(name, profile_name)
    except MetricError as error:
        return Offer(name, name, "", str(error))
    needs = ", ".join(_NEEDS.get(each, each) for each in sorted(offered.needs))
    return Offer(name, offered.title, needs, missing(offered))


#: From two evaluations on one slow core, 1,000 answers under 5 metrics (3.3 s) and 5,000 under 20 (26.5 s),
#: `benchmarks/metrics.py`, and for answers that a model reads docs/metrics.md; rounded to
#: the slow side. The start is mostly the plots of the page.
_SCORED_PER_SECOND = 10_000
#: Answers with their references that a model reads, and seconds until it is loaded.
_READ_PER_SECOND, _LOADED = 100, 10.0
_SECONDS_PER_DRAW = 1e-9
_SECONDS_PER_REPLICATE = 2.5e-7
_START = 8.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds on one core, in words."""

    seconds: float

    @property
    def duration(self) -> str:
        """Rounded, for people."""
        if self.seconds < 15:
            return "some seconds"
        if self.seconds < 90:
            return "about a minute"
        if self.seconds < 5_400:
            return f"about {round(self.seconds / 60)} minutes"
        return f"about {round(self.seconds / 3_600)} hours"


#: Numbers of references at which a curve samples them, as many as most questions have.
_CURVE_POINTS = 5


def estimate(
    *,
    answers: int,
    metrics: int,
    replicates: int,
    draws: int,
    models: int = 0,
    samples: int = 0,
    swept: int = 0,
) -> Estimate:
    """Of metrics over answers with human scores, their intervals, and tests of every pair of metrics.

    `models` read every answer with its references. All is scored again for each of the `samples` of a curve
    of references; `swept` weights of adapted metrics are as many more metrics without tests.
    """
    pairs = metrics * (metrics - 1) / 2
    scored = metrics * (1 + samples * _CURVE_POINTS) + swept
    scoring = answers * scored / _SCORED_PER_SECOND
    intervals = answers * (metrics + swept) * replicates * _SECONDS_PER_REPLICATE
    tests = answers * pairs * draws * _SECONDS_PER_DRAW
    reading = models * (_LOADED + answers / _READ_PER_SECOND)
    return Estimate(_START + scoring + reading + intervals + tests)


_ADVANCED = (
    "seed",
    "replicates",
    "draws",
    "gap",
    "paired_bootstrap",
    "reference_samples",
    "differences",
    "sweep_alpha",
    "sweep_beta",
    "protocols",
)


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
    paired_bootstrap = forms.BooleanField(
        required=False,
        label="Compare metrics by Koehn's paired bootstrap as well",
        help_text="Koehn 2004, as Yang et al. (2018) do; permutation tests are there in any case.",
    )
    reference_samples = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_SAMPLES,
        initial=0,
        label="Samples for the curve of references",
        help_text="Correlation by the number of references per question, some of them left out at random "
        "this often, and what it means for the next data set. 0: no curve; 20 are usual.",
    )
    differences = forms.ChoiceField(
        required=False,
        label="Metric whose largest differences are listed",
        help_text=f"The {MOST} answers that it ranks most differently from people, with their texts.",
    )
    sweep_alpha = forms.CharField(
        required=False,
        max_length=90,
        label="Sweep of alpha",
        help_text="Weights of opinions in adapted metrics, as 0:10:1 (from, to, step) or 0,0.5,2: the curve "
        "of correlation is drawn over them. Empty: none.",
    )
    sweep_beta = forms.CharField(
        required=False,
        max_length=90,
        label="Sweep of beta",
        help_text="The same for the weight of entities.",
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
        self._models = {
            kind: {each.name: each for each in entries} for kind, entries in models.items() if entries
        }
        self._encoder = encoder
        self._choose("stage", list(stages.items()))
        self.fields_score = any("/" in choice for choice in stages)
        self._choose("profile", list(profiles))
        self._choose("metrics", [(name, name) for name in metrics])
        self._choose("protocols", list(protocols.items()))
        self._choose("external", [(each.name, each.name) for each in external])
        names = [*metrics, *(each.name for each in external)]
        self._choose("differences", [("", "None"), *((name, name) for name in names)])
        for kind, entries in self._models.items():
            self.fields[f"model_{kind}"] = _model_field(kind, list(entries.values()))
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
        cleaned = self.cleaned_data
        external = [{"name": name, "digest": self._external[name].digest} for name in cleaned["external"]]
        needed = self._needed()
        encoder = self._encoder if BERTSCORE in needed else ""
        model_names = {kind: cleaned[f"model_{kind}"] for kind in self._models if kind in needed}
        models = [self._models[kind][name] for kind, name in model_names.items() if name]
        stage, _, field = cleaned["stage"].partition("/")
        return plan_of(
            {
                "stage": stage,
                "field": field,
                "profile": cleaned["profile"],
                "metrics": cleaned["metrics"],
                "external": external,
                "models": [{"kind": each.kind, "name": each.name, "digest": each.digest} for each in models],
                "encoder": encoder,
                "encoder_digest": learned_metrics().find_encoder(encoder).digest if encoder else "",
                "seed": cleaned["seed"],
                "replicates": cleaned["replicates"],
                "draws": cleaned["draws"],
                "gap": None if cleaned["gap"] is None else float(cleaned["gap"]),
                "protocols": cleaned["protocols"],
                "reference_samples": cleaned["reference_samples"] or 0,
                "differences": [cleaned["differences"]] if cleaned["differences"] else [],
                "sweeps": [
                    f"{weight}={values}"
                    for weight in WEIGHTS
                    if (values := cleaned[f"sweep_{weight}"].strip())
                ],
                "paired_bootstrap": cleaned["paired_bootstrap"],
            }
        )

    def clean(self) -> dict[str, Any]:
        """A plan can be made of it, and every learned metric that is named has its model."""
        cleaned = super().clean() or {}
        for kind in self._models:
            named = [name for name in cleaned.get("metrics", ()) if kind in kinds_of(name)]
            if named and not cleaned.get(f"model_{kind}") and f"model_{kind}" not in self.errors:
                self.add_error(f"model_{kind}", f"Choose the model that {named[0]} scores with.")
        self._check_requests(cleaned)
        if not self.errors:
            try:
                self.plan()
            except (EvaluationError, MetricError) as error:
                raise forms.ValidationError(str(error)) from error
        return cleaned

    def _check_requests(self, cleaned: Mapping[str, Any]) -> None:
        """What is asked of single metrics needs those metrics."""
        named = cleaned.get("metrics") or profile(cleaned.get("profile") or "default").metrics
        metric_name = cleaned.get("differences", "")
        if metric_name and metric_name not in {*named, *cleaned.get("external", ())}:
            self.add_error("differences", f"{metric_name} is not among the metrics that are chosen.")
        for weight in WEIGHTS:
            name = f"sweep_{weight}"
            sweep_values = cleaned.get(name, "").strip()
            if not sweep_values:
                continue
            try:
                sweep_of(f"{weight}={sweep_values}")
            except MetricError:
                self.add_error(name, "Write from:to:step, such as 0:10:1, or values such as 0,0.5,2.")
            else:
                if not set(named) & set(ADAPTED):
                    self.add_error(name, f"Choose a metric that it changes: {', '.join(ADAPTED)}.")

    def _needed(self) -> frozenset[str]:
        cleaned = self.cleaned_data
        return kinds_of_all(cleaned["metrics"] or profile(cleaned["profile"]).metrics)

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices


def _model_field(kind: str, entries: Sequence[ModelEntry]) -> forms.ChoiceField:
    """One of the models of a kind; the only one there is is chosen already."""
    none = [] if len(entries) == 1 else [("", "Choose one")]
    return forms.ChoiceField(
        choices=[*none, *((each.name, f"{each.name} ({each.signature})") for each in entries)],
        required=False,
        initial=entries[0].name if len(entries) == 1 else "",
        label=f"{WORDS[kind]} model",
    )


_MOST_RELEASES = 200


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def new(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The form; `do=begin` begins, `do=estimate` only says how long it would take."""
    releases = list(selectors.releases_to_evaluate(access.project)[:_MOST_RELEASES])
    release = _choose_release(releases, request)
    if release is None:
        return show(request, "new.html", access, folder=FOLDER, tab=TAB, release=None)
    posted = request.method == "POST"
    pass

    learned = models()
    form = _form(request, release, learned)
    valid = posted and form.is_valid()
    if valid and request.POST.get("do") != "estimate":
        begun = _begin(access, release, form)
        if begun is not None:
            messages.success(request, "The evaluation has begun. You may leave this page.")
            return redirect("evaluations:one", access.project.slug, release.version, begun.number)
    return show(
        request,
        "new.html",
        access,
        folder=FOLDER,
        tab=TAB,
        release=release,
        releases=releases,
        form=form,
        profiles=profiles(),
        families=by_family(learned=learned),
        learned=LEARNED,
        lacking=learned.lacking(),
        chosen=set(form["metrics"].value() or ()),
        chosen_external=set(form["external"].value() or ()),
        external=list(selectors.external_of(release)),
        answers=selectors.rows_of(release, "scores"),
        estimate=_estimate(release, form) if valid else _estimate(release, None),
        asked=valid,
        status=422 if form.errors else 200,
    )


def _choose_release(releases: list[Release], request: HttpRequest) -> Release | None:
    version = request.GET.get("release", "")
    named = [each for each in releases if each.version == version]
    return next(iter(named or releases), None)


def _form(request: HttpRequest, release: Release, learned: "Models") -> "NewForm":
    pass
    pass

    return NewForm(
        request.POST if request.method == "POST" else None,
        stages=selectors.stages_of(release)
        | {f"{stage}/{field}": label for (stage, field), label in selectors.score_fields_of(release).items()},
        profiles=[(each.name, each.says) for each in profiles()],
        metrics=known_metrics(),
        external=list(selectors.external_of(release)),
        protocols=protocols(),
        models=learned.of_kind,
        encoder=learned.encoder,
    )


def _begin(access: ProjectAccess, release: Release, form: "NewForm") -> Evaluation | None:
    try:
        plan = form.plan()
        publish_models(plan)
        return begin(release=release, plan=plan, title=form.cleaned_data["title"], actor=access.user)
    except (EvaluationError, MetricError) as error:
        form.add_error(None, str(error))
        return None


def _estimate(release: Release, form: "NewForm | None") -> Estimate:
    pass

    cleaned: dict[str, Any] = form.cleaned_data if form is not None else {}
    own = cleaned.get("metrics") or metrics_of_profile(cleaned.get("profile", "default"))
    swept = form.plan().sweeps if form is not None else ()
    return estimate(
        answers=selectors.rows_of(release, "scores"),
        models=models_needed(own),
        metrics=len(own) + len(cleaned.get("external", ())),
        replicates=cleaned.get("replicates", 1_000),
        draws=cleaned.get("draws", 9_999),
        samples=cleaned.get("reference_samples") or 0,
        swept=sum(len(sweep_of(each).values) for each in swept) * len(set(own) & set(ADAPTED)),
    )
