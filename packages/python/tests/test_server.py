"""Contract tests against a running server, whose keys are in the environment."""

import json
import os
import tempfile
import time
import unittest
from pathlib import Path
from typing import Callable, TypeVar
from unittest import mock
from urllib.request import Request, urlopen

from sluice import Sluice, SluiceError, send_file, unwrap
from sluice.tokens import TokenIssuer

sluice = Sluice()
PIPE_ID = os.environ["SLUICE_PIPE_ID"]
SENDER_TOKEN = os.environ["SLUICE_SENDER_TOKEN"]
Found = TypeVar("Found")


def refusal(call: Callable[[], object]) -> SluiceError:
    try:
        call()
    except SluiceError as error:
        return error
    raise AssertionError("The call was not refused.")


def eventually(look: Callable[[], "Found | None"]) -> Found:
    for _ in range(300):
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("It did not happen.")


def uploaded(content: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path, journal = Path(folder, "python.bin"), Path(folder, "journal")
        path.write_bytes(content)
        file_id = sluice.upload_file(
            path, {"pipeId": PIPE_ID, "filename": "python.bin", "subject": "ada"}, journal=journal
        )
        assert not journal.exists()
        return file_id


class Api(unittest.TestCase):
    def test_lists_the_items_of_all_pages(self) -> None:
        made = [sluice.create_sender({"name": f"Python {n}"})["id"] for n in range(3)]
        found = [one["id"] for one in sluice.list_senders(limit=2) if one["name"].startswith("Python ")]
        self.assertEqual(found[:3], made[::-1])

    def test_creates_only_one_thing_with_one_idempotency_key(self) -> None:
        key = os.urandom(8).hex()
        first, second = (sluice.create_sender({"name": "Once"}, idempotency_key=key) for _ in range(2))
        self.assertEqual(first, second)

    def test_reports_a_code_and_the_invalid_fields(self) -> None:
        gone = refusal(lambda: sluice.show_pipe("pipe_/../x"))
        self.assertEqual((gone.code, gone.status), ("pipe_not_found", 404))
        self.assertTrue(gone.request_id)
        data_store_id = os.environ["SLUICE_DATA_STORE_ID"]
        wrong = refusal(lambda: sluice.create_pipe({"name": "", "dataStoreId": data_store_id}))
        self.assertEqual((wrong.code, wrong.errors[0]["field"]), ("invalid_request", "name"))

    def test_shows_no_secret(self) -> None:
        away = Sluice(base_url="http://127.0.0.1:1/geheim", account_key="ak_geheim", max_retries=0)
        error = refusal(away.show_workspace)
        self.assertEqual(error.code, "no_answer")
        self.assertRegex(str(error), r"^Sluice at 127\.0\.0\.1:1 did not respond: ")
        stranger = Sluice(account_key="ak_geheim")
        refused = refusal(stranger.show_workspace)
        self.assertEqual(refused.code, "account_key_invalid")
        for shown in (away, error, stranger, refused):
            self.assertNotIn("geheim", repr(shown) + str(shown))

    def test_requires_its_settings_and_names_missing_ones(self) -> None:
        with mock.patch.dict(os.environ, clear=True):
            with self.assertRaisesRegex(ValueError, "SLUICE_URL"):
                Sluice()
            with self.assertRaisesRegex(ValueError, "SLUICE_ACCOUNT_KEY"):
                Sluice(base_url="http://127.0.0.1:1").show_workspace()

    def test_creates_shows_and_cancels_an_import(self) -> None:
        store = os.environ["SLUICE_DATA_STORE_ID"]
        pipe = sluice.create_pipe({"name": "Imports", "dataStoreId": store, "source": {"url": True}})
        url = "https://source.invalid/films/one.mp4?signature=geheim"
        made = sluice.create_import({"pipeId": pipe["id"], "url": url})
        self.assertEqual((made["filename"], made["protocol"]), ("one.mp4", "url"))
        self.assertNotIn("geheim", json.dumps(sluice.show_import(made["id"])))
        sluice.cancel_import(made["id"])
        self.assertEqual(sluice.show_file(made["id"])["status"], "canceled")


class Uploads(unittest.TestCase):
    def test_uploads_a_file_and_unwraps_its_webhook(self) -> None:
        file_id = uploaded(os.urandom(3 * 1024 * 1024))
        file = sluice.show_file(file_id)
        self.assertEqual(file["checksum"], file["declaredChecksum"])
        delivery = eventually(lambda: next(sluice.list_deliveries(file_id=file_id, state="delivered"), None))
        told = sluice.show_delivery(delivery["id"])
        headers = told["attempts"][0]["requestHeaders"]
        event = unwrap(told["requestBody"], headers, os.environ["SLUICE_WEBHOOK_SECRET"])
        assert event["event"] == "file.status_changed"
        self.assertEqual((event["data"]["file_id"], event["data"]["subject"]), (file_id, "ada"))

    def test_uploads_an_empty_file(self) -> None:
        self.assertEqual(sluice.show_file(uploaded(b""))["size"], 0)

    def test_sends_a_file_whose_length_was_left_open(self) -> None:
        made = sluice.create_upload({"pipeId": PIPE_ID, "filename": "open.bin"})
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"12345")
            file.flush()
            send_file(file.name, made["uploadUrl"], made["token"])
            self.assertEqual(sluice.show_file(made["file"]["id"])["size"], 5)
            file.write(b"6")
            file.flush()
            with self.assertRaisesRegex(ValueError, "a file of 5 bytes, but this one has 6"):
                send_file(file.name, made["uploadUrl"], made["token"])

    def test_forgets_an_upload_that_cannot_be_continued(self) -> None:
        canceled = sluice.create_upload({"pipeId": PIPE_ID, "filename": "gone.bin", "size": 5})
        sluice.cancel_file(canceled["file"]["id"])
        other = sluice.create_upload(
            {"pipeId": PIPE_ID, "filename": "other.bin", "size": 5, "checksum": "crc32:00000000"}
        )
        with tempfile.TemporaryDirectory() as folder:
            path, journal = Path(folder, "small.bin"), Path(folder, "journal")
            path.write_bytes(b"12345")

            def upload() -> str:
                return sluice.upload_file(path, {"pipeId": PIPE_ID, "filename": "x"}, journal=journal)

            for code, made in [("upload_gone", canceled), ("checksum_mismatch", other)]:
                journal.write_text(json.dumps({"uploadUrl": made["uploadUrl"], "token": made["token"]}))
                self.assertEqual(refusal(upload).code, code)
                self.assertFalse(journal.exists())
            self.assertTrue(upload())


