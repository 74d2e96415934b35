"""Rows for a batch that is published: a draft to look at, which then becomes a part of the batch.

Nothing of the batch changes before the total of the new rows was typed. Then its tasks move into the batch,
behind those that it has, and the draft is gone, in one transaction: sent twice, the form finds no draft.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from core.jobs import services as jobs
from core.jobs.models import Job
from core.money import dollars
from marketplace.batches import placeholders
from marketplace.batches.drafts import store_draft
from marketplace.batches.placeholders import listed
from marketplace.batches.publication import PUBLISH, check_funds, effect_of
from marketplace.batches.sheets import TASKS, Row, Sheet
from marketplace.errors import Refusal
from marketplace.models import Batch, BatchTask
from marketplace.services.activity import note

State = Batch.State
_AT_ONCE = 1000
#: Rows that were there before of which the page says the line.
_TOLD = 20


class AddedRows:
    """Rows of a table in the columns of a batch, and which of them the batch or the table has already.

    `rows` can be read as often as wanted; the rows that are repeats are left out where that is asked for.
    """

    def __init__(self, batch: Batch, sheet: Sheet, *, leave_out: bool) -> None:
        self.columns: list[str] = batch.columns
        self._sheet, self._leave_out = sheet, leave_out
        self._order = _order(batch, sheet)
        self._there = {digest(values) for values in _values(batch)}
        self.in_batch, self.in_file = 0, 0
        self.lines: list[int] = []

    def rows(self) -> Iterator[Row]:
        """The rows, with cells in the order of the batch."""
        seen: set[bytes] = set()
        self.in_batch, self.in_file, self.lines = 0, 0, []
        for row in self._sheet.rows():
            cells = [row.cells[place] for place in self._order]
            key = digest(cells)
            repeated = key in self._there or key in seen
            if repeated:
                self.in_batch += key in self._there
                self.in_file += key not in self._there
                self.lines += [row.line] if len(self.lines) < _TOLD else []
            seen.add(key)
            if not (repeated and self._leave_out):
                yield Row(row.line, cells)

    @property
    def repeats(self) -> dict[str, object]:
        """What the page says of rows that were there before, once all rows were read."""
        return {
            "in_batch": self.in_batch,
            "in_file": self.in_file,
            "lines": self.lines,
            "left_out": self._leave_out,
        }


def digest(cells: Sequence[str]) -> bytes:
    """The same for the same cells, and short."""
    text = json.dumps(list(cells), ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _values(batch: Batch) -> Iterator[list[str]]:
    return batch.tasks.order_by("ordinal").values_list("values", flat=True).iterator(chunk_size=_AT_ONCE)


def _order(batch: Batch, sheet: Sheet) -> list[int]:
    """Where the columns of the batch are in the table, which has to have these and no others."""
    missing = [name for name in batch.columns if name not in sheet.columns]
    surplus = [name for name in sheet.columns if name not in batch.columns]
    for names, words in ((missing, "has no column"), (surplus, "has a column that the batch has not:")):
        if names:
            raise sheet.error(
                f"it {words} {listed(names)}. Added rows need the columns of the batch, which are "
                f"{listed(batch.columns)}; change the head of the file.",
                line=1,
            )
    return [sheet.columns.index(name) for name in batch.columns]


def make_addition(*, batch: Batch, sheet: Sheet, leave_out: bool, user: User | None = None) -> Batch:
    """A draft of rows for a published batch. Raises Refusal where the file or the batch is not right."""
    _refuse_other(batch)
    table = AddedRows(batch, sheet, leave_out=leave_out)
    page = placeholders.parse(batch.html)
    draft = Batch(
        requester=batch.requester,
        name=f"Rows for {batch.name}"[:120],
        template=batch.template,
        html=batch.html,
        frame_height=batch.frame_height,
        hosts=batch.hosts,
        columns=batch.columns,
        properties=batch.properties,
        file_name=sheet.name,
        file_read=sheet.description[:200],
        extends=batch,
        created_by=user,
    )

    def describe() -> None:
        draft.repeats = table.repeats

    made = store_draft(
        draft, page=page, sheet=sheet, rows=table.rows, known_hosts=batch.hosts, checked=describe
    )
    if not made:
        raise sheet.error(
            "the batch has all of its rows already, so there is nothing to add. To have them answered again, "
            "untick “leave out”."
        )
    return draft


def _refuse_other(batch: Batch) -> None:
    if batch.state != State.PUBLISHED or batch.extends_id:
        raise Refusal(
            "InvalidBatchState",
            f"Rows can be added to a published batch; this one is {batch.state}. "
            "Wait until it is published, or make a new batch.",
        )


def add_rows(*, draft: Batch) -> Job:
    """Put the tasks of a draft into the batch that it is for, and publish them; the draft is gone afterwards.

    Raises Refusal where the money is not there, and changes nothing.
    """
    assert draft.extends_id is not None
    with transaction.atomic():
        locked = Batch.objects.select_for_update(of=("self",), no_key=True).select_related("requester")
        batch = locked.get(pk=draft.extends_id)
        row = locked.filter(pk=draft.pk, state=State.DRAFT).first()
        if row is None:
            raise Refusal("DuplicateRequest", "These rows were added already; nothing was done twice.")
        _refuse_other(batch)
        if batch.task_count + row.task_count > TASKS.rows:
            raise Refusal(
                "InvalidBatchState",
                f"A batch has at most {TASKS.rows:,} tasks; this one would have "
                f"{batch.task_count + row.task_count:,}. Make a new batch of the rows.",
            )
        cents = check_funds(row)
        BatchTask.objects.filter(batch=row).update(batch=batch, ordinal=F("ordinal") + batch.task_count)
        hosts = list(dict.fromkeys([*batch.hosts, *row.hosts]))
        of_cells = sorted({*batch.hosts_of_cells, *row.hosts_of_cells})
        Batch.objects.filter(pk=batch.pk).update(
            task_count=F("task_count") + row.task_count,
            state=State.PUBLISHING,
            error="",
            hosts=hosts,
            hosts_of_cells=of_cells,
            end_mailed_at=None,
        )
        note(batch.requester_id, "batch.rows", batch.name, f"{row.task_count} rows, {dollars(cents)}")
        effect = f"{effect_of(PUBLISH, batch)}:{row.pk}"
        row.delete()
        return jobs.enqueue(kind=PUBLISH, payload={"batch": batch.pk}, effect=effect)
