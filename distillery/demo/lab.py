"""The people of the demonstration, and what its lab posts on the marketplace: HITs by a script, a batch."""

import io
import json
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.template.loader import render_to_string

from core.accounts.services import create_user_with_printed_password, printed_password
from core.money import dollars
from crowd.simulation.accounts import Account, Browser
from marketplace.accounts import people
from marketplace.accounts.accesskeys import IssuedKey
from marketplace.batches import drafts, publication, templates
from marketplace.forms.questions import html_question_xml
from marketplace.forms.sheets import Sheet
from marketplace.models import Requester
from marketplace.money import deposits

ADMIN, GUEST, WORKERS, LAB = "admin", "guest", ("ada", "bruno"), "Demo lab"
DEPOSIT_CENTS = 200_00
#: Ten questions with passages of two open textbooks, which ATTRIBUTION.md names, and how they are posted;
#: what each worker says of each text of a batch in turn; the last place of the last is free.
TASKS = Path(__file__).with_name("tasks.json")


def make_people() -> tuple[str, IssuedKey]:
    """A researcher and a guest, two workers, a lab with play money: everybody's password, the lab's key.

    Raises CommandError where the database has any of them.
    """
    if User.objects.filter(username__in=[ADMIN, GUEST, *WORKERS]).exists():
        raise CommandError(
            f"The database has a demonstration already, or accounts called {ADMIN}, {GUEST}, "
            f"{' or '.join(WORKERS)}. Give it an empty one."
        )
    password = printed_password()
    for name in (ADMIN, GUEST, *WORKERS):
        rights = {"staff": name == ADMIN, "superuser": name == ADMIN}
        create_user_with_printed_password(username=name, password=password, **rights)
    owner = User.objects.get(username=ADMIN)
    requester, key = people.create_requester(name=LAB, fee_profile="mturk-2026", owner=owner)
    deposits.deposit(requester=requester, cents=DEPOSIT_CENTS)
    for name in WORKERS:
        _, invitation = people.create_invitation(label="demonstration", max_uses=1, days=1)
        people.register_worker(user=User.objects.get(username=name), name=name, invitation_token=invitation)
    return password, key


def post_hits(site: str, key: IssuedKey) -> None:
    """Post a HIT per question, as any lab with boto3 would; a worker that is a script does the first."""
    import boto3  # noqa: PLC0415  # a second, which a demonstration from the file does not need
    from botocore.config import Config  # noqa: PLC0415  # the same

    client = boto3.client(
        "mturk",
        endpoint_url=f"{site}/mturk/api",
        region_name="us-east-1",
        aws_access_key_id=key.access_key,
        aws_secret_access_key=key.secret,
        config=Config(proxies={}),
    )
    document = json.loads(TASKS.read_text(encoding="utf-8"))
    hit_type, hit_ids = client.create_hit_type(**document["hit_type"])["HITTypeId"], []
    for task in document["tasks"]:
        context = {**task, "book": document["books"][task["book"]], "licence": document["licence"]}
        posted = client.create_hit_with_hit_type(
            HITTypeId=hit_type,
            Question=html_question_xml(render_to_string("demo/question.html", context), 0),
            RequesterAnnotation=f"demo {task['id']}",
            **document["hit"],
        )
        hit_ids.append(posted["HIT"]["HITId"])
    _, token = people.create_scripted_worker(name="Demo script")
    assignment = do_hit(site, token, hit_ids[0], answer=document["answer_of_a_script"])
    client.approve_assignment(AssignmentId=assignment, RequesterFeedback="Thank you, script.")


def do_hit(site: str, token: str, hit_id: str, **fields: str) -> str:
    """Accept a HIT as a script through the worker API, open its page, submit; gives the AssignmentId."""
    browser = Browser()
    accepted = browser.send_json(f"{site}/worker-api/accept", {"hit_id": hit_id}, f"Bearer {token}").json()
    browser.get(accepted["frame_url"])
    browser.send_form(accepted["submit_url"], {"assignmentId": accepted["assignment_id"], **fields})
    browser.close()
    return str(accepted["assignment_id"])


def publish_batch(site: str, hire: Callable[[int], list[Account]]) -> None:
    """Publish a sample as it is in the browser; workers, hired as many as it takes, do all but one task."""
    requester, sample = Requester.objects.get(name=LAB), templates.sample_named("text")
    assert sample is not None
    properties = sample.properties
    template = templates.create_template(
        requester=requester, name=sample.name, html=sample.html, properties=properties
    )
    with sample.table() as file:
        sheet = Sheet(file, "reviews.csv")
        batch = drafts.make_draft(requester=requester, template=template, properties=properties, sheet=sheet)
    number, total = str(batch.number), dollars(publication.cost_of(batch).total)
    call_command("marketplace", "batch", "publish", LAB, number, "--total", total, stdout=io.StringIO())
    hit_ids = batch.tasks.order_by("ordinal").values_list("hit__hit_id", flat=True)
    answers = json.loads(TASKS.read_text(encoding="utf-8"))["moods"]
    workers = hire(max(map(len, answers)))
    for hit_id, moods in zip(hit_ids, answers, strict=True):
        for worker, mood in zip(workers, moods, strict=False):
            do_hit(site, worker.token, str(hit_id), mood=mood, doubt="")
