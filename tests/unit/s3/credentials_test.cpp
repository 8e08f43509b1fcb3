// SPDX-License-Identifier: Apache-2.0
#include "s3/credentials.hpp"

#include <doctest/doctest.h>

#include <string>

#include "s3_server.hpp"

using namespace smd;
using namespace smd::test;
using namespace smd::detail::storage::s3;

namespace {

/// An environment without keys.
struct Bare : AwsEnvironment {
  Bare() {
    unset("AWS_ACCESS_KEY_ID");
    unset("AWS_SECRET_ACCESS_KEY");
  }
  void config(const std::string& text) const { set("AWS_CONFIG_FILE", dir.write("config", text)); }
  void credentials(const std::string& text) const {
    set("AWS_SHARED_CREDENTIALS_FILE", dir.write("credentials", text));
  }
  TempDir dir;
};

struct Chain {
  explicit Chain(const RemoteOptions& options = {}) : settings(*Settings::make(options, 0)) {
    settings.patience.first_pause = std::chrono::milliseconds(1);
    settings.patience.metadata = std::chrono::seconds(30);
  }
  Settings settings;
  HttpPool pool{4, ""};
  CredentialChain chain{{pool, settings}};
};

std::string problem_of(const RemoteOptions& options = {}) {
  Chain chain(options);
  const auto found = chain.chain.get();
  REQUIRE_FALSE(found);
  CHECK(found.problem().kind == ProblemKind::access_denied);
  return found.problem().text;
}

std::string key_of(const RemoteOptions& options = {}) {
  Chain chain(options);
  const auto found = chain.chain.get();
  if (!found) {
    FAIL(found.problem().text);
  }
  return (*found)->credentials.key_id + "/" + (*found)->credentials.secret + "/" + (*found)->credentials.token;
}

}  // namespace

TEST_CASE("s3 credentials: none") {
  const Bare environment;
  CHECK(
      problem_of() ==
      "no AWS credentials: none in the environment (AWS_ACCESS_KEY_ID), in the profile 'default', from a container or "
      "from instance metadata; public buckets need --no-sign-request");
  environment.set("AWS_ACCESS_KEY_ID", "AKID");
  CHECK(problem_of() == "of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only the first is set in the environment");
}

TEST_CASE("s3 credentials: the environment, then the profile") {
  const Bare environment;
  environment.credentials(
      "[default]\naws_access_key_id=FILE\naws_secret_access_key=SECRET\naws_session_token=T\n"
      "[other]\naws_access_key_id = OTHER\naws_secret_access_key = S2\n");
  CHECK(key_of() == "FILE/SECRET/T");
  environment.set("AWS_PROFILE", "other");
  CHECK(key_of() == "OTHER/S2/");
  environment.set("AWS_ACCESS_KEY_ID", "ENV");
  environment.set("AWS_SECRET_ACCESS_KEY", "SECRET");
  environment.set("AWS_SESSION_TOKEN", "TOKEN");
  CHECK(key_of() == "ENV/SECRET/TOKEN");
  RemoteOptions options;
  options.profile = "other";
  CHECK(key_of(options) == "OTHER/S2/");  // options take precedence over the environment
}

TEST_CASE("s3 credentials: profiles without credentials, or of an unsupported kind") {
  const Bare environment;
  environment.config(
      "[profile half]\naws_access_key_id = A\n[profile sso]\nsso_start_url = https://x\n"
      "[profile mfa]\nrole_arn = r\nsource_profile = half\nmfa_serial = m\n"
      "[profile circle]\nrole_arn = r\nsource_profile = circle2\n"
      "[profile circle2]\nrole_arn = r\nsource_profile = circle\n"
      "[profile alone]\nrole_arn = r\n[profile lost]\nrole_arn = r\nsource_profile = nowhere\n"
      "[profile empty]\nregion = eu-west-1\n");
  const auto of = [](const char* name) {
    RemoteOptions options;
    options.profile = name;
    return problem_of(options);
  };
  CHECK(of("half") == "the profile 'half' has an aws_access_key_id, but no aws_secret_access_key");
  CHECK(of("sso").find("the profile 'sso' signs in with SSO, which is not supported") == 0);
  CHECK(of("mfa").find("the profile 'mfa' wants a one-time code (mfa_serial), which is not supported") == 0);
  CHECK(of("circle") == "the profiles' source_profile lead back to 'circle'");
  CHECK(of("alone").find("the profile 'alone' has a role_arn, but neither a source_profile") == 0);
  CHECK(of("lost") == "there is no profile 'nowhere' in the AWS config and credentials files");
  CHECK(of("empty") == "the profile 'empty' holds no credentials");
}

