"""What this app adds to others when Django starts."""

from annotation.desk.query_links import PageOfQuery, add_page_of_query
from core.projects.services import know_actions
from crowd.desk.overview import OverviewSource, add_overview_source
from web.nav import Page, Place, add_page, add_place


def everything() -> None:
    """A tab, a place of the sidebar, sentences of the overview, actions of the log, and notices."""
    from core.notices.conditions import Rule, add_rule  # noqa: PLC0415
    from evaluations import watch  # noqa: PLC0415 - needs the models
    from evaluations.desk import funnel  # noqa: PLC0415

    add_page_of_query(PageOfQuery("What metrics see in it", "evaluations:query"))
    add_page(Page("Evaluations", "evaluations:list", "evaluations", position=95))
    add_place(Place("Evaluations", "evaluations", "evaluations:everywhere", "evaluations:list", position=35))
    add_overview_source(OverviewSource("evaluations", funnel.say, position=40))
    add_rule(Rule("evaluations", watch.over, kinds=("evaluation_ready", "evaluation_failed")))
    add_rule(Rule("evaluations-silent", watch.silent, kinds=("evaluation_silent",)))
    know_actions(
        {
            "evaluation.planned": "began an evaluation",
            "evaluation.ready": "finished an evaluation",
            "evaluation.failed": "could not finish an evaluation",
            "evaluation.cancelled": "cancelled an evaluation",
            "leaderboard.shown": "showed a leaderboard to everybody",
            "leaderboard.hidden": "hid a leaderboard from the public",
            "external.kept": "uploaded scores from elsewhere",
            "external.removed": "removed scores from elsewhere",
        }
    )
