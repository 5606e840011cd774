"""The endpoint where the pages of a Flask app get their upload tokens."""

from __future__ import annotations

from typing import Any, Callable

from flask import Response

from .api import IssueTokenFields
from .client import Sluice
from .tokens import TokenIssuer


def token_view(
    authorize: Callable[[], IssueTokenFields | None], sluice: Sluice | None = None
) -> Callable[..., Response]:
    """`authorize` returns what the user may upload, or None. Check the session, never what the body claims."""
    issuer = TokenIssuer(sluice)

    def upload_token(**_: Any) -> Response:
        answer = issuer.answer(authorize())
        return Response(answer.body, status=answer.status, headers=answer.headers)

    return upload_token
