# SPDX-License-Identifier: Apache-2.0
"""Strict verification of AWS Signature Version 4, as the test server applies it."""

import calendar
import hashlib
import hmac
import re
import time
from urllib.parse import quote, unquote_to_bytes

AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/,]+)/(\d{8})/([^/,]+)/([^/,]+)/aws4_request, ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})")
EMPTY = hashlib.sha256(b"").hexdigest()
MOST_SKEW = 15 * 60


class Refused(Exception):
    """Status, code and text of the answer, and further elements of its body."""

    def __init__(self, status, code, text, **more):
        super().__init__(code)
        self.status, self.code, self.text, self.more = status, code, text, more


class Key:
    def __init__(self, secret, token=None, expired=False, denied=False):
        self.secret, self.token, self.expired, self.denied = secret, token, expired, denied


def encode(data, keep=""):
    return quote(data, safe="-._~" + keep)


def canonical_query(query):
    pairs = []
    for part in query.split("&") if query else []:
        name, _, value = part.partition("=")
        pairs.append((encode(unquote_to_bytes(name)), encode(unquote_to_bytes(value))))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def signature(secret, date, region, service, stamp, canonical):
    def mac(key, text):
        return hmac.new(key, text.encode(), hashlib.sha256).digest()

    scope = f"{date}/{region}/{service}/aws4_request"
    key = mac(mac(mac(mac(b"AWS4" + secret.encode(), date), region), service), "aws4_request")
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode('latin-1')).hexdigest()}"
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def verify(request, keys, region, now):
    """`request`: method, path, query (as sent), headers (lower case), body. Returns the Key; raises Refused."""
    headers = request.headers
    match = AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if not match:
        raise Refused(400, "AuthorizationHeaderMalformed", "The authorization header is malformed.")
    key_id, date, scope_region, service, signed, given = match.groups()
    key = keys.get(key_id)
    if key is None:
        raise Refused(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.",
                      AWSAccessKeyId=key_id)
    if scope_region != region:
        raise Refused(400, "AuthorizationHeaderMalformed",
                      f"The authorization header is malformed; the region '{scope_region}' is wrong; "
                      f"expecting '{region}'", Region=region)
    stamp = headers.get("x-amz-date", "")
    if not re.fullmatch(r"\d{8}T\d{6}Z", stamp) or not stamp.startswith(date):
        raise Refused(403, "AccessDenied", "AWS authentication requires a valid x-amz-date header")
    if abs(calendar.timegm(time.strptime(stamp, "%Y%m%dT%H%M%SZ")) - now) > MOST_SKEW:
        raise Refused(403, "RequestTimeTooSkewed",
                      "The difference between the request time and the current time is too large.")
    names = signed.split(";")
    unsigned = [name for name in headers if (name == "host" or name.startswith("x-amz-")) and name not in names]
    if unsigned or names != sorted(names) or "host" not in names:
        raise Refused(403, "AccessDenied", "There were headers present in the request which were not signed",
                      HeadersNotSigned=", ".join(unsigned))
    body_hash = headers.get("x-amz-content-sha256")
    if service == "s3" and body_hash is None:
        raise Refused(400, "InvalidRequest", "Missing required header for this request: x-amz-content-sha256")
    if body_hash is None:
        body_hash = hashlib.sha256(request.body).hexdigest()
    elif body_hash != "UNSIGNED-PAYLOAD" and body_hash != hashlib.sha256(request.body).hexdigest():
        raise Refused(400, "XAmzContentSHA256Mismatch", "The provided x-amz-content-sha256 does not match the body.")
    path = encode(unquote_to_bytes(request.path), "/")
    if service != "s3":
        path = encode(path, "/")
    lines = [f"{name}:{' '.join(headers.get(name, '').split())}" for name in names]
    canonical = "\n".join([request.method, path, canonical_query(request.query), *lines, "", signed, body_hash])
    if not hmac.compare_digest(signature(key.secret, date, scope_region, service, stamp, canonical), given):
        # As S3 does, echoes what was signed: clients must not show it.
        raise Refused(403, "SignatureDoesNotMatch",
                      "The request signature we calculated does not match the signature you provided.",
                      AWSAccessKeyId=key_id, CanonicalRequest=canonical, SignatureProvided=given)
    if key.token is not None and headers.get("x-amz-security-token") != key.token:
        raise Refused(403, "InvalidToken", "The provided token is malformed or otherwise invalid.")
    if key.token is None and "x-amz-security-token" in headers:
        raise Refused(403, "InvalidToken", "The provided token is malformed or otherwise invalid.")
    if key.expired:
        raise Refused(400, "ExpiredToken", "The provided token has expired.")
    if key.denied:
        raise Refused(403, "AccessDenied", "Access Denied")
    return key
