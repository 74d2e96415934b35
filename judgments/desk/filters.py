"""The page of filters: its forms, and what they do: preview, apply, undo, ask again."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from core.jobs.models import Job
from core.revisions import ConflictError
from crowd.access import StageAccess, on_stage
from crowd.desk import tables
from crowd.desk.forms import Form, OnceForm
from crowd.models import Stage
from judgments.desk.agreement import FOLDER
from judgments.models import FilterRun
from judgments.selectors.live import in_force
from judgments.selectors.ratings import QUESTIONNAIRE, newer_than, stamp_of
from judgments.services import filter_runs
from judgments.services.filter_decisions import (
    FilteringError,
    FiltersChangedError,
    recipe_named,
    stored_parameters,
)
from web.access import Role
from web.cache import cached
from web.forms import Conflict, Line, MoneyField, differences, read_form, run_action
from web.pages import conflict_page, show

if TYPE_CHECKING:
    from metrics.agreement.recipes import Recipe


# Forms of the filters page: a recipe's rules with their parameters, applying, undoing, topping up.

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
        "Ids with commas between; one that ends in * means all that begin so.",
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
        selected_rules = self["rules"].value() or []
        groups: dict[str, list[forms.BoundField]] = {rule: [] for rule in RULES}
        for name in _WORDS:
            groups[rule_of(name)].append(self[name])
        return [(rule, RULES[rule], rule in selected_rules, fields) for rule, fields in groups.items()]

    @property
    def parameters(self) -> dict[str, Any]:
        """What the service takes: the rules in the order given, and the parameters of the rules that run."""
        rules = [rule for rule in self.cleaned_data["rules"] if rule in RULES]
        values = {
            name: self.cleaned_data[name]
            for name in _WORDS
            if rule_of(name) in rules and self.cleaned_data.get(name) not in (None, "")
        }
        return {"rules": rules, **values}


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


_NO_FILTERS = "(no filters)"


def compare_filters(*, stage: Stage, user: User, wish_fields: Mapping[str, Any]) -> ApplyForm:
    """A form that applies `wish_fields` over the filters in force now, with both versions in `conflict`.

    Raises FilteringError where the wish is none that could be applied.
    """
    mine, run = recipe_named(wish_fields["recipe"], wish_fields["parameters"]), in_force(stage)
    wish = {name: wish_fields[name] for name in ("recipe", "parameters", "seed")}
    form = ApplyForm(initial=wish | {"seen": run.pk if run else 0})
    page = reverse("judgments:filters", args=[stage.project.slug, stage.slug])
    form.conflict = Conflict(
        list(_lines(stage, user, mine, run)), page, f"{page}?{urlencode(_address_of(mine), doseq=True)}"
    )
    return form


def overtaken_wish(*, stage: Stage, user: User, failed: Job | None) -> ApplyForm | None:
    """The comparison for this person's wish, where its job found other filters in force than they saw."""
    if failed is None or failed.kind != filter_runs.APPLY or failed.payload["user"] != user.pk:
        return None
    run = in_force(stage)
    if failed.payload["seen"] == (run.pk if run else 0):
        return None
    try:
        return compare_filters(stage=stage, user=user, wish_fields=failed.payload)
    except FilteringError:
        return None


def _lines(stage: Stage, user: User, mine: "Recipe", run: FilterRun | None) -> Iterator[Line]:
    if run is None:
        yield Line("Recipe", mine.title, _NO_FILTERS)
        return
    theirs = recipe_named(run.recipe, run.parameters)
    if mine.title != theirs.title:
        yield Line("Recipe", mine.title, theirs.title)
    yield from differences(RecipeForm(None, mine), _form_of(theirs, {*mine.rules, *theirs.rules}))
    yield from _effects(stage, mine, run)
    if run.created_by is not None and run.created_by != user:
        yield Line("Applied by", user.get_username(), run.created_by.get_username())


def _form_of(recipe: "Recipe", rules: set[str]) -> RecipeForm:
    """The form of a recipe without parameters of other rules, which say nothing."""
    form = RecipeForm(None, recipe)
    for name in list(form.fields):
        if name != "rules" and rule_of(name) not in rules:
            del form.fields[name]
    return form


def _effects(stage: Stage, mine: "Recipe", run: FilterRun) -> Iterator[Line]:
    """What each removes."""
    preview, counts = filter_runs.preview(stage, mine.name, stored_parameters(mine)), run.summary["counts"]
    for label, name in (("Judges removed", "removed_workers"), ("Judgments removed", "removed_ratings")):
        removed = getattr(preview, name)
        if removed != counts[name]:
            yield Line(label, f"{removed:,}", f"{counts[name]:,}")


def _address_of(recipe: "Recipe") -> dict[str, Any]:
    """The query string of the page that previews a recipe."""
    stored = stored_parameters(recipe)
    rules = stored.pop("rules")
    fields = {name: ", ".join(each) if isinstance(each, list) else each for name, each in stored.items()}
    return {"look": 1, "recipe": recipe.name, "rules": rules, **fields}


PAGE = "judgments:filters"
_RUNS, _AGAIN_SECONDS = 10, 3


