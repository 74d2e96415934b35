"""The pages of batches: from a sample to results, and what they refuse."""

import re
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from marketplace.batches import publication
from marketplace.batches.templates import SAMPLES
from marketplace.models import HIT, Batch, Requester, Template
from marketplace.site import frames
from metrics.figure import counted
from tests.batches import making
from tests.saving import save
from tests.site import world

State = Batch.State


def at(lab: Requester, name: str, *parts: object) -> str:
    return reverse(f"requester:{name}", args=[lab.customer_id, *parts])


def upload(client: Client, lab: Requester, template: Template, table: str | bytes, **fields: str):
    data = table.encode() if isinstance(table, str) else table
    file = SimpleUploadedFile("tasks.csv", data)
    form = {"template": template.pk, "encoding": "auto", "file": file, **fields}
    return client.post(at(lab, "new_batch"), form, follow=True)


def words(answer) -> str:
    text = re.sub(r"<[^>]*>", " ", answer.content.decode())
    return re.sub(r"\s+", " ", unescape(text))


def frame_of(answer) -> str:
    return unescape(re.search(r'<iframe[^>]* src="([^"]*)"', answer.content.decode())[1])


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.slug)
def test_every_sample_can_be_used_looked_at_and_published(lab, as_owner, sample):
    used = as_owner.post(at(lab, "use_sample", sample.slug), follow=True)
    assert "The template is yours now" in words(used)
    template = Template.objects.get()
    table = b"".join(as_owner.get(at(lab, "sample_table", sample.slug)).streaming_content)
    drafted = upload(as_owner, lab, template, table)
    batch = Batch.objects.get()
    assert f"{counted(batch.task_count, 'task')} read. Nothing" in words(drafted)
    assert (batch.hosts, batch.hosts_of_cells) == ([], [])
    for ordinal in range(1, batch.task_count + 1):
        shown = as_owner.get(frame_of(as_owner.get(at(lab, "batch_task", 1, ordinal))))
        assert shown.status_code == 200
        assert "${" not in shown.content.decode()
    total = publication.cost_of(batch).total
    as_owner.post(at(lab, "batch_publish", 1), {"amount": f"{total / 100:.2f}"})
    making.run_jobs()
    assert HIT.objects.filter(batch=batch).count() == batch.task_count


def test_the_total_must_be_typed(lab, as_owner):
    batch = making.draft(lab)
    for amount in ("", "0.2.0", "2.00"):
        answer = as_owner.post(at(lab, "batch_publish", 1), {"amount": amount})
        assert answer.status_code == 422
    assert "The total is $0.20, not $2.00." in words(answer)
    answer = as_owner.post(at(lab, "batch_publish", 1), {"amount": "$0.20"}, follow=True)
    assert "The batch is being published." in words(answer)
    assert "Starting: 0 of 2 tasks" in words(answer)
    making.run_jobs()
    batch.refresh_from_db()
    assert batch.state == State.PUBLISHED
    assert "0 of 2 answered" in words(as_owner.get(at(lab, "batch", 1)))


def test_a_batch_is_cancelled_when_its_number_is_typed_and_its_places_are_open_no_longer(lab, as_owner, rosa):
    batch = making.published(lab)
    world.submit(world.take(rosa, HIT.objects.filter(batch=batch).first()))
    for typed in ({}, {"number": "2"}):
        refused = as_owner.post(at(lab, "batch_cancel", 1), typed)
        assert refused.status_code == 422
        batch.refresh_from_db()
        assert batch.state == State.PUBLISHED
    assert "This is batch 1, not 2." in words(refused)
    assert "1 open" in words(refused)
    said = words(as_owner.post(at(lab, "batch_cancel", 1), {"number": "1"}, follow=True))
    assert "The HITs of the batch are being expired." in said
    making.run_jobs()
    page = words(as_owner.get(at(lab, "batch", 1)))
    assert "1 of 2 answered" in page
    assert "1 not taken" in page
    assert " open" not in page.partition("answered")[2][:60]


