#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""s3_server.py ROOT: serves ROOT/bucket/key as S3 does, on 127.0.0.1, for signed requests.

GET, HEAD, Range, If-Match, If-None-Match, ListObjectsV2, PUT, uploads in parts; also what s3_services.py answers.
Faults: a JSON array of {"match": regular expression searched in "METHOD /path?query", "skip": n, "times": n,
"act": ...}, read anew whenever the file changes; of several the first that is due acts. Log: one JSON object a request,
with the first bytes of its body."""

import argparse
import bisect
import ctypes
import hashlib
import itertools
import json
import os
import re
import signal
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
from email.utils import formatdate
from urllib.parse import parse_qsl, quote, unquote_to_bytes
from xml.sax.saxutils import escape

import s3_services
import s3_uploads
from s3_sigv4 import Key, Refused, encode, verify

MOST_LOGGED = 64 << 10  # bytes of a body
REASONS = {200: "OK", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 304: "Not Modified", 307: "Temporary Redirect",
           400: "Bad Request", 403: "Forbidden", 404: "Not Found", 411: "Length Required",
           412: "Precondition Failed", 416: "Range Not Satisfiable", 429: "Too Many Requests", 500: "Internal Server Error", 503: "Slow Down"}


class Request:
    def __init__(self, method, target, headers):
        self.method, self.target, self.headers, self.body = method, target, headers, b""
        self.path, _, self.query = target.partition("?")


class Fault:
    def __init__(self, spec):
        self.match = re.compile(spec.get("match", ""))
        self.skip, self.times = spec.get("skip", 0), spec.get("times", 1)
        self.act, self.spec = spec["act"], spec


class Faults:
    def __init__(self, path):
        self.path, self.stamp, self.faults, self.lock = path, None, [], threading.Lock()

    def due(self, request):
        if self.path is None:
            return None
        with self.lock:
            status = os.stat(self.path)
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self.stamp:
                with open(self.path, encoding="utf-8") as file:
                    self.faults, self.stamp = [Fault(spec) for spec in json.load(file)], stamp
            for fault in self.faults:
                if fault.times == 0 or not fault.match.search(f"{request.method} {request.target}"):
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                if fault.times > 0:  # below zero: always
                    fault.times -= 1
                return fault
        return None


class Objects:
    """The keys and contents of the buckets below a folder."""

    def __init__(self, root, frozen=False):
        self.root, self.etags, self.frozen = os.fsencode(root), {}, {} if frozen else None

    def path(self, bucket, key):
        return os.path.join(self.root, os.fsencode(bucket), key)

    def has_bucket(self, bucket):
        return bool(bucket) and os.path.isdir(self.path(bucket, b""))

    def etag(self, path, file=None):
        """The ETag of an object, or of an open `file`, which may have been replaced since it was opened."""
        status = os.fstat(file.fileno()) if file else os.stat(path)
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self.etags.get(path)
        if known is None or known[0] != stamp:
            if file is None:
                with open(path, "rb") as opened:
                    return self.etag(path, opened)
            known = (stamp, '"' + hashlib.md5(file.read()).hexdigest() + '"')
            file.seek(0)
            self.etags[path] = known
        return known[1], status

    def know(self, path, etag):
        """Records an object's ETag that is not the digest of its content."""
        status = os.stat(path)
        self.etags[path] = ((status.st_mtime_ns, status.st_size, status.st_ino), etag)

    def keys(self, bucket, prefix, folders=False):
        """Returns all keys with that prefix, in byte order. `folders`: including the objects with which some tools
        represent folders."""
        if self.frozen is not None:
            if bucket not in self.frozen:
                self.frozen[bucket] = self.walk(bucket, b"", folders)
            keys = self.frozen[bucket]
            return keys[bisect.bisect_left(keys, prefix):bisect.bisect_left(keys, prefix + b"\xff" * 8)]
        return self.walk(bucket, prefix, folders)

    def walk(self, bucket, prefix, folders):
        top = self.path(bucket, b"")
        start = os.path.join(top, prefix[:prefix.rfind(b"/") + 1])
        found = []
        for folder, _, names in os.walk(start):
            inner = os.path.relpath(folder, top)
            if folders and inner != b".":
                names = [*names, b""]
            for name in names:
                key = name if inner == b"." else inner + b"/" + name
                if key.startswith(prefix):
                    found.append(key)
        return sorted(found)


