"""`manage.py reseal`: after SECRET_KEY was changed, seal everything with the new one."""

from argparse import ArgumentParser
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Model

from core.accounts.adapters import SEALED_FOR
from core.accounts.factors import sealed_secrets
from core.crypto import seal, unseal
from core.crypto.models import Canary
from distillery.canary import SEALED, place_canary

_AT_ONCE = 500


class Command(BaseCommand):
    """Reads with any key, writes with the present one; it may run while the site does, and again."""

    help = "Seal all stored secrets with the present SECRET_KEY; then SECRET_KEY_FALLBACKS can be emptied."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to do with what cannot be opened any more."""
        parser.add_argument(
            "--forget-lost",
            action="store_true",
            help="empty what no known key opens: its key is lost, and each secret has to be entered again",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Every table in batches; a value that somebody changes meanwhile is left as they made it."""
        unreadable = 0
        for model, field, purpose in SEALED:
            done = 0
            for pk, sealed in _rows(model, field):
                secret = unseal(sealed, purpose=purpose)
                if secret is None and options["forget_lost"]:
                    self.stderr.write(f"{model._meta.verbose_name} {pk}: emptied; enter it again.")
                    model._default_manager.filter(**{"pk": pk, field: sealed}).update(**{field: ""})
                    continue
                if secret is None:
                    unreadable += 1
                    self.stderr.write(
                        f"{model._meta.verbose_name} {pk}: sealed with a key that is not known here."
                    )
                    continue
                unchanged = model._default_manager.filter(**{"pk": pk, field: sealed})
                done += unchanged.update(**{field: seal(secret, purpose=purpose)})
            self.stdout.write(f"{model._meta.verbose_name_plural}: {done} sealed with the present key")
        unreadable += self._reseal_factors(forget_lost=options["forget_lost"])
        if options["forget_lost"]:
            Canary.objects.filter(value_sealed="").delete()
            place_canary()
        if unreadable:
            raise CommandError(
                f"{unreadable} could not be read and are as they were. Add the key that sealed them to "
                "SECRET_KEY_FALLBACKS and run this again. If it is lost: `manage.py reseal --forget-lost`."
            )
        self.stdout.write("SECRET_KEY_FALLBACKS is not needed for stored secrets any more.")

    def _reseal_factors(self, *, forget_lost: bool) -> int:
        """Secrets of second factors lie in the data of their rows; how many could not be read."""
        done = lost = 0
        for pk in Authenticator.objects.order_by("pk").values_list("pk", flat=True):
            with transaction.atomic():
                row = Authenticator.objects.select_for_update().filter(pk=pk).first()
                sealed = sealed_secrets(row) if row is not None else {}
                opened = {name: unseal(value, purpose=SEALED_FOR) for name, value in sealed.items()}
                if row is None or not sealed:
                    continue
                if all(opened.values()):
                    row.data |= {
                        name: seal(value or "", purpose=SEALED_FOR) for name, value in opened.items()
                    }
                    row.save(update_fields=["data"])
                    done += 1
                elif forget_lost:
                    self.stderr.write(f"{row.type} of user {row.user_id}: removed; set it up again.")
                    row.delete()
                else:
                    lost += 1
                    self.stderr.write(f"{row.type} of user {row.user_id}: sealed with an unknown key.")
        self.stdout.write(f"second factors: {done} sealed with the present key")
        return lost


def _rows(model: type[Model], field: str) -> Any:
    last = 0
    rows = model._default_manager.exclude(**{field: ""}).order_by("pk")
    while chunk := list(rows.filter(pk__gt=last).values_list("pk", field)[:_AT_ONCE]):
        yield from chunk
        last = chunk[-1][0]
