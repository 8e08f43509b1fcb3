// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/debugger/collections_file.hpp"
#include "text/json.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::layout {

/// Builds a collections file from the events of a JSON parser (`text::read_json`). Stores nothing that it does not use,
/// so that a file takes only the memory of its collections. The last value of a repeated key counts, as in the
/// reference.
class CollectionsReader {
 public:
  void value(std::nullptr_t) { take(Scalar{}); }
  void value(bool truth) { take(Scalar{.truth = truth}); }
  void value(std::int64_t number) { take(Scalar{.number = number}); }
  void value(std::uint64_t number) {
    take(number <= INT64_MAX ? Scalar{.number = static_cast<std::int64_t>(number)} : Scalar{.other = true});
  }
  void value(double) { take(Scalar{.other = true}); }
  void value(std::string&& text) { take(Scalar{.text = &text}); }
  void key(std::string&& name);
  void open(text::JsonContainer kind);
  void close() { levels_.pop_back(); }

  /// Returns the result, if the document was valid. `nameless`: empty keys stand for names that are not Unicode.
  Outcome<CollectionsFile> finish(bool nameless, ProblemList& notes) &&;

 private:
  /// The meaning of the innermost container.
  enum class Level : std::uint8_t {
    skipped,
    root,
    collections,
    collection,
    list,
    reductions,
    modes,
    mode,
    steps,
    meta
  };

  /// A value that is not a container; null if no member is set.
  struct Scalar {
    std::optional<bool> truth = {};
    std::optional<std::int64_t> number = {};
    std::string* text = nullptr;
    bool other = false;  ///< A number that is not a 64-bit integer.

    [[nodiscard]] bool is_null() const noexcept { return !truth && !number && text == nullptr && !other; }
    /// Returns a 64-bit integer, also one that is written as a text. Nullopt for other values.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
  };

  struct TextList {
    std::vector<std::string> texts;
    std::size_t refused = 0;
    bool is_list = true;
  };

  struct Draft {
    std::optional<std::string> name;
    TextList tensor_names;
    TextList include_regex;
    std::optional<ReductionConfig> reduction_config;
    std::map<std::string, SaveConfigMode> save_config;  ///< By the mode's name as written.
    std::optional<bool> save_histogram;
  };

  [[nodiscard]] Level level() const noexcept { return levels_.back(); }
  [[nodiscard]] bool is(std::string_view name) const noexcept { return key_ == name; }
  [[nodiscard]] Level inside(bool object);
  [[nodiscard]] Level inside_collection(bool object);
  void take(const Scalar& scalar);
  void take_in_collection(const Scalar& scalar);
  void take_in_list(const Scalar& scalar);
  void take_reductions(const Scalar& scalar);
  void take_in_mode(const Scalar& scalar);
  [[nodiscard]] TextList* list_of(std::string_view name) noexcept;
  static Collection collection(std::string name, Draft&& draft, ProblemList& notes);

  std::vector<Level> levels_;
  std::string key_;
  bool is_object_ = false;
  bool has_collections_ = false;
  std::map<std::string, std::unique_ptr<Draft>> drafts_;  ///< Null: not an object.
  bool has_workers_ = false;
  std::optional<std::int64_t> workers_;

  Draft* draft_ = nullptr;  ///< Receives the next values.
  TextList* list_ = nullptr;
  std::size_t longest_ = 0;  ///< The most bytes of a text in `list_`.
  SaveConfigMode* mode_ = nullptr;
};

}  // namespace smd::detail::layout
