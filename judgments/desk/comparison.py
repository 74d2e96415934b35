"""Two people's filters side by side, where the second was about to replace the first unseen."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.urls import reverse

from core.jobs.models import Job
from crowd.models import Stage
from crowd.selectors.stage_sizes import is_large
from judgments.desk.filterforms import ApplyForm, RecipeForm, rule_of
from judgments.errors import FilteringError
from judgments.models import FilterRun
from judgments.selectors.live import in_force
from judgments.services import filter_runs, filterjobs
from judgments.services.filter_decisions import recipe_named, stored_parameters
from web.revisions import Conflict, Line, differences

if TYPE_CHECKING:
    from metrics.agreement.recipes import Recipe

_NO_FILTERS = "(no filters)"


def compare_filters(*, stage: Stage, user: User, given: Mapping[str, Any]) -> ApplyForm:
    """A form that applies the wish `given` over the filters in force now, with both versions in `conflict`.

    Raises FilteringError where the wish is none that could be applied.
    """
    mine, run = recipe_named(given["recipe"], given["parameters"]), in_force(stage)
    wish = {name: given[name] for name in ("recipe", "parameters", "seed")}
    form = ApplyForm(initial=wish | {"seen": run.pk if run else 0})
    page = reverse("judgments:filters", args=[stage.project.slug, stage.slug])
    form.conflict = Conflict(
        list(_lines(stage, user, mine, run)), page, f"{page}?{urlencode(_address_of(mine), doseq=True)}"
    )
    return form


def overtaken_wish(*, stage: Stage, user: User, failed: Job | None) -> ApplyForm | None:
    """The comparison for this person's wish, where its job found other filters in force than they saw."""
    if failed is None or failed.kind != filterjobs.APPLY or failed.payload["user"] != user.pk:
        return None
    run = in_force(stage)
    if failed.payload["seen"] == (run.pk if run else 0):
        return None
    try:
        return compare_filters(stage=stage, user=user, given=failed.payload)
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
    """What each removes; of large stages, where that takes its time, the preview says it."""
    if is_large(stage):
        return
    found, counts = filter_runs.preview(stage, mine.name, stored_parameters(mine)), run.summary["counts"]
    for label, name in (("Judges removed", "removed_workers"), ("Judgments removed", "removed_ratings")):
        removed = getattr(found, name)
        if removed != counts[name]:
            yield Line(label, f"{removed:,}", f"{counts[name]:,}")


def _address_of(recipe: "Recipe") -> dict[str, Any]:
    """The query string of the page that previews a recipe."""
    stored = stored_parameters(recipe)
    rules = stored.pop("rules")
    fields = {name: ", ".join(each) if isinstance(each, list) else each for name, each in stored.items()}
    return {"look": 1, "recipe": recipe.name, "rules": rules, **fields}
