// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>

#include <deque>
#include <map>
#include <string>

#include "common/diagnostics.hpp"
#include "common/reading_options.hpp"

namespace smd::tool::rule {

/// The trials that rules compare with, each opened once.
class OtherTrials {
 public:
  OtherTrials(const ReadingOptions& reading, Diagnostics& messages) : reading_(reading), messages_(messages) {}

  /// Null if it cannot be opened, which is reported once, with its status; `why` is then the reason.
  Trial* open(const std::string& path, std::string& why);
  /// Looks for what is new in all of them. @throws ReadError.
  void refresh();

 private:
  struct Other {
    Trial* trial = nullptr;
    std::string why;
  };
  const ReadingOptions& reading_;
  Diagnostics& messages_;
  std::deque<Trial> trials_;
  std::map<std::string, Other> by_path_;
};

}  // namespace smd::tool::rule
