"""How the C library gives memory back, for work that goes through hundreds of megabytes in large arrays.

By itself glibc takes an array of up to 32 MiB from its heap once one as large was freed, and a heap shrinks
at its end alone: a process keeps the most that it ever took, with holes in it.
"""

import ctypes
from functools import cache

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
#: Arrays from this size on are given back as soon as they go; smaller ones are made too often for that.
_LARGE = 4 << 20
#: What is free at the end of a heap and stays there to be used again.
_KEPT = 16 << 20


@cache
def return_large_blocks() -> bool:
    """Have this process give large blocks back at once; False where its C library does not know how."""
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(set_option(_M_MMAP_THRESHOLD, _LARGE) and set_option(_M_TRIM_THRESHOLD, _KEPT))
