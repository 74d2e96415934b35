"""How many of a project's queries came through each part of the pipeline, and what waits for a person."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from annotation.models import Answer, AnswerFlag, CandidatePassage, Query, QuerySource
from annotation.selectors.queries import AT, THROUGH, of_project, with_left_at
from core.projects.models import Project
from crowd.models import Stage

Status = Query.Status


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the pipeline. Those that entered it passed, wait, are undecided, out, or were taken out.

    `kind` names the kind of stage that does it. `entered` is how many came through the part before; all the
    others together are as many.
    """

    kind: str
    entered: int
    passed: int
    waiting: int
    undecided: int
    out: int
    withdrawn: int


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that goes on only when a person does something, and the filters that list the queries."""

    sentence: str
    filters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Funnel:
    """Queries in, the parts of the pipeline in their order, and what needs somebody."""

    total: int
    sources: int
    parts: tuple[Part, ...]
    attention: tuple[Attention, ...]


def funnel(project: Project) -> Funnel | None:
    """The funnel of a project, in seven queries at most; None where nothing was ever imported.

    A query that was taken out counts in every part that it had come through before (paper 000, section 3, has
    the parts: sampled, screened, curated, distilled).
    """
    imports = _by(QuerySource.objects.filter(project=project), "state")
    if not imports:
        return None
    now = _by(of_project(project), "status")
    left = _by(with_left_at(of_project(project).filter(status=Status.WITHDRAWN)), "left_at")
    withdrawn = {kind: sum(left.get(status, 0) for status in at) for kind, at in AT.items()}
    total = sum(now.values())
    screened = sum(now.get(status, 0) + left.get(status, 0) for status in THROUGH["screening"])
    curated = sum(now.get(status, 0) + left.get(status, 0) for status in THROUGH["curation"])

    def part(kind: str, entered: int, passed: int, *, waiting: Status, undecided: str, out: str) -> Part:
        stay = [now.get(name, 0) for name in (waiting, undecided, out)]
        return Part(kind, entered, passed, stay[0], stay[1], stay[2], withdrawn[kind])

    parts = (
        part(
            "screening",
            total,
            screened,
            waiting=Status.WAITING,
            undecided=Status.TIED,
            out=Status.EXCLUDED,
        ),
        part(
            "curation",
            screened,
            curated,
            waiting=Status.ACCEPTED,
            undecided=Status.DISPUTED,
            out=Status.UNANSWERABLE,
        ),
        part(
            "distillation",
            curated,
            now.get(Status.ANSWERED, 0),
            waiting=Status.CURATED,
            undecided="",
            out="",
        ),
    )
    ready = imports.get(QuerySource.State.READY, 0)
    found = tuple(_attention(project, parts, imports)) if total or len(imports) > bool(ready) else ()
    return Funnel(total, ready, parts, found)


def _by(rows: object, field: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(field).annotate(n=Count("pk")))  # type: ignore[attr-defined]


def _attention(project: Project, parts: tuple[Part, ...], imports: Mapping[str, int]) -> Iterator[Attention]:
    if failed := imports.get(QuerySource.State.FAILED, 0):
        yield Attention(
            f"{_count(failed, 'import', 'imports')} failed; nothing of {_it(failed)} is here.", {}
        )
    screening, curation, distillation = parts
    if tied := screening.undecided:
        yield Attention(
            f"{_queries(tied)} tied in screening and {_need(tied)} your decision.", {"status": Status.TIED}
        )
    if disputed := curation.undecided:
        yield Attention(
            f"{_queries(disputed)} disputed in curation and {_need(disputed)} your decision.",
            {"status": Status.DISPUTED},
        )
    opened = set(
        Stage.objects.filter(project=project, status=Stage.Status.OPEN).values_list("kind", flat=True)
    )
    for part, status in (
        (screening, Status.WAITING),
        (curation, Status.ACCEPTED),
        (distillation, Status.CURATED),
    ):
        if part.waiting and part.kind not in opened:
            verb = "waits" if part.waiting == 1 else "wait"
            yield Attention(
                f"{_queries(part.waiting, be='')} {verb} for {part.kind}, and no stage of that kind is open.",
                {"status": status},
            )
    passages = CandidatePassage.objects.filter(query=OuterRef("pk"))
    if curation.waiting and (
        bare := of_project(project).filter(~Exists(passages), status=Status.ACCEPTED).count()
    ):
        verb = "has" if bare == 1 else "have"
        yield Attention(
            f"{_queries(bare, be='')} accepted in screening {verb} no candidate passages.",
            {"status": Status.ACCEPTED, "only": "no-passages"},
        )
    yield from _answers(project)


def _answers(project: Project) -> Iterator[Attention]:
    answers = Answer.objects.filter(query__project=project, query__source__state=QuerySource.State.READY)
    if rewrite := answers.filter(state=Answer.State.REWRITE).count():
        verb, author = ("waits", "its author") if rewrite == 1 else ("wait", "their authors")
        yield Attention(
            f"{_count(rewrite, 'answer', 'answers')} {verb} for a rewrite by {author}.",
            {"only": "rewrite"},
        )
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    if flagged := answers.filter(Exists(flags), state=Answer.State.UNDECIDED).count():
        verb = "has flags and waits" if flagged == 1 else "have flags and wait"
        yield Attention(f"{_count(flagged, 'answer', 'answers')} {verb} for a reviewer.", {"only": "flagged"})


def _queries(number: int, be: str | None = None) -> str:
    verb = (" is" if number == 1 else " are") if be is None else be
    return f"{_count(number, 'query', 'queries')}{verb}"


def _need(number: int) -> str:
    return "needs" if number == 1 else "need"


def _it(number: int) -> str:
    return "it" if number == 1 else "them"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
