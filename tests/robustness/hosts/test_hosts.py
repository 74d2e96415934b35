"""An installation of two web hosts and two job hosts, each with a data folder of its own, on real engines.

`make hosts` runs it: PostgreSQL behind PgBouncer, Redis, S3 (Swift), nginx, four times `manage.py up`.
"""

import csv
import hashlib
import io
import threading
from collections.abc import Iterator
from typing import Any

import lxml.html
import psycopg2
import pytest
import requests

from tests.robustness.hosts.machine import Host, Machine, gets, machine, wait_for

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1200)]

SET_UP = """
from django.contrib.auth import get_user_model
from core.projects.services import create_project
owner = get_user_model().objects.create_superuser("rosa", "rosa@example.org", "a long password of rosa")
create_project(slug="rivers", title="Rivers", owner=owner)
"""
QUERIES = 20_000
RELEASE = """
from releases.models import PrivacyFinding
from releases.options import Options
from releases.privacy import check
from releases.privacy import accept
from releases.build import begin
from tests.releases.world import make_world
project = make_world().project
check(project=project)
accept(findings=PrivacyFinding.objects.all(), reason="They agreed.", actor=None)
print(begin(project=project, options=Options(formats=("jsonl",)), version="1.0.0", actor=None).job)
"""
EVALUATION = """
from evaluations.plans import plan_of
from evaluations.services import begin
from releases.models import Release
PLAN = {"metrics": ["bleu-1", "rouge-l"], "replicates": 20, "draws": 99}
print(begin(release=Release.objects.get(project__slug="capitals"), plan=plan_of(PLAN)).job)
"""


@pytest.fixture(scope="module")
def everything() -> Iterator[Machine]:
    """All services; web hosts run, and job host 1, which has migrated the database."""
    with machine() as found:
        found.jobs[0].start()
        wait_for(found.jobs[0].answers, "the first job host")
        for host in found.web:
            host.start()
        for host in found.web:
            wait_for(host.answers, host.name)
        wait_for(lambda: gets(f"{found.url}/health/"), "the proxy")
        found.web[0].run(code=SET_UP)
        yield found


@pytest.fixture(scope="module")
def rosa(everything: Machine) -> requests.Session:
    """Signed in; her cookies are good on every host."""
    session = requests.Session()
    address = f"{everything.url}/accounts/login/"
    answer = submit(session, address, {"username": "rosa", "password": "a long password of rosa"})
    assert "sessionid" in session.cookies, answer.text[:2000]
    return session


def submit(
    session: requests.Session, address: str, values: dict[str, str], files: Any = None, marker: str = ""
) -> requests.Response:
    """Fill in the form of a page and send it."""
    page = session.get(address)
    assert page.status_code == 200, f"{page.status_code} {address}\n{page.text[:500]}"
    forms = [form for form in lxml.html.fromstring(page.text).forms if form.method == "POST"]
    wanted = next(
        form for form in forms if set(values) <= set(form.fields) or (marker and marker in form.fields)
    )
    given = {**dict(wanted.form_values()), **values}
    for name in files or {}:
        given.pop(name, None)
    return session.post(address, data=given, files=files, headers={"Referer": address})


def upload(session: requests.Session, host: Host, text: str) -> str:
    """The address of the preview, below the host."""
    address = f"{host.url}/desk/projects/rivers/imports/new/"
    files = {"file": ("queries.csv", text.encode(), "text/csv")}
    answer = submit(session, address, {}, files, marker="file")
    assert "/preview/" in answer.url, answer.text[:3000]
    return answer.url.removeprefix(host.url)


def queries(count: int, prefix: str) -> str:
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(["id", "query"])
    rows.writerows([f"{prefix}{n}", f"Where does river number {prefix}{n} end?"] for n in range(count))
    return written.getvalue()


def ask(host: Host, expression: str) -> str:
    """An expression about the database, evaluated on a host."""
    models = ("core.jobs", "annotation", "retrieval")
    imports = "".join(f"from {app}.models import *\n" for app in models)
    return host.run(code=f"{imports}print({expression})").strip()


def start_import(session: requests.Session, host: Host, preview: str) -> int:
    """The job that runs now."""
    whole = {"start": "1", "size": str(QUERIES)}  # a sample has 500 unless told
    answer = submit(session, f"{host.url}{preview}", whole, marker="once")
    assert "/imports/running/" in answer.url, answer.text[:3000]
    return int(answer.url.rstrip("/").rsplit("/", 1)[1])


def test_an_upload_on_one_web_host_is_imported_by_a_job_host_and_reported_by_the_other(everything, rosa):
    one, two = everything.web
    preview = upload(rosa, one, queries(30, "a"))
    job = start_import(rosa, two, preview)
    report = f"{two.url}/desk/projects/rivers/imports/running/{job}/"
    wait_for(lambda: ask(two, f"Job.objects.get(pk={job}).state") in ("done", "failed"), "the import")
    assert ask(one, f"Job.objects.get(pk={job}).state") == "done"
    assert rosa.get(report).status_code == 200
    assert ask(one, "Query.objects.filter(source__project__slug='rivers').count()") == "30"
    assert not list((everything.jobs[0].folder / "imports").glob("*/*"))


