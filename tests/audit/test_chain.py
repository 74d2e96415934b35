"""The audit log: append-only in the database, chained by digests, pruned with a checkpoint, exported."""

import hashlib
import json
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.accounts.security import Actor, acting_as
from core.audit import chain
from core.audit.models import AuditChain, AuditCheckpoint, AuditLink, AuditProgress
from core.audit.tasks import last_faults, nightly
from core.jobs import runner
from core.jobs.models import Job
from core.origin import Owner, Via
from core.projects.models import Event, Project
from core.projects.services import create_project, record, set_role
from distillery.checks import audit_log
from marketplace import activity
from marketplace.models import Activity
from marketplace.protocol.testcontrols import wipe_work
from tests.marketplace.conftest import make_requester

pytestmark = pytest.mark.django_db
EVENTS, ACTIVITY = Event._meta.db_table, Activity._meta.db_table
LINKS, CHECKPOINTS = AuditLink._meta.db_table, AuditCheckpoint._meta.db_table


@pytest.fixture
def project() -> Project:
    olga = User.objects.create_user("olga", password="seven green kettles")
    made = create_project(slug="kiwi", title="Kiwi", owner=olga)
    for number in range(5):
        record(project=made, action="stage.opened", subject=f"s{number}", actor=olga)
    return made


@pytest.fixture
def sealed(project) -> AuditChain:
    chain.seal_all()
    return AuditChain.objects.get(kind="project", owner_id=project.pk)


def run(sql: str) -> None:
    """What somebody with access to the database does."""
    with connection.cursor() as cursor:
        cursor.execute(sql)


def refused(sql: str) -> bool:
    """Whether the database refuses it."""
    try:
        with transaction.atomic():
            run(sql)
    except DatabaseError as error:
        return "append-only" in str(error)
    return False


class Unguarded:
    """The triggers are gone, as for somebody who owns the database."""

    def __enter__(self) -> None:
        for sql in chain.emptying_statements(connection.vendor, []):
            if sql.startswith("DROP"):
                run(sql)

    def __exit__(self, *_: object) -> None:
        chain.install_triggers(connection)


def faults(project: Project) -> list[str]:
    """What verifying its chain finds."""
    return chain.verify(AuditChain.objects.get(kind="project", owner_id=project.pk)).faults


def test_the_database_refuses_to_change_or_delete_entries_links_and_checkpoints(sealed):
    lab = make_requester()
    activity.note(lab.pk, "worker.blocked", "A1")
    for table, column in ((EVENTS, "subject"), (ACTIVITY, "subject"), (LINKS, "digest")):
        assert refused(f"UPDATE {table} SET {column} = 'x'"), table
        assert refused(f"DELETE FROM {table}"), table
    chain.checkpoint(sealed, 1, "test")
    assert refused(f"UPDATE {CHECKPOINTS} SET why = 'x'") and refused(f"DELETE FROM {CHECKPOINTS}")
    assert refused(f"DELETE FROM {EVENTS} WHERE id > (SELECT min(id) FROM {EVENTS})")
    assert chain.tables_without_triggers(connection) == []


def test_an_account_that_goes_leaves_its_name_in_the_log():
    lab, olga = make_requester(), User.objects.create_user("olga")
    with acting_as(lambda: Actor(user=olga, address="192.0.2.1"), via=Via.PAGE):
        activity.note(lab.pk, "worker.blocked", "A1")
    chain.seal_all()
    olga.delete()
    row = Activity.objects.get(action="worker.blocked")
    assert (row.user, row.actor) == (None, "olga")
    assert not any(report.faults for report in chain.verify_all())
    assert refused(f"UPDATE {ACTIVITY} SET user_id = 1")


def test_entries_are_sealed_in_order_once_and_the_chain_is_whole(project, sealed):
    assert chain.seal_all() == 0
    assert sealed.length == Event.objects.filter(project=project).count()
    rows = list(AuditLink.objects.filter(chain=sealed).order_by("number").values_list("row", flat=True))
    assert rows == sorted(rows) and faults(project) == []
    record(project=project, action="stage.closed", subject="s1")
    assert chain.seal_all() == 1 and faults(project) == []


