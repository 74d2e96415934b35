"""Systems and their answers, what people say about them, and what filters make of that."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Answer, Query
from core.projects.models import Project
from crowd.models import Assignment, Stage, Worker

# Systems, and the answers of theirs that people are to judge.


class System(models.Model):
    """Something that answers queries: a program, or the people whose answers were held out."""

    class Kind(models.TextChoices):
        """Human: answers of editors that are no references (paper 004, round 1)."""

        PROGRAM = "program"
        HUMAN = "human", "people"

    #: The name of the system of people: held-out answers, and answers that a file gives to it.
    PEOPLE = "human"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="systems", db_index=False)
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=7, choices=Kind, default=Kind.PROGRAM)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="system_named_once")]

    def __str__(self) -> str:
        return self.name


class CandidateSource(models.Model):
    """One import of answers: the file, how it was read, and the report about its lines."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="candidate_sources")
    name = models.CharField(max_length=300, help_text="Name of the file.")
    format = models.CharField(max_length=20)
    sha256 = models.CharField(max_length=64)
    options = models.JSONField(default=dict)
    report = models.JSONField(default=dict, help_text="Counts, examples and refusals.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Candidate(models.Model):
    """One answer of one system to one query; its text never changes."""

    class UnjudgedReason(models.TextChoices):
        """Why people do not judge it. Exact: it is word for word a reference (paper 002, section 4.2)."""

        EXACT = "exact", "the same as a reference"
        EMPTY = "empty", "the system gave no answer"
        WITHDRAWN = "withdrawn", "taken out by a researcher"

    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="candidates_to_judge")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="candidates", db_index=False)
    source = models.ForeignKey(CandidateSource, null=True, on_delete=models.PROTECT, related_name="+")
    answer = models.OneToOneField(
        Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="candidate"
    )
    text = models.TextField(blank=True)
    opinion = models.CharField(max_length=7, choices=Answer.Opinion, blank=True)
    entities = models.JSONField(default=list, help_text="Spans of the text: {start, end, text}.")
    aside = models.CharField(
        max_length=9, choices=UnjudgedReason, blank=True, help_text="Empty: it is judged."
    )
    aside_reason = models.CharField(max_length=300, blank=True, help_text="Why it was taken out or put back.")
    kept = models.BooleanField(default=False, help_text="Judged even where it is the same as a reference.")
    line = models.BigIntegerField(null=True, blank=True, help_text="In its file.")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["system", "query"], name="one_answer_per_system_and_query", condition=Q(answer=None)
            )
        ]
        indexes = [models.Index(fields=["system", "aside"], name="candidate_by_system")]

    def __str__(self) -> str:
        return f"{self.system_id} to {self.query_id}"


# What judges said: append-only. A filter never changes a row here; it records verdicts.


class Judgment(models.Model):
    """One judge's score of one candidate; `aspects` are further ones, whole numbers from 1.

    `score` counts units of the scale of the stage's options, so that halves are exact: on 1 to 5 by .5 a 9 is
    4.5, on 1 to 5 a unit is 1. `judgments.selectors.ratings.scale_of` knows the scale.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="judgments", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="judgments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="judgments")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="judgments")
    score = models.SmallIntegerField()
    aspects = models.JSONField(default=dict, help_text="Score by the aspect's name.")
    comment = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "candidate"], name="one_judgment_per_candidate_and_assignment"
            )
        ]
        indexes = [
            # With the score, counts per candidate and score come from the index alone.
            models.Index(fields=["stage", "candidate", "score"], name="judgment_counts"),
            models.Index(fields=["stage", "worker"], name="judgment_by_worker"),
        ]

    def __str__(self) -> str:
        return f"{self.score} for {self.candidate_id} by {self.worker_id}"


class AttentionCheck(models.Model):
    """An item whose right scores are known. It never enters scores or agreement.

    `accepted` counts units of the stage's scale, as the score of a judgment does.
    """

    class Source(models.TextChoices):
        """What it is made of."""

        FOREIGN = "foreign", "an answer to another query"
        REFERENCE = "reference", "a reference itself"
        INSTRUCTION = "instruction", "a plain instruction"
        GOLD = "gold", "written by a researcher"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="attention_checks")
    key = models.CharField(max_length=100, help_text="Names it within its stage, the same in every draw.")
    source = models.CharField(max_length=11, choices=Source)
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(help_text="What is shown as the candidate.")
    accepted = models.JSONField(help_text="The scores that pass.")
    reason = models.CharField(max_length=300, blank=True, help_text="Why these; a judge may read it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "key"], name="check_once_per_stage")]

    def __str__(self) -> str:
        return self.key


class ShownReferences(models.Model):
    """What the judges of a stage see as correct answers to a query, the same for all from the first HIT on.

    `texts` are the accepted references at that moment, the one in view first; none is an answer, too.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="+", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+")
    texts = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "query"], name="references_shown_once_per_stage")
        ]

    def __str__(self) -> str:
        return f"{len(self.texts)} of {self.query_id}"


