"""Models of learned metrics: which there are, and what the card of one says."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from crowd.desk.doors import for_members, show
from evaluations.desk.listing import FOLDER, TAB


@require_safe
@for_members
def listing(request: HttpRequest, user: User) -> HttpResponse:
    """All models in METRIC_MODELS."""
    from evaluations.learned import shelf  # noqa: PLC0415 - the library of metrics, only where it is used

    rows = [{"model": each, **_summary(each.card)} for each in shelf.shelf()]
    return show(
        request,
        "models.html",
        folder=FOLDER,
        rail=TAB,
        rows=rows,
        encoder=_plain_name(settings.BERTSCORE_ENCODER),
        full=len(rows) == shelf.MOST,
    )


@require_safe
@for_members
def one(request: HttpRequest, user: User, *, name: str) -> HttpResponse:
    """The card of one; its files are compared with it only where that is asked for."""
    from evaluations.learned import cards, shelf  # noqa: PLC0415
    from evaluations.learned.histories import HEIGHT, WIDTH, histories  # noqa: PLC0415

    kept = shelf.named(name)
    if kept is None:
        raise Http404("There is no such model.")
    compared = "compare" in request.GET and not kept.wrong
    return show(
        request,
        "model.html",
        folder=FOLDER,
        rail=TAB,
        model=kept,
        facts=[(" ".join(path).replace("_", " "), said) for path, said in cards.facts(kept.card)],
        histories=histories(kept.card),
        box=f"-2 -2 {WIDTH + 4:g} {HEIGHT + 4:g}",
        compared=compared,
        damage=shelf.damage(kept) if compared else "",
    )


def _plain_name(encoder: str) -> str:
    """An encoder's name, of a folder the last part."""
    return encoder.rstrip("/").rsplit("/", 1)[-1] if encoder.startswith("/") else encoder


def _summary(card: Mapping[str, Any]) -> dict[str, str]:
    """What the table says of a model, as far as its card does."""
    from evaluations.learned import cards  # noqa: PLC0415

    found = cards.facts(card)

    def first(*words: str, within: str = "") -> str:
        """The first fact whose last name is one of these, of those below `within`."""
        said = (
            value
            for word in words
            for path, value in found
            if path[-1] == word and (not within or within in path[:-1])
        )
        value = next(said, "")
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    return {
        "encoder": _plain_name(first("encoder") or first("name", "kind", within="encoder")),
        "data": first("data", "title") or first("name", "digest", within="data"),
        "f1": first("f1"),
        "pearson": first("pearson"),
        "when": first("made", "made_at", "trained", "trained_at", "date", "finished_at")[:10],
    }
