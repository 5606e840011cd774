from __future__ import annotations

import random
import time
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import Any, BinaryIO, Mapping
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .errors import SluiceError, no_answer, refusal

_FIRST_DELAY_S = 0.5
_MAX_DELAY_S = 8.0
#: If the server asks for a longer delay, the call fails instead of waiting.
_MAX_RETRY_AFTER_S = 30
#: Statuses for which a retry may succeed, in addition to 5xx.
_PASSING = (408, 425, 429)


@dataclass(frozen=True)
class Response:
    status: int
    headers: Message[str, str]
    body: bytes


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would send the key to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = build_opener(_NoRedirects)


def send_once(
    method: str, url: str, headers: Mapping[str, str], body: bytes | BinaryIO | None, timeout_s: float
) -> Response:
    """The response to one request; anything but a success raises a SluiceError."""
    request = Request(url, data=body, headers=dict(headers), method=method)
    try:
        with _opener.open(request, timeout=timeout_s) as answer:
            return Response(answer.status, answer.headers, answer.read())
    except HTTPError as error:
        raise _refusal(error, url) from None
    except (OSError, HTTPException) as error:
        raise no_answer(error, url) from error


def _refusal(error: HTTPError, url: str) -> SluiceError:
    try:
        with error:
            return refusal(error.code, error.headers, error.read())
    except (OSError, HTTPException) as cause:
        return no_answer(cause, url)


def send(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    timeout_s: float,
    max_retries: int,
) -> Response:
    """
    Retries after temporary errors. Sending a request twice is safe: requests that create something have an
    Idempotency-Key, and all others have the same result when repeated.
    """
    attempt = 0
    while True:
        try:
            return send_once(method, url, headers, body, timeout_s)
        except SluiceError as error:
            delay_s = retry_delay_s(attempt, error)
            if attempt >= max_retries or delay_s is None:
                raise
            attempt += 1
        time.sleep(delay_s)


def retry_delay_s(attempt: int, error: SluiceError, max_delay_s: float = _MAX_DELAY_S) -> float | None:
    """How long to wait before the next attempt; None if there is none."""
    if error.status is not None and error.status < 500 and error.status not in _PASSING:
        return None
    if error.retry_after_s is not None:
        return error.retry_after_s if error.retry_after_s <= _MAX_RETRY_AFTER_S else None
    ceiling_s = min(_FIRST_DELAY_S * 2.0**attempt, max_delay_s)
    return ceiling_s / 2 + ceiling_s / 2 * random.random()
