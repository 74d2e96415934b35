"""Chains of digests over the logs of projects and requesters, and what of them was pruned."""

from django.db import models

from core.origin import Owner


class AuditChain(models.Model):
    """The chain of one log: how long it is, and the digest at its end."""

    kind = models.CharField(max_length=9, choices=Owner.Kind)
    owner_id = models.BigIntegerField()
    length = models.BigIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)
    began_at = models.DateTimeField(help_text="Older entries were brought into the chain then, as they were.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "owner_id"], name="one_audit_chain_of_owner")]

    def __str__(self) -> str:
        return f"{self.kind} {self.owner_id}: {self.length}"


class AuditLink(models.Model):
    """One entry's place in its chain. Append-only, by a trigger."""

    chain = models.ForeignKey(AuditChain, on_delete=models.PROTECT, related_name="links", db_index=False)
    number = models.BigIntegerField()
    kind = models.CharField(max_length=9, choices=Owner.Kind)
    row = models.BigIntegerField(help_text="Key of the entry in the table of its log.")
    digest = models.CharField(max_length=64)
    sealed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "number"], name="one_audit_link_per_number"),
            models.UniqueConstraint(fields=["kind", "row"], name="one_audit_link_per_row"),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.digest[:12]}"


class AuditCheckpoint(models.Model):
    """A beginning of a chain that was pruned, up to this number; the chain is verified from here on."""

    chain = models.ForeignKey(AuditChain, on_delete=models.PROTECT, related_name="checkpoints")
    number = models.BigIntegerField()
    digest = models.CharField(max_length=64)
    rows = models.BigIntegerField(help_text="Entries that went.")
    made_at = models.DateTimeField()
    why = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "number"], name="one_audit_checkpoint_per_number")
        ]

    def __str__(self) -> str:
        return f"up to {self.number}: {self.why}"


class AuditProgress(models.Model):
    """How far the entries of one kind of log are sealed; its row is the lock of who seals."""

    kind = models.CharField(max_length=9, choices=Owner.Kind, unique=True)
    floor = models.BigIntegerField(default=0, help_text="Entries up to here are sealed or gone.")
    top = models.BigIntegerField(default=0, help_text="The highest that was sealed at `top_at`.")
    top_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.kind}: {self.floor}"
