"""What this app adds to others when Django starts."""

from core.projects.services import know_actions
from crowd.desk.agreements import Source, add_source
from crowd.desk.beginnings import add_beginning
from crowd.desk.overview import OverviewSource, add_overview_source
from crowd.desk.panels import WorkerSection, add_worker_section
from crowd.kinds import register
from crowd.selectors.people import Knowledge, add_knowledge
from judgments.beginnings import ADEM, KPQA
from judgments.desk import agreements, funnel, people, steps
from web.nav import Page, add_page


def everything() -> None:
    """Kinds of stages, pages of the desk, actions of the event log."""
    _kinds()
    _pages()
    _notices()
    steps.everything()
    add_beginning(KPQA)
    add_beginning(ADEM)
    know_actions(
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
    )


def _kinds() -> None:
    """Judging."""
    from judgments.kinds.judging import Judging  # noqa: PLC0415 - needs the models
    from judgments.kinds.training import JudgeTraining  # noqa: PLC0415

    register(Judging())
    register(JudgeTraining())


def _pages() -> None:
    """Tabs, steps of the funnel, rows of the page of agreement."""
    add_overview_source(OverviewSource("judgments", funnel.say, position=20))
    add_source(Source(agreements.KINDS, agreements.rows_of))
    add_knowledge(Knowledge(people.KIND, people.judged, people.stamp))
    add_worker_section(WorkerSection("judgments/parts/worker_plots.html", people.plots))
    add_page(Page("Systems", "judgments:systems", "systems"))
    for label, name in (
        ("Agreement", "agreement"),
        ("Filters", "filters"),
        ("Scores", "scores"),
        ("Judges", "judges"),
        ("Planning", "planning"),
    ):
        add_page(Page(label, f"judgments:{name}", name, kinds=("judging",)))


def _notices() -> None:
    """Rules and jobs that people should know of."""
    from core.notices.conditions import Rule, add_rule  # noqa: PLC0415
    from core.notices.job_failures import JobKindNotice, know_job, pages_of_project  # noqa: PLC0415
    from judgments import watch  # noqa: PLC0415 - needs the models

    add_rule(Rule("agreement", watch.agreement_below_target, kinds=("agreement",)))
    know_job(
        JobKindNotice("judgments.import", "An import of answers", pages_of_project("judgments:import_job"))
    )
    know_job(JobKindNotice("judgments.report", "The report on agreement", watch.pages_of_reports))
