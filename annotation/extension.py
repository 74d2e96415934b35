"""What this app adds to others: kinds of stages, pages of the desk, notices, actions of the event log."""

from django.utils.translation import gettext_noop

from annotation.continuation import Continuation
from annotation.curation import Curation
from annotation.desk import overview
from annotation.distillation import Distillation
from annotation.screening import Screening
from annotation.writing_config import WRITING_KINDS
from core.extensions import Extension
from core.notices.conditions import JobKindNotice, pages_of_project
from core.projects.services import EventActions
from crowd.desk.agreement import Source
from crowd.desk.beginnings import StagePreset
from crowd.desk.overview import OverviewSource
from web.api import ApiPart
from web.nav import Finder, Group, Page, Place

# The beginning for reference answers: the first three stages of the pipeline (paper 000, section 3).

REFERENCE = StagePreset(
    "reference",
    "Reference answers",
    "From a query log to many independent answers per query: screening, curation of passages, distillation.",
    brings="Queries, as a log or a public data set, with candidate passages or an index to find them in.",
    title="Reference answers",
    budget="500.00",
    stages=(
        {
            "slug": "screening",
            "title": "Screening",
            "kind": "screening",
            "reward": "0.30",
            "redundancy": 3,
            "units_per_hit": 5,
            "checks_per_hit": 1,
            "expected_minutes": 1.5,
            "hold_failed_checks": True,
            "config": {
                "checks": {"youtube": "navigational", "cheap flights to lisbon": "transactional"},
            },
        },
        {
            "slug": "curation",
            "title": "Curation",
            "kind": "curation",
            "reward": "0.50",
            "redundancy": 1,
            "expected_minutes": 3.0,
        },
        {
            "slug": "distillation",
            "title": "Distillation",
            "kind": "distillation",
            "reward": "0.40",
            "redundancy": 20,
            "expected_minutes": 2.0,
            "approve": "by-hand",
        },
    ),
)


EXTENSION = Extension(
    ApiPart("annotation.api"),
    Screening(),
    Curation(),
    Distillation(),
    Continuation(),
    REFERENCE,
    Place(
        gettext_noop("Queries"),
        "queries",
        "annotation:queries",
        Group.COLLECT,
        20,
        icon="message-circle-question-mark",
        count=overview.count_queries,
    ),
    Place(
        gettext_noop("Passages"),
        "passages",
        "annotation:corpora",
        Group.COLLECT,
        30,
        icon="book-open",
        count=overview.count_passages,
    ),
    Page(gettext_noop("Corpora"), "annotation:corpora", "corpora", place="passages", position=10),
    Page(gettext_noop("Search"), "annotation:search", "search", place="passages", position=20),
    Page(
        gettext_noop("Adjudication"), "annotation:adjudication", "adjudication", place="decide", position=20
    ),
    Page(gettext_noop("Agreement"), "annotation:agreement", "agreement", kinds=("screening", "curation")),
    Page(gettext_noop("Answers"), "annotation:answers", "answers", kinds=WRITING_KINDS),
    Finder("Queries", 20, overview.find_queries),
    OverviewSource("annotation", overview.say, position=10),
    Source(overview.AGREEMENT_KINDS, overview.agreement_rows),
    overview.SEPARATE,
    *overview.QUEUES,
    *overview.STEPS,
    JobKindNotice("annotation.import", "An import of queries", pages_of_project("annotation:import_job")),
    JobKindNotice(
        "annotation.queries-file", "The file of queries", pages_of_project("annotation:queries_file_job")
    ),
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
            "answer.decision_undone": "undid a decision about an answer at once",
            "answers.held_out": "held answers out",
            "answers.taken_back": "made held-out answers references again",
        }
    ),
)
