"""What this app adds to others: kinds of stages, pages of the desk, notices, actions of the event log."""

from annotation.beginnings import REFERENCE
from annotation.desk import agreements, funnel, queues, steps
from annotation.kinds.continuation import Continuation
from annotation.kinds.curation import Curation
from annotation.kinds.distillation import Distillation
from annotation.kinds.distillation_config import WRITING_KINDS
from annotation.kinds.screening import Screening
from core.extensions import Extension
from core.notices.job_failures import JobKindNotice, pages_of_project
from core.projects.services import EventActions
from crowd.desk.agreements import Source
from crowd.desk.overview import OverviewSource
from web.nav import Page

EXTENSION = Extension(
    Screening(),
    Curation(),
    Distillation(),
    Continuation(),
    REFERENCE,
    Page("Queries", "annotation:queries", "queries"),
    Page("Corpora", "annotation:corpora", "corpora", position=44),
    Page("Search", "annotation:search", "search", position=45),
    Page("Adjudication", "annotation:adjudication", "adjudication"),
    Page("Agreement", "annotation:agreement", "agreement", kinds=("screening", "curation")),
    Page("Answers", "annotation:answers", "answers", kinds=WRITING_KINDS),
    OverviewSource("annotation", funnel.say, position=10),
    Source(agreements.KINDS, agreements.rows_of),
    queues.SEPARATE,
    *queues.QUEUES,
    *steps.STEPS,
    JobKindNotice("annotation.import", "An import of queries", pages_of_project("annotation:import_job")),
    EventActions(
        {
            "queries.imported": "imported queries",
            "query.withdrawn": "took a query out",
            "query.put_back": "put a query back",
            "query.adjudicated": "decided about a query",
            "query.accepted": "accepted a query by hand",
            "query.excluded": "excluded a query by hand",
            "query.taken_back": "took back a decision about a query",
            "query.doubt_settled": "settled a doubt about a query",
            "query.sent_to_curation": "sent a question from the search page to curation",
            "answer.rewrite_asked": "asked for an answer to be written again",
            "answer.excluded": "excluded an answer",
            "answers.held_out": "held answers out",
            "answers.taken_back": "made held-out answers references again",
        }
    ),
)
