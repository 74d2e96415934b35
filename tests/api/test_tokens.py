"""Tokens: made once, shown once, ended at once; by the command and in the browser."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from core.accounts.emails import take_address
from core.accounts.models import PasswordState
from core.api.models import ApiToken
from core.api.tokens import create_token, note_use
from core.jobs import runner
from core.jobs.models import Job, JobState
from tests.api.conftest import is_problem, program_of
from tests.cases import apart


def run(*words: str) -> str:
    out = StringIO()
    call_command("api-token", *words, stdout=out, stderr=StringIO())
    return out.getvalue()


def browser_of(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


class TestTheCommand:
    def test_a_token_is_printed_once_and_works(self, project):
        found = json.loads(run("create", "olga", "--scope", "read,admin", "--days", "3", "--json"))
        assert found["token"].startswith("dst_") and found["scopes"] == ["read", "admin"]
        token = ApiToken.objects.get()
        assert token.digest not in found["token"] and found["token"] not in json.dumps(token.digest)
        assert abs(token.expires_at - timezone.now() - timedelta(days=3)) < timedelta(minutes=1)
        answer = Client().get("/api/v1/projects", headers={"Authorization": f"Bearer {found['token']}"})
        assert answer.json()["items"][0]["slug"] == "tea"

    def test_it_lists_and_revokes(self, project):
        run("create", "olga", "--scope", "read", "--project", "tea", "--name", "nightly")
        (row,) = json.loads(run("list", "--json"))
        assert (row["user"], row["project"], row["name"]) == ("olga", "tea", "nightly") and "token" not in row
        assert "nightly" in run("list", "olga")
        run("revoke", str(row["id"]))
        assert json.loads(run("list", "--json")) == []
        with pytest.raises(CommandError, match="no token"):
            run("revoke", str(row["id"]))

    def test_what_cannot_be_is_said(self, project):
        User.objects.create_user("sam")
        for words, why in (
            (("olga", "--scope", "reed"), "no scope 'reed'"),
            (("olga", "--scope", ""), "at least one scope"),
            (("nobody", "--scope", "read"), "no user named"),
            (("olga", "--scope", "read", "--project", "x"), "no project 'x'"),
            (("sam", "--scope", "read", "--project", "tea"), "no member"),
            (("olga", "--scope", "read", "--days", "0"), "1 to 3650"),
        ):
            with pytest.raises(CommandError, match=why):
                run("create", *words)
        assert not ApiToken.objects.exists()


class TestTheBrowser:
    def test_a_person_makes_a_token_that_is_shown_once(self, owner, project):
        browser = browser_of(owner)
        page = browser.post("/desk/settings/tokens/", {"name": "", "scopes": ["everything"]})
        assert page.status_code == 422 and not ApiToken.objects.exists()
        assert "There are none." in browser.get("/desk/settings/").content.decode()
        form = {"name": "Nightly", "scopes": ["read"], "project": "tea", "days": "30"}
        page = browser.post("/desk/settings/tokens/", form)
        text = page.context["page"].parts[0].secret
        assert page.status_code == 200 and text in page.content.decode()
        assert page["Cache-Control"] == "no-store"
        settings = browser.get("/desk/settings/").content.decode()
        assert text not in settings and text[:12] in settings and "Nightly" in settings

    def test_its_person_ends_it_at_once_and_nobody_elses(self, owner, project):
        program, other = program_of(owner), User.objects.get(username="manager")
        token = ApiToken.objects.get()
        browser_of(other).post(f"/desk/settings/tokens/{token.pk}/end/")
        assert program.get("/projects").status_code == 200
        browser_of(owner).post(f"/desk/settings/tokens/{token.pk}/end/")
        is_problem(program.get("/projects"), 401, "token_invalid")

    def test_members_see_which_tokens_open_their_project_and_owners_end_those_of_it_alone(
        self, owner, project
    ):
        manager = User.objects.get(username="manager")
        bound, _ = create_token(user=manager, scopes=["read"], name="Bound", project=project)
        free, _ = create_token(user=manager, scopes=["read"], name="Everywhere")
        seen = browser_of(User.objects.get(username="viewer")).get("/desk/projects/tea/settings/")
        assert "Bound" in seen.content.decode() and "Everywhere" in seen.content.decode()
        assert f"tokens/{bound.pk}/end" not in seen.content.decode()
        mine = browser_of(owner).get("/desk/projects/tea/settings/").content.decode()
        assert f"tokens/{bound.pk}/end" in mine and f"tokens/{free.pk}/end" not in mine
        browser_of(owner).post(f"/desk/projects/tea/tokens/{bound.pk}/end/")
        assert ApiToken.objects.get(pk=bound.pk).revoked_at is not None
        assert browser_of(owner).post(f"/desk/projects/tea/tokens/{free.pk}/end/").status_code == 404

    @pytest.mark.long
    def test_the_reference_has_every_operation(self, client, db):
        page = client.get("/api/").content.decode()
        assert (
            "/api/v1/projects/{project}/stages/{stage}/open" in page
            and "<script" not in page.split("<main")[1]
        )


def test_tokens_end_with_the_sessions_of_their_person(owner, project, subtests):
    new, password = "plum tree harbour", "seven green kettles"
    fields = {"old_password": password, "new_password1": new, "new_password2": new}

    def sign_out():
        browser_of(owner).post("/accounts/sign-out-everywhere/", {"password": password})

    def sign_out_without_password():
        owner.set_unusable_password()
        owner.save()
        browser_of(owner).post("/accounts/sign-out-everywhere/")

    def set_by_an_administrator():
        root = browser_of(User.objects.create_superuser("root"))
        sent = {"password1": new, "password2": new, "usable_password": "true"}
        assert root.post(f"/admin/auth/user/{owner.pk}/password/", sent).status_code == 302

    ways = {
        "signed out everywhere": sign_out,
        "without a password": sign_out_without_password,
        "another password": lambda: browser_of(owner).post("/accounts/password/", fields),
        "an administrator": set_by_an_administrator,
    }
    owner.set_password(password)
    owner.save()
    for name, end in ways.items():
        with apart(subtests, way=name):
            owner.refresh_from_db()
            program = program_of(owner)
            assert program.get("/projects").status_code == 200
            end()
            is_problem(program.get("/projects"), 401, "token_invalid")
    with apart(subtests, way="a printed password that is replaced is no reason"):
        owner.refresh_from_db()
        PasswordState.objects.create(user=owner)
        program = program_of(owner)
        browser_of(owner).post("/accounts/password/", fields)
        assert program.get("/projects").status_code == 200


def test_a_letter_tells_of_a_new_token_which_lives_for_ninety_days(owner, project, settings):
    settings.NOTICES_BY_EMAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    take_address(owner, "olga@example.org")
    run("create", "olga", "--scope", "read,pay")
    browser_of(owner).post("/desk/settings/tokens/", {"name": "export", "scopes": ["read"]})
    for job in Job.objects.filter(state=JobState.QUEUED).order_by("pk"):
        runner.run(job_id=job.pk)
    by_command, by_page = mail.outbox
    assert by_command.to == by_page.to == ["olga@example.org"]
    assert "for read, pay, for 90 days" in by_command.body and "export" in by_page.body
    assert {(row.expires_at - row.created_at).days for row in ApiToken.objects.all()} == {90}


def test_the_last_use_is_noted_once_a_minute(owner, project):
    program = program_of(owner)
    program.get("/projects")
    first = ApiToken.objects.get()
    assert first.last_used_from == "127.0.0.1" and first.last_used_at is not None
    program.get("/projects")
    assert ApiToken.objects.get().last_used_at == first.last_used_at
    note_use(first, address="192.0.2.7")
    assert ApiToken.objects.get().last_used_from == "192.0.2.7"


def test_who_leaves_a_project_takes_their_tokens_along(owner, project):
    manager = User.objects.get(username="manager")
    bound = program_of(manager, project=project)
    assert bound.get("/projects/tea").status_code == 200
    project.memberships.filter(user=manager).delete()
    is_problem(bound.get("/projects/tea"), 404, "not_found")
    assert bound.get("/projects").json()["items"] == []
