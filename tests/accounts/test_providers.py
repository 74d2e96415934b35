"""Signing in by a provider, against a real one over HTTP: who comes in, what is refused, what groups give."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from core.accounts.emails import confirmed_address, take_address
from core.accounts.models import ProviderGrant
from core.projects.models import Membership
from core.projects.services import create_project
from distillery import sign_in_providers
from marketplace.members import role_of
from tests import oidc_provider as oidc
from tests.cases import apart
from tests.site import world as site

pytestmark = pytest.mark.django_db
PASSWORD = "seven green kettles"
PEOPLE: dict[str, dict[str, Any]] = {
    "ada": {
        **{"sub": "s-ada", "email": "ada@example.org", "email_verified": True, "preferred_username": "ada"},
        **{"given_name": "Ada", "family_name": "Lovelace", "groups": ["lab", "admins"]},
    },
    "liar": {"sub": "s-liar", "email": "ada@example.org", "email_verified": False},
    "renamed": {"sub": "s-ada", "email": "ada.new@example.org", "email_verified": True},
    "successor": {"sub": "s-9", "email": "ada@example.org", "email_verified": True},
    "stranger": {"sub": "s-stranger", "preferred_username": "stranger"},
    "nonce": {"sub": "s-1", "_nonce": "of another sign-in"},
    "audience": {"sub": "s-1", "_aud": ["another program"]},
    "issuer": {"sub": "s-1", "_iss": "https://elsewhere.example.org"},
    "signature": {"sub": "s-1", "_key": True},
    "subject": {"sub": "s-1", "_sub": "somebody else"},
}
ROLES = """
[[provider.role]]
group = "lab"
project = "reading"
role = "manager"
[[provider.role]]
group = "lab"
requester = "Answer Lab"
role = "reviewer"
[[provider.role]]
group = "admins"
staff = true
"""


@pytest.fixture(scope="module")
def provider():
    with oidc.running({name: dict(claims) for name, claims in PEOPLE.items()}) as running:
        yield running


@pytest.fixture
def configure(provider, settings, tmp_path):
    def write(further: str = "sign_up = true", provider_id: str = "university") -> None:
        file = tmp_path / "providers.toml"
        file.write_text(oidc.table(provider_id, provider.issuer, further))
        settings.SIGN_IN_PROVIDERS = sign_in_providers.sign_in_providers(str(file))
        settings.SOCIALACCOUNT_PROVIDERS = sign_in_providers.sign_in_library_settings(
            settings.SIGN_IN_PROVIDERS
        )
        settings.SECOND_FACTOR = "off"

    write()
    return write


def begin(browser: Client, then: str = "") -> str:
    """The address at the provider."""
    answer = browser.get("/accounts/oidc/university/login/", {"next": then} if then else {})
    assert answer.status_code == 302, answer.text
    return answer["Location"]


def come_back(browser: Client, who: str, asked: str = "", **changes: str):
    address = oidc.answer_as(who, asked or begin(browser))
    return browser.get(oidc.with_query(address, **changes) if changes else address)


def who_is_in(browser: Client) -> str:
    pk = browser.session.get("_auth_user_id")
    return User.objects.get(pk=pk).username if pk else ""


def test_somebody_new_comes_in_where_the_provider_may_make_accounts(configure, client):
    answer = come_back(client, "ada", begin(client, "/history"))
    assert (answer.status_code, answer["Location"]) == (302, "/history")
    user = User.objects.get()
    assert (user.username, user.first_name, user.has_usable_password()) == ("ada", "Ada", False)
    assert EmailAddress.objects.get().verified
    assert who_is_in(client) == "ada"
    again = Client()
    come_back(again, "ada")
    assert who_is_in(again) == "ada"
    assert User.objects.count() == 1
    client.post(f"/accounts/connections/{SocialAccount.objects.get().pk}/remove/")
    assert SocialAccount.objects.exists(), "the only way in"
    User.objects.update(is_active=False)
    assert come_back(Client(), "ada").status_code == 403


def test_nobody_new_comes_in_elsewhere_and_nothing_is_connected_outside_the_profile(configure, client):
    """Also not to whoever is signed in, who was given the address to open."""
    configure("")
    answer = come_back(client, "stranger")
    assert answer.status_code == 403
    assert "You have no account here" in answer.text
    assert not User.objects.exists()
    client.force_login(User.objects.create_user("mira", password=PASSWORD))
    assert come_back(client, "stranger").status_code == 403
    assert not SocialAccount.objects.exists()


def test_what_the_browser_takes_to_the_provider(configure, client):
    asked = parse_qs(urlsplit(begin(client)).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["response_type"] == ["code"]
    assert len(asked["nonce"][0]) > 20
    assert len(asked["state"][0]) >= 16


def test_a_token_that_is_not_of_this_sign_in_lets_nobody_in(configure, client, subtests):
    for who in ["nonce", "audience", "issuer", "signature", "subject"]:
        with subtests.test(who=who):
            answer = come_back(client, who)
            assert answer.status_code == 401
            assert who_is_in(client) == ""
            assert not User.objects.exists()


def test_a_wrong_or_used_state_lets_nobody_in(configure, client):
    assert come_back(client, "ada", state="made-up").status_code == 401
    address = oidc.answer_as("ada", begin(client))
    assert Client().get(address).status_code == 401, "of another browser"
    assert client.get(address).status_code == 302
    assert Client().get(address).status_code == 401
    client.post("/accounts/logout/")
    assert client.get(address).status_code == 401, "used before"


def test_an_answer_without_a_code_is_told_in_words(configure, client):
    state = parse_qs(urlsplit(begin(client)).query)["state"][0]
    refused = {"state": state, "error": "access_denied"}
    answer = client.get("/accounts/oidc/university/login/callback/", refused)
    assert answer.status_code == 401
    assert "did not work" in answer.text


def test_nobody_is_sent_to_another_site(configure, client, subtests):
    for next_address in ["https://evil.example.org/", "//evil.example.org/", "javascript:1"]:
        with subtests.test(next_address=next_address):
            assert come_back(client, "ada", begin(client, next_address))["Location"] == "/accounts/home/"


def test_an_address_that_is_not_verified_there_takes_no_account_over(configure, client):
    configure("sign_up = true\nlink_by_email = true")
    victim = User.objects.create_user("victim", password=PASSWORD)
    take_address(victim, "ada@example.org")
    come_back(client, "liar")
    assert who_is_in(client) not in ("", "victim")
    assert not SocialAccount.objects.filter(user=victim).exists()
    assert EmailAddress.objects.filter(email="ada@example.org").get().user == victim


def test_an_address_that_is_not_confirmed_here_takes_no_login_over(configure, client):
    """Somebody typed a colleague's address for their own account; the colleague does not land in it."""
    configure("sign_up = true\nlink_by_email = true")
    squatter = User.objects.create_user("squatter", password=PASSWORD, email="ada@example.org")
    EmailAddress.objects.create(user=squatter, email="ada@example.org", verified=False)
    come_back(client, "ada")
    assert who_is_in(client) == "ada"
    assert not SocialAccount.objects.filter(user=squatter).exists()


