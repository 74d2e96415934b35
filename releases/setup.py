"""What this app adds to others when Django starts."""

from core.projects.services import know_actions
from crowd.desk.overview import OverviewSource, add_overview_source
from web.nav import Page, Place, add_page, add_place


def everything() -> None:
    """A tab, a place of the sidebar, the last step of the funnel, actions of the log, and notices."""
    from core.notices.conditions import Rule, add_rule  # noqa: PLC0415 - needs the models
    from core.notices.job_failures import JobKindNotice, know_job, pages_of_project  # noqa: PLC0415
    from releases import watch  # noqa: PLC0415
    from releases.desk import funnel  # noqa: PLC0415

    add_page(Page("Releases", "releases:list", "releases", position=90))
    add_place(Place("Releases", "releases", "releases:everywhere", "releases:list", position=30))
    add_overview_source(OverviewSource("releases", funnel.say, position=30))
    add_rule(Rule("releases", watch.built_or_failed, kinds=("release_built", "release_failed")))
    know_job(JobKindNotice("releases.check", "A privacy check", pages_of_project("releases:check_job")))
    know_actions(
        {
            "release.planned": "began a release",
            "release.built": "built a release",
            "release.failed": "could not build a release",
            "release.withdrawn": "withdrew a release",
            "release.public": "showed a release to everybody",
            "release.private": "hid a release from the public",
            "release.downloaded": "downloaded a file of a release",
            "scores.imported": "imported human scores",
            "privacy.checked": "looked for what tells who somebody is",
            "privacy.accepted": "accepted findings of the privacy check",
            "privacy.redacted": "blacked out findings of the privacy check",
            "privacy.reopened": "took back decisions about findings of the privacy check",
        }
    )
