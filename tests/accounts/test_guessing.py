"""Guessing passwords: it slows down by name and by address, and locks nobody out."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.accounts import guards
from core.accounts.models import FailedTries
from core.accounts.security import address_of, client_address, neighbourhood
from marketplace.accounts import people

pytestmark = pytest.mark.django_db
PASSWORD = "seven green kettles"


@pytest.fixture
def person() -> User:
    return User.objects.create_user("mira", password=PASSWORD)


def sign_in(client, name="mira", password=PASSWORD, address="192.0.2.1", to="/accounts/login/"):
    return client.post(to, {"username": name, "password": password}, REMOTE_ADDR=address).status_code


def guess(times, **told):
    return [sign_in(Client(), password="wrong", **told) for _ in range(times)]


def pass_time(**span) -> None:
    for row in FailedTries.objects.all():
        row.blocked_until = row.blocked_until and row.blocked_until - timedelta(**span)
        row.last_at -= timedelta(**span)
        row.save()


def test_tries_from_many_addresses_count_for_the_name(person):
    statuses = [sign_in(Client(), password="wrong", address=f"192.0.2.{n}") for n in range(12)]
    assert statuses == [200] * 9 + [429] * 3
    assert sign_in(Client(), address="198.51.100.9") == 429
    assert sign_in(Client(), name="olga", password="wrong", address="198.51.100.9") == 200


def test_a_device_on_which_one_has_signed_in_is_not_locked_out(person):
    own = Client()
    assert sign_in(own) == 302
    own.post("/accounts/logout/")
    assert guess(12, address="203.0.113.5")[-1] == 429
    assert sign_in(Client(), address="198.51.100.9") == 429
    assert sign_in(own, address="198.51.100.10") == 302


def test_a_known_device_is_no_way_to_guess(person):
    own = Client()
    sign_in(own)
    own.post("/accounts/logout/")
    statuses = [sign_in(own, password="wrong", address=f"198.51.100.{n}") for n in range(11)]
    assert statuses[-1] == 429
    assert sign_in(own, address="198.51.100.77") == 429


def test_a_device_is_known_for_its_people_alone_and_cannot_be_made_up(person):
    User.objects.create_user("olga", password=PASSWORD)
    own = Client()
    sign_in(own)
    own.post("/accounts/logout/")
    guess(10, name="olga", address="203.0.113.5")
    assert sign_in(own, name="olga", address="198.51.100.3") == 429
    own.cookies["device"] = own.cookies["device"].value[:-1]
    guess(10, address="203.0.113.6")
    assert sign_in(own, address="198.51.100.4") == 429


def test_one_address_cannot_spray_one_password_over_many_names(person):
    statuses = [sign_in(Client(), name=f"name{n}", password="wrong") for n in range(51)]
    assert statuses[:49] == [200] * 49
    assert statuses[49:] == [429, 429]
    assert sign_in(Client()) == 429
    assert sign_in(Client(), address="192.0.2.2") == 302


def test_the_wait_doubles_up_to_fifteen_minutes_and_is_forgotten(person):
    key, waits = guards.BY_NAME.key("mira"), []
    for _ in range(18):
        guards.count_try(key)
        waits.append(guards.seconds_to_wait(key))
    assert waits[:9] == [0] * 9
    assert waits[9:] == [15, 30, 60, 120, 240, 480, 900, 900, 900]
    pass_time(minutes=16)
    assert sign_in(Client()) == 302
    assert not FailedTries.objects.filter(key=key).exists()
    guards.count_try(guards.BY_NAME.key("other"))
    pass_time(days=2)
    guards.count_try(key)
    assert FailedTries.objects.get().failures == 1


def test_a_try_that_was_not_heard_counts_for_nothing(person):
    guess(10)
    before = FailedTries.objects.order_by("key").values_list("key", "failures", "blocked_until")
    before = list(before)
    assert guess(5) == [429] * 5
    assert list(FailedTries.objects.order_by("key").values_list("key", "failures", "blocked_until")) == before


def test_signing_in_by_the_admin_waits_too(person):
    guess(10)
    assert sign_in(Client(), to="/admin/login/") == 429


def test_what_was_typed_as_a_name_is_not_kept(person):
    guess(1, name="my secret password")
    assert "secret" not in str(list(FailedTries.objects.values()))


def test_the_proxys_own_word_about_the_address_is_believed(rf, settings, subtests):
    for behind, forwarded, found in [
        (False, "198.51.100.1", "192.0.2.1"),
        (True, "10.0.0.1, 198.51.100.1", "198.51.100.1"),
        (True, "198.51.100.1, made up", "192.0.2.1"),
        (True, "", "192.0.2.1"),
        (True, "1.1.1.1, 2001:db8::1", "2001:db8::1"),
    ]:
        with subtests.test(behind=behind, forwarded=forwarded):
            settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if behind else None
            request = rf.get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)
            assert client_address(request) == address_of(request.META) == found


def test_one_persons_addresses_are_one():
    assert neighbourhood("2001:db8:1:2:aaaa::1") == neighbourhood("2001:db8:1:2:bbbb::9")
    assert neighbourhood("192.0.2.1") != neighbourhood("192.0.2.2")
    assert neighbourhood("unix") == "unix"


def test_invitations_that_are_none_are_tried_so_often_and_no_more(db):
    statuses = [Client().get(f"/invitation/guess{n}").status_code for n in range(21)]
    assert statuses == [404] * 20 + [429]
    assert Client().get("/invitation/guess", REMOTE_ADDR="192.0.2.8").status_code == 404
    _, invitation = people.create_invitation(label="class", max_uses=30, days=1)
    assert Client().get(f"/invitation/{invitation}").status_code == 200, "a class shares one network"


def test_sign_ups_from_one_address_have_a_limit(db, settings):
    settings.MARKETPLACE_REGISTRATION = "open"
    key = guards.SIGN_UPS.key("192.0.2.1")
    for _ in range(guards.SIGN_UPS.free):
        guards.count_try(key)
    assert Client().post("/signup", {}, REMOTE_ADDR="192.0.2.1").status_code == 429
    assert Client().get("/signup", REMOTE_ADDR="192.0.2.1").status_code == 200
    assert FailedTries.objects.get(key=key).last_at <= timezone.now()
