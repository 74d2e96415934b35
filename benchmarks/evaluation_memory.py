"""Measures the memory of an evaluation's job over a large release: seconds and peak of each of its steps.

    python -m benchmarks.evaluation_memory [--answers 503000] [--references 5] [--ratings 10] [--json]

A release is made up as JSON lines, like those that a campaign ends with: six systems and, for a quarter of
the queries, a person who was held out; texts of 20 to 60 words; single ratings, of which one in eight comes
from a judge whom a filter removed. The job is the one of the desk: BLEU-4 and ROUGE-L, 200 replicates, 999
draws. It runs in a process of its own on the database of DATABASE_URL, SQLite in the folder without one.
`--folder` keeps release and database for another run.
"""

# ruff: noqa: PLC0415  # each process imports only what it measures

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")

NAME = "evaluation-memory"
SECRET_KEY = "a key that seals nothing but parts of an evaluation that is made up, and nowhere else"
PLAN = {"metrics": ["BLEU-4", "ROUGE-L"], "replicates": 200, "draws": 999}
SYSTEMS = 6
#: Queries that have an answer of a person, ratings of judges whom a filter removed: one in so many.
_HELD_OUT, _CARELESS = 4, 8
#: Answers that the same judges are asked about at once, and ratings that come on a judge in all.
_BUNDLE, _PER_JUDGE = 10, 120
_TYPES = ("DESCRIPTION", "NUMERIC", "ENTITY", "LOCATION", "PERSON")


