"""HTML questions: read, changed where needed, and what their pages may load."""

import re
import time
from pathlib import Path

import pytest

from marketplace.errors import Refusal
from marketplace.forms.html import (
    ELEMENTS,
    NEEDS_SCRIPT,
    files_of,
    hosts_in,
    scripts_of,
    task_document,
    task_headers,
    unknown_element,
)
from marketplace.forms.questions import HTMLQuestion, html_question_xml, parse_question, read_stored_question

PAGES = Path(__file__).parents[1] / "browser" / "pages"
SUBMIT = "http://testserver/s/7-x/mturk/externalSubmit"
SHIM = '<script src="/static/html/frame.js"></script>'


def policy(hosts, **options):
    """Directives of the policy by name."""
    text = task_headers(hosts, **options)["Content-Security-Policy"]
    return dict(part.split(" ", 1) for part in text.split("; "))


@pytest.mark.parametrize(
    "html",
    ["<p>Plain</p>", "a ]]> b ]]", "<script>if (a < b && c) {}</script>", "é 日本 \U0001f600", " \n<p>"],
)
def test_a_page_comes_out_as_it_went_in(html):
    assert parse_question(html_question_xml(html, 450)) == HTMLQuestion(html=html, frame_height=450)


def test_what_xml_cannot_carry_is_replaced():
    assert parse_question(html_question_xml("a\x00b\ud800", 0)).html == "a\ufffdb\ufffd"


@pytest.mark.parametrize("size", [60_000, 65_535])
def test_a_page_may_fill_the_whole_question(size):
    xml = html_question_xml("", 0)
    html = "x" * (size - len(xml))
    assert len(parse_question(html_question_xml(html, 0)).html) == len(html)
    if size == 65_535:
        with pytest.raises(Refusal, match="longer than 65535 bytes"):
            parse_question(html_question_xml(html + "x", 0))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("<HTMLContent>", "<HTMLContent><b/>"), "put its text into a CDATA section"),
        (("HTMLContent>", "Content>"), "exactly one HTMLContent and one FrameHeight"),
        (("<FrameHeight>400", "<FrameHeight>tall"), "FrameHeight is 'tall'"),
        (("<![CDATA[<p>a</p>]]>", "  "), "HTMLContent is empty"),
    ],
)
def test_what_is_wrong_with_an_html_question_is_named(change, says):
    with pytest.raises(Refusal) as refusal:
        parse_question(html_question_xml("<p>a</p>", 400).replace(*change))
    assert refusal.value.code == "XMLParseError"
    assert says in refusal.value.message


def test_an_element_that_is_not_here_is_refused_unless_it_is_a_comment():
    page = "<!--\n<crowd-cube>\n-->\n<crowd-form>\n<Crowd-Cube name='a'></crowd-form>"
    with pytest.raises(Refusal) as refusal:
        parse_question(html_question_xml(page, 0))
    assert refusal.value.code == "NotSupported"
    assert "line 5: there is no element <crowd-cube>" in refusal.value.message
    parse_question(html_question_xml("<!-- <crowd-cube> --><crowd-form></crowd-form>", 0))


def test_an_element_that_the_page_defines_itself_is_its_own_affair():
    defined = "<script>customElements.define('crowd-cube', class extends HTMLElement {})</script>"
    assert unknown_element(f"<crowd-cube></crowd-cube>{defined}") is None
    assert unknown_element("<crowd-cube></crowd-cube>").line == 1


def test_every_element_that_is_taken_is_drawn():
    folder = Path(__file__).resolve().parents[2] / "static" / "html"
    scripts = "".join(path.read_text(encoding="utf-8") for path in folder.glob("crowd-*.js"))
    assert [name for name in sorted(ELEMENTS) if f'"{name}"' not in scripts] == []


def test_a_hit_made_before_an_element_was_refused_can_still_be_shown():
    page = "<crowd-form><crowd-cube></crowd-cube></crowd-form>" + "x" * 70_000
    assert read_stored_question(html_question_xml(page, 0)).html == page


