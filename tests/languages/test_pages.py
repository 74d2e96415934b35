"""In which language a page answers."""

import re
from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import translation

from core.projects.services import set_role
from crowd.services import stages
from crowd.services.endpoints import create_endpoint
from crowd.services.tick import tick
from marketplace.accounts import contact
from marketplace.models import Contact
from marketplace.money.amounts import money
from marketplace.site.selectors import Opinion
from people import consents
from people.links import LinkPlan, make_link
from people.models import ConsentText, StudyLink
from people.owners import project_owner
from people.tokens import token_of
from tests.crowd.world import make_stage
from tests.site import world
from web.durations import moment, span

pytestmark = pytest.mark.django_db
GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-AT,de;q=0.8,en;q=0.5"}


def head_of(page) -> str:
    """The first tag of a page, which says its language and direction."""
    return " ".join(re.search(r"<html[^>]*>", page.content.decode())[0].split())


@pytest.fixture
def stage():
    """A poll on study links, on offer."""
    made = make_stage(create_endpoint(name="links", preset="link", access_key="", secret=""), redundancy=3)
    stages.open_stage(stage=made)
    tick()
    return made


@pytest.fixture
def study(stage) -> str:
    """The path of a link to it."""
    plan = LinkPlan(title="Tea and coffee", target=f"stage:{stage.slug}")
    return f"/join/{token_of(make_link(owner=project_owner(stage.project), plan=plan, actor=None))}/"


def test_a_link_names_the_language_of_its_page_and_of_those_that_follow(client):
    page = client.get("/?lang=de", HTTP_ACCEPT_LANGUAGE="fr")
    assert head_of(page) == '<html lang="de">'
    assert "Aufgaben" in page.content.decode()
    assert page["Content-Language"] == "de"
    cookie = page.cookies[settings.LANGUAGE_COOKIE_NAME]
    assert (cookie.value, cookie["samesite"], bool(cookie["httponly"])) == ("de", "Lax", True)
    assert "Anmelden" in client.get("/accounts/login/", HTTP_ACCEPT_LANGUAGE="fr").content.decode()
    for tag, spoken in {"pt-BR": "pt", "zh": "zh-hans", "xx": "fr", "": "fr"}.items():
        assert (
            head_of(Client().get("/", {"lang": tag}, HTTP_ACCEPT_LANGUAGE="fr")) == f'<html lang="{spoken}">'
        )


def test_arabic_goes_from_right_to_left(client, study):
    for address in ("/", "/accounts/login/", study, "/nothing/"):
        assert head_of(client.get(f"{address}?lang=ar")) == '<html lang="ar" dir="rtl">', address


def test_without_a_link_the_browser_decides_and_without_it_english(client, study):
    assert "oder älter und stimme zu" in client.get(study, **GERMAN).content.decode()
    for asked in ("", "is,en;q=0.5", "nonsense;;"):
        assert head_of(Client().get("/", HTTP_ACCEPT_LANGUAGE=asked)) == '<html lang="en">'


def test_what_forms_of_django_complain_about_is_in_the_language_of_the_page(client):
    page = client.post("/accounts/login/?lang=es", {"username": "", "password": ""}).content.decode()
    assert "Este campo es obligatorio" in page
    assert "This field" not in page


def test_a_task_keeps_the_language_of_its_address_where_frames_keep_no_cookie(client, study, stage):
    page = client.get(f"{study}?lang=de")
    form = {
        name: re.search(rf'name="{name}" value="([^"]*)"', page.content.decode())[1] for name in ("v", "text")
    }
    address = client.get(client.post(f"{study}agree/", form | {"agree": "yes"})["Location"])["Location"]
    assert "Abgeben" in client.get(address).content.decode()
    task = Client().get(f"{address}&lang=de").content.decode()
    action = re.search(r'<form method="post" action="([^"]+)"', task)[1]
    assert action.endswith("/?lang=de")
    ticket = re.search(r'name="ticket" value="([^"]*)"', task)[1]
    again = Client().post(action, {"ticket": ticket}).content.decode()
    assert "Wählen Sie eine der Möglichkeiten." in again
    assert "Eine Antwort braucht noch einen Blick" in again