def test_a_job_host_that_is_killed_in_the_middle_loses_nothing_and_doubles_nothing(everything, rosa):
    one, first, second = everything.web[0], *everything.jobs
    job = start_import(rosa, one, upload(rosa, one, queries(QUERIES, "b")))
    state = f"Job.objects.get(pk={job}).state"
    database = psycopg2.connect(one.environment["DATABASE_DIRECT_URL"])
    database.autocommit = True
    with database.cursor() as cursor:

        def has_begun() -> bool:
            cursor.execute("SELECT state FROM jobs_job WHERE id = %s", [job])
            return bool(cursor.fetchone() != ("queued",))

        wait_for(has_begun, "the first job host to begin")
    database.close()
    first.kill()
    assert ask(one, state) == "running"
    second.start()
    wait_for(lambda: ask(one, state) in ("done", "failed"), "the second job host to finish")
    assert ask(one, f"(Job.objects.get(pk={job}).state, Job.objects.get(pk={job}).attempts)") == "('done', 2)"
    held = "Query.objects.filter(source__project__slug='rivers')"
    assert ask(one, f"({held}.count(), QuerySource.objects.count())") == f"({30 + QUERIES}, 2)"
    first.start()
    wait_for(first.answers, "the first job host again")


def test_an_index_built_on_one_job_host_is_searched_on_the_other_and_on_the_web(everything, tmp_path):
    file = tmp_path / "passages.jsonl"
    file.write_text('{"id": "p1", "text": "The Rhine flows through Basel."}\n{"id": "p2", "text": "Alps."}\n')
    first, second = everything.jobs
    first.run("corpus", "add", "rivers", str(file), "--slug", "pages")
    first.run("index", "build", "rivers")
    for host in (second, everything.web[1]):
        assert "Basel" in host.run("index", "search", "rivers", "rhine", "--ranker", "bm25")
        assert list((host.folder / "copies" / "indexes").glob("*/*/g1"))
        assert not (host.folder / "indexes").exists()


def test_a_release_and_its_evaluation_are_made_by_job_hosts_and_read_on_both_web_hosts(everything, rosa):
    one, two = everything.web
    job = int(one.run(code=RELEASE))
    wait_for(lambda: ask(one, f"Job.objects.get(pk={job}).state") in ("done", "failed"), "the release")
    assert ask(one, f"Job.objects.get(pk={job}).state") == "done"
    files = "/desk/projects/capitals/releases/1.0.0/files"
    manifest = rosa.get(f"{one.url}{files}/manifest.json").json()
    assert len(manifest["files"]) > 3
    for file in manifest["files"]:
        answer = rosa.get(f"{two.url}{files}/{file['path']}")
        assert hashlib.sha256(answer.content).hexdigest() == file["sha256"], file["path"]

    job = int(two.run(code=EVALUATION))
    wait_for(lambda: ask(one, f"Job.objects.get(pk={job}).state") in ("done", "failed"), "the evaluation")
    assert ask(one, f"Job.objects.get(pk={job}).state") == "done"
    reports = [
        rosa.get(f"{host.url}/desk/projects/capitals/evaluations/1.0.0/1/files/report.json")
        for host in everything.web
    ]
    assert [answer.status_code for answer in reports] == [200, 200]
    assert reports[0].content == reports[1].content
    # What job hosts made lies in the bucket, not in a folder of theirs.
    assert not list(everything.folder.glob("*/releases/*"))


def test_both_web_hosts_are_restarted_under_load_and_no_request_fails(everything, rosa):
    over, answers, faults = threading.Event(), [], []

    def load() -> None:
        session = requests.Session()
        session.cookies.update(rosa.cookies)
        while not over.is_set():
            try:
                answers.append(session.get(f"{everything.url}/desk/projects/rivers/", timeout=60).status_code)
            except requests.RequestException as error:
                faults.append(repr(error))

    clients = [threading.Thread(target=load) for _ in range(4)]
    for client in clients:
        client.start()
    try:
        for host in everything.web:
            host.stop()
            host.start()
            wait_for(host.answers, host.name)
    finally:
        over.set()
        for client in clients:
            client.join()
    assert faults == []
    assert set(answers) == {200}
    assert len(answers) > 20


def test_two_timers_do_nothing_twice(everything, rosa):
    one = everything.web[0]
    job = start_import(rosa, one, upload(rosa, one, queries(50, "c")))
    wait_for(lambda: ask(one, f"Job.objects.get(pk={job}).state") in ("done", "failed"), "the import")
    assert ask(one, f"(Job.objects.get(pk={job}).state, Job.objects.get(pk={job}).attempts)") == "('done', 1)"
    assert ask(one, "Job.objects.filter(state='failed').count()") == "0"