@pytest.mark.parametrize(
    ("element", "scripts"),
    [
        ("crowd-input", []),
        ("crowd-bounding-box", ["crowd-image", "crowd-shapes"]),
        ("crowd-semantic-segmentation", ["crowd-image", "crowd-masks"]),
        ("crowd-entity-annotation", ["crowd-text"]),
        ("crowd-text-ranking", ["crowd-ranking"]),
    ],
)
def test_scripts_of_elements_come_with_the_pages_that_name_them(element, scripts):
    page = task_document(f"<{element} name=a></{element}>")
    names = [each for each in ("crowd-image", "crowd-shapes", "crowd-masks", "crowd-text", "crowd-ranking")
             if f'<script src="/static/html/{each}.js" defer></script>' in page]  # fmt: skip
    assert names == scripts


def test_a_crowd_form_without_script_says_what_it_needs():
    assert NEEDS_SCRIPT in task_document("<!doctype html><body><crowd-form></crowd-form>")
    assert NEEDS_SCRIPT not in task_document("<form></form>")


def test_what_is_lent_to_a_page_cannot_end_its_script():
    page = task_document("<p>", lent={"areas": {"local": {"a": ["</script><b>", None]}}})
    assert page.startswith("<script>var distilleryLent=")
    assert "</script><b>" not in page


@pytest.mark.parametrize(
    ("address", "ours"),
    [
        ("https://s3.amazonaws.com/mturk-public/externalHIT_v1.js", "external-hit.js"),
        ("//s3.amazonaws.com/mturk-public/externalHIT_v1.js", "external-hit.js"),
        ("http://mturk-public.s3.amazonaws.com/externalHIT_v1.js", "external-hit.js"),
        ("https://assets.crowd.aws/crowd-html-elements.js", "crowd-elements.js"),
        ("https://assets.crowd.aws/crowd-html-elements-without-ce-polyfill.js", "crowd-elements.js"),
        ("https://assets.crowd.aws/crowd-html-elements-v2.js", "crowd-elements.js"),
    ],
)
def test_scripts_known_from_mturk_come_from_here(address, ours):
    page = task_document(f'<script src="{address}"></script><form>{address}x</form>')
    assert page.startswith(f'{SHIM}<script src="/static/html/{ours}"></script>')


def test_no_style_sheet_of_others_is_fetched_for_elements_that_are_ours():
    page = '<link rel="stylesheet" href="https://assets.crowd.aws/css/crowd-html-elements-v2.css"><form>'
    assert task_document(page) == SHIM + '<link rel="stylesheet" href="data:text/css,"><form>'
    assert hosts_in(page) == []


def test_the_type_of_the_document_stays_first():
    assert task_document("\n<!DOCTYPE html><form></form>") == f"\n<!DOCTYPE html>{SHIM}<form></form>"


@pytest.mark.parametrize(
    "action",
    [
        '"https://www.mturk.com/mturk/externalSubmit"',
        "'http://workersandbox.mturk.com/mturk/externalSubmit'",
        '"/mturk/externalSubmit"',
    ],
)
def test_forms_for_mturk_go_to_us(action):
    page = task_document(f"<form action={action}></form>", submit_url=SUBMIT)
    assert f"<form action={action[0]}{SUBMIT}{action[0]}>" in page
    assert action in task_document(f"<form action={action}></form>")


def test_what_a_script_puts_together_is_left_alone():
    page = '<form></form><script>f.action = host + "/mturk/externalSubmit";</script>'
    assert task_document(page, submit_url=SUBMIT) == SHIM + page


def test_fields_without_a_form_get_one():
    page = task_document("<!doctype html><body class=a><input name=b></body>", submit_url=SUBMIT)
    assert f'<body class=a><form name="mturk_form" id="mturk_form" method="post" action="{SUBMIT}">' in page
    assert '<input type="hidden" name="assignmentId" value="">' in page
    assert page.endswith('<p><input type="submit" id="submitButton" value="Submit"></p></form></body>')
    assert "disabled" in task_document("<input name=b>")
    assert task_document("<input name=b><button type='submit'>Go</button>").count("submit") == 1


def test_a_page_without_any_field_gets_the_button_that_the_site_of_mturk_added():
    page = task_document("<p>Read this.</p>", submit_url=SUBMIT)
    assert page.startswith(f'{SHIM}<p>Read this.</p><form name="mturk_form"')
    assert page.endswith('<p><input type="submit" id="submitButton" value="Submit"></p></form>')


@pytest.mark.parametrize(
    "html",
    ["<form><input name=a></form>",
     "<input><script>document.createElement('form')</script>"],
)  # fmt: skip
def test_pages_with_a_form_of_their_own_keep_it(html):
    assert task_document(html) == SHIM + html


