"""What this app adds to others: kinds of stages, pages of the desk, notices, actions of the event log."""

from core.extensions import Extension
from core.notices.conditions import Rule
from core.notices.job_failures import JobKindNotice, pages_of_project
from core.projects.services import EventActions
from crowd.desk.agreements import Source
from crowd.desk.overview import OverviewSource
from crowd.desk.panels import WorkerSection
from crowd.selectors.people import Knowledge
from judgments import watch
from judgments.beginnings import ADEM, DIALOGUES, KPQA
from judgments.desk import agreements, funnel, people, steps
from judgments.kinds.judging import Judging
from judgments.kinds.training import JudgeTraining
from web.nav import Page

EXTENSION = Extension(
    Judging(),
    JudgeTraining(),
    KPQA,
    ADEM,
    DIALOGUES,
    Page("Systems", "judgments:systems", "systems"),
    Page("Agreement", "judgments:agreement", "agreement", kinds=("judging",)),
    Page("Filters", "judgments:filters", "filters", kinds=("judging",)),
    Page("Scores", "judgments:scores", "scores", kinds=("judging",)),
    Page("Judges", "judgments:judges", "judges", kinds=("judging",)),
    Page("Planning", "judgments:planning", "planning", kinds=("judging",)),
    OverviewSource("judgments", funnel.say, position=20),
    Source(agreements.KINDS, agreements.rows_of),
    Knowledge(people.KIND, people.judged, people.stamp),
    WorkerSection("judgments/parts/worker_plots.html", people.plots),
    *steps.STEPS,
    Rule("agreement", watch.agreement_below_target, kinds=("agreement",)),
    JobKindNotice("judgments.import", "An import of answers", pages_of_project("judgments:import_job")),
    JobKindNotice("judgments.report", "The report on agreement", watch.pages_of_reports),
    EventActions(
        {
            "candidates.imported": "imported answers of systems",
            "candidates.human": "made held-out answers candidates",
            "candidates.exact": "set copies of references aside",
            "candidate.withdrawn": "took a system's answer out",
            "candidate.put_back": "put a system's answer back",
            "filter.applied": "applied filters to judgments",
            "filter.undone": "undid filters",
            "filter.remade": "decided again what filters decide",
        }
    ),
)
