// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::hook {

/// A JSON object of a hook's configuration, with its name for messages: `hook.json: HookParameters`. Numbers and truth
/// values may also be written as strings; a key whose value is null counts as missing. Borrows the object.
class Section {
 public:
  using Keys = std::span<const std::string_view>;

  /// @throws InvalidArgument if it is not an object.
  Section(const nlohmann::json& object, std::string where);

  /// @throws InvalidArgument for a key not in `keys` whose value is not null. With `steps`, `train.save_interval` and
  /// the like are allowed too.
  void check_keys(Keys keys, bool steps) const;

  /// Returns whether the object has one of the keys that choose steps.
  [[nodiscard]] bool has_steps() const;
  /// Returns the value of a key; null if it is missing or null.
  [[nodiscard]] const nlohmann::json* find(const std::string& key) const;
  [[nodiscard]] std::string named(const std::string& key) const { return where_ + ": " + key; }

  // These return nullopt for a missing key. @throws InvalidArgument for a value of another form.
  [[nodiscard]] std::optional<std::string> text(const std::string& key) const;
  [[nodiscard]] std::optional<bool> truth(const std::string& key) const;
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& key, std::int64_t least) const;
  /// Reads strings: one with commas between them, or a JSON list.
  [[nodiscard]] std::optional<std::vector<std::string>> texts(const std::string& key) const;
  /// Reads whole numbers from 0: one, a string with commas between them, or a JSON list.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers(const std::string& key) const;

 private:
  template <class Read>
  auto read(const std::string& key, Read&& read_value) const;
  [[nodiscard]] std::int64_t number_of(const nlohmann::json& value, const std::string& key, std::int64_t least) const;

  const nlohmann::json& object_;
  std::string where_;
};

/// Returns the configuration that an empty JSON object stands for.
[[nodiscard]] HookConfig default_config(Framework framework);

/// Returns whether SageMaker runs the job: then it uploads what is saved, and writes the end marker.
[[nodiscard]] bool in_sagemaker() noexcept;

/// The prefixes of keys that choose the steps of one mode, in the order of the reference's `save_config`.
inline constexpr std::array<std::pair<Mode, std::string_view>, 4> mode_prefixes = {
    {{Mode::train, "train."}, {Mode::eval, "eval."}, {Mode::predict, "predict."}, {Mode::global, "global."}}};

}  // namespace smd::detail::hook