def test_addresses_that_both_sides_proved_connect_where_the_operator_says_so(configure, client):
    user = User.objects.create_user("ada-of-the-lab", password=PASSWORD)
    take_address(user, "ada@example.org")
    refused = come_back(client, "ada")
    assert refused.status_code == 403
    assert "There is an account here with your address" in refused.text
    configure("link_by_email = true")
    come_back(client, "ada")
    assert who_is_in(client) == "ada-of-the-lab"


def test_a_recycled_address_opens_nobodys_account(configure, client, provider, subtests):
    """The provider renames one person and gives the old address to another, who signs in first or last."""
    configure("sign_up = true\nlink_by_email = true")
    come_back(client, "ada")
    first = User.objects.get()
    with apart(subtests, case="the second person comes first"):
        second = Client()
        come_back(second, "successor")
        assert who_is_in(second) not in ("", first.username)
        assert SocialAccount.objects.get(user=first).uid == "s-ada"
        assert confirmed_address(first) == ""  # letters for the first go to no mailbox of the second
        assert confirmed_address(User.objects.latest("pk")) == "ada@example.org"
        renamed = Client()
        come_back(renamed, "renamed")
        assert who_is_in(renamed) == first.username
    with apart(subtests, case="the first person comes first, with a new address"):
        renamed = Client()
        come_back(renamed, "renamed")
        assert (who_is_in(renamed), confirmed_address(first)) == (first.username, "ada.new@example.org")
        second = Client()
        come_back(second, "successor")
        assert who_is_in(second) not in ("", first.username)
    with apart(subtests, case="an address that the person chose here stays"):
        take_address(first, "own@example.org")
        come_back(Client(), "renamed")
        assert confirmed_address(first) == "own@example.org"
    with apart(subtests, case="nobody new may come in"):
        configure("link_by_email = true")
        assert come_back(Client(), "successor").status_code == 403
    with apart(subtests, case="a second subject in the profile"):
        client.post("/accounts/oidc/university/connect/")
        come_back(client, "successor")
        assert SocialAccount.objects.get().uid == "s-ada"


