"""A project with two textbooks to search, on a running server."""

from pathlib import Path
from typing import Any

from tests.inside import Inside
from tests.server import RunningServer


class Searching(Inside):
    """A project inside the installation of a server."""

    module = "tests.browser.searching"

    def __init__(self, server: RunningServer) -> None:
        super().__init__(self.module, server)

    def project(self, password: str) -> str:
        """A project with the passages of the sample, indexed; its short name, which its owner has too."""
        slug: str = self.ask("project", password=password)
        return slug

    def candidates(self, project: str) -> list[dict[str, Any]]:
        """Queries of the project with their turns and the provenance of their candidates."""
        found: list[dict[str, Any]] = self.ask("candidates", project=project)
        return found


def _project(*, password: str) -> str:
    from django.contrib.auth.models import User

    import annotation
    from core.projects.models import Project
    from core.projects.services import create_project, set_role
    from retrieval.passage_files import open_passages
    from retrieval.services.corpora import add_passages, create_corpus
    from retrieval.services.indexing import build_index
    from retrieval.services.networks import build_network

    slug = f"textbooks-{Project.objects.count() + 1}"
    project = create_project(slug=slug, title="Textbooks")
    user = User.objects.create_user(slug, password=password, is_staff=True)
    set_role(project=project, user=user, role="owner")
    corpus = create_corpus(project=project, slug="textbooks", title="Two OpenStax textbooks")
    add_passages(
        corpus=corpus, file=open_passages(Path(annotation.__file__).parent / "sample" / "passages.jsonl")
    )
    build_index(corpus=corpus)
    build_network(corpus=corpus)
    return slug


def _candidates(*, project: str) -> list[dict[str, Any]]:
    from annotation.models import Query

    return [
        {
            "text": query.text,
            "turns": [turn["text"] for turn in query.context],
            "status": query.status,
            "rankers": sorted({each.retrieval["ranker"] for each in query.candidates.all()}),
            "shown": query.candidates.filter(folded_into=None).count(),
        }
        for query in Query.objects.filter(project__slug=project).order_by("pk")
    ]


COMMANDS = {"project": _project, "candidates": _candidates}
