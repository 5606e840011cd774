import asyncio
import importlib.util
import unittest
from unittest import mock

from sluice import Sluice
from sluice.api import IssueTokenFields

ANSWERED = b'{"token": "tmp_"}'
GRANT: IssueTokenFields = {"pipeId": "pipe_1"}


def issuing() -> mock.Mock:
    sluice = mock.Mock(spec=Sluice)
    sluice.issue_token.return_value = {"token": "tmp_"}
    return sluice


def is_missing(module: str) -> bool:
    return importlib.util.find_spec(module) is None


class Frameworks(unittest.TestCase):
    @unittest.skipIf(is_missing("django"), "django is not installed.")
    def test_django(self) -> None:
        from django.conf import settings
        from django.test import RequestFactory

        settings.configure()
        from sluice.django import token_view

        view = token_view(lambda request: GRANT if request.headers.get("User") else None, issuing())
        ask = RequestFactory()
        answer = view(ask.post("/", headers={"User": "ada"}))
        self.assertEqual((answer.status_code, answer.content), (200, ANSWERED))
        self.assertEqual((answer["Content-Type"], answer["Cache-Control"]), ("application/json", "no-store"))
        self.assertEqual(view(ask.post("/")).status_code, 403)
        self.assertEqual(view(ask.get("/")).status_code, 405)

    @unittest.skipIf(is_missing("flask"), "flask is not installed.")
    def test_flask(self) -> None:
        from flask import Flask, request

        from sluice.flask import token_view

        app = Flask("site")
        view = token_view(lambda: GRANT if request.headers.get("User") else None, issuing())
        app.post("/api/upload-token")(view)
        ask = app.test_client()
        answer = ask.post("/api/upload-token", headers={"User": "ada"})
        self.assertEqual((answer.status_code, answer.data), (200, ANSWERED))
        self.assertEqual((answer.content_type, answer.headers["Cache-Control"]), ("application/json", "no-store"))
        self.assertEqual(ask.post("/api/upload-token").status_code, 403)

    @unittest.skipIf(is_missing("fastapi"), "fastapi is not installed.")
    def test_fastapi(self) -> None:
        from fastapi import FastAPI, Request

        from sluice.fastapi import Grant, token_route

        async def authorize(request: Request) -> Grant:
            return GRANT if request.headers.get("user") else None

        app = FastAPI()
        app.post("/a")(token_route(authorize, issuing()))
        app.post("/b")(token_route(lambda request: None, issuing()))
        self.assertEqual(asyncio.run(posted(app, "/a", [(b"user", b"ada")])), (200, ANSWERED))
        self.assertEqual(asyncio.run(posted(app, "/a", []))[0], 403)
        self.assertEqual(asyncio.run(posted(app, "/b", []))[0], 403)


async def posted(app, path: str, headers):  # type: ignore[no-untyped-def]
    """Sends a request to an ASGI app."""
    sent = []
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "root_path": "",
        "query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http",
    }

    async def receive():  # type: ignore[no-untyped-def]
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):  # type: ignore[no-untyped-def]
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)
