"""What the page around a task does for it: drafts, lasting storage, delivery; what it does not believe."""

import pytest
from playwright.sync_api import expect

from tests.browser.asking import answers, post_html, task

pytestmark = pytest.mark.browser

COUNTS = """<!doctype html><html lang="en"><title>Counts</title><h1 id="seen"></h1>
<form method="post"><label>Word <input name="word"></label><button>Submit</button></form><script>
localStorage.setItem("times", 1 + Number(localStorage.getItem("times") || 0));
sessionStorage.here = "yes";
document.cookie = "trained=1; max-age=2592000";
seen.textContent = [localStorage.times, sessionStorage.length, document.cookie].join(" ");
</script>"""
HOSTILE = """<!doctype html><html lang="en"><title>Hostile</title><h1>Quiet</h1><form method="post">
<label>Word <input name="word"></label><button>Submit</button></form><script>
const bad = [null, 1, "x", [], {}, {distillery: 1}, {distillery: "submit"},
  {distillery: "submit", fields: "x"},
  {distillery: "submit", fields: [["a"]]}, {distillery: "submit", fields: [["a", {}]]},
  {distillery: "draft", state: "x".repeat(600000)}, {distillery: "draft", state: {}},
  {distillery: "storage", changes: "x"}, {distillery: "storage", changes: [1, ["local", "a", "b"]]},
  {distillery: "storage", changes: [["local", "big", "x".repeat(100000), null]]},
  {distillery: "arrived"}, {distillery: "submitted", holding: "1"}];
for (const message of bad) parent.postMessage(message, "*");
</script>"""
KEPT = "Object.keys(localStorage).filter((name) => name.startsWith('distillery'))"


def test_what_a_page_keeps_lasts_from_task_to_task_and_is_its_requesters_alone(lab, newcomer, server):
    group = post_html(lab, COUNTS)
    other = server.requester()
    mira = newcomer()
    mira.accept(group)
    expect(task(mira).locator("#seen")).to_have_text("1 1 trained=1")
    task(mira).get_by_label("Word").fill("a")
    task(mira).get_by_role("button").click()
    mira.page.wait_for_url("**/continue/*")
    mira.accept(post_html(lab, COUNTS, Title="Again"))
    expect(task(mira).locator("#seen")).to_have_text("2 1 trained=1")
    theirs = type(lab)(other, lab.task_url)
    mira.accept(post_html(theirs, COUNTS, Title="Theirs"))
    expect(task(mira).locator("#seen")).to_have_text("1 1 trained=1")
    mira.page.context.clear_cookies()
    ben = newcomer()
    ben.accept(group)
    expect(task(ben).locator("#seen")).to_have_text("1 1 trained=1")


def test_a_draft_is_there_in_another_tab_and_gone_after_a_return(lab, newcomer):
    mira = newcomer()
    mira.accept(post_html(lab, COUNTS))
    task(mira).get_by_label("Word").fill("kept")
    mira.page.wait_for_timeout(200)
    other = mira.page.context.new_page()
    other.goto(mira.page.url)
    expect(other.frame_locator("iframe").get_by_label("Word")).to_have_value("kept")
    other.get_by_role("button", name="Return").click()
    other.wait_for_url("**/")
    assert other.evaluate(KEPT) == []
    task(mira).get_by_role("button").click()
    expect(mira.page.locator(".delivery")).to_have_text(
        "You returned this HIT, perhaps in another tab, so this answer was not taken."
    )
    expect(task(mira).get_by_label("Word")).to_have_value("kept")
    assert answers(lab) == []


def test_an_answer_is_repeated_until_the_server_has_said_that_it_arrived(lab, newcomer):
    mira = newcomer()
    mira.page.clock.install()
    mira.accept(post_html(lab, COUNTS))
    tries = []

    def lose(route):
        tries.append(route.request.post_data)
        if len(tries) == 1:
            route.fulfill(status=503, body="busy")
        elif len(tries) == 2:
            route.fetch()  # It arrives, and the word of it is lost.
            route.abort()
        else:
            route.continue_()

    mira.page.route("**/externalSubmit", lose)
    task(mira).get_by_label("Word").fill("once")
    task(mira).get_by_role("button").click()
    while len(tries) < 3:  # It waits longer and longer.
        mira.page.clock.fast_forward(1000)
        mira.page.wait_for_timeout(50)
    mira.page.wait_for_url("**/continue/*")
    assert len(tries) == 3
    assert answers(lab) == [{"word": "once"}]


def test_an_answer_that_waits_is_sent_when_its_page_is_opened_again(lab, newcomer):
    mira = newcomer()
    mira.accept(post_html(lab, COUNTS))
    mira.page.route("**/externalSubmit", lambda route: route.abort())
    task(mira).get_by_label("Word").fill("later")
    task(mira).get_by_role("button").click()
    expect(mira.page.locator(".delivery")).to_contain_text("Your answer is kept here")
    here = mira.page.url
    mira.page.goto("/")
    mira.page.unroute("**/externalSubmit")
    mira.page.goto(here)
    mira.page.wait_for_url("**/continue/*")
    assert answers(lab) == [{"word": "later"}]


def test_messages_of_another_shape_do_nothing(lab, newcomer):
    mira = newcomer()
    mira.accept(post_html(lab, HOSTILE))
    mira.page.wait_for_timeout(300)
    assert mira.page.evaluate(KEPT) == []
    assert answers(lab) == []
    task(mira).get_by_label("Word").fill("a")
    task(mira).get_by_role("button").click()
    mira.page.wait_for_url("**/continue/*")
    assert answers(lab) == [{"word": "a"}]


def test_a_crowd_form_says_without_script_what_it_needs(lab, newcomer):
    group = post_html(lab, "<crowd-form><crowd-input name='a'></crowd-input></crowd-form>")
    mira = newcomer(java_script_enabled=False)
    mira.accept(group)
    expect(task(mira).get_by_role("alert")).to_contain_text("This task is drawn by JavaScript")


def test_pasting_and_leaving_are_counted_for_reviewers(lab, newcomer):
    mira = newcomer()
    mira.accept(post_html(lab, COUNTS))
    field = task(mira).get_by_label("Word")
    field.evaluate(
        """field => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", "twelve signs");
          field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }"""
    )
    field.fill("x")
    with mira.page.expect_request("**/tasks/attention") as told:
        task(mira).get_by_role("button").click()
    counted = told.value.post_data or ""
    assert 'name="pastes"\r\n\r\n1\r\n' in counted and 'name="pasted"\r\n\r\n12\r\n' in counted
