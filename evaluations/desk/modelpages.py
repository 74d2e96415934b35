"""Models of learned metrics: which there are, and what the card of one says."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from evaluations.desk.listing import FOLDER, TAB
from web.access import for_members
from web.pages import show

if TYPE_CHECKING:
    from evaluations.learned.shelf import ModelEntry

Facts = Sequence[tuple[tuple[str, ...], Any]]
_MOST_NAMES = 3


@require_safe
@for_members
def listing(request: HttpRequest, user: User) -> HttpResponse:
    """All models in METRIC_MODELS."""
    from evaluations.learned import shelf  # noqa: PLC0415 - the library of metrics, only where it is used

    rows = [{"model": each, **_summary(each)} for each in shelf.shelf()]
    return show(
        request,
        "models.html",
        folder=FOLDER,
        sidebar=TAB,
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
    compared = "compare" in request.GET and not kept.wrong and not kept.bundle
    return show(
        request,
        "model.html",
        folder=FOLDER,
        sidebar=TAB,
        model=kept,
        groups=_groups(cards.facts(kept.card)),
        histories=histories(kept.card),
        box=f"-2 -2 {WIDTH + 4:g} {HEIGHT + 4:g}",
        compared=compared,
        damage=shelf.damage(kept) if compared else "",
    )


def _groups(facts: Facts) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Facts under the first of the keys that lead to them, those of a single key together and first."""
    found: dict[str, list[tuple[str, Any]]] = {"": []}
    for path, said in facts:
        group, names = (path[0], path[1:]) if len(path) > 1 else ("", path)
        found.setdefault(group, []).append((" ".join(names).replace("_", " "), said))
    return [(group.replace("_", " "), lines) for group, lines in found.items() if lines]


def _plain_name(encoder: str) -> str:
    """An encoder's name, of a folder the last part."""
    return encoder.rstrip("/").rsplit("/", 1)[-1] if encoder.startswith("/") else encoder


def _summary(kept: "ModelEntry") -> dict[str, str]:
    """What the table says of a model, as far as its card does."""
    from evaluations.learned import cards  # noqa: PLC0415

    found = [(path, said) for path, said in cards.facts(kept.card) if "paper" not in path]

    def first(*words: str, within: str = "") -> str:
        """The first fact that one of these names lead to, of those below `within`."""
        said = (
            value
            for word in words
            for path, value in found
            if word in path and (not within or within in path)
        )
        value = next(said, "")
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    return {
        "encoder": _plain_name(first("name", "kind", within="encoder") or first("encoder")),
        "data": _data(kept.card) or first("source", "sources", "title", within="data"),
        "f1": first("f1", within="best") or first("f1"),
        "pearson": first("pearson", within="test") or first("pearson"),
        "when": first("made", "made_at", "trained_at", "date")[:10] or kept.when,
    }


def _data(card: Mapping[str, Any]) -> str:
    """The names of the files that it was trained on."""
    data = card.get("data")
    files = data.get("files") if isinstance(data, Mapping) else None
    rows = [each for each in files if isinstance(each, Mapping)] if isinstance(files, list) else []
    names = [str(each["name"]) for each in rows if each.get("name")]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
