"""The input shapes of MTurkRequesterServiceV20170117, walked out of botocore's own service model.

Importing this module loads botocore (0.1 s), so that only a process with a call of the protocol does.
"""

from collections.abc import Mapping
from functools import cache

from botocore import loaders, model

from marketplace.protocol.constraints import Flag, IntegerShape, ListOf, Moment, Shape, Structure, Text

API_VERSION = "2017-01-17"
_NO_PARAMETERS = Structure()


@cache
def input_shapes() -> Mapping[str, Structure]:
    """The input shape of each operation; the first call in a process reads the service model."""
    described = loaders.Loader().load_service_model("mturk", "service-2", API_VERSION)
    service = model.ServiceModel(described, "mturk")
    shapes = {name: service.operation_model(name).input_shape for name in service.operation_names}
    return {name: _read_structure(shape) if shape else _NO_PARAMETERS for name, shape in shapes.items()}


def _read_shape(shape: model.Shape) -> Shape:
    if isinstance(shape, model.StructureShape):
        return _read_structure(shape)
    if isinstance(shape, model.ListShape):
        return ListOf(_read_shape(shape.member))
    facts = shape.metadata
    match shape.type_name:
        case "string":
            pattern = facts.get("pattern", "").removeprefix("^").removesuffix("$") or None
            return Text(facts.get("min", 0), facts.get("max"), pattern, tuple(facts.get("enum", ())))
        case "integer" | "long" as kind:
            return IntegerShape(64 if kind == "long" else 32, facts.get("min"), facts.get("max"))
        case "boolean":
            return Flag()
        case "timestamp":
            return Moment()
        case other:
            raise TypeError(f"botocore's model of MTurk has the type {other!r}, which no shape here checks.")


def _read_structure(shape: model.StructureShape) -> Structure:
    members = {name: _read_shape(member) for name, member in shape.members.items()}
    required = {name: members.pop(name) for name in shape.required_members}
    return Structure(required, members)
