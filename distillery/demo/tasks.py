"""The ten questions of the demonstration, with the passages that answer them (see ATTRIBUTION.md)."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("tasks.json")


@dataclass(frozen=True)
class Book:
    """A book that passages come from, as its licence wants it named."""

    title: str
    authors: str
    publisher: str
    url: str


@dataclass(frozen=True)
class Licence:
    """Under which terms the passages may be shown."""

    name: str
    url: str
    notice: str


@dataclass(frozen=True)
class Task:
    """One question to answer from its passages."""

    number: int
    id: str
    query: str
    passages: tuple[str, ...]
    section: str
    book: Book
    licence: Licence


@cache
def all_tasks() -> tuple[Task, ...]:
    """Every task, numbered from one."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    licence = Licence(**document["licence"])
    books = {name: Book(**book) for name, book in document["books"].items()}
    return tuple(
        Task(
            number=number,
            id=task["id"],
            query=task["query"],
            passages=tuple(task["passages"]),
            section=task["section"],
            book=books[task["book"]],
            licence=licence,
        )
        for number, task in enumerate(document["tasks"], start=1)
    )


def task_numbered(number: int) -> Task | None:
    """The task with this number, if there is one."""
    tasks = all_tasks()
    return tasks[number - 1] if 1 <= number <= len(tasks) else None