def error_body(code, text, more=()):
    inner = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in dict(more).items())
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Error><Code>{code}</Code><Message>{escape(text)}</Message>{inner}"
            "<RequestId>REQUEST0123456789</RequestId><HostId>host</HostId></Error>").encode()


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, options):
        super().__init__((options.address, options.port), Handler)
        self.objects, self.faults = Objects(options.root, options.frozen), Faults(options.faults)
        self.keys = dict(parse_key(text) for text in options.key or ["AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"])
        self.region, self.anonymous = options.region, options.anonymous
        self.bucket_regions = dict(text.split("=", 1) for text in options.bucket_region)
        self.latency, self.clock_offset = options.latency / 1000, options.clock_offset
        self.serve_key, self.serve_seconds = options.serve_key, options.serve_seconds
        self.jobs_file, self.web_identity = options.jobs, options.web_identity
        self.uploads, self.requester_pays = s3_uploads.Uploads(options.root), options.requester_pays
        self.log_file = open(options.log, "ab", buffering=0) if options.log else None
        self.log_lock = threading.Lock()
        if options.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*options.tls)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def now(self):
        return time.time() + self.clock_offset

    def log(self, **entry):
        if self.log_file:
            with self.log_lock:
                self.log_file.write((json.dumps(entry) + "\n").encode())

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, ssl.SSLError, TimeoutError)):
            super().handle_error(request, client_address)


