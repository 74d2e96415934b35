"""Rows of the annotation app, in the order in which a query passes through them."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from core.projects.models import Project
from crowd.models import Assignment, Stage, Worker

# Where queries come from, and what became of each.


class QuerySource(models.Model):
    """One import: a file, how it was read and sampled, and the report about its lines."""

    class State(models.TextChoices):
        """Only the queries of a ready source are worked on."""

        IMPORTING = "importing"
        READY = "ready"
        FAILED = "failed"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="query_sources")
    name = models.CharField(max_length=300, help_text="Name of the file.")
    format = models.CharField(max_length=20)
    sha256 = models.CharField(max_length=64, blank=True)
    options = models.JSONField(default=dict, help_text="Columns, rules, design of the sample, seed.")
    report = models.JSONField(default=dict, help_text="Counts, examples and refusals by rule.")
    state = models.CharField(max_length=9, choices=State, default=State.IMPORTING)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Query(models.Model):
    """A search query of a project, with the earlier turns of its conversation if it has any."""

    class Type(models.TextChoices):
        """MS MARCO's classes of answers."""

        PERSON = "PERSON"
        NUMERIC = "NUMERIC"
        LOCATION = "LOCATION"
        ENTITY = "ENTITY"
        DESCRIPTION = "DESCRIPTION"

    class Status(models.TextChoices):
        """How far it has come; `status_reason` says why. Tied and disputed wait for a researcher."""

        WAITING = "waiting", "waiting for screening"
        TIED = "tied", "tied in screening"
        EXCLUDED = "excluded", "excluded by screening"
        ACCEPTED = "accepted", "accepted, waiting for passages"
        DISPUTED = "disputed", "disputed in curation"
        UNANSWERABLE = "unanswerable", "not answerable from its passages"
        CURATED = "curated", "curated, being answered"
        ANSWERED = "answered", "has all its answers"
        WITHDRAWN = "withdrawn", "taken out by a researcher"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="queries", db_index=False)
    source = models.ForeignKey(QuerySource, on_delete=models.CASCADE, related_name="queries")
    key = models.CharField(max_length=200, help_text="Its id in the log, or made from its text.")
    text = models.TextField()
    digest = models.CharField(max_length=64, help_text="Of the text without case and the turns before it.")
    plain_digest = models.CharField(
        max_length=64,
        blank=True,
        db_default="",
        help_text="As digest, with plain quotation marks, dashes and letters; empty: not computed.",
    )
    context = models.JSONField(default=list, help_text="Earlier turns, oldest first: {text, answer?}.")
    conversation = models.CharField(max_length=200, blank=True)
    turn = models.PositiveIntegerField(null=True, blank=True)
    type = models.CharField(max_length=11, choices=Type, blank=True)
    yes_no = models.BooleanField(default=False, help_text="The answer is yes, no or depends.")
    count = models.BigIntegerField(default=1, help_text="How often the log has it.")
    stratum = models.CharField(max_length=60, blank=True)
    weight = models.FloatField(default=1.0, help_text="1 / probability of being in the sample.")
    line = models.BigIntegerField(null=True, blank=True, help_text="First line or record in its file.")
    references = models.JSONField(default=list, help_text="Answers that came with the query.")
    extra = models.JSONField(default=dict, help_text="What else its file said and an export gives back.")
    status = models.CharField(max_length=12, choices=Status, default=Status.WAITING)
    status_reason = models.CharField(max_length=300, blank=True)
    by_hand = models.BooleanField(
        default=False, help_text="A person accepted or excluded it; votes do not change that."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="query_key_in_project"),
            models.UniqueConstraint(fields=["project", "digest"], name="query_once_in_project"),
        ]
        indexes = [
            models.Index(fields=["project", "status", "id"], name="query_by_status"),
            models.Index(fields=["project", "plain_digest"], name="query_by_plain_digest"),
        ]

    def __str__(self) -> str:
        return self.key


class QueryStep(models.Model):
    """One step of a query's way, append-only: what was decided, by which rule or person, and why."""

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="steps")
    at = models.DateTimeField()
    stage = models.ForeignKey("crowd.Stage", null=True, on_delete=models.PROTECT, related_name="+")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, help_text="Empty: the rule decided."
    )
    before = models.CharField(max_length=12, choices=Query.Status, blank=True)
    after = models.CharField(max_length=12, choices=Query.Status)
    reason = models.CharField(max_length=300)
    details = models.JSONField(default=dict)

    class Meta:
        constraints = [models.CheckConstraint(name="a_person_or_a_rule_says_why", condition=~Q(reason=""))]

    def __str__(self) -> str:
        return f"{self.query_id}: {self.before} to {self.after}"


# What editors say about a query before anybody looks for passages (paper 000, section 3.1).


