"""Rows of the annotation app, in the order in which a query passes through them."""

from annotation.models.answers import Answer, AnswerFlag, AnswerReview, HeldOutWorker
from annotation.models.curation import CandidatePassage, CuratedPassage, CuratedSet, PassageSelection
from annotation.models.doubts import Doubt
from annotation.models.queries import Query, QuerySource, QueryStep
from annotation.models.screening import ScreeningVote

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