def test_an_entry_that_was_committed_late_is_sealed_late(project, sealed):
    late = Event.objects.order_by("-pk").first()
    number = AuditLink.objects.get(row=late.pk, kind="project").number
    with Unguarded():
        AuditLink.objects.filter(row=late.pk, kind="project").delete()
        AuditChain.objects.filter(pk=sealed.pk).update(
            length=number - 1, head=AuditLink.objects.get(chain=sealed, number=number - 1).digest
        )
    AuditProgress.objects.filter(kind="project").update(floor=late.pk)
    record(project=project, action="stage.closed")
    assert chain.seal_all() == 1  # the one behind the floor waits for the night
    assert chain.seal_all(everything=True) == 1
    assert faults(project) == []


@pytest.mark.parametrize(
    ("tampering", "found"),
    [
        ("UPDATE {events} SET subject = 'x' WHERE id = {row}", "Entry 4 (row {row}) was changed."),
        ("UPDATE {events} SET actor_id = NULL WHERE id = {row}", "Entry 4 (row {row}) was changed."),
        ("DELETE FROM {events} WHERE id = {row}", "Entry 4 (row {row}) is missing."),
        ("DELETE FROM {links} WHERE number = 4", "Entries 4 to 4 are missing from the chain."),
        ("UPDATE {links} SET digest = 'x' WHERE number = 4", "Entry 4 (row {row}) was changed."),
        ("DELETE FROM {links} WHERE number > 3", "The chain ends at 3, and its head says"),
    ],
)
def test_whatever_is_changed_past_the_triggers_is_seen(project, sealed, tampering, found):
    row = AuditLink.objects.get(chain=sealed, number=4).row
    names = {"events": EVENTS, "links": LINKS, "row": row}
    with Unguarded():
        run(tampering.format(**names))
    assert any(found.format(**names) in fault for fault in faults(project)), faults(project)


def test_an_entry_that_is_slipped_in_is_seen_as_one_that_nobody_sealed(project, sealed):
    Event.objects.bulk_create(
        [Event(project=project, at=timezone.now() - timedelta(days=3), action="x", subject="y")]
    )
    assert any("not sealed" in fault for fault in faults(project))


def test_missing_triggers_are_an_error_of_doctor_and_migrate_makes_them_again(sealed):
    with Unguarded():
        finding = audit_log()
        assert finding.level == "error" and EVENTS in finding.sentence
    assert audit_log().level == "ok"


def test_a_pruned_beginning_leaves_a_checkpoint_from_which_the_rest_is_verified(project, sealed):
    with Unguarded():
        old = timezone.now() - timedelta(days=400)
        first = f"id <= (SELECT max(id) - 3 FROM {EVENTS})"
        run(f"UPDATE {EVENTS} SET at = '{old:%Y-%m-%d %H:%M:%S}' WHERE {first}")
        run(f"DELETE FROM {LINKS}")
    AuditChain.objects.update(length=0, head="")
    AuditProgress.objects.all().delete()
    count = Event.objects.count()
    gone = chain.prune(timezone.now() - timedelta(days=365), why="AUDIT_KEPT_DAYS is 365")
    assert gone == count - 3 and Event.objects.count() == 3
    point = AuditCheckpoint.objects.get()
    assert (point.rows, point.number, point.why) == (gone, gone, "AUDIT_KEPT_DAYS is 365")
    assert faults(project) == []
    record(project=project, action="stage.closed")
    chain.seal_all()
    assert faults(project) == []
    assert chain.prune(timezone.now() - timedelta(days=365), why="again") == 0
    with Unguarded():
        run(f"DELETE FROM {EVENTS} WHERE id = (SELECT min(id) FROM {EVENTS})")
    assert any("missing" in fault for fault in faults(project))


def test_a_prune_that_was_killed_is_finished_by_the_next_one(project, sealed):
    chain.checkpoint(sealed, 3, "killed")
    assert faults(project) == []
    assert chain.prune(timezone.now() - timedelta(days=365), why="later") == 3
    assert faults(project) == []


def test_the_night_verifies_writes_heads_outside_and_tells_of_faults(project, sealed, caplog):
    nightly()
    nightly()
    [job] = Job.objects.filter(kind="audit.verify")
    with caplog.at_level("INFO", "distillery.security"):
        runner.run(job_id=job.pk)
    assert last_faults()[1] == () and audit_log().level == "ok"
    assert sealed.head in caplog.text
    with Unguarded():
        run(f"UPDATE {EVENTS} SET subject = 'x'")
    Job.objects.all().delete()
    nightly()
    runner.run(job_id=Job.objects.get(kind="audit.verify").pk)
    assert "was changed" in audit_log().sentence and audit_log().level == "error"


