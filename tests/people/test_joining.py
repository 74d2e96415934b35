"""From the link to the completion code, and everything that can go wrong on the way."""

import re
import time
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from core.notices.models import Notice
from crowd.models import Assignment, Claim, MarketOperation
from crowd.services import stages
from crowd.services.deals import NoWorkError, deal
from crowd.services.tick import tick
from people import consents, views
from people.models import ConsentText, Guest, Outcome, StudyLink, Visit
from people.owners import project_owner
from people.tokens import new_token, sign_query, sign_visit, token_of
from people.visits import link_by_token, return_address
from tests.crowd.world import make_stage

pytestmark = pytest.mark.django_db
RETURNS = {
    "completed": {
        "code": "C0MPLETE",
        "address": "https://panel.example.org/complete?cc={code}&w={worker_id}",
    },
    "no_consent": {"code": "N0CONSENT", "address": ""},
    "nothing_left": {"code": "N0THING", "address": ""},
}


def field(page, name: str) -> str:
    """A hidden field of a page."""
    return re.search(rf'name="{name}" value="([^"]*)"', page.content.decode())[1]


def come(client: Client, path: str, query: str = ""):
    """Open the link."""
    return client.get(path + query)


def agree(client: Client, path: str, page, **fields):
    """Press the button; the answer is the first task, or what a page says in its place."""
    form = {"v": field(page, "v"), "text": field(page, "text"), "agree": "yes", **fields}
    answer = client.post(f"{path}agree/", form)
    return client.get(answer["Location"]) if answer.status_code == 303 else answer


def answer_task(client: Client, address: str):
    """Do the task at this address; the answer after the way back to the link."""
    page = client.get(address)
    assert page.status_code == 200, page.content
    sent = client.post(address, {"ticket": field(page, "ticket"), "0|choice": "yes"})
    assert sent.status_code == 302, sent.content
    return client.get(sent["Location"])


def do_everything(client: Client, path: str, query: str = ""):
    """From the link to the page at the end."""
    answer = agree(client, path, come(client, path, query))
    while "/task/" in answer["Location"]:
        answer = answer_task(client, answer["Location"])
    return client.get(answer["Location"])


def test_a_task_says_how_far_one_is_and_how_to_stop_or_leave(new_link, path_of, client):
    link = new_link(most_tasks=2)
    path = path_of(link)
    answer = agree(client, path, come(client, path))
    task = client.get(answer["Location"]).content.decode()
    assert "0 of 2 tasks done" in task
    ways = dict(
        re.findall(r'<a href="([^"]+)">(Your work here|Stop for now|Withdraw)</a>', task)[at][::-1]
        for at in range(3)
    )
    assert client.get(ways["Your work here"]).status_code == 200
    assert 'id="withdraw"' in client.get(ways["Withdraw"]).content.decode()
    stopped = client.get(ways["Stop for now"]).content.decode()
    assert "What you filled in is saved" in stopped
    on = re.search(r'class="button" href="([^"]+)"', stopped)[1].replace("&amp;", "&")
    assert client.get(on)["Location"].partition("?")[0] == answer["Location"].partition("?")[0]
    assert (
        "1 of 2 tasks done"
        in client.get(answer_task(client, answer["Location"])["Location"]).content.decode()
    )
    # Another browser that only has the task's address stops, and sees no private page.
    other = Client()
    assert other.get(ways["Stop for now"]).status_code == 200


def test_from_the_link_to_the_code_in_two_clicks(new_link, path_of, client):
    link = new_link(returns=RETURNS, id_parameters=["PROLIFIC_PID"], kept_parameters=["STUDY_ID"])
    end = do_everything(client, path_of(link), "?PROLIFIC_PID=a&STUDY_ID=s1&junk=1")
    assert "C0MPLETE" in end.content.decode()
    assert "https://panel.example.org/complete?cc=C0MPLETE&amp;w=a" in end.content.decode()
    visit = Visit.objects.get()
    assert (visit.outcome, visit.code, visit.parameters) == (
        "completed", "C0MPLETE", {"STUDY_ID": "s1", "PROLIFIC_PID": "a"},
    )  # fmt: skip
    assert visit.consent_text.version == 1
    assert Assignment.objects.filter(worker__external_id=visit.guest.worker_id).count() == 2


