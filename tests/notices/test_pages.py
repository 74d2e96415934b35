"""Pages of notices: what members see, read and wish, and the bell in the shell."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.template import Context, Template
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from core.notices import services
from core.notices.models import Notice, NoticeReading, Wish
from core.notices.selectors import unread
from tests.desk.conftest import HOSTILE
from tests.notices.conftest import person, tell

pytestmark = pytest.mark.django_db
ALL, BOOKS = "/desk/notices/", "/desk/projects/books/notices/"


def browser(name):
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def words(answer):
    assert answer.status_code == 200
    return answer.content.decode()


def test_members_see_and_read_the_notices_of_their_projects_only(reading, project, people):
    tell(reading, sentence="Of the books.")
    notice = tell(project, sentence="Of the reading.")
    assert browser("vera").post(f"/desk/notices/{notice.pk}/read/").status_code == 404
    assert not NoticeReading.objects.exists()
    assert "Of the books." in words(browser("vera").get(ALL))
    assert "Of the reading." not in words(browser("vera").get(ALL))
    assert "Of the reading." in words(browser("owner").get(ALL))
    assert browser("owner").get(BOOKS).status_code == 404


def test_what_is_over_has_a_list_of_its_own(reading):
    tell(reading, key="1", sentence="It was so.")
    services.end_notices(Notice.objects.all())
    tell(reading, key="2", sentence="It is so.")
    client = browser("olga")
    assert "It was so." not in words(client.get(BOOKS))
    assert "It was so." in words(client.get(f"{BOOKS}?state=over"))
    assert "It is so." not in words(client.get(f"{BOOKS}?state=over"))


def test_somebody_marks_a_notice_as_read_and_it_waits_no_more(reading):
    notice = tell(reading)
    client = browser("vera")
    client.get(ALL)
    client.get(BOOKS)
    assert not NoticeReading.objects.exists(), "looking reads nothing"
    answer = client.post(f"/desk/notices/{notice.pk}/read/", {"then": f"{BOOKS}?state=all"})
    assert (answer.status_code, answer["Location"]) == (302, f"{BOOKS}?state=all")
    assert unread(User.objects.get(username="vera")) == 0
    assert "Nobody comes." not in words(client.get(f"{BOOKS}?state=unread"))
    assert "Nobody comes." in words(client.get(BOOKS))
    for place in ("https://elsewhere.example/desk/", "//elsewhere.example/desk/", "/admin/"):
        answer = client.post(f"/desk/notices/{notice.pk}/read/", {"then": place})
        assert answer["Location"] == ALL


def test_everything_is_marked_as_read_in_one_project_or_in_all(reading):
    for number in range(3):
        tell(reading, key=str(number))
    assert browser("vera").post(f"{BOOKS}read/").status_code == 302
    assert browser("olga").post(f"{ALL}read/").status_code == 302
    assert [unread(User.objects.get(username=name)) for name in ("vera", "olga")] == [0, 0]


def test_each_member_chooses_their_own_e_mails(reading):
    client = browser("vera")
    assert client.post(f"{BOOKS}e-mail/", {"post": "none"}).status_code == 302
    assert Wish.objects.values_list("user__username", "post").get() == ("vera", "none")
    assert 'value="none" checked' in words(client.get(BOOKS))
    client.post(f"{BOOKS}e-mail/", {"post": "hourly"})
    assert Wish.objects.get().post == "none"


def test_the_page_says_where_letters_go(reading, by_email, settings):
    assert "E-mails come from distillery@example.org." in words(browser("vera").get(BOOKS))
    assert "vera@example.org" in words(browser("vera").get(BOOKS))
    assert "Your account has no e-mail address" in words(browser("mo").get(BOOKS))
    settings.NOTICES_BY_EMAIL = False
    assert "this installation has no mail server in its settings" in words(browser("vera").get(BOOKS))


def test_hostile_words_are_shown_as_words(reading):
    reading.title = HOSTILE
    reading.save()
    tell(reading, sentence=HOSTILE)
    for place in (ALL, BOOKS):
        text = words(browser("vera").get(place))
        assert "<script>alert" not in text
        assert "style=" not in text


def test_lists_ask_as_many_questions_for_many_notices_as_for_one(reading):
    client = browser("vera")
    words(client.get(BOOKS))  # the sidebar is counted
    counted = []
    for start, end in ((0, 1), (1, 30)):
        for number in range(start, end):
            tell(reading, key=str(number))
        with CaptureQueriesContext(connection) as asked:
            words(client.get(ALL))
            words(client.get(BOOKS))
        counted.append(len(asked))
    assert counted[0] == counted[1] <= 24


def bell(user, **context):
    request = RequestFactory().get("/desk/projects/")
    request.user = user
    page = Template("{% include 'notices/bell.html' %}{% include 'notices/bell.html' %}")
    return page.render(Context({"request": request, "user": user, **context}))


def test_the_bell_counts_what_is_unread_in_one_query(reading, django_assert_num_queries):
    tell(reading)
    vera = User.objects.get(username="vera")
    with django_assert_num_queries(1):
        drawn = bell(vera)
    assert drawn.count('aria-hidden="true">1</span>') == 2
    assert f'href="{ALL}"' in drawn
    assert f'href="{BOOKS}"' in bell(vera, project=reading)
    assert "count" not in bell(person("nina"))
