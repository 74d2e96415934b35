"""`manage.py migrate`: Django's, which looks at the tables first, and says what to do when one fails."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.migration import Migration
from django.db.migrations.state import ModelState, ProjectState
from django.db.models import Field

from core.errors import on_failure
from distillery.schema import inspect_schema

#: Options that apply nothing, or are for people who repair the table of migrations by hand.
_WITHOUT_LOOKING = ("plan", "check_unapplied", "fake", "fake_initial", "prune")


class _ProjectState(ProjectState):
    """Re-renders fewer models when a model or a field is added, since no other model can refer to it yet.

    Django re-renders every model that is reachable through relations, which is most of ours and takes nearly
    half the time of migrating an empty database. Here only direct neighbours are re-rendered, as after other
    changes that Django delays; a migration that runs Python code still has all models rendered first.
    """

    _is_adding = False

    def add_model(self, model_state: ModelState) -> None:
        """Add the model; its direct neighbours are re-rendered."""
        self._is_adding = True
        super().add_model(model_state)
        self._is_adding = False

    def add_field(
        self, app_label: str, model_name: str, name: str, field: Field[Any, Any], preserve_default: bool
    ) -> None:
        """Add the field; direct neighbours of its model are re-rendered."""
        self._is_adding = True
        super().add_field(app_label, model_name, name, field, preserve_default)
        self._is_adding = False

    def reload_model(self, app_label: str, model_name: str, delay: bool = False) -> None:
        """Re-render the model and its neighbours."""
        super().reload_model(app_label, model_name, delay or self._is_adding)

    def clone(self) -> "_ProjectState":
        """Keep this class; Django's method returns a plain ProjectState."""
        copy = super().clone()
        copy.__class__ = _ProjectState
        assert isinstance(copy, _ProjectState)
        return copy


class _Executor(MigrationExecutor):
    def _create_project_state(self, with_applied_migrations: bool = False) -> ProjectState:
        state: ProjectState = super()._create_project_state(with_applied_migrations)  # type: ignore[misc]
        state.__class__ = _ProjectState
        return state


migrate.MigrationExecutor = _Executor  # type: ignore[attr-defined]  # Django's command asks its module for it


class Command(migrate.Command):
    """Refuses, before it applies anything, where the tables are not what the applied migrations made."""

    _running: Migration | None = None
    _applied = 0

    def handle(self, *args: Any, **options: Any) -> None:
        """Look, then migrate."""
        look = options["database"] == DEFAULT_DB_ALIAS and not any(map(options.get, _WITHOUT_LOOKING))
        if look and not (report := inspect_schema()).is_well:
            raise CommandError(f"Nothing was migrated. {report.sentence}\n{report.remedy}")
        try:
            with on_failure(self._name_migration):
                super().handle(*args, **options)
        except InconsistentMigrationHistory as error:
            raise CommandError(
                f"Nothing was migrated. {error} The database was written by a commit between two versions, "
                "or by hand: put back a backup that a released version wrote."
            ) from error

    def _name_migration(self, error: BaseException) -> None:
        """Say which migration failed; what fails outside of one speaks for itself."""
        if self._running is not None and isinstance(error, Exception):
            raise CommandError(_describe_failure(self._running, error, self._applied)) from error

    def migration_progress_callback(
        self, action: str, migration: Migration | None = None, fake: bool = False
    ) -> None:
        """Know which migration runs."""
        if action in ("apply_start", "unapply_start"):
            self._running = migration
        elif action in ("apply_success", "unapply_success"):
            self._running = None
            self._applied += 1
        super().migration_progress_callback(action, migration, fake)


def _describe_failure(migration: Migration, error: Exception, applied: int) -> str:
    what = " ".join(str(error).split()) or type(error).__name__
    before = f"The {applied} before it stay applied." if applied else "None was applied before it."
    left = (
        "It was rolled back whole."
        if migration.atomic
        else "It works in steps: those that are done stay, and the next run goes on from there."
    )
    return (
        f"The migration {migration.app_label}.{migration.name} failed: {what}\n{left} {before}\n"
        "If the cause lies outside (a full disk, a lost connection, a lock), remove it and run "
        "`manage.py migrate` again. Otherwise put back the backup from before the upgrade, go on with the "
        "version that wrote it, and report the first line; `manage.py migrate --traceback` says more."
    )