TEST_CASE("s3 credentials: a chain of profiles has a bound") {
  const Bare environment;
  const auto chain = [](int length) {
    std::string text;
    for (int i = 0; i < length; ++i) {
      text += "[profile p" + std::to_string(i) + "]\nrole_arn = r\nsource_profile = p" + std::to_string(i + 1) + "\n";
    }
    return text;
  };
  environment.config(chain(7000));
  RemoteOptions options;
  options.profile = "p0";
  CHECK(problem_of(options) ==
        "more than 16 profiles lead to one another by source_profile, from 'p0' on; that is the most allowed");
  environment.config(chain(16));
  CHECK(problem_of(options) == "there is no profile 'p16' in the AWS config and credentials files");
  environment.config(chain(15) + "[profile p15]\nrole_arn = r\nsource_profile = p3\n");
  CHECK(problem_of(options) == "the profiles' source_profile lead back to 'p3'");
}

TEST_CASE("s3 credentials: each role of a chain is assumed with the credentials of the previous one") {
  const Bare environment;
  S3Server server({"--key", std::string(key_id) + ":" + secret_key, "--key", "ASIAROLE:role-secret:role-token",
                   "--serve-key", "ASIAROLE"});
  environment.set("AWS_ENDPOINT_URL_STS", server.url());
  environment.config(
      "[default]\nrole_arn = outer\nsource_profile = middle\n"
      "[profile middle]\nrole_arn = inner\nsource_profile = base\n");
  environment.credentials(std::string("[base]\naws_access_key_id=") + key_id + "\naws_secret_access_key=" + secret_key +
                          "\n");
  CHECK(key_of() == "ASIAROLE/role-secret/role-token");
  const auto log = server.log();
  REQUIRE(log.size() == 2);
  CHECK(std::string(log[0]["body"]).find("RoleArn=inner") != std::string::npos);
  CHECK(std::string(log[0]["headers"]["authorization"]).find(std::string("Credential=") + key_id + "/") !=
        std::string::npos);
  CHECK(std::string(log[1]["body"]).find("RoleArn=outer") != std::string::npos);
  CHECK(std::string(log[1]["headers"]["authorization"]).find("Credential=ASIAROLE/") != std::string::npos);
  // STS may repeat the request, too.
  server.faults(std::string(R"([{"act": "error", "status": 403, "code": ")") + key_id + R"(", "times": -1}])");
  CHECK(problem_of() == "cannot take on the role 'inner': status 403 ***");
}

TEST_CASE("s3 credentials: control characters are refused with a message") {
  const Bare environment;
  const std::string odd = " holds a line break or another control character; give it as it was issued";
  environment.set("AWS_ACCESS_KEY_ID", "AKID\r");
  environment.set("AWS_SECRET_ACCESS_KEY", "SECRET");
  CHECK(problem_of() == "the access key id of the environment" + odd);
  environment.set("AWS_ACCESS_KEY_ID", "AKID");
  environment.set("AWS_SECRET_ACCESS_KEY", "SEC\nX-Injected: 1");
  CHECK(problem_of() == "the secret access key of the environment" + odd);
  environment.set("AWS_SECRET_ACCESS_KEY", "SECRET");
  environment.set("AWS_SESSION_TOKEN", "TOKEN\x01");
  CHECK(problem_of() == "the session token of the environment" + odd);
  environment.unset("AWS_ACCESS_KEY_ID");
  environment.unset("AWS_SECRET_ACCESS_KEY");
  environment.unset("AWS_SESSION_TOKEN");
  environment.config("[default]\naws_access_key_id = A\x01K\naws_secret_access_key = S\n");
  CHECK(problem_of() == "the setting 'aws_access_key_id' of the profile 'default' holds a control character");
  environment.config("[default]\nrole_arn = r\rs\nsource_profile = x\n");
  CHECK(problem_of() == "the setting 'role_arn' of the profile 'default' holds a control character");
  environment.config("");
  environment.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/a?b\r\nX-Injected: 1");
  CHECK(problem_of() ==
        "the address of the container's credentials, 'http://127.0.0.1:1/a?b\\x0d\\x0aX-Injected: 1', holds a control "
        "character");
}

TEST_CASE("s3 credentials: a process") {
  const Bare environment;
  const std::string script = environment.dir.write(
      "print.sh",
      "echo '{\"Version\": 1, \"AccessKeyId\": \"'\"$1\"'\", \"SecretAccessKey\": \"'\"$2\"'\", \"SessionToken\": "
      "\"T\", \"Expiration\": \"2999-01-01T00:00:00Z\"}'\n");
  const auto with = [&](const std::string& command) {
    environment.config("[default]\ncredential_process = " + command + "\n");
  };
  with("sh " + script + " \"A B\" 'c$d'");
  CHECK(key_of() == "A B/c$d/T");
  with("sh -c 'echo {}; exec >&-; exit 4'");  // its output ends before the process
  CHECK(problem_of() == "the credential_process of the profile 'default' failed with status 4");
  with("sh -c 'exit 3'");
  CHECK(problem_of() == "the credential_process of the profile 'default' failed with status 3");
  with("sh -c 'echo SECRET'");
  CHECK(problem_of() == "the credential_process of the profile 'default' printed no credentials of Version 1");
  with("/no/such/program");
  CHECK(problem_of() == "the credential_process of the profile 'default' names a command that is not there");
  with("sh -c 'unclosed");
  CHECK(problem_of() == "the credential_process of the profile 'default' is no command");
}

TEST_CASE("s3 credentials: a role") {
  const Bare environment;
  S3Server server({"--key", std::string(key_id) + ":" + secret_key, "--key", "ASIAROLE:role-secret:role-token",
                   "--serve-key", "ASIAROLE"});
  environment.set("AWS_ENDPOINT_URL_STS", server.url());
  environment.config("[default]\nrole_arn = arn:aws:iam::1:role/reader\nsource_profile = base\nexternal_id = x\n");
  environment.credentials(std::string("[base]\naws_access_key_id=") + key_id + "\naws_secret_access_key=" + secret_key +
                          "\n");
  CHECK(key_of() == "ASIAROLE/role-secret/role-token");
  const auto log = server.log();
  REQUIRE(log.size() == 1);
  const std::string body = log[0]["body"];
  CHECK(body ==
        "Action=AssumeRole&ExternalId=x&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Freader&RoleSessionName=libsmd&"
        "Version=2011-06-15");
  server.faults(R"([{"act": "error", "status": 403, "code": "AccessDenied", "text": "no", "times": -1}])");
  CHECK(problem_of() == "cannot take on the role 'arn:aws:iam::1:role/reader': status 403 AccessDenied");
}

TEST_CASE("s3 credentials: a web identity") {
  const Bare environment;
  // A token as long as those of Kubernetes, with characters that a form encodes.
  const std::string token = "eyJhbGciOiJSUzI1NiJ9." + std::string(900, 'x') + "+/=." + std::string(300, 'y');
  S3Server server({"--key", "ASIAROLE:role-secret:role-token", "--serve-key", "ASIAROLE", "--web-identity", token});
  environment.set("AWS_ENDPOINT_URL_STS", server.url());
  environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", environment.dir.write("token", token + "\n"));
  CHECK(problem_of() == "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN, the role to assume, is not");
  environment.set("AWS_ROLE_ARN", "arn:aws:iam::1:role/pod");
  CHECK(key_of() == "ASIAROLE/role-secret/role-token");
  environment.set("AWS_ROLE_SESSION_NAME", "pod-1");
  CHECK(key_of() == "ASIAROLE/role-secret/role-token");
  const auto log = server.log();
  REQUIRE(log.size() == 2);
  CHECK_FALSE(log[0]["headers"].contains("authorization"));
  const auto form = [](const std::string& session) {
    return "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fpod&RoleSessionName=" + session +
           "&Version=2011-06-15&WebIdentityToken=eyJhbGciOiJSUzI1NiJ9." + std::string(900, 'x') + "%2B%2F%3D." +
           std::string(300, 'y');
  };
  CHECK(log[0]["body"] == form("libsmd"));
  CHECK(log[1]["body"] == form("pod-1"));

  // It precedes the keys of a profile; but a role with a source in the profile comes first, as in the AWS CLI.
  environment.credentials("[default]\naws_access_key_id = A\naws_secret_access_key = B\n");
  CHECK(key_of() == "ASIAROLE/role-secret/role-token");
  environment.config("[default]\nrole_arn = r\nsource_profile = nowhere\n");
  CHECK(problem_of() == "there is no profile 'nowhere' in the AWS config and credentials files");
  environment.config("");
  RemoteOptions options;
  options.profile = "default";
  CHECK(key_of(options) == "A/B/");
  environment.set("AWS_ACCESS_KEY_ID", "KEY");
  environment.set("AWS_SECRET_ACCESS_KEY", "SECRET");
  CHECK(key_of() == "KEY/SECRET/");
}

TEST_CASE("s3 credentials: messages about a refused web identity do not contain its token") {
  const Bare environment;
  const std::string token = "THE-TOKEN-OF-THE-POD";
  S3Server server({"--key", "ASIAROLE:role-secret:role-token", "--serve-key", "ASIAROLE", "--web-identity", token});
  environment.set("AWS_ENDPOINT_URL_STS", server.url());
  environment.set("AWS_ROLE_ARN", "arn:aws:iam::1:role/pod");
  environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", "/nowhere/token");
  CHECK(problem_of() == "cannot read '/nowhere/token', the AWS_WEB_IDENTITY_TOKEN_FILE: no such file or directory");
  const std::string file = environment.dir.write("token", "\n");
  environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", file);
  CHECK(problem_of() == "'" + file + "', the AWS_WEB_IDENTITY_TOKEN_FILE, is empty");
  environment.dir.write("token", "THE-WRONG-TOKEN");  // which the server echoes
  CHECK(problem_of() == "cannot take on the role 'arn:aws:iam::1:role/pod': status 400 InvalidIdentityToken");
  // Temporary failures are retried.
  environment.dir.write("token", token);
  for (const char* const fault :
       {R"("act": "error", "status": 503, "code": "ServiceUnavailable")",
        R"("act": "error", "status": 400, "code": "IDPCommunicationError")", R"("act": "reset")"}) {
    server.faults(std::string("[{\"times\": 1, ") + fault + "}]");
    CHECK(key_of() == "ASIAROLE/role-secret/role-token");
  }
  (void)server.log();
  server.faults(R"([{"times": -1, "act": "error", "status": 500, "code": "InternalFailure"}])");
  CHECK(problem_of() == "cannot take on the role 'arn:aws:iam::1:role/pod': status 500 InternalFailure");
  CHECK(server.log().size() == 3);
}

TEST_CASE("s3 credentials: a web identity of a profile") {
  const Bare environment;
  S3Server server({"--key", "ASIAROLE:role-secret:role-token", "--serve-key", "ASIAROLE", "--web-identity", "tok en"});
  environment.set("AWS_ENDPOINT_URL_STS", server.url());
  const std::string file = environment.dir.write("token", "tok en");
  environment.config("[profile pod]\nrole_arn = r\nrole_session_name = me\nweb_identity_token_file = " + file +
                     "\n[profile further]\nrole_arn = r2\nsource_profile = pod\n"
                     "[profile lost]\nrole_arn = r\nweb_identity_token_file = /nowhere\n");
  RemoteOptions options;
  options.profile = "pod";
  CHECK(key_of(options) == "ASIAROLE/role-secret/role-token");
  const auto log = server.log();
  REQUIRE(log.size() == 1);
  CHECK(log[0]["body"] ==
        "Action=AssumeRoleWithWebIdentity&RoleArn=r&RoleSessionName=me&Version=2011-06-15&WebIdentityToken=tok%20en");
  // A role through another one: the first is assumed with the token, the second is signed with the first.
  options.profile = "further";
  CHECK(key_of(options) == "ASIAROLE/role-secret/role-token");
  const auto both = server.log();
  REQUIRE(both.size() == 2);
  CHECK(both[1]["body"] == "Action=AssumeRole&RoleArn=r2&RoleSessionName=libsmd&Version=2011-06-15");
  CHECK(both[1]["headers"]["x-amz-security-token"] == "role-token");
  options.profile = "lost";
  CHECK(problem_of(options) ==
        "cannot read '/nowhere', the web_identity_token_file of the profile 'lost': no such file or directory");
}

TEST_CASE("s3 credentials: the token of a web identity is read again when credentials are renewed") {
  const Bare environment;
  // Valid for a minute: renewed as soon as possible.
  S3Server server(
      {"--key", "ASIAROLE:role-secret:role-token:expired", "--serve-key", "ASIAROLE", "--web-identity", "second"});
  environment.set("AWS_ENDPOINT_URL_STS", server.url());
  environment.set("AWS_ROLE_ARN", "r");
  environment.set("AWS_WEB_IDENTITY_TOKEN_FILE", environment.dir.write("token", "first"));
  Chain chain;
  CHECK_FALSE(chain.chain.get());
  environment.dir.write("token", "second");
  CHECK(chain.chain.get());
}

TEST_CASE("s3 credentials: the container's endpoint") {
  const Bare environment;
  const S3Server server;
  environment.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url() + "/container/");
  environment.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container-token-of-the-test");
  CHECK(key_of() == std::string(key_id) + "/" + secret_key + "/");
  environment.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", environment.dir.write("token", "wrong\n"));
  CHECK(problem_of() == "the container's credentials endpoint gives none: status 401");
  environment.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/");
  CHECK(problem_of() == "AWS_CONTAINER_CREDENTIALS_FULL_URI names a host that is neither https nor this machine's own");
}