class ScreeningVote(models.Model):
    """One editor's form about one query; append-only."""

    class Intent(models.TextChoices):
        """Broder's classes."""

        INFORMATIONAL = "informational"
        NAVIGATIONAL = "navigational"
        TRANSACTIONAL = "transactional"

    class ExcludedKind(models.TextChoices):
        """Informational queries that one passage cannot settle."""

        NONE = "", "none of these"
        DIRECTIONS = "directions", "directions to a place, or what is near it"
        LIST = "list", "a list that is never complete"
        TOPIC = "topic", "a general topic"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="screening_votes", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="screening_votes")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="screening_votes")
    unambiguous = models.BooleanField()
    answerable = models.BooleanField(help_text="One short passage could satisfy it definitively.")
    intent = models.CharField(max_length=13, choices=Intent)
    excluded_kind = models.CharField(max_length=10, choices=ExcludedKind, blank=True)
    sensitive = models.BooleanField()
    adult = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "query"], name="one_screening_vote_per_query")
        ]
        indexes = [models.Index(fields=["stage", "query"], name="screening_vote_by_query")]

    def __str__(self) -> str:
        return f"{self.query_id}: {self.intent}"


# Candidate passages of a query, what editors chose of them, and the set that came of it.


class CandidatePassage(models.Model):
    """A passage that may answer the query: text as it was when it was offered, with where it comes from."""

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="candidates", db_index=False)
    rank = models.PositiveIntegerField(help_text="1 is the best.")
    score = models.FloatField(null=True, blank=True)
    origin = models.CharField(max_length=60, default="imported", help_text="imported, or index:CORPUS.")
    retrieval = models.JSONField(
        default=dict,
        help_text="How an index found it: {ranker, parameters, generation, rank, parts}; empty if imported.",
    )
    key = models.CharField(max_length=200)
    text = models.TextField()
    title = models.TextField(blank=True)
    url = models.CharField(max_length=2000, blank=True)
    page = models.CharField(max_length=2000, blank=True, help_text="Passages of one page share it.")
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    folded_into = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="folded",
        help_text="The better ranked passage that it repeats; folded ones are not shown.",
    )
    fold_reason = models.CharField(max_length=200, blank=True)
    imported_selected = models.BooleanField(default=False, help_text="The imported file had it selected.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["query", "rank"], name="candidate_rank_once"),
            models.UniqueConstraint(fields=["query", "key"], name="candidate_once"),
            models.CheckConstraint(
                name="candidate_region", condition=Q(start=None, end=None) | Q(start__lt=F("end"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} #{self.rank}"


class PassageSelection(models.Model):
    """One editor's choice among the candidates; append-only."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="selections", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="selections")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="selections")
    answerable = models.BooleanField(help_text="False: the passages cannot answer the query.")
    passages = models.JSONField(default=list, help_text="Keys of the chosen candidates, sorted.")
    conflicts = models.JSONField(default=list, help_text="Pairs: {a, b, trusted: a | b | null}.")
    highlights = models.JSONField(default=list, help_text="Spans: {passage, start, end} in characters.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "query"], name="one_selection_per_query"),
        ]
        indexes = [models.Index(fields=["stage", "query"], name="selection_by_query")]

    def __str__(self) -> str:
        return f"{self.query_id}: {len(self.passages)}"


class CuratedSet(models.Model):
    """The passages from which everybody answers the query. A query has one at most; it never changes."""

    query = models.OneToOneField(Query, on_delete=models.CASCADE, related_name="curated_set")
    rule = models.CharField(
        max_length=60, help_text="How it came about: single, exact, majority, person, imported."
    )
    stage = models.ForeignKey(Stage, null=True, on_delete=models.PROTECT, related_name="curated_sets")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"curated set of {self.query_id}"


class CuratedPassage(models.Model):
    """A passage of a curated set, in the order in which it is shown."""

    curated_set = models.ForeignKey(CuratedSet, on_delete=models.CASCADE, related_name="members")
    candidate = models.ForeignKey(CandidatePassage, on_delete=models.PROTECT, related_name="curated")
    position = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["curated_set", "position"], name="curated_position_once"),
            models.UniqueConstraint(fields=["curated_set", "candidate"], name="curated_passage_once"),
        ]
        ordering = ["position"]

    def __str__(self) -> str:
        return f"{self.curated_set_id} #{self.position}"


# Answers in people's own words, what the checks noticed about them, and what reviewers decided.


class Answer(models.Model):
    """One editor's answer to one query; its text never changes. A rewrite is a row of its own.

    The state is that of review: undecided answers count towards the query's answers like approved ones,
    excluded and replaced ones do not.
    """

    class Opinion(models.TextChoices):
        """DuReader's labels of yes-no answers."""

        YES = "Yes"
        NO = "No"
        DEPENDS = "Depends"

    class State(models.TextChoices):
        """Replaced: its author wrote it again."""

        UNDECIDED = "undecided"
        APPROVED = "approved"
        REWRITE = "rewrite", "rewrite asked for"
        EXCLUDED = "excluded"
        REPLACED = "replaced", "replaced by a rewrite"

    #: States in which an answer counts towards what its query needs.
    COUNTED = (State.UNDECIDED, State.APPROVED, State.REWRITE)

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="answers", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="answers")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="answers")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="answers")
    text = models.TextField()
    opinion = models.CharField(max_length=7, choices=Opinion, blank=True)
    entities = models.JSONField(default=list, help_text="Spans of the answer: {start, end, text}.")
    state = models.CharField(max_length=9, choices=State, default=State.UNDECIDED)
    revises = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="revision"
    )
    created_at = models.DateTimeField()
    checked_at = models.DateTimeField(null=True, blank=True, help_text="When its flags were last computed.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "query"],
                name="one_answer_per_query_and_assignment",
                condition=Q(revises=None),
            )
        ]
        indexes = [
            models.Index(fields=["stage", "query"], name="answer_by_query"),
            models.Index(fields=["stage", "state", "query"], name="answer_by_state"),
            models.Index(fields=["stage", "worker"], name="answer_by_worker"),
            models.Index(fields=["stage", "query"], name="answer_unchecked", condition=Q(checked_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} by {self.worker_id}"


class AnswerFlag(models.Model):
    """Something that a check noticed about an answer, for a reviewer: what, how much, and the evidence."""

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="flags")
    name = models.CharField(max_length=40)
    value = models.FloatField(null=True, blank=True, help_text="The measured share, rate or length.")
    limit = models.FloatField(null=True, blank=True, help_text="The configured bound that it passed.")
    evidence = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["answer", "name"], name="flag_once_per_answer")]

    def __str__(self) -> str:
        return f"{self.name} of {self.answer_id}"