def test_the_text_of_consent_is_in_the_language_that_was_chosen(client, study, stage):
    owner = project_owner(stage.project)
    StudyLink.objects.update(languages=["en", "it", "de"])
    for language, body in {
        "en": "You are invited",
        "it": "Lei è invitato",
        "de": "Sie sind eingeladen",
    }.items():
        consents.save_text(owner=owner, values={"body": body}, language=language, actor=None)
    assert "Sie sind eingeladen" in client.get(f"{study}?lang=de", HTTP_ACCEPT_LANGUAGE="it").content.decode()
    page = Client().get(study, HTTP_ACCEPT_LANGUAGE="it,en;q=0.1")
    assert "Lei è invitato" in page.content.decode()  # of a language that our own pages do not have
    assert head_of(page) == '<html lang="en">'


def test_pages_of_requesters_and_programs_stay_english_whoever_asks(stage):
    user = User.objects.create_user("mara", password="plum tree harbour", is_staff=True)
    set_role(project=stage.project, user=user, role="manager")
    client = Client()
    client.force_login(user)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    for address in ("/requester/new", "/admin/login/"):
        page = client.get(address, **GERMAN)
        assert head_of(page).startswith('<html lang="en') if b"<html" in page.content else True, address
        assert 'name="lang"' not in page.content.decode(), address
        assert not page.has_header("Content-Language"), address
    refused = Client().post("/admin/login/", {"username": "", "password": ""}, **GERMAN).content.decode()
    assert "This field is required." in refused
    german, english = (Client().get("/api/v1/projects", **asked).json()["detail"] for asked in (GERMAN, {}))
    assert german == english
    client.get("/", **GERMAN)
    assert translation.get_language() == "en"  # of the thread, whose next request may be the protocol's


