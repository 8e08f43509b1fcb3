#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_vectors.py > vectors.tsv: 1,000 requests and the signatures that botocore gives them. Columns, each
percent-encoded: method, host, path, query (name=value&…), headers (name=value&…), body, access key, secret, token,
region, service, time (seconds), SignedHeaders, signature. The same numbers give the same file: made with botocore
1.29.27; 1.43.11 gives the same."""

import datetime
import random
import sys
from urllib.parse import quote

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

LETTERS = "abzAZ019-._~ +/%=&?#:;,@!$'()*[]{}<>|\\^`\"\téΩ日🙂"
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def text(rng, letters, least, most):
    return "".join(rng.choice(letters) for _ in range(rng.randint(least, most)))


def encode(value, keep=""):
    return quote(value, safe="-._~" + keep)


def pairs(values):
    return "&".join(f"{encode(name)}={encode(value)}" for name, value in values)


class Clock:
    """Stands for the module datetime, as far as botocore uses it to sign."""

    def __init__(self, now):
        self.datetime = self
        self.utcnow = lambda: now
        self.strptime = datetime.datetime.strptime


def main():
    rng = random.Random(20240229)
    for number in range(1000):
        now = datetime.datetime(2013, 5, 24) + datetime.timedelta(seconds=rng.randrange(400_000_000))
        botocore.auth.datetime = Clock(now)
        botocore.auth.get_current_datetime = botocore.auth.datetime.utcnow  # of later versions
        service = rng.choice(["s3", "s3", "s3", "sagemaker", "sts"])
        region = rng.choice(["us-east-1", "eu-west-3", "ap-southeast-2", "cn-north-1", "us-gov-west-1"])
        method = "GET" if service == "s3" else "POST"
        key = text(rng, LETTERS, 0, 40) if service == "s3" else ""
        path = "/" + encode(key, "/")
        names = rng.sample(["list-type", "prefix", "start-after", "continuation-token", "max-keys", "delimiter", "A", "é"],
                           rng.randint(0, 5)) if service == "s3" else []
        query = [(name, text(rng, LETTERS, 0, 30)) for name in names]
        headers = []
        if service == "s3":
            if rng.random() < 0.5:
                headers.append(("range", f"bytes={rng.randrange(10**6)}-{rng.randrange(10**6, 10**9)}"))
            if rng.random() < 0.3:
                headers.append(("if-match", '"' + text(rng, "0123456789abcdef", 32, 32) + '"'))
        else:
            headers.append(("content-type", "application/x-amz-json-1.1"))
            headers.append(("x-amz-target", text(rng, ALNUM, 1, 20)))
        body = text(rng, LETTERS, 0, 100) if service != "s3" else ""
        host = rng.choice([f"b.{service}.{region}.amazonaws.com", "127.0.0.1:9000", "localhost:8080"])
        access, secret = text(rng, ALNUM, 16, 20), text(rng, ALNUM + "+/", 40, 40)
        token = text(rng, ALNUM + "+/=", 100, 200) if rng.random() < 0.5 else ""
        credentials = Credentials(access, secret, token or None)
        url = f"https://{host}{path}" + ("?" + pairs(query) if query else "")
        request = AWSRequest(method=method, url=url, headers=dict(headers), data=body.encode())
        signer = botocore.auth.S3SigV4Auth if service == "s3" else botocore.auth.SigV4Auth
        # Set here, because otherwise botocore omits the port from what it signs only if it is the scheme's default.
        request.headers["Host"] = host
        signer(credentials, service, region).add_auth(request)
        authorization = request.headers["Authorization"]
        signed = authorization.split("SignedHeaders=")[1].split(",")[0]
        seconds = int(now.replace(tzinfo=datetime.timezone.utc).timestamp())
        print("\t".join(encode(str(value)) for value in [
            method, host, path, pairs(query), pairs(headers), body, access, secret, token, region, service, seconds,
            signed, authorization.split("Signature=")[1]]))


if __name__ == "__main__":
    sys.exit(main())
