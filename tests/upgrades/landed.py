"""Which migrations have landed, with which content, and in which version they were first released.

    python -m tests.upgrades.landed                  # or: make landed-migrations

adds those of the working tree that are new. A line that is there is never changed by it: a migration that has
landed has run on databases that nobody here knows of.
"""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIST = Path(__file__).with_name("landed_migrations.txt")
#: Stands in place of a version where none was released with the migration yet.
UNRELEASED = "unreleased"
HEAD = """\
# Migrations that have landed: SHA-256, file, first version with it. New ones: make landed-migrations.
"""


@dataclass(frozen=True)
class LandedMigration:
    """One line of the list."""

    digest: str
    path: str
    version: str

    @property
    def key(self) -> tuple[str, str]:
        """App and name, as Django has them."""
        app, _, file = self.path.split("/")[-3:]
        return app, file.removesuffix(".py")


def read_landed(file: Path = LIST) -> dict[str, LandedMigration]:
    """The list, by the path of each file."""
    lines = [
        line.split() for line in file.read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#")
    ]
    return {path: LandedMigration(digest, path, version) for digest, path, version in lines}


def write_landed(migrations: dict[str, LandedMigration], file: Path = LIST) -> None:
    """Sorted by path, so that two branches that add migrations to different apps merge."""
    lines = [f"{one.digest}  {one.path}  {one.version}\n" for _, one in sorted(migrations.items())]
    file.write_text(HEAD + "".join(lines), encoding="utf-8")


def digest_migrations(root: Path = ROOT) -> dict[str, str]:
    """SHA-256 of every migration of the working tree, by its path."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in ("*", "core/*", "examples/*")
        for path in sorted(root.glob(f"{folder}/migrations/[0-9]*.py"))
    }


def find_faults(landed: dict[str, LandedMigration], present: dict[str, str]) -> list[str]:
    """What is wrong with the working tree's migrations, each with its remedy."""
    faults = []
    for path, one in landed.items():
        if path not in present:
            faults.append(
                f"{path} has landed and is gone. Put it back: databases exist on which it ran. "
                "Never rename or delete a landed migration; add a new one that undoes it."
            )
        elif present[path] != one.digest:
            faults.append(
                f"{path} has landed and was edited. Never edit a landed migration: databases that ran it "
                f"before will never get the change. `git checkout origin/main -- {path}`, and put the "
                "change into a new migration (`manage.py makemigrations`)."
            )
    faults += [
        f"{path} is not in {LIST.relative_to(ROOT)}. Add it there with `make landed-migrations` "
        "(python -m tests.upgrades.landed) and commit both together; from then on it is never edited."
        for path in present
        if path not in landed
    ]
    return faults


def add_new(landed: dict[str, LandedMigration], present: dict[str, str]) -> list[str]:
    """Put the migrations that are not in the list into it; their paths."""
    new = [path for path in present if path not in landed]
    landed |= {path: LandedMigration(present[path], path, UNRELEASED) for path in new}
    return new


def main() -> int:
    """Add new migrations; complain about edited ones, and change nothing then."""
    landed, present = read_landed(), digest_migrations()
    new = add_new(landed, present)
    faults = find_faults(landed, present)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    write_landed(landed)
    print(f"{len(landed)} migrations have landed. New: {', '.join(new) or 'none'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