def test_anybody_can_verify_an_export_by_its_digests(project, sealed):
    with acting_as(lambda: Actor(address="192.0.2.1", access_key="dst_x"), via=Via.API):
        record(project=project, action="stage.closed", subject="é")
    chain.seal_all()
    lines = [json.loads(line) for line in chain.export_lines(Owner("project", project.pk))]
    previous = ""
    for line in lines:
        text = json.dumps(line["record"], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        previous = hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()
        assert previous == line["digest"]
    assert previous == AuditChain.objects.get(pk=sealed.pk).head
    last = lines[-1]["record"]
    assert (last["via"], last["address"], last["credential"], last["subject"]) == (
        "api",
        "192.0.2.1",
        "dst_x",
        "é",
    )
    assert lines[0]["before_chain"] is True and lines[-1]["before_chain"] is False
    assert lines[0]["who"] == "olga" and lines[0]["what"] == "made the project"


def test_the_command_verifies_and_exports(project):
    out = StringIO()
    call_command("audit", "verify", "--json", stdout=out)
    report = json.loads(out.getvalue())
    assert report["ok"] and report["chains"][0]["length"] == Event.objects.count()
    out = StringIO()
    call_command("audit", "export", "--project", "kiwi", stdout=out)
    assert len(out.getvalue().splitlines()) == Event.objects.count()
    with Unguarded():
        run(f"UPDATE {EVENTS} SET subject = 'x'")
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("audit", "verify", "--project", "kiwi", stdout=out)
    assert "NOT WHOLE" in out.getvalue()


def test_the_page_filters_by_way_and_its_file_has_the_same_rows(project, sealed):
    olga = User.objects.get(username="olga")
    browser = Client()
    browser.force_login(olga)
    with acting_as(lambda: Actor(user=olga, address="192.0.2.9"), via=Via.API):
        set_role(project=project, user=User.objects.create_user("mo"), role="manager", actor=olga)
    page = reverse("desk:events", args=["kiwi"])
    shown = browser.get(f"{page}?via=api")
    assert [event.action for event in shown.context["rows"]] == ["member.set"]
    assert "192.0.2.9" in shown.content.decode() and "chained by digests" in shown.content.decode()
    lines = b"".join(browser.get(f"{page}?via=api&format=jsonl").streaming_content).decode().splitlines()
    assert [json.loads(line)["record"]["action"] for line in lines] == ["member.set"]


def test_changes_of_webhooks_are_in_the_log(project, settings):
    from core.webhooks import services

    settings.WEBHOOK_TRUSTED_HOSTS = ["127.0.0.1"]
    olga = User.objects.get(username="olga")
    lab = make_requester()
    for owner in (Owner("project", project.pk), Owner("requester", lab.pk)):
        events = ["stage.opened"] if owner.kind == "project" else ["hit.expired"]
        with acting_as(lambda: Actor(user=olga), via=Via.PAGE):
            made = services.create_webhook(
                owner=owner, name="Bot", address="http://127.0.0.1:9/", events=events, by=olga
            )
            services.rotate_secret(hook=made.row)
            services.remove(hook=made.row)
    noted = Event.objects.filter(action__startswith="webhook.").order_by("pk")
    assert [event.action for event in noted] == ["webhook.made", "webhook.changed", "webhook.removed"]
    assert noted[1].details["what"] == "secret_rotated" and noted[0].actor == olga
    assert Activity.objects.filter(requester=lab, action__startswith="webhook.", actor="olga").count() == 3


def test_emptying_a_marketplace_under_test_leaves_a_checkpoint():
    lab = make_requester()
    activity.note(lab.pk, "worker.blocked", "A1")
    wipe_work()
    assert not Activity.objects.exists()
    assert AuditCheckpoint.objects.get(chain__owner_id=lab.pk).why == "emptied by test controls"
    activity.note(lab.pk, "worker.unblocked", "A1")
    chain.seal_all()
    assert not any(report.faults for report in chain.verify_all())
