"""What somebody should know, and how they want to hear of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.projects.models import Project


class Notice(models.Model):
    """One thing that needs somebody's eye, open until it is over. One open notice per `key` and project.

    Without a project it is about the whole installation, and for its superusers.
    """

    class Level(models.TextChoices):
        """How pressing it is."""

        NEWS = "news"
        WARNING = "warning"
        ALARM = "alarm"

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="notices", db_index=False, null=True, blank=True
    )
    kind = models.CharField(max_length=40, help_text="expiring, auto_approval, budget, stuck, finished…")
    key = models.CharField(max_length=200, help_text="What it is about; the same thing is told once.")
    level = models.CharField(max_length=7, choices=Level, default=Level.WARNING)
    sentence = models.CharField(max_length=300)
    address = models.CharField(max_length=300, blank=True, help_text="Path of the page where it is mended.")
    raised_at = models.DateTimeField()
    over_at = models.DateTimeField(null=True, blank=True, help_text="When it was no longer so.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "key"], name="one_open_notice_per_key", condition=Q(over_at=None)
            ),
            models.UniqueConstraint(
                fields=["key"],
                name="one_open_notice_of_installation",
                condition=Q(project=None, over_at=None),
            ),
        ]
        indexes = [models.Index(fields=["project", "-raised_at"], name="notice_feed")]

    def __str__(self) -> str:
        return self.sentence


class NoticeReading(models.Model):
    """That a user has read a notice. The table keeps the name of an earlier class."""

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="seen_by")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        db_table = "notices_seen"
        constraints = [models.UniqueConstraint(fields=["notice", "user"], name="notice_seen_once")]

    def __str__(self) -> str:
        return f"{self.user_id} saw {self.notice_id}"


class Wish(models.Model):
    """Which notices of a project somebody wants by e-mail; without a row, all but news."""

    class Post(models.TextChoices):
        """What is posted."""

        ALL = "all", "everything"
        PRESSING = "pressing", "warnings and alarms"
        NONE = "none", "nothing"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    post = models.CharField(max_length=8, choices=Post, default=Post.PRESSING)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_wish_per_project")]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.post}"


class Letter(models.Model):
    """What one member is told by e-mail of one notice: planned with the notice, sent once.

    Waiting letters of one person go in one e-mail. A claim is committed before the mail server is called:
    a letter that is claimed and neither sent nor dropped may have gone out, and is not sent again.
    """

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="letters")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    claim = models.UUIDField(null=True, blank=True, help_text="The e-mail that it goes in.")
    claimed_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    dropped_at = models.DateTimeField(null=True, blank=True, help_text="It will not be sent; see the error.")
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["notice", "user"], name="letter_once")]
        indexes = [
            models.Index(
                fields=["user"],
                name="letter_waiting",
                condition=Q(claim=None, sent_at=None, dropped_at=None),
            ),
            models.Index(fields=["claim"], name="letter_by_claim", condition=~Q(claim=None)),
        ]

    def __str__(self) -> str:
        return f"{self.notice_id} to {self.user_id}"