def test_a_page_of_a_batch_loads_from_its_hosts_and_from_us():
    rules = policy(["https://images.example.org", "http://x:8080", "*", "https://a; script-src *"])
    files = "'self' data: blob: https://images.example.org http://x:8080"
    assert rules["img-src"] == rules["media-src"] == rules["font-src"] == files
    assert rules["script-src"] == f"{files} 'unsafe-inline' 'unsafe-eval'"
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not {"connect-src", "frame-src", "worker-src", "object-src"} & set(rules)


def test_a_page_of_a_key_loads_from_anywhere_and_sends_to_us_only():
    rules = policy(None, submit_url=SUBMIT)
    assert "https:" in rules["img-src"].split() and "https:" in rules["connect-src"].split()
    assert "http:" not in rules["img-src"].split()
    assert rules["form-action"] == SUBMIT


@pytest.mark.parametrize("hosts", [None, [], ["https://a.example"]])
def test_no_page_keeps_an_origin_or_leads_the_window(hosts):
    sandbox = policy(hosts)["sandbox"].split()
    assert "allow-scripts" in sandbox
    assert "allow-same-origin" not in sandbox
    assert not [each for each in sandbox if "top-navigation" in each]


@pytest.mark.parametrize(
    ("html", "hosts"),
    [
        ('<img src="https://a.example/x.png"><img srcset="//b.example/1 1x, //b.example/2 2x">',
         ["https://a.example", "https://b.example"]),
        ('<a href="https://a.example/">a</a><form action="https://b.example"></form>', []),
        ("<style>p { background: url(https://c.example:8443/x) }</style>", ["https://c.example:8443"]),
        ('<script>load("https://d.example/x"); // then more\nx()</script>', ["https://d.example"]),
        ("<!-- https://e.example --><svg xmlns='http://www.w3.org/2000/svg'></svg>", []),
        ("https://cell.example/cat.jpg", ["https://cell.example"]),
        ('<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>', []),
        ('<img src="HTTPS://A.Example/">', ["https://a.example"]),
        ('<p style="background:url(&quot;http://localhost:81/x&quot;)">', ["http://localhost:81"]),
        ('<a href="https://a.example/"><img src="https://a.example/i"></a>', ["https://a.example"]),
        ("<link rel=stylesheet href=https://f.example/s.css>", ["https://f.example"]),
    ],
)  # fmt: skip
def test_hosts_are_those_that_something_is_loaded_from(html, hosts):
    assert hosts_in(html) == hosts


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        *(
            "//",
            "<!--",
            "<",
            "<a ",
            "//a",
            "<crowd-",
            "action=",
            "<!",
            "<input type",
            "https://",
            "&",
            "'\"<",
        ),
        *("<body ", "<body <input ", "<input type ", "</body ", "<form ", "<img src=//a.b"),
    ],
)
def test_a_page_is_made_in_a_time_that_grows_with_its_length_alone(piece):
    """A quarter of a megabyte; with the square of the length it would be half a minute."""
    page = piece * (262_144 // len(piece)) + "<input>"
    taken = []
    for _ in range(3):  # the quickest: other threads and the collector of garbage have their turns too
        began = time.thread_time()
        task_document(page, submit_url="https://market.example.org/s/1-x/mturk/externalSubmit")
        hosts_in(page)
        unknown_element(page)
        scripts_of(page)
        taken.append(time.thread_time() - began)
    assert min(taken) < 4


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.html")), ids=lambda path: path.stem)
def test_the_page_around_fetches_early_what_the_task_page_loads(path):
    html = path.read_text(encoding="utf-8")
    loaded = re.findall(r'(?:src|href)="/static/(html/[a-z-]+\.(?:js|css))"', task_document(html))
    assert set(files_of(html)) == set(loaded)


@pytest.mark.parametrize(
    "meta",
    [
        '<meta http-equiv="Content-Security-Policy" content="script-src https://assets.crowd.aws">',
        "<META CONTENT=\"default-src 'none'\" HTTP-EQUIV=content-security-policy>",
    ],
)
def test_a_policy_in_the_page_itself_does_not_keep_our_scripts_out(meta):
    page = task_document(f"<head>{meta}</head><p>a</p>")
    assert "data-http-equiv" in page
    assert not re.search(r"\shttp-equiv", page, re.IGNORECASE)
    assert 'http-equiv="refresh"' in task_document('<meta http-equiv="refresh" content="9">')
