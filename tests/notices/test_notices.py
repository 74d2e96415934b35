"""Notices are told once while they are so, end by themselves, and are read by each member alone."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.notices import conditions, selectors, services
from core.notices.conditions import Condition, NoticeCounts, Rule, look
from core.notices.models import Notice
from tests.notices.conftest import tell

pytestmark = pytest.mark.django_db


@pytest.fixture
def rules(monkeypatch):
    """Only the rules of the test."""
    found = []
    monkeypatch.setattr(conditions, "parts_of", lambda _: tuple(found))
    return found


def so(project, key, sentence="It is so.", level="warning", kind="kind"):
    return Condition(project.pk, kind, key, level, sentence, "/desk/")


def test_the_same_is_told_once_while_it_is_so(reading, project):
    first = tell(reading)
    assert tell(reading, sentence="Other words.") == first
    assert Notice.objects.get().sentence == "Nobody comes."
    services.end_notices(Notice.objects.all())
    assert tell(reading) != first
    assert tell(project).project == project
    assert Notice.objects.count() == 3


def test_a_look_raises_what_is_so_and_ends_what_is_over(reading, rules):
    now = timezone.now()
    tell(reading, kind="by hand")  # a kind that no rule knows
    found = [so(reading, "a"), so(reading, "b")]
    rules.append(Rule("one", lambda at: found, kinds=("kind",)))
    assert look(now) == NoticeCounts(raised=2, ended=0)
    assert look(now) == NoticeCounts(raised=0, ended=0)
    found.pop()
    assert look(now + timedelta(minutes=1)) == NoticeCounts(raised=0, ended=1)
    assert Notice.objects.get(key="b").over_at == now + timedelta(minutes=1)
    assert not Notice.objects.exclude(key="b").exclude(over_at=None).exists()


def test_the_words_of_a_notice_follow_what_is_so(reading, rules):
    found = [so(reading, "a", "Two HITs.")]
    rules.append(Rule("one", lambda at: found, kinds=("kind",)))
    look(timezone.now())
    found[0] = so(reading, "a", "Three HITs.", level="alarm")
    look(timezone.now())
    assert Notice.objects.values_list("sentence", "level", "over_at").get() == ("Three HITs.", "alarm", None)


def test_a_rule_that_fails_stops_no_other_and_ends_nothing(reading, rules, caplog):
    def broken(now):
        raise ZeroDivisionError

    tell(reading, key="of the broken rule", kind="fragile")
    rules.append(Rule("broken", broken, kinds=("fragile",)))
    rules.append(Rule("sound", lambda at: [so(reading, "a")], kinds=("kind",)))
    assert look(timezone.now()) == NoticeCounts(raised=1, ended=0)
    assert Notice.objects.get(kind="fragile").over_at is None
    assert "The rule broken" in caplog.text


def test_each_member_reads_for_themselves(reading):
    olga, vera = User.objects.get(username="olga"), User.objects.get(username="vera")
    notice = tell(reading)
    assert (selectors.unread(olga), selectors.unread(vera)) == (1, 1)
    services.see(user=olga, notices=[notice])
    services.see(user=olga, notices=[notice])
    assert (selectors.unread(olga), selectors.unread(vera)) == (0, 1)
    assert selectors.unread(User.objects.create_user("stranger")) == 0
    assert selectors.unread(User.objects.create_superuser("root")) == 1
    services.end_notices(Notice.objects.all())
    assert selectors.unread(vera) == 0, "what is over does not wait to be read"