def test_the_desk_speaks_a_language_that_somebody_chose_if_it_has_it(stage):
    user = User.objects.create_user("mara", password="plum tree harbour")
    set_role(project=stage.project, user=user, role="owner")
    client = Client()
    client.force_login(user)
    overview = f"/desk/projects/{stage.project.slug}/"
    page = client.get(overview, **GERMAN)
    assert head_of(page) == '<html lang="en">'
    assert re.findall(r'<option value="([a-z-]+)" lang', page.text) == ["en", "de"]
    assert head_of(client.get(overview + "?lang=ar")) == '<html lang="en">'
    page = client.get(overview + "?lang=de")
    assert head_of(page) == '<html lang="de">'
    assert all(f">{words}<" in page.text for words in ("Überblick", "Phasen", "Was geschehen ist", "Sammeln"))
    table = client.get(f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/hits/").text
    assert "Beantwortet" in table
    assert head_of(client.get("/desk/nothing/")) == '<html lang="de">'


@pytest.mark.parametrize("address", ["", "stages/", "settings/", "events/", "agreement/", "find/"])
def test_coordinates_on_the_desk_are_numbers_in_german_too(address, stage):
    user = User.objects.create_user("mara", password="plum tree harbour")
    set_role(project=stage.project, user=user, role="owner")
    client = Client()
    client.force_login(user)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    page = client.get(f"/desk/projects/{stage.project.slug}/{address}", follow=True).text
    assert not re.search(r'\b(?:x|y|x1|x2|y1|y2|r|cx|cy|width|height|step|min|max|value)="-?\d+,\d+"', page)


def test_the_profile_of_a_worker_decides_after_links_and_before_the_browser(client):
    rosa = world.make_worker("rosa")
    client.force_login(rosa.user)
    client.get("/?lang=es")
    profile = {"language": "fr", "accept_next": "on"}
    answer = client.post("/profile", profile, follow=True).content.decode()
    assert "Votre profil est enregistré." in answer
    rosa.refresh_from_db()
    assert (rosa.language, rosa.accept_next) == ("fr", True)
    assert head_of(client.get("/", **GERMAN)) == '<html lang="fr">'
    later = Client()
    later.post("/accounts/login/", {"username": "rosa", "password": "still warm copper"})
    assert head_of(later.get("/", **GERMAN)) == '<html lang="fr">'
    assert head_of(later.get("/?lang=es", **GERMAN)) == '<html lang="es">'


def test_who_signs_up_gets_letters_in_the_language_of_the_form(client, settings):
    settings.MARKETPLACE_REGISTRATION, settings.NOTICES_BY_EMAIL = "open", True
    words = {"username": "ines", "password1": "still warm copper", "password2": "still warm copper"}
    client.post("/signup?lang=de", words)
    row = Contact.objects.create(
        worker=User.objects.get(username="ines").marketplace_worker,
        waiting_email="ines@example.org",
        waiting_since=datetime.now(UTC),
    )
    contact.send_confirmation(contact_pk=row.pk, base="https://crowd.example.org")
    assert mail.outbox[-1].subject == "Bestätigen Sie Ihre E-Mail-Adresse"


def test_money_times_and_figures_are_written_as_the_language_does():
    when = datetime(2026, 11, 30, 17, 5, tzinfo=UTC)
    written = {}
    for language in ("en", "de", "fr"):
        with translation.override(language):
            written[language] = (money(123456), span(90_000), Opinion(4.25, 3).mean_text, moment(when))
    assert written["en"][:3] == ("$1,234.56", "1 day 1 h", "4.2")
    assert ">30 Nov 2026, 17:05 UTC<" in written["en"][3]
    assert written["de"][:3] == ("1.234,56 $", "1 Tag 1 h", "4,2")
    assert ">30.11.2026 17:05 UTC<" in written["de"][3]
    assert 'datetime="2026-11-30T17:05:00+00:00"' in written["de"][3]
    assert written["fr"][0] == "1\N{NO-BREAK SPACE}234,56 $"


def test_the_languages_and_who_has_read_them_are_told(client):
    page = client.get("/languages/").content.decode()
    assert all(f'href="?lang={code}"' in page for code, _ in settings.LANGUAGES)
    assert page.count("None yet") == len(settings.LANGUAGES) - 1


def test_the_choice_of_a_language_keeps_what_else_the_address_says(client, db):
    page = client.get("/accounts/login/?lang=de&items=1&next=%2Fqueue").text
    form = page[page.index('class="languages"') :]
    assert '<input type="hidden" name="items" value="1">' in form
    assert '<input type="hidden" name="next" value="/queue">' in form


def test_where_a_researcher_wrote_no_consent_each_reads_ours_in_their_language(client, study, stage):
    for language, words in {"de": "Die Teilnahme ist freiwillig", "ja": "参加は任意です"}.items():
        page = Client().get(study, HTTP_ACCEPT_LANGUAGE=language).content.decode()
        assert words in page
        assert f'<div class="prose" lang="{language}"' in page
    assert "Taking part is voluntary" in Client().get(study, HTTP_ACCEPT_LANGUAGE="is").content.decode()
    english_as_german = {name: str(words).strip() for name, words in consents.first_values().items()}
    ConsentText.objects.filter(language="de").update(**english_as_german)  # as versions before stored it
    assert "Die Teilnahme ist" in Client().get(study, HTTP_ACCEPT_LANGUAGE="de").content.decode()
    values = consents.first_values() | {"body": "Our own words."}
    consents.save_text(owner=project_owner(stage.project), values=values, actor=None)
    for language in ("de", "ja", "en"):
        assert "Our own words." in Client().get(study, HTTP_ACCEPT_LANGUAGE=language).content.decode()
    assert consents.newest_text(project_owner(stage.project)).body == "Our own words."


def test_a_link_without_languages_offers_all_that_somebody_wrote(client, study, stage):
    owner = project_owner(stage.project)
    for language, body in {"en": "In English.", "de": "Auf Deutsch."}.items():
        consents.save_text(owner=owner, values={"body": body}, language=language, actor=None)
    for wanted, body in {"de-CH": "Auf Deutsch.", "fr": "In English."}.items():
        assert body in Client().get(study, HTTP_ACCEPT_LANGUAGE=wanted).content.decode()
    StudyLink.objects.update(languages=["en"])
    assert "In English." in Client().get(study, HTTP_ACCEPT_LANGUAGE="de").content.decode()


def test_the_form_of_the_consent_text_begins_a_language_with_our_text(stage):
    mara = User.objects.create_user("mara", password="plum tree harbour")
    set_role(project=stage.project, user=mara, role="manager")
    client = Client()
    client.force_login(mara)
    values = consents.first_values() | {"contact": "mara@example.org"}
    consents.save_text(owner=project_owner(stage.project), values=values, actor=mara)
    address = f"/desk/projects/{stage.project.slug}/people/consent/"
    assert 'href="?language=de"' in client.get(address).content.decode()
    page = client.get(f"{address}?language=de").content.decode()
    assert 'value="de"' in page
    assert "Sie sind eingeladen" in page
