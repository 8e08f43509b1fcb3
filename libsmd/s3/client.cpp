// SPDX-License-Identifier: Apache-2.0
#include "s3/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "s3/scrub.hpp"
#include "storage/storage.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr int retry_cost = 5;
constexpr int timeout_cost = 10;
constexpr int slow_stalls = 15;  ///< Multiple of the usual patience.

using Codes = std::initializer_list<std::string_view>;

/// Services other than S3 throttle with status 400.
bool is_throttled(const HttpResponse& response, std::string_view code) {
  return response.status == 429 || response.status == 503 ||
         contains(
             Codes{"SlowDown", "Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded"},
             code);
}

/// Includes a body changed in transit; and S3 may report an error after status 200.
bool is_passing(const HttpResponse& response, std::string_view code) {
  return is_throttled(response, code) || response.status == 500 || response.status == 502 || response.status == 504 ||
         contains(Codes{"RequestTimeout", "InternalError", "ServiceUnavailable", "OperationAborted", "BadDigest",
                        "XAmzContentSHA256Mismatch"},
                  code);
}

constexpr std::pair<Trouble, std::string_view> words_for_troubles[] = {
    {Trouble::resolve, "the host's name cannot be resolved"},
    {Trouble::connect, "no connection to the server"},
    {Trouble::tls, "no trustworthy TLS connection"},
    {Trouble::stalled, "the server stopped answering"},
    {Trouble::broken, "the connection broke"},
    {Trouble::too_long, "the answer is longer than it may be"},
    {Trouble::stopped, "the request was stopped"},
    {Trouble::internal, "the request cannot be made"},
};

std::string_view words_for(Trouble trouble) noexcept {
  const auto* const last = std::prev(std::end(words_for_troubles));
  return std::ranges::find(words_for_troubles, last, trouble, &std::pair<Trouble, std::string_view>::first)->second;
}

/// Returns why a body is not complete; empty if it is.
std::string why_not_whole(const Ask& ask, const HttpResponse& response) {
  const auto length = parse_number(response.header("content-length"));
  if (ask.into.empty()) {
    const bool framed = length ? *length == response.received : response.header("transfer-encoding") == "chunked";
    if (response.status == 200 && ask.listed && response.received < ask.listed->size &&
        ask.listed->has_etag(response.header("etag"))) {
      return "the answer has " + std::to_string(response.received) + " bytes, and the listing says " +
             std::to_string(ask.listed->size);
    }
    return framed || ask.method == "HEAD" ? "" : "the answer does not say how long it is";
  }
  if (response.status == 200) {  // the whole object, although a part was requested
    const std::uint64_t belongs =
        length && *length > ask.offset ? std::min<std::uint64_t>(*length - ask.offset, ask.into.size()) : 0;
    return length && response.into_bytes == belongs ? "" : "the answer is not the range asked for";
  }
  const auto range = parse_content_range(response.header("content-range"));
  if (!range || !range->first || *range->first != ask.offset) {
    return "the answer is another range than the one asked for";
  }
  const std::uint64_t due = std::min<std::uint64_t>(range->total - ask.offset, ask.into.size());
  return range->last - *range->first + 1 == due && response.into_bytes == due && response.received == due
             ? ""
             : "the answer is not the whole range asked for";
}

}  // namespace

/// The state that changes from one attempt to the next.
struct Client::Turn {
  std::chrono::steady_clock::time_point end;  ///< No further attempts after this.
  std::string region;
  std::shared_ptr<const FoundCredentials> credentials;  ///< Null: unsigned requests.
  bool region_changed = false;
  bool credentials_changed = false;
  bool clock_changed = false;
};

/// What to do after an answer.
struct Client::Decision {
  enum class What : std::uint8_t { good, retry, other_region, other_credentials, other_clock, fail };
  What what = What::good;
  Problem problem = {};
  std::string short_text = {};  ///< For log messages.
  std::string region = {};
  bool throttled = false;
  int cost = retry_cost;
};

Client::Client(Settings settings)
    : settings_(std::move(settings)), pool_(settings_.in_flight, settings_.ca_file), credentials_({pool_, settings_}) {}

void Client::say(LogLevel detail, const std::string& text) {
  if (settings_.log) {
    const std::lock_guard lock(log_mutex_);
    settings_.log(detail, text);
  }
}

std::string Client::region_of(const std::string& bucket) {
  const std::lock_guard lock(mutex_);
  const auto known = regions_.find(bucket);
  return known == regions_.end() ? settings_.region : known->second;
}

std::string Client::url_of(const Ask& ask) const {
  return ask.service == "s3" ? "s3://" + ask.bucket + "/" + ask.key : ask.endpoint->host;
}

