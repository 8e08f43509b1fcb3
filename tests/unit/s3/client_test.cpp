// SPDX-License-Identifier: Apache-2.0
// Every kind of unexpected answer of S3: each has its own message, and attempts are bounded.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "s3/client.hpp"
#include "s3_server.hpp"

using namespace smd;
using namespace smd::test;
using detail::Outcome;
using detail::storage::s3::Ask;
using detail::storage::s3::Client;
using detail::storage::s3::HttpResponse;

namespace {

Ask get(std::string key) {
  Ask ask;
  ask.bucket = "bucket";
  ask.key = std::move(key);
  ask.file = "the/file";
  return ask;
}

struct Texts {
  std::vector<std::string> said;
  RemoteOptions options() {
    RemoteOptions options;
    options.log = [this](LogLevel detail, std::string_view text) {
      if (detail != LogLevel::debug) {
        said.emplace_back(text);
      }
    };
    return options;
  }
  [[nodiscard]] bool has(std::string_view part) const {
    for (const std::string& text : said) {
      if (text.find(part) != std::string::npos) {
        return true;
      }
    }
    return false;
  }
};

/// No text contains the secret, whatever the server echoes.
void check_no_secret(const std::string& text) {
  CHECK(text.find(secret_key) == text.npos);
  CHECK(text.find("THE-TOKEN") == text.npos);
}

}  // namespace

TEST_CASE_FIXTURE(WithServer, "s3: a strict server accepts the signature") {
  const std::string odd = "a b/+%&=?#~!'()*,;:@$\xC3\xA9";
  server.put(odd, "content");
  Client client(server.settings());
  const auto response = client.ask(get(odd));
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->body == "content");
  const auto log = server.log();
  REQUIRE(log.size() == 1);
  const std::string authorization = log[0]["headers"]["authorization"];
  CHECK(authorization.find("SignedHeaders=host;x-amz-content-sha256;x-amz-date,") != authorization.npos);
}

TEST_CASE_FIXTURE(WithServer, "s3: temporary failures are retried, with a bound") {
  server.put("key", std::string(5000, 'x'));
  struct Case {
    const char* fault;  // without "times"
    const char* text;   // of the problem, if the failure is permanent
    const char* said;
  };
  const std::vector<Case> cases = {
      {R"("act": "error", "status": 500, "code": "InternalError", "text": "We encountered an internal error.")",
       "the server is in trouble: We encountered an internal error. (500 InternalError, request REQUEST0123456789)",
       "500 InternalError; attempt 2 of 3"},
      {R"("act": "error", "status": 502, "code": "BadGateway", "text": "x")", "the server is in trouble", "502"},
      {R"("act": "error", "status": 503, "code": "SlowDown")",
       "the server asks for fewer requests and still refuses after 3 attempts (503 SlowDown",
       "503 SlowDown; attempt 2"},
      {R"("act": "error", "status": 504, "code": "GatewayTimeout", "text": "x")", "the server is in trouble", "504"},
      {R"("act": "error", "status": 429, "code": "TooManyRequests")", "the server asks for fewer requests", "429"},
      {R"("act": "error", "status": 400, "code": "RequestTimeout", "text": "x")", "the server is in trouble",
       "RequestTimeout"},
      {R"("act": "error", "status": 400, "code": "ThrottlingException", "text": "x")",
       "the server asks for fewer requests", "400 ThrottlingException"},
      {R"("act": "error", "status": 503, "code": "SlowDown", "headers": {"Retry-After": "0"})",
       "the server asks for fewer", "in 0 ms"},
      {R"("act": "reset")", "the connection broke (", "the connection broke"},
      {R"("act": "cut")", "the connection broke (", "the connection broke"},
      {R"("act": "long-length")", "the connection broke (", "the connection broke"},
      {R"("act": "no-length")", "the answer does not say how long it is", "does not say how long"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.fault);
    Texts texts;
    Client client(server.settings(texts.options()));
    const std::string act(each.fault);
    server.faults("[{" + act + ", \"times\": 2}]");
    (void)server.log();
    const auto passing = client.ask(get("key"));
    REQUIRE(passing);
    CHECK(passing->body.size() == 5000);
    CHECK(server.log().size() == 3);
    CHECK(texts.has(each.said));
    CHECK(texts.has("GET s3://bucket/key: "));

    server.faults("[{" + act + ", \"times\": -1}]");
    const auto failing = client.ask(get("key"));
    REQUIRE_FALSE(failing);
    CHECK(failing.problem().kind == ProblemKind::network);
    CHECK(failing.problem().file == "the/file");
    CHECK(failing.problem().text.find(each.text) != std::string::npos);
    INFO(failing.problem().text);
    // libcurl itself opens a new connection if a reused one turns out to be closed.
    const std::size_t requests = server.log().size();
    CHECK(requests >= 3);
    CHECK(requests <= (act.find("reset") != act.npos ? 4 : 3));
  }
}

