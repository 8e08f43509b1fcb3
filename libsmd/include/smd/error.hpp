// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/step.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd {

/// Base class of everything the library throws. `what()` is one line for people, without the tag. The classes have the
/// names of the reference API, and details as fields. Writing and rules have more: see hook.hpp and evaluator.hpp.
class SMD_EXPORT Error : public std::runtime_error {
 public:
  Error(std::string_view tag, const std::string& message) : std::runtime_error(message), tag_(tag) {}
  ~Error() override;

  /// Returns the stable name of the kind of error, as messages show it: `TensorUnavailable`, `NotFound`, ….
  [[nodiscard]] std::string_view tag() const noexcept { return tag_; }

 private:
  std::string_view tag_;  // always a string literal
};

/// A file, a record or a path could not be read or is not valid. The tag is that of the problem's kind.
class SMD_EXPORT ReadError : public Error {
 public:
  explicit ReadError(Problem in_problem)
      : Error(to_string(in_problem.kind), to_string(in_problem)), problem(std::move(in_problem)) {}
  ~ReadError() override;

  Problem problem;
};

/// An argument is not valid: a pattern that does not compile, a name or path that is empty or too long.
class SMD_EXPORT InvalidArgument : public Error {
 public:
  explicit InvalidArgument(const std::string& message) : Error("Usage", message) {}
  ~InvalidArgument() override;
};

/// A pattern needed more steps or memory than the limits in docs/security.md allow. Different from "no match".
class SMD_EXPORT MatchLimit : public InvalidArgument {
 public:
  MatchLimit(const std::string& message, std::string in_pattern)
      : InvalidArgument(message), pattern(std::move(in_pattern)) {}
  ~MatchLimit() override;

  std::string pattern;
};

/// The trial has no tensor of that name.
class SMD_EXPORT TensorUnavailable : public Error {
 public:
  TensorUnavailable(const std::string& message, std::string in_tensor, std::vector<std::string> in_nearest)
      : Error("TensorUnavailable", message), tensor(std::move(in_tensor)), nearest(std::move(in_nearest)) {}
  ~TensorUnavailable() override;

  std::string tensor;
  std::vector<std::string> nearest;  ///< Up to three saved names that are similar, best first.
};

/// The tensor, or its value, was not saved at that step, or its event file is not there. If that file may still come,
/// the tag is `StepNotYetAvailable`: the job is running, and has saved nothing later.
class SMD_EXPORT TensorUnavailableForStep : public Error {
 public:
  TensorUnavailableForStep(const std::string& message, std::string in_tensor, StepKey in_step,
                           std::vector<std::string> in_saved, std::optional<Problem> in_missing = {})
      : Error(
            in_missing && in_missing->kind == ProblemKind::not_yet ? "StepNotYetAvailable" : "TensorUnavailableForStep",
            message),
        tensor(std::move(in_tensor)),
        step(in_step),
        saved(std::move(in_saved)),
        missing(std::move(in_missing)) {}
  ~TensorUnavailableForStep() override;

  std::string tensor;
  StepKey step;
  std::vector<std::string> saved;  ///< Reductions saved instead (`abs_mean`, …), and `shape`.
  std::optional<Problem> missing;  ///< Set if the value was saved, but its event file is missing.
};

/// The step was skipped, or the job ended before it (then it is the derived class NoMoreData).
class SMD_EXPORT StepUnavailable : public Error {
 public:
  StepUnavailable(const std::string& message, StepKey in_step) : StepUnavailable("StepUnavailable", message, in_step) {}
  ~StepUnavailable() override;

  StepKey step;

 protected:
  StepUnavailable(std::string_view tag, const std::string& message, StepKey in_step)
      : Error(tag, message), step(in_step) {}
};

/// The job is running, so the step may still become available.
class SMD_EXPORT StepNotYetAvailable : public Error {
 public:
  StepNotYetAvailable(const std::string& message, StepKey in_step)
      : Error("StepNotYetAvailable", message), step(in_step) {}
  ~StepNotYetAvailable() override;

  StepKey step;
};

/// The job has ended, and its last step is before the requested one.
class SMD_EXPORT NoMoreData : public StepUnavailable {
 public:
  NoMoreData(const std::string& message, StepKey in_step, std::int64_t in_last_step = -1)
      : StepUnavailable("NoMoreData", message, in_step), last_step(in_last_step) {}
  ~NoMoreData() override;

  /// The last step that was saved in the mode; -1 if no step was saved, or the exception was made without it.
  std::int64_t last_step;
};

/// The path contains no trial (the message says what there is instead), or one whose job has saved nothing yet.
class SMD_EXPORT MissingCollectionFiles : public Error {
 public:
  MissingCollectionFiles(const std::string& message, std::string in_path, bool in_ended)
      : Error("MissingCollectionFiles", message), path(std::move(in_path)), ended(in_ended) {}
  ~MissingCollectionFiles() override;

  std::string path;
  bool ended;  ///< Waiting does not help: the job has ended, or several trials lie below the path.
};

/// The worker did not save the tensor at this step, or does not exist.
class SMD_EXPORT InvalidWorker : public Error {
 public:
  InvalidWorker(const std::string& message, std::string in_worker, std::vector<std::string> in_workers)
      : Error("InvalidWorker", message), worker(std::move(in_worker)), workers(std::move(in_workers)) {}
  ~InvalidWorker() override;

  std::string worker;
  std::vector<std::string> workers;  ///< Workers that did save it.
};

/// An index file is damaged. Thrown only if `TrialOptions::strict` is set; otherwise see `Trial::problems`.
class SMD_EXPORT IndexReaderException : public Error {
 public:
  explicit IndexReaderException(Problem in_problem)
      : Error("IndexReaderException", to_string(in_problem)), problem(std::move(in_problem)) {}
  ~IndexReaderException() override;

  Problem problem;
};

}  // namespace smd
