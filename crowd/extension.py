"""What this app adds to others, and its own parts of the desk: places, queues, steps and notices."""

from django.utils.translation import gettext_noop

from core.accounts.places import Place as AccountPlace
from core.extensions import Extension
from core.notices.conditions import Rule
from core.origin import Owner
from core.projects.selectors import may_have_projects
from core.projects.services import EventActions
from core.webhooks.events import EventType
from crowd import watch
from crowd.desk import find, overview, settings
from crowd.desk.overview import OverviewSource, Section, SettingsSection
from crowd.selectors import queues
from crowd.services.deals import ProjectTarget, StageTarget
from web.api import ApiPart
from web.nav import Finder, Group, Page, Place

#: What webhooks of projects are told of the crowd; `crowd.watch` tells of what no action of the log causes.
EVENT_TYPES = (
    EventType(
        "stage.opened",
        "A stage was opened",
        Owner.Kind.PROJECT,
        ("stage.opened", "stage.reopened"),
        subject="stage",
        page="desk:stage",
    ),
    EventType(
        "stage.paused",
        "A stage was paused",
        Owner.Kind.PROJECT,
        ("stage.paused",),
        subject="stage",
        page="desk:stage",
    ),
    EventType(
        "stage.closed",
        "A stage was closed",
        Owner.Kind.PROJECT,
        ("stage.closed",),
        subject="stage",
        page="desk:stage",
    ),
    EventType("stage.progress", "Another tenth of a stage is answered", Owner.Kind.PROJECT),
    EventType("answer.arrived", "An answer arrived", Owner.Kind.PROJECT),
)

EXTENSION = Extension(
    AccountPlace("Projects", "desk:projects", may_have_projects),
    ApiPart("crowd.api"),
    Place(
        gettext_noop("Projects"), "projects", "", Group.FIRST, 10, everywhere="desk:projects", icon="folder"
    ),
    Place(gettext_noop("Overview"), "project", "desk:project", Group.FIRST, 10, icon="layout-dashboard"),
    Place(
        gettext_noop("Stages"),
        "board",
        "desk:board",
        Group.COLLECT,
        40,
        icon="layers",
        count=overview.count_stages,
    ),
    Place(
        gettext_noop("To decide"),
        "decide",
        "desk:queues",
        Group.QUALITY,
        50,
        icon="list-checks",
        count=overview.count_waiting,
        waits=True,
    ),
    Page(gettext_noop("By kind"), "desk:queues", "queues", place="decide", position=10),
    Place(
        gettext_noop("Workers"),
        "workers",
        "desk:project_workers",
        Group.QUALITY,
        60,
        everywhere="desk:all_workers",
        icon="users",
    ),
    Place(gettext_noop("Agreement"), "agreement", "desk:agreement", Group.QUALITY, 70, icon="scale"),
    Place(
        gettext_noop("Money"),
        "money",
        "desk:settings",
        Group.PROJECT,
        120,
        icon="wallet",
        count=overview.tell_spent,
        anchor="budget",
        applies=overview.has_money,
    ),
    Place(
        gettext_noop("Settings"),
        "settings",
        "desk:settings",
        Group.PROJECT,
        130,
        everywhere="desk:my_settings",
        icon="settings",
    ),
    Finder("Stages", 10, find.find_stages),
    Finder("Workers", 40, find.find_workers),
    OverviewSource("crowd", overview.say, position=0),
    Section("desk/next_steps.html", overview.next_steps_section),
    SettingsSection("desk/parts/endpoints.html", settings.endpoints_section),
    SettingsSection("desk/parts/tokens.html", settings.tokens_section),
    *overview.STEPS,
    *queues.QUEUES,
    EventActions(
        {
            "stage.sources_changed": "changed the sources of a stage",
            "source.opened": "opened a source of a stage",
            "source.paused": "paused a source of a stage",
            "source.closed": "closed a source of a stage",
            "source.work_moved": "gave the work of a source to the others",
            "endpoint.allowed": "let the project spend from a marketplace",
            "endpoint.disallowed": "took the right to spend from a marketplace away",
            "match.decided": "said whether two workers are one person",
        }
    ),
    ProjectTarget(),
    StageTarget(),
    Rule("halted", watch.halted, kinds=("halted",)),
    Rule("budget", watch.low_or_reached, kinds=("budget_low", "budget_reached")),
    Rule("expiring", watch.expiring, kinds=("expiring",)),
    Rule("auto_approval", watch.auto_approval, kinds=("auto_approval",)),
    Rule("stuck", watch.stuck, kinds=("stuck",)),
    Rule("blocked", watch.blocked, kinds=("blocked",)),
    Rule("undecided", watch.undecided, kinds=("undecided",)),
    Rule("finished", watch.finished, kinds=("finished",)),
    *EVENT_TYPES,
    watch.WATCH,
)