def test_forms_may_lead_to_task_pages_under_whatever_name_the_link_was_opened(new_link, path_of, settings):
    """Browsers hold a form's redirects to the policy, and task pages have one address."""
    settings.TASK_URL = "http://tasks.example.org:8000"
    policy = Client().get(path_of(new_link()))["Content-Security-Policy"]
    [allowed] = [each for each in policy.split("; ") if each.startswith("form-action")]
    assert {"'self'", "http://tasks.example.org:8000"} <= set(allowed.split())


def test_it_works_without_cookies_and_sends_no_large_files(new_link, path_of):
    path = path_of(new_link(returns=RETURNS))
    page = come(Client(), path)
    task = agree(Client(), path, page)
    while "/task/" in task["Location"]:
        task = answer_task(Client(), task["Location"])
    assert "C0MPLETE" in Client().get(task["Location"]).content.decode()
    assert Guest.objects.count() == 1
    files = re.findall(r'(?:href|src)="/static/([^"]+)"', page.content.decode())
    sizes = [len((Path(settings.STATICFILES_DIRS[0]) / name).read_bytes()) for name in files]
    # At 400 kbit/s everything is there in less than two seconds, not even compressed.
    assert len(page.content) + sum(sizes) < 60_000


def test_who_comes_back_gets_the_same_task(new_link, path_of, client):
    """By the cookie, by the id, by the private link and by the code; one guest, one open HIT."""
    link = new_link(id_parameters=["PROLIFIC_PID"])
    path = path_of(link)
    first = agree(client, path, come(client, path, "?PROLIFIC_PID=a"))["Location"]
    guest = Guest.objects.get()

    def task_of(answer) -> str:
        return answer["Location"].partition("?")[0]

    assert task_of(client.get(client.get(path)["Location"])) == task_of({"Location": first})
    other = Client()
    by_id = other.get(come(other, path, "?PROLIFIC_PID=a")["Location"])
    assert task_of(by_id) == task_of({"Location": first})
    own = client.get(f"{path}work/").content.decode()
    private = re.search(r'id="private"[^>]*>([^<]+)<', own)[1]
    assert task_of(Client().get(Client().get(private)["Location"])) == task_of({"Location": first})
    code = re.search(r"<code>([A-Z2-9]{5}-[A-Z2-9]{5})</code>", own)[1]
    by_code = Client().post(f"{path}code/", {"code": code.lower()})
    assert task_of(Client().get(by_code["Location"])) == task_of({"Location": first})
    assert list(Guest.objects.all()) == [guest]
    assert Assignment.objects.count() == 1


def test_somebody_elses_id_opens_neither_their_page_nor_their_rights(new_link, path_of, client):
    """Who only knows an id of an unsigned link can work, and see, withdraw and take over nothing."""
    link = new_link(id_parameters=["PROLIFIC_PID"])
    path = path_of(link)
    agree(client, path, come(client, path, "?PROLIFIC_PID=a"))
    thief = Client()
    state = come(thief, path, "?PROLIFIC_PID=a")["Location"].partition("v=")[2]
    assert thief.get(f"{path}work/?v={state}").status_code == 403
    assert thief.post(f"{path}withdraw/", {"v": state}).status_code in (400, 403)
    made = thief.post(f"{path}account/", {"v": state, "username": "thief", "password": "plum tree harbour"})
    assert made.status_code in (400, 403)
    guest = Guest.objects.get()
    assert (guest.user, guest.withdrawn_at) == (None, None)


