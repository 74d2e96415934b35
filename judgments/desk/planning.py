"""The desk's planning page: what a study can show, before money is spent."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from crowd.access import StageAccess, on_stage
from crowd.desk.forms import Form
from crowd.models import Stage
from judgments.desk.agreement import FOLDER, judging_only
from judgments.judging_config import judging_config
from judgments.questionnaire.config import QuestionnaireField, questionnaire_config
from judgments.questionnaire.ratings import spread_of_field, values_in_order
from judgments.selectors import live as selectors
from judgments.selectors.judging import candidates_to_judge
from judgments.selectors.live import Live, live
from judgments.selectors.ratings import stamp_of
from metrics.agreement.scale import Scale
from web.cache import cached
from web.cells import Link
from web.kit import Empty, Own, Page
from web.pages import show

if TYPE_CHECKING:
    from metrics.agreement.planning import ScoreSpread

#: Where the stage has nothing to go by: what a moderate crowd showed in the simulation of docs/quality.md, on
#: a scale from 1 to 5. Points of other scales are those of it, stretched to their range.
_DIFFERENCE, _SD_DIFFERENCE, _SD_RATING, _ALPHA = 0.2, 1.55, 0.95, 0.4
_HALF_WIDTH, _THRESHOLD, _USUAL_RANGE = 0.8, 3.5, 4


def _number(label: str, low: float, high: float, hint: str = "") -> forms.FloatField:
    return forms.FloatField(
        label=label,
        min_value=low,
        max_value=high,
        help_text=hint,
        widget=forms.NumberInput(attrs={"size": 6, "step": "any"}),
    )


class SystemsForm(Form):
    """Two systems that answer the same questions."""

    power = _number("Power", 0.5, 0.999, "The chance to find it if it is there.")

    def __init__(self, data: dict[str, Any], *, scale: Scale) -> None:
        """With fields in points of the scale: none can be larger than its range."""
        super().__init__(data)
        most = _range(scale)
        hint = f"Of the two systems' mean scores, {scale.description}."
        self.fields["difference"] = _number("Difference to find, in points", 0.01, most, hint)
        self.fields["sd_difference"] = _number(
            "SD of the true difference", 0, most, "From question to question."
        )
        self.fields["sd_rating"] = _number("SD of judgments of one answer", 0, most)
        self.order_fields(["difference", "sd_difference", "sd_rating", "power"])


def _range(scale: Scale) -> float:
    low, high = scale.ends
    return float(high - low)


def _stretched(points: float, scale: Scale) -> float:
    """Points of a scale from 1 to 5 in points of this one."""
    return round(points * _range(scale) / _USUAL_RANGE, 3)


class PairsForm(Form):
    """Two systems whose answers are compared in pairs."""

    share = _number("Share who prefer the better one", 0.501, 0.999, "Of those who decide.")
    ties = _number("Share of ties", 0, 0.99)
    correlation = _number(
        "Correlation of people", 0, 1, "About one pair, such as alpha; 0 where each differs."
    )
    pairs_power = _number("Power", 0.5, 0.999)


class MetricsForm(Form):
    """Two automatic metrics against the same human scores."""

    human_a = _number("Metric A with people", -0.999, 0.999, "Pearson's r with the mean scores.")
    human_b = _number("Metric B with people", -0.999, 0.999)
    between = _number("A with B", -0.999, 0.999)
    metric_power = _number("Power", 0.5, 0.999)


class AgreementForm(Form):
    """The agreement of single judgments."""

    alpha = _number("Alpha of single judgments", -1, 1)
    answers = forms.IntegerField(
        label="Answers to judge",
        min_value=1,
        max_value=10**7,
        widget=forms.NumberInput(attrs={"size": 8}),
    )


@require_safe
@on_stage()
def planning(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Calculators whose inputs are in the address."""
    if access.stage.kind == "questionnaire":
        return _plan_questionnaire(request, access)
    judging_only(access)
    stage, config = access.stage, judging_config(access.stage)
    now = live(stage)
    alpha = now.alpha["interval"].value
    return show(
        request,
        "planning.html",
        access,
        folder=FOLDER,
        tab="planning",
        now=now,
        config=config,
        own_alpha=alpha,
        half_width=_stretched(_HALF_WIDTH, config.rating_scale),
        threshold=float(config.rating_scale.ends[0]) + _stretched(_THRESHOLD - 1, config.rating_scale),
        **_agreement(request, access, alpha, candidates_to_judge(stage, config).count()),
        **_systems(request, access, _own_spread(stage, now), config.rating_scale),
        **_metrics(request),
    )