TEST_CASE("s3 credentials: instance metadata") {
  const Bare environment;
  S3Server server;
  environment.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url() + "/");
  CHECK(problem_of().find("no AWS credentials") == 0);  // switched off
  environment.unset("AWS_EC2_METADATA_DISABLED");
  CHECK(key_of() == std::string(key_id) + "/" + secret_key + "/");
  CHECK(server.log().size() == 3);
}

TEST_CASE("s3 credentials: renewed before they expire, and when they are refused") {
  const Bare environment;
  environment.unset("AWS_EC2_METADATA_DISABLED");
  {
    S3Server server({"--serve-seconds", "3600"});
    environment.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url());
    Chain chain;
    CHECK(chain.chain.get());
    CHECK(chain.chain.get());
    CHECK(server.log().size() == 3);
    // Refused, and no others are available.
    const auto first = *chain.chain.get();
    const auto other = chain.chain.other_than(*first);
    REQUIRE(other);
    CHECK(*other == nullptr);
    CHECK(server.log().size() == 3);
  }
  const std::string counter = environment.dir.write("count", "");
  const std::string script =
      environment.dir.write("next.sh",
                            "printf x >>\"$1\"; n=$(wc -c <\"$1\"); printf '{\"Version\": 1, \"AccessKeyId\": \"K%s\", "
                            "\"SecretAccessKey\": \"S\", \"Expiration\": \"%s\"}' $n $2\n");
  environment.set("AWS_EC2_METADATA_DISABLED", "true");
  // Expired long ago: must be renewed, but not for each request.
  environment.config("[default]\ncredential_process = sh " + script + " " + counter + " 2001-01-01T00:00:00Z\n");
  Chain chain;
  CHECK((*chain.chain.get())->credentials.key_id == "K1");
  CHECK((*chain.chain.get())->credentials.key_id == "K1");
  const auto first = *chain.chain.get();
  CHECK((*chain.chain.other_than(*first))->credentials.key_id == "K2");
  CHECK((*chain.chain.other_than(*first))->credentials.key_id == "K2");  // those of another thread suffice
}

