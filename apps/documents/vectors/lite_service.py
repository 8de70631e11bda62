"""Milvus Lite's gRPC service for the owner process; imported only when a folder is opened."""

from __future__ import annotations

import time
from concurrent import futures
from typing import TYPE_CHECKING, Any

import grpc
from milvus_lite.adapter.grpc.servicer import MilvusServicer
from pymilvus.grpc_gen import milvus_pb2, milvus_pb2_grpc  # noqa: TID253 - see above

if TYPE_CHECKING:
    from milvus_lite.db import MilvusLite

THREADS = 10
MESSAGE_MAX_BYTES = 256 * 1024 * 1024  # as in Milvus Lite's own server
PING_INTERVAL_MIN_MS = 1000
LOGICAL_BITS = 18  # of a Milvus timestamp, whose upper bits are milliseconds


class LiteService(MilvusServicer):  # type: ignore[misc]
    """Adds the call that query iterators make first and that Milvus Lite leaves out."""

    def AllocTimestamp(self, _request: object, _context: object) -> Any:  # noqa: N802 - gRPC name
        """Answer the current time as a Milvus timestamp."""
        now = int(time.time() * 1000) << LOGICAL_BITS
        return milvus_pb2.AllocTimestampResponse(timestamp=now)


def start_service(database: MilvusLite, address: str) -> grpc.Server:
    """Serve `database` at `address` (`unix:<path>`) and return the running server."""
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=THREADS),
        options=[
            ("grpc.max_receive_message_length", MESSAGE_MAX_BYTES),
            ("grpc.max_send_message_length", MESSAGE_MAX_BYTES),
            # pymilvus pings an idle connection; by default the server closes it for that.
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_ping_interval_without_data_ms", PING_INTERVAL_MIN_MS),
            ("grpc.http2.max_ping_strikes", 0),
            ("grpc.http2.max_ping_strikes", 0),  # pymilvus pings more often than gRPC tolerates
        ],
    )
    milvus_pb2_grpc.add_MilvusServiceServicer_to_server(LiteService(database), server)
    server.add_insecure_port(address)
    server.start()
    return server
