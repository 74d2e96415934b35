"""Planning an evaluation: release, human scores, metrics, options."""

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from evaluations import selectors
from evaluations.desk.estimate import Estimate, estimate
from evaluations.desk.listing import FOLDER, TAB
from evaluations.errors import EvaluationError
from evaluations.models import Evaluation
from evaluations.services.planning import begin
from releases.models import Release
from web.access import ProjectAccess, Role, on_project
from web.pages import show

if TYPE_CHECKING:
    from evaluations.desk.newform import NewForm
    from evaluations.desk.offers import Models

_MOST_RELEASES = 200


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def new(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The form; `do=begin` begins, `do=estimate` only says how long it would take."""
    releases = list(selectors.releases_to_evaluate(access.project)[:_MOST_RELEASES])
    release = _chosen(releases, request)
    if release is None:
        return show(request, "new.html", access, folder=FOLDER, tab=TAB, release=None)
    posted = request.method == "POST"
    from evaluations.desk import offers  # noqa: PLC0415 - the library of metrics, only where it is offered

    learned = offers.models()
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
        profiles=offers.profiles(),
        families=offers.by_family(learned=learned),
        learned=offers.LEARNED,
        lacking=learned.lacking(),
        chosen=set(form["metrics"].value() or ()),
        chosen_external=set(form["external"].value() or ()),
        external=list(selectors.external_of(release)),
        answers=selectors.rows_of(release, "scores"),
        estimate=_estimate(release, form) if valid else _estimate(release, None),
        asked=valid,
        status=422 if form.errors else 200,
    )


def _chosen(releases: list[Release], request: HttpRequest) -> Release | None:
    wanted = request.GET.get("release", "")
    named = [each for each in releases if each.version == wanted]
    return next(iter(named or releases), None)


def _form(request: HttpRequest, release: Release, learned: "Models") -> "NewForm":
    from evaluations.desk import offers  # noqa: PLC0415
    from evaluations.desk.newform import NewForm  # noqa: PLC0415

    return NewForm(
        request.POST if request.method == "POST" else None,
        stages=selectors.stages_of(release),
        profiles=[(each.name, each.says) for each in offers.profiles()],
        metrics=offers.known_metrics(),
        external=list(selectors.external_of(release)),
        protocols=offers.protocols(),
        models=learned.of_kind,
        encoder=learned.encoder,
    )


def _begin(access: ProjectAccess, release: Release, form: "NewForm") -> Evaluation | None:
    from evaluations.learned.pinned_models import publish_models  # noqa: PLC0415
    from metrics.errors import MetricError  # noqa: PLC0415

    try:
        plan = form.plan()
        publish_models(plan)
        return begin(release=release, plan=plan, title=form.cleaned_data["title"], actor=access.user)
    except (EvaluationError, MetricError) as error:
        form.add_error(None, str(error))
        return None


def _estimate(release: Release, form: "NewForm | None") -> Estimate:
    from evaluations.desk import offers  # noqa: PLC0415

    given: dict[str, Any] = form.cleaned_data if form is not None else {}
    own = given.get("metrics") or offers.metrics_of_profile(given.get("profile", "default"))
    return estimate(
        answers=selectors.rows_of(release, "scores"),
        models=offers.models_needed(own),
        metrics=len(own) + len(given.get("external", ())),
        replicates=given.get("replicates", 1_000),
        draws=given.get("draws", 9_999),
    )
