"""Drafts of batches: a template and a table, checked and stored row by row, not yet published.

A file is read twice: once to find everything that is wrong with it, which writes nothing, and once to store
its rows, some hundred at a time. A draft is there when its last row is; what a crash leaves before is swept
away by the next draft.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from core.revisions import ShownColumns
from marketplace import clock
from marketplace.batches import placeholders
from marketplace.batches.placeholders import HostCollector
from marketplace.batches.properties import Properties
from marketplace.batches.sheets import Row, Sheet
from marketplace.errors import Refusal
from marketplace.models import Batch, BatchTask, Requester, Template
from marketplace.questions import MAX_QUESTION_BYTES, html_question_xml, parse_question

State = Batch.State
_AT_ONCE = 500
_GIVEN_UP_AFTER = timedelta(hours=1)


def make_draft(
    *,
    requester: Requester,
    template: Template,
    properties: Properties,
    sheet: Sheet,
    name: str = "",
    user: User | None = None,
) -> Batch:
    """A draft with one task per row. Raises Refusal where the file or the template is not right."""
    page = placeholders.parse(template.html)
    placeholders.check(page, sheet.columns, file=sheet.name)
    found = HostCollector(page, sheet.columns)
    tasks = _check(page, template.frame_height, sheet, found)
    now = clock.now()
    _sweep(requester)
    with transaction.atomic():
        Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
        last = requester.batches.aggregate(last=Max("number"))["last"] or 0
        batch = Batch.objects.create(
            requester=requester,
            number=last + 1,
            name=(name.strip() or f"{template.name}, {sheet.name}")[:120],
            template=template,
            html=template.html,
            frame_height=template.frame_height,
            hosts=template.hosts,
            hosts_of_cells=found.beside(template.hosts),
            columns=sheet.columns,
            properties=properties.stored(),
            file_name=sheet.name,
            file_read=sheet.description[:200],
            task_count=0,
            created_by=user,
            created_at=now,
        )
    _store(batch, sheet.rows())
    Batch.objects.filter(pk=batch.pk).update(task_count=tasks)
    batch.task_count = tasks
    return batch


def _check(page: placeholders.Page, frame_height: int, sheet: Sheet, found: HostCollector) -> int:
    """Everything that can be wrong with a row; the number of rows."""
    count = 0
    for row in sheet.rows():
        html = page.fill(dict(zip(sheet.columns, row.cells, strict=True)))
        question = html_question_xml(html, frame_height)
        if (size := len(question.encode())) > MAX_QUESTION_BYTES:
            raise sheet.error(
                f"the task would have {size:,} bytes; at most {MAX_QUESTION_BYTES:,} are taken. Put long "
                "texts and pictures on a server and load them, or shorten the template.",
                line=row.line,
            )
        if not count:
            parse_question(question)
        found.look(row.cells, html)
        count += 1
    return count


def _store(batch: Batch, rows: Iterator[Row]) -> None:
    numbered = enumerate(rows, start=1)
    while some := list(islice(numbered, _AT_ONCE)):
        BatchTask.objects.bulk_create(
            BatchTask(batch=batch, ordinal=ordinal, values=row.cells) for ordinal, row in some
        )


def _sweep(requester: Requester) -> None:
    """Remove what a reading that never ended has left."""
    given_up = requester.batches.filter(task_count=0, created_at__lt=clock.now() - _GIVEN_UP_AFTER)
    BatchTask.objects.filter(batch__in=given_up).delete()
    given_up.delete()


def set_hosts(*, batch: Batch, hosts: Sequence[str], seen: ShownColumns) -> None:
    """Choose which hosts the tasks of a draft may load from; ConflictError where it is not as `seen`."""
    _change(batch, seen, hosts=list(dict.fromkeys(hosts)))


def set_properties(*, batch: Batch, name: str, properties: Properties, seen: ShownColumns) -> None:
    """Change what the HITs of a draft will have in common; ConflictError where it is not as `seen`."""
    _change(batch, seen, name=name, properties=properties.stored())


@transaction.atomic
def _change(batch: Batch, seen: ShownColumns, **values: object) -> None:
    row = Batch.objects.select_for_update(no_key=True).filter(pk=batch.pk, state=State.DRAFT).first()
    if row is None:
        raise not_a_draft()
    if any(getattr(row, name) != value for name, value in values.items()):
        seen.check(row)
        Batch.objects.filter(pk=row.pk).update(**values)


def not_a_draft() -> Refusal:
    """Refusal of what can be done to drafts only."""
    return Refusal("InvalidBatchState", "This batch is no draft any more; nothing of it can be changed.")


@transaction.atomic
def delete(*, batch: Batch) -> None:
    """Throw a draft away; or a cancelled batch of which nothing was published."""
    locked = Batch.objects.select_for_update().get(pk=batch.pk)
    empty = locked.state in (State.CANCELLED, State.FAILED) and not locked.published_count
    if locked.state != State.DRAFT and not empty:
        raise Refusal(
            "InvalidBatchState", "This batch has HITs, which stay with it; it can be cancelled, not deleted."
        )
    locked.tasks.all().delete()
    locked.delete()
