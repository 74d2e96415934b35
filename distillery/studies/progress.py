"""How far a one-file study is: what people gave, what is still asked for, and where they are."""

from dataclasses import dataclass

from annotation.models import Answer
from crowd.counted_work import counting
from crowd.kinds import kind_of
from crowd.models import Stage
from judgments.questionnaire.units import counted_responses
from judgments.selectors.judging import counted_judgments
from people.models import StudyLink
from people.selectors import LinkCounts, count_visits


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """`count` ratings or answers count, `missing` are still asked for; `visits` of the study link."""

    count: int
    missing: int
    visits: LinkCounts

    @property
    def sentence(self) -> str:
        """One line for a terminal: what is there, and where people are now."""
        places = [f"{name.lower()} {number:,}" for name, number in self.visits.places if number]
        people = f"{self.visits.opened:,} opened the link" + (f" ({', '.join(places)})" if places else "")
        return f"{self.count:,} of {self.count + self.missing:,}; {people}"


def progress_of(stage: Stage, link: StudyLink) -> StudyProgress:
    """The progress now, in a few statements."""
    if stage.kind == "judging":
        count = counted_judgments(stage).count()
    elif stage.kind == "questionnaire":
        count = counted_responses(stage).count()
    else:
        count = Answer.objects.filter(counting("assignment"), stage=stage).count()
    missing = sum(unit.missing for unit in kind_of(stage).pending(stage))
    return StudyProgress(count, missing, count_visits(link))
