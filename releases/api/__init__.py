"""Operations of the API about releases: what would go in, privacy, builds, files."""

from releases.api import findings, releases
from releases.errors import ReleaseError
from web.api.problems import ProblemKind

RESOURCES = (releases.releases, findings.findings)
PROBLEMS = {ReleaseError: ProblemKind(422, "release_refused")}
