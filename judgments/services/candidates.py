"""Who becomes a candidate, who is set aside, and who comes back.

A candidate that somebody judged is never changed by a rule; only a researcher takes it out, with a reason.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import HeldOutWorker, Query
from annotation.selectors.answers import WrittenAnswer
from annotation.selectors.answers import human_candidates as held_out_answers
from core.projects.models import Project
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.services.stages import refuse_read_only
from judgments.models import Candidate, System
from judgments.selectors.candidates import exact_form, reference_forms, unjudged

#: Why a rule took a held-out answer out; such a candidate comes back by itself.
TAKEN_BACK = "The answer is no longer held out, or no longer counts."
_BATCH = 500
_Aside = Candidate.UnjudgedReason


@dataclass(frozen=True, slots=True)
class HumanCandidates:
    """What making held-out answers candidates did.

    `withdrawn`: taken back before anybody judged them. `too_late`: taken back too late; they stay candidates.
    """

    new: int = 0
    exact: int = 0
    withdrawn: int = 0
    back: int = 0
    too_late: int = 0


def human_candidates(project: Project, *, actor: Any = None) -> HumanCandidates:
    """Bring the candidates of the system `human` up to date with the answers that are held out.

    Every answer that is held out and counts is one candidate, so a query may have several. Called again, it
    changes nothing more.
    """
    refuse_read_only(project)
    held_out = set(
        HeldOutWorker.objects.filter(query__project=project).values_list("query", flat=True).distinct()
    )
    earlier = Candidate.objects.filter(system__project=project, answer__isnull=False)
    queries = sorted(held_out | set(earlier.values_list("query", flat=True).distinct()))
    if not queries:
        return HumanCandidates()
    done = HumanCandidates()
    for batch in _batches(queries):
        with transaction.atomic():
            done = _sum(done, _bring_up_to_date(project, batch))
    if done != HumanCandidates(too_late=done.too_late):
        record(
            project=project,
            action="candidates.human",
            subject=System.PEOPLE,
            actor=actor,
            details={
                "new": done.new, "exact": done.exact, "withdrawn": done.withdrawn, "back": done.back
            },
        )  # fmt: skip
    return done


def _sum(one: HumanCandidates, other: HumanCandidates) -> HumanCandidates:
    return HumanCandidates(
        one.new + other.new,
        one.exact + other.exact,
        one.withdrawn + other.withdrawn,
        one.back + other.back,
        one.too_late + other.too_late,
    )


def _bring_up_to_date(project: Project, queries: list[int]) -> HumanCandidates:
    """One batch; its queries are held, so that two calls at once do not both make one."""
    list(Query.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=queries).values_list("pk"))
    answers = {each.pk: each for of_query in held_out_answers(queries).values() for each in of_query}
    mine = Candidate.objects.filter(query__in=queries, answer__isnull=False)
    candidate_of_answer = dict(mine.values_list("answer", "pk"))
    fresh = [each for pk, each in answers.items() if pk not in candidate_of_answer]
    exact = 0
    returned = mine.filter(answer__in=answers, aside=_Aside.WITHDRAWN, aside_reason=TAKEN_BACK)
    back = list(returned.values_list("pk", flat=True))
    Candidate.objects.filter(pk__in=back).update(aside="", aside_reason="")
    _set_copies_aside(Candidate.objects.filter(pk__in=back))
    if fresh:
        system, _ = System.objects.get_or_create(
            project=project,
            name=System.PEOPLE,
            defaults={"kind": System.Kind.HUMAN, "created_at": timezone.now()},
        )
        exact = _make(system, fresh, timezone.now())
    gone = mine.exclude(answer__in=answers).exclude(aside=_Aside.WITHDRAWN)
    withdrawn = unjudged(gone).update(aside=_Aside.WITHDRAWN, aside_reason=TAKEN_BACK)
    return HumanCandidates(len(fresh), exact, withdrawn, len(back), too_late=gone.count())


def _make(system: System, answers: Iterable[WrittenAnswer], now: datetime) -> int:
    """Candidates of these answers; how many of them are copies of a reference."""
    answer_list = list(answers)
    forms = reference_forms({each.query for each in answer_list})
    candidates = Candidate.objects.bulk_create(
        Candidate(
            query_id=each.query,
            system=system,
            answer_id=each.pk,
            text=each.text,
            opinion=each.opinion,
            entities=list(each.entities),
            aside=_Aside.EXACT if exact_form(each.text) in forms.get(each.query, ()) else "",
            created_at=now,
        )
        for each in answer_list
    )
    return sum(each.aside == _Aside.EXACT for each in candidates)


def refresh_exact(project: Project, *, actor: Any = None) -> int:
    """Set candidates aside that equal a reference by now; how many.

    For when new references were written after the import. Nobody's judgment is lost: a candidate that was
    judged stays as it is, and so does one that a researcher or an import keeps on purpose.
    """
    refuse_read_only(project)
    rows = unjudged(Candidate.objects.filter(system__project=project, aside="", kept=False))
    aside, last = 0, 0
    while batch := list(rows.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:_BATCH]):
        last = batch[-1]
        aside += _set_copies_aside(rows.filter(pk__in=batch))
    if aside:
        record(project=project, action="candidates.exact", actor=actor, details={"set_aside": aside})
    return aside


def _set_copies_aside(rows: QuerySet[Candidate]) -> int:
    """Those of a few candidates that equal a reference; how many."""
    candidate_texts = list(rows.values_list("pk", "query", "text"))
    forms = reference_forms({query for _, query, _ in candidate_texts})
    copies = [pk for pk, query, text in candidate_texts if exact_form(text) in forms.get(query, ())]
    return rows.filter(pk__in=copies).update(aside=_Aside.EXACT) if copies else 0


@transaction.atomic
def withdraw(*, candidate: Candidate, reason: str, actor: Any) -> None:
    """Take a candidate out: nobody is asked about it any more; judgments stay. CrowdError if it is out."""
    refuse_read_only(candidate.system.project)
    why = _why(reason)
    rows = Candidate.objects.filter(pk=candidate.pk).exclude(aside=_Aside.WITHDRAWN)
    if not rows.update(aside=_Aside.WITHDRAWN, aside_reason=why):
        raise CrowdError("This answer is taken out already.")
    _record(candidate, "candidate.withdrawn", why, actor)


@transaction.atomic
def put_back(*, candidate: Candidate, reason: str, actor: Any) -> None:
    """Have a candidate judged that was set aside, also if it equals a reference.

    CrowdError where it is not set aside, or where there is no text to judge.
    """
    refuse_read_only(candidate.system.project)
    why = _why(reason)
    rows = Candidate.objects.filter(pk=candidate.pk)
    if rows.filter(text="").exists():
        raise CrowdError("The system gave no answer, so there is nothing to judge.")
    if not rows.exclude(aside="").update(aside="", aside_reason=why, kept=True):
        raise CrowdError("This answer is judged already.")
    _record(candidate, "candidate.put_back", why, actor)


@transaction.atomic
def put_back_copies(*, system: System, reason: str, actor: Any) -> int:
    """Have all exact copies of a reference judged that this system gave; how many."""
    refuse_read_only(system.project)
    why = _why(reason)
    rows = Candidate.objects.filter(system=system, aside=_Aside.EXACT)
    count = rows.update(aside="", aside_reason=why, kept=True)
    if not count:
        raise CrowdError("No answer of this system is set aside as a copy of a reference.")
    record(
        project=system.project,
        action="candidate.put_back",
        subject=system.name,
        actor=actor,
        details={"why": why, "candidates": count},
    )
    return count


def _why(reason: str) -> str:
    why = reason.strip()[:300]
    if not why:
        raise CrowdError("Say why; the reason stays with the answer and in the project's log.")
    return why


def _record(candidate: Candidate, action: str, why: str, actor: Any) -> None:
    record(
        project=candidate.system.project,
        action=action,
        subject=f"{candidate.system.name}: {candidate.query.key}",
        actor=actor,
        details={"why": why, "candidate": candidate.pk},
    )


def _batches(keys: list[int]) -> Iterator[list[int]]:
    left = iter(keys)
    while batch := list(islice(left, _BATCH)):
        yield batch
