"""Sluice for Python backends: the API, upload tokens, signed webhooks and resumable uploads."""

from .api import SluiceEvent
from .client import Sluice
from .errors import FieldError, SluiceError
from .uploads import send_file
from .webhooks import WebhookVerificationError, unwrap, unwrap_question

__all__ = [
    "FieldError",
    "Sluice",
    "SluiceError",
    "SluiceEvent",
    "WebhookVerificationError",
    "send_file",
    "unwrap",
    "unwrap_question",
]