class Tokens(unittest.TestCase):
    def test_issues_tokens_for_permitted_uploads_only(self) -> None:
        issuer = TokenIssuer(None)
        refused = issuer.answer(None)
        self.assertEqual((refused.status, json.loads(refused.body)["code"]), (403, "forbidden"))
        answer = issuer.answer({"pipeId": PIPE_ID, "maxBytes": 5})
        self.assertEqual((answer.status, answer.headers["Cache-Control"]), (200, "no-store"))
        issued = json.loads(answer.body)
        self.assertEqual(created(issued, 5), 201)
        self.assertEqual(created(issued, 6), 413)

    def test_reports_the_reason_only_to_the_backend(self) -> None:
        for status, code, given in [
            (500, "token_invalid", Sluice(sender_token="sk_nobody")),
            (503, "no_answer", Sluice(base_url="http://127.0.0.1:1", max_retries=0)),
        ]:
            with self.subTest(code), self.assertLogs("sluice") as log:
                answer = TokenIssuer(given).answer({"pipeId": PIPE_ID})
            self.assertEqual(answer.status, status)
            self.assertIn(code, log.output[0])
            self.assertNotIn(code, answer.body.decode())
            self.assertNotIn(SENDER_TOKEN, log.output[0])


def created(issued: "dict[str, str]", length: int) -> int:
    headers = {
        "Authorization": f"Bearer {issued['token']}",
        "Tus-Resumable": "1.0.0",
        "Upload-Length": str(length),
    }
    try:
        with urlopen(Request(issued["uploadUrl"], headers=headers, method="POST")) as answer:
            return int(answer.status)
    except OSError as error:
        return int(getattr(error, "code"))