std::string Client::scrub_server_text(std::string text) {
  const auto credentials = credentials_.current();
  return credentials ? scrubbed(std::move(text), credentials->credentials) : without_signatures(text);
}

bool Client::repeats_secrets(std::string_view body) {
  const auto credentials = credentials_.current();
  return credentials &&
         (holds_secret(body, credentials->credentials.secret) || holds_secret(body, credentials->credentials.token));
}

/// Returns the parts of the server's error that may be shown.
ErrorReply Client::error_of(const HttpResponse& response, const Turn& turn) const {
  constexpr std::size_t longest_message = 500;
  constexpr std::size_t longest_word = 100;  // of codes and ids
  ErrorReply error = parse_error(response);
  if (turn.credentials) {
    const Credentials& credentials = turn.credentials->credentials;
    for (std::string* const text : {&error.code, &error.message, &error.request_id}) {
      *text = scrubbed(std::move(*text), credentials);
    }
    if (without_credentials(error.region, credentials) != error.region) {
      error.region.clear();
    }
  }
  // Shortened last, so that no part of a secret remains.
  error.message = error.message.substr(0, longest_message);
  error.code = error.code.substr(0, longest_word);
  error.request_id = error.request_id.substr(0, longest_word);
  return error;
}

HttpResponse Client::send(const Ask& ask, const Turn& turn) {
  const std::optional<Endpoint>& endpoint = ask.endpoint ? ask.endpoint : settings_.endpoint;
  const bool tls = !endpoint || endpoint->tls;
  const Address address = ask.endpoint ? Address{endpoint->host, endpoint->base + "/"}
                          : endpoint   ? own_address(*endpoint, ask.bucket)
                                       : aws_address(ask.bucket, turn.region, settings_.fips);
  Signable call{ask.method,  address.host, address.path + uri_encode(ask.key, true), canonical_query(ask.query),
                ask.headers, ask.body};
  if (settings_.requester_pays && ask.service == "s3") {
    call.headers.push_back({"x-amz-request-payer", "requester"});
  }
  if (!ask.into.empty()) {
    call.headers.push_back(
        {"range", "bytes=" + std::to_string(ask.offset) + "-" + std::to_string(ask.offset + ask.into.size() - 1)});
  }
  if (turn.credentials) {
    sign(call, turn.credentials->credentials, turn.region, ask.service,
         std::chrono::system_clock::now() + std::chrono::seconds(clock_offset_.load()));
  }
  HttpRequest request = static_cast<const HttpRequest&>(ask);
  request.url = (tls ? "https://" : "http://") + call.host + call.path + (call.query.empty() ? "" : "?" + call.query);
  request.headers = std::move(call.headers);
  request.skip = ask.offset;
  request.connect_timeout = settings_.patience.connect;
  request.stall_timeout = settings_.patience.stall * (ask.slow_answer ? slow_stalls : 1);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(turn.end - std::chrono::steady_clock::now());
  request.total_timeout = std::max(left, std::chrono::milliseconds(1));
  HttpResponse response = pool_.perform(request);
  if (settings_.log) {
    std::string text = ask.method + " " + url_of(ask);
    for (const auto& [name, value] : ask.query) {
      text += &name == &ask.query.front().first ? "?" : "&";
      text += name;
      text += "=";
      text += name == "continuation-token" ? without_signatures(value) : value;  // from the server
    }
    text += ask.into.empty() ? "" : " from byte " + std::to_string(ask.offset);
    text += response.trouble == Trouble::none
                ? ": " + std::to_string(response.status) + ", " + std::to_string(response.received) + " bytes"
                : ": " + (response.text.empty() ? std::string(words_for(response.trouble)) : response.text);
    if (turn.credentials) {
      text = without_credentials(std::move(text), turn.credentials->credentials);
    }
    say(LogLevel::debug, text);
  }
  return response;
}

Client::Decision Client::decide(const Ask& ask, const Turn& turn, const HttpResponse& response) const {
  using What = Decision::What;
  const auto network = [&](std::string text) { return Problem{ProblemKind::network, ask.file, {}, std::move(text)}; };
  if (response.trouble == Trouble::stopped) {
    return {What::fail, stopped_problem(ask.file)};
  }
  if (response.trouble == Trouble::internal) {
    return {What::fail, {ProblemKind::io, ask.file, {}, response.text}};
  }
  if (response.trouble == Trouble::too_long && ask.into.empty()) {
    Problem problem = too_long(ask.file, ask.most);
    if (ask.key.empty()) {
      problem.kind = ProblemKind::network;  // a listing is the server's, not the trial's
    }
    return {What::fail, std::move(problem)};
  }
  if (response.trouble != Trouble::none) {
    std::string text = std::string(words_for(response.trouble)) + " (" +
                       (turn.credentials ? scrubbed(response.text, turn.credentials->credentials) : response.text) +
                       ")";
    if (response.trouble == Trouble::tls) {
      return {What::fail, network(text + "; certificates of one's own go into AWS_CA_BUNDLE")};
    }
    const bool timeout = response.trouble == Trouble::stalled || response.trouble == Trouble::connect;
    return {What::retry, network(text), text, {}, false, timeout ? timeout_cost : retry_cost};
  }
  switch (response.status) {
    case 200:
    case 206:
      if (std::string text = why_not_whole(ask, response); !text.empty()) {
        return {What::retry, network(text), text};
      }
      // For slow calls S3 sends status 200 before it knows the outcome.
      return ask.slow_answer && !error_of(response, turn).code.empty() ? decide_refusal(ask, turn, response)
                                                                       : Decision{};
    case 204:
    case 304:
    case 412:
    case 416:
      return {};
    default:
      return decide_refusal(ask, turn, response);
  }
}

