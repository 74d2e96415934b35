"""A project with people of all roles and a release with human scores, to be evaluated in a second.

Thirty questions about boiling things, three systems, scores from 1 to 5. `good` answers like the references,
`half` only sometimes, `bad` never; people score them so.
"""

import hashlib
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from core.jobs.runner import run
from core.projects.models import Project
from evaluations.models import Evaluation
from evaluations.plans import plan_of
from evaluations.services import begin
from releases import storage
from releases.models import Release, ReleaseFile

THINGS = ("eggs", "rice", "pasta", "lentils", "beans", "corn", "carrots", "potatoes", "peas", "barley")
SYSTEMS = ("bad", "good", "half")


def rows(questions: int = 30, seed: int = 1) -> dict[str, list[dict[str, Any]]]:
    """References, candidates and scores, by the names of their tables."""
    chance = random.Random(seed)
    tables: dict[str, list[dict[str, Any]]] = {"references": [], "candidates": [], "scores": []}
    for number in range(questions):
        thing, minutes = THINGS[number % len(THINGS)], 3 + number
        query = f"q{number}"
        said = [f"boil the {thing} for {minutes} minutes", f"{minutes} minutes in boiling water"]
        tables["references"].append(
            {"query_id": query, "query": f"how long do {thing} boil no {number}", "context": [],
             "type": "NUMERIC" if number % 2 else "DESCRIPTION", "yes_no": False, "weight": 1.0,
             "stratum": "", "passages": [], "split": "train",
             "answers": [{"answer_id": f"{query}-{at}", "worker": f"w{at}", "text": text, "opinion": "",
                          "entities": []} for at, text in enumerate(said)]}
        )  # fmt: skip
        for system in SYSTEMS:
            right = {"good": 0.9, "half": 0.5, "bad": 0.1}[system]
            text = chance.choice(said) if chance.random() < right else f"nobody knows much about {thing}"
            mean = (4 if text in said else 1.5) + chance.choice((0, 0.5, 1))
            candidate = f"{query}-{system}"
            own = {"candidate_id": candidate, "query_id": query, "system": system, "split": "train"}
            tables["candidates"].append({**own, "people": False, "answer": text, "opinion": "", "aside": ""})
            kept = [{"worker": f"j{at}", "score": mean + shift} for at, shift in enumerate((-0.5, 0, 0.5))]
            tables["scores"].append(
                {**own, "stage": "judging", "n_raw": 3, "n_kept": 3, "mean": mean, "sd": 0.5, "median": mean,
                 "trimmed": mean, "adjusted": mean, "kept": kept}
            )  # fmt: skip
    return tables


def make_release(
    project: Project, version: str = "1.0.0", *, questions: int = 30, seed: int = 1, **fields: Any
) -> Release:
    """A ready release with its files on the shelf, as far as an evaluation reads them."""
    tables = rows(questions, seed)
    contents = {
        f"jsonl/{name}-train.jsonl": "".join(f"{json.dumps(row)}\n" for row in found).encode()
        for name, found in tables.items()
    }
    listed = [
        {"path": path, "format": "jsonl", "bytes": len(content), "rows": content.count(b"\n"),
         "sha256": hashlib.sha256(content).hexdigest()}
        for path, content in contents.items()
    ]  # fmt: skip
    manifest = {
        "manifest": 1, "name": project.slug, "title": project.title, "version": version, "language": "en",
        "licence": "CC-BY-4.0", "simulated": False, "content": "c" * 64, "steps": [], "files": listed,
        "parameters": {"formats": ["jsonl"]},
        "stages": [{"stage": "judging", "title": "Judging", "kind": "judging", "filters": None}],
        "tables": [{"name": name, "title": name.capitalize(), "meaning": "", "columns": [],
                    "rows": {"train": len(found)}} for name, found in tables.items()],
    }  # fmt: skip
    text = json.dumps(manifest).encode()
    release = Release.objects.create(project=project, version=version, created_at=timezone.now())
    with TemporaryDirectory() as name:
        folder = Path(name, "built")
        for path, content in {**contents, "manifest.json": text}.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        storage.keep_files(release, folder, move=True)
    ReleaseFile.objects.bulk_create(ReleaseFile(release=release, **each) for each in listed)
    Release.objects.filter(pk=release.pk).update(
        state=Release.State.READY, manifest=manifest, digest=hashlib.sha256(text).hexdigest(),
        content="c" * 64, built_at=timezone.now(), **fields,
    )  # fmt: skip
    return Release.objects.select_related("project").get(pk=release.pk)


def make_evaluation(release: Release, *, ran: bool = True, lacks: str = "", **plan: Any) -> Evaluation:
    """An evaluation with few draws; computed unless `ran` is false. The metric `lacks` is gone by then."""
    given = {"metrics": ["bleu-1", "rouge-l"], "replicates": 20, "draws": 99, **plan}
    actor = User.objects.filter(username="manager").first()
    evaluation = begin(release=release, plan=plan_of(given), actor=actor)
    if lacks:
        evaluation.plan = {**evaluation.plan, "metrics": [lacks]}
        evaluation.save(update_fields=["plan"])
    if ran:
        assert evaluation.job is not None
        run(job_id=evaluation.job)
    return Evaluation.objects.select_related("release__project").get(pk=evaluation.pk)
