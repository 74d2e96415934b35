"""The word proximity network of a corpus and its word vectors (paper 001, section 2.1). No Django."""

from retrieval.network.builder import Progress, build
from retrieval.network.network import Network

__all__ = ["Network", "Progress", "build"]
