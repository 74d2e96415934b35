"""Puts templates, static files, the locks and llms.txt into the wheel, as `distillery/files`."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithFiles(build_py):
    """Adds files that a checkout has beside its packages."""

    def run(self) -> None:
        """Build the packages, then copy."""
        super().run()
        target = Path(self.build_lib, "distillery", "files")
        for folder in ("templates", "static"):
            shutil.copytree(folder, target / folder, dirs_exist_ok=True)
        (target / "docs").mkdir(exist_ok=True)
        shutil.copy(Path("docs", "llms.txt"), target / "docs")
        for name in ("base.txt", "mcp.txt", "opensearch.txt", "otel.txt"):
            (target / "requirements").mkdir(exist_ok=True)
            shutil.copy(Path("requirements", name), target / "requirements")


setup(cmdclass={"build_py": BuildWithFiles})
