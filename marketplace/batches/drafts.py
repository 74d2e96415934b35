"""Drafts of batches: a template and a table, checked and stored row by row, not yet published.

A file is read twice: once to find everything that is wrong with it, which writes nothing, and once to store
its rows, some hundred at a time. A draft is there when its last row is; what a crash leaves before is swept
away by the next draft.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from core.revisions import ShownColumns
from marketplace import clock
from marketplace.batches import templates
from marketplace.batches.properties import Properties
from marketplace.batches.templates import HostCollector
from marketplace.errors import Refusal
from marketplace.forms.html import unknown_element
from marketplace.forms.questions import MAX_TASK_BYTES, html_question_xml, parse_question
from marketplace.forms.sheets import Row, Sheet
from marketplace.models import Batch, BatchTask, Requester, Template

State = Batch.State
_AT_ONCE = 500
#: No file takes so long to be stored; a batch without its rows by then was left by a crash.
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
    page = templates.parse(template.html)
    templates.check(page, sheet.columns, file=sheet.name)
    batch = Batch(
        requester=requester,
        name=(name.strip() or f"{template.name}, {sheet.name}")[:120],
        template=template,
        html=template.html,
        frame_height=template.frame_height,
        hosts=template.hosts,
        columns=sheet.columns,
        properties=properties.stored(),
        file_name=sheet.name,
        created_by=user,
    )
    store_draft(batch, page=page, sheet=sheet, rows=sheet.rows, known_hosts=template.hosts)
    return batch


def store_draft(
    batch: Batch,
    *,
    page: templates.Page,
    sheet: Sheet,
    rows: Callable[[], Iterator[Row]],
    known_hosts: Iterable[str],
    checked: Callable[[], None] | None = None,
) -> int:
    """Check all rows, call `checked`, then store the draft with them under a new number; how many there are.

    Nothing is stored where there are none, or where one is not right (SheetError).
    """
    hosts = HostCollector(page, batch.columns)
    tasks = _check(batch, page, sheet, rows(), hosts)
    batch.file_read = sheet.description[:200]
    if checked is not None:
        checked()
    if not tasks:
        return 0
    requester = batch.requester
    _sweep(requester)
    with transaction.atomic():
        # Two drafts of one requester at once would take the same number.
        Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
        batch.number = next_number(requester)
        batch.hosts_of_cells = hosts.beside(known_hosts)
        # Until the last row is there: lists, pages and publishing leave a batch without tasks alone.
        batch.task_count = 0
        batch.created_at = clock.now()
        batch.save(force_insert=True)
    _store(batch, rows())
    Batch.objects.filter(pk=batch.pk).update(task_count=tasks)
    batch.task_count = tasks
    return tasks


def next_number(requester: Requester) -> int:
    """The number of the next batch of a requester whose row is locked."""
    return int(requester.batches.aggregate(last=Max("number"))["last"] or 0) + 1


def _check(
    batch: Batch, page: templates.Page, sheet: Sheet, rows: Iterator[Row], hosts: HostCollector
) -> int:
    """Everything that can be wrong with a row; the number of rows."""
    count = 0
    for row in rows:
        html = page.fill(dict(zip(batch.columns, row.cells, strict=True)))
        question = html_question_xml(html, batch.frame_height)
        if (size := len(question.encode())) > MAX_TASK_BYTES:
            raise sheet.error(
                f"the task would have {size:,} bytes; at most {MAX_TASK_BYTES:,} are taken. Put long "
                "texts and pictures on a server and load them, or shorten the template.",
                line=row.line,
            )
        if unknown := unknown_element(html):
            raise sheet.error(f"of the task's page, {unknown} in this marketplace.", line=row.line)
        # What is around the page is the same for every row, so the first one tells whether it is right.
        if not count:
            parse_question(question, most_bytes=MAX_TASK_BYTES)
        hosts.look(row.cells, html)
        count += 1
    return count


def _store(batch: Batch, rows: Iterator[Row]) -> None:
    numbered = enumerate(rows, start=1)
    while chunk := list(islice(numbered, _AT_ONCE)):
        BatchTask.objects.bulk_create(
            BatchTask(batch=batch, ordinal=ordinal, values=row.cells) for ordinal, row in chunk
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
    """Change what the HITs of a draft will have in common; ConflictError where it is not as `seen`.

    What was scheduled for another total is scheduled no more.
    """
    values = properties.stored()
    if batch.publish_at and values != batch.properties:
        note = "The properties were changed, so it is not scheduled any more. Schedule it again."
        Batch.objects.filter(pk=batch.pk, state=State.DRAFT).update(publish_at=None, schedule_note=note)
    _change(batch, seen, name=name, properties=values)


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


#: Rows of a copy that are copied in one statement.
_COPIED = 1000


def copy_draft(*, batch: Batch, user: User | None = None) -> Batch:
    """A draft with the page, the table and the properties of another batch, whatever became of that one."""
    with transaction.atomic():
        Requester.objects.select_for_update(no_key=True).get(pk=batch.requester_id)
        copy = Batch.objects.create(
            requester=batch.requester,
            number=next_number(batch.requester),
            name=f"Copy of {batch.name}"[:120],
            template=batch.template,
            html=batch.html,
            frame_height=batch.frame_height,
            hosts=batch.hosts,
            hosts_of_cells=batch.hosts_of_cells,
            columns=batch.columns,
            properties=batch.properties,
            file_name=batch.file_name,
            file_read=batch.file_read,
            hours=batch.hours,
            task_count=0,
            created_by=user,
            created_at=clock.now(),
        )
    count = 0
    rows = BatchTask.objects.filter(batch=batch).order_by("ordinal")
    while chunk := list(rows.filter(ordinal__gt=count).values_list("ordinal", "values")[:_COPIED]):
        BatchTask.objects.bulk_create(
            BatchTask(batch=copy, ordinal=ordinal, values=values) for ordinal, values in chunk
        )
        count = chunk[-1][0]
    Batch.objects.filter(pk=copy.pk).update(task_count=count)
    copy.task_count = count
    return copy


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
