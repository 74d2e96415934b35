"""This app's parts of a project's pages: the funnel, what waits, what it needs, how editors agree."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.models import Answer, AnswerFlag, CandidatePassage, Query, QuerySource
from annotation.selectors.agreement import agreement_by_source, curation_agreement, screening_agreement
from annotation.selectors.curation import undecided_queries
from annotation.selectors.queries import Funnel, Part, funnel
from annotation.services.review_decisions import DECIDING_OPERATIONS
from core.projects.models import Project
from core.projects.selectors import last_event
from crowd.access import StageAccess, on_stage
from crowd.desk.agreement import Row
from crowd.desk.overview import Attention, Count, FirstStep, Link, OverviewPart, Step
from crowd.models import Assignment, MarketOperation, Stage
from crowd.selectors.queues import Queue, SeparateQueues
from crowd.selectors.work_lists import work_stamps
from retrieval.models import Corpus, Index
from web.cache import cached, cached_before
from web.nav import MATCHES, Match
from web.pages import show

# Decisions of this app that wait for a person: ties, disputes, answers to review.


def count_queries(project: Project) -> int:
    """All queries of a project, whatever became of them."""
    return Query.objects.filter(project=project).count()


def find_queries(projects: QuerySet[Project], text: str) -> Iterable[Match]:
    """Queries that have the text, the newest first."""
    queries = Query.objects.filter(text__icontains=text, project__in=projects).select_related("project")
    for query in queries.order_by("-pk")[: MATCHES + 1]:
        yield Match(
            query.text, query.status, reverse("annotation:query", args=[query.project.slug, query.pk])
        )


def count_passages(project: Project) -> int:
    """Passages that can be searched: those in the indexes."""
    held = Index.objects.filter(corpus__project=project).aggregate(held=Sum("passages"))["held"]
    return int(held or 0)


def _of_queries(state: str) -> tuple[Callable[[Project], int], Callable[[Project], str]]:
    def rows(project: Project) -> QuerySet[Query]:
        return undecided_queries(project, state)

    def first(project: Project) -> str:
        query_id = rows(project).values_list("pk", flat=True).first()
        return reverse("annotation:case", args=[project.slug, query_id]) if query_id else ""

    return lambda project: rows(project).count(), first


def _flagged(project: Project) -> QuerySet[Answer]:
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    return _answers(project).filter(Exists(flags))


def _unflagged(project: Project) -> QuerySet[Answer]:
    """Those on which it hangs whether their work is approved; of work that was decided none."""
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    decided = MarketOperation.objects.filter(assignment=OuterRef("assignment"), kind__in=DECIDING_OPERATIONS)
    return _answers(project).filter(
        ~Exists(flags),
        ~Exists(decided.exclude(state=MarketOperation.State.REFUSED)),
        stage__approve_at_once=False,
        assignment__state__in=(Assignment.State.STORED, Assignment.State.SUBMITTED),
    )


def _answers(project: Project) -> QuerySet[Answer]:
    """Undecided answers of work that was not rejected, and about which nobody decides as a whole."""
    return Answer.objects.filter(
        query__project=project,
        state=Answer.State.UNDECIDED,
        assignment__state__in=Assignment.GOOD,
        assignment__held=False,
    )


def _with_answers_to_decide() -> Exists:
    """Work that is decided by deciding about its answers."""
    return Exists(Answer.objects.filter(assignment=OuterRef("pk"), state=Answer.State.UNDECIDED))


def _of_answers(
    rows: Callable[[Project], QuerySet[Answer]], name: str
) -> tuple[Callable[[Project], int], Callable[[Project], str]]:
    def first(project: Project) -> str:
        location = rows(project).order_by("query", "pk").values_list("stage__slug", "query", "pk").first()
        if location is None:
            return ""
        stage, query, answer = location
        place = reverse("annotation:answers_of_query", args=[project.slug, stage, query])
        return f"{place}?queue={name}#answer-{answer}"

    return lambda project: rows(project).count(), first


SEPARATE = SeparateQueues(_with_answers_to_decide)

QUEUES = (
    Queue(
        "tied",
        "Ties in screening",
        "As many editors said yes as no. Read the query and decide whether it stays.",
        *_of_queries("tied"),
        position=10,
    ),
    Queue(
        "one-flag",
        "Excluded by one flag",
        "One editor flagged sensitive or adult content, and most found the query fit. Accept it after "
        "all, or leave it out.",
        *_of_queries("one-flag"),
        position=11,
    ),
    Queue(
        "doubt",
        "Decisions in doubt",
        "The work that a query was decided on no longer counts, and later stages have used the decision. "
        "Keep it, ask people again, or leave the query out.",
        *_of_queries("doubt"),
        position=5,
        pressing=True,
    ),
    Queue(
        "disputed",
        "Disputes in curation",
        "Editors chose different passages. Choose those that answer the query, or say that none do.",
        *_of_queries("disputed"),
        position=20,
    ),
    Queue(
        "flagged",
        "Answers with flags",
        "Something was noticed: copied, pasted, typed too fast. A flag asks for a look; it decides nothing.",
        *_of_answers(_flagged, "flagged"),
        position=30,
    ),
    Queue(
        "answers",
        "Answers to review",
        "Answers of stages that you approve by hand, without a flag. All of a query go with one button, "
        "and work whose answers are all decided is approved with them.",
        *_of_answers(_unflagged, "answers"),
        position=31,
    ),
)


_TEACH = (
    "Import queries from a query log or a public data set. Then people screen them, choose passages that "
    "answer them, and write the answers. What systems answer is judged against those."
)
_WORDS = {
    "screening": ("Through screening", "through-screening", "waiting", "tied", "excluded"),
    "curation": ("Curated", "through-curation", "accepted", "disputed", "unanswerable"),
    "distillation": ("Distilled: all answers in", "answered", "curated", "", ""),
}
_UNDECIDED = {"screening": "tied", "curation": "disputed"}
_OUT = {"screening": "excluded", "curation": "unanswerable"}


def say(project: Project, _: int | None) -> OverviewPart:
    """The first steps of the funnel, and what needs a decision about queries and answers."""
    funnel_now = _funnel(project)
    imports = Link("Import queries", reverse("annotation:import_new", args=[project.slug]))
    if funnel_now is None:
        return OverviewPart(teach=_TEACH, teach_link=imports)
    everything = reverse("annotation:queries", args=[project.slug])
    steps = (_in(funnel_now, everything, imports), *(_step(part, everything) for part in funnel_now.parts))
    attention = tuple(
        Attention("soon", each.sentence, _place(project, each.filters, everything))
        for each in funnel_now.attention
    )
    return OverviewPart(steps, attention)


def _funnel(project: Project) -> Funnel | None:
    """Where it takes long, as it was a while ago, but for what people did to queries and answers."""
    key = ("funnel", project.pk, last_event(project, "quer"), last_event(project, "answer"))
    return cached(key, partial(funnel, project))


def _in(funnel_now: Funnel, everything: str, imports: Link) -> Step:
    many = "import" if funnel_now.sources == 1 else "imports"
    passed = Count("passed", "", funnel_now.total, everything)
    return Step("Queries in", funnel_now.total, (passed,), f"from {funnel_now.sources:,} {many}", imports)


def _place(project: Project, filters: Mapping[str, str], everything: str) -> str:
    """Where a person does what waits: the queue of undecided queries, else the list of the queries."""
    if filters.get("status") in _UNDECIDED.values():
        return reverse("annotation:adjudication", args=[project.slug])
    return f"{everything}?{urlencode(filters)}" if filters else ""


def _step(part: Part, everything: str) -> Step:
    label, through, waiting, undecided, out = _WORDS[part.kind]
    counts = (
        ("passed", "came through", part.passed, through),
        ("waiting", "waiting", part.waiting, waiting),
        ("undecided", _UNDECIDED.get(part.kind, ""), part.undecided, undecided),
        ("out", _OUT.get(part.kind, ""), part.out, out),
        ("withdrawn", "taken out", part.withdrawn, f"taken-out-{part.kind}"),
    )
    return Step(
        label,
        part.entered,
        tuple(
            Count(name, count_label, count, f"{everything}?{urlencode({'status': status})}")
            for name, count_label, count, status in counts
            if status
        ),
    )


#: Kinds of stages that ask about queries; a project without any stage may have some of them later.
_ASK_ABOUT_QUERIES = frozenset({"screening", "curation", "distillation", "continuation", "judging"})


def _asks_about_queries(_: Project, kinds: frozenset[str]) -> bool:
    return not kinds or bool(kinds & _ASK_ABOUT_QUERIES)


def _has_queries(project: Project) -> bool:
    return QuerySource.objects.filter(project=project, state=QuerySource.State.READY).exists()


def _curates(_: Project, kinds: frozenset[str]) -> bool:
    return "curation" in kinds


def _has_passages(project: Project) -> bool:
    """Its queries came with passages, or it has a corpus that can be searched for some."""
    came_with = CandidatePassage.objects.filter(query__project=project).exists()
    return came_with or Corpus.objects.filter(project=project, passages__isnull=False).exists()


STEPS = (
    FirstStep(
        "passages",
        "Add passages",
        "Editors choose from passages. Add a corpus that is searched for every query, or import queries "
        "that bring their passages.",
        "annotation:corpora",
        done=_has_passages,
        applies=_curates,
        position=25,
    ),
    FirstStep(
        "queries",
        "Import queries",
        "A query log, or a public data set as it is published. You see what is read before anything is "
        "stored.",
        "annotation:import_new",
        done=_has_queries,
        applies=_asks_about_queries,
        position=20,
    ),
)


# Rows of screening and curation stages for the project's page of agreement.

AGREEMENT_KINDS = ("screening", "curation")


def agreement_rows(stages: Sequence[Stage], quick: bool) -> Mapping[int, Row]:
    """One row per stage; cached until its work changes. With `quick` only what was worked out before."""
    name = "agreement-row"
    if quick:
        rows = {stage.pk: cached_before((name, stage.pk)) for stage in stages}
        return {pk: row for pk, row in rows.items() if row is not None}
    stamps = work_stamps(stages)
    return {
        stage.pk: cached((name, stage.pk), partial(_agreement_row, stage), stamp=stamps[stage.pk])
        for stage in stages
    }


def _agreement_row(stage: Stage) -> Row:
    address = reverse("annotation:agreement", args=[stage.project.slug, stage.slug])
    if stage.kind == "curation":
        row_agreement = curation_agreement(stage)
        measure, method = "Chosen passages: alpha with MASI distance", "krippendorff-alpha|distance=masi"
        coefficient, items = row_agreement.alpha, row_agreement.queries
    else:
        first = screening_agreement(stage)[0]
        measure, method = "Class of the query: nominal alpha", "krippendorff-alpha|distance=nominal"
        coefficient, items = first.alpha, first.queries
    signature = f"{method}|queries={items}|distillery={settings.DISTILLERY_VERSION}"
    return Row(
        measure, coefficient.value, None, None, None, items, "queries", address, coefficient.reason, signature
    )


@require_safe
@on_stage()
def agreement(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Coefficients of a screening or curation stage, each with what it was computed from."""
    stage = access.stage
    count_agreement: Callable[[Stage], object]
    match stage.kind:
        case "screening":
            name, count_agreement = "questions", screening_agreement
        case "curation":
            name, count_agreement = "curation", curation_agreement
        case _:
            raise Http404("Only screening and curation have this page.")
    stamp = work_stamps([stage])
    context: dict[str, Any] = {
        name: cached(("agreement", stage.pk), partial(count_agreement, stage), stamp=stamp),
        "sources": cached(
            ("agreement-by-source", stage.pk), partial(agreement_by_source, stage), stamp=stamp
        ),
    }
    return show(request, "agreement.html", access, folder="annotation", tab="agreement", **context)
