"""What is known about corpora."""

from dataclasses import dataclass

from django.db.models import Count, QuerySet
from django.utils import timezone

from core.projects.models import Project
from retrieval.copies import folder_of
from retrieval.engine.files import is_held
from retrieval.errors import CorpusError
from retrieval.models import Corpus

NOTHING_YET = (
    "There is nothing to search yet. Add passages (manage.py corpus add) and build the index "
    "(manage.py index build)."
)


@dataclass(frozen=True)
class CorpusFacts:
    """One line of a list of corpora."""

    corpus: Corpus
    passages: int
    building: bool


def is_building(corpus: Corpus) -> bool:
    """Whether somebody changes the corpus at this moment, on this host or on another."""
    held_until = corpus.held_until
    return is_held(folder_of(corpus.index) / "work") or (
        held_until is not None and held_until > timezone.now()
    )


def corpus_named(project: Project, slug: str) -> Corpus:
    """A corpus of a project; CorpusError names those that there are."""
    corpus = corpora_of(project).filter(slug=slug).first()
    if corpus is None:
        slugs = ", ".join(corpora_of(project).values_list("slug", flat=True)[:20]) or "none"
        raise CorpusError(f"There is no corpus {slug!r} in {project.slug!r}; there is: {slugs}.")
    return corpus


def corpus_called(name: str) -> Corpus:
    """The corpus PROJECT/SLUG, or the only one of that slug. CorpusError where there is none, or several."""
    slug, slash, rest = name.partition("/")
    if slash:
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise CorpusError(f"There is no project {slug!r}. Name a corpus as PROJECT/SLUG.")
        return corpus_named(project, rest)
    corpora = list(Corpus.objects.filter(slug=name).select_related("index", "network", "project")[:20])
    if len(corpora) == 1:
        return corpora[0]
    if corpora:
        names = ", ".join(sorted(f"{corpus.project.slug}/{corpus.slug}" for corpus in corpora))
        raise CorpusError(f"There are several corpora {name!r}: {names}. Name one of these.")
    raise CorpusError(f"There is no corpus {name!r}. Name one as PROJECT/SLUG.")


def corpora_of(project: Project) -> QuerySet[Corpus]:
    """All corpora of a project with their indexes and networks."""
    corpora = Corpus.objects.filter(project=project)
    return corpora.select_related("index", "network", "project").order_by("slug")


def searchable(project: Project) -> list[Corpus]:
    """Corpora of a project that have been indexed at least once."""
    return list(corpora_of(project).filter(index__generation__gt=0))


def corpus_facts(project: Project) -> list[CorpusFacts]:
    """Corpora with how many passages each has, and whether somebody works on it at this moment."""
    corpora = corpora_of(project).annotate(held=Count("passages"))
    return [CorpusFacts(corpus, corpus.held, building=is_building(corpus)) for corpus in corpora]
