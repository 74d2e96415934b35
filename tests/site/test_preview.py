"""Looking at a HIT before accepting it."""

from urllib.parse import parse_qs, urlsplit

from marketplace.forms import html
from marketplace.forms.formanswers import media_sources
from marketplace.models import QualificationGrant
from tests.site import world


def test_the_preview_frames_the_task_page_without_an_assignment(lab, visitor):
    group = world.make_group(lab, "Judge an answer")
    hit = world.post(group, frame_height=450)
    page = visitor.get(f"/projects/{group.group_id}/tasks")
    address = urlsplit(page.context["frame_url"])
    assert address.netloc == "tasks.example.org"
    assert parse_qs(address.query) == {
        "id": ["7"],
        "assignmentId": ["ASSIGNMENT_ID_NOT_AVAILABLE"],
        "hitId": [hit.hit_id],
    }
    text = page.content.decode()
    assert 'height="450"' in text
    assert "Sign in to accept" in text


def test_nothing_can_be_sent_from_a_preview(lab, as_rosa):
    group = world.make_group(lab)
    world.post(group)
    text = as_rosa.get(f"/projects/{group.group_id}/tasks").content.decode()
    assert (
        'sandbox="allow-scripts allow-modals allow-same-origin allow-popups allow-popups-to-escape-sandbox"'
        in text
    )


def test_a_preview_may_frame_https_pages_and_other_pages_may_not(lab, visitor):
    group = world.make_group(lab)
    world.post(group)
    policy = visitor.get(f"/projects/{group.group_id}/tasks").headers["Content-Security-Policy"]
    assert "frame-src 'self' https:" in policy
    assert "script-src 'self'" in policy
    assert "frame-src" not in visitor.get("/").headers["Content-Security-Policy"]


def test_only_an_installation_of_one_machine_lets_pages_look_at_that_machine(lab, visitor, settings):
    group = world.make_group(lab)
    world.post(group)
    preview, local = f"/projects/{group.group_id}/tasks", "http://127.0.0.1:* http://localhost:*"
    assert local not in visitor.get(preview).headers["Content-Security-Policy"]
    assert local not in html.task_headers(None)["Content-Security-Policy"]
    assert "http:" not in str(media_sources())
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
    assert local in visitor.get(preview, HTTP_HOST="localhost").headers["Content-Security-Policy"]
    assert local in html.task_headers(None)["Content-Security-Policy"]
    assert "http://localhost:*" in media_sources()["img-src"]


def test_the_addresses_that_scripts_print_lead_to_the_preview(lab, visitor):
    group = world.make_group(lab)
    world.post(group)
    to = f"/projects/{group.group_id}/tasks"
    assert visitor.get(f"/mturk/preview?groupId={group.group_id}").headers["Location"] == to
    assert visitor.get(f"/projects/{group.type_id}/tasks").status_code == 200


def test_groups_that_do_not_exist_are_not_found(db, visitor):
    assert visitor.get("/projects/3NOSUCHGROUP/tasks").status_code == 404
    assert visitor.get("/projects/%00/tasks").status_code == 404
    assert visitor.get("/mturk/preview?groupId=%00").status_code == 404
    assert visitor.get("/mturk/preview?groupId=3NOSUCHGROUP", follow=True).status_code == 404


def test_the_next_hit_that_the_worker_has_not_done_is_shown(lab, rosa, as_rosa):
    group = world.make_group(lab)
    first, second = world.post(group, places=2), world.post(group, places=2)
    world.do(rosa, first)
    assert as_rosa.get(f"/projects/{group.group_id}/tasks").context["hit"] == second


def test_a_group_without_work_says_so(lab, rosa, as_rosa):
    group = world.make_group(lab)
    world.do(rosa, world.post(group, places=2))
    text = as_rosa.get(f"/projects/{group.group_id}/tasks").content.decode()
    assert "No HIT of this group is left for you" in text
    assert "<iframe" not in text


def test_who_may_not_preview_sees_no_task_page(lab, as_rosa):
    kind = world.make_qualification(lab, "Guidelines read")
    group = world.make_group(lab, requirements=[world.needs(kind, guards="PreviewAndAccept")])
    world.post(group)
    text = as_rosa.get(f"/projects/{group.group_id}/tasks").content.decode()
    assert "<iframe" not in text
    assert "You need the qualification “Guidelines read”." in text


def test_a_qualification_that_everybody_gets_is_one_button_away(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Guidelines read", on_request=True)
    group = world.make_group(lab, requirements=[world.needs(kind)])
    world.post(group)
    button = f"/projects/{group.group_id}/qualifications/{kind.qualification_type_id}"
    assert button in as_rosa.get(f"/projects/{group.group_id}/tasks").content.decode()
    page = as_rosa.post(button, follow=True).content.decode()
    assert "The qualification is yours." in page
    assert ">Accept<" in page
    assert QualificationGrant.objects.get(worker=rosa).value == 1


def test_other_qualifications_are_not_had_this_way(lab, rosa, as_rosa):
    asked = world.make_qualification(lab, "Asked for")
    other = world.make_qualification(lab, "Other", on_request=True)
    group = world.make_group(lab, requirements=[world.needs(asked)])
    base = f"/projects/{group.group_id}/qualifications"
    assert as_rosa.post(f"{base}/{other.qualification_type_id}").status_code == 404
    page = as_rosa.post(f"{base}/{asked.qualification_type_id}", follow=True)
    assert "Your request was sent; the requester decides." in page.content.decode()
    assert not QualificationGrant.objects.filter(worker=rosa).exists()
