"""The crowd app."""

from django.apps import AppConfig


class CrowdConfig(AppConfig):
    """Django's handle on the app."""

    name = "crowd"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Lead members of projects to them after log-in; make rules of notices known, and show them."""
        from core.accounts.places import Place, add_place  # noqa: PLC0415
        from crowd.desk import attention, overview, panels, queues, steps  # noqa: PLC0415
        from crowd.watch import setup  # noqa: PLC0415
        from web import nav  # noqa: PLC0415
        from web.access import has_projects, may_have_projects  # noqa: PLC0415

        add_place(Place("Projects", "desk:projects", may_have_projects, has_projects))
        setup.everything()
        queues.add_own()
        steps.add_own()
        panels.add_section(panels.Section("desk/next_steps.html", steps.section))
        nav.add_page(nav.Page("To decide", "desk:queues", "queues"))
        overview.add_overview_source(overview.OverviewSource("crowd", attention.say, position=0))
