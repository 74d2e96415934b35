"""A study by the API alone: DISTILLERY_URL=… DISTILLERY_TOKEN=dst_… python examples/api_study.py [SLUG]"""

import os
import sys
from pathlib import Path

from distillery_client import Client

ROOT, SLUG = Path(__file__).resolve().parent.parent, sys.argv[1] if len(sys.argv) > 1 else "api-study"
ENDPOINT = os.environ.get("DISTILLERY_ENDPOINT", "local")
TERMS: dict[str, object] = {"endpoint": ENDPOINT, "budget_cents": 20_000}
STAGES: dict[str, dict[str, object]] = {
    "curation": {"reward_cents": 50, "redundancy": 1, "config": {"candidates": 5}},
    "distillation": {"reward_cents": 40, "redundancy": 3},
    "judging": {"reward_cents": 10, "redundancy": 5, "checks_per_hit": 1, "units_per_hit": 4},
}

with Client(os.environ["DISTILLERY_URL"], os.environ["DISTILLERY_TOKEN"]) as client:
    client.create_project({"slug": SLUG, "title": "A study by the API", "budget_cents": 60_000})
    project = client.project(SLUG)
    passages = project.upload(ROOT / "annotation/sample/passages.jsonl")
    corpus = client.create_corpus_from_upload(SLUG, {"upload": passages.sha256, "slug": "textbooks"})
    project.wait(corpus.job)
    project.wait(client.build_index(SLUG, "textbooks").job)
    sample = {"by": "uniform", "size": 4, "seed": 1}
    log = project.import_queries(ROOT / "annotation/sample/queries.jsonl", start_at="curation", design=sample)
    print(f"{log.report['stored']} queries.")
    for kind, terms in STAGES.items():
        if kind == "judging":
            project.import_candidates(ROOT / "judgments/sample/candidates.jsonl")
        client.create_stage(SLUG, {"slug": kind, "title": kind.title(), "kind": kind, **TERMS, **terms})
        stage = project.stage(kind)
        print(f"{kind}: {stage.open(wait_s=120).total_cents / 100:.2f} with fees.")
        print(f"{kind}: {stage.simulate(mix='diligent', seed=7)['submitted']} assignments.")
        stage.wait_until_collected()
    counts = stage.apply_filters("default").counts
    print(f"Filters removed {counts['removed_ratings']} of {counts['ratings']} ratings.")
    release = project.build_release(formats=["jsonl"], include=["undecided"])
    report = release.evaluate(metrics=["bleu-1", "rouge-l"], replicates=200, draws=199)
    print(f"Release {release.version}: {len(release.scores().to_list())} scores, best metric {report.best}")
