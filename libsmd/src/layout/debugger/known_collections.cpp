// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/known_collections.hpp"

#include "layout/debugger/collections_file.hpp"
#include "layout/debugger/collections_union.hpp"
#include "types/problem_list.hpp"

#include <smd/limits.hpp>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace smd::detail::layout {

namespace {

constexpr std::size_t most_kept = std::size_t{64} << 10;  // bytes of text, which stay in memory

struct LastText {
  std::string text;
  std::shared_ptr<const KnownCollections> content;
};

/// The last text that was a collections file. Each thread may replace it.
class LastTextHolder {
 public:
  [[nodiscard]] std::shared_ptr<const LastText> get() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  void set(std::shared_ptr<const LastText> last) {
    const std::lock_guard lock(mutex_);
    last_.swap(last);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const LastText> last_;
};

}  // namespace

Outcome<std::shared_ptr<const KnownCollections>> known_collections(std::span<const std::byte> text) {
  static LastTextHolder holder;
  const std::string_view characters(reinterpret_cast<const char*>(text.data()), text.size());
  if (const auto last = holder.get(); last && last->text == characters) {
    return last->content;
  }
  ProblemList notes(limits::problems_per_file);
  auto file = parse_collections_file(text, notes);
  if (!file) {
    return std::move(file.problem());
  }
  CollectionsUnion united;
  united.add(std::move(file->collections));
  auto content = std::make_shared<KnownCollections>();
  content->collections = CollectionMap(united.take());
  content->num_workers = file->num_workers;
  content->notes = notes.all();
  if (text.size() <= most_kept) {
    holder.set(std::make_shared<const LastText>(LastText{std::string(characters), content}));
  }
  return std::shared_ptr<const KnownCollections>(std::move(content));
}

}  // namespace smd::detail::layout