def parse_key(text):
    """ID:SECRET[:TOKEN[:expired|denied]]"""
    parts = text.split(":")
    state = parts[3] if len(parts) > 3 else ""
    token = parts[2] if len(parts) > 2 and parts[2] else None
    return parts[0], Key(parts[1], token, state == "expired", state == "denied")


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = self.request.makefile("rb", 65536)
        while True:
            request = self.read_head(reader)
            if request is None:
                return
            fault = self.server.faults.due(request)
            if not self.read_body(reader, request, fault) or not self.answer(request, fault):
                return

    @staticmethod
    def read_head(reader):
        line = reader.readline(65536)
        if not line.strip():
            return None
        method, target, _ = line.decode("latin-1").split(" ", 2)
        if target.startswith("http://"):  # as a proxy is asked
            target = "/" + target.split("/", 3)[3]
        headers = {}
        for line in iter(reader.readline, b"\r\n"):
            if not line:
                return None
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return Request(method, target, headers)

    def read_body(self, reader, request, fault):
        """Returns False if a fault ends the request inside the body, after half of it."""
        length = int(request.headers.get("content-length", "0"))
        if "expect" in request.headers:  # botocore waits a second for this before it sends a body
            self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        act = fault.act if fault else None
        if act in ("reset-upload", "hang-upload"):
            request.body = reader.read(length // 2)
            return self.leave(request, act)
        if act == "slow-upload":
            while len(request.body) < length:
                request.body += reader.read(min(length - len(request.body), max(length // 10, 1)))
                time.sleep(fault.spec["seconds"] / 10)
        else:
            request.body = reader.read(length)
        if len(request.body) < length:  # the client disconnected
            return False
        if act == "flip-upload" and length > 0:
            middle = length // 2
            request.body = request.body[:middle] + bytes([request.body[middle] ^ 1]) + request.body[middle + 1:]
        return True

    def log(self, request, act, status, size):
        self.server.log(method=request.method, target=request.target, host=request.headers.get("host"), act=act,
                        headers=request.headers, body=request.body[:MOST_LOGGED].decode("latin-1"),
                        body_bytes=len(request.body), status=status, bytes=size)

    def leave(self, request, act):
        self.log(request, act, 0, 0)
        if act.startswith("hang"):
            while self.request.recv(65536):  # until the client disconnects
                pass
        else:
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def answer(self, request, fault):
        if self.server.latency:
            time.sleep(self.server.latency)
        act = fault.act if fault else None
        if act == "delay":
            time.sleep(fault.spec["seconds"])
        if act == "gate":  # waits until that file exists
            while not os.path.exists(fault.spec["file"]):
                time.sleep(0.005)
        if act in ("reset", "hang"):
            return self.leave(request, act)
        try:
            if act == "echo":  # an error that repeats what was sent, as it was sent and as in a URL
                sent = " ".join(request.headers.get(name, "") for name in ("authorization", "x-amz-security-token"))
                raise Refused(fault.spec.get("status", 400), fault.spec.get("code", "Odd"),
                              " " * fault.spec.get("blanks", 0) + sent + " " + quote(sent, safe=""))
            if act == "error":
                raise Refused(fault.spec.get("status", 503), fault.spec.get("code", "SlowDown"),
                              fault.spec.get("text", "Please reduce your request rate."), **fault.spec.get("more", {}))
            status, headers, body = self.serve(request, act)
            if act == "lose":  # executed, but no answer is sent
                return self.leave(request, act)
            if act == "short":  # a complete answer with half the object
                body = body[:len(body) // 2]
            elif act == "body":
                body = fault.spec["body"].encode()
            elif act == "old":  # the object before its replacement
                with open(fault.spec["file"], "rb") as file:
                    body = file.read()
        except Refused as refused:
            status, headers = refused.status, {"Content-Type": "application/xml"}
            body = error_body(refused.code, refused.text, refused.more)
            if refused.more.get("Region"):
                headers["x-amz-bucket-region"] = refused.more["Region"]
        if fault:
            headers.update(fault.spec.get("headers", {}))
        if fault and fault.spec.get("endless"):
            act = "endless"
        return self.send(request, status, headers, body, act, fault.spec.get("endless") if fault else None)

    def send(self, request, status, headers, body, act, fault_part=None):
        if act == "flip" and body:
            middle = len(body) // 2
            body = body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1:]
        sent = b"" if request.method == "HEAD" or status == 304 else body
        length = len(body) + (1000 if act == "long-length" else 0)
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Other')}", f"Date: {formatdate(self.server.now(), usegmt=True)}",
                 "Server: s3_server", "x-amz-request-id: REQUEST0123456789"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        closing = act in ("cut", "no-length", "long-length", "trickle", "endless")
        if act not in ("no-length", "endless") and status not in (204, 304):
            lines.append(f"Content-Length: {length}")
        if closing:
            lines.append("Connection: close")
        self.log(request, act, status, len(sent))
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if act == "cut":
            sent = sent[:len(sent) // 2]
        if act == "endless":  # "headers", or a body
            if fault_part == "headers":
                head = head[:-2]
            self.request.sendall(head)
            more = b"x-more: and more\r\n" * 20_000
            while True:
                self.request.sendall(more)
        if act == "trickle":
            self.request.sendall(head)
            for position in range(len(sent)):
                self.request.sendall(sent[position:position + 1])
                time.sleep(0.2)
            return False
        self.request.sendall(head + sent)
        return not closing

    def serve(self, request, act):
        server = self.server
        if request.path.startswith("/latest/"):
            return s3_services.metadata(server, request)
        if request.path.startswith("/container/"):
            return s3_services.container(server, request)
        form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
        if request.method == "POST" and form and b"Action=AssumeRoleWithWebIdentity" in request.body:
            return s3_services.assume_role_with_web_identity(server, request)
        bucket, key = self.place(request)
        region = server.bucket_regions.get(bucket, server.region)
        if "authorization" in request.headers or not server.anonymous:
            if "authorization" not in request.headers:
                raise Refused(403, "AccessDenied", "Access Denied")
            verify(request, server.keys, region, server.now())
        if "x-amz-target" in request.headers:
            return s3_services.sagemaker(server, request)
        if request.method == "POST" and form:
            return s3_services.assume_role(server, request)
        if not server.objects.has_bucket(bucket):
            raise Refused(404, "NoSuchBucket", "The specified bucket does not exist", BucketName=bucket)
        if bucket in server.requester_pays and request.headers.get("x-amz-request-payer") != "requester":
            raise Refused(403, "AccessDenied", "Access Denied")
        query = dict(parse_qsl(request.query, keep_blank_values=True))
        if request.method == "GET" and not key:
            return s3_uploads.list_uploads(server, bucket) if "uploads" in query else self.list_objects(bucket, query, act)
        writes = {"PUT": s3_uploads.put, "POST": s3_uploads.post, "DELETE": s3_uploads.delete}.get(request.method)
        if writes:
            return writes(server, request, bucket, key, query)
        return self.get_object(request, bucket, key, act)

    def place(self, request):
        """Returns bucket and key of http://host/bucket/key or http://bucket.s3.region.amazonaws.com/key."""
        path = unquote_to_bytes(request.path[1:])
        host = request.headers.get("host", "").rsplit(":", 1)[0]
        if host.endswith(".amazonaws.com") and ".s3." in host:
            return host.split(".s3.")[0], path
        bucket, _, key = path.partition(b"/")
        return bucket.decode("latin-1"), key

    def get_object(self, request, bucket, key, act):
        path = self.server.objects.path(bucket, key)
        if not os.path.isfile(path) or key.endswith(b"/"):
            raise Refused(404, "NoSuchKey", "The specified key does not exist.")
        with open(path, "rb") as file:
            return self.get_file(request, file, path, act)

    def get_file(self, request, file, path, act):
        etag, status = self.server.objects.etag(path, file)
        headers = {"ETag": etag, "Last-Modified": formatdate(status.st_mtime, usegmt=True), "Accept-Ranges": "bytes"}
        if request.headers.get("if-match", etag) != etag:
            raise Refused(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        if request.headers.get("if-none-match") == etag:
            return 304, headers, b""
        size = status.st_size
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
        if not wanted or act == "ignore-range":
            return 200, headers, file.read()
        first = int(wanted[1])
        last = min(int(wanted[2]) if wanted[2] else size - 1, size - 1)
        if first >= size or last < first:
            answer = 416, {"Content-Range": f"bytes */{size}"}, error_body("InvalidRange", "Not satisfiable")
            return answer
        if act == "other-range" and first > 0:
            first, last = first - 1, last - 1
        file.seek(first)
        headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        return 206, headers, file.read(last - first + 1)

    def list_objects(self, bucket, query, act):
        if query.get("list-type") != "2":
            raise Refused(400, "InvalidArgument", "only ListObjectsV2")
        if act == "bad-xml":
            return 200, {"Content-Type": "application/xml"}, b"<ListBucketResult><Contents><Key>a"
        if act == "dtd":
            return 200, {"Content-Type": "application/xml"}, (
                b'<!DOCTYPE a [<!ENTITY b "bbbb">]><ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>')
        prefix, delimiter = os.fsencode(query.get("prefix", "")), os.fsencode(query.get("delimiter", ""))
        after = os.fsencode(query.get("start-after", ""))
        token = query.get("continuation-token")
        if token is not None:
            if not token.startswith("+/=") or act == "stuck":
                token = token if act == "stuck" else None
            if token is None:
                raise Refused(400, "InvalidArgument", "The continuation token provided is incorrect")
            after = b"" if act == "stuck" else unquote_to_bytes(token[3:].rstrip("="))
        most = min(int(query.get("max-keys", "1000")), 1000)
        contents, prefixes, last, more = [], [], b"", False
        keys = self.server.objects.keys(bucket, prefix, act == "folders")
        for key in itertools.islice(keys, bisect.bisect_right(keys, after), None):
            if key <= after or (prefixes and key.startswith(prefixes[-1])):
                continue
            cut = key.find(delimiter, len(prefix)) if delimiter else -1
            group = key[:cut + len(delimiter)] if cut >= 0 else None
            if group is not None and group <= after:
                continue
            if len(contents) + len(prefixes) == most:
                more = True
                break
            if group is not None:
                prefixes.append(group)
                last = group + b"\xff"  # after everything that it represents
            else:
                contents.append(key)
                last = key
        if act == "stuck":
            more, last = True, b""
        url = query.get("encoding-type") == "url"

        def text(value):
            if url:
                return quote(value, safe="-._*/").replace("%20", "+")
            return escape(value.decode("utf-8", "replace"))

        parts = ['<?xml version="1.0" encoding="UTF-8"?>\n'
                 '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
                 f"<Name>{escape(bucket)}</Name><Prefix>{text(prefix)}</Prefix>",
                 f"<KeyCount>{len(contents) + len(prefixes)}</KeyCount><MaxKeys>{most}</MaxKeys>",
                 f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>"]
        if url:
            parts.append("<EncodingType>url</EncodingType>")
        if more:
            parts.append(f"<NextContinuationToken>{escape('+/=' + encode(last) + '==')}</NextContinuationToken>")
        for key in contents:
            etag, size, written = '"d41d8cd98f00b204e9800998ecf8427e"', 0, 0
            if not key.endswith(b"/"):
                etag, status = self.server.objects.etag(self.server.objects.path(bucket, key))
                size, written = status.st_size, status.st_mtime
            when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(written))
            parts.append(f"<Contents><Key>{text(key)}</Key><LastModified>{when}</LastModified>"
                         f"<ETag>{escape(etag, {chr(34): '&quot;'})}</ETag><Size>{size}</Size>"
                         "<StorageClass>STANDARD</StorageClass></Contents>")
        parts += [f"<CommonPrefixes><Prefix>{text(group)}</Prefix></CommonPrefixes>" for group in prefixes]
        parts.append("</ListBucketResult>")
        return 200, {"Content-Type": "application/xml", "x-amz-bucket-region":
                     self.server.bucket_regions.get(bucket, self.server.region)}, "".join(parts).encode()


def die_with_parent():
    """Ends the server if the test crashes."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", metavar="F", help="where the port is written once it listens; default: standard output")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--faults", metavar="FILE")
    parser.add_argument("--log", metavar="FILE")
    parser.add_argument("--key", action="append", metavar="ID:SECRET[:TOKEN[:expired|denied]]")
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--bucket-region", action="append", default=[], metavar="BUCKET=REGION")
    parser.add_argument("--anonymous", action="store_true", help="unsigned requests are answered too")
    parser.add_argument("--frozen", action="store_true", help="for measuring: what is there at first stays, and is listed once")
    parser.add_argument("--latency", type=float, default=0, metavar="MS", help="before each answer")
    parser.add_argument("--clock-offset", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--serve-key", default="AKIDEXAMPLE", help="which key metadata, container and STS hand out")
    parser.add_argument("--serve-seconds", type=float, default=3600)
    parser.add_argument("--jobs", metavar="FILE", help="training jobs, for SageMaker's calls")
    parser.add_argument("--web-identity", metavar="TOKEN", help="the token of which STS makes --serve-key")
    parser.add_argument("--requester-pays", action="append", default=[], metavar="BUCKET")
    parser.add_argument("--processes", type=int, default=1, help="for measuring: one does not hold back many connections")
    options = parser.parse_args()
    die_with_parent()
    with Server(options) as server:
        if options.processes > 1:
            for _ in range(options.processes):
                if os.fork() == 0:
                    die_with_parent()
                    server.serve_forever(poll_interval=3600)
        if not options.port_file:
            print(server.server_address[1], flush=True)
        else:
            with open(options.port_file + ".tmp", "w", encoding="ascii") as file:
                file.write(str(server.server_address[1]))
            os.rename(options.port_file + ".tmp", options.port_file)
        server.serve_forever(poll_interval=3600)


if __name__ == "__main__":
    main()
