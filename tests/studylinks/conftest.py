"""A requester with money and HITs of its own page, and links that lead to them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.origin import Owner
from marketplace.forms.questions import html_question_xml
from marketplace.models import HIT, HITType, Requester
from people.links import LinkPlan, make_link
from people.models import StudyLink
from people.tokens import token_of
from tests.site import world

PAGE = html_question_xml("<form><input name=answer></form>", 0)


@pytest.fixture
def owner(db) -> User:
    return User.objects.create_user("olga", password="still warm copper")


@pytest.fixture
def lab(owner) -> Requester:
    return world.make_requester("Answer Lab", dollars=100, owner=owner)


@pytest.fixture
def group(lab) -> HITType:
    return world.make_group(lab, reward_cents=50)


@pytest.fixture
def hits(group) -> list[HIT]:
    """Two HITs with two places each."""
    return [world.post(group, question=PAGE, places=2) for _ in range(2)]


@pytest.fixture
def new_link(lab):
    """Makes links of the lab; `plan` as LinkPlan has it."""

    def make(**plan) -> StudyLink:
        given = {"title": "Read and answer", "target": "requester:all", **plan}
        return make_link(owner=Owner(Owner.Kind.REQUESTER, lab.pk), plan=LinkPlan(**given), actor=None)

    return make


@pytest.fixture
def path_of():
    """The path of a link."""
    return lambda link: f"/join/{token_of(link)}/"


@pytest.fixture
def as_owner(owner) -> Client:
    client = Client()
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client