def test_agreeing_again_makes_nobody_the_person_who_agreed(new_link, path_of, client, subtests):
    """A stranger has the id, a page from before or after the person agreed, and posts the form once more."""
    path, query = path_of(new_link(id_parameters=["PROLIFIC_PID"])), "?PROLIFIC_PID=a"
    early = Client()
    page = come(early, path, query)
    form = {"text": field(page, "text"), "agree": "yes"}
    before = field(page, "v")
    agree(client, path, come(client, path, query))
    after = unquote(come(Client(), path, query)["Location"].partition("v=")[2])
    for thief, state in ((early, before), (Client(), before), (Client(), after)):
        for sent in (form, form | {"agree": "no"}):
            with subtests.test(sent=sent["agree"]):
                answer = thief.post(f"{path}agree/", {"v": state, **sent})
                assert answer.status_code == 303 and ("visit" in answer.cookies) == (sent["agree"] == "no")
                got = unquote(answer["Location"].partition("v=")[2])
                assert thief.get(f"{path}work/?v={got}").status_code == 403
                assert thief.post(f"{path}withdraw/", {"v": got}).status_code == 403
    again = client.post(f"{path}agree/", {"v": after, **form})  # a second click of the person
    assert client.get(f"{path}work/?v={again['Location'].partition('v=')[2]}").status_code == 200
    assert Guest.objects.get().withdrawn_at is None


def test_not_agreeing_keeps_nobody_and_has_its_own_code(new_link, path_of, client):
    path = path_of(new_link(returns=RETURNS))
    page = come(client, path)
    answer = client.post(f"{path}agree/", {"v": field(page, "v"), "agree": "no"})
    assert "N0CONSENT" in client.get(answer["Location"]).content.decode()
    assert (Visit.objects.get().outcome, Guest.objects.count()) == ("no_consent", 0)
    again = agree(client, path, come(client, path))
    assert "/task/" in again["Location"]


def test_closed_over_full_and_wrong_each_say_so(new_link, path_of):
    assert come(Client(), "/join/none/").status_code == 404
    for change, status, words in (
        ({"closed_at": timezone.now()}, 410, "has ended"),
        ({"closed_at": None, "expires_at": timezone.now() - timedelta(days=1)}, 410, "that day is over"),
        ({"expires_at": None, "quota": 0}, 403, "places of this study are taken"),
    ):
        link = StudyLink.objects.first() or new_link()
        StudyLink.objects.filter(pk=link.pk).update(**change)
        answer = come(Client(), path_of(link))
        assert (answer.status_code, words in answer.content.decode()) == (status, True)
    assert Visit.objects.count() == 0


def test_the_last_place_is_given_once_and_its_person_goes_on(new_link, path_of, client):
    path = path_of(new_link(quota=1, id_parameters=["p"]))
    late, page = Client(), come(client, path, "?p=1")
    waiting = come(late, path, "?p=2")
    assert "/task/" in agree(client, path, page)["Location"]
    assert agree(late, path, waiting).status_code == 403
    assert come(Client(), path, "?p=1").status_code == 303


def test_who_joined_goes_on_from_another_device_and_who_comes_too_late_has_an_ending(
    new_link, path_of, client
):
    """Also who read the text while the last place was taken: a panel's people need the code to be paid."""
    ways = {"code": "N0THING", "address": "https://panel.example.org/?w={worker_id}&c={code}"}
    link = new_link(quota=1, id_parameters=["pid"], returns={"nothing_left": ways})
    path, late = path_of(link), Client()
    waiting = come(late, path, "?pid=late")
    agree(client, path, come(client, path, "?pid=a"))
    own = client.get(f"{path}work/").content.decode()
    code = re.search(r"<code>([A-Z2-9]{5}-[A-Z2-9]{5})</code>", own)[1]
    for status in (403, 410):
        for page, pid in ((agree(late, path, waiting), "late"), (come(Client(), path, "?pid=b"), "b")):
            assert page.status_code == status
            text = page.content.decode()
            assert "N0THING" in text and f"?w={pid}&amp;c=N0THING" in text
            assert "I began on another device" in text
        by_code = Client().post(f"{path}code/", {"code": code})
        assert "/task/" in Client().get(by_code["Location"])["Location"]
        StudyLink.objects.filter(pk=link.pk).update(closed_at=timezone.now())
    assert Guest.objects.count() == 1