Client::Decision Client::decide_refusal(const Ask& ask, const Turn& turn, const HttpResponse& response) const {
  using What = Decision::What;
  const ErrorReply error = error_of(response, turn);
  const std::string& code = error.code;
  const std::string who = turn.credentials ? turn.credentials->where : std::string("nobody");
  std::string what = std::to_string(response.status) + (code.empty() ? "" : " " + printable(code));
  const std::string reference = error.request_id.empty() ? "" : ", request " + printable(error.request_id);
  const auto problem = [&](ProblemKind kind, std::string text) {
    return Problem{kind, ask.file, {}, std::move(text) + " (" + what + reference + ")"};
  };
  const auto denied = [&](std::string text) { return problem(ProblemKind::access_denied, std::move(text)); };
  const std::string message = error.message.empty() ? "" : ": " + printable(error.message);

  if (is_passing(response, code)) {
    const bool throttled = is_throttled(response, code);
    std::string text = throttled ? "the server asks for fewer requests and still refuses after " +
                                       std::to_string(settings_.attempts) + " attempts"
                                 : "the server is in trouble" + message;
    return {What::retry, problem(ProblemKind::network, std::move(text)), what, {}, throttled};
  }
  if (response.status == 404 && ask.service == "s3") {
    if (code == "NoSuchBucket") {
      return {What::fail, problem(ProblemKind::not_found, "there is no bucket " + in_quotes(ask.bucket))};
    }
    return {};
  }
  const bool moved = response.status == 301 || response.status == 307 || code == "AuthorizationHeaderMalformed";
  const bool elsewhere =
      moved || code == "IllegalLocationConstraintException" || response.status == 403 || response.status == 400;
  if (elsewhere && !error.region.empty() && error.region != turn.region && !turn.region_changed) {
    return {What::other_region, denied("the bucket is in another region"), what, error.region};
  }
  if (moved) {
    return {What::fail, denied("the bucket is in another region than " + in_quotes(turn.region) +
                               ", and the server does not say in which; give --region" + message)};
  }
  if (code == "RequestTimeTooSkewed") {
    return {turn.clock_changed ? What::fail : What::other_clock,
            denied("this machine's clock and the server's are too far apart; set the clock")};
  }
  if (!turn.credentials && (response.status == 401 || response.status == 403)) {
    return {What::fail, denied("access is denied to unsigned requests; without --no-sign-request, credentials are "
                               "sent")};
  }
  const What retry = turn.credentials_changed ? What::fail : What::other_credentials;
  if (code == "ExpiredToken" || code == "ExpiredTokenException") {
    return {retry, denied("the credentials of " + who + " have expired; get new ones")};
  }
  if (code == "InvalidAccessKeyId" || code == "UnrecognizedClientException") {
    return {retry, denied("the access key of " + who + " is not known to the server")};
  }
  if (code == "SignatureDoesNotMatch" || code == "InvalidSignatureException") {
    return {retry, denied("the secret key of " + who + " does not belong to its access key")};
  }
  if (code == "InvalidToken" || code == "TokenRefreshRequired") {
    return {retry, denied("the session token of " + who + " is not valid")};
  }
  if (response.status == 401 || response.status == 403 || code == "AccessDeniedException") {
    return {retry, denied("access is denied to the credentials of " + who +
                          (code == "AccessDenied" ? std::string() : message))};
  }
  return {What::fail, problem(ProblemKind::network, "the server refuses" + message)};
}

bool Client::take_tokens(int cost) {
  const std::lock_guard lock(mutex_);
  const bool enough = tokens_ >= cost;
  tokens_ -= enough ? cost : 0;
  return enough;
}

