"""What a tokeniser is: a function with a name that stands in signatures."""

from collections.abc import Callable
from dataclasses import dataclass

from metrics.tokens.runs import Runs


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """`split` turns a text into its tokens; `name` says which rules it follows, `version` in which form.

    Two tokenisers with the same name must split every text alike. `runs`, where a tokeniser has it, states
    the same rule as kinds of characters, by which many texts are cut at once, and quicker.
    """

    name: str
    split: Callable[[str], list[str]]
    runs: Runs | None = None
    version: int = 1

    @property
    def label(self) -> str:
        """Name and version as they stand in signatures: `ptb`, `default.2`."""
        return self.name if self.version == 1 else f"{self.name}.{self.version}"