def test_guessing_tokens_is_slowed_and_others_are_not(new_link, path_of, monkeypatch):
    monkeypatch.setattr(views, "TOKENS_BURST", 5)
    path = path_of(new_link())
    statuses = [Client().get(f"/join/{new_token()}/").status_code for _ in range(8)]
    assert set(statuses) == {404, 429}
    assert Client().get(path).status_code == 200, "a class shares one network, and half of it mistypes"


def test_a_code_word_is_asked_for(new_link, path_of, client):
    path = path_of(new_link(code_word="Blue Whale"))
    page = come(client, path)
    wrong = agree(client, path, page, code_word="green")
    assert (wrong.status_code, "not the code word" in wrong.content.decode()) == (422, True)
    assert Guest.objects.count() == 0
    assert "/task/" in agree(client, path, page, code_word=" blue  whale ")["Location"]


def test_forged_addresses_are_refused_where_a_panel_signs(new_link, path_of, client):
    secret = "a secret of the panel"
    path = path_of(new_link(id_parameters=["pid"], secret=secret))
    until = str(int(time.time()) + 600)
    pairs = [("pid", "a b"), ("exp", until)]
    good = f"?pid=a+b&exp={until}&sig={sign_query(secret, pairs)}"
    assert come(client, path, good.replace("a+b", "c")).status_code == 403
    assert come(client, path, f"?pid=a+b&exp={until}").status_code == 403
    old = [("pid", "a"), ("exp", "1000")]
    assert come(client, path, f"?pid=a&exp=1000&sig={sign_query(secret, old)}").status_code == 403
    assert Visit.objects.count() == 0
    assert "/task/" in agree(client, path, come(client, path, good))["Location"]
    assert Visit.objects.get().proven


def test_a_link_that_needs_an_id_refuses_others_and_placeholders(new_link, path_of, client):
    path = path_of(new_link(id_parameters=["pid"], id_required=True))
    for query in ("", "?pid=", "?pid={{%25PROLIFIC_PID%25}}", f"?pid={'x' * 200}"):
        assert come(client, path, query).status_code == 400, query
    assert come(client, path, "?pid=ok").status_code == 200


def test_many_identities_from_one_address_are_told_of_and_limited_only_where_asked(new_link, path_of, stage):
    link = new_link(id_parameters=["pid"], most_per_address=6)
    path = path_of(link)
    got = []
    for number in range(8):
        client = Client()
        got.append(agree(client, path, come(client, path, f"?pid={number}")).status_code)
    assert got == [302] * 6 + [403] * 2
    assert Notice.objects.filter(project=stage.project, kind="shared_address").count() == 1
    assert Assignment.objects.exclude(state=Assignment.State.WORKING).count() == 0


def test_who_finds_no_place_hears_that_nothing_is_left(new_link, path_of):
    path = path_of(new_link(returns=RETURNS))
    for _ in range(6):
        agree(client := Client(), path, come(client, path))
    end = do_everything(Client(), path)
    assert "N0THING" in end.content.decode()
    assert Claim.objects.count() == 6


def test_a_limit_of_tasks_per_person(new_link, path_of, client):
    path = path_of(new_link(most_tasks=1, returns=RETURNS))
    end = do_everything(client, path).content.decode()
    assert "C0MPLETE" in end
    assert "There may be more later" not in end
    assert Assignment.objects.count() == 1
    assert "There may be more later" in do_everything(Client(), path_of(new_link())).content.decode()


def test_consent_is_asked_again_only_for_a_new_version(new_link, path_of, stage):
    first, second = (new_link(id_parameters=["pid"]) for _ in range(2))
    agree(client := Client(), path_of(first), come(client, path_of(first), "?pid=a"))
    assert come(Client(), path_of(second), "?pid=a").status_code == 303
    values = consents.first_values() | {"body": "Other words"}
    consents.save_text(owner=project_owner(stage.project), values=values, actor=None)
    third = new_link(id_parameters=["pid"])
    assert come(Client(), path_of(third), "?pid=a").status_code == 200
    assert list(ConsentText.objects.order_by("pk").values_list("version", flat=True)) == [1, 2]


