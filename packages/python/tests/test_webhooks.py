import base64
import hashlib
import hmac
import time
import unittest

from sluice import WebhookVerificationError, unwrap, unwrap_question

SECRET = "whsec_" + base64.b64encode(b"\7" * 32).decode()
OTHER = "whsec_" + base64.b64encode(b"\10" * 32).decode()
BODY = '{"event":"file.status_changed","data":{"filename":"été 📷.mp4"}}'.encode()


def signed(secrets: list[str] = [SECRET], age_s: float = 0) -> dict[str, str]:
    t = str(int(time.time() - age_s))
    keys = [base64.b64decode(secret.removeprefix("whsec_")) for secret in secrets]
    digests = [hmac.digest(key, f"evt_1.{t}.".encode() + BODY, hashlib.sha256) for key in keys]
    signature = " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)
    return {"Webhook-Id": "evt_1", "webhook-timestamp": t, "WEBHOOK-SIGNATURE": signature}


class Webhooks(unittest.TestCase):
    def test_accepts_a_valid_signature(self) -> None:
        event = unwrap(BODY, signed(), SECRET)
        assert event["event"] == "file.status_changed"
        self.assertEqual(event["data"]["filename"], "été 📷.mp4")
        self.assertEqual(unwrap(BODY.decode(), signed(), SECRET), event)
        self.assertEqual(unwrap_question(BODY, signed(), SECRET), event)

    def test_accepts_either_secret_during_a_rotation(self) -> None:
        unwrap(BODY, signed([OTHER, SECRET]), SECRET)
        unwrap(BODY, signed(), [OTHER, SECRET])

    def test_rejects_everything_else(self) -> None:
        for reason, body, headers, secret in [
            ("mismatch", BODY, signed(), OTHER),
            ("mismatch", BODY + b" ", signed(), SECRET),
            ("mismatch", BODY, {**signed(), "Webhook-Id": "evt_2"}, SECRET),
            ("mismatch", BODY, signed([OTHER] * 5 + [SECRET]), SECRET),
            ("missing", BODY, {}, SECRET),
            ("malformed", BODY, {**signed(), "WEBHOOK-SIGNATURE": "v2,AA=="}, SECRET),
            ("malformed", BODY, {**signed(), "webhook-timestamp": "²"}, SECRET),
            ("too_old", BODY, signed(age_s=310), SECRET),
            ("too_new", BODY, signed(age_s=-310), SECRET),
        ]:
            with self.subTest(reason), self.assertRaises(WebhookVerificationError) as caught:
                unwrap(body, headers, secret)
            self.assertEqual(caught.exception.reason, reason)

    def test_names_an_unusable_secret_without_showing_it(self) -> None:
        with self.assertRaisesRegex(ValueError, "^A webhook secret is whsec_ followed by base64") as caught:
            unwrap(BODY, signed(), "whsec_geheim!")
        self.assertNotIn("geheim", str(caught.exception))
