"""Whether those who may judge were trained on the scale that they judge on."""

from crowd.models import Stage
from judgments.kinds.judging_config import JudgingConfig
from judgments.selectors.ratings import scale_of

_TRAINING = "judge-training"


def other_scale_in_training(stage: Stage, config: JudgingConfig) -> list[str]:
    """A sentence for each training that lets people into this stage and has another scale."""
    slugs = [
        str(rule["values"][0])
        for rule in stage.eligibility
        if rule.get("kind") == "passed" and rule.get("values")
    ]
    rows = Stage.objects.filter(project=stage.project_id, kind=_TRAINING, slug__in=slugs) if slugs else ()
    mine = config.rating_scale
    return [
        f"Judges learn a scale {theirs.description} in {training.title}, and judge on one {mine.description}."
        " Give both stages the same scale, and the training examples for it."
        for training in rows
        if (theirs := scale_of(training)) != mine
    ]