TEST_CASE_FIXTURE(WithServer, "s3: a server that stops answering") {
  server.put("key", std::string(5000, 'x'));
  for (const char* const act : {"hang", "trickle"}) {
    CAPTURE(act);
    Texts texts;
    auto settings = server.settings(texts.options());
    settings.patience.stall = std::chrono::seconds(1);
    settings.attempts = 20;  // on a busy machine even a good answer may take a second
    server.faults(std::string(R"([{"times": 1, "act": ")") + act + "\"}]");
    const auto passing = Client(settings).ask(get("key"));
    REQUIRE(passing);
    CHECK(passing->body.size() == 5000);
    CHECK(texts.has("stopped answering"));

    settings.attempts = 2;
    server.faults(std::string(R"([{"times": -1, "act": ")") + act + "\"}]");
    (void)server.log();
    const auto failing = Client(settings).ask(get("key"));
    REQUIRE_FALSE(failing);
    CHECK(failing.problem().kind == ProblemKind::network);
    CHECK(failing.problem().text.find("the server stopped answering (") == 0);
    CHECK(server.log().size() == 2);
  }
}

TEST_CASE_FIXTURE(WithServer, "s3: answers without an end") {
  server.put("key", "content");
  Client client(server.settings());
  server.faults(R"([{"act": "error", "status": 403, "code": "AccessDenied", "endless": "body", "times": -1}])");
  CHECK(client.ask(get("key")).problem().kind == ProblemKind::access_denied);
  server.faults(R"([{"act": "error", "status": 403, "code": "AccessDenied", "endless": "headers", "times": -1}])");
  CHECK(client.ask(get("key")).problem().kind == ProblemKind::network);
  server.faults(R"([{"act": "ignore-range", "endless": "body", "times": -1}])");
  Ask ask = get("key");
  ask.most = 1'000'000;
  CHECK(client.ask(ask).problem().kind == ProblemKind::damaged);  // longer than permitted
}

