"""Projects in which nothing is collected or changed."""

from core.projects.models import Project
from core.projects.services import why_read_only
from crowd.errors import ReadOnlyError


def refuse_read_only(project: Project) -> None:
    """ReadOnlyError, in words, for a project whose data come from elsewhere."""
    if why := why_read_only(project):
        raise ReadOnlyError(why)
