"""A template and a table become a draft, or nothing."""

import tracemalloc
from datetime import timedelta

import pytest

from marketplace import clock
from marketplace.batches import drafts
from marketplace.errors import Refusal
from marketplace.models import Batch, BatchTask
from tests.batches import making


def test_every_row_is_a_task_with_its_values_in_the_order_of_the_columns(lab):
    batch = making.draft(lab)
    assert batch.columns == ["question", "image_url"]
    assert list(batch.tasks.order_by("ordinal").values_list("ordinal", "values")) == [
        (1, ["What is this?", "https://pictures.example.org/1.jpg"]),
        (2, ["And this?", "https://pictures.example.org/2.jpg"]),
    ]
    assert batch.file_read == "UTF-8; cells separated by commas"


def test_hosts_of_the_template_are_ticked_and_those_of_cells_are_not(lab):
    html = '<script src="https://cdn.example.org/lib.js"></script><img src="${image_url}"><i>${question}</i>'
    batch = making.draft(lab, html=html)
    assert batch.hosts == ["https://cdn.example.org"]
    assert batch.hosts_of_cells == ["https://pictures.example.org"]


def test_hosts_of_addresses_put_together_and_of_html_in_cells_are_found(lab):
    html = '<img src="https://${question}/a.png">${image_url}'
    table = 'question,image_url\nparts.example.org,"<img src=""//cells.example.org/1.png"">"\n'
    assert making.draft(lab, table, html=html).hosts_of_cells == [
        "https://cells.example.org",
        "https://parts.example.org",
    ]


def test_a_table_that_is_not_right_leaves_nothing_behind(lab, subtests):
    for table, words in [
        (
            "question,picture\n1,2\n",
            r"uses \${image_url} on line 1, but tasks.csv has no column of that name",
        ),
        ("question,image_url\n1,2\n<crowd-cube>,2\n", r"line 3: .*there is no element <crowd-cube>"),
        ("question,image_url\n1,2\n3,4,5\n", "tasks.csv, line 3: the row has 3 cells, the head has 2"),
    ]:
        with subtests.test(table=table, words=words):
            with pytest.raises(Refusal, match=words):
                making.draft(lab, table)
            assert not Batch.objects.exists()
            assert not BatchTask.objects.exists()


def test_a_task_may_have_what_a_template_may_and_no_more(lab):
    page = making.HTML + "<!-- " + "x" * 400_000 + " -->"
    making.draft(lab, "question,image_url\n1," + "y" * 20_000 + "\n", html=page)
    with pytest.raises(Refusal, match=r"tasks.csv, line 2: the task would have 530,"):
        making.draft(lab, "question,image_url\n1," + "y" * 65_000 + "\n", html=page)


def test_what_a_crash_left_of_a_reading_is_swept_away_by_a_later_one(lab):
    batch = making.draft(lab)
    Batch.objects.filter(pk=batch.pk).update(task_count=0, created_at=clock.now() - timedelta(hours=2))
    later = making.draft(lab)
    assert list(Batch.objects.all()) == [later]
    assert BatchTask.objects.count() == 2


@pytest.mark.long
def test_five_times_the_rows_need_no_more_memory(lab):
    def peak(rows: int) -> int:
        kept = making.template(lab)
        table = making.sheet(making.rows(rows))
        tracemalloc.start()
        drafts.make_draft(requester=lab, template=kept, properties=making.properties(), sheet=table)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    small, large = peak(600), peak(3_000)
    assert BatchTask.objects.count() == 3_600
    assert large < 1.5 * small