class AnswerReview(models.Model):
    """A reviewer's decision about an answer, append-only; the last one counts."""

    class Action(models.TextChoices):
        """What a reviewer can do."""

        APPROVE = "approve"
        REWRITE = "rewrite", "ask for a rewrite"
        EXCLUDE = "exclude"
        REOPEN = "reopen", "take the decision back"

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="reviews")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    action = models.CharField(max_length=7, choices=Action)
    reason = models.CharField(max_length=300, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="exclusion_and_rewrite_say_why",
                condition=~Q(action__in=["rewrite", "exclude"]) | ~Q(reason=""),
            )
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.answer_id}"


class AnswerNote(models.Model):
    """What a researcher wants remembered about an answer; only researchers read it."""

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    text = models.CharField(max_length=1000)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(name="answer_note_says_something", condition=~Q(text=""))]

    def __str__(self) -> str:
        return f"{self.author_id} on {self.answer_id}"


class HeldOutWorker(models.Model):
    """This worker's answer to this query is no reference but a candidate of the system `human`."""

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="held_out")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="held_out")
    seed = models.BigIntegerField(null=True, blank=True, help_text="Of the draw; empty: chosen by a person.")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "worker"], name="held_out_once")]

    def __str__(self) -> str:
        return f"{self.worker_id} for {self.query_id}"


# Decisions whose ground changed after later work was built on them.


class Doubt(models.Model):
    """What a stage decided about a query would be decided otherwise by the work that counts now.

    Later stages have used the decision already, so nothing changes until a person says what holds; or until
    the work that counts agrees with it again.
    """

    class Outcome(models.TextChoices):
        """How it ended."""

        KEPT = "kept", "the decision stays"
        AGAIN = "again", "people are asked again"
        OUT = "out", "the query is left out"
        LIFTED = "lifted", "the work that counts agrees again"

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="doubts")
    stage = models.ForeignKey(Stage, on_delete=models.PROTECT, related_name="doubts")
    why = models.CharField(max_length=300, help_text="What changed.")
    says = models.CharField(max_length=300, help_text="What the work that counts says now.")
    raised_at = models.DateTimeField()
    outcome = models.CharField(max_length=6, choices=Outcome, blank=True, help_text="Empty: it is open.")
    settled_at = models.DateTimeField(null=True, blank=True)
    settled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["query", "stage"], name="one_open_doubt_per_query_and_stage", condition=Q(outcome="")
            )
        ]

    def __str__(self) -> str:
        return f"{self.query_id} in {self.stage_id}: {self.outcome or 'open'}"


__all__ = [
    "Answer",
    "AnswerFlag",
    "AnswerReview",
    "CandidatePassage",
    "CuratedPassage",
    "CuratedSet",
    "Doubt",
    "HeldOutWorker",
    "PassageSelection",
    "Query",
    "QuerySource",
    "QueryStep",
    "ScreeningVote",
]
