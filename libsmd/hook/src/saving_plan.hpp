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
struct SavingPlan {
  bool raw = false;
  bool shape = false;
  std::vector<std::string> reductions = {};  ///< Plain names, each once.
  bool scalar = false;                       ///< The tensor belongs to a collection of numbers.
  std::string histogram_collection = {};     ///< TensorBoard shows the histogram under this name; empty: no histogram.

  [[nodiscard]] bool nothing() const noexcept { return !raw && !shape && reductions.empty(); }
};

/// @throws InvalidArgument for a name that is not UTF-8, or too long.
void check_name(std::string_view name);
/// @throws InvalidArgument as `check_name`, and if the name contains `smdebug/reductions/`, unless
///         `reduction_tensor_name` returns it for a name without that.
void check_tensor_name(std::string_view name);

/// The collections of a hook: which tensors belong to each, and when each is saved.
class Collections {
 public:
  /// @throws InvalidArgument.
  explicit Collections(const HookConfig& config);
  /// Adds a collection that is saved, or replaces the one of that name. A hook that saved everything because nothing
  /// was configured no longer does. Call it before the first `plan` that saves. @throws InvalidArgument; nothing is
  /// changed.
  void replace(CollectionConfig own);

  /// Later calls of `plan` are about this step.
  void set_step(Mode mode, std::int64_t mode_step);
  /// Returns what to save of a tensor at this step. The tensor counts as a member of the collections `also` too. If
  /// nothing was configured, `is_number` makes one that only `all` has, and whose name is that of a loss, a member of
  /// `losses`. Valid until the next call.
  /// @throws InvalidArgument if a collection that is saved has no members: until now the program could add them;
  ///         MatchLimit for a pattern that takes too long on this name.
  const SavingPlan& plan(std::string_view name, const std::vector<std::string>& also, bool is_number = false);
  /// Adds a number that is saved without a plan to `losses`, if its name is that of a loss and no collection has it.
  /// @throws as `plan`.
  void list_number(std::string_view name);

  /// Adds the collections that an earlier run of this worker wrote.
  void merge(const std::map<std::string, Collection>& earlier);
  /// Returns the collections as the collections file lists them: with the names of the tensors that were planned.
  [[nodiscard]] std::map<std::string, Collection> content() const;
  /// Returns whether the collections must be written: they have changed since this returned true, or it never did.
  /// Before the end, a new name does not count if a pattern of its collection matches it: readers find it by the
  /// pattern, and writing the list again for each new name would take quadratic time.
  [[nodiscard]] bool must_be_written(bool at_end) noexcept;

 private:
  struct Entry {
    Collection config;  // every setting resolved; its tensor names are in `names`
    std::set<std::string, std::less<>> names;
    std::vector<Pattern> patterns;
    bool included = false;
    bool saved_now = false;
    bool own_reductions = false;  // its own reduction_config, not the hook's
  };

  std::size_t find_or_add(const std::string& name);
  /// @throws InvalidArgument for a collection, other than `also`, that is to be saved and can have no tensors.
  void require_members(const std::vector<std::string>& also);
  void resolve(Entry& entry) const;
  void update(Entry& entry) const;
  /// Call this after names or patterns of entries have changed.
  void index_entries();
  /// Returns the indices of the entries whose names or patterns match a tensor.
  std::vector<std::size_t>& members(std::string_view name);

  SaveConfig save_config_;
  bool save_histogram_;
  ReductionConfig reduction_config_;
  bool replaces_earlier_;      // the reductions of collections that only earlier runs configured
  bool everything_ = false;    // all collections are saved
  bool told_nothing_ = false;  // everything is saved because nothing was configured
  bool have_members_ = false;  // `require_members` has returned
  Mode mode_ = Mode::global;
  std::int64_t mode_step_ = 0;
  bool some_saved_now_ = false;
  bool changed_ = true;
  bool only_listed_ = false;  // names that patterns match were added since the collections were written
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using EntriesByName = std::unordered_map<std::string, std::vector<std::size_t>, Hash, std::equal_to<>>;
  EntriesByName named_;                     // by tensor: the entries that name it
  std::vector<std::size_t> with_patterns_;  // entries, ascending
  EntriesByName members_;
  std::set<std::string, std::less<>> other_losses_;  // of `members_`: names of losses that at most `all` has
  SavingPlan plan_;
};

}  // namespace smd::detail::hook
