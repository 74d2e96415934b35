"""Every page of the desk where everything is large: jobs count its figures, once for all web processes."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.extensions import parts_of
from core.jobs import runner
from core.jobs.figures import COUNT, FigureKind
from core.jobs.models import Job, StoredFigure
from crowd.selectors import stage_sizes
from tests.campaign.loading import load
from tests.campaign.pages import pages
from tests.campaign.world import Size
from tests.repository import read_texts
from web import cache

#: Looks at a page until its figures are there: it orders all of them at the first, but for rows that only
#: the number of rows tells.
MOST, MOST_AT_A_PLACE = 2, 3


def work():
    for pk in Job.objects.filter(kind=COUNT, state="queued").values_list("pk", flat=True):
        runner.run(job_id=pk)


@pytest.mark.long
@pytest.mark.django_db
def test_pages_of_a_large_project_come_from_figures_that_jobs_counted(monkeypatch):
    project = load(
        Size(queries=12, answers_per_query=4, judgments_per_candidate=3, systems=2), name="large"
    ).project
    client = Client()
    client.force_login(User.objects.get(username="large"))
    addresses = [address for _, address in pages(project)]
    plain = {address: client.get(address).status_code for address in addresses}
    monkeypatch.setattr(stage_sizes, "LARGE", 0)
    monkeypatch.setattr(cache, "CHEAP_SECONDS", -1.0)
    monkeypatch.setattr(cache, "FIRST_WAIT_SECONDS", 0.0)
    for address, status in plain.items():
        for _ in range(MOST_AT_A_PLACE if "page=" in address else MOST):
            cache.figures.clear()  # the next look is another process's
            answer = client.get(address)
            if answer.status_code not in (202, 429):
                break
            work()
        failed = Job.objects.filter(kind=COUNT).exclude(error="").values_list("error", flat=True)
        assert (answer.status_code, list(failed)) == (status, []), address
    assert len(set(StoredFigure.objects.values_list("kind", flat=True))) >= 19


def test_every_kind_of_figure_is_a_part_of_an_extension_and_has_a_name_of_its_own():
    kinds = parts_of(FigureKind)
    assert len({kind.name for kind in kinds}) == len(kinds)
    made = [
        line
        for path, text in read_texts()
        if path.endswith(".py") and not path.startswith("tests/")
        for line in text.splitlines()
        if "= FigureKind(" in line and not line.startswith(" ")
    ]
    assert len(made) == len(kinds)
