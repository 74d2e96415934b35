"""What this app adds to others when Django starts."""

from annotation.beginnings import REFERENCE
from annotation.desk import agreements, funnel, queues, steps
from core.projects.services import know_actions
from crowd.desk.agreements import Source, add_source
from crowd.desk.beginnings import add_beginning
from crowd.desk.overview import OverviewSource, add_overview_source
from crowd.kinds import register
from web.nav import Page, add_page


def everything() -> None:
    """Kinds of stages, pages of the desk, actions of the event log."""
    from annotation import watch  # noqa: PLC0415 - needs the models

    _kinds()
    _pages()
    watch.everything()
    add_beginning(REFERENCE)
    queues.everything()
    steps.everything()
    know_actions(
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
    )


def _kinds() -> None:
    """Screening, curation, distillation."""
    from annotation.kinds.curation import Curation  # noqa: PLC0415 - needs the models
    from annotation.kinds.distillation import Distillation  # noqa: PLC0415
    from annotation.kinds.screening import Screening  # noqa: PLC0415

    register(Screening())
    register(Curation())
    register(Distillation())


def _pages() -> None:
    """Tabs, steps of the funnel, rows of the page of agreement."""
    add_page(Page("Queries", "annotation:queries", "queries"))
    add_page(Page("Corpora", "annotation:corpora", "corpora", position=44))
    add_page(Page("Search", "annotation:search", "search", position=45))
    add_overview_source(OverviewSource("annotation", funnel.say, position=10))
    add_source(Source(agreements.KINDS, agreements.rows_of))
    add_page(Page("Adjudication", "annotation:adjudication", "adjudication"))
    add_page(Page("Agreement", "annotation:agreement", "agreement", kinds=("screening", "curation")))
    add_page(Page("Answers", "annotation:answers", "answers", kinds=("distillation",)))
