"""Texts that hypothesis draws: few words, so that they match, in answers of any length."""

from hypothesis import strategies as st

from metrics.profiles import Profile
from metrics.texts import Metric

WORDS = ("a", "b", "c", "the", "cat", "42", "ü", "猫", "🐈", "\ud7ff", "x" * 40)
texts = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
filled = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join)


def cases(*, references=filled, candidates=texts, most=4):
    """Candidates, each with one or more references."""
    return st.lists(
        st.tuples(candidates, st.lists(references, min_size=1, max_size=most)), min_size=1, max_size=6
    )


def scored(metric: Metric, cases):
    """The values of a metric for [(candidate, references)]."""
    return metric.score([candidate for candidate, _ in cases], [references for _, references in cases])


def split_on_spaces(**settings) -> Profile:
    """A profile that takes texts as they are cut, with settings of families."""
    return Profile("test", "", (), "whitespace", settings)
