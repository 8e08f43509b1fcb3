// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::hook {

/// An object of a hook's configuration, and what to call it in messages: `hook.json: HookParameters`. Values may be
/// JSON's own or text; a key that is null counts as missing. Borrows the object.
class Section {
 public:
  using Keys = std::span<const std::string_view>;

  /// @throws InvalidArgument if it is not an object.
  Section(const nlohmann::json& object, std::string where);

  /// @throws InvalidArgument for any other key (with steps, `train.save_interval` and the like are allowed too).
  void check_keys(Keys keys, bool steps) const;

  /// Whether a key is about steps.
  [[nodiscard]] bool has_steps() const;
  /// The value of a key; null if it is missing or null.
  [[nodiscard]] const nlohmann::json* find(const std::string& key) const;
  [[nodiscard]] std::string named(const std::string& key) const { return where_ + ": " + key; }

  // Nothing for a missing key. @throws InvalidArgument for values that cannot be understood.
  [[nodiscard]] std::optional<std::string> text(const std::string& key) const;
  [[nodiscard]] std::optional<bool> truth(const std::string& key) const;
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& key, std::int64_t least) const;
  /// Texts separated by commas, or a JSON list of texts.
  [[nodiscard]] std::optional<std::vector<std::string>> texts(const std::string& key) const;
  /// Whole numbers from 0: one, a text with commas, or a JSON list.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers(const std::string& key) const;

 private:
  [[nodiscard]] std::int64_t number_of(const nlohmann::json& value, const std::string& key, std::int64_t least) const;

  const nlohmann::json& object_;
  std::string where_;
};

/// What a configuration is that says nothing.
[[nodiscard]] HookConfig default_config(Framework framework);

/// The beginnings of keys that are about the steps of one mode, in the order of `config_modes`: `train.`, ….
[[nodiscard]] std::span<const std::string_view> mode_prefixes() noexcept;

}  // namespace smd::detail::hook
