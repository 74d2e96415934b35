"""What this room adds to others when Django starts."""

from projects.services import know_actions


def everything() -> None:
    """Kinds of stages, pages of the desk, actions of the event log."""
    _kinds()
    _pages()
    know_actions(
        {
            "queries.imported": "imported queries",
            "answer.rewrite_asked": "asked for an answer to be written again",
            "answer.excluded": "excluded an answer",
            "answers.held_out": "held answers out",
            "answers.taken_back": "made held-out answers references again",
        }
    )


def _kinds() -> None:
    """Screening, curation, distillation."""
    from annotation.kinds.distillation import Distillation  # noqa: PLC0415 - needs the models
    from crowd.kinds import register  # noqa: PLC0415

    register(Distillation())


def _pages() -> None:
    """Tabs and sections."""
    from crowd.desk.panels import Page, add_page  # noqa: PLC0415

    add_page(Page("Answers", "annotation:answers", "answers", kinds=("distillation",)))
