"""The endpoint where the pages of a FastAPI app get their upload tokens."""

from __future__ import annotations

import inspect
from typing import Awaitable, Callable

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from .api import IssueTokenFields
from .client import Sluice
from .tokens import TokenIssuer

Grant = IssueTokenFields | None


def token_route(
    authorize: Callable[[Request], Grant | Awaitable[Grant]], sluice: Sluice | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """`authorize` returns what the user may upload, or None. Check the session, never what the body claims."""
    issuer = TokenIssuer(sluice)

    async def upload_token(request: Request) -> Response:
        granted = authorize(request)
        grant = await granted if inspect.isawaitable(granted) else granted
        answer = await run_in_threadpool(issuer.answer, grant)
        return Response(answer.body, status_code=answer.status, headers=answer.headers)

    return upload_token
