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

os.environ["DJANGO_SETTINGS_MODULE"] = "distillery.settings"
SITE = "http://localhost:8123"


def tell() -> dict:
    """Rows by table, figures, titles of the pages that the tour shows."""
    from django.apps import apps
    from django.contrib.auth.models import User
    from django.test import Client

    from core.accounts.models import PasswordState
    from core.projects.models import Project
    from distillery.demo.books import figures
    from distillery.demo.tour import STARTED, tour_of

    os.environ[STARTED] = "1"
    rows = {model._meta.db_table: model._default_manager.count() for model in apps.get_models()}
    PasswordState.objects.all().delete()
    client = Client(HTTP_HOST="localhost", raise_request_exception=True)
    client.force_login(User.objects.get(username="admin"), backend="core.accounts.backends.ModelBackend")
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

    from distillery.demo import archive
    from distillery.demo.panel import simulated_panel
    from marketplace.models import HIT, Holding
    from marketplace.tasks import nightly, sweep_task
    from people.links import address_of
    from people.models import StudyLink

    settings.TASK_URL = SITE
    with simulated_panel(settings.DATA_DIR) as panel:
        summary, _, _ = archive.begin_again(SITE, panel)
    sweep_task()
    nightly()
    consent = Client(HTTP_HOST="localhost").get(address_of(StudyLink.objects.get()).removeprefix(SITE))
    return {
        "summary": summary,
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
        begun = begin_again() if days else {}
        print(json.dumps({**begun, **tell()}))


if __name__ == "__main__":
    main()
