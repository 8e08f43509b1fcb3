// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/trainer_state.hpp"

#include "text/json_scanner.hpp"

#include <cmath>
#include <unordered_map>
#include <utility>

namespace smd::detail::layout {

namespace {

/// Returns a natural number, also one that is written as `10.0`. Nullopt for any other number.
std::optional<std::int64_t> whole_number(const text::JsonNumber& number) noexcept {
  constexpr double exact = 9007199254740992;  // 2^53
  if (number.is_natural) {
    return number.natural <= INT64_MAX ? std::optional(static_cast<std::int64_t>(number.natural)) : std::nullopt;
  }
  return number.real >= 0 && number.real <= exact && number.real == std::floor(number.real)
             ? std::optional(static_cast<std::int64_t>(number.real))
             : std::nullopt;
}

std::string shown_name(std::string_view key) {
  constexpr std::string_view eval = "eval_";
  constexpr std::string_view test = "test_";
  return key.starts_with(eval)   ? "eval/" + std::string(key.substr(eval.size()))
         : key.starts_with(test) ? "test/" + std::string(key.substr(test.size()))
                                 : "train/" + std::string(key);
}

class LogParser {
 public:
  explicit LogParser(std::string_view json) : scanner_(json, true) {}

  Outcome<TrainerLog> parse() && {
    scanner_.enter_object();
    for (std::string_view key; scanner_.next_member(key);) {
      if (key == "log_history" && scanner_.peek() == text::JsonKind::array) {
        scanner_.enter_array();
        while (scanner_.next_item()) {
          read_entry();
        }
      } else {
        scanner_.skip();
      }
    }
    if (!scanner_.finish()) {
      return damaged(std::string("the state is not JSON: ") + scanner_.error(), scanner_.offset());
    }
    return std::move(log_);
  }

 private:
  /// Reads an entry of the log. Its step is one of its numbers, in most cases the last.
  void read_entry() {
    if (scanner_.peek() != text::JsonKind::object) {
      scanner_.skip();
      return;
    }
    const std::size_t first = log_.numbers.size();
    std::optional<std::int64_t> step;
    scanner_.enter_object();
    for (std::string_view key; scanner_.next_member(key);) {
      if (scanner_.peek() != text::JsonKind::number) {
        scanner_.skip();
        continue;
      }
      const bool is_step = key == "step";
      const std::uint32_t name = is_step ? 0 : id_of(key);
      text::JsonNumber number;
      if (!scanner_.number(number)) {
        return;
      }
      if (is_step) {
        step = whole_number(number);
      } else {
        log_.numbers.push_back({0, name, number.real});
      }
    }
    if (!step) {
      log_.numbers.resize(first);
    }
    for (std::size_t i = first; i < log_.numbers.size(); ++i) {
      log_.numbers[i].step = *step;
    }
  }

  std::uint32_t id_of(std::string_view key) {
    const auto [known, fresh] = ids_.try_emplace(std::string(key), static_cast<std::uint32_t>(log_.names.size()));
    if (fresh) {
      log_.names.push_back(shown_name(key));
    }
    return known->second;
  }

  text::JsonScanner scanner_;
  TrainerLog log_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

}  // namespace

std::optional<std::int64_t> global_step_of(std::string_view json) {
  text::JsonScanner scanner(json, true);
  scanner.enter_object();
  for (std::string_view key; scanner.next_member(key);) {
    text::JsonNumber number;
    if (key != "global_step") {
      scanner.skip();
    } else {
      // If the text ends with the number, digits may be missing.
      const bool read =
          scanner.peek() == text::JsonKind::number && scanner.number(number) && scanner.offset() < json.size();
      return read ? whole_number(number) : std::nullopt;
    }
  }
  return std::nullopt;
}

Outcome<TrainerLog> parse_trainer_log(std::string_view json) {
  if (const std::size_t bad = text::first_bad_utf8(json); bad != json.size()) {
    return damaged("the state is not UTF-8", bad);
  }
  return LogParser(json).parse();
}

}  // namespace smd::detail::layout