class CheckAnswer(models.Model):
    """One judge's score of one attention check, in units of the stage's scale."""

    check_item = models.ForeignKey(AttentionCheck, on_delete=models.PROTECT, related_name="answers")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="check_answers")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="check_answers")
    score = models.SmallIntegerField()
    passed = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "check_item"], name="check_once_per_assignment")
        ]
        indexes = [models.Index(fields=["worker", "check_item"], name="check_answer_by_worker")]

    def __str__(self) -> str:
        return f"{self.score} for {self.check_item_id} by {self.worker_id}"


# Questionnaires: what is shown, and what people answered about it.


class UnitMaterial(models.Model):
    """What a file brought for the units of a stage: nuggets of a question, sentences, a conversation, a row.

    `key` is that of the question for nuggets, else that of the unit.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="unit_materials", db_index=False)
    key = models.CharField(max_length=300)
    content = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "key"], name="one_material_per_key")]

    def __str__(self) -> str:
        return self.key


class QuestionnaireUnit(models.Model):
    """One thing that a questionnaire shows; what is in `content` never changes once people saw it.

    `candidate` is the answer, of a pair the one that its key names first; `other` is the second. Texts of
    queries, passages and candidates are where they always are. A unit with `gold`, accepted values by field,
    is an attention check and enters no figures.
    """

    stage = models.ForeignKey(
        Stage, on_delete=models.CASCADE, related_name="questionnaire_units", db_index=False
    )
    key = models.CharField(max_length=300, help_text="Names it in its stage and in files.")
    query = models.ForeignKey(Query, null=True, on_delete=models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Candidate, null=True, on_delete=models.PROTECT, related_name="+")
    other = models.ForeignKey(Candidate, null=True, on_delete=models.PROTECT, related_name="+")
    content = models.JSONField(default=dict)
    gold = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "key"], name="one_unit_per_key")]

    def __str__(self) -> str:
        return self.key


class UnitResponse(models.Model):
    """What one person answered about one unit: values by field, of repeated fields by part (append-only).

    In a pair, `left` and `right` are those of the key: the answer that it names first is left. `flipped` says
    that the person saw them the other way round.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="unit_responses", db_index=False)
    unit = models.ForeignKey(QuestionnaireUnit, on_delete=models.PROTECT, related_name="responses")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="unit_responses")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="unit_responses")
    values = models.JSONField()
    flipped = models.BooleanField(default=False)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "unit"], name="one_response_per_unit_and_assignment"
            )
        ]
        indexes = [models.Index(fields=["stage", "unit"], name="unit_response_counts")]

    def __str__(self) -> str:
        return f"{self.unit_id} by {self.worker_id}"


# What filters decided, and the scores that follow from it.


class FilterRunQuerySet(models.QuerySet["FilterRun"]):
    """Filter runs; which of them decide what counts is asked here alone."""

    def in_force(self) -> Self:
        """Those whose decisions hold: at most one in each stage."""
        return self.filter(state=FilterRun.State.IN_FORCE)


class FilterRun(models.Model):
    """One run of a recipe over a stage's judgments: parameters, seed, what it saw, what it decided.

    At most one run of a stage is in force. Runs are kept for ever; undoing one only takes it out of force.
    What the run in force decided is decided again when work that it saw begins or ceases to count; the log
    says why.
    """

    class State(models.TextChoices):
        """A superseded run gave way to a later one."""

        IN_FORCE = "in force"
        SUPERSEDED = "superseded"
        UNDONE = "undone"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="filter_runs")
    recipe = models.CharField(max_length=40)
    parameters = models.JSONField(help_text="All of them, also those that the recipe sets.")
    seed = models.BigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.IN_FORCE)
    last_judgment = models.BigIntegerField(help_text="The newest judgment that it saw, by its key.")
    summary = models.JSONField(default=dict, help_text="Counts and the report, as the page shows them.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=300, blank=True, help_text="Why it was undone.")

    objects = FilterRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["stage"], name="one_filter_run_in_force", condition=Q(state="in force")
            )
        ]

    def __str__(self) -> str:
        return f"{self.recipe} on {self.stage_id}"

    @property
    def remade(self) -> int:
        """How often it was made again because work that it saw began or ceased to count."""
        return int(self.summary.get("remade") or 0)

    @property
    def remade_at(self) -> datetime | None:
        """When that was last."""
        at = self.summary.get("remade_at")
        return datetime.fromisoformat(at) if at else None


