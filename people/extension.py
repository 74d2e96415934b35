"""What this app adds to others: a tab of projects, a place for people with an account, words of events."""

from django.contrib.auth.models import User
from django.utils.translation import gettext_noop

from core.accounts.places import Place as AccountPlace
from core.extensions import Extension
from core.projects.models import Project
from core.projects.services import EventActions
from people.identities import MarkProvider, marks_of_guests
from people.models import Guest, StudyLink
from people.owners import ProjectLinks
from web.api import ApiPart
from web.nav import Group, Place


def has_studies(user: User) -> bool:
    """Whether the person took part in a study before the account was made of it."""
    return Guest.objects.filter(user=user).exists()


def count_links(project: Project) -> int:
    """All study links of a project, closed ones too."""
    return StudyLink.objects.filter(project=project).count()


EXTENSION = Extension(
    ProjectLinks(),
    ApiPart("people.api", last=True),
    MarkProvider(marks_of_guests),
    Place(
        gettext_noop("People and links"),
        "people",
        "people:links",
        Group.PROJECT,
        110,
        icon="link",
        count=count_links,
    ),
    AccountPlace("Your studies", "people:own", has_studies),
    EventActions(
        {
            "link.made": "made a study link",
            "link.changed": "changed a study link",
            "link.closed": "closed a study link",
            "link.reopened": "reopened a study link",
            "link.quota": "changed the places of a study link",
            "consent.changed": "wrote a version of the consent text",
            "roster.added": "added people to a list",
            "roster.mailed": "sent personal links",
            "link.rehearsed": "let simulated people come by a study link",
            "guest.withdrew": "withdrew from the study",
        }
    ),
)
