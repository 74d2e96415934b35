"""Publishing a batch, going on where it stopped, and cancelling it: durable jobs, some tasks per transaction.

A task and its HIT are linked in the transaction that makes the HIT and puts its cost on hold. Whatever dies
when, a row has no HIT or exactly one, and the money is right. Locks are taken in the order job, batch, HIT.
"""

from collections.abc import Iterator, Sequence

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce

from core.jobs import services as jobs
from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext
from core.jobs.models import Job, JobState
from marketplace import clock
from marketplace.activity import note
from marketplace.batches import templates
from marketplace.batches.properties import Cost, cost, from_stored
from marketplace.errors import Refusal
from marketplace.forms.questions import MAX_TASK_BYTES, html_question_xml, parse_question
from marketplace.lifecycle.hits import create_hit_type, create_hits, set_expiration
from marketplace.models import HIT, Batch, BatchTask, HITType, Requester
from marketplace.money.amounts import money
from marketplace.qualifications.eligibility import normalise

State = Batch.State
PUBLISH, CANCEL = "marketplace.publish-batch", "marketplace.cancel-batch"
#: Tasks of one transaction: enough to cost little each, few enough that nobody waits for the database.
AT_ONCE = 200


def cost_of(batch: Batch, *, tasks: int | None = None) -> Cost:
    """What a batch costs at most, or what so many of its tasks do."""
    return cost(
        from_stored(batch.properties),
        tasks=batch.task_count if tasks is None else tasks,
        fee_profile=batch.requester.fee_profile,
    )


def publish(*, batch: Batch) -> Job:
    """Publish a draft, or go on with a batch that stopped. Raises Refusal where the money is not there."""
    with transaction.atomic():
        batch = _locked(batch)
        job = job_of(batch, PUBLISH)
        stopped = batch.state == State.FAILED or (
            batch.state == State.PUBLISHING and job is not None and job.state == JobState.FAILED
        )
        if batch.state != State.DRAFT and not stopped:
            raise Refusal("InvalidBatchState", f"This batch is {batch.state} already.")
        if batch.extends_id:
            raise Refusal(
                "InvalidBatchState", "These rows are for another batch. Add them to it on their page."
            )
        if not batch.task_count:
            raise Refusal("InvalidBatchState", "The file of this batch is still being read.")
        # Once more: a qualification that the draft asks for may have been deleted since.
        normalise([dict(each) for each in from_stored(batch.properties).requirements])
        check_funds(batch)
        Batch.objects.filter(pk=batch.pk).update(state=State.PUBLISHING, error="", publish_at=None)
        note(batch.requester_id, "batch.published", batch.name, f"{batch.task_count} tasks")
        if job is not None:
            jobs.retry(job_id=job.pk)
            return job
        return jobs.enqueue(kind=PUBLISH, payload={"batch": batch.pk}, effect=effect_of(PUBLISH, batch))


def _locked(batch: Batch) -> Batch:
    return Batch.objects.select_for_update(of=("self",)).select_related("requester").get(pk=batch.pk)


def effect_of(kind: str, batch: Batch) -> str:
    """Under what the job that publishes or cancels a batch is known; those that add rows go on from it."""
    return f"{kind}:{batch.pk}"


def job_of(batch: Batch, kind: str) -> Job | None:
    """The job that publishes or cancels a batch; of those that published it, the last."""
    effect = effect_of(kind, batch)
    return Job.objects.filter(Q(effect=effect) | Q(effect__startswith=f"{effect}:")).order_by("-pk").first()


def check_funds(batch: Batch) -> int:
    """What the tasks without a HIT put on hold; raises Refusal where so much is not available."""
    needed = cost_of(batch, tasks=batch.task_count - batch.published_count).total
    if (missing := needed - batch.requester.available_cents) > 0:
        raise Refusal(
            "InsufficientFunds",
            f"Publishing puts {money(needed)} on hold, and {money(batch.requester.available_cents)} is "
            f"available. Deposit at least {money(missing)}, or pay for fewer assignments.",
        )
    return needed


def work_off(context: JobContext) -> None:
    """The job: every task without a HIT gets one, in the order of the file."""
    batch = Batch.objects.select_related("requester", "template").get(pk=context.payload["batch"])
    done = batch.published_count
    try:
        if batch.state == State.PUBLISHING:
            hit_type = create_hit_type(
                requester=batch.requester,
                properties=from_stored(batch.properties).of_type(),
                now=clock.now(),
            )
            page = templates.parse(batch.html)
            for tasks in _waiting(batch):
                context.progress(done, batch.task_count, "Publishing")
                done += _publish_some(batch, hit_type, page, tasks)
    except Refusal as refusal:
        raise PermanentError(_stop(batch, refusal)) from refusal
    context.commit(lambda: _finish(batch))


def _waiting(batch: Batch) -> Iterator[list[BatchTask]]:
    """Tasks without a HIT, some at a time; one that another attempt takes meanwhile is passed over."""
    after = 0
    rows = BatchTask.objects.filter(batch=batch, hit=None).order_by("ordinal")
    while chunk := list(rows.filter(ordinal__gt=after)[:AT_ONCE]):
        yield chunk
        after = chunk[-1].ordinal