@require_safe
@on_stage()
def filters(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Recipes with their parameters, the preview that the address asks for, and all runs."""
    _filtered_only(access)
    stage = access.stage
    choice = tables.choice(request, "recipe", RECIPES)
    looked = "look" in request.GET
    form = RecipeForm(request.GET if looked else None, recipe_named(choice.chosen, {}))
    work, failed = filter_runs.under_way_or_failed(stage)
    run = in_force(stage)
    preview, trouble = _look(stage, choice.chosen, form) if looked else (None, "")
    runs = FilterRun.objects.filter(stage=stage).select_related("created_by", "ended_by").order_by("-pk")
    answer = show(
        request,
        "filters.html",
        access,
        folder=FOLDER,
        tab="filters",
        recipe=choice,
        form=form,
        found=preview,
        trouble=trouble,
        apply_form=_apply_form(choice.chosen, preview) if preview and access.manages else None,
        run=run,
        newer=newer_than(stage, run.last_judgment) if run else 0,
        any_judgments=bool(stamp_of(stage).count),
        runs=Paginator(runs, _RUNS).get_page(request.GET.get("page")),
        undo_form=UndoForm(auto_id="undo_%s"),
        work=work,
        failed=failed,
        overtaken=overtaken_wish(stage=stage, user=access.user, failed=failed) if access.manages else None,
        **_missing(access, run),
    )
    if work is not None:
        answer["Refresh"] = str(_AGAIN_SECONDS)
    return answer


def _filtered_only(access: StageAccess) -> None:
    """Other kinds of stages have nothing to filter."""
    if access.stage.kind not in ("judging", QUESTIONNAIRE):
        raise Http404("Only judging stages and questionnaires have this page.")


def _look(stage: Stage, recipe: str, form: RecipeForm) -> tuple[filter_runs.Preview | None, str]:
    if not form.is_valid():
        return None, "Some of the parameters cannot be read."
    stamp = stamp_of(stage)
    key = ("filter-preview", stage.pk, recipe, form.parameters, stamp.run)
    try:
        return cached(key, partial(filter_runs.preview, stage, recipe, form.parameters), stamp=stamp), ""
    except FilteringError as error:
        return None, str(error)


def _apply_form(recipe: str, preview: filter_runs.Preview) -> ApplyForm:
    return ApplyForm(
        initial={"recipe": recipe, "parameters": preview.parameters, "seen": preview.seen}, auto_id="apply_%s"
    )


def _missing(access: StageAccess, run: FilterRun | None) -> dict[str, Any]:
    """What is missing and what asking for it costs, for those who may; only where filters are in force."""
    if run is None or not access.spends:
        return {}
    stage = access.stage
    key = ("missing-judgments", stage.pk, run.pk, stage.reserved_cents)
    missing = cached(key, partial(filter_runs.count_missing, stage))
    return {
        "missing": missing,
        "offer": missing.offer,
        "top_up_form": TopUpForm(initial={"most": missing.offer.total_cents}, auto_id="top_up_%s"),
    }


@require_POST
@on_stage(Role.MANAGER)
def apply(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Put a recipe in force, as it was previewed."""
    _filtered_only(access)
    wish: dict[str, Any] = {"stage": access.stage, "actor": access.user}

    def action() -> str:
        fields = read_form(ApplyForm(request.POST))
        parameters = fields["parameters"]
        wish.update(
            recipe=fields["recipe"],
            parameters=parameters if isinstance(parameters, dict) else {},
            seed=fields["seed"],
            seen=fields["seen"],
            once=fields["once"].hex,
        )
        recipe_named(wish["recipe"], wish["parameters"])  # refuses what no job could apply
        filter_runs.check_seen(access.stage, wish["seen"], wish["once"])
        filter_runs.ask_apply(**wish)
        return "The filters are being applied. This page says when they are in force."

    def act_or_compare() -> str:
        try:
            return action()
        except FiltersChangedError as error:
            raise ConflictError from error

    try:
        return run_action(request, act_or_compare, PAGE, access.project.slug, access.stage.slug)
    except ConflictError:
        form = compare_filters(stage=access.stage, user=access.user, wish_fields=wish)
        return show(request, conflict_page(form), access, status=409)


@require_POST
@on_stage(Role.MANAGER)
def undo(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Take filters out of force, with a reason."""
    _filtered_only(access)
    run = get_object_or_404(FilterRun.objects.select_related("stage__project"), stage=access.stage, pk=pk)

    def action() -> str:
        reason = read_form(UndoForm(request.POST))["reason"]
        filter_runs.undo(run, reason, access.user)
        return "Undone. All judgments count again."

    return run_action(request, action, PAGE, access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def top_up(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Ask again for what filters removed, for the amount that the page showed."""
    _filtered_only(access)

    def action() -> str:
        fields = read_form(TopUpForm(request.POST))
        filter_runs.ask_top_up(
            stage=access.stage, most_cents=fields["most"], actor=access.user, once=fields["once"].hex
        )
        return "What is missing is being published. This page says when it is done."

    return run_action(request, action, PAGE, access.project.slug, access.stage.slug)
