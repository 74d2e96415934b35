"""What this app adds to others: pages of the desk, notices, actions of the event log."""

from core.extensions import Extension
from core.notices.conditions import Rule
from core.notices.job_failures import JobKindNotice, pages_of_project
from core.projects.services import EventActions
from crowd.desk.overview import OverviewSource
from releases import watch
from releases.desk import funnel
from web.nav import Page, Place

EXTENSION = Extension(
    Place("Releases", "releases", "releases:everywhere", "releases:list", position=30),
    Page("Releases", "releases:list", "releases", position=90),
    OverviewSource("releases", funnel.say, position=30),
    Rule("releases", watch.built_or_failed, kinds=("release_built", "release_failed")),
    JobKindNotice("releases.check", "A privacy check", pages_of_project("releases:check_job")),
    EventActions(
        {
            "release.planned": "began a release",
            "release.built": "built a release",
            "release.failed": "could not build a release",
            "release.withdrawn": "withdrew a release",
            "release.public": "showed a release to everybody",
            "release.private": "hid a release from the public",
            "release.downloaded": "downloaded a file of a release",
            "scores.imported": "imported human scores",
            "privacy.checked": "looked for personal data",
            "privacy.accepted": "accepted findings of the privacy check",
            "privacy.redacted": "blacked out findings of the privacy check",
            "privacy.reopened": "took back decisions about findings of the privacy check",
        }
    ),
)