class Maker:
    """Writes the tables of a release, the same from the same numbers."""

    def __init__(self, answers: int, references: int, ratings: int) -> None:
        self.chance = random.Random(7)
        self.answers, self.references, self.ratings = answers, references, ratings
        self.judges = max(60, answers * ratings // _PER_JUDGE)
        self.words = [
            "".join(self.chance.choices("abcdefghijklmnoprstuvw", k=2 + k % 8)) for k in range(20_000)
        ]
        self.often = [1 / (place + 3) for place in range(len(self.words))]
        self.pool: list[str] = []

    def word_list(self, count: int) -> list[str]:
        """Words, the frequent ones more often."""
        if len(self.pool) < count:
            self.pool = self.chance.choices(self.words, self.often, k=100_000)
        taken, self.pool = self.pool[-count:], self.pool[:-count]
        return taken

    def answer(self, near: list[str]) -> list[str]:
        """An answer of 20 to 60 words, some of them in the order of another one."""
        count = self.chance.randint(20, 60)
        begin, shared = self.chance.randrange(10), self.chance.randrange(count // 2)
        return near[begin : begin + shared] + self.word_list(count - shared)

    def write(self, folder: Path) -> None:
        """All tables, line by line."""
        (folder / "jsonl").mkdir(parents=True)
        names = ("references", "candidates", "scores", "ratings")
        files: dict[str, IO[str]] = {
            name: (folder / f"jsonl/{name}-train.jsonl").open("w", encoding="utf-8") for name in names
        }
        try:
            for query in range(-(-self.answers * _HELD_OUT // (SYSTEMS * _HELD_OUT + 1))):
                self._write_query(query, files)
        finally:
            for file in files.values():
                file.close()

    def _write_query(self, number: int, files: dict[str, IO[str]]) -> None:
        query, base = f"{number:032x}", self.word_list(60)
        said = [" ".join(self.answer(base)) for _ in range(self.references)]
        row = {
            "query_id": query, "query": " ".join(base[:9]) + "?", "context": [],
            "type": _TYPES[number % len(_TYPES)], "yes_no": False, "weight": 1.0, "stratum": "",
            "passages": [],
            "answers": [{"answer_id": f"{number}-{at}", "worker": f"w{at}", "text": text, "opinion": "",
                         "entities": [], "simulated": False} for at, text in enumerate(said)],
            "split": "train",
        }  # fmt: skip
        files["references"].write(json.dumps(row) + "\n")
        systems = [f"system-{each}" for each in range(SYSTEMS)] + ["human"] * (number % _HELD_OUT == 0)
        for place, system in enumerate(systems):
            at = number * SYSTEMS + -(-number // _HELD_OUT) + place
            if at < self.answers:
                self._write_answer(at, system, query, base, files)

    def _write_answer(
        self, at: int, system: str, query: str, base: list[str], files: dict[str, IO[str]]
    ) -> None:
        key, text = f"{at:036x}", " ".join(self.answer(base))
        own = {"candidate_id": key, "query_id": query, "system": system}
        rest = {"people": system == "human", "answer": text, "opinion": "", "aside": "", "simulated": False}
        files["candidates"].write(json.dumps({**own, **rest, "split": "train"}) + "\n")
        quality = 1 + (at * 7919 % 9) / 2
        first = at // _BUNDLE * 7907
        kept: list[dict[str, Any]] = []
        for place in range(self.ratings):
            judge = (first + place * 611_953) % self.judges
            careless = judge % _CARELESS == 0
            score = (
                self.chance.randint(1, 5)
                if careless
                else min(5, max(1, round(self.chance.gauss(quality, 0.8))))
            )
            worker = f"J{judge:015x}"
            rating: dict[str, Any] = {
                "rating_id": f"{at * self.ratings + place}", "stage": "judging", **own, "worker": worker,
                "score": score, "aspects": [], "kept": not careless, "rule": "kappa" if careless else "",
                "reason": "", "simulated": False, "split": "train",
            }  # fmt: skip
            files["ratings"].write(json.dumps(rating) + "\n")
            if not careless:
                kept.append({"worker": worker, "score": score})
        scores = [each["score"] for each in kept]
        mean = sum(scores) / len(scores) if scores else None
        row = {
            "stage": "judging", **own, "n_raw": self.ratings, "n_kept": len(kept), "mean": mean, "sd": None,
            "median": mean, "trimmed": mean, "adjusted": mean, "kept": kept, "simulated": False,
            "split": "train",
        }  # fmt: skip
        files["scores"].write(json.dumps(row) + "\n")


def make_release(given: argparse.Namespace) -> None:
    """A database with a ready release, whose files are on the shelf of this installation."""
    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    from core.projects.services import create_project
    from releases import storage
    from releases.manifest import sha256_of
    from releases.models import Release

    call_command("migrate", verbosity=0)
    project = create_project(slug=NAME, title="Memory of an evaluation")
    release = Release.objects.create(project=project, version="1.0.0", created_at=timezone.now())
    with storage.workroom() as folder:
        Maker(given.answers, given.references, given.ratings).write(folder)
        listed = [
            {"path": f"jsonl/{path.name}", "format": "jsonl"} for path in sorted((folder / "jsonl").iterdir())
        ]
        manifest = {
            "manifest": 1, "name": NAME, "title": project.title, "version": "1.0.0", "simulated": False,
            "files": listed, "stages": [{"stage": "judging", "title": "Judging", "kind": "judging"}],
        }  # fmt: skip
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        digest = sha256_of(folder / "manifest.json")
        storage.keep_files(release, folder, move=True)
    built = {"manifest": manifest, "digest": digest, "content": digest, "built_at": timezone.now()}
    Release.objects.filter(pk=release.pk).update(state=Release.State.READY, **built)


class Steps:
    """Seconds and peak memory of this process between what a job says about itself."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._note, self._at, self._used = "", time.perf_counter(), time.process_time()

    def hear(self, note: str) -> None:
        """What it says now; the row of a step is what was used until the next one began."""
        if note == self._note:
            return
        from benchmarks.environment import peak

        now, used = time.perf_counter(), time.process_time()
        self.rows.append(
            {
                "until": note,
                "seconds": round(now - self._at, 1),
                "processor_s": round(used - self._used, 1),
                "peak_mib": round(peak()),
            }
        )
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins again
        self._note, self._at, self._used = note, now, used


def child() -> None:
    """Run the job in this process, and print what it took."""
    django.setup()
    from benchmarks.environment import peak
    from core.jobs import runner
    from core.jobs.handlers import JobContext
    from core.jobs.models import Job, JobState
    from distillery.dbtimeouts import limit_connections
    from evaluations import services
    from evaluations.plans import plan_of
    from releases.models import Release

    limit_connections("jobs")
    release = Release.objects.get(project__slug=NAME)
    evaluation = services.begin(release=release, plan=plan_of(PLAN))
    job = Job.objects.get(pk=str(evaluation.job))
    steps, plain = Steps(), JobContext.progress

    def progress(self: JobContext, done: int, total: int = 0, note: str = "") -> None:
        steps.hear(note)
        plain(self, done, total, note)

    JobContext.progress = progress  # type: ignore[method-assign]
    before, begun, used = peak(), time.perf_counter(), time.process_time()
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    if job.state != JobState.DONE:
        raise SystemExit(f"{job.state}: {job.error}")
    steps.hear("the end")
    figures = {
        "seconds": round(time.perf_counter() - begun, 1),
        "processor_s": round(time.process_time() - used, 1),
        "start_mib": round(before),
        "peak_mib": max(row["peak_mib"] for row in steps.rows),
        "load": round(os.getloadavg()[0], 1),
        "evaluation": str(evaluation.pk),
        "steps": steps.rows,
    }
    print(json.dumps(figures))


def _part(folder: Path, step: str, given: argparse.Namespace) -> str:
    """What a step prints that runs in a process of its own."""
    environment = {"DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}", **os.environ}
    environment |= {
        "SECRET_KEY": SECRET_KEY,
        "DATA_DIR": str(folder),
        "RELEASES_STORAGE": str(folder / "shelf"),
    }
    sizes = [f"--{name}={getattr(given, name)}" for name in ("answers", "references", "ratings")]
    words = [sys.executable, "-m", "benchmarks.evaluation_memory", "--step", step, *sizes]
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout[-2000:])
    return done.stdout


def measured(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """The figures of one evaluation; the release is made where the folder has none."""
    if not (folder / "shelf").exists():
        _part(folder, "make", given)
    figures: dict[str, Any] = json.loads(_part(folder, "run", given).splitlines()[-1])
    return figures


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.evaluation_memory", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--answers", type=int, default=503_000)
    parser.add_argument("--references", type=int, default=5, help="reference answers of a query")
    parser.add_argument("--ratings", type=int, default=10, help="ratings of an answer")
    parser.add_argument("--folder", type=Path, help="keep the release here, or take the one that is there")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", choices=("make", "run"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        make_release(given) if given.step == "make" else child()
        return
    with tempfile.TemporaryDirectory(prefix="evaluation-memory-") as name:
        figures = measured(given.folder or Path(name), given)
    if given.json:
        print(json.dumps(figures))
        return
    for row in figures.pop("steps"):
        figure = f"{row['peak_mib']:>6,} MiB {row['seconds']:>7.1f} s {row['processor_s']:>7.1f} s"
        print(f"{figure}  until {row['until']}")
    print(", ".join(f"{name}: {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
