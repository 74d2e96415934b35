"""The beginning for reference answers: the first three stages of the pipeline (paper 000, section 3)."""

from crowd.desk.beginnings import StagePreset

REFERENCE = StagePreset(
    "reference",
    "Reference answers",
    "From a query log to many independent answers per query: screening, curation of passages, distillation.",
    brings="Queries, as a log or a public data set, with candidate passages or an index to find them in.",
    title="Reference answers",
    budget="500.00",
    stages=(
        {
            "slug": "screening",
            "title": "Screening",
            "kind": "screening",
            "reward": "0.30",
            "redundancy": 3,
            "units_per_hit": 5,
            "checks_per_hit": 1,
            "expected_minutes": 1.5,
            "hold_failed_checks": True,
            "config": {
                "checks": {"youtube": "navigational", "cheap flights to lisbon": "transactional"},
            },
        },
        {
            "slug": "curation",
            "title": "Curation",
            "kind": "curation",
            "reward": "0.50",
            "redundancy": 1,
            "expected_minutes": 3.0,
        },
        {
            "slug": "distillation",
            "title": "Distillation",
            "kind": "distillation",
            "reward": "0.40",
            "redundancy": 20,
            "expected_minutes": 2.0,
            "approve": "by-hand",
        },
    ),
)
