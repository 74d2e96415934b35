"""Builds the package with what `generate.py` writes from the schema of the API."""

import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

sys.path.insert(0, str(Path(__file__).resolve().parent))
import generate


class BuildPackage(build_py):
    """Adds the modules that are generated; to the sources where the installation is editable."""

    def run(self) -> None:
        """Copy the modules that are written by hand, and write the others."""
        super().run()
        generate.write_all(
            generate.PACKAGE if self.editable_mode else Path(self.build_lib, generate.PACKAGE.name)
        )


class MakeSources(sdist):
    """Adds the schema, which lies outside the package's folder."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Copy the sources, and the schema beside them."""
        super().make_release_tree(base_dir, files)
        schema = generate.SCHEMA_COPY if generate.SCHEMA_COPY.exists() else generate.SCHEMA
        shutil.copyfile(schema, Path(base_dir, generate.SCHEMA_COPY.name))


setup(cmdclass={"build_py": BuildPackage, "sdist": MakeSources})
