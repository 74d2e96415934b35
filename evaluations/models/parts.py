"""Parts of an evaluation's work that any worker may take, until they are joined."""

from django.db import models

from evaluations.models.evaluations import Evaluation


class Call(models.Model):
    """A function over many inputs. By the `digest` of its pickle a repeated attempt finds its results."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="calls", db_index=False)
    digest = models.CharField(max_length=64)
    function = models.BinaryField(help_text="Signed pickle; see evaluations.spreading.pickles.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "digest"], name="call_once_in_evaluation")
        ]

    def __str__(self) -> str:
        return f"call {self.digest[:12]}"


class Part(models.Model):
    """One input of a call and, once somebody has computed it, the result.

    `owner` is the lease of the job that computes it: while that job is running under this lease nobody else
    takes the part, and a worker that dies loses it together with its job.
    """

    call = models.ForeignKey(Call, on_delete=models.CASCADE, related_name="parts", db_index=False)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the input.")
    given = models.BinaryField(help_text="The input; emptied when the result is there.")
    result = models.BinaryField(null=True)
    why = models.TextField(blank=True, help_text="What went wrong, where computing it failed.")
    owner = models.UUIDField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["call", "digest"], name="part_once_in_call")]
        indexes = [
            models.Index(
                fields=["call", "id"], name="parts_to_do", condition=models.Q(result__isnull=True, why="")
            ),
        ]

    def __str__(self) -> str:
        return f"part {self.digest[:12]}"
