"""Tables of panels: studies, submissions, hooks and messages, and the completion codes of studies.

Import the tables from `crowd.models`. There is one completion code for each way in which a visit can end.
"""

import secrets
import uuid

from django.db import models
from django.db.models import Q


class PanelStudy(models.Model):
    """A stage as a study of a panel, which sends people to it; each of its places is one HIT's assignment.

    A stage has one for each of its sources that is a panel.
    """

    class State(models.TextChoices):
        """Asked: to be made and published. Open and paused: there. Stopped: takes no one any more."""

        ASKED = "asked"
        OPEN = "open"
        PAUSED = "paused"
        STOPPED = "stopped"

    stage = models.ForeignKey("crowd.Stage", on_delete=models.PROTECT, related_name="panel_studies")
    endpoint = models.ForeignKey("crowd.Endpoint", on_delete=models.PROTECT, related_name="panel_studies")
    key = models.UUIDField(
        default=uuid.uuid4, unique=True, help_text="Names it in addresses and at the panel."
    )
    external_id = models.CharField(max_length=64, blank=True, help_text="Empty until it was made there.")
    state = models.CharField(max_length=7, choices=State, default=State.ASKED)
    places = models.PositiveIntegerField(default=0, help_text="Places there, as last confirmed.")
    codes = models.JSONField(default=dict, help_text="Completion code by outcome.")
    created_at = models.DateTimeField()
    synced_at = models.DateTimeField(null=True, blank=True, help_text="When its submissions were last read.")
    hinted_at = models.DateTimeField(null=True, blank=True, help_text="When a hook last spoke of it.")
    messages_read_at = models.DateTimeField(
        null=True, blank=True, help_text="When what its people wrote was last asked for."
    )
    pays_in_part = models.BooleanField(
        default=False, db_default=False, help_text="The account may pay a part of the reward."
    )
    screen_out_cents = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Paid to somebody who is screened out; 0: nothing is."
    )
    screen_out_fee_cents = models.PositiveIntegerField(default=0, db_default=0)
    screen_out_slots = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How many may be paid for being screened out."
    )
    screen_out_left = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How many of them have money set aside and were not paid."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "external_id"],
                name="panel_study_known_once",
                condition=~Q(external_id=""),
            ),
            models.UniqueConstraint(fields=["stage", "endpoint"], name="panel_study_of_source"),
        ]

    def __str__(self) -> str:
        return f"{self.stage_id} at {self.endpoint_id}"


class PanelSubmission(models.Model):
    """One person's submission as the panel has it; its answer, if there is one, is the assignment's."""

    study = models.ForeignKey(PanelStudy, on_delete=models.CASCADE, related_name="submissions")
    external_id = models.CharField(max_length=64)
    participant = models.CharField(max_length=64)
    status = models.CharField(max_length=30)
    entered_code = models.CharField(max_length=80, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    return_requested = models.BooleanField(default=False)
    reward_cents = models.PositiveIntegerField(
        null=True, blank=True, help_text="What the panel says that it paid, where it says so."
    )
    screen_out_booked_at = models.DateTimeField(
        null=True, blank=True, help_text="When its paid screen-out was booked, once."
    )
    consent_text = models.ForeignKey(
        "people.ConsentText", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    consented_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(help_text="When this status was first seen.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "external_id"], name="panel_submission_once")]
        indexes = [models.Index(fields=["external_id"], name="panel_submission_by_id")]

    def __str__(self) -> str:
        return f"{self.external_id} ({self.status})"


class PanelHook(models.Model):
    """A hook that was received: each event once, whatever order they come in."""

    endpoint = models.ForeignKey("crowd.Endpoint", on_delete=models.CASCADE, related_name="hooks")
    event_id = models.CharField(max_length=80)
    event_type = models.CharField(max_length=60)
    resource = models.CharField(max_length=80)
    received_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "event_id"], name="panel_hook_once")]

    def __str__(self) -> str:
        return f"{self.event_type} {self.resource}"


class PanelMessage(models.Model):
    """What a participant wrote to us by a panel; what we wrote is an operation."""

    endpoint = models.ForeignKey("crowd.Endpoint", on_delete=models.CASCADE, related_name="panel_messages")
    study = models.ForeignKey(
        PanelStudy, null=True, blank=True, on_delete=models.CASCADE, related_name="messages"
    )
    external_id = models.CharField(max_length=64)
    participant = models.CharField(max_length=64)
    category = models.CharField(max_length=40, blank=True)
    body = models.TextField()
    sent_at = models.DateTimeField()
    received_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True, help_text="When somebody here noted it as read.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "external_id"], name="panel_message_once")]
        indexes = [models.Index(fields=["study", "-sent_at"], name="panel_message_of_study")]

    def __str__(self) -> str:
        return f"{self.participant} at {self.sent_at:%Y-%m-%d %H:%M}"


#: How a person's visit ends, by the type of its completion code.
COMPLETED, NO_CONSENT, SCREENED_OUT = "COMPLETED", "NO_CONSENT", "SCREENED_OUT"
FAILED_CHECK, NOTHING_LEFT = "FAILED_ATTENTION_CHECK", "OTHER"
OUTCOMES = (COMPLETED, NO_CONSENT, SCREENED_OUT, FAILED_CHECK, NOTHING_LEFT)
#: The code with which we end a submission and pay a part of its reward, of so many percent.
PARTIAL = "PARTIAL_PAYMENT"
LEAST_PERCENT, MOST_PERCENT = 8, 99
#: People whom one study may pay for being screened out.
MOST_SLOTS = 100_000
#: Letters and figures of a code, without those that look alike.
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def make_code() -> str:
    """A code that cannot be guessed."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))
