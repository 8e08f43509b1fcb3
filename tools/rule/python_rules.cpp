// SPDX-License-Identifier: Apache-2.0
#include "python_rules.hpp"

#include <smd/rule_registry.hpp>
#include <smd/snapshot.hpp>

#include "cli/exit_status.hpp"
#include "cli/interruption.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "command_group.hpp"
#include "follow/following.hpp"
#include "record.hpp"
#include "text/json.hpp"

#include <nlohmann/json.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

namespace smd::tool::rule {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int socket_of_child = 3;
constexpr int no_module = 77;  // the status of `program` without the module
constexpr const char* program =
    "import sys\n"
    "try:\n"
    "  from smd._rule_child import main\n"
    "except ModuleNotFoundError as error:\n"
    "  sys.exit(77 if error.name.split('.')[0] == 'smd' else error)\n"
    "main(3)\n";
constexpr std::string_view how_to_install =
    ": install the packages python3 and python3-smd, or name another with --python-command";

}  // namespace

/// The process, or why there is none.
class PythonRules::Process {
 public:
  Process(std::string command, std::chrono::nanoseconds timeout, Diagnostics& messages)
      : command_(std::move(command)), timeout_(timeout), messages_(messages) {}
  ~Process() { stop(); }

  /// Asks for something, and returns the reply. @throws ConfigurationError of kind exception, also if there is no
  /// process; ReadError of kind stopped if a signal ends the command.
  nlohmann::json ask(const nlohmann::json& request) {
    const std::lock_guard lock(mutex_);
    if (child_ == 0 && failure_.empty()) {
      start();
    }
    nlohmann::json reply;
    if (!failure_.empty() || !exchange(request, reply)) {
      throw ConfigurationError(ConfigurationErrorKind::exception, failure_);
    }
    if (reply.contains("error")) {
      std::istringstream lines(reply["traceback"].get<std::string>());
      for (std::string line; std::getline(lines, line);) {
        messages_.info(line);
      }
      throw ConfigurationError(ConfigurationErrorKind::exception, reply["error"].get<std::string>());
    }
    return reply;
  }

  /// Ends the process.
  void stop() {
    const std::lock_guard lock(mutex_);
    end(std::chrono::seconds(1));
    failure_ = failure_.empty() ? "the evaluation is over" : failure_;
  }

  [[nodiscard]] std::uint64_t next_number() noexcept { return ++number_; }

 private:
  void start() {
    std::array<int, 2> ends = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      failure_ = std::generic_category().message(errno);
      return;
    }
    socket_ = ends[0];
    // No folder that happens to be the current one brings modules.
    const int error =
        start_group({command_, "-c", program}, {"PYTHONSAFEPATH=1"}, {{ends[1], socket_of_child}}, child_);
    close(ends[1]);
    if (error != 0) {
      child_ = 0;
      fail_missing(" cannot be started (" + std::generic_category().message(error) + ")");
    }
  }

  void fail_missing(const std::string& what) {
    failure_ = command_ + what + std::string(how_to_install);
    messages_.raise(ExitStatus::unreadable);
  }

  /// Waits for the process after its socket is closed, and returns how it ended.
  CommandEnd end(std::chrono::nanoseconds patience) {
    if (socket_ >= 0) {
      close(std::exchange(socket_, -1));
    }
    return child_ > 0 ? wait_for_command(std::exchange(child_, -1), patience, [] { return false; }) : CommandEnd();
  }

  void fail_ended() {
    const CommandEnd how = end(std::chrono::seconds(1));
    if (WIFEXITED(how.status) && WEXITSTATUS(how.status) == no_module) {
      fail_missing(" has no module smd");
      return;
    }
    failure_ = WIFSIGNALED(how.status)
                   ? std::string("the Python process was ended by a signal: ") + strsignal(WTERMSIG(how.status))
                   : "the Python process ended with status " + std::to_string(WEXITSTATUS(how.status));
  }

  /// Returns whether there is a reply; else `failure_` is set.
  bool exchange(const nlohmann::json& request, nlohmann::json& reply) {
    const auto deadline = Clock::now() + timeout_;
    std::string text = text::json_text(request) + "\n";
    for (std::string_view left = text; !left.empty();) {
      const ssize_t sent = send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EINTR) {
        fail_ended();
        return false;
      }
      left.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    text.clear();
    std::array<char, 65536> block;
    while (text.empty() || text.back() != '\n') {
      pollfd readable = {socket_, POLLIN, 0};
      if (poll(&readable, 1, 50) <= 0) {
        if (interrupted()) {
          (void)end({});
          failure_ = "smd-rule had to end";
          throw ReadError({ProblemKind::stopped, {}, {}, failure_});
        }
        if (Clock::now() >= deadline) {
          (void)end({});
          failure_ = "the Python process gave no answer within " + duration_text(timeout_) +
                     " (--trigger-timeout) and was ended";
          return false;
        }
        continue;
      }
      const ssize_t got = recv(socket_, block.data(), block.size(), 0);
      if (got == 0 || (got < 0 && errno != EINTR)) {
        fail_ended();
        return false;
      }
      text.append(block.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    }
    text::JsonDocument<nlohmann::json> parsed;
    if (text::parse_json(text, parsed)) {
      failure_ = "the Python process gave an answer that is not JSON";
      return false;
    }
    reply = std::move(*parsed);
    return true;
  }

  const std::string command_;
  const std::chrono::nanoseconds timeout_;
  Diagnostics& messages_;
  std::atomic<std::uint64_t> number_ = 0;
  std::mutex mutex_;  // guards all below: the process does one thing at a time
  pid_t child_ = 0;   // -1: it has ended
  int socket_ = -1;
  std::string failure_;
};

