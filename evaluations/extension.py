"""What this app adds to others: pages of the desk, notices, actions of the event log."""

from annotation.desk.query_links import PageOfQuery
from core.extensions import Extension
from core.notices.conditions import Rule
from core.projects.services import EventActions
from crowd.desk.overview import OverviewSource
from evaluations import watch
from evaluations.desk import funnel
from web.nav import Page, Place

EXTENSION = Extension(
    Place("Evaluations", "evaluations", "evaluations:everywhere", "evaluations:list", position=35),
    Page("Evaluations", "evaluations:list", "evaluations", position=95),
    PageOfQuery("What metrics see in it", "evaluations:query"),
    OverviewSource("evaluations", funnel.say, position=40),
    Rule("evaluations", watch.over, kinds=("evaluation_ready", "evaluation_failed")),
    Rule("evaluations-silent", watch.silent, kinds=("evaluation_silent",)),
    EventActions(
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
    ),
)
