"""`manage.py doctor`: what is wrong with this set-up, in plain words."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, OutputWrapper
from django.core.management.color import Style

from distillery.checks import findings
from distillery.health import Finding

SIGNS = {"ok": "ok     ", "warning": "warning", "error": "ERROR  "}


def write(finding: Finding, stream: OutputWrapper, style: Style) -> None:
    """One finding for people, with its remedy on a line of its own."""
    paint = {"ok": style.SUCCESS, "warning": style.WARNING, "error": style.ERROR}[finding.level]
    stream.write(f"{paint(SIGNS[finding.level])} {finding.topic}: {finding.sentence}")
    if finding.remedy:
        stream.write(f"        {finding.remedy}")


class Command(BaseCommand):
    """Look at everything and say it; exit 1 if something is an error."""

    help = "Say what is wrong with this set-up, and what to do about it. Exit code 1 if there is an error."
    requires_system_checks: list[str] = []  # they are among the findings

    def add_arguments(self, parser: ArgumentParser) -> None:
        """For people or for programs."""
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the findings."""
        all_findings = findings()
        errors = sum(finding.level == "error" for finding in all_findings)
        warnings = sum(finding.level == "warning" for finding in all_findings)
        if options["as_json"]:
            report = {"ok": not errors, "findings": [asdict(finding) for finding in all_findings]}
            self.stdout.write(json.dumps(report, indent=2))
        else:
            for finding in all_findings:
                write(finding, self.stdout, self.style)
            self.stdout.write(f"{_counted(errors, 'error')}, {_counted(warnings, 'warning')}.")
        if errors:
            sys.exit(1)


def _counted(number: int, noun: str) -> str:
    return f"{number or 'No'} {noun}{'' if number == 1 else 's'}"