TEST_CASE("s3: refusals are distinguished and not retried") {
  const AwsEnvironment environment;
  environment.set("AWS_SESSION_TOKEN", "THE-TOKEN");
  S3Server server({"--key", std::string(key_id) + ":" + secret_key + ":THE-TOKEN"});
  server.put("key", "content");
  struct Case {
    const char* fault;
    ProblemKind kind;
    const char* text;
  };
  const std::vector<Case> cases = {
      {R"("status": 403, "code": "AccessDenied", "text": "Access Denied")", ProblemKind::access_denied,
       "access is denied to the credentials of the environment (403 AccessDenied, request REQUEST0123456789)"},
      {R"("status": 403, "code": "InvalidAccessKeyId", "text": "x")", ProblemKind::access_denied,
       "the access key of the environment is not known to the server"},
      {R"("status": 403, "code": "SignatureDoesNotMatch", "text": "x", "more": {"StringToSign": "THE-TOKEN"})",
       ProblemKind::access_denied, "the secret key of the environment does not belong to its access key"},
      {R"("status": 400, "code": "ExpiredToken", "text": "x")", ProblemKind::access_denied,
       "the credentials of the environment have expired; get new ones"},
      {R"("status": 400, "code": "InvalidToken", "text": "x")", ProblemKind::access_denied,
       "the session token of the environment is not valid"},
      {R"("status": 403, "code": "Odd", "text": "you sent THE-TOKEN"})", ProblemKind::access_denied,
       "you sent *** (403 Odd"},
      {R"("status": 301, "code": "PermanentRedirect", "text": "elsewhere")", ProblemKind::access_denied,
       "the bucket is in another region than 'us-east-1', and the server does not say in which; give --region"},
      {R"("status": 404, "code": "NoSuchBucket", "text": "x")", ProblemKind::not_found, "there is no bucket 'bucket'"},
      {R"("status": 405, "code": "MethodNotAllowed", "text": "Not allowed.")", ProblemKind::network,
       "the server refuses: Not allowed. (405 MethodNotAllowed"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.fault);
    Client client(server.settings());
    std::string fault(each.fault);
    if (fault.ends_with('}') && fault.find("more") == fault.npos) {
      fault.pop_back();
    }
    server.faults("[{\"act\": \"error\", \"times\": -1, " + fault + "}]");
    (void)server.log();
    const auto refused = client.ask(get("key"));
    REQUIRE_FALSE(refused);
    CHECK(refused.problem().kind == each.kind);
    INFO(refused.problem().text);
    CHECK(refused.problem().text.find(each.text) != std::string::npos);
    check_no_secret(refused.problem().text);
    CHECK(server.log().size() == 1);
  }
  server.faults("[]");
  Client client(server.settings());
  CHECK(client.ask(get("no/such/key"))->status == 404);
}

TEST_CASE("s3: messages never contain secrets that a server repeats") {
  const AwsEnvironment environment;
  const std::string token = "IQoJb3JpZ2luX2Vj+/" + std::string(400, 't') + "==";
  environment.set("AWS_SESSION_TOKEN", token);
  S3Server server({"--key", std::string(key_id) + ":" + secret_key + ":" + token});
  server.put("key", "content");
  struct Case {
    int status;
    const char* code;
    int blanks;  // number of blanks, so that a message is cut inside the repeated text
  };
  for (const Case& each : {Case{400, "Odd", 0}, Case{403, "Odd", 0}, Case{500, "InternalError", 0},
                           Case{400, "AuthorizationHeaderMalformed", 0}, Case{400, "Odd", 150}, Case{400, "Odd", 350},
                           Case{400, key_id, 0}}) {
    CAPTURE(each.code);
    CAPTURE(each.blanks);
    Texts texts;
    server.faults(R"([{"act": "echo", "times": -1, "status": )" + std::to_string(each.status) + R"(, "code": ")" +
                  each.code + R"(", "blanks": )" + std::to_string(each.blanks) +
                  R"(, "headers": {"x-amz-bucket-region": ")" + key_id + R"("}}])");
    (void)server.log();
    const auto refused = Client(server.settings(texts.options())).ask(get("key"));
    REQUIRE_FALSE(refused);
    std::string all = refused.problem().text;
    for (const std::string& text : texts.said) {
      all += "\n" + text;
    }
    INFO(all);
    CHECK(all.find("***") != std::string::npos);
    CHECK(all.find(key_id) == std::string::npos);
    CHECK(all.find("IQoJb3JpZ2luX2Vj") == std::string::npos);
    CHECK(all.find("tttt") == std::string::npos);
    for (const auto& entry : server.log()) {
      const std::string sent = entry["headers"]["authorization"];
      const std::string signature = sent.substr(sent.find("Signature=") + 10);
      CHECK(signature.size() == 64);
      CHECK(all.find(signature) == std::string::npos);
      CHECK(all.find(signature.substr(0, 32)) == std::string::npos);
    }
  }
}

