"""What workers say: of a group of HITs, and to its requester."""

from django.db import models
from django.db.models import Q

from marketplace.models.people import Requester, Worker
from marketplace.models.work import HITType


class Rating(models.Model):
    """A worker's opinion of a group of HITs they worked on; shown to others as a mean, never with a name."""

    hit_type = models.ForeignKey(HITType, on_delete=models.CASCADE, related_name="ratings")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="ratings")
    stars = models.PositiveSmallIntegerField(help_text="1 to 5.")
    words = models.CharField(max_length=500, blank=True, help_text="Read by the requester alone.")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit_type", "worker"], name="one_rating_per_group_and_worker"),
            models.CheckConstraint(name="rating_stars", condition=Q(stars__gte=1, stars__lte=5)),
        ]

    def __str__(self) -> str:
        return f"{self.stars} for {self.hit_type_id}"


class Letter(models.Model):
    """A worker's message to a requester; answers go into the worker's inbox as `Message`."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="letters", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="letters")
    hit_type = models.ForeignKey(HITType, null=True, on_delete=models.SET_NULL)
    assignment_id = models.CharField(max_length=64, blank=True)
    subject = models.CharField(max_length=200)
    body = models.TextField()
    sent_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["requester", "-sent_at"], name="letter_inbox"),
            models.Index(fields=["worker", "-sent_at"], name="letter_of_worker"),
        ]

    def __str__(self) -> str:
        return self.subject
