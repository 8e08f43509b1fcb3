// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>
#include <smd/reduction.hpp>
#include <smd/step.hpp>

#include "text/pattern.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smd::detail::hook {

/// What to save of one tensor at one step.
struct Plan {
  bool raw = false;
  bool shape = false;
  std::vector<std::string> reductions;  ///< Plain names, each once.
  bool scalar = false;                  ///< A collection of numbers has it.
  std::string histogram_collection;     ///< Under which TensorBoard shows its histogram; empty: none.

  [[nodiscard]] bool nothing() const noexcept { return !raw && !shape && reductions.empty(); }
};

/// @throws InvalidArgument for a tensor's name that is not UTF-8, or too long.
void check_name(std::string_view name);

/// The collections of a hook: who is in which, and which are saved when.
class Collections {
 public:
  /// @throws InvalidArgument.
  explicit Collections(const HookConfig& config);
  /// Puts a collection in the place of the one of that name, if any, and saves it. A hook that was told nothing saves
  /// everything no more. Before the first `plan` of which something came. @throws InvalidArgument; nothing is changed.
  void replace(CollectionConfig own);

  /// From here on, the answers are for this step.
  void set_step(Mode mode, std::int64_t mode_step);
  /// What is saved of a tensor at this step, as a member of `also` too. Valid until the next call.
  /// @throws MatchLimit for a pattern that takes too long on this name.
  const Plan& plan(std::string_view name, const std::vector<std::string>& also);

  /// Adds what an earlier run of this worker left.
  void merge(const std::map<std::string, Collection>& earlier);
  /// As the collections file has them: with the names of the tensors that were planned.
  [[nodiscard]] std::map<std::string, Collection> content() const;
  /// Whether the collections have changed since this was last asked; at first they have.
  [[nodiscard]] bool changed() noexcept;

 private:
  struct Entry {
    Collection config;  // complete: every setting resolved; but names stand in `names`
    std::set<std::string, std::less<>> names;
    std::vector<Pattern> patterns;
    bool included = false;
    bool saved_now = false;
    bool own_reductions = false;  // configured for it, not the hook's
  };

  std::size_t find_or_add(const std::string& name);
  void resolve(Entry& entry) const;
  void update(Entry& entry) const;
  /// After names or patterns of entries have changed.
  void index_entries();
  /// Entries that a tensor belongs to, by names and patterns.
  std::vector<std::size_t>& members(std::string_view name);
  [[nodiscard]] bool matches(Entry& entry, std::string_view name, MatchBudget& budget) const;

  SaveConfig save_config_;
  bool save_histogram_;
  ReductionConfig reduction_config_;
  bool everything_ = false;    // all collections are saved
  bool told_nothing_ = false;  // which is why
  Mode mode_ = Mode::global;
  std::int64_t mode_step_ = 0;
  bool some_saved_now_ = false;
  bool changed_ = true;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
  };
  using EntriesByName = std::unordered_map<std::string, std::vector<std::size_t>, Hash, std::equal_to<>>;
  EntriesByName named_;                     // entries that name a tensor
  std::vector<std::size_t> with_patterns_;  // entries, ascending
  EntriesByName members_;
  Plan plan_;
};

}  // namespace smd::detail::hook