TEST_CASE_FIXTURE(WithServer, "s3: wrong keys, as a strict server reports them") {
  server.put("key", "content");
  environment.set("AWS_SECRET_ACCESS_KEY", "some-other-secret-key-of-forty-characters");
  Texts texts;
  const auto wrong = Client(server.settings(texts.options())).ask(get("key"));
  REQUIRE_FALSE(wrong);
  CHECK(wrong.problem().text.find("the secret key of the environment does not belong") == 0);
  CHECK(wrong.problem().text.find("some-other") == std::string::npos);
  environment.set("AWS_ACCESS_KEY_ID", "AKIDUNKNOWN");
  const auto unknown = Client(server.settings()).ask(get("key"));
  CHECK(unknown.problem().text.find("the access key of the environment is not known") == 0);
}

TEST_CASE("s3: the bucket's region is determined once") {
  const AwsEnvironment environment;
  S3Server server({"--bucket-region", "bucket=eu-west-3"});
  server.put("key", "content");
  Texts texts;
  Client client(server.settings(texts.options()));
  CHECK(client.ask(get("key"))->body == "content");
  CHECK(client.ask(get("key"))->body == "content");
  CHECK(server.log().size() == 3);
  CHECK(texts.has("bucket 'bucket' is in the region eu-west-3"));

  // After a redirect the session token is not sent to another host.
  server.faults(R"([{"act": "error", "status": 307, "code": "TemporaryRedirect", "times": 1,
                     "headers": {"x-amz-bucket-region": "eu-west-3", "Location": "http://127.0.0.1:1/elsewhere"}}])");
  Client other(server.settings());
  CHECK(other.ask(get("key"))->body == "content");
  // In a circle: followed once.
  server.faults(R"([{"act": "error", "status": 301, "code": "PermanentRedirect", "times": -1,
                     "headers": {"x-amz-bucket-region": "ap-south-1"}}])");
  (void)server.log();
  CHECK_FALSE(Client(server.settings()).ask(get("key")));
  CHECK(server.log().size() == 2);
}

TEST_CASE("s3: a wrong clock is corrected once") {
  const AwsEnvironment environment;
  for (const char* const offset : {"-86400", "86400"}) {
    S3Server server({"--clock-offset", offset});
    server.put("key", "content");
    Texts texts;
    Client client(server.settings(texts.options()));
    CHECK(client.ask(get("key"))->body == "content");
    CHECK(client.ask(get("key"))->body == "content");
    CHECK(server.log().size() == 3);
    CHECK(texts.has("requests are dated by the server's"));
    server.faults(R"([{"act": "error", "status": 403, "code": "RequestTimeTooSkewed", "text": "x", "times": -1}])");
    const auto refused = Client(server.settings()).ask(get("key"));
    CHECK(refused.problem().text.find("clock") != std::string::npos);
    CHECK(server.log().size() == 2);
  }
}

TEST_CASE_FIXTURE(WithServer, "s3: ranges") {
  std::string content;
  for (int i = 0; i < 1000; ++i) {
    content += static_cast<char>('a' + i % 26);
  }
  server.put("key", content);
  std::vector<std::byte> into(100);
  Ask ask = get("key");
  ask.into = into;
  ask.offset = 500;
  const auto text = [&](std::size_t size) { return std::string(reinterpret_cast<const char*>(into.data()), size); };
  const auto check = [&](const char* faults, std::size_t requests) {
    CAPTURE(faults);
    server.faults(faults);
    (void)server.log();
    std::fill(into.begin(), into.end(), std::byte{0});
    Client client(server.settings());
    const auto response = client.ask(ask);
    REQUIRE(response);
    CHECK(response->into_bytes == 100);
    CHECK(text(100) == content.substr(500, 100));
    CHECK(server.log().size() == requests);
  };
  check("[]", 1);
  check(R"([{"act": "ignore-range", "times": 1}])", 1);  // the whole object, cut to the range
  check(R"([{"act": "other-range", "times": 1}])", 2);
  check(R"([{"act": "cut", "times": 1}])", 2);
  check(R"([{"act": "long-length", "times": 1}])", 2);

  server.faults(R"([{"act": "other-range", "times": -1}])");
  const auto refused = Client(server.settings()).ask(ask);
  REQUIRE_FALSE(refused);
  CHECK(refused.problem().kind == ProblemKind::network);
  CHECK(refused.problem().text == "the answer is another range than the one asked for");

  server.faults("[]");
  Client client(server.settings());
  ask.offset = 950;  // past the end
  CHECK(client.ask(ask)->into_bytes == 50);
  CHECK(text(50) == content.substr(950));
  ask.offset = 1000;
  CHECK(client.ask(ask)->status == 416);
}

