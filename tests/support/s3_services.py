# SPDX-License-Identifier: Apache-2.0
"""Other services of AWS in the test server: instance metadata v2, the container's credentials endpoint, STS AssumeRole
and AssumeRoleWithWebIdentity, and two calls of SageMaker. Each takes (server, request) and returns (status, headers, body)."""

import json
import time
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

METADATA_TOKEN = "metadata-token-of-the-test"
CONTAINER_TOKEN = "container-token-of-the-test"


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def credentials(server, token_name="Token"):
    """Returns the credentials of --serve-key, valid for --serve-seconds by the server's clock."""
    key_id = server.serve_key
    key = server.keys[key_id]
    return {"AccessKeyId": key_id, "SecretAccessKey": key.secret, token_name: key.token or "",
            "Expiration": stamp(server.now() + server.serve_seconds)}


def as_json(status, value):
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()


def metadata(server, request):
    if request.path == "/latest/api/token":
        if request.method != "PUT" or "x-aws-ec2-metadata-token-ttl-seconds" not in request.headers:
            return 400, {}, b""
        return 200, {}, METADATA_TOKEN.encode()
    if request.headers.get("x-aws-ec2-metadata-token") != METADATA_TOKEN:
        return 401, {}, b""
    roles = "/latest/meta-data/iam/security-credentials/"
    if request.path == roles:
        return 200, {}, b"the-role"
    if request.path == roles + "the-role":
        return as_json(200, {"Code": "Success", "Type": "AWS-HMAC", **credentials(server)})
    if request.path == "/latest/meta-data/placement/region":
        return 200, {}, server.region.encode()
    return 404, {}, b""


def container(server, request):
    if request.headers.get("authorization") != CONTAINER_TOKEN:
        return as_json(401, {"code": "Unauthorized"})
    return as_json(200, {"RoleArn": "arn:aws:iam::1:role/task", **credentials(server)})


def assume_role(server, request):
    form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    if form.get("Action") != "AssumeRole" or not form.get("RoleArn") or not form.get("RoleSessionName"):
        return 400, {}, b"<ErrorResponse><Error><Code>ValidationError</Code></Error></ErrorResponse>"
    return role_response(server, "AssumeRole")


def assume_role_with_web_identity(server, request):
    form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    if not form.get("RoleArn") or not form.get("RoleSessionName") or form.get("Version") != "2011-06-15":
        return 400, {}, b"<ErrorResponse><Error><Code>ValidationError</Code></Error></ErrorResponse>"
    if server.web_identity is None or form.get("WebIdentityToken") != server.web_identity:
        # Echoes the token, which clients must not show.
        return 400, {"Content-Type": "text/xml"}, (
            "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidIdentityToken</Code>"
            f"<Message>{escape(form.get('WebIdentityToken', ''))} is no token of the provider</Message></Error>"
            "</ErrorResponse>").encode()
    return role_response(server, "AssumeRoleWithWebIdentity")


def role_response(server, action):
    given = credentials(server, "SessionToken")
    fields = "".join(f"<{name}>{value}</{name}>" for name, value in given.items())
    return 200, {"Content-Type": "text/xml"}, (
        f'<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result>'
        f"<Credentials>{fields}</Credentials></{action}Result></{action}Response>").encode()


def sagemaker(server, request):
    """`--jobs FILE`: a JSON object from names to statuses; StopTrainingJob changes it. Pages have two jobs."""
    with open(server.jobs_file, encoding="utf-8") as file:
        jobs = json.load(file)
    call = request.headers.get("x-amz-target", "")
    body = json.loads(request.body or b"{}")
    if call == "SageMaker.ListTrainingJobs":
        names = sorted(name for name, status in jobs.items()
                       if body.get("NameContains", "") in name and body.get("StatusEquals", status) == status)
        first = int(body.get("NextToken", "0"))
        page = names[first:first + 2]
        answer = {"TrainingJobSummaries": [{"TrainingJobName": name, "TrainingJobStatus": jobs[name]}
                                           for name in page]}
        if first + 2 < len(names):
            answer["NextToken"] = str(first + 2)
        return as_json(200, answer)
    if call == "SageMaker.StopTrainingJob":
        name = body.get("TrainingJobName")
        if jobs.get(name) != "InProgress":
            return as_json(400, {"__type": "ValidationException",
                                 "message": "The request was rejected because the training job is in status "
                                            f"{jobs.get(name)}."})
        jobs[name] = "Stopping"
        with open(server.jobs_file, "w", encoding="utf-8") as file:
            json.dump(jobs, file)
        return as_json(200, {})
    return as_json(400, {"__type": "UnknownOperationException"})
