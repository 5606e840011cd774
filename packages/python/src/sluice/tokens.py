from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .api import IssueTokenFields
from .client import Sluice
from .errors import SluiceError

_LOG = logging.getLogger("sluice")
_PASSING = ("no_answer", "rate_limited", "unavailable")


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


class TokenIssuer:
    """What the token handlers of all frameworks have in common. The Sender token stays in your backend."""

    def __init__(self, sluice: Sluice | None) -> None:
        self._given = sluice

    @cached_property
    def _sluice(self) -> Sluice:
        """Created for the first request, because the environment may be incomplete while modules are imported."""
        return self._given or Sluice()

    def answer(self, grant: IssueTokenFields | None) -> Answer:
        """The user is not told why no token is available; your log is."""
        if not grant:
            return _problem(403, "forbidden", "Uploading is not allowed")
        try:
            return _json(200, "application/json", self._sluice.issue_token(grant))
        except SluiceError as error:
            _LOG.error("No upload token: %s (%s)", error, error.code)
            if error.code in _PASSING:
                unavailable = _problem(503, "unavailable", "No token is available at the moment")
                return Answer(503, unavailable.body, {**unavailable.headers, "Retry-After": "5"})
            return _problem(500, "internal", "No token is available")


def _json(status: int, content_type: str, body: Any) -> Answer:
    headers = {"Content-Type": content_type, "Cache-Control": "no-store"}
    return Answer(status, json.dumps(body).encode(), headers)


def _problem(status: int, code: str, title: str) -> Answer:
    problem = {"type": "about:blank", "title": title, "status": status, "code": code}
    return _json(status, "application/problem+json", problem)
