"""What the task pages of a requester keep in the browser of a worker, lent to them by the page around."""

from django.db import models

from marketplace.models.people import Requester, Worker


class PageStorage(models.Model):
    """Local storage, session storage and cookies of one requester's pages for one worker, as JSON.

    `values` has three objects, `local`, `session` and `cookies`: name → [value, when it ends or null], in
    milliseconds since 1970.
    """

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="page_storage", db_index=False)
    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="page_storage")
    values = models.TextField(default="{}")
    changed_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "requester"], name="one_storage_per_worker_and_requester"
            )
        ]

    def __str__(self) -> str:
        return f"storage of {self.requester_id} for {self.worker_id}"