def test_a_batch_that_stopped_says_why_and_goes_on_at_a_click(owner, as_owner):
    lab = world.make_requester(dollars=1, owner=owner)
    making.draft(lab, making.rows(3), reward_cents=30)
    as_owner.post(at(lab, "batch_publish", 1), {"amount": "0.90"})
    world.post(world.make_group(lab, reward_cents=50))
    making.run_jobs()
    page = words(as_owner.get(at(lab, "batch", 1)))
    assert "Stopped after 1 of 3 tasks. The account has $0.20, and the rest costs $0.60." in page
    assert "Deposit at least $0.40" in words(as_owner.post(at(lab, "batch_publish", 1), follow=True))


def test_hosts_are_chosen_by_the_requester_and_named_by_the_frame(lab, as_owner):
    making.draft(lab)
    address = frame_of(as_owner.get(at(lab, "batch_task", 1, 1)))
    assert "https://pictures.example.org" not in as_owner.get(address)["Content-Security-Policy"]
    form = {"hosts_named": ["https://pictures.example.org"], "more": "https://cdn.example.org"}
    save(as_owner, at(lab, "batch", 1), form, to=at(lab, "batch_hosts", 1))
    policy = as_owner.get(address)["Content-Security-Policy"]
    assert "https://pictures.example.org https://cdn.example.org" in policy
    assert "default-src 'none'" in policy
    assert "form-action 'none'" in policy
    wrong = as_owner.post(at(lab, "batch_hosts", 1), {"more": "javascript:alert(1)"}, follow=True)
    assert "is no host. Write it as https://cdn.example.org." in words(wrong)
    unknown = as_owner.post(
        at(lab, "batch_hosts", 1), {"hosts_named": ["https://other.example"]}, follow=True
    )
    assert "Select a valid choice" in words(unknown)
    assert Batch.objects.get().hosts == ["https://pictures.example.org", "https://cdn.example.org"]
    Batch.objects.update(state=State.PUBLISHED)
    answer = as_owner.post(at(lab, "batch_hosts", 1), {"more": "https://late.example.org"}, follow=True)
    assert "This batch is no draft any more" in words(answer)
    assert "https://late.example.org" not in Batch.objects.get().hosts


PROPERTIES = {
    "name": "June",
    "title": "Look closely",
    "description": "Say what you see.",
    "keywords": "look",
    "reward": "0.25",
    "places": "3",
    "duration_0": "30",
    "duration_1": "60",
    "lifetime_0": "2",
    "lifetime_1": "86400",
    "auto_approval_0": "0",
    "auto_approval_1": "86400",
    "locations": "us-pa, KR",
    "approval_rate": "95",
    "approved_count": "",
    "adult": "on",
    "guard": "PreviewAndAccept",
}


def test_requirements_are_chosen_in_the_form_and_come_back_into_it(lab, as_owner):
    kind = world.make_qualification(lab, "Botany")
    other = world.make_qualification(world.make_requester("Other Lab"), "Zoology")
    making.draft(lab)
    theirs = PROPERTIES | {"own_1": other.qualification_type_id}
    assert as_owner.post(at(lab, "batch_properties", 1), theirs).status_code == 422
    own = {"own_1": kind.qualification_type_id, "own_1_is": "GreaterThanOrEqualTo", "own_1_value": "80"}
    answer = save(as_owner, at(lab, "batch_properties", 1), PROPERTIES | own, follow=True)
    assert "The properties are stored." in words(answer)
    batch = Batch.objects.get()
    assert [
        (
            each["QualificationTypeId"][-4:],
            each["Comparator"],
            each.get("IntegerValues"),
            each.get("LocaleValues"),
        )
        for each in batch.properties["requirements"]
    ] == [
        ("0071", "In", None, [{"Country": "US", "Subdivision": "PA"}, {"Country": "KR"}]),
        ("00L0", "GreaterThanOrEqualTo", [95], None),
        ("0060", "EqualTo", [1], None),
        (kind.qualification_type_id[-4:], "GreaterThanOrEqualTo", [80], None),
    ]
    assert {each["ActionsGuarded"] for each in batch.properties["requirements"]} == {"PreviewAndAccept"}
    assert batch.properties["duration_s"] == 1800
    page = as_owner.get(at(lab, "batch_properties", 1)).content.decode()
    assert 'value="US-PA, KR"' in page
    assert 'value="95"' in page
    assert 'value="80"' in page


