// SPDX-License-Identifier: Apache-2.0
#include "s3/http.hpp"
#include "text/nearest.hpp"
#include "text/trim.hpp"

#include <curl/curl.h>

#include <array>
#include <csignal>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <new>
#include <semaphore>
#include <utility>

#include <smd/version.hpp>

namespace smd::detail::storage::s3 {
namespace {

constexpr std::size_t most_error_body = std::size_t{64} << 10;
constexpr std::size_t most_headers = 100;
constexpr unsigned most_header_lines = 1000;  ///< A server that sends more is assumed to be malicious.

template <auto Free>
struct FreedBy {
  void operator()(auto* pointer) const noexcept { Free(pointer); }
};
using Easy = std::unique_ptr<CURL, FreedBy<curl_easy_cleanup>>;

/// A request in progress, on the stack of the thread that waits for it.
struct Job {
  const HttpRequest* request = nullptr;
  HttpResponse response;
  Easy easy;
  std::unique_ptr<curl_slist, FreedBy<curl_slist_free_all>> headers;
  std::array<char, CURL_ERROR_SIZE> error{};
  bool enough = false;  ///< The required bytes have arrived; the rest is not waited for.
  unsigned header_lines = 0;
  std::binary_semaphore done{0};
};

/// Copies the part of a piece of the body that belongs to `into`.
void fill(Job& job, const char* data, std::size_t size) {
  const std::span<std::byte> into = job.request->into;
  const std::uint64_t skip = job.response.status == 200 ? job.request->skip : 0;
  const std::uint64_t begin = job.response.received;
  const std::uint64_t from = std::max(begin, skip);
  const std::uint64_t to = std::min<std::uint64_t>(begin + size, skip + into.size());
  if (from < to) {
    std::memcpy(into.data() + (from - skip), data + (from - begin), to - from);
    job.response.into_bytes = to - skip;
  }
}

std::size_t take_body(char* data, std::size_t one, std::size_t count, void* context) {
  Job& job = *static_cast<Job*>(context);
  const std::size_t size = one * count;
  HttpResponse& response = job.response;
  try {
    if (response.status == 0) {
      curl_easy_getinfo(job.easy.get(), CURLINFO_RESPONSE_CODE, &response.status);
    }
    if (response.status != 200 && response.status != 206) {
      response.body.append(data, std::min(size, most_error_body - response.body.size()));
      job.enough = response.body.size() == most_error_body;  // the body might not end
    } else if (!job.request->into.empty()) {
      fill(job, data, size);
      job.enough = response.status == 200 && response.received + size > job.request->skip + job.request->into.size();
      if (response.status == 206 && response.received + size > job.request->into.size()) {
        response.trouble = Trouble::too_long;
      }
    } else if (size > job.request->most || response.received > job.request->most - size) {
      response.trouble = Trouble::too_long;
    } else {
      response.body.append(data, size);
    }
  } catch (const std::bad_alloc&) {
    response.trouble = Trouble::internal;
  }
  response.received += size;
  return job.enough || response.trouble != Trouble::none ? 0 : size;
}

std::size_t take_header(char* data, std::size_t one, std::size_t count, void* context) {
  Job& job = *static_cast<Job*>(context);
  const std::string_view line(data, one * count);
  if (++job.header_lines > most_header_lines) {
    return 0;
  }
  if (line.starts_with("HTTP/")) {  // a further answer, after one with status 100
    job.response.headers.clear();
    return line.size();
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos || job.response.headers.size() >= most_headers) {
    return line.size();
  }
  try {
    const std::string_view value = text::trimmed(line.substr(colon + 1));
    job.response.headers.push_back({detail::folded(line.substr(0, colon)), std::string(value)});
  } catch (const std::bad_alloc&) {
    job.response.trouble = Trouble::internal;
    return 0;
  }
  return line.size();
}

/// Of the codes that mean something else than a broken connection.
constexpr std::pair<CURLcode, Trouble> troubles[] = {
    {CURLE_COULDNT_RESOLVE_HOST, Trouble::resolve}, {CURLE_COULDNT_RESOLVE_PROXY, Trouble::resolve},
    {CURLE_COULDNT_CONNECT, Trouble::connect},      {CURLE_OPERATION_TIMEDOUT, Trouble::stalled},
    {CURLE_PEER_FAILED_VERIFICATION, Trouble::tls}, {CURLE_SSL_CACERT_BADFILE, Trouble::tls},
    {CURLE_SSL_CERTPROBLEM, Trouble::tls},          {CURLE_SSL_CIPHER, Trouble::tls},
    {CURLE_SSL_ISSUER_ERROR, Trouble::tls},         {CURLE_SSL_INVALIDCERTSTATUS, Trouble::tls},
    {CURLE_SSL_ENGINE_INITFAILED, Trouble::tls},    {CURLE_USE_SSL_FAILED, Trouble::tls},
    {CURLE_OUT_OF_MEMORY, Trouble::internal},       {CURLE_FAILED_INIT, Trouble::internal}};

Trouble trouble_of(CURLcode code) noexcept {
  const auto* const known = std::ranges::find(troubles, code, &std::pair<CURLcode, Trouble>::first);
  return known == std::end(troubles) ? Trouble::broken : known->second;
}

/// Removes the environment's proxy from a text: libcurl quotes it, with the password, if it cannot parse it.
std::string without_proxy(std::string_view text) {
  const bool quotes = text.find("proxy") != text.npos && text.find('\'') != text.npos;
  return quotes ? std::string(text.substr(0, text.find('\''))) + "the one in the environment" : std::string(text);
}

}  // namespace

std::string_view HttpResponse::header(std::string_view name) const noexcept {
  const auto found = std::ranges::find(headers.rbegin(), headers.rend(), name, &HttpHeader::name);
  return found == headers.rend() ? std::string_view() : found->value;
}

/// The thread, and the state that it shares with callers.
class HttpPool::Loop {
 public:
  Loop(unsigned in_flight, std::string ca_file)
      : most_(std::max(in_flight, 1U)), limit_(most_), ca_file_(std::move(ca_file)) {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_ = started == CURLE_OK ? curl_multi_init() : nullptr;
    if (multi_ == nullptr) {
      return;
    }
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(most_) + 4);
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {  // perform() reports it
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Loop() {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        over_ = true;
        curl_multi_wakeup(multi_);  // before the thread can notice, and destroy what this wakes
      }
      thread_.join();
    } else if (multi_ != nullptr) {
      curl_multi_cleanup(multi_);
    }
  }

