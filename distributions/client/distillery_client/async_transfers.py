"""Files on their way: sent and fetched piece by piece, resumed where they broke off, checked by digest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from distillery_client.blocking import async_call
from distillery_client.errors import ApiError, UnreachableError, problem_of
from distillery_client.files import PIECE, Count, digest_of, is_whole, part_of

if TYPE_CHECKING:
    from distillery_client.sending import AsyncSender


class AsyncFileBody:
    """A file as the body of a request, read again by each attempt."""

    def __init__(self, file: Path, count: Count) -> None:
        self._file, self._count = file, count
        self.size = file.stat().st_size

    async def __aiter__(self) -> AsyncIterator[bytes]:
        sent = 0
        self._count(0)
        with self._file.open("rb") as opened:
            while piece := await async_call(opened.read, PIECE):
                yield piece
                sent += len(piece)
                self._count(sent)


async def async_fetch_file(
    sender: AsyncSender, address: str, place: Path, *, sha256: str, count: Count
) -> None:
    """Have a file of the installation at `place`, whole and with this digest, or raise.

    What an earlier attempt left at `NAME.part` is resumed. A file whose digest is not known (empty) is
    fetched from its start each time. ApiError `digest_differs` where the bytes are other ones, twice.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with part_of(place) as half:
        if not sha256:
            half.write_bytes(b"")
        for _ in range(2):
            resumed = await _fetch_rest(sender, address, half, sha256=sha256, count=count)
            if not sha256 or await async_call(digest_of, half) == sha256:
                half.replace(place)
                return
            half.write_bytes(b"")
            if not resumed:
                break
    raise ApiError(200, "digest_differs", f"{place.name} came with other bytes than the release has.")


async def _fetch_rest(sender: AsyncSender, address: str, half: Path, *, sha256: str, count: Count) -> bool:
    """Bring what is missing of a file; whether there was a beginning. Repeats what breaks off."""
    resumed, attempt = _size(half) > 0, 0
    while True:
        before = _size(half)
        try:
            response = await _fetch_once(sender, address, half, start=before, sha256=sha256, count=count)
        except httpx.RequestError as error:
            if _size(half) > before:
                attempt = 0
            if attempt + 1 >= sender.retry.attempts:
                raise UnreachableError(
                    f"{address} broke off: {error or type(error).__name__}. What came is kept at {half}; "
                    "the next attempt goes on from there."
                ) from error
            pause = sender.retry.pause_after(attempt, {})
        else:
            if response is None:
                return resumed
            if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                if is_whole(response, before):
                    return resumed
                half.write_bytes(b"")
                pause = 0.0
            elif sender.should_repeat(response, attempt):
                pause = sender.retry.pause_after(attempt, response.headers)
            else:
                raise problem_of(response)
        await asyncio.sleep(pause)
        attempt += 1


def _size(half: Path) -> int:
    return half.stat().st_size if half.exists() else 0


async def _fetch_once(
    sender: AsyncSender, address: str, half: Path, *, start: int, sha256: str, count: Count
) -> httpx.Response | None:
    """One request; None where the rest came to its end, else what was answered in place of it."""
    headers = {"Accept-Encoding": "identity"}  # digests and places are those of the file, not of a packed one
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": f'"{sha256}"'}
    async with sender.stream(address, headers) as response:
        if response.is_error:
            await response.aread()
            return response
        size = start if response.status_code == httpx.codes.PARTIAL_CONTENT else 0
        with half.open("ab" if size else "wb") as opened:
            count(size)
            async for piece in response.aiter_bytes():
                opened.write(piece)
                size += len(piece)
                count(size)
    return None
