"""Options of a turn as the address has them: `alpha:0.8,query_model:cq1`, and nothing for the defaults."""

from collections.abc import Mapping

from retrieval.crown.options import PREFIX
from retrieval.crown.parameters import Parameters, defaults

_LONGEST = 500


def written(parameters: Parameters) -> str:
    """What is not as the profile has it; its weights all together."""
    usual = flat(defaults(parameters.profile))
    mine = flat(parameters)
    chosen = {name: value for name, value in mine.items() if value != usual[name]}
    if any(name.startswith(PREFIX) for name in chosen):
        chosen |= {name: value for name, value in mine.items() if name.startswith(PREFIX)}
    if parameters.profile != defaults().profile:
        chosen = {"profile": parameters.profile, **chosen}
    return ",".join(f"{name}:{value}" for name, value in chosen.items())


def read(text: str) -> Parameters:
    """The options of an address. ParametersError for what no page of ours has written."""
    pairs = (part.partition(":") for part in text[:_LONGEST].split(",") if part)
    return Parameters.of({name: value for name, _, value in pairs})


def flat(parameters: Parameters) -> Mapping[str, str]:
    """Every option by the name that a form has for it, as somebody types it."""
    own = {name: value for name, value in parameters.as_dict().items() if name != "weights"}
    weights = {f"{PREFIX}{name}": value for name, value in parameters.weights.items()}
    every = own | weights
    return {name: value if isinstance(value, str) else f"{value:g}" for name, value in every.items()}
