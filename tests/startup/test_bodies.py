"""Request bodies on a real server: what Django reads, and what nobody parses before it."""

import http.client
import json
from urllib.parse import urlsplit

FORM = (
    b'--q\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    + "年假十五天。".encode()
    + b"\r\n--q--\r\n"
)


def posted(served, body, content_type, *, is_chunked=False):
    connection = http.client.HTTPConnection(urlsplit(served.base_url).netloc, timeout=20)
    headers = {"Content-Type": content_type}
    pieces = iter([body[:50], body[50:]]) if is_chunked else body
    connection.request(
        "POST",
        "/api/v1/documents",
        pieces,
        {**headers, **({"Transfer-Encoding": "chunked"} if is_chunked else {})},
        encode_chunked=is_chunked,
    )
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def test_upload_in_chunks_without_a_length_is_accepted(served):
    status, document = posted(served, FORM, "multipart/form-data; boundary=q", is_chunked=True)

    assert (status, document["filename"], document["file_size"]) == (202, "a.txt", 18)


def test_form_without_a_boundary_is_refused_in_the_documented_form(served):
    status, answer = posted(served, FORM, "multipart/form-data")

    assert (status, answer["error"]["code"]) == (400, "BAD_REQUEST")