TEST_CASE_FIXTURE(WithServer, "s3: a body that is too long is refused") {
  server.put("key", std::string(3000, 'x'));
  Ask ask = get("key");
  ask.most = 2999;
  Client client(server.settings());
  const auto refused = client.ask(ask);
  REQUIRE_FALSE(refused);
  CHECK(refused.problem().kind == ProblemKind::damaged);
  CHECK(refused.problem().text == "is longer than 2999 bytes, the most allowed here");
  ask.most = 3000;
  CHECK(client.ask(ask)->body.size() == 3000);
}

TEST_CASE("s3: no server") {
  const AwsEnvironment environment;
  RemoteOptions options;
  options.endpoint_url = "http://127.0.0.1:1";
  auto settings = detail::storage::s3::Settings::make(options, 0);
  REQUIRE(settings);
  settings->patience.first_pause = std::chrono::milliseconds(1);
  const auto refused = Client(*settings).ask(get("key"));
  REQUIRE_FALSE(refused);
  CHECK(refused.problem().kind == ProblemKind::network);
  CHECK(refused.problem().text.find("no connection to the server") == 0);
}

TEST_CASE_FIXTURE(WithServer, "s3: retries stop when too many requests fail") {
  server.faults(R"([{"act": "error", "status": 500, "code": "InternalError", "text": "x", "times": -1}])");
  Texts texts;
  Client client(server.settings(texts.options()));
  // 500 tokens, 5 a retry, 2 retries a request: 50 requests with retries, then none.
  for (int i = 0; i < 60; ++i) {
    CHECK_FALSE(client.ask(get("key")));
  }
  CHECK(server.log().size() == 60 + 100);
  CHECK(texts.has("too much fails, so it is not tried again"));
}