def test_what_is_wrong_with_a_table_or_properties_is_said_in_the_form(lab, as_owner, subtests):
    answer = upload(as_owner, lab, making.template(lab), "question,picture\na,b\n")
    assert answer.status_code == 422
    assert "uses ${image_url} on line 1, but tasks.csv has no column of that name" in words(answer)
    assert not Batch.objects.exists()
    making.draft(lab)
    for change, sentence in [
        (
            {"locations": "Mars"},
            "'MARS' is no country. Write two capital letters (ISO 3166-1), such as 'US' or 'KR'.",
        ),
        ({"reward": "0.105"}, "Write an amount with two decimals, such as 12.50."),
        ({"duration_0": "0"}, "Between 1 minutes and 365 days; this is 0 days."),
        ({"title": "x" * 129}, "at most 128 characters"),
    ]:
        with subtests.test(change=change, sentence=sentence):
            answer = as_owner.post(at(lab, "batch_properties", 1), PROPERTIES | change)
            assert answer.status_code == 422
            assert sentence in words(answer)


def test_templates_are_made_changed_and_thrown_away(lab, as_owner):
    form = PROPERTIES | {"name": "Mine", "html": "<p>${a}</p>\r\n<p>b</p>", "frame_height": "0"}
    made = as_owner.post(at(lab, "new_template"), form, follow=True)
    assert "<code>${<bdi>a</bdi>}</code>" in made.content.decode()
    template = Template.objects.get()
    assert template.html == "<p>${a}</p>\n<p>b</p>"
    again = as_owner.post(at(lab, "new_template"), form)
    assert (again.status_code, "a template of this name already" in words(again)) == (422, True)
    long = as_owner.post(at(lab, "template", template.pk), form | {"html": "x" * 530_000})
    assert "The page has 530,000 bytes; at most 524,288 are taken." in words(long)
    wrong = as_owner.post(at(lab, "template", template.pk), form | {"html": "<p>\n<crowd-cube></crowd-cube>"})
    assert "Line 2: There is no element <crowd-cube> in this marketplace." in words(wrong)
    as_owner.post(at(lab, "template_delete", template.pk))
    assert not Template.objects.exists()


def test_nothing_of_another_requester_is_there(lab, as_owner):
    other = world.make_requester("Other Lab")
    theirs = making.draft(other)
    making.draft(lab)
    assert as_owner.get(at(other, "batch", theirs.number)).status_code == 404
    assert as_owner.get(at(lab, "template", theirs.template_id)).status_code == 404
    answer = upload(as_owner, lab, theirs.template, making.CSV)
    assert answer.status_code == 422
    assert Batch.objects.filter(requester=lab).count() == 1


def test_a_frame_needs_a_signature_of_ours_and_no_log_in(lab, client, monkeypatch):
    task = making.draft(lab).tasks.first()
    address = frames.address_of(task)
    shown = client.get(address)
    assert shown.status_code == 200
    assert not shown.cookies
    assert "sandbox allow-scripts" in shown["Content-Security-Policy"]
    assert "allow-same-origin" not in shown["Content-Security-Policy"]
    assert client.get(address.replace("task.", "task.1")).status_code == 404
    monkeypatch.setattr(frames, "AGE", -1)
    assert client.get(address).status_code == 404


def test_lists_cost_the_same_number_of_queries_however_long_they_are(lab, as_owner):
    def cost(path: str) -> int:
        with CaptureQueriesContext(connection) as seen:
            assert as_owner.get(path).status_code == 200
        return len(seen)

    making.published(lab, making.rows(2))
    addresses = [at(lab, "batches"), at(lab, "batch", 1), at(lab, "templates")]
    before = [cost(each) for each in addresses]
    for _ in range(3):
        making.draft(lab)
    batch = making.published(lab, making.rows(20))
    addresses[1] = at(lab, "batch", batch.number)
    assert [cost(each) for each in addresses] == before