  HttpResponse perform(const HttpRequest& request) {
    Job job;
    job.request = &request;
    if (is_stopped(request.stop)) {
      job.response.trouble = Trouble::stopped;
    } else if (!thread_.joinable()) {
      job.response.trouble = Trouble::internal;
      job.response.text = "cannot start libcurl";
    } else {
      {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(&job);
      }
      curl_multi_wakeup(multi_);
      job.done.acquire();
    }
    return std::move(job.response);
  }

  void slow_down() noexcept {
    const std::lock_guard lock(mutex_);
    limit_ = std::max(limit_ / 2, 1U);
    successes_ = 0;
  }

 private:
  void run() {
    while (true) {
      if (!start_waiting()) {
        // Here, where SIGPIPE is blocked, because closing a TLS connection writes.
        idle_.clear();
        curl_multi_cleanup(multi_);
        return;
      }
      int running = 0;
      curl_multi_perform(multi_, &running);
      int left = 0;
      bool ended = false;
      while (CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
        if (message->msg == CURLMSG_DONE) {
          finish(message->easy_handle, message->data.result);
          ended = true;
        }
      }
      if (!ended) {
        const bool may_stop =
            std::ranges::any_of(running_, [](const Job* job) { return job->request->stop != nullptr; });
        curl_multi_poll(multi_, nullptr, 0, may_stop ? static_cast<int>(stop_interval.count()) : 1000, nullptr);
      }
      end_stopped();
    }
  }