namespace {

using Process = PythonRules::Process;

nlohmann::json place_of(const Trial& trial) {
  const TrialOptions options = TrialSnapshot::last(trial).options();
  constexpr std::array<const char*, 3> superseded = {"left_out", "only", "included"};
  nlohmann::json given = {{"name", trial.name()},
                          {"jobs", options.jobs},
                          {"verify", options.verify},
                          {"as_it_stands", options.as_it_stands},
                          {"superseded", superseded.at(static_cast<std::size_t>(options.superseded))},
                          {"auto_refresh", false},
                          {"sign_requests", options.remote.sign_requests},
                          {"requester_pays", options.remote.requester_pays}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) {
      given[name] = text;
    }
  };
  add("layout", options.layout);
  add("step_name", options.step_name);
  add("endpoint_url", options.remote.endpoint_url);
  add("region", options.remote.region);
  add("profile", options.remote.profile);
  add("cache", options.remote.cache);
  return nlohmann::json::array({trial.path(), given});
}

/// A rule whose class is in the process.
class PythonRule final : public Rule {
 public:
  PythonRule(std::shared_ptr<Process> process, std::string file, std::string kind, const Parameters& parameters)
      : Rule(parameters),
        process_(std::move(process)),
        file_(std::move(file)),
        kind_(std::move(kind)),
        number_(process_->next_number()) {}

  ~PythonRule() override {
    try {
      if (started_) {
        process_->ask({"end", number_});
      }
    } catch (const std::exception&) {  // it is over in any case
    }
  }

  void begin() override {
    nlohmann::json trials = nlohmann::json::array({place_of(base_trial())});
    for (const Trial* const other : other_trials()) {
      trials.push_back(place_of(*other));
    }
    nlohmann::json given = nlohmann::json::object();
    for (const auto& [name, text] : parameters().effective()) {
      if (text && parameters().given(name) && name != other_parameter) {
        given[name] = *text;
      }
    }
    process_->ask({"start", number_, file_, kind_, trials, given});
    started_ = true;
  }

  void invoke_at_step(StepView& step) override {
    nlohmann::json reply = ask(step);
    // What another trial may still save is waited for, as it is for a `CustomRule`.
    while (reply.contains("later") && step.wait() && await(reply["later"], *step.wait())) {
      reply = ask(step);
    }
    if (reply.contains("skip")) {
      throw TensorUnavailable(reply["skip"].get<std::string>(), {}, {});
    }
    if (reply.contains("unread")) {
      throw ReadError(problem_from(reply["unread"]));
    }
    step.evaluated();
    if (reply.contains("met")) {
      constexpr double nan = std::numeric_limits<double>::quiet_NaN();
      step.trigger({.check = "condition", .value = nan, .threshold = nan, .message = reply["met"].get<std::string>()});
      if (reply.value("done", false)) {  // `end_of_rule`
        step.done();
      }
    }
  }

