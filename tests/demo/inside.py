"""What a demonstration holds, told as JSON by a process of its own that has its folder as DATA_DIR.

    python -m tests.demo.inside             # as it lies there
    python -m tests.demo.inside 400         # unpacked from the file, begun again so many days later

Rows are counted before pages are looked at, for signing in adds some.
"""

import json
import os
import re
import sys
from contextlib import ExitStack
from datetime import timedelta

import django
import time_machine
from django.core.management import call_command

os.environ["DJANGO_SETTINGS_MODULE"] = "distillery.settings"
SITE = "http://localhost:8123"


def count_values(rows, field: str) -> dict[str, int]:
    """How many rows have each value."""
    from django.db.models import Count

    return dict(rows.order_by().values_list(field).annotate(number=Count("pk")))


def figures() -> dict:
    """What the campaigns brought; undefined figures are None."""
    from annotation.models import Answer, AnswerFlag, Query
    from core.projects.models import Project
    from crowd.models import Hit, Stage
    from evaluations.models import Evaluation
    from judgments.models import AgreementReport, FilterRun, Judgment
    from judgments.selectors.candidates import systems
    from marketplace.models import HIT, Holding

    answers, middle = Project.objects.get(slug="answers"), Project.objects.get(slug="more")
    stage = Stage.objects.get(project=answers, slug="judging")
    report = AgreementReport.objects.filter(stage=stage).order_by("-pk")[0].report
    alpha, judged = report["alpha"], systems(answers)
    evaluation, undecided = Evaluation.objects.get(), Answer.objects.filter(state=Answer.State.UNDECIDED)
    return {
        "hits_by_script": HIT.objects.filter(annotation__startswith="demo ").count(),
        "batch_to_review": Holding.objects.exclude(hit__batch=None).filter(state="submitted").count(),
        "queries": count_values(Query.objects.filter(project=answers), "status"),
        "answers": count_values(Answer.objects.filter(query__project=answers), "state"),
        "candidates": {each.system.name: each.to_judge for each in judged if each.to_judge},
        "judgments": Judgment.objects.filter(stage=stage).count(),
        "removed_judges": FilterRun.objects.in_force().get(stage=stage).summary["counts"]["removed_workers"],
        "topped_up": Hit.objects.filter(stage=stage, wave__gt=0).count(),
        "alpha_before": alpha["before"]["interval"],
        "alpha_after": alpha["after_workers"]["interval"],
        "alpha_cross_fitted": alpha["after_workers"]["cross_fitted"],
        "means": {each.system.name: round(each.mean, 2) for each in judged if each.mean is not None},
        "best_metric": evaluation.best,
        "pearson": evaluation.best_value,
        "middle_queries": count_values(Query.objects.filter(project=middle), "status"),
        "middle_to_review": undecided.filter(query__project=middle).count(),
        "middle_flagged": AnswerFlag.objects.filter(answer__in=undecided).values("answer").distinct().count(),
        "middle_open_hits": Hit.objects.filter(stage__project=middle, state=Hit.State.OPEN).count(),
        "anywhere_answers": Answer.objects.filter(stage__project__slug="anywhere", state="approved").count(),
        "anywhere_judgments": Judgment.objects.filter(stage__project__slug="anywhere").count(),
    }


def tell() -> dict:
    """Rows by table, figures, titles of the pages that the tour shows."""
    from django.apps import apps
    from django.contrib.auth.models import User
    from django.test import Client

    from core.accounts.models import PasswordState
    from core.projects.models import Project
    from distillery.demo.tour import STARTED, tour_of

    os.environ[STARTED] = "1"
    rows = {model._meta.db_table: model._default_manager.count() for model in apps.get_models()}
    PasswordState.objects.all().delete()
    client = Client(HTTP_HOST="localhost", raise_request_exception=True)
    client.force_login(
        User.objects.get(username="admin"), backend="django.contrib.auth.backends.ModelBackend"
    )
    tour = tour_of(Project.objects.get(slug="answers"), "")
    addresses = ["/", "/desk/projects/", "/desk/projects/demo/", *(step["address"] for step in tour["steps"])]
    titles = {}
    for address in addresses:
        page = client.get(address)
        assert page.status_code == 200, (address, page.status_code, page.headers)
        titles[address] = re.search(r"<title>(.*?)</title>", page.content.decode(), re.S)[1]
    return {"rows": rows, "figures": figures(), "titles": titles}


def begin_again() -> dict:
    """Begin the unpacked demonstration, let the marketplace do what time brings, and look who may come."""
    from django.conf import settings
    from django.test import Client
    from django.utils import timezone

    from crowd.simulation.panel import running_panel
    from distillery.demo import archive
    from distillery.demo.run import PANEL_CENTS
    from marketplace.models import HIT, Holding
    from marketplace.tasks import nightly, sweep_task
    from people.links import address_of
    from people.models import StudyLink

    settings.TASK_URL = SITE
    before = figures()
    with running_panel(settings.DATA_DIR / archive.PANEL, balance=PANEL_CENTS) as panel:
        archive.begin_again(SITE, panel)
    sweep_task()
    nightly()
    consent = Client(HTTP_HOST="localhost").get(address_of(StudyLink.objects.get()).removeprefix(SITE))
    return {
        "before": before,
        "consent": consent.status_code,
        "open": HIT.objects.filter(expires_at__gt=timezone.now(), open_places__gt=0).count(),
        "auto_approved": Holding.objects.filter(auto_approved=True).count(),
    }


def main() -> None:
    """Print it all."""
    with ExitStack() as stack:
        if days := sys.argv[1:]:
            import datetime

            later = datetime.datetime.now(datetime.UTC) + timedelta(days=int(days[0]))
            stack.enter_context(time_machine.travel(later))
        django.setup()
        call_command("migrate", verbosity=0)  # the file may be older than the newest migrations
        begun = begin_again() if days else {}
        print(json.dumps({**begun, **tell()}))


if __name__ == "__main__":
    main()
