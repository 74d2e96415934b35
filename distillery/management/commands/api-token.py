"""`manage.py api-token`: make, list and revoke tokens of the API."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import natural, user_named
from core.api import tokens
from core.api.models import ApiToken, Scope
from core.projects.models import Project


class Command(BaseCommand):
    """Make, list or revoke tokens of the API."""

    help = "Make a token with which a program uses the API as a person; list and revoke them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Three actions."""
        actions = parser.add_subparsers(dest="action", required=True)
        creating = actions.add_parser("create", help="make one; its text is printed once and kept nowhere")
        creating.add_argument("username")
        creating.add_argument(
            "--scope", required=True, action="append", help=f"one or several of {','.join(Scope.values)}"
        )
        creating.add_argument("--project", metavar="SLUG", help="the only project that it opens")
        creating.add_argument(
            "--days", type=natural, help=f"days for which it works; without: {tokens.USUAL_DAYS}"
        )
        creating.add_argument("--name", default="", help="what it is for")
        listing = actions.add_parser("list", help="those that work, newest first")
        listing.add_argument("username", nargs="?")
        revoking = actions.add_parser("revoke", help="end one at once")
        revoking.add_argument("token_id", type=natural)
        for parser_of_one in (creating, listing, revoking):
            parser_of_one.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do one of them."""
        actions = {"create": self._create, "list": self._list, "revoke": self._revoke}
        actions[options["action"]](options)

    def _create(self, options: dict[str, Any]) -> None:
        slug, project = options["project"], None
        if slug is not None and (project := Project.objects.filter(slug=slug).first()) is None:
            raise CommandError(f"There is no project {slug!r}.")
        scopes = [scope.strip() for each in options["scope"] for scope in each.split(",") if scope.strip()]
        try:
            token, text = tokens.create_token(
                user=user_named(options["username"]),
                scopes=scopes,
                name=options["name"],
                project=project,
                days=options["days"],
            )
        except tokens.TokenError as error:
            raise CommandError(str(error)) from error
        if options["as_json"]:
            self.stdout.write(json.dumps({"token": text, **tokens.describe_token(token)}))
            return
        self.stdout.write(text)
        self.stderr.write("Copy the token now; it is not shown again.")

    def _list(self, options: dict[str, Any]) -> None:
        user = user_named(options["username"])
        rows = tokens.working_tokens() if user is None else tokens.tokens_of(user)
        if options["as_json"]:
            self.stdout.write(json.dumps([tokens.describe_token(token) for token in rows], indent=2))
            return
        for token in rows:
            project = token.project.slug if token.project else "all projects"
            until = f"{token.expires_at:%Y-%m-%d}" if token.expires_at else "revoked"
            self.stdout.write(
                f"{token.pk:>6}  {token.prefix}…  {token.user.get_username()}  {project}  "
                f"{','.join(token.scopes)}  until {until}  {token.name}"
            )

    def _revoke(self, options: dict[str, Any]) -> None:
        token = ApiToken.objects.filter(pk=options["token_id"]).first()
        if token is None or not tokens.revoke_token(token=token):
            raise CommandError("There is no token of this number that works.")
        if options["as_json"]:
            self.stdout.write(json.dumps({"id": token.pk, "revoked": True}))
        else:
            self.stdout.write(f"Token {token.pk} ({token.prefix}…) has ended.")
