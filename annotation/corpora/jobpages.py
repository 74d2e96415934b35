"""Work on a corpus that waits or runs."""

from typing import Any

from annotation.corpora.selectors import ADD, INDEX, KINDS, NETWORK, REMOVE
from annotation.corpora.views import FOLDER, TAB
from core.jobs.models import Job
from retrieval.models import Corpus
from web.job_pages import JobPages

_DOING = {
    ADD: "Passages are added",
    INDEX: "The index is built",
    NETWORK: "The network is built",
    REMOVE: "The corpus is removed",
}
#: What is left when the work is cancelled or fails.
_LEFT = {
    ADD: "Nothing of the file is added.",
    INDEX: "What was found before is found still. Building again goes on where it was.",
    NETWORK: "The network of before, if there is one, still answers.",
    REMOVE: "Removing it again goes on where it was.",
}


class CorpusJobs(JobPages):
    """Adding passages, building an index or a network, removing a corpus."""

    app = live_folder = FOLDER
    name = "corpus"
    tab = TAB
    kinds = tuple(KINDS)

    def describe_rest(self, job: Job) -> str:
        """What stays depends on the kind of work."""
        return _LEFT[job.kind]

    def context(self, job: Job) -> dict[str, Any]:
        """The work in words, and whether the corpus is still there."""
        return super().context(job) | {
            "doing": _DOING[job.kind],
            "left": _LEFT[job.kind],
            "kind": job.kind.rpartition(".")[2],
            "there": Corpus.objects.filter(pk=job.payload["corpus"]).exists(),
        }


JOBS = CorpusJobs()