 private:
  nlohmann::json ask(const StepView& step) {
    // Whenever this process has looked at the trials anew, so must the rule's: steps that it knows may have grown.
    const auto last = [](const Trial* trial) { return TrialSnapshot::last(*trial); };
    std::vector<TrialSnapshot> looks = mapped(other_trials(), last);
    looks.push_back(last(&base_trial()));
    const bool news = looks != looks_;
    looks_ = std::move(looks);
    return process_->ask({"step", number_, step.step().value, news});
  }

  /// Waits for a step, `[number, mode]`, of an other trial that may still save it. Returns false if there is no such
  /// trial, or if the wait ended before.
  [[nodiscard]] bool await(const nlohmann::json& step, const WaitOptions& wait) const {
    const StepKey key(parse_mode(step[1].get<std::string>()).value_or(Mode::global),
                      ModeStep(step[0].get<std::int64_t>()));
    const auto may_come = [&](const Trial* other) {
      // Nothing marks the end of a log.
      return other->layout().marks_steps && TrialSnapshot::last(*other).state(key) == StepState::not_yet_available;
    };
    const auto other = std::ranges::find_if(other_trials(), may_come);
    try {
      return other != other_trials().end() && (*other)->wait_for_steps({&key, 1}, wait) == WaitOutcome::reached;
    } catch (const StepUnavailable&) {
      return true;  // it never comes, and the rule learns so
    }
  }

  static Problem problem_from(const nlohmann::json& json) {
    const std::optional<ProblemKind> kind = kind_by_name(json["kind"].get<std::string>(), ProblemKind::other_trial);
    Problem problem{
        kind.value_or(ProblemKind::io), json["file"].get<std::string>(), {}, json["text"].get<std::string>()};
    if (json["offset"].is_number()) {
      problem.offset = json["offset"].get<std::uint64_t>();
    }
    return problem;
  }

  std::shared_ptr<Process> process_;
  std::string file_;
  std::string kind_;
  std::uint64_t number_;
  std::vector<TrialSnapshot> looks_;  // the trials as they were at the last step that was evaluated
  bool started_ = false;
};

void register_class(const std::shared_ptr<Process>& process, const std::string& file, const std::string& kind,
                    const nlohmann::json& facts) {
  RuleDescription rule;
  rule.name = kind;
  rule.summary = facts["summary"].get<std::string>();
  rule.plugin = file;
  for (const nlohmann::json& parameter : facts["parameters"]) {
    ParameterSpec& spec = rule.parameters.emplace_back();
    spec.name = parameter["name"].get<std::string>();
    spec.help = "an argument of the class";
    spec.required = parameter["required"].get<bool>();
    if (parameter["default"].is_string()) {
      spec.default_text = parameter["default"].get<std::string>();
    }
  }
  if (!facts["other"].get<std::string>().empty()) {
    rule.other_trials = 1;
    rule.parameters.push_back({.name = std::string(other_parameter),
                               .help = "the trial to compare with",
                               .required = facts["other_required"].get<bool>()});
  }
  rule.create = [process, file, kind](const Parameters& parameters) {
    return std::make_unique<PythonRule>(process, file, kind, parameters);
  };
  register_rule(std::move(rule));
}

}  // namespace

PythonRules::PythonRules(std::string command, std::chrono::nanoseconds timeout, Diagnostics& messages)
    : process_(std::make_shared<Process>(std::move(command), timeout, messages)) {}

PythonRules::~PythonRules() { process_->stop(); }

std::vector<AddedRule> PythonRules::load(const PythonSpec& spec) {
  nlohmann::json classes;
  try {
    classes = process_->ask({"load", spec.file})["classes"];
  } catch (const ConfigurationError& error) {
    return {
        {spec.kind.empty() ? spec.file : spec.kind, ConfigurationError(error.kind, spec.file + ": " + error.what())}};
  }
  std::vector<AddedRule> added;
  std::vector<std::string> names;
  for (const auto& [name, facts] : classes.items()) {
    names.push_back(name);
    if (spec.kind.empty() || spec.kind == name) {
      register_class(process_, spec.file, name, facts);
      added.push_back({name, std::nullopt});
    }
  }
  if (added.empty()) {
    throw UsageError("--python: " + single_quoted(spec.file) + " has no class " +
                     (spec.kind.empty() ? std::string("that derives from Rule") : single_quoted(spec.kind)) +
                     did_you_mean(detail::nearest(spec.kind, names, 1)));
  }
  return added;
}

}  // namespace smd::tool::rule
