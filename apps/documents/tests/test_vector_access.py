"""A cluster is asked with the configured token and database, and the token is shown nowhere."""

from __future__ import annotations

import base64
from concurrent import futures

import grpc
import pytest

from apps.documents.errors import VectorStoreUnavailableError
from apps.documents.vectors import access
from kbqa_project.env import load

pytestmark = pytest.mark.django_db
TOKEN = "reader:p4ss,w0rd-never-shown"
ENCODED = base64.b64encode(TOKEN.encode()).decode()


class Refusals(grpc.GenericRpcHandler):
    """Takes the greeting of a Milvus client and refuses each call after it."""

    def __init__(self):
        self.calls = []

    def service(self, handler_call_details):
        name = handler_call_details.method.rpartition("/")[2]
        sent = dict(handler_call_details.invocation_metadata)
        self.calls.append((name, sent.get("authorization"), sent.get("dbname")))

        def answer(_request, context):
            if name != "Connect":
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "auth check failure")
            return b""  # a message with all of its fields at their defaults

        return grpc.unary_unary_rpc_method_handler(answer)


@pytest.fixture
def cluster():
    """The address of a server that refuses, and what it was asked."""
    refusals = Refusals()
    server = grpc.server(futures.ThreadPoolExecutor(2), handlers=[refusals])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"http://127.0.0.1:{port}", refusals.calls
    server.stop(None)


def test_cluster_gets_the_token_and_the_database(settings, cluster, client, caplog):
    uri, calls = cluster
    settings.ENV = load(milvus_uri=uri, milvus_token=TOKEN, milvus_database="kb_one")

    with pytest.raises(VectorStoreUnavailableError) as caught:
        access.vector_store()
    answer = client.get("/health")

    assert {*calls} == {("Connect", ENCODED, None), ("DescribeCollection", ENCODED, "kb_one")}
    assert answer.json()["components"]["vector_store"]["state"] == "down"
    shown = [
        caplog.text,
        answer.content.decode(),
        repr(settings.ENV),
        str(settings.ENV.model_dump()),
        f"{caught.value!r} {caught.value.text}",
        f"{caught.value.__cause__!r} {caught.value.__cause__}",
    ]
    assert [text for text in shown if "never-shown" in text or ENCODED in text] == []


def test_cluster_without_a_token_is_asked_without_one(settings, cluster):
    uri, calls = cluster
    settings.ENV = load(milvus_uri=uri)

    with pytest.raises(VectorStoreUnavailableError):
        access.vector_store()
    assert calls == [("Connect", None, None), ("DescribeCollection", None, "")]