def test_a_superuser_is_never_connected_by_an_address(configure, client):
    configure("sign_up = true\nlink_by_email = true")
    take_address(User.objects.create_superuser("root", password=PASSWORD), "ada@example.org")
    assert come_back(client, "ada").status_code == 403
    assert who_is_in(client) == ""


def test_somebody_connects_a_provider_in_their_profile(configure, client):
    configure("")
    user = User.objects.create_user("mira", password=PASSWORD)
    client.force_login(user)
    assert "Go on to University" in client.post("/accounts/oidc/university/connect/").text
    assert come_back(client, "ada")["Location"] == "/accounts/profile/"
    assert SocialAccount.objects.get().user == user
    assert "ada@example.org" in client.get("/accounts/profile/").text
    other = Client()
    come_back(other, "ada")
    assert who_is_in(other) == "mira"
    client.post(f"/accounts/connections/{SocialAccount.objects.get().pk}/remove/")
    assert not SocialAccount.objects.exists()


def test_groups_give_roles_and_take_them_again(configure, client, provider):
    owner = User.objects.create_user("olga", password=PASSWORD)
    project = create_project(slug="reading", title="Reading", owner=owner)
    lab = site.make_requester("Answer Lab", owner=owner)
    configure(ROLES)
    come_back(client, "ada")
    user = User.objects.get(username="ada")
    assert user.is_staff
    assert Membership.objects.get(project=project, user=user).role == "manager"
    assert lab.members.get(user=user).role == "reviewer"
    provider.people["ada"]["groups"] = ["lab"]
    come_back(Client(), "ada")
    user.refresh_from_db()
    assert not user.is_staff
    assert Membership.objects.filter(project=project, user=user).exists()
    provider.people["ada"]["groups"] = []
    come_back(Client(), "ada")
    assert not Membership.objects.filter(project=project, user=user).exists()
    assert role_of(User.objects.get(pk=user.pk), lab) == ""
    assert not ProviderGrant.objects.exists()
    provider.people["ada"]["groups"] = PEOPLE["ada"]["groups"]


def test_a_role_that_somebody_gave_is_not_taken_by_groups(configure, client, provider):
    owner = User.objects.create_user("olga", password=PASSWORD)
    project = create_project(slug="reading", title="Reading", owner=owner)
    site.make_requester("Answer Lab", owner=owner)
    configure(f"sign_up = true\n{ROLES}")
    provider.people["ada"]["groups"] = []
    come_back(client, "ada")
    user = User.objects.get(username="ada")
    Membership.objects.create(project=project, user=user, role="owner")
    provider.people["ada"]["groups"] = ["lab"]
    come_back(Client(), "ada")
    provider.people["ada"]["groups"] = []
    come_back(Client(), "ada")
    assert Membership.objects.get(project=project, user=user).role == "owner"
    provider.people["ada"]["groups"] = PEOPLE["ada"]["groups"]


def test_a_file_of_providers_that_is_wrong_says_where(tmp_path, subtests):
    preset = '[[provider]]\nid = "orcid"\npreset = "orcid"\nclient_id = "APP-1"\nclient_secret = "s"\n'
    (tmp_path / "providers.toml").write_text(preset)
    [found] = sign_in_providers.sign_in_providers(str(tmp_path / "providers.toml"))
    assert (found.name, found.server, found.scopes) == ("ORCID", "https://orcid.org", ("openid",))
    for text, why in [
        ("no table", "no TOML"),
        ("[[provider]]\nid = 'a'", "provider 1, name: it is missing"),
        (oidc.table("A B", "https://a.example.org"), "provider 1, id"),
        (oidc.table("a", "http://a.example.org"), "provider 1, server: it is an https address"),
        (oidc.table("a", "https://a.example.org", "colour = 'red'"), "colour: there is no such setting"),
        (oidc.table("a", "https://a.example.org", "client_secret_env = 'X'"), "give it once"),
        (oidc.table("a", "https://a.example.org", "scopes = ['email']"), '"openid" is missing'),
        (oidc.table("a", "https://a.example.org", "preset = 'github'"), "is not one of oidc, google, orcid"),
        (oidc.table("a", "https://a.example.org", "sign_up = 'yes'"), "sign_up: it is no bool"),
        (
            oidc.table("a", "https://a.example.org", "[[provider.role]]\ngroup = 'g'\nproject = 'p'"),
            "role 1: the role of a project is one of manager, owner, viewer",
        ),
        (oidc.table("a", "https://a.example.org") * 2, "each id is there once"),
    ]:
        with subtests.test(text=text, why=why):
            file = tmp_path / "providers.toml"
            file.write_text(text)
            with pytest.raises(ImproperlyConfigured, match=why.replace("[", r"\[")):
                sign_in_providers.sign_in_providers(str(file))
