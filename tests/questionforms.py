"""Questions of a qualification test and the key to them, as XML."""

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"


def selection(identifier: str, options: str, *, most: int = 1, required: bool = True) -> str:
    """A multiple-choice question; `options` are the identifiers, separated by blanks."""
    choices = "".join(
        f"<Selection><SelectionIdentifier>{option}</SelectionIdentifier>"
        f"<Text>Option {option}</Text></Selection>"
        for option in options.split()
    )
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>"
        f"<IsRequired>{str(required).lower()}</IsRequired>"
        f"<QuestionContent><Text>Which of them, {identifier}?</Text></QuestionContent>"
        f"<AnswerSpecification><SelectionAnswer><MaxSelectionCount>{most}</MaxSelectionCount>"
        f"<Selections>{choices}</Selections></SelectionAnswer></AnswerSpecification></Question>"
    )


def free_text(identifier: str) -> str:
    """A question that is answered in words."""
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier><IsRequired>true</IsRequired>"
        "<QuestionContent><Text>Say it in your own words.</Text></QuestionContent>"
        "<AnswerSpecification><FreeTextAnswer/></AnswerSpecification></Question>"
    )


def question_form(*questions: str) -> str:
    """A QuestionForm of these questions."""
    return f'<QuestionForm xmlns="{SCHEMAS}2005-10-01/QuestionForm.xsd">{"".join(questions)}</QuestionForm>'


def scored(identifier: str, *, default: int | None = None, **scores: int) -> str:
    """A question of a key; `scores` by the selections, joined by an underscore: b_c=10."""
    options = "".join(
        "<AnswerOption>"
        + "".join(f"<SelectionIdentifier>{each}</SelectionIdentifier>" for each in chosen.split("_"))
        + f"<AnswerScore>{worth}</AnswerScore></AnswerOption>"
        for chosen, worth in scores.items()
    )
    otherwise = "" if default is None else f"<DefaultScore>{default}</DefaultScore>"
    return f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>{options}{otherwise}</Question>"


def percentage(most: int) -> str:
    """Mapping of the sum to a percentage of the most."""
    return _mapping(f"<PercentageMapping>{_of('MaximumSummedScore', most)}</PercentageMapping>")


def scale(factor: str) -> str:
    """Mapping of the sum by a factor."""
    return _mapping(f"<ScaleMapping>{_of('SummedScoreMultiplier', factor)}</ScaleMapping>")


def ranges(*given: tuple[int, int, int], otherwise: int) -> str:
    """Mapping of ranges of sums (first, last, value)."""
    inside = "".join(
        "<SummedScoreRange>"
        + _of("InclusiveLowerBound", first)
        + _of("InclusiveUpperBound", last)
        + _of("QualificationValue", value)
        + "</SummedScoreRange>"
        for first, last, value in given
    )
    return _mapping(f"<RangeMapping>{inside}{_of('OutOfRangeQualificationValue', otherwise)}</RangeMapping>")


def answer_key(*parts: str) -> str:
    """An AnswerKey of these questions and, as the last, a mapping."""
    return f'<AnswerKey xmlns="{SCHEMAS}2005-10-01/AnswerKey.xsd">{"".join(parts)}</AnswerKey>'


def _mapping(inside: str) -> str:
    return f"<QualificationValueMapping>{inside}</QualificationValueMapping>"


def _of(name: str, value: object) -> str:
    return f"<{name}>{value}</{name}>"


#: Two questions, of which the second takes two selections, and a key that gives a percentage of 15.
TEST = question_form(selection("moves", "a b c d"), selection("fruit", "apple pear plum", most=3))
KEY = answer_key(scored("moves", d=5), scored("fruit", apple=4, apple_pear=10, default=-1), percentage(15))