TEST_CASE("s3: settings") {
  const AwsEnvironment environment;
  using detail::storage::s3::Settings;
  CHECK(Settings::make({}, 0)->region == "us-east-1");
  CHECK(Settings::make({}, 0)->in_flight == 32);
  environment.set("AWS_DEFAULT_REGION", "eu-west-1");
  CHECK(Settings::make({}, 0)->region == "eu-west-1");
  environment.set("AWS_REGION", "eu-west-2");
  CHECK(Settings::make({}, 0)->region == "eu-west-2");
  RemoteOptions options;
  options.region = "eu-west-3";
  CHECK(Settings::make(options, 0)->region == "eu-west-3");
  CHECK_FALSE(Settings::make({}, 0)->endpoint);
  environment.set("AWS_ENDPOINT_URL", "http://general:1");
  CHECK(Settings::make({}, 0)->endpoint->host == "general:1");
  environment.set("AWS_ENDPOINT_URL_S3", "http://own:1");
  CHECK(Settings::make({}, 0)->endpoint->host == "own:1");
  options.endpoint_url = "http://option:1";
  CHECK(Settings::make(options, 0)->endpoint->host == "option:1");
  options.endpoint_url = "nonsense";
  CHECK(Settings::make(options, 0).problem().text == "the endpoint 'nonsense' is no http:// or https:// URL of a host");
  options.endpoint_url = "https://user:p@ssword@host";
  CHECK(Settings::make(options, 0).problem().text == "the endpoint '***@host' is no http:// or https:// URL of a host");
  options.endpoint_url = "http://host/base?X-Amz-Signature=secret";
  CHECK(Settings::make(options, 0).problem().text ==
        "the endpoint 'http://host/base?***' is no http:// or https:// URL of a host");
  options.endpoint_url = "http://user:pass?word@host";
  CHECK(Settings::make(options, 0).problem().text == "the endpoint '***' is no http:// or https:// URL of a host");
  options.endpoint_url = "http://user:password@host#secret";
  CHECK(Settings::make(options, 0).problem().text ==
        "the endpoint '***@host#***' is no http:// or https:// URL of a host");
  options.endpoint_url = "http://host\r\nX-Injected: 1";
  CHECK(Settings::make(options, 0).problem().text ==
        "the endpoint 'http://host\\x0d\\x0aX-Injected: 1' is no http:// or https:// URL of a host");
  options.endpoint_url = "http://host/\x01";
  CHECK_FALSE(Settings::make(options, 0));
  options = {};
  options.region = "eu-west-1\r";
  CHECK(Settings::make(options, 0).problem().text == "'eu-west-1\\x0d' is no region");
  options = {};
  options.profile = "a\nb";
  CHECK(Settings::make(options, 0).problem().text == "the profile's name 'a\\x0ab' holds a control character");
  options.profile = "nobody";
  CHECK(Settings::make(options, 0).problem().text.find("there is no profile 'nobody'") == 0);
  environment.set("AWS_MAX_ATTEMPTS", "0");
  CHECK_FALSE(Settings::make({}, 0));
}

TEST_CASE("s3 settings: FIPS endpoints") {
  using detail::storage::s3::Settings;
  const AwsEnvironment environment;
  const TempDir dir;
  CHECK_FALSE(Settings::make({}, 0)->fips);
  environment.set("AWS_USE_FIPS_ENDPOINT", "True");
  CHECK(Settings::make({}, 0)->fips);
  environment.set("AWS_CONFIG_FILE", dir.write("config", "[default]\nuse_fips_endpoint = true\n"));
  environment.set("AWS_USE_FIPS_ENDPOINT", "false");
  CHECK_FALSE(Settings::make({}, 0)->fips);
  environment.unset("AWS_USE_FIPS_ENDPOINT");
  CHECK(Settings::make({}, 0)->fips);
  environment.set("AWS_USE_FIPS_ENDPOINT", "1");  // not taken for false
  CHECK(Settings::make({}, 0).problem().text == "AWS_USE_FIPS_ENDPOINT '1' is neither true nor false");
  environment.set("AWS_USE_FIPS_ENDPOINT", "true");
  environment.set("AWS_REGION", "cn-north-1");
  CHECK(Settings::make({}, 0).problem().text == "AWS_USE_FIPS_ENDPOINT: the region cn-north-1 has no FIPS endpoints");
}

TEST_CASE("s3: Requester Pays is a signed header of each request, if requested") {
  const AwsEnvironment environment;
  S3Server server({"--requester-pays", "bucket"});
  server.put("key", "content");
  const auto refused = Client(server.settings()).ask(get("key"));
  REQUIRE_FALSE(refused);
  CHECK(refused.problem().kind == ProblemKind::access_denied);
  RemoteOptions options;
  options.requester_pays = true;
  (void)server.log();
  const auto paid = Client(server.settings(options)).ask(get("key"));
  REQUIRE(paid);
  CHECK(paid->body == "content");
  const auto log = server.log();
  REQUIRE(log.size() == 1);
  CHECK(log[0]["headers"]["x-amz-request-payer"] == "requester");
  CHECK(log[0]["headers"]["authorization"].get<std::string>().find("x-amz-request-payer") != std::string::npos);
}
