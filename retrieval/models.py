"""Corpora, their passages, and the index of each."""

from django.db import models

from core.projects.models import Project


class Corpus(models.Model):
    """Passages of one origin and language; its text lives here, the index holds only what finds it."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="corpora")
    slug = models.SlugField(max_length=80)
    title = models.CharField(max_length=200)
    language = models.CharField(
        max_length=35, default="en", help_text="BCP 47 tag; decides how words are cut."
    )
    licence = models.CharField(max_length=80, blank=True)
    attribution = models.TextField(blank=True)
    created_at = models.DateTimeField()
    adding_after = models.BigIntegerField(
        null=True, blank=True, help_text="While passages are added or removed: the last one that counts."
    )
    held_by = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Which process of which host changes it.",
    )
    held_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "slug"], name="corpus_slug_in_project")]

    def __str__(self) -> str:
        return f"{self.project_id}/{self.slug}"


class Passage(models.Model):
    """A contiguous region of the text of one page, with its offsets there in characters if known."""

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="passages", db_index=False)
    key = models.CharField(max_length=200, help_text="The passage's own id in its corpus.")
    text = models.TextField()
    title = models.TextField(blank=True)
    url = models.CharField(max_length=2000, blank=True)
    page = models.CharField(
        max_length=2000, blank=True, help_text="Which page it is of: passages of one page share it."
    )
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    digest = models.CharField(
        max_length=32,
        blank=True,
        default="",
        help_text="Of the text without case, punctuation and white space; empty: not computed.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "key"], name="passage_key_in_corpus"),
            models.CheckConstraint(
                name="passage_region",
                condition=models.Q(start=None, end=None) | models.Q(start__lt=models.F("end")),
            ),
        ]
        # An index is built in the order of keys; without this a database sorts the whole corpus for it.
        indexes = [
            models.Index(fields=["corpus", "id"], name="passage_in_order"),
            models.Index(fields=["corpus", "digest"], name="passage_same_words"),
        ]

    def __str__(self) -> str:
        return self.key


class Index(models.Model):
    """What the index of a corpus holds. The files of one generation are never changed by readers."""

    class State(models.TextChoices):
        """Stale: passages came or went since it was built."""

        BUILDING = "building"
        READY = "ready"
        STALE = "stale"
        FAILED = "failed"

    corpus = models.OneToOneField(Corpus, on_delete=models.CASCADE, related_name="index")
    engine = models.CharField(max_length=40, default="tantivy")
    location = models.CharField(max_length=500, blank=True, help_text="Below the data folder, or a URL.")
    state = models.CharField(max_length=8, choices=State, default=State.BUILDING)
    generation = models.PositiveIntegerField(default=0)
    passages = models.PositiveIntegerField(default=0)
    last_passage = models.BigIntegerField(default=0, help_text="Highest key that it holds.")
    built_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=300, blank=True)
    published = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Digest of the state in the storage of all hosts; empty: on one host only.",
    )

    def __str__(self) -> str:
        return f"{self.engine} of {self.corpus_id}"


class WordNetwork(models.Model):
    """The word proximity network of a corpus: what its files hold. Readers never change them."""

    State = Index.State

    corpus = models.OneToOneField(Corpus, on_delete=models.CASCADE, related_name="network")
    location = models.CharField(max_length=500, help_text="Below `networks/` of the data folder.")
    state = models.CharField(max_length=8, choices=State, default=State.BUILDING)
    generation = models.PositiveIntegerField(default=0)
    passages = models.PositiveIntegerField(default=0)
    words = models.PositiveIntegerField(default=0)
    edges = models.BigIntegerField(default=0)
    last_passage = models.BigIntegerField(default=0, help_text="Highest key that it counts.")
    options = models.JSONField(
        default=dict, help_text="How it was built: least count, vectors, rules for words."
    )
    built_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=300, blank=True)
    published = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Digest of the state in the storage of all hosts; empty: on one host only.",
    )

    def __str__(self) -> str:
        return f"network of {self.corpus_id}"
