"""A poll on study links and a link to it."""

import pytest
from django.contrib.auth.models import User

from core.projects.services import set_role
from crowd.models import Stage
from crowd.services import stages
from crowd.services.endpoints import create_endpoint
from crowd.services.tick import tick
from people.links import LinkPlan, make_link
from people.models import StudyLink
from people.owners import project_owner
from people.tokens import token_of
from tests.crowd.world import make_stage


@pytest.fixture
def stage(db) -> Stage:
    """A poll about two things, three people each, on offer."""
    made = make_stage(create_endpoint(name="links", preset="link", access_key="", secret=""), redundancy=3)
    stages.open_stage(stage=made)
    tick()
    made.refresh_from_db()
    return made


@pytest.fixture
def new_link(stage):
    """Makes links to the poll; `plan` as LinkPlan has it."""

    def make(**plan) -> StudyLink:
        given = {"title": "Tea and coffee", "target": f"stage:{stage.slug}", **plan}
        return make_link(owner=project_owner(stage.project), plan=LinkPlan(**given), actor=None)

    return make


@pytest.fixture
def path_of():
    """The path of a link."""
    return lambda link: f"/join/{token_of(link)}/"


@pytest.fixture
def manager(stage) -> User:
    """A manager of the project."""
    user = User.objects.create_user("mara", password="plum tree harbour")
    set_role(project=stage.project, user=user, role="manager")
    return user