def _publish_some(batch: Batch, hit_type: HITType, page: templates.Page, tasks: Sequence[BatchTask]) -> int:
    """Tasks become HITs, all or none; where the money does not last, as many of the first as it pays for.

    How many became one: 0 where they are HITs already or the batch is no longer to be published.
    """
    questions = [_question(batch, page, task) for task in tasks]
    for question in questions:
        parse_question(question, most_bytes=MAX_TASK_BYTES)
    try:
        return _publish_together(batch, hit_type, tasks, questions)
    except Refusal as refusal:
        if refusal.code != "InsufficientFunds" or len(tasks) == 1:
            raise
    available = Requester.objects.values_list("available_cents", flat=True).get(pk=batch.requester_id)
    # At least one and never all, so that this ends: a task alone that is not paid for raises above.
    covered = min(len(tasks) - 1, max(1, available // cost_of(batch).each))
    done = _publish_some(batch, hit_type, page, tasks[:covered])
    return done + _publish_some(batch, hit_type, page, tasks[covered:])


def _question(batch: Batch, page: templates.Page, task: BatchTask) -> str:
    html = page.fill(dict(zip(batch.columns, task.values, strict=True)))
    return html_question_xml(html, batch.frame_height)


@transaction.atomic
def _publish_together(
    batch: Batch, hit_type: HITType, tasks: Sequence[BatchTask], questions: Sequence[str]
) -> int:
    """Tasks become HITs in one transaction: HITs, links, what is on hold and the count of the batch.

    The first statement locks the batch: no two attempts are here at once, and no cancelling comes between.
    """
    if not Batch.objects.select_for_update(no_key=True).filter(pk=batch.pk, state=State.PUBLISHING).exists():
        return 0
    unpublished = BatchTask.objects.filter(pk__in=[task.pk for task in tasks], batch=batch, hit=None)
    left = set(unpublished.values_list("pk", flat=True))
    new = [(task, text) for task, text in zip(tasks, questions, strict=True) if task.pk in left]
    if not new:
        return 0
    properties = from_stored(batch.properties)
    hits = create_hits(
        hit_type=hit_type,
        questions=[text for _, text in new],
        batch=batch,
        layout_id=templates.layout_id_of(batch.template) if batch.template else "",
        max_assignments=properties.places,
        lifetime_s=properties.lifetime_s,
        annotation=annotation(batch),
        now=clock.now(),
    )
    for (task, _), hit in zip(new, hits, strict=True):
        task.hit = hit
    BatchTask.objects.bulk_update([task for task, _ in new], ["hit"])
    Batch.objects.filter(pk=batch.pk).update(published_count=F("published_count") + len(new))
    return len(new)


def annotation(batch: Batch) -> str:
    """RequesterAnnotation of a batch's HITs, as MTurk writes it."""
    template = f"OriginalHitTemplateId:{batch.template_id};" if batch.template_id else ""
    return f"BatchId:{batch.number};{template}"


def _stop(batch: Batch, refusal: Refusal) -> str:
    """The batch has stopped; the sentence says where and what to do."""
    batch.refresh_from_db()
    requester = Requester.objects.get(pk=batch.requester_id)
    left = batch.task_count - batch.published_count
    why = refusal.message
    if refusal.code == "InsufficientFunds":
        needed = cost_of(batch, tasks=left).total
        why = (
            f"The account has {money(requester.available_cents)}, and the rest costs {money(needed)}. "
            f"Deposit at least {money(max(0, needed - requester.available_cents))} and continue."
        )
    sentence = f"Stopped after {batch.published_count:,} of {batch.task_count:,} tasks. {why}"
    Batch.objects.filter(pk=batch.pk, state=State.PUBLISHING).update(state=State.FAILED, error=sentence)
    return sentence


def _finish(batch: Batch) -> None:
    # Rows may have come in since the last task was looked at; the job that came with them finishes then.
    waiting = BatchTask.objects.filter(batch=OuterRef("pk"), hit=None)
    Batch.objects.filter(~Exists(waiting), pk=batch.pk, state=State.PUBLISHING).update(
        # A batch that gets rows later keeps the moment at which it was first published.
        state=State.PUBLISHED,
        published_at=Coalesce(F("published_at"), clock.now()),
    )


def cancel(*, batch: Batch) -> Job:
    """Expire a batch: nothing more is published, and all of its HITs expire, by a job.

    Work in progress can still be submitted, and what was submitted is still to be decided.
    """
    with transaction.atomic():
        # The job before the batch: locks are taken in that order by the job, too.
        if publishing := job_of(batch, PUBLISH):
            jobs.cancel(job_id=publishing.pk)
        batch = _locked(batch)
        if batch.state == State.DRAFT:
            raise Refusal("InvalidBatchState", "This batch is a draft; delete it instead.")
        Batch.objects.filter(pk=batch.pk).update(state=State.CANCELLED)
        note(batch.requester_id, "batch.cancelled", batch.name)
        job = jobs.enqueue(kind=CANCEL, payload={"batch": batch.pk}, effect=effect_of(CANCEL, batch))
        # The same batch may have been cancelled before, and its job failed: then there is that one, to go on.
        jobs.retry(job_id=job.pk)
        return job


def expire_all(context: JobContext) -> None:
    """The job of a cancelled batch: every HIT that is still on offer expires."""
    now = clock.now()
    hits = HIT.objects.filter(batch=context.payload["batch"], disposed_at=None)
    total, done, after = hits.count(), 0, 0
    while chunk := list(hits.filter(pk__gt=after).order_by("pk")[:AT_ONCE]):
        for hit in chunk:
            context.progress(done, total, "Expiring HITs")
            # One HIT in each transaction: workers who hold it wait for no other.
            if hit.expires_at > now:
                with transaction.atomic():
                    set_expiration(hit=hit, expires_at=now, now=now)
            done += 1
        after = chunk[-1].pk
    context.commit(lambda: {"expired": done})
