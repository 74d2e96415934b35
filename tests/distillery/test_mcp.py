"""The tools for coding agents: by the package's own client over the real command, and one by one."""

import json
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from core.api.tokens import create_token, revoke_token
from core.projects.models import Project
from core.projects.services import set_role
from crowd.errors import NotArmedError
from crowd.models import Hit, Stage, Worker
from crowd.rights import EndpointSpender
from crowd.services import responses
from crowd.services.deals import NoWorkError, deal
from crowd.services.endpoints import create_endpoint
from crowd.services.tick import tick
from distillery.agents.adapter import AgentTools
from judgments.models import Candidate
from people.models import StudyLink
from releases.models import Release
from tests.crowd.world import make_stage
from tests.desk.conftest import let_make_projects
from tests.jobs.conftest import database_url_of_this_test
from tests.judgments.class_world import BACK, join, names_of
from web.api.problems import ProblemError

ROOT = Path(__file__).resolve().parents[2]
TABLE = """\
question,system,answer,reference,e-mail
how long does cooked rice keep,good,Three days in a closed box.,Three to four days.,mara@example.org
how long does cooked rice keep,bad,Rice is cooked in water.,Three to four days.,mara@example.org
at which temperature does water boil,good,At 100 degrees at sea level.,100 °C,mara@example.org
at which temperature does water boil,bad,At 50 degrees Celsius.,100 °C,mara@example.org
"""
#: An answer a HIT, so that sums are those of answers.
ONE_EACH = {"units_per_hit": 1, "checks_per_hit": 0}
ALL_BUT_PAY = ("read", "collect", "admin", "publish")


