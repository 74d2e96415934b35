"""The leaderboard of a release for everybody who has its address, where the project's owner says so."""

import csv
import hashlib
import io
import json
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from core.files.cells import cell
from evaluations import leaderboard
from evaluations.leaderboard import Board, Order
from evaluations.models import Evaluation
from evaluations.reporting.answer import answer
from evaluations.reporting.boardtable import Head, lines_of
from releases.models import Release

_SECONDS = 60


def _chosen(project: str, version: str) -> Evaluation:
    rows = leaderboard.chosen()
    found: Evaluation = get_object_or_404(rows, release__project__slug=project, release__version=version)
    return found


@require_safe
def page(request: HttpRequest, *, project: str, version: str) -> HttpResponse:
    """Systems by people and by metrics, sorted as `?by=` says; or why the release was withdrawn."""
    evaluation = _chosen(project, version)
    release = evaluation.release
    context = {
        "release": release,
        "evaluation": evaluation,
        "title": release.manifest.get("title") or release.project.title,
    }
    if release.state == Release.State.WITHDRAWN:
        return render(request, "evaluations/leaderboard.html", context)
    board = leaderboard.board_of(evaluation.report)
    order = leaderboard.order_of(board, request.GET.get("by", ""))
    lines, notes = lines_of(leaderboard.ordered(board, order), board)
    context |= {
        "sentence": answer(evaluation.report)[0],
        "board": board,
        "heads": _heads(board, order),
        "lines": lines,
        "notes": notes,
        "rank_means": leaderboard.RANK_MEANS,
    }
    return render(request, "evaluations/leaderboard.html", context)


@require_safe
def as_json(request: HttpRequest, *, project: str, version: str) -> HttpResponse:
    """The same for programs."""
    evaluation = _chosen(project, version)
    said = {
        "project": project,
        "version": version,
        "evaluation": evaluation.number,
        **leaderboard.board_as_json(
            leaderboard.board_of(evaluation.report), simulated=evaluation.release.simulated
        ),
    }
    text = json.dumps(said, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return _file(request, evaluation, text, "application/json")


@require_safe
def as_csv(request: HttpRequest, *, project: str, version: str) -> HttpResponse:
    """The same for spreadsheets; no name in it can be run as a formula."""
    evaluation = _chosen(project, version)
    out = io.StringIO()
    for row in leaderboard.table(
        leaderboard.board_of(evaluation.report), simulated=evaluation.release.simulated
    ):
        csv.writer(out).writerow([cell(each) if isinstance(each, str) else each for each in row])
    return _file(request, evaluation, out.getvalue(), "text/csv; charset=utf-8")


def _file(request: HttpRequest, evaluation: Evaluation, text: str, kind: str) -> HttpResponse:
    """The text, or that the browser has it already (304), or that the release was withdrawn (410)."""
    release = evaluation.release
    if release.state == Release.State.WITHDRAWN:
        return HttpResponse(
            f"Release {release.version} was withdrawn: {release.withdrawn_reason}\n",
            status=410,
            content_type="text/plain; charset=utf-8",
            headers={"Cache-Control": "no-store"},
        )
    tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(text, content_type=kind)
    response["ETag"] = tag
    response["Cache-Control"] = f"max-age={_SECONDS}"
    return response


def _heads(board: Board, order: Order) -> list[Head]:
    """The columns, each with the address that sorts by it: the best first, and again the other way round."""
    words = {"rank": "Rank", "system": "System", "answers": "Answers", "human": "People"}
    columns = [*words.items(), *((each.name, each.title) for each in board.metrics)]
    heads = []
    for name, label in columns:
        is_here = name == order.column
        down = not order.down if is_here else name not in ("rank", "system")
        address = "?" + urlencode({"by": Order(name, down).text})
        sorted_ = ("descending" if order.down else "ascending") if is_here else ""
        heads.append(Head(label, address, sorted_, name not in ("rank", "system")))
    return heads
