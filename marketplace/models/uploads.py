"""Files that workers gave as answers to a FileUploadAnswer."""

from django.db import models

from marketplace.models.work import Holding


class UploadedFile(models.Model):
    """One file of an answer; its bytes lie in the storage under `key` until the HIT is disposed of."""

    holding = models.ForeignKey(
        Holding, on_delete=models.CASCADE, related_name="uploaded_files", db_index=False
    )
    question = models.CharField(max_length=128, help_text="QuestionIdentifier.")
    key = models.CharField(max_length=32, unique=True)
    name = models.CharField(max_length=255, help_text="As the worker's machine calls it.")
    mime = models.CharField(max_length=100, help_text="By its first bytes, never by its name.")
    size = models.PositiveBigIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["holding", "question"], name="one_uploaded_file_per_question")
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.size} bytes)"
