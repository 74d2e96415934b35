"""Which role may do what, address by address: what changes something, and the forms that lead there."""

import contextlib
from functools import cache
from itertools import combinations

import pytest
from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse

from marketplace import members
from marketplace.members import ALLOWED, Action
from marketplace.models import RequesterMember
from tests.access import world as access_world
from tests.access.addresses import draw_no_refusals
from tests.site import world
from tests.site.conftest import signed_in

MANAGE, REVIEW, PAY, VIEW = Action.MANAGE, Action.REVIEW, Action.PAY, Action.VIEW
#: Addresses that are posted to, by what one of which a person must be allowed.
ACTS = {
    (MANAGE,): """
        new_batch batch_properties batch_hosts batch_publish batch_cancel batch_delete
        batch_schedule batch_copy batch_rows batch_extend batch_extension_continue new_template
        template template_copy template_delete template_preview use_sample new_qualification message
        hit_more_time hit_more_places hit_expire hit_delete worker_grant block
        new_study_link edit_study_link study_consent study_link_list close_study_link reopen_study_link
        study_link_quota study_link_mail topic_resend
    """,
    (REVIEW,): """
        batch_review batch_approve_waiting approve reject approve_chosen reject_chosen approve_hit
        approve_worker
    """,
    (REVIEW, PAY): "bonus",
    (MANAGE, REVIEW): "batch_mail",
    (PAY, MANAGE): "bonus_files worker_file_confirm worker_file_withdraw worker_file_continue",
    (PAY,): "deposit make_payable book_results new_invoice",
    (Action.KEYS,): "new_key see_key_alerts",
    (Action.MEMBERS,): "set_member",
}
#: Pages to look at, by the same.
LOOKS = {
    (VIEW,): """
        overview batches batch batch_live batch_task batch_results templates template template_look
        hits hit review review_table review_hit review_worker work workers worker qualifications
        letters money payables invoices members activity bonus_files worker_file worker_file_live
        study_links study_link study_link_live former_id_conflicts
    """,
    (MANAGE,): """
        new_batch batch_properties batch_rows batch_extend batch_schedule new_template new_qualification
        new_study_link edit_study_link study_consent study_link_visits study_link_list study_link_list_csv
        topics
    """,
    (REVIEW,): "batch_review",
    (PAY,): "deposit",
    (Action.KEYS,): "keys",
}


@pytest.fixture
def addresses(lab, rosa):
    """Every address with parts that lead to something of the lab."""
    work = world.do(rosa, world.post(world.make_group(lab)))
    parts = access_world.batches(lab)
    of_hit, of_worker = {"hit_id": work.hit.hit_id}, {"worker_id": rosa.worker_id}
    for name in [
        "hit",
        "hit_more_time",
        "hit_more_places",
        "hit_expire",
        "hit_delete",
        "approve_hit",
        "review_hit",
    ]:
        parts[f"requester:{name}"] = of_hit
    for name in ["worker", "worker_grant", "block", "approve_worker", "review_worker"]:
        parts[f"requester:{name}"] = of_worker
    for name in ["approve", "reject", "bonus", "work"]:
        parts[f"requester:{name}"] = {"pk": work.pk}

    @cache  # refused guesses take longer than some pages
    def find(name: str) -> str:
        given = parts.get(f"requester:{name}", {})
        for count in range(len(given) + 1):
            for keys in combinations(given, count):
                chosen = {"requester": lab.customer_id, **{key: given[key] for key in keys}}
                with contextlib.suppress(NoReverseMatch):
                    return reverse(f"requester:{name}", kwargs=chosen)
        raise LookupError(name)

    return find


def test_each_role_does_and_sees_what_it_is_for_and_nothing_else(lab, addresses, monkeypatch):
    """Where they may act, empty forms are refused in words or done, but never as if nothing were there."""
    draw_no_refusals(monkeypatch)
    browsers = {}
    for role in RequesterMember.Role.values:
        user = User.objects.create_user(f"{role}-ada", password="still warm copper")
        members.set_role(requester=lab, user=user, role=role)
        browser = browsers[role] = signed_in(user)
        for table, send in ((LOOKS, browser.get), (ACTS, browser.post)):
            for needed, names in table.items():
                may = not ALLOWED[role].isdisjoint(needed)
                if may and send == browser.post:
                    continue
                for name in names.split():
                    status = send(addresses(name)).status_code
                    assert status == (200 if may else 404), f"{role}: {send.__name__} {name} is {status}"
    for role, browser in browsers.items():
        for needed, names in ACTS.items():
            for name in names.split() if not ALLOWED[role].isdisjoint(needed) else ():
                if name.endswith(("delete", "withdraw")) or name == "batch_cancel":
                    continue
                status = browser.post(addresses(name)).status_code
                assert status in {200, 302, 422}, f"{role}: {name} is {status}"


def test_what_a_viewer_sees_has_no_buttons_that_change_anything(lab, addresses):
    user = User.objects.create_user("vera", password="still warm copper")
    members.set_role(requester=lab, user=user, role="viewer")
    browser = signed_in(user)
    for name in (
        *("batch", "template", "hit", "work", "review_hit", "review_table", "worker", "qualifications"),
        *("bonus_files", "worker_file", "study_links", "study_link"),
    ):
        page = browser.get(addresses(name)).content.decode()
        forms = [
            each.split(">")[0] for each in page.split("<form")[1:] if 'method="post"' in each.split(">")[0]
        ]
        left = [
            each
            for each in forms
            if "logout" not in each and "sign-out" not in each and "preview" not in each
        ]
        assert [each for each in left if 'action="/requester/' in each or "action=" not in each] == [], name
