from __future__ import annotations

import io
import json
import os
import time
import zlib
from email.message import Message
from pathlib import Path
from typing import BinaryIO, Callable, cast

from .api import CreateUploadFields, CreateUploadResult
from .errors import SluiceError
from .transport import retry_delay_s, send_once

_SILENCE_S = 60.0
_MAX_DELAY_S = 30.0
#: How many attempts in a row may fail without a further byte having arrived: about eight minutes.
_MAX_FAILURES = 20
#: The server may still be ending an earlier request to the upload.
_BUSY = (409, 423)
#: The upload can no longer be continued.
_ENDED = (404, 410, 460)
_CHUNK_BYTES = 1024 * 1024


def upload_file(
    create_upload: Callable[[CreateUploadFields], CreateUploadResult],
    path: str | os.PathLike[str],
    fields: CreateUploadFields,
    journal: str | os.PathLike[str] | None,
) -> str:
    kept = Path(journal) if journal is not None else None
    begun = _read(kept)
    if begun is None:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            # The checksum also ties the upload to these bytes, should the file change before it is continued.
            declared = {**fields, "size": size, "checksum": f"crc32:{_crc32(file):08x}"}
        made = create_upload(cast(CreateUploadFields, declared))
        begun = made["uploadUrl"], made["token"]
        _write(kept, *begun)
    upload_url, token = begun
    try:
        send_file(path, upload_url, token)
    except SluiceError as error:
        if kept and error.status in _ENDED:
            kept.unlink()
        raise
    if kept:
        kept.unlink()
    return upload_url.rsplit("/", 1)[-1]


def _read(journal: Path | None) -> tuple[str, str] | None:
    if journal is None or not journal.exists():
        return None
    try:
        kept = json.loads(journal.read_text())
        return kept["uploadUrl"], kept["token"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{journal} is not a journal of an upload. Pass another path.") from None


def _write(journal: Path | None, upload_url: str, token: str) -> None:
    if journal is None:
        return
    writing = journal.with_name(f"{journal.name}.{os.getpid()}")
    descriptor = os.open(writing, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w") as file:
        json.dump({"uploadUrl": upload_url, "token": token}, file)
    writing.replace(journal)


def _crc32(file: BinaryIO) -> int:
    crc32 = 0
    while chunk := file.read(_CHUNK_BYTES):
        crc32 = zlib.crc32(chunk, crc32)
    return crc32


def send_file(path: str | os.PathLike[str], upload_url: str, token: str) -> None:
    """
    Sends a file to an upload that `create_upload` created, continuing at the byte where an earlier attempt stopped, in
    whatever process. Raises a SluiceError once the upload is refused, or if nothing arrives for about eight minutes.
    """
    failures = 0
    most_bytes = -1
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        while True:
            try:
                start, is_declared = _state(upload_url, token, size)
                if start > most_bytes:
                    failures, most_bytes = 0, start
                if start == size and is_declared:
                    return
                if _send_rest(file, upload_url, token, start, size, is_declared) == size:
                    return
            except SluiceError as error:
                is_busy = error.status in _BUSY
                delay_s = 1.0 if is_busy else retry_delay_s(failures, error, _MAX_DELAY_S)
                failures += 1
                if delay_s is None or failures > _MAX_FAILURES:
                    raise
                time.sleep(delay_s)


def _state(upload_url: str, token: str, size: int) -> tuple[int, bool]:
    """The number of bytes that have arrived, and whether the upload's length is known."""
    headers = {"Authorization": f"Bearer {token}", "Tus-Resumable": "1.0.0"}
    try:
        head = send_once("HEAD", upload_url, headers, None, _SILENCE_S).headers
    except SluiceError as error:
        # A response to HEAD has no body.
        if error.status in _ENDED:
            raise SluiceError(
                "upload_gone", "The upload no longer exists. Create a new one.", status=error.status
            ) from None
        raise
    length = head.get("Upload-Length")
    if length is not None and int(length) != size:
        raise ValueError(f"The upload is for a file of {length} bytes, but this one has {size}.")
    return _offset(head), length is not None


def _send_rest(
    file: BinaryIO, upload_url: str, token: str, start: int, size: int, is_declared: bool
) -> int:
    headers = {
        "Authorization": f"Bearer {token}",
        "Tus-Resumable": "1.0.0",
        "Content-Type": "application/offset+octet-stream",
        "Content-Length": str(size - start),
        "Upload-Offset": str(start),
    }
    if not is_declared:
        headers["Upload-Length"] = str(size)
    file.seek(start)
    body = cast(BinaryIO, _Range(file, size - start))
    return _offset(send_once("PATCH", upload_url, headers, body, _SILENCE_S).headers)


def _offset(headers: Message[str, str]) -> int:
    offset = headers.get("Upload-Offset", "")
    if not offset.isdecimal():
        raise SluiceError("unexpected_answer", "The response was not from Sluice.", status=200)
    return int(offset)


class _Range(io.RawIOBase):
    """The next bytes of a file: no more than were declared, even if it grows."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self._file = file
        self._left = length

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(min(max(size, _CHUNK_BYTES), self._left))
        self._left -= len(chunk)
        return chunk
