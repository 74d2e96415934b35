"""Jobs of this app that people should know of when they fail; see `core.notices.job_failures`."""

from core.notices.job_failures import JobKindNotice, know_job, pages_of_project


def everything() -> None:
    """Imports of queries."""
    know_job(
        JobKindNotice("annotation.import", "An import of queries", pages_of_project("annotation:import_job"))
    )
