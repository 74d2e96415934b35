"""Second factors: setting them up, signing in with them, and what is refused."""

import base64
import re
import time

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from core.accounts import adapters, confirmation
from core.accounts.adapters import SEALED_FOR
from core.crypto import unseal

pytestmark = pytest.mark.django_db
PASSWORD = "seven green kettles"


@pytest.fixture(autouse=True)
def beginning_of_a_step():
    """Codes change every 30 seconds; a test that began late in them met two."""
    with time_machine.travel(time.time() // 30 * 30 + 1):
        yield


@pytest.fixture
def person() -> User:
    cache.clear()
    return User.objects.create_user("mira", password=PASSWORD)


@pytest.fixture
def at_home(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def code_of(secret: str, *, steps: int = 0) -> str:
    return HOTP(base64.b32decode(secret), 6, SHA1()).generate(int(time.time()) // 30 + steps).decode()


def set_up(client: Client) -> tuple[str, list[str]]:
    """The app's secret and the recovery codes, as the pages show them."""
    page = client.get("/accounts/factors/app/").text
    secret = re.search(r'class="mono secret">([A-Z2-7 ]+)<', page)
    assert secret
    plain = secret.group(1).replace(" ", "")
    done = client.post("/accounts/factors/app/", {"code": code_of(plain, steps=-1)}, follow=True)
    return plain, re.findall(r"<li>(\d{8})</li>", done.text)


def sign_in(client: Client, **extra: str):
    return client.post("/accounts/login/", {"username": "mira", "password": PASSWORD, **extra})


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_an_app_is_set_up_and_asked_for_at_the_next_sign_in(at_home):
    secret, codes = set_up(at_home)
    assert len(codes) == 10
    browser = Client()
    assert sign_in(browser, next="/history")["Location"] == "/accounts/factor/"
    assert not is_in(browser)
    assert browser.get("/accounts/profile/").status_code == 302, "a password alone opens nothing"
    answer = browser.post("/accounts/factor/", {"code": code_of(secret)})
    assert answer["Location"] == "/history"
    assert is_in(browser)


def test_a_code_counts_once_for_all_processes(at_home):
    secret, _ = set_up(at_home)
    code = code_of(secret)
    first, second = Client(), Client()
    sign_in(first)
    sign_in(second)
    first.post("/accounts/factor/", {"code": code})
    cache.clear()  # another process remembers nothing of it
    answer = second.post("/accounts/factor/", {"code": code})
    assert answer.status_code == 422
    assert "used already" in answer.text
    assert is_in(first)
    assert not is_in(second)


def test_an_old_code_and_that_of_the_set_up_open_no_session(at_home):
    secret, _ = set_up(at_home)
    browser = Client()
    sign_in(browser)
    for steps in (-1, -4):
        cache.clear()
        assert browser.post("/accounts/factor/", {"code": code_of(secret, steps=steps)}).status_code == 422
    assert not is_in(browser)


def test_a_recovery_code_opens_once_and_is_shown_once_and_new_ones_end_the_old(at_home, person):
    _, codes = set_up(at_home)
    assert "cannot be shown again" in at_home.get("/accounts/factors/codes/").text
    first, second, third = Client(), Client(), Client()
    for browser in (first, second):
        sign_in(browser)
        browser.post("/accounts/factor/", {"code": codes[3]})
    assert (is_in(first), is_in(second)) == (True, False)
    assert "9 of your codes are left" in at_home.get("/accounts/factors/codes/").text
    page = at_home.post("/accounts/factors/codes/", follow=True).text
    again = re.findall(r"<li>(\d{8})</li>", page)
    assert len(again) == 10 and not set(again) & set(codes)
    sign_in(third)
    third.post("/accounts/factor/", {"code": codes[0]})
    assert not is_in(third)


def test_wrong_codes_wait_as_wrong_passwords_do(at_home):
    secret, _ = set_up(at_home)
    browser = Client()
    sign_in(browser)
    for _ in range(5):
        assert browser.post("/accounts/factor/", {"code": "000000"}).status_code == 422
    answer = browser.post("/accounts/factor/", {"code": code_of(secret)})
    assert "Too many wrong codes" in answer.text
    assert not is_in(browser)


def test_the_step_is_not_there_without_a_password(person):
    assert Client().get("/accounts/factor/")["Location"] == "/accounts/login/"
    assert Client().post("/accounts/factor/", {"code": "000000"})["Location"] == "/accounts/login/"


def test_the_step_is_over_after_a_quarter_of_an_hour(at_home):
    secret, _ = set_up(at_home)
    with time_machine.travel(timezone.now(), tick=False) as clock:
        browser = Client()
        sign_in(browser)
        clock.shift(16 * 60)
        browser.post("/accounts/factor/", {"code": code_of(secret)})
        assert not is_in(browser)


def test_the_admins_door_asks_for_the_factor_too(at_home):
    User.objects.update(is_staff=True, is_superuser=True)
    set_up(at_home)
    browser = Client()
    answer = browser.post("/admin/login/?next=/admin/", {"username": "mira", "password": PASSWORD})
    assert answer["Location"] == "/accounts/factor/"
    assert browser.get("/admin/")["Location"].startswith("/admin/login/")


def test_secrets_of_factors_are_sealed_and_sealed_again(at_home, settings):
    secret, _ = set_up(at_home)
    row = Authenticator.objects.get(type="totp")
    assert secret not in str(row.data)
    assert unseal(row.data["secret"], purpose=SEALED_FOR) == secret
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "the key of next year"
    call_command("reseal")
    settings.SECRET_KEY_FALLBACKS = []
    row.refresh_from_db()
    assert unseal(row.data["secret"], purpose=SEALED_FOR) == secret
    assert row.wrap().validate_code(code_of(secret))


def test_codes_of_a_lost_key_open_nothing(at_home, settings):
    set_up(at_home)
    settings.SECRET_KEY = "a key of somebody else"
    codes = Authenticator.objects.get(type="recovery_codes").wrap()
    assert codes.generate_codes() != codes.generate_codes(), "nobody can know them"


def test_removing_the_last_factor_takes_the_codes_along(at_home, person):
    set_up(at_home)
    row = Authenticator.objects.get(type="totp")
    stranger = Client()
    stranger.force_login(User.objects.create_user("sam", password=PASSWORD))
    stranger.post(f"/accounts/factors/{row.pk}/remove/")
    assert Authenticator.objects.filter(pk=row.pk).exists()
    at_home.post(f"/accounts/factors/{row.pk}/remove/")
    assert not Authenticator.objects.exists()
    assert is_in_after_password()


def is_in_after_password() -> bool:
    browser = Client()
    sign_in(browser)
    return is_in(browser)


def test_a_letter_tells_of_each_change(at_home, monkeypatch, django_capture_on_commit_callbacks):
    told: list[str] = []
    monkeypatch.setattr(adapters, "warn_person", lambda user, what: told.append(what))
    with django_capture_on_commit_callbacks(execute=True):
        set_up(at_home)
        at_home.post("/accounts/factors/codes/")
        at_home.post(f"/accounts/factors/{Authenticator.objects.get(type='totp').pk}/remove/")
    assert sorted(told) == [
        "An authenticator app was removed from your account",
        "An authenticator app was set up for your account",
        "New recovery codes were made for your account",
    ]


def test_factors_change_only_by_people_who_lately_showed_who_they_are(person):
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = Client()
        client.force_login(person)
        clock.shift(16 * 60)
        for path in ("app", "passkey", "codes"):
            answer = client.get(f"/accounts/factors/{path}/")
            assert answer["Location"].startswith("/accounts/confirm/?next="), path


def test_a_passkey_that_was_made_up_opens_nothing(person, client):
    assert "challenge" in client.get("/accounts/passkey/").json()["request_options"]["publicKey"]
    whole = '{"id":"AA","rawId":"AA","type":"public-key","response":{}}'
    for made_up in ("", "{}", '{"id": "x"}', "[]", "5", whole):
        answer = client.post("/accounts/passkey/", {"credential": made_up})
        assert answer["Location"] == "/accounts/login/", made_up
        assert not is_in(client)


def test_only_what_we_use_of_the_library_has_an_address(client):
    for path in ("signup", "2fa", "email", "password/reset", "3rdparty", "login/code", "reauthenticate"):
        assert client.get(f"/accounts/{path}/").status_code == 404, path


# Who is asked for one.


def test_staff_alone_are_asked_once_and_may_put_it_off(person, client, settings):
    assert sign_in(Client(), next="/history")["Location"] == "/history", "a worker"
    client.force_login(person)
    answer = client.post("/accounts/factors/ask/", {"next": "https://evil.example.org/"})
    assert answer["Location"] == "/accounts/home/"
    person.delete()
    User.objects.create_user("mira", password=PASSWORD)
    User.objects.update(is_staff=True)
    browser = Client()
    prompt = sign_in(browser, next="/desk/")["Location"]
    assert prompt == "/accounts/factors/ask/?next=%2Fdesk%2F"
    assert "Not now" in browser.get(prompt).text
    assert browser.post(prompt)["Location"] == "/desk/"
    assert sign_in(Client(), next="/desk/")["Location"] == "/desk/"
    with time_machine.travel(timezone.now() + confirmation.ASKED_AGAIN_AFTER * 1.1):
        assert sign_in(Client())["Location"].startswith("/accounts/factors/ask/")
    settings.SECOND_FACTOR = "off"
    with time_machine.travel(timezone.now() + confirmation.ASKED_AGAIN_AFTER * 1.1):
        assert sign_in(Client())["Location"] == "/accounts/home/"
