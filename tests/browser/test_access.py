"""Every page for everybody: axe, reflow and sizes, on three widths, in light and in dark."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.looking import check
from tests.browser.people import sign_in

pytestmark = pytest.mark.browser


def test_pages_of_visitors(lab, server, context_of, subtests):
    lab.post(Title="A title that is quite long and goes on for a while, as titles do " + "x" * 60)
    page = context_of().new_page()
    for path in ("/", "/?q=nothing", "/signup", "/invitation/x", "/nothing"):
        with subtests.test(path=path):
            page.goto(path)
            check(page)
    page.goto(server.console("marketplace", "invite", "Course", "--json")["url_path"])
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("alert").wait_for()
    check(page)


def test_a_group_that_needs_a_qualification(lab, newcomer):
    made = lab.account.client.create_qualification_type(
        Name="Guidelines read", Description="d", QualificationTypeStatus="Active", AutoGranted=True
    )
    wanted = {
        "QualificationTypeId": made["QualificationType"]["QualificationTypeId"],
        "Comparator": "Exists",
        "ActionsGuarded": "Accept",
    }
    group = lab.post(QualificationRequirements=[wanted])
    mira = newcomer()
    mira.page.goto("/")
    check(mira.page)
    mira.page.goto(f"/projects/{group}/tasks")
    check(mira.page)
    mira.page.get_by_role("button", name="Get “Guidelines read”").click()
    mira.page.get_by_role("button", name="Accept", exact=True).wait_for()


@pytest.fixture
def experienced(lab, newcomer) -> Callable[[], Page]:
    """A worker with one HIT of every fate, a bonus and two messages."""
    group = lab.post(count=4)
    mira, client = newcomer(), lab.account.client
    for _ in range(3):
        mira.accept(group)
        mira.post_answer()
    mira.accept(group)
    mira.page.get_by_role("button", name="Return").click()
    done = [
        assignment
        for hit in client.list_hits()["HITs"]
        for assignment in client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    ]
    first, second, _ = done
    client.approve_assignment(AssignmentId=first["AssignmentId"], RequesterFeedback="Very clear.")
    client.send_bonus(
        WorkerId=first["WorkerId"], AssignmentId=first["AssignmentId"], BonusAmount="0.50", Reason="Well done"
    )
    client.reject_assignment(AssignmentId=second["AssignmentId"], RequesterFeedback="This is not a colour.")
    for subject in ("Thank you", "More work"):
        client.notify_workers(Subject=subject, MessageText="Dear worker,\n…", WorkerIds=[first["WorkerId"]])
    return mira


def test_pages_of_workers(experienced, subtests):
    # What lies in the inbox, and the profile, are looked at in `test_leaving`.
    for path in ("/history", "/dashboard", "/profile/country"):
        with subtests.test(path=path):
            experienced.page.goto(path)
            check(experienced.page)


def test_pages_of_workers_who_have_done_nothing_and_of_their_first_hit(lab, newcomer, subtests):
    mira = newcomer()
    page = mira.page
    for path in ("/tasks", "/history", "/dashboard", "/inbox", "/desk/"):
        with subtests.test(path=path):
            page.goto(path)
            check(page)
    group = lab.post(count=3)
    mira.accept(group)
    check(page)
    work = page.url
    page.goto("/tasks")
    check(page)
    page.goto(work)
    mira.answer()
    page.get_by_role("button", name="Accept the next HIT").wait_for()
    check(page)
    page.goto(work)
    page.get_by_role("heading", name="You have submitted this HIT").wait_for()
    check(page)


def test_pages_in_the_frame(lab, newcomer, context_of):
    group = lab.post()
    mira = newcomer(java_script_enabled=False)
    mira.accept(group)
    address = mira.page.locator("iframe").get_attribute("src")
    page = context_of().new_page()
    page.goto(address)
    page.get_by_label("Your answer").fill("Blue.")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("heading", name="Submitted").wait_for()
    check(page)
    page.goto(address.replace("%2Fs%2F", "%2Fs%2Fnot"))
    page.get_by_role("button", name="Send").click()
    page.get_by_role("heading", level=1).wait_for()
    check(page)


def test_the_desk_and_the_pages_of_staff(lab, server, administrator, context_of):
    page = context_of().new_page()
    sign_in(page, administrator)
    lab.post(count=2)
    worker = server.worker()
    worker.do(lab.account.client.list_hits()["HITs"][0]["HITId"])
    page.goto("/desk/")
    check(page)
    for path in ("/accounts/password/", "/tasks", "/desk/components/", "/desk/find/?q=a"):
        page.goto(path)
        check(page)
