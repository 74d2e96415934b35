"""What the C library does with large blocks that were freed."""

import subprocess
import sys

PROGRAM = """
import resource
from pathlib import Path
from core.allocation import return_large_blocks

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 20

assert return_large_blocks() and return_large_blocks()
size = 24 << 20
bytearray(size)  # from now on glibc would take blocks of this size from its heap
before = resident()
several = [bytearray(size), bytearray(1000), bytearray(size), bytearray(1000)]
several[0][:] = several[2][:] = b"x" * size
assert resident() >= before + 40
several[0] = several[2] = None
assert resident() < before + 10, resident() - before
"""


def test_large_blocks_are_given_back_when_they_are_freed():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
