from __future__ import annotations

import json
from email.message import Message
from typing import Any, TypedDict
from urllib.parse import urlsplit


class FieldError(TypedDict):
    field: str
    message: str


class SluiceError(Exception):
    """
    Every error that a call can raise. Use `code`: it is stable, and a later version may add codes. `no_answer`: the
    network or the server was unavailable. `unexpected_answer`: the response was not from Sluice.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        errors: list[FieldError] | None = None,
        request_id: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        #: None if there was no response.
        self.status = status
        #: The invalid fields of the request.
        self.errors = errors or []
        #: Include it when you contact your administrator.
        self.request_id = request_id
        #: The delay that the server asked for.
        self.retry_after_s = retry_after_s


def no_answer(cause: BaseException, url: str) -> SluiceError:
    """The message contains only the host of the address, because the rest may be secret."""
    address = urlsplit(url)
    host = address.hostname or ""
    where = f"{host}:{address.port}" if address.port else host
    reason = getattr(cause, "reason", cause)
    return SluiceError("no_answer", f"Sluice at {where} did not respond: {reason}")


def refusal(status: int, headers: Message[str, str], body: bytes) -> SluiceError:
    """Creates the error from an error response."""
    told = headers.get("Retry-After", "")
    request_id = headers.get("X-Request-Id")
    retry_after_s = int(told) if told.isdecimal() else None
    problem = _problem(body)
    if not isinstance(problem.get("code"), str):
        return SluiceError(
            "unexpected_answer",
            f"The response had status {status}.",
            status=status,
            request_id=request_id,
            retry_after_s=retry_after_s,
        )
    return SluiceError(
        problem["code"],
        problem["detail"],
        status=status,
        errors=problem.get("errors"),
        request_id=request_id,
        retry_after_s=retry_after_s,
    )


def _problem(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
