"""Where the queries and answers of each group (`releases.groups`) can be looked at on the desk."""

from django.urls import reverse

from core.projects.models import Project
from crowd.models import Stage

_Place = tuple[str, str]


def of(project: Project) -> dict[str, list[_Place]]:
    """Labels and addresses of the pages that list each group."""

    def queries(query: str) -> str:
        return f"{reverse('annotation:queries', args=[project.slug])}?{query}"

    stages = Stage.objects.filter(project=project, kind="distillation").order_by("pk")
    reviews = [
        (f"Review of {title}", f"{reverse('annotation:answers', args=[project.slug, slug])}?state=all")
        for slug, title in stages.values_list("slug", "title")
    ]
    return {
        "disputed": [("To decide", reverse("annotation:adjudication", args=[project.slug]))],
        "unanswered": [("Look at them", queries("only=no-answer"))],
        "taken_out": [
            ("Excluded", queries("status=excluded")),
            ("Taken out", queries("status=withdrawn")),
        ],
        "nothing_collected": [("Look at them", queries("only=no-answer"))],
        "undecided": [("Look at them", queries("only=undecided"))],
        "flagged": [("Look at them", queries("only=flagged"))],
        "rewrite": [("Look at them", queries("only=rewrite"))],
        "held": [("To decide", reverse("desk:queues", args=[project.slug]))],
        "excluded": reviews,
        "replaced": reviews,
        "work_not_accepted": reviews,
    }