/// Waits before the next attempt. Returns false if there should not be one.
bool Client::wait_for_retry(const Ask& ask, const Turn& turn, unsigned attempt, Decision& decision,
                            const HttpResponse& response) {
  const auto now = std::chrono::steady_clock::now();
  if (now >= turn.end) {
    const auto total = std::chrono::duration_cast<std::chrono::seconds>(ask.total.value_or(settings_.patience.total));
    decision.problem.text +=
        "; a request may take " + std::to_string(total.count()) + " s with all its attempts, and did";
    return false;
  }
  if (attempt >= settings_.attempts) {
    return false;
  }
  if (!take_tokens(decision.cost)) {
    say(LogLevel::info, url_of(ask) + ": " + decision.short_text + "; too much fails, so it is not tried again");
    return false;
  }
  if (decision.throttled) {
    pool_.slow_down();
  }
  std::chrono::milliseconds pause = random_pause(settings_.patience, attempt);
  if (const auto seconds = parse_number(response.header("retry-after"))) {
    pause = std::min<std::chrono::milliseconds>(
        std::chrono::seconds(static_cast<std::int64_t>(std::min<std::uint64_t>(*seconds, 1000))),
        settings_.patience.most_pause);
  }
  say(LogLevel::info, ask.method + " " + url_of(ask) + ": " + decision.short_text + "; attempt " +
                          std::to_string(attempt + 1) + " of " + std::to_string(settings_.attempts) + " in " +
                          std::to_string(pause.count()) + " ms");
  sleep_until(std::min(now + pause, turn.end), ask.stop);
  return true;
}

/// Changes the region, the clock or the credentials for the next attempt, as decided. Returns false if it cannot.
bool Client::change(const Ask& ask, Turn& turn, const Decision& decision, const HttpResponse& response) {
  if (decision.what == Decision::What::other_region) {
    turn.region_changed = true;
    turn.region = decision.region;
    say(LogLevel::info, "bucket '" + ask.bucket + "' is in the region " + decision.region);
    const std::lock_guard lock(mutex_);
    regions_[ask.bucket] = decision.region;
    return true;
  }
  if (decision.what == Decision::What::other_clock) {
    turn.clock_changed = true;
    const auto date = parse_http_date(response.header("date"));
    if (!date) {
      return false;
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    clock_offset_ = *date - std::chrono::duration_cast<std::chrono::seconds>(now).count();
    say(LogLevel::info, "this machine's clock is " + std::to_string(-clock_offset_.load()) +
                            " s ahead of the server's; requests are dated by the server's");
    return true;
  }
  if (decision.what != Decision::What::other_credentials || !turn.credentials) {
    return false;
  }
  turn.credentials_changed = true;
  const auto other = credentials_.other_than(*turn.credentials, ask.stop);
  if (!other || *other == nullptr) {
    return false;
  }
  turn.credentials = *other;
  say(LogLevel::info, "the credentials were refused; fresh ones of " + turn.credentials->where + " are tried");
  return true;
}

Outcome<HttpResponse> Client::ask(const Ask& ask) {
  Turn turn;
  turn.end = std::chrono::steady_clock::now() + ask.total.value_or(settings_.patience.total);
  turn.region = ask.service == "s3" ? region_of(ask.bucket) : settings_.region;
  if (settings_.sign) {
    auto found = credentials_.get(ask.stop);
    if (is_stopped(ask.stop)) {
      return stopped_problem(ask.file);
    }
    if (!found) {
      return in_file(std::move(found.problem()), ask.file);
    }
    turn.credentials = *found;
  }
  for (unsigned attempt = 1;;) {
    HttpResponse response = send(ask, turn);
    Decision decision = decide(ask, turn, response);
    if (decision.what == Decision::What::good) {
      const std::lock_guard lock(mutex_);
      tokens_ = std::min(tokens_ + (attempt > 1 ? retry_cost : 1), retry_tokens);
      return response;
    }
    if (decision.what == Decision::What::retry) {
      if (!wait_for_retry(ask, turn, attempt, decision, response)) {
        return std::move(decision.problem);
      }
      ++attempt;
    } else if (!change(ask, turn, decision, response)) {
      return is_stopped(ask.stop) ? stopped_problem(ask.file) : std::move(decision.problem);
    }
  }
}

std::shared_ptr<Client> shared_client(Settings settings) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Client>> clients;
  const std::string endpoint = settings.endpoint ? settings.endpoint->host + settings.endpoint->base : std::string();
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", endpoint, settings.region, settings.profile_name,
                  settings.ca_file, settings.cache, settings.in_flight, settings.attempts, settings.sign,
                  settings.profile_by_option, settings.requester_pays, settings.fips);
  const std::lock_guard lock(mutex);
  std::shared_ptr<Client> client = clients[key].lock();
  if (!client) {
    client = std::make_shared<Client>(std::move(settings));
    clients[key] = client;
  }
  return client;
}

}  // namespace smd::detail::storage::s3
