import base64
import hashlib
import hmac
import time


# body: the raw bytes of the request, before any JSON parser touched it
# header: the X-Service-Signature header; secret: whsec_…
def verify_webhook(body: bytes, header: str, secret: str) -> bool:
    parts = [part.partition("=")[::2] for part in (header or "").split(",")]
    t = next((value for name, value in parts if name == "t"), "")
    if not t.isdecimal() or abs(time.time() - int(t)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = hmac.new(key, t.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(name == "v1" and hmac.compare_digest(value.encode(), expected.encode()) for name, value in parts)