TEST_CASE("s3 credentials: new ones after a refusal") {
  const Bare environment;
  S3Server server({"--key", "K1:S:old:expired", "--key", "K2:S:new"});
  server.put("key", "content");
  const std::string counter = environment.dir.write("count", "");
  const std::string script = environment.dir.write(
      "next.sh",
      "printf x >>\"$1\"; n=$(wc -c <\"$1\"); test $n = 1 && t=old || t=new; printf '{\"Version\": 1, "
      "\"AccessKeyId\": \"K%s\", \"SecretAccessKey\": \"S\", \"SessionToken\": \"%s\"}' $n $t\n");
  environment.config("[default]\ncredential_process = sh " + script + " " + counter + "\n");
  Client client(server.settings());
  Ask ask;
  ask.bucket = "bucket";
  ask.key = "key";
  CHECK(client.ask(ask)->body == "content");
  CHECK(server.log().size() == 2);
}

TEST_CASE("s3 credentials: times") {
  const auto seconds = [](const char* text) {
    const auto time = parse_time(text);
    return time ? std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count() : -1;
  };
  CHECK(seconds("1970-01-02T00:00:01Z") == 86401);
  CHECK(seconds("2013-05-24T00:00:00Z") == 1369353600);
  CHECK(seconds("2013-05-24") == 1369353600);
  CHECK(seconds("2013-05-24T00:00:00.123Z") == 1369353600);
  CHECK(seconds("2013-05-24T02:00:00+02:00") == 1369353600);
  CHECK(seconds("2013-05-23T19:30:00-04:30") == 1369353600);
  for (const char* const wrong :
       {"", "2013-05-2", "2013-13-01T00:00:00Z", "2013-02-30T00:00:00Z", "20x3-05-24T00:00:00Z"}) {
    CHECK(seconds(wrong) == -1);
  }
}