class Verdict(models.Model):
    """One thing that a run decided: about a worker, or about one judgment.

    A worker's verdict that removes comes with one verdict per judgment of theirs, so that what counts can be
    read from verdicts with a judgment alone. `undetermined` marks workers of whom too little is known; it
    removes nothing.
    """

    run = models.ForeignKey(FilterRun, on_delete=models.CASCADE, related_name="verdicts")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="verdicts")
    judgment = models.ForeignKey(Judgment, null=True, on_delete=models.PROTECT, related_name="verdicts")
    response = models.ForeignKey(
        UnitResponse,
        null=True,
        on_delete=models.PROTECT,
        related_name="verdicts",
        help_text="Of a questionnaire, in place of a judgment.",
    )
    rule = models.CharField(max_length=40)
    removes = models.BooleanField(default=True)
    value = models.FloatField(null=True, blank=True, help_text="What the rule measured: kappa, failures, z.")
    rank = models.PositiveIntegerField(null=True, blank=True, help_text="Order of removal within an item.")
    reason = models.CharField(max_length=300)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "judgment"],
                name="a_judgment_is_removed_once",
                condition=Q(judgment__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["run", "response"],
                name="a_response_is_removed_once",
                condition=Q(response__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.worker_id}"


class Score(models.Model):
    """The human correctness score of a candidate by one run; undefined statistics are null."""

    run = models.ForeignKey(FilterRun, on_delete=models.CASCADE, related_name="scores")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="scores")
    n_raw = models.PositiveIntegerField()
    n_kept = models.PositiveIntegerField()
    mean = models.FloatField(null=True)
    sd = models.FloatField(null=True, help_text="Sample standard deviation of the kept scores.")
    median = models.FloatField(null=True)
    trimmed = models.FloatField(null=True, help_text="Mean without the lowest and highest 20 %.")
    adjusted = models.FloatField(null=True, help_text="ITU-T P.913 12.6: without workers' biases.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "candidate"], name="one_score_per_run")]

    def __str__(self) -> str:
        return f"{self.candidate_id}: {self.mean}"


class ImportedScore(models.Model):
    """A human score that was collected elsewhere; its ratings are not known one by one unless listed."""

    candidate = models.OneToOneField(Candidate, on_delete=models.PROTECT, related_name="imported_score")
    mean = models.FloatField()
    n = models.PositiveIntegerField(null=True, blank=True, help_text="How many ratings, if the file says so.")
    ratings = models.JSONField(default=list, help_text="The single ratings, if the file has them.")
    scale_low = models.FloatField(default=1)
    scale_high = models.FloatField(default=5)
    simulated = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The file says that a program gave it, not a person.",
    )

    def __str__(self) -> str:
        return f"{self.candidate_id}: {self.mean}"


# Figures about a stage's judgments that take too long to be worked out while somebody waits.


class AgreementReport(models.Model):
    """The honest report of a stage as its judgments were at a moment; later ones are further rows.

    `stamp` says what it was made of, by `judgments.selectors.ratings`. Workers have pseudonyms in it.
    """

    stage = models.ForeignKey(
        Stage, on_delete=models.CASCADE, related_name="agreement_reports", db_index=False
    )
    run = models.ForeignKey(FilterRun, null=True, on_delete=models.CASCADE, related_name="reports")
    stamp = models.CharField(max_length=120)
    last_judgment = models.BigIntegerField(help_text="The newest judgment in it, by its key.")
    judgments = models.PositiveIntegerField(help_text="Good judgments in it.")
    report = models.JSONField(help_text="Figures, without what grows with the data.")
    rows = models.JSONField(default=dict, help_text="Lists of workers; of older reports all lists.")
    seconds = models.FloatField(help_text="How long it took.")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "stamp"], name="one_report_per_stamp")]

    def __str__(self) -> str:
        return f"{self.stage_id} at {self.stamp}"


class ReportPart(models.Model):
    """Some rows of a list of a report that grows with the judgments, as the items do.

    PostgreSQL takes no JSON value of more than 256 MB, and the items of ten million judgments need more.
    """

    report = models.ForeignKey(
        AgreementReport, on_delete=models.CASCADE, related_name="parts", db_index=False
    )
    name = models.CharField(max_length=40, help_text="The list, by its key in the report.")
    number = models.PositiveIntegerField(help_text="Place of these rows in the list, from 0.")
    rows = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["report", "name", "number"], name="one_report_part_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.number} of {self.report_id}"


__all__ = [
    "AgreementReport",
    "AttentionCheck",
    "Candidate",
    "CandidateSource",
    "CheckAnswer",
    "FilterRun",
    "ImportedScore",
    "Judgment",
    "QuestionnaireUnit",
    "ReportPart",
    "Score",
    "ShownReferences",
    "System",
    "UnitMaterial",
    "UnitResponse",
    "Verdict",
]
