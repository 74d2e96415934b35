"""Systems and their answers, what people say about them, and what filters make of that."""

from judgments.models.candidates import Candidate, CandidateSource, System
from judgments.models.filter_runs import FilterRun, ImportedScore, Score, Verdict
from judgments.models.judging import AttentionCheck, CheckAnswer, Judgment, ShownReferences
from judgments.models.reports import AgreementReport

__all__ = [
    "AgreementReport",
    "AttentionCheck",
    "Candidate",
    "CandidateSource",
    "CheckAnswer",
    "FilterRun",
    "ImportedScore",
    "Judgment",
    "Score",
    "ShownReferences",
    "System",
    "Verdict",
]