def test_a_reviewed_file_is_decided_and_accounted_for_on_the_page(lab, as_owner, rosa, ben):
    batch = making.published(lab, places=2)
    hit = HIT.objects.filter(batch=batch).first()
    good, bad = world.do(rosa, hit), world.do(ben, hit)
    results = b"".join(as_owner.get(at(lab, "batch_results", 1)).streaming_content).decode()
    assert good.assignment_id in results
    text = f"AssignmentId,Approve,Reject\n{good.assignment_id},x,\n{bad.assignment_id},,Empty.\n"
    text += "3NO,x,\n3AB,,\n"
    form = {
        "file": SimpleUploadedFile("reviewed.csv", text.encode()),
        "encoding": "auto",
        "once": "7f0c6a2e-0000-4000-8000-000000000001",
    }
    answer = as_owner.post(at(lab, "batch_review", 1), form, follow=True)
    assert "Starting" in words(answer)
    making.run_jobs()
    report = words(as_owner.get(answer.redirect_chain[-1][0]))
    assert "Approved 1 Rejected 1 Already decided 0 Unknown 1 Refused 0 Left as they are 1" in report
    assert "No answered assignment of this batch has this id." in report
    assert (
        "Read as: assignment from AssignmentId; decision from Approve, Reject; utf-8; separated by" in report
    )
    assert "4 rows read = 3 used + 0 merged + 0 identical repeats + 1 refused." in report
    file = b"".join(as_owner.get(answer.redirect_chain[-1][0] + "?format=csv").streaming_content).decode()
    assert file.splitlines()[0] == "line,assignment,outcome,why"
    form["file"] = SimpleUploadedFile("reviewed.csv", b"AssignmentId,Approve,Reject\n3A,no,\n")
    wrong = as_owner.post(at(lab, "batch_review", 1), form)
    assert wrong.status_code == 422
    assert "reviewed.csv, line 2, column Approve: it says 'no'." in words(wrong)


def button_of(page) -> dict[str, str]:
    """Fields of the button that approves all that waits, as the page has them."""
    return dict(re.findall(r'name="(seen|once)" value="([^"]+)"', page.content.decode()))


def test_all_that_waits_is_approved_at_one_press_and_what_came_later_waits(lab, as_owner, rosa, ben):
    batch = making.published(lab, places=2)
    first, second = HIT.objects.filter(batch=batch).order_by("pk")
    shown = as_owner.get(at(lab, "batch", 1))
    assert "that wait" not in words(shown)
    with world.in_the_past(minutes=5):
        there = [world.do(rosa, first), world.do(rosa, second)]
    shown = as_owner.get(at(lab, "batch", 1))
    assert "Approve all 2 that wait, pay $0.20" in words(shown)
    late = world.do(ben, first)
    for form in ({}, {"seen": "yesterday", "once": "no"}):
        answer = as_owner.post(at(lab, "batch_approve_waiting", 1), form, follow=True)
        assert "Nothing was approved" in words(answer)
    pressed = [
        as_owner.post(at(lab, "batch_approve_waiting", 1), button_of(shown), follow=True) for _ in range(2)
    ]
    assert pressed[0].redirect_chain == pressed[1].redirect_chain
    making.run_jobs()
    assert "Approved 2 Rejected 0" in words(as_owner.get(pressed[0].redirect_chain[-1][0]))
    again = as_owner.post(at(lab, "batch_approve_waiting", 1), button_of(shown), follow=True)
    assert "Nothing waits for a decision now." in words(again)
    for work in [*there, late]:
        work.refresh_from_db()
    assert [work.state for work in [*there, late]] == ["approved", "approved", "submitted"]
    lab.refresh_from_db()
    assert lab.paid_cents == 20


def test_hostile_names_and_cells_are_text_on_every_page(lab, as_owner):
    evil = "<script>alert(1)</script>"
    making.published(lab, f'question,image_url\n"{evil}",x\n', title=evil)
    Batch.objects.update(name=evil, file_name=evil)
    Template.objects.update(name=evil)
    template = Template.objects.get()
    for address in (
        at(lab, "batches"),
        at(lab, "batch", 1),
        at(lab, "batch_task", 1, 1),
        at(lab, "batch_review", 1),
        at(lab, "templates"),
        at(lab, "template", template.pk),
        at(lab, "template_look", template.pk),
        at(lab, "new_batch"),
    ):
        answer = as_owner.get(address)
        assert answer.status_code == 200
        assert evil not in answer.content.decode()
