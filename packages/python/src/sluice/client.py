from __future__ import annotations

import json
import os
import uuid
from typing import Any, Mapping
from urllib.parse import urlencode

from . import transport
from .api import CreateUploadFields, Operations
from .uploads import upload_file

_VARIABLES = {
    "base_url": "SLUICE_URL",
    "account_key": "SLUICE_ACCOUNT_KEY",
    "sender_token": "SLUICE_SENDER_TOKEN",
}
_NAMES = {"accountKey": "account_key", "senderToken": "sender_token"}


class Sluice(Operations):
    """
    The API. The Sender token is for tokens, uploads and imports; the account key for everything else. What is not
    passed is read from SLUICE_URL, SLUICE_SENDER_TOKEN and SLUICE_ACCOUNT_KEY. Threads can share an instance.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        account_key: str | None = None,
        sender_token: str | None = None,
        max_retries: int = 2,
        timeout_s: float = 60.0,
    ) -> None:
        self._url = f"{_setting('base_url', base_url).rstrip('/')}/api/v1"
        self._keys = {"account_key": account_key, "sender_token": sender_token}
        self._max_retries = max_retries
        self._timeout_s = timeout_s

    def _call(
        self,
        key: str,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        asked = urlencode({name: value for name, value in (query or {}).items() if value is not None})
        headers = {"Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {_setting(_NAMES[key], self._keys[_NAMES[key]])}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        if method == "POST":
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        response = transport.send(
            method,
            f"{self._url}{path}{f'?{asked}' if asked else ''}",
            headers,
            None if body is None else json.dumps(body).encode(),
            timeout_s=self._timeout_s,
            max_retries=self._max_retries,
        )
        return json.loads(response.body) if response.body else None

    def upload_file(
        self,
        path: str | os.PathLike[str],
        fields: CreateUploadFields,
        *,
        journal: str | os.PathLike[str] | None = None,
    ) -> str:
        """
        Creates an upload for this file, sends its bytes, and returns the file's id. Size and checksum are added to the
        fields. With a journal, a call after the process was killed continues at the byte where it stopped: the journal
        contains the upload's address and its token until the file has arrived.
        """
        return upload_file(self.create_upload, path, fields, journal)


def _setting(name: str, given: str | None) -> str:
    found = given or os.environ.get(_VARIABLES[name])
    if found:
        return found
    raise ValueError(f"Sluice needs {name}: pass it, or set {_VARIABLES[name]}.")