  /// Ends requests that callers no longer want, including those that have not started.
  void end_stopped() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_asked_ < stop_interval) {
      return;
    }
    last_asked_ = now;
    const auto stops = [](Job* job) {
      const bool stopped = is_stopped(job->request->stop);
      job->response.trouble = stopped ? Trouble::stopped : job->response.trouble;
      return stopped;
    };
    std::vector<Job*> stopped;
    std::ranges::copy_if(running_, std::back_inserter(stopped), stops);
    for (Job* const job : stopped) {
      finish(job->easy.get(), CURLE_ABORTED_BY_CALLBACK);
    }
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](Job* job) {
      if (!stops(job)) {
        return false;
      }
      job->done.release();
      return true;
    });
  }

  /// Returns false when the loop is over.
  bool start_waiting() {
    while (true) {
      Job* job = nullptr;
      {
        const std::lock_guard lock(mutex_);
        if (over_ && running_.empty() && waiting_.empty()) {
          return false;
        }
        if (waiting_.empty() || running_.size() >= limit_) {
          return true;
        }
        job = waiting_.front();
        waiting_.pop_front();
      }
      if (start(*job)) {
        running_.push_back(job);
      } else {
        job->response.trouble = Trouble::internal;
        job->response.text = "memory ran out";
        job->done.release();
      }
    }
  }

  bool start(Job& job) {
    if (!idle_.empty()) {
      job.easy = std::move(idle_.back());
      idle_.pop_back();
      curl_easy_reset(job.easy.get());
    } else {
      job.easy.reset(curl_easy_init());
    }
    CURL* const easy = job.easy.get();
    return easy != nullptr && set_headers(job) && set_options(job) && curl_multi_add_handle(multi_, easy) == CURLM_OK;
  }

  static bool set_headers(Job& job) {
    const auto add = [&job](const std::string& line) {
      curl_slist* const longer = curl_slist_append(job.headers.get(), line.c_str());
      if (longer == nullptr) {
        return false;
      }
      (void)job.headers.release();
      job.headers.reset(longer);
      return true;
    };
    // No "Expect: 100-continue": small requests before a long body already show whether the server refuses.
    if (!add("Expect:") || !add("Accept: */*")) {
      return false;
    }
    const bool typed = std::ranges::any_of(job.request->headers,
                                           [](const HttpHeader& header) { return header.name == "content-type"; });
    if (!typed && !add("Content-Type:")) {  // otherwise libcurl declares every body a form
      return false;
    }
    return std::ranges::all_of(job.request->headers, [&](const HttpHeader& header) {
      return add(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
    });
  }

  bool set_options(Job& job) const {
    CURL* const easy = job.easy.get();
    const HttpRequest& request = *job.request;
    bool good = true;
    const auto set = [&](CURLoption option, auto value) {
      good = good && curl_easy_setopt(easy, option, value) == CURLE_OK;
    };
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    if (!ca_file_.empty()) {
      set(CURLOPT_CAINFO, ca_file_.c_str());
    }
    if (!request.via_proxy) {
      set(CURLOPT_NOPROXY, "*");
    }
    set(CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    set(CURLOPT_QUICK_EXIT, 1L);  // a request that ends early does not wait for the resolver
#endif
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.total_timeout.count()));
    set(CURLOPT_LOW_SPEED_LIMIT, 1024L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.stall_timeout.count()));
    set(CURLOPT_BUFFERSIZE, 256L << 10);
    set(CURLOPT_USERAGENT, user_agent.c_str());
    set(CURLOPT_HTTPHEADER, job.headers.get());
    set(CURLOPT_ERRORBUFFER, job.error.data());
    set(CURLOPT_WRITEFUNCTION, &take_body);
    set(CURLOPT_WRITEDATA, &job);
    set(CURLOPT_HEADERFUNCTION, &take_header);
    set(CURLOPT_HEADERDATA, &job);
    set(CURLOPT_PRIVATE, &job);
    if (request.method == "HEAD") {
      set(CURLOPT_NOBODY, 1L);
    } else if (request.method == "POST" || request.method == "PUT") {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
    }
    if (request.method != "GET" && request.method != "HEAD" && request.method != "POST") {
      set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    return good;
  }

  void finish(CURL* easy, CURLcode code) {
    Job* job = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &job);
    HttpResponse& response = job->response;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &response.status);
    curl_off_t connected = 0;
    curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connected);
    curl_multi_remove_handle(multi_, easy);
    if (response.trouble == Trouble::internal) {
      response.text = "memory ran out";
    } else if (response.trouble == Trouble::too_long) {
      response.text = "the answer is longer than it may be";
    } else if (response.trouble == Trouble::none && !job->enough && code != CURLE_OK) {
      response.trouble = code == CURLE_OPERATION_TIMEDOUT && connected == 0 ? Trouble::connect : trouble_of(code);
      response.text = job->error[0] != '\0' ? without_proxy(job->error.data()) : curl_easy_strerror(code);
    }
    std::erase(running_, job);
    {
      const std::lock_guard lock(mutex_);
      if (limit_ < most_ && response.trouble == Trouble::none && response.status < 500 && ++successes_ >= limit_) {
        ++limit_;
        successes_ = 0;
      }
    }
    idle_.push_back(std::move(job->easy));
    job->done.release();  // from here on the job belongs to its owner again
  }

  const std::string user_agent = std::string("libsmd/") + SMD_VERSION_STRING;
  const unsigned most_;
  mutable std::mutex mutex_;
  unsigned limit_;            // guarded by mutex_
  unsigned successes_ = 0;    // guarded by mutex_
  bool over_ = false;         // guarded by mutex_
  std::deque<Job*> waiting_;  // guarded by mutex_
  // Used only by the thread:
  std::string ca_file_;
  CURLM* multi_ = nullptr;
  std::vector<Job*> running_;
  std::chrono::steady_clock::time_point last_asked_{};  // when stops were last checked
  std::vector<Easy> idle_;
  std::thread thread_;
};

HttpPool::HttpPool(unsigned in_flight, std::string ca_file)
    : loop_(std::make_unique<Loop>(in_flight, std::move(ca_file))) {}
HttpPool::~HttpPool() = default;

HttpResponse HttpPool::perform(const HttpRequest& request) { return loop_->perform(request); }

void HttpPool::slow_down() noexcept { loop_->slow_down(); }

}  // namespace smd::detail::storage::s3
