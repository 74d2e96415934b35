"""What Django's user table does not know: passwords to be changed, failed tries, keys of programs."""

from django.conf import settings
from django.db import models


class PasswordState(models.Model):
    """Whether a person still has to choose a password of their own; no row means that they need not."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="password_state"
    )
    must_change = models.BooleanField(
        default=True, help_text="Ask for a new password before anything else, from the next log-in on."
    )

    def __str__(self) -> str:
        return f"{self.user_id}: {'must change' if self.must_change else 'own password'}"


class FailedTries(models.Model):
    """How often something failed for one name, device or address, by a keyed digest (`throttle.py`)."""

    key = models.CharField(max_length=60, primary_key=True)
    failures = models.PositiveIntegerField(default=1)
    last_at = models.DateTimeField(db_index=True)
    blocked_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.key}: {self.failures}"


class SignedKey(models.Model):
    """A signed key with which a program acts as a person, by a keyed digest (`keys.py`)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="signed_keys")
    digest = models.CharField(max_length=64, unique=True)
    epoch = models.CharField(max_length=20, help_text="Of the password under which it was made.")
    name = models.CharField(max_length=200, help_text="What it opens.")
    made_at = models.DateTimeField()
    first_used_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, help_text="When the person ended it.")

    def __str__(self) -> str:
        return f"{self.user_id}: {self.name}"


class SignedInSession(models.Model):
    """A browser in which somebody is signed in, so that they can see it and end it (`sessions.py`)."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="signed_in_sessions"
    )
    session_key = models.CharField(max_length=40, unique=True)
    device = models.CharField(max_length=80, help_text="Browser and system, as the browser says.")
    address = models.CharField(max_length=45, blank=True)
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField(help_text="To ten minutes.")

    def __str__(self) -> str:
        return f"{self.user_id}: {self.device}"


class FactorPrompt(models.Model):
    """When a person was asked to set up a second factor, and chose not to."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="factor_prompt"
    )
    put_off_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user_id}: {self.put_off_at}"


class WaitingEmail(models.Model):
    """An address that takes effect for an account once its link was opened."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="waiting_email"
    )
    email = models.EmailField()
    asked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user_id} waits"


class PasswordLetter(models.Model):
    """When an account was last sent a link for a new password."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="password_letter"
    )
    sent_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user_id}: {self.sent_at}"


class MemberInvitation(models.Model):
    """A link by which people get a role, in a project or at a requester (`memberships.py`)."""

    kind = models.CharField(max_length=20, help_text="Of what: project or requester.")
    target = models.CharField(max_length=120, help_text="Its own name in addresses.")
    role = models.CharField(max_length=20)
    email = models.EmailField(blank=True, help_text="For this address alone; empty: for those with the link.")
    token_digest = models.CharField(max_length=64, unique=True)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="invitations_made"
    )
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["kind", "target", "-id"], name="invitations_of_target")]
        constraints = [
            models.CheckConstraint(
                name="member_invitation_uses_bounded",
                condition=models.Q(uses__lte=models.F("max_uses"), max_uses__gte=1),
            )
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.kind} {self.target}"


class InvitationUse(models.Model):
    """Somebody accepted an invitation."""

    invitation = models.ForeignKey(MemberInvitation, on_delete=models.CASCADE, related_name="accepted")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="invitations_accepted"
    )
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["invitation", "user"], name="invitation_accepted_once")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} accepted {self.invitation_id}"


class OwnershipOffer(models.Model):
    """An owner offers a project or requester to somebody, who may say yes."""

    kind = models.CharField(max_length=20)
    target = models.CharField(max_length=120)
    giver = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="ownership_given"
    )
    taker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="ownership_offered"
    )
    offered_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True, help_text="Taken, declined or withdrawn.")
    outcome = models.CharField(max_length=10, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "target"],
                condition=models.Q(ended_at=None),
                name="one_open_ownership_offer",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target}: {self.giver_id} to {self.taker_id}"


class ProviderGrant(models.Model):
    """A role, or the rights of staff, that a person has by a group of a sign-in provider (`providers.py`)."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="provider_grants"
    )
    provider = models.CharField(max_length=60)
    kind = models.CharField(max_length=20, help_text="staff, project or requester.")
    target = models.CharField(max_length=120, blank=True)
    role = models.CharField(max_length=20, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "provider", "kind", "target"], name="one_grant_of_a_provider"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.role or self.kind} by {self.provider}"


class SavedView(models.Model):
    """A list as a person filtered and sorted it, under a name of their own."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    path = models.CharField(max_length=300, help_text="The list's address.")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000, help_text="What follows the question mark.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "path", "name"], name="saved_view_name")]

    def __str__(self) -> str:
        return f"{self.name}: {self.path}?{self.query}"