def _plan_questionnaire(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """A calculator for each field whose values are numbers or steps, and for pairs the sign test."""
    config = questionnaire_config(access.stage)
    fields = {each.name: each for each in config.fields if _can_plan(each)}
    name = request.GET.get("field", "")
    field = fields.get(name) or next(iter(fields.values()), None)
    parts: list[Any] = []
    context: dict[str, Any] = {}
    if field is None:
        parts = [Empty("Nothing to plan", "No field has values that can be compared.")]
    elif field.compares:
        parts = [Own("judgments/parts/planning_pairs.html")]
        context = _pairs(request, access)
    else:
        is_number = field.type in ("slider", "number")
        scale = field.scale if is_number else Scale(1, len(values_in_order(field)))
        parts = [Own("judgments/parts/planning_systems.html")]
        spread = cached(
            ("planning-spread", access.stage.pk, field.name),
            partial(_field_spread, access.stage, field, scale),
            stamp=stamp_of(access.stage),
        )
        context = _systems(request, access, spread, scale)
    links: list[Any] = [Link(each.name, f"?field={each.name}") for each in fields.values() if each != field]
    lead: list[Any] = [f"Of the field {field.name}. " if field else "", links and "Also: "]
    for number, each in enumerate(links):
        lead += [", " if number else "", each]
    return show(
        request,
        Page("Planning", parts, lead=tuple(filter(None, lead))),
        access,
        tab="planning",
        planned_field=field and field.name,
        **context,
    )


def _can_plan(field: QuestionnaireField) -> bool:
    """A mean of its values says something: choices without an order have none."""
    has_order = field.level in ("ordinal", "interval") or field.type == "yesno" or field.compares
    return has_order and len(values_in_order(field)) > 1


def _field_spread(stage: Stage, field: QuestionnaireField, scale: Scale) -> "ScoreSpread | None":
    from metrics.agreement.planning import ScoreSpread

    spread, unit = spread_of_field(stage, field), float(scale.unit)
    return spread and ScoreSpread(spread.sd_difference * unit, spread.sd_rating * unit)


def _pairs(request: HttpRequest, access: StageAccess) -> dict[str, Any]:
    usual = {"share": 0.6, "ties": 0.2, "correlation": 0.3, "pairs_power": 0.8}
    form, values = _form(PairsForm, request, usual)
    designs = []
    if values:
        designs = selectors.pair_designs(
            access.stage, values["share"], values["ties"], values["correlation"], values["pairs_power"]
        )
    return {"pairs_form": form, "pair_designs": designs}


def _form(
    kind: Callable[[dict[str, Any]], Form], request: HttpRequest, defaults: dict[str, Any]
) -> tuple[Form, dict[str, Any]]:
    """The form with what the address gives, else the defaults; its values, empty where they are wrong."""
    entries = {name: request.GET.get(name, value) for name, value in defaults.items()}
    form = kind(entries)
    return form, form.cleaned_data if form.is_valid() else {}


def _agreement(
    request: HttpRequest, access: StageAccess, alpha: float | None, answers: int
) -> dict[str, Any]:
    usual = {"alpha": round(_ALPHA if alpha is None else alpha, 3), "answers": max(1, answers)}
    form, values = _form(AgreementForm, request, usual)
    steps = selectors.steps(access.stage, values["alpha"], values["answers"]) if values else []
    return {"agreement_form": form, "steps": steps}


def _own_spread(stage: Stage, now: Live) -> "ScoreSpread | None":
    from metrics.agreement.planning import ScoreSpread

    own = cached(
        ("planning-spread", stage.pk), partial(selectors.spread_of_stage, stage, now), stamp=now.stamp
    )
    return own if isinstance(own, ScoreSpread) else None


def _usual_spread(scale: Scale) -> "ScoreSpread":
    """Of a moderate crowd; of two values alone that of one half, half of which is the answers'."""
    from metrics.agreement.planning import ScoreSpread

    if scale.size == 2:
        return ScoreSpread(0.5 * _range(scale), 0.354 * _range(scale))
    return ScoreSpread(_stretched(_SD_DIFFERENCE, scale), _stretched(_SD_RATING, scale))


def _systems(
    request: HttpRequest, access: StageAccess, own_spread: "ScoreSpread | None", scale: Scale
) -> dict[str, Any]:
    from metrics.agreement.planning import ScoreSpread

    spread = own_spread or _usual_spread(scale)
    usual = {
        "difference": _stretched(_DIFFERENCE, scale),
        "sd_difference": round(spread.sd_difference, 3),
        "sd_rating": round(spread.sd_rating, 3),
        "power": 0.8,
    }
    form, values = _form(partial(SystemsForm, scale=scale), request, usual)
    designs = []
    if values:
        spread = ScoreSpread(values["sd_difference"], values["sd_rating"])
        designs = selectors.designs(access.stage, spread, values["difference"], values["power"])
    return {"systems_form": form, "designs": designs, "own_spread": own_spread, "wanted": values}


def _metrics(request: HttpRequest) -> dict[str, Any]:
    from metrics.agreement.planning import Three, items_for_metrics

    usual = {"human_a": 0.6, "human_b": 0.55, "between": 0.7, "metric_power": 0.8}
    form, values = _form(MetricsForm, request, usual)
    item_counts = None
    if values:
        three = Three(values["human_a"], values["human_b"], values["between"])
        item_counts = items_for_metrics(three, power=values["metric_power"])
    return {"metrics_form": form, "metric_items": item_counts}
