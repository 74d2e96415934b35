"""What a new project needs of this app."""

from annotation.models import CandidatePassage, QuerySource
from core.projects.models import Project
from crowd.desk.overview import FirstStep
from retrieval.models import Corpus

#: Kinds of stages that ask about queries; a project without any stage may have some of them later.
_ASK_ABOUT_QUERIES = frozenset({"screening", "curation", "distillation", "continuation", "judging"})


def _wanted(_: Project, kinds: frozenset[str]) -> bool:
    return not kinds or bool(kinds & _ASK_ABOUT_QUERIES)


def _done(project: Project) -> bool:
    return QuerySource.objects.filter(project=project, state=QuerySource.State.READY).exists()


def _curates(_: Project, kinds: frozenset[str]) -> bool:
    return "curation" in kinds


def _has_passages(project: Project) -> bool:
    """Its queries came with passages, or it has a corpus that can be searched for some."""
    came_with = CandidatePassage.objects.filter(query__project=project).exists()
    return came_with or Corpus.objects.filter(project=project, passages__isnull=False).exists()


STEPS = (
    FirstStep(
        "passages",
        "Add passages",
        "Editors choose from passages. Add a corpus that is searched for every query, or import queries "
        "that bring their passages.",
        "annotation:corpora",
        done=_has_passages,
        wanted=_curates,
        position=25,
    ),
    FirstStep(
        "queries",
        "Import queries",
        "A query log, or a public data set as it is published. You see what is read before anything is "
        "stored.",
        "annotation:import_new",
        done=_done,
        wanted=_wanted,
        position=20,
    ),
)
