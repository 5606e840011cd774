"""The endpoint where the pages of a Django project get their upload tokens."""

from __future__ import annotations

from typing import Any, Callable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from .api import IssueTokenFields
from .client import Sluice
from .tokens import TokenIssuer


def token_view(
    authorize: Callable[[HttpRequest], IssueTokenFields | None], sluice: Sluice | None = None
) -> Callable[..., HttpResponse]:
    """`authorize` returns what the user may upload, or None. Check the session, never what the body claims."""
    issuer = TokenIssuer(sluice)

    def view(request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
        answer = issuer.answer(authorize(request))
        return HttpResponse(answer.body, status=answer.status, headers=answer.headers)

    # Another site can send this request, but cannot read the response, so CSRF protection is not needed.
    exempt: Callable[..., HttpResponse] = csrf_exempt(require_POST(view))
    return exempt
