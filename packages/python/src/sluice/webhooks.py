from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any, Iterable, Literal, Protocol, Sequence

from .api import BeforeCompleteQuestion, BeforeCreateQuestion, SluiceEvent

Reason = Literal["missing", "malformed", "too_old", "too_new", "mismatch"]

_MESSAGES: dict[Reason, str] = {
    "missing": "The webhook has no signature.",
    "malformed": "The webhook's signature cannot be read.",
    "too_old": "The webhook was signed more than five minutes ago.",
    "too_new": "The webhook was signed more than five minutes ahead of this clock.",
    "mismatch": "The webhook's signature does not match this body and this secret.",
}
_TOLERANCE_S = 300
#: A rotation produces two signatures. Any after the fifth are ignored.
_MAX_SIGNATURES = 5


class WebhookVerificationError(Exception):
    """The reason is for your log: the sender only needs to know that you rejected the webhook."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(_MESSAGES[reason])
        self.reason: Reason = reason


class Headers(Protocol):
    """A request's headers in any framework."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def unwrap(body: bytes | str, headers: Headers, secret: str | Sequence[str]) -> SluiceEvent:
    """
    The event of a webhook with a valid signature (Standard Webhooks); anything else raises a WebhookVerificationError.
    `body` is the raw body, before any parser touched it. Pass several secrets while one replaces another.
    """
    event: SluiceEvent = _verified(body, headers, secret)
    return event


def unwrap_question(
    body: bytes | str, headers: Headers, secret: str | Sequence[str]
) -> BeforeCreateQuestion | BeforeCompleteQuestion:
    """The question of a decision hook, verified like a webhook."""
    question: BeforeCreateQuestion | BeforeCompleteQuestion = _verified(body, headers, secret)
    return question


def _verified(body: bytes | str, headers: Headers, secret: str | Sequence[str]) -> Any:
    found = {name.lower(): value for name, value in headers.items()}
    event_id, t, listed = (found.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not event_id or not t or not listed:
        raise WebhookVerificationError("missing")
    signatures = [entry[3:].encode() for entry in listed.split(" ") if entry.startswith("v1,")]
    if not (t.isascii() and t.isdigit() and len(t) <= 12) or not signatures:
        raise WebhookVerificationError("malformed")
    raw = body.encode() if isinstance(body, str) else body
    signed = f"{event_id}.{t}.".encode() + raw
    keys = [_key(one) for one in ([secret] if isinstance(secret, str) else secret)]
    expected = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in keys]
    given = signatures[:_MAX_SIGNATURES]
    if not any(hmac.compare_digest(one, other) for one in given for other in expected):
        raise WebhookVerificationError("mismatch")
    age_s = time.time() - int(t)
    if abs(age_s) > _TOLERANCE_S:
        raise WebhookVerificationError("too_old" if age_s > 0 else "too_new")
    return json.loads(raw)


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError("A webhook secret is whsec_ followed by base64, as the Pipe shows it.")
    return key
