"""Closes a listening socket so that clients that have connected are served, and later ones are refused.

Closing it at once resets every connection that the kernel has taken and no process has accepted yet. So new
ones are kept out first: Linux drops their first packet by a filter on the socket. When the queue is empty the
socket is closed, and the next try of a client, a second later, is refused.
"""

import contextlib
import ctypes
import socket
import struct
import sys
import time

#: Connections whose first packet came before the filter are complete after a round trip.
HANDSHAKE_SECONDS = 0.3
LONGEST_SECONDS = 2.0
LOOK_SECONDS = 0.02
_SO_ATTACH_FILTER = 26
#: Where `tcp_info` has the length of a listening socket's queue (tcpi_unacked).
_QUEUE_AT = 24
#: Classic BPF: load the flags of the TCP header, keep SYN and ACK; SYN alone is dropped, the rest passes.
_DROP_FIRST_PACKETS = (
    (0x30, 0, 0, 13),
    (0x54, 0, 0, 0x12),
    (0x15, 0, 1, 0x02),
    (0x06, 0, 0, 0),
    (0x06, 0, 0, 0xFFFFFFFF),
)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def close_listener(listener: socket.socket) -> None:
    """Keep new connections out, wait until the others are accepted, and close this process's end."""
    began = time.monotonic()
    if keep_out(listener):
        while time.monotonic() - began < LONGEST_SECONDS and (
            time.monotonic() - began < HANDSHAKE_SECONDS or count_waiting(listener)
        ):
            time.sleep(LOOK_SECONDS)
    listener.close()


def keep_out(listener: socket.socket) -> bool:
    """Drop the first packets of new connections, whoever has the socket; False where that cannot be done."""
    if sys.platform != "linux":
        return False
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in _DROP_FIRST_PACKETS)
    program = bytes(_Program(len(_DROP_FIRST_PACKETS), code))
    with contextlib.suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
        return True
    return False


def count_waiting(listener: socket.socket) -> int:
    """Connections that the kernel has taken and no process has accepted."""
    with contextlib.suppress(OSError):
        known = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _QUEUE_AT + 4)
        return int(struct.unpack_from("=I", known, _QUEUE_AT)[0])
    return 0
