"""Starting programs of other people as from a terminal, and talking to their Python packages."""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients import REGION, Requester
from tests.server import ROOT

SIDES = ROOT / "tests" / "clients_of_others" / "sides"
JAVASCRIPT = ROOT / "tests" / "clients_of_others" / "javascript"
R_SCRIPTS = ROOT / "tests" / "clients_of_others" / "r"


@dataclass(frozen=True)
class Outside:
    """The environment of their programs: a home folder that starts empty, and one requester's keys."""

    folder: Path
    requester: Requester
    home: Path

    @property
    def variables(self) -> dict[str, str]:
        """All that the process knows, but for what it is told on its command line."""
        return {
            "HOME": str(self.home),
            "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "NO_PROXY": "127.0.0.1",
            "AWS_ACCESS_KEY_ID": self.requester.access_key,
            "AWS_SECRET_ACCESS_KEY": self.requester.secret,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def run(self, program: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """A command of theirs, to its end."""
        return subprocess.run(
            [str(self.folder / "bin" / program), *arguments],
            cwd=self.home,
            env={**self.variables, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    @contextlib.contextmanager
    def side(self, name: str, *arguments: str, **more: str) -> Iterator["Side"]:
        """A Python package of theirs in a process that stays: the script `sides/NAME.py` calls it for us."""
        command = [str(self.folder / "bin" / "python"), str(SIDES / f"{name}.py"), *arguments]
        with self._started(name, command, more) as side:
            yield side

    @contextlib.contextmanager
    def node(self, script: str) -> Iterator["Side"]:
        """A script of `javascript/` with the packages from npm beside it, in a process that stays."""
        packages = {"NODE_PATH": str(self.folder / "javascript" / "node_modules")}
        command = ["node", str(JAVASCRIPT / script)]
        with self._started(script, command, packages | {"ENDPOINT": self.requester.api_url}) as side:
            yield side

    @contextlib.contextmanager
    def rscript(self, script: str) -> Iterator["Side"]:
        """A script of `r/` with the packages of this machine's R, in a process that stays."""
        given = {"ENDPOINT": self.requester.api_url, "R_LIBS": os.environ.get("R_LIBS", "")}
        with self._started(script, ["Rscript", str(R_SCRIPTS / script)], given) as side:
            yield side

    @contextlib.contextmanager
    def _started(self, name: str, command: list[str], more: Mapping[str, str]) -> Iterator["Side"]:
        log = self.home / f"{name}.log"
        with (
            log.open("w") as errors,
            subprocess.Popen(
                command,
                cwd=self.home,
                env={**self.variables, **more},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            ) as process,
        ):
            yield {"node": NodeSide, "Rscript": RSide}.get(command[0], Side)(process, log)


class RaisedError(Exception):
    """What their function raised, in words."""


class Side:
    """Calls functions over there, with JSON in and out."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self._process, self._log = process, log

    def __call__(self, function: str, *arguments: Any, **keywords: Any) -> Any:
        return self._ask([function, arguments, keywords])

    def _ask(self, request: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        said = self._process.stdout.readline()
        if not said:
            raise RuntimeError(f"{request}: the process ended.\n{self._log.read_text()[-3000:]}")
        answer = json.loads(said)
        if "raised" in answer:
            raise RaisedError(answer["raised"])
        return answer["gave"]

    def log(self) -> str:
        """What the package wrote to its standard error."""
        return self._log.read_text(encoding="utf-8")


class NodeSide(Side):
    """Calls operations of Amazon's SDKs for JavaScript: which version, which service, which operation."""

    def __call__(self, function: str, *arguments: Any, **keywords: Any) -> Any:
        return self._ask([function, *arguments])


class RSide(Side):
    """Calls operations of paws: which one, with which parameters."""

    def __call__(self, function: str, *arguments: Any, **keywords: Any) -> Any:
        return self._ask([function, keywords])


def has_paws() -> bool:
    """Whether this machine has R with a package that speaks to MTurk; no registry of this build has it."""
    program = shutil.which("Rscript")
    look = 'quit(status = !any(c("paws", "paws.analytics") %in% rownames(installed.packages())))'
    return program is not None and subprocess.run([program, "-e", look], check=False).returncode == 0