def test_the_person_withdraws(new_link, path_of, client, stage):
    link = new_link(returns=RETURNS)
    path = path_of(link)
    do_everything(client, path)
    state = sign_visit(Visit.objects.get(), trusted=True)
    gone = client.post(f"{path}withdraw/", {"v": state})
    assert "You withdrew" in client.get(gone["Location"]).content.decode()
    assert Guest.objects.get().withdrawn_at is not None
    assert Notice.objects.filter(project=stage.project, kind="withdrawal").count() == 1
    client.post(f"{path}withdraw/", {"v": state})
    assert Notice.objects.count() == 1


def test_a_guest_becomes_an_account(new_link, path_of, client):
    link = new_link()
    path = path_of(link)
    agree(client, path, come(client, path))
    state = sign_visit(Visit.objects.get(), trusted=True)
    form = {"v": state, "username": "ada", "password": "short"}
    assert client.post(f"{path}account/", form).status_code == 422
    made = client.post(f"{path}account/", form | {"password": "plum tree harbour"})
    assert made.status_code == 302
    assert Guest.objects.get().user.username == "ada"
    other = Client()
    other.force_login(Guest.objects.get().user, backend="django.contrib.auth.backends.ModelBackend")
    assert link.title in other.get("/desk/my-studies/").content.decode()


def test_return_addresses_take_hostile_ids_as_text(new_link):
    link = new_link(
        returns={"completed": {"code": "A&B", "address": "https://p.example.org/?c={code}&w={worker_id}"}}
    )
    visit = Visit(link=link, external_id="{code}\r\nx=1&y", outcome=Outcome.COMPLETED, code="A&B")
    assert return_address(visit) == "https://p.example.org/?c=A%26B&w=%7Bcode%7D%0D%0Ax%3D1%26y"


def test_consent_texts_load_and_run_nothing():
    html = consents.render_text(
        "# Hi\n<script>alert(1)</script> ![x](https://evil.example.org/p.png) [go](javascript:alert(1)) **b**"
    )
    assert "<script" not in html
    assert "<img" not in html
    assert "javascript:alert(1)" in html  # as it was typed, no link
    assert 'href="javascript' not in html
    assert "<strong>b</strong>" in html


def test_the_token_is_found_again_and_is_not_stored_in_the_open(new_link):
    link = new_link()
    token = token_of(link)
    assert link_by_token(token) == link
    assert token not in f"{link.token_sealed}{link.token_digest}"


def test_joining_grants_a_group_that_other_stages_ask_for(stage, new_link, path_of, client):
    """A stage for members alone and one that keeps them out; who joined twice is granted once."""
    members = make_stage(
        stage.endpoint,
        stage.project,
        eligibility=[{"kind": "group", "op": "Exists", "values": ["course-a"], "hide": "accept"}],
    )
    outsiders = make_stage(
        stage.endpoint,
        stage.project,
        eligibility=[{"kind": "group", "op": "DoesNotExist", "values": ["course-a"], "hide": "accept"}],
    )
    for made in (members, outsiders):
        stages.open_stage(stage=made)
    tick()
    path = path_of(new_link(granted="course-a", id_parameters=["id"]))
    agree(Client(), path, come(Client(), path, "?id=a&session=1"))
    assert come(Client(), path, "?id=a&session=2").status_code == 303
    guest, other = Guest.objects.get(), "GNOBODY"
    assert MarketOperation.objects.filter(kind="grant").count() == 1
    assert deal(members, worker_id=guest.worker_id, submit_to="/").assignment_pk
    for refused, worker in ((members, other), (outsiders, guest.worker_id)):
        with pytest.raises(NoWorkError):
            deal(refused, worker_id=worker, submit_to="/")
    assert deal(outsiders, worker_id=other, submit_to="/").assignment_pk
