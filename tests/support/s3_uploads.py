# SPDX-License-Identifier: Apache-2.0
"""Uploads to the test server: PUT, and multipart uploads (Create, UploadPart, Complete, Abort, List). An object
appears complete. Each function takes (server, request, bucket, key, query) and returns (status, headers, body)."""

import hashlib
import os
import re
import threading
from xml.sax.saxutils import escape, unescape

from s3_sigv4 import Refused

LEAST_PART = 5 << 20  # for all parts except the last
MOST_PARTS = 10_000


class Uploads:
    """Multipart uploads that were started and not completed."""

    def __init__(self, root):
        self.folder = os.path.join(os.fsencode(root), b".uploads")  # not a bucket: their names begin differently
        self.lock, self.number, self.open = threading.Lock(), 0, {}

    def write(self, data):
        """Writes a new file with that content; returns its path."""
        os.makedirs(self.folder, exist_ok=True)
        with self.lock:
            self.number += 1
            path = os.path.join(self.folder, b"%d" % self.number)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def begin(self, bucket, key):
        with self.lock:
            self.number += 1
            name = f"upload+/={self.number}"  # characters that must be encoded
            self.open[name] = (bucket, key, {})
        return name

    def find(self, name, bucket, key):
        with self.lock:
            found = self.open.get(name)
        if found is None or found[:2] != (bucket, key):
            raise Refused(404, "NoSuchUpload", "The specified upload does not exist.")
        return found[2]

    def end(self, name):
        with self.lock:
            _, _, parts = self.open.pop(name, (None, None, {}))
        for path, _, _ in parts.values():
            os.remove(path)


def etag_of(data):
    return '"' + hashlib.md5(data).hexdigest() + '"'


def place(server, source, bucket, key, etag):
    path = server.objects.path(bucket, key)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.replace(source, path)
    server.objects.know(path, etag)


def put(server, request, bucket, key, query):
    if "content-length" not in request.headers:
        raise Refused(411, "MissingContentLength", "You must provide the Content-Length HTTP header.")
    etag = etag_of(request.body)
    if "uploadId" not in query:
        place(server, server.uploads.write(request.body), bucket, key, etag)
        return 200, {"ETag": etag}, b""
    parts = server.uploads.find(query["uploadId"], bucket, key)
    number = int(query.get("partNumber", "0"))
    if not 1 <= number <= MOST_PARTS:
        raise Refused(400, "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive")
    parts[number] = (server.uploads.write(request.body), etag, len(request.body))
    return 200, {"ETag": etag}, b""


def post(server, request, bucket, key, query):
    xml = {"Content-Type": "application/xml"}
    if "uploads" in query:
        name = server.uploads.begin(bucket, key)
        return 200, xml, ('<?xml version="1.0" encoding="UTF-8"?>\n<InitiateMultipartUploadResult '
                          f'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>{bucket}</Bucket>'
                          f"<UploadId>{escape(name)}</UploadId></InitiateMultipartUploadResult>").encode()
    name = query.get("uploadId")
    parts = server.uploads.find(name, bucket, key)
    named = [(int(number), unescape(etag, {"&quot;": '"'})) for number, etag in re.findall(
        r"<Part>\s*<PartNumber>(\d+)</PartNumber>\s*<ETag>(.*?)</ETag>\s*</Part>", request.body.decode())]
    named = named or [(int(number), unescape(etag, {"&quot;": '"'})) for etag, number in re.findall(
        r"<Part>\s*<ETag>(.*?)</ETag>\s*<PartNumber>(\d+)</PartNumber>\s*</Part>", request.body.decode())]
    if not named or named != sorted(named):
        raise Refused(400, "InvalidPartOrder", "The list of parts was not in ascending order.")
    for number, etag in named:
        if number not in parts or parts[number][1].strip('"') != etag.strip('"'):
            raise Refused(400, "InvalidPart", "One or more of the specified parts could not be found.")
        if parts[number][2] < LEAST_PART and number != named[-1][0]:
            raise Refused(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
    whole, digests = server.uploads.write(b""), b""
    with open(whole, "wb") as file:
        for number, etag in named:
            with open(parts[number][0], "rb") as part:
                file.write(part.read())
            digests += bytes.fromhex(parts[number][1].strip('"'))
    etag = f'"{hashlib.md5(digests).hexdigest()}-{len(named)}"'
    place(server, whole, bucket, key, etag)
    server.uploads.end(name)
    return 200, xml, ('<?xml version="1.0" encoding="UTF-8"?>\n<CompleteMultipartUploadResult '
                      f'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><ETag>{escape(etag)}</ETag>'
                      "</CompleteMultipartUploadResult>").encode()


def delete(server, _request, bucket, key, query):
    server.uploads.find(query.get("uploadId"), bucket, key)
    server.uploads.end(query["uploadId"])
    return 204, {}, b""


def list_uploads(server, bucket):
    with server.uploads.lock:
        names = [(key, name) for name, (where, key, _) in server.uploads.open.items() if where == bucket]
    inner = "".join(f"<Upload><Key>{escape(key.decode())}</Key><UploadId>{escape(name)}</UploadId></Upload>"
                    for key, name in sorted(names))
    return 200, {"Content-Type": "application/xml"}, (
        '<ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Bucket>{bucket}</Bucket><IsTruncated>false</IsTruncated>{inner}</ListMultipartUploadsResult>").encode()