@pytest.fixture
def table(tmp_path):
    (tmp_path / "answers.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path


def make_person(django_user_model, name="olga"):
    """She may make projects, and spend from the study links of the installation."""
    person = django_user_model.objects.create_user(name)
    let_make_projects(person)
    links = create_endpoint(name="links", preset="link", access_key="", secret="")
    EndpointSpender.objects.create(endpoint=links, user=person, created_at=timezone.now())
    return person


def token_of(person, *scopes):
    return create_token(user=person, scopes=scopes)


def tools_of(person, folder, *scopes):
    return AgentTools(token_of(person, *scopes)[1], folder)


@contextmanager
def connected(token, folder):
    """Call a tool over standard input and output: what it gives, or its error, as the text that came."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    here = {"DATA_DIR": str(settings.DATA_DIR), "DATABASE_URL": database_url_of_this_test()}
    command = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp", "--files", str(folder)],
        env={**os.environ, **here, "DISTILLERY_TOKEN": token},
        cwd=ROOT,
    )
    with (folder / "log").open("w") as log, start_blocking_portal() as portal:
        client = Client(stdio_client(command, errlog=log))
        with portal.wrap_async_context_manager(client):

            def call(tool, **arguments):
                answer = portal.call(client.call_tool, tool, arguments)
                return answer.is_error, answer.content[0].text

            yield call


def judge_all(stage, people):
    """They judge one answer each, in turn, until nothing is left: good answers right, bad ones wrong."""
    tick()
    systems = {f"candidate:{row.pk}": row.system.name for row in Candidate.objects.all()}
    for at, name in enumerate(people * 8):
        with suppress(NoWorkError):
            dealt = deal(stage, worker_id=name, submit_to=BACK)
            assignment = stage.assignments.select_related("worker").get(pk=dealt.assignment_pk)
            [unit] = assignment.claims.values_list("unit", flat=True)
            score = {"good": 5, "bad": 1 + at % 2}[systems[unit]]
            assert responses.store_response(
                assignment, {unit: {"score": score, "aspects": {}}}, at=timezone.now()
            )
    tick()


@pytest.mark.django_db(transaction=True)
def test_a_study_by_tools_alone_until_its_token_ends_and_no_worker_is_named(table, django_user_model):
    """In one process: starting it takes as long as all that it does."""
    olga, said = make_person(django_user_model), []
    token, secret = token_of(olga, *ALL_BUT_PAY)
    with connected(secret, table) as call:

        def use(tool, *, refused="", **arguments):
            is_error, text = call(tool, **arguments)
            said.append(text)
            assert is_error == bool(refused) and refused in text, text
            return None if refused else json.loads(text)

        stage = open_study(use)
        for _ in range(6):
            join(stage.project, stage.endpoint)
        judge_all(stage, names_of(stage.project))
        folder = release_study(use, stage.project.slug)

        # It may not pay.
        paid = use("make_study", path="answers.csv", title="Paid")
        Stage.objects.filter(project__slug="paid").update(reward_cents=10, budget_cents=1000, **ONE_EACH)
        Project.objects.update(budget_cents=1000)
        at = {"project": paid["project"], "stage": paid["stage"], "confirmed_amount": "1.20"}
        use("open_stage", **at, refused="This token lacks the scope 'pay'.")
        assert Stage.objects.get(project__slug="paid").status == Stage.Status.DRAFT
        assert not Hit.objects.filter(stage__project__slug="paid").exists()

        revoke_token(token=token)
        for tool in ("progress", "results"):
            use(tool, project="paid", refused="There is no such token, or it has ended.")

    names = set(Worker.objects.values_list("external_id", flat=True)) | {"mara@example.org"}
    said.append((folder / "jsonl/ratings-train.jsonl").read_text(encoding="utf-8"))
    assert len(names) == 7
    assert {name for name in names for text in said if name in text} == set()


def open_study(use):
    """Read the table, make a study of it, look at it and open it."""
    columns = use("read_columns", path="answers.csv")
    assert columns["read_as"]["columns"]["references"] == ["reference"]
    assert columns["rows"][0][1] == "good"
    made = use("make_study", path="answers.csv", title="Rice and water", judges=2)
    assert (made["project"], made["status"]) == ("rice-and-water", "draft")
    Stage.objects.update(**ONE_EACH)
    at = {"project": made["project"], "stage": made["stage"]}
    before = use("preview", **at)
    assert {"how long does cooked rice keep", "5 completely correct"} <= set(before["texts"])
    assert (before["quote"]["places"], before["quote"]["total"]) == (8, "0.00")
    assert use("open_stage", **at, confirmed_amount="0.00")["status"] == "open"
    return Stage.objects.get(slug=made["stage"])


def release_study(use, project):
    """Look at what came in, build a release and check it; its folder."""
    [progress] = use("progress", project=project)["stages"]
    assert (progress["submitted_and_good"], progress["answers_missing"]) == (8, 0)
    assert use("waiting_decisions", project=project)["waiting"] == []
    [results] = use("results", project=project)["stages"]
    best, worst = results["systems"]
    assert (best["system"], best["mean"], worst["mean"] < 2) == ("good", 5.0, True)
    assert results["agreement"]["alpha.interval"]["value"] > 0.9
    built = use("build_release", project=project)
    assert (built["version"], built["tables"]["ratings"]) == ("1.0.0", 8)
    found = use("release_files", project=project)
    assert found["unchanged"] is True
    [ratings] = [each for each in found["files"] if each["path"] == "jsonl/ratings-train.jsonl"]
    assert ratings["rows"] == 8
    return Path(found["folder"])


@pytest.mark.django_db
class TestRights:
    """What a tool asks before it does anything."""

    def study(self, table, django_user_model, **changes):
        olga = make_person(django_user_model)
        made = tools_of(olga, table, *ALL_BUT_PAY).make_study("answers.csv", "Tea")
        Stage.objects.update(**ONE_EACH, **changes)
        Project.objects.update(budget_cents=changes.get("budget_cents", 0))
        return olga, {"project": made["project"], "stage": made["stage"]}

    def test_an_amount_that_is_not_the_quote_opens_nothing(self, table, django_user_model):
        olga, at = self.study(table, django_user_model, reward_cents=10, budget_cents=1000)
        tools = tools_of(olga, table, "read", "collect", "pay")
        assert tools.preview(**at)["quote"]["total"] == "1.20"
        for amount in ("1.19", "0.00", "12.00"):
            with pytest.raises(Exception, match=r"Opening costs 1\.20 USD, not"):
                tools.open_stage(**at, confirmed_amount=amount)
        assert Stage.objects.get().status == "draft"
        assert tools.open_stage(**at, confirmed_amount="1.20")["status"] == "open"
        assert Stage.objects.get().reserved_cents == 120

    def test_real_money_wants_the_stages_budget_too_and_an_owner(self, table, django_user_model):
        olga, at = self.study(table, django_user_model, reward_cents=10, budget_cents=1000)
        Stage.objects.get().endpoint.__class__.objects.update(real_money=True)
        tools = tools_of(olga, table, "read", "collect", "pay")
        with pytest.raises(NotArmedError, match=r"Type its budget, 10\.00"):
            tools.open_stage(**at, confirmed_amount="1.20")
        set_role(
            project=Project.objects.get(), user=django_user_model.objects.create_user("anna"), role="owner"
        )
        set_role(project=Project.objects.get(), user=olga, role="manager")
        with pytest.raises(ProblemError, match="Spending real money is for owners"):
            tools.open_stage(**at, confirmed_amount="1.20", confirmed_budget="10.00")
        assert Stage.objects.get().status == "draft"
        set_role(project=Project.objects.get(), user=olga, role="owner")
        assert tools.open_stage(**at, confirmed_amount="1.20", confirmed_budget="10.00")["status"] == "open"

    def test_a_right_that_ends_ends_while_the_tools_are_there(self, table, django_user_model):
        olga, at = self.study(table, django_user_model)
        tools = tools_of(olga, table, "read", "collect")
        EndpointSpender.objects.all().delete()
        with pytest.raises(Exception, match="may spend from"):
            tools.open_stage(**at, confirmed_amount="0.00")
        Project.objects.get().memberships.all().delete()
        with pytest.raises(Exception, match="There is no such project"):
            tools.progress(at["project"])

    def test_a_token_without_the_scope_is_told_which(self, table, django_user_model):
        olga = make_person(django_user_model)
        one, opening = {"project": "tea"}, {"project": "tea", "stage": "judging", "confirmed_amount": "0.00"}
        for tool, given, scopes, missing in (
            ("make_study", {"path": "answers.csv", "title": "Tea"}, ("collect",), "admin"),
            ("preview", {"project": "tea", "stage": "judging"}, ("collect",), "read"),
            ("open_stage", opening, ("read", "pay"), "collect"),
            ("results", one, ("collect", "admin"), "read"),
            ("build_release", one, ("read", "admin"), "publish"),
        ):
            with pytest.raises(ProblemError, match=f"lacks the scope '{missing}'"):
                getattr(tools_of(olga, table, *scopes), tool)(**given)
        assert not Project.objects.exists()

    def test_nothing_is_left_of_a_study_that_cannot_be_made_and_files_elsewhere_are_not_read(
        self, table, django_user_model
    ):
        (table / "inside").mkdir()
        olga = make_person(django_user_model)
        tools = tools_of(olga, table / "inside", *ALL_BUT_PAY)
        (table / "inside" / "questions.csv").write_text("question\nwhy is the sky blue\n", encoding="utf-8")
        with pytest.raises(Exception, match="answer"):
            tools.make_study("questions.csv", "Sky")
        assert not Project.objects.exists() and not StudyLink.objects.exists()
        for path in ("../answers.csv", str(table / "answers.csv")):
            with pytest.raises(Exception, match="Files are read below"):
                tools.read_columns(path)

    def test_other_kinds_of_stages_are_shown_and_counted_too(self, tmp_path, django_user_model):
        poll = make_stage()
        set_role(project=poll.project, user=(olga := make_person(django_user_model)), role="manager")
        tools, project = tools_of(olga, tmp_path, "read", "collect"), poll.project.slug
        shown = tools.preview(project, poll.slug)
        assert poll.config["question"] in shown["texts"]
        sums = ("places", "rewards", "fees", "total")
        assert [shown["quote"][name] for name in sums] == [2, "0.20", "0.04", "0.24"]
        assert tools.progress(project)["stages"][0]["answers_missing"] == 2
        [results] = tools.results(project)["stages"]
        assert (results["agreement"], bool(results["reason"])) == (None, True)

    def test_a_release_waits_for_a_person_where_a_text_may_name_somebody(self, table, django_user_model):
        olga, at = self.study(table, django_user_model)
        Candidate.objects.filter(system__name="good").update(text="Ask mara@example.org.")
        tools = tools_of(olga, table, *ALL_BUT_PAY)
        with pytest.raises(Exception, match="without a decision"):
            tools.build_release(at["project"])
        [privacy] = tools.waiting_decisions(at["project"])["waiting"]
        assert (privacy["name"], privacy["count"]) == ("privacy", 2)
        assert privacy["page"].endswith("/desk/projects/tea/releases/new/privacy/")
        assert not Release.objects.exists()


def test_a_command_without_the_package_or_a_token_says_what_helps(db, monkeypatch, tmp_path):
    monkeypatch.delenv("DISTILLERY_TOKEN", raising=False)
    with pytest.raises(CommandError, match="Set DISTILLERY_TOKEN, or name a file"):
        call_command("mcp")
    (tmp_path / "token").write_text("dst_nobodys\n")
    with pytest.raises(CommandError, match="There is no such token, or it has ended"):
        call_command("mcp", token_file=tmp_path / "token")
    monkeypatch.delitem(sys.modules, "distillery.agents.server")
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(CommandError, match=r"pip install '\.\[mcp\]'"):
        call_command("mcp")
