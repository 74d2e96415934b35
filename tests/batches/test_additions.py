"""Rows that are added to a batch that runs; copies of batches and templates."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from core.money import dollars
from marketplace.batches import extensions, publication
from marketplace.errors import Refusal
from marketplace.forms.sheets import SheetError
from marketplace.models import HIT, Batch, BatchTask, Requester
from marketplace.money import ledger
from tests.batches import making

MORE = """image_url,question
/3.jpg,And this one?
https://pictures.example.org/1.jpg,What is this?
/3.jpg,And this one?
"""


def at(lab: Requester, name: str, *parts: object) -> str:
    return reverse(f"requester:{name}", args=[lab.customer_id, *parts])


@pytest.fixture
def batch(lab) -> Batch:
    return making.published(lab)


def addition(batch: Batch, text: str = MORE, *, leave_out: bool = True) -> Batch:
    made = extensions.make_addition(batch=batch, sheet=making.sheet(text), leave_out=leave_out)
    return Batch.objects.select_related("requester", "extends").get(pk=made.pk)


def test_new_rows_become_hits_of_the_batch_and_repeats_are_told_and_left_out(lab, batch):
    draft = addition(batch)
    assert draft.repeats == {"in_batch": 1, "in_file": 1, "lines": [3, 4], "left_out": True}
    assert list(draft.tasks.values_list("ordinal", "values")) == [(1, ["And this one?", "/3.jpg"])]
    extensions.add_rows(draft=draft)
    making.run_jobs()
    batch.refresh_from_db()
    assert (batch.state, batch.task_count, batch.published_count) == (Batch.State.PUBLISHED, 3, 3)
    assert "And this one?" in batch.tasks.get(ordinal=3).hit.question
    assert HIT.objects.values("hit_type").distinct().count() == 1
    assert not Batch.objects.filter(pk=draft.pk).exists()
    assert ledger.audit() == []


def test_repeats_are_added_once_more_where_that_is_asked_for(batch):
    draft = addition(batch, leave_out=False)
    assert draft.task_count == 3
    with pytest.raises(SheetError, match="has all of its rows already"):
        addition(batch, making.CSV)


def test_the_same_draft_adds_its_rows_once(batch):
    draft = addition(batch)
    extensions.add_rows(draft=draft)
    with pytest.raises(Refusal, match="added already"):
        extensions.add_rows(draft=draft)
    making.run_jobs()
    assert HIT.objects.count() == 3


def test_other_columns_are_refused_by_name(batch):
    with pytest.raises(SheetError, match="has no column image_url"):
        addition(batch, "question\nWhat?\n")
    with pytest.raises(SheetError, match="a column that the batch has not: colour"):
        addition(batch, "question,image_url,colour\nWhat?,/1.jpg,red\n")


def test_too_little_money_changes_nothing_and_a_draft_gets_no_rows(lab, batch):
    draft = addition(batch)
    with pytest.raises(Refusal, match="is draft"):
        addition(draft)
    Requester.objects.update(deposited_cents=batch.requester.held_cents or 22, available_cents=0)
    draft = Batch.objects.select_related("requester").get(pk=draft.pk)
    with pytest.raises(Refusal, match="Deposit at least"):
        extensions.add_rows(draft=draft)
    assert batch.tasks.count() == 2


def test_the_pages_lead_from_the_table_to_the_added_rows(lab, batch, as_owner):
    answer = as_owner.post(
        at(lab, "batch_rows", batch.number),
        {"file": SimpleUploadedFile("more.csv", MORE.encode()), "encoding": "auto", "leave_out": "on"},
    )
    draft = Batch.objects.get(extends=batch)
    assert answer.url == at(lab, "batch", draft.number)
    page = " ".join(as_owner.get(answer.url).content.decode().split())
    assert "1 row is in the batch already" in page and "1 is in the table twice" in page
    publish = at(lab, "batch_publish", draft.number)
    assert as_owner.post(publish, {"amount": "0.01"}).status_code == 422
    total = dollars(publication.cost_of(draft).total)
    assert as_owner.post(publish, {"amount": total}).url == at(lab, "batch", batch.number)
    assert as_owner.post(publish, {"amount": total}).status_code == 404
    making.run_jobs()
    assert HIT.objects.filter(batch=batch).count() == 3
    wrong = as_owner.post(
        at(lab, "batch_rows", batch.number),
        {"file": SimpleUploadedFile("more.csv", b"a\n1\n"), "encoding": "auto"},
    )
    assert wrong.status_code == 422
    assert "has no column question, image_url" in wrong.content.decode()


def test_a_batch_and_a_template_are_copied(lab, batch, as_owner):
    answer = as_owner.post(at(lab, "batch_copy", batch.number))
    copy = Batch.objects.get(name=f"Copy of {batch.name}")
    assert answer.url == at(lab, "batch", copy.number)
    assert (copy.state, copy.task_count, copy.html) == (Batch.State.DRAFT, 2, batch.html)
    rows = BatchTask.objects.order_by("batch", "ordinal").values_list("values", flat=True)
    assert list(rows)[:2] == list(rows)[2:]
    for _ in range(2):
        answer = as_owner.post(at(lab, "template_copy", batch.template_id))
    names = set(lab.templates.values_list("name", flat=True))
    assert names == {"Pictures 0", "Copy of Pictures 0", "Copy of Pictures 0 2"}
    assert re.search(r"templates/\d+/", answer.url)
