"""Mephisto's `mturk_utils`, called as its provider for MTurk does: `mephisto_side.py PROFILE`.

The client is made as its datastore makes it: of a profile and a region, with no endpoint, so the variable
AWS_ENDPOINT_URL_MTURK turns it. Nothing of the package is touched. `import mephisto` itself reads every part
of the framework, some of which no longer import on Python 3.11: the package is entered past it, and the one
thing that it does for these functions, making its configuration, is done here.
"""

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

import boto3
from calls import answer
from omegaconf import OmegaConf


def enter(name: str) -> None:
    """Have the modules of a package importable without what the package imports by itself."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.submodule_search_locations is not None
    package = ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = package


def main() -> None:
    """Serve the functions of mturk_utils, each with the client as its first argument."""
    enter("mephisto")
    utils = importlib.import_module("mephisto.abstractions.providers.mturk.mturk_utils")
    importlib.import_module("mephisto.operations.config_handler").init_config()
    profile = sys.argv[1]

    def called(function: str, *arguments: Any, **keywords: Any) -> Any:
        if function == "setup_aws_credentials":
            return utils.setup_aws_credentials(profile, OmegaConf.create(*arguments))
        if function == "create_hit_type":
            task, *rest = arguments
            arguments = (OmegaConf.create(task), *rest)
        client = boto3.Session(profile_name=profile, region_name="us-east-1").client("mturk")
        return getattr(utils, function)(client, *arguments, **keywords)

    answer(called)


main()
