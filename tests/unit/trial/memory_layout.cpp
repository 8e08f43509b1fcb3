// SPDX-License-Identifier: Apache-2.0
#include "memory_layout.hpp"

#include "wire/encode.hpp"
#include "wire/framing.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <sstream>
#include <tuple>
#include <utility>

namespace smd::test {

namespace {

namespace layout = detail::layout;
namespace storage = detail::storage;
using detail::Outcome;

constexpr std::string_view run = "run/";
constexpr std::string_view reductions = "smdebug/reductions/";
constexpr double first_time = 1000;  // a value of step S was written at 1000 + S

using Files = std::map<std::string, std::string, std::less<>>;

class MemoryFile final : public storage::File {
 public:
  explicit MemoryFile(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    const std::size_t from = std::min<std::size_t>(offset, bytes_.size());
    const std::size_t size = std::min(into.size(), bytes_.size() - from);
    std::copy_n(reinterpret_cast<const std::byte*>(bytes_.data()) + from, size, into.begin());
    return size;
  }

 private:
  std::string bytes_;
};

class MemoryStorage final : public storage::Storage {
 public:
  MemoryStorage(std::shared_ptr<Files> files, Script& script) : files_(std::move(files)), script_(script) {}

  Outcome<std::vector<storage::DirEntry>> list(std::string_view) override {
    std::vector<storage::DirEntry> entries;
    for (const auto& [name, bytes] : *files_) {
      entries.push_back({name, storage::EntryKind::file});
    }
    return entries;
  }
  bool exists(std::string_view name) override { return files_->contains(name); }
  Outcome<std::unique_ptr<storage::File>> open(std::string_view name) override {
    const auto file = files_->find(name);
    if (file == files_->end()) {
      return Problem{ProblemKind::not_found, std::string(name), {}, "no such file"};
    }
    return std::unique_ptr<storage::File>(std::make_unique<MemoryFile>(file->second));
  }
  bool read_once(std::string_view, std::uint64_t, std::span<std::byte>) override { return false; }
  Outcome<std::unique_ptr<storage::Folder>> open_folder(std::string_view name) override {
    return Problem{ProblemKind::not_found, std::string(name), {}, "there are no folders"};
  }
  std::unique_ptr<storage::Watch> watch(std::chrono::milliseconds, const storage::WatchScope&) override {
    return std::make_unique<ScriptedWatch>(script_);
  }
  [[nodiscard]] unsigned parallelism() const noexcept override { return 2; }
  [[nodiscard]] const std::string& root() const noexcept override { return root_; }

 private:
  std::shared_ptr<Files> files_;
  Script& script_;
  std::string root_ = "memory";
};

/// How far the log was read, and what it takes to go on from there.
class MemoryListing final : public layout::Listing {
 public:
  [[nodiscard]] std::string path(const layout::StepPart& file) const override {
    return "log line " + std::to_string(file.id - 1);
  }
  std::uint32_t worker_of(const std::string& name) {
    const auto known = std::find_if(workers.begin(), workers.end(), [&](const auto& other) { return *other == name; });
    const auto id = static_cast<std::uint32_t>(known - workers.begin());
    if (known == workers.end()) {
      add_worker(name);
      rank_workers();
    }
    return id;
  }

  std::size_t offset = 0;
  std::uint64_t lines = 0;
};

/// One line of the log.
struct Line {
  std::string kind;  // number, elements, record, restart, end
  std::int64_t step = 0;
  std::string worker;
  std::string name;
  int dtype = 0;
  double number = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  Shape shape;
  std::uint64_t place = 0;  // of the line in the log
};

class MemoryLayout final : public layout::Layout {
 public:
  explicit MemoryLayout(std::shared_ptr<std::size_t> lines_read) : lines_read_(std::move(lines_read)) {}

  Outcome<layout::Found> look(storage::Storage& storage, const layout::LookRequest& request,
                              const layout::Listing* before,
                              std::shared_ptr<const layout::CollectionsInfo> collections) const override {
    auto listing = before == nullptr ? std::make_shared<MemoryListing>()
                                     : std::make_shared<MemoryListing>(*static_cast<const MemoryListing*>(before));
    layout::Found found;
    std::vector<Line> lines;
    bool restarted = false;
    if (Problem problem; !read_log(storage, *listing, lines, restarted, problem)) {
      return problem;
    }
    if (before != nullptr && (restarted || request.everything) && listing->offset != 0) {
      listing->offset = listing->lines = 0;
      lines.clear();
      if (Problem problem; !read_log(storage, *listing, lines, restarted, problem)) {
        return problem;
      }
      found.afresh = true;
    }
    found.news = !lines.empty();
    found.collections = collections_of(lines, std::move(collections));
    fill(lines, *listing, found.loaded);
    found.listing = std::move(listing);
    return found;
  }
  storage::WatchScope watched() const override { return {}; }
  std::string_view record_name(std::string_view file, std::string_view stored) const noexcept override {
    return file == "records" ? stored.substr(run.size()) : stored;
  }

 private:
  /// Reads what stands after the listing's offset. A restart takes back lines from its step on; `restarted` if one was
  /// met.
  bool read_log(storage::Storage& storage, MemoryListing& listing, std::vector<Line>& lines, bool& restarted,
                Problem& problem) const {
    auto file = storage.open("log");
    if (!file) {
      problem = file.problem();
      return false;
    }
    std::string text((*file)->size() - listing.offset, '\0');
    (void)(*file)->read_at(listing.offset, std::as_writable_bytes(std::span(text)));
    text.resize(text.rfind('\n') + 1);  // a line without its end is still being written
    listing.offset += text.size();
    std::istringstream in(text);
    for (std::string one; std::getline(in, one);) {
      ++*lines_read_;
      Line line;
      std::istringstream fields(one);
      fields >> line.kind >> line.step >> line.worker >> line.name >> line.dtype >> line.number >> line.offset >>
          line.length;
      std::copy(std::istream_iterator<std::int64_t>(fields), {}, std::back_inserter(line.shape));
      line.place = listing.lines++;
      if (line.kind == "end") {
        listing.ended = true;
      } else if (line.kind == "restart") {
        std::erase_if(lines, [&](const Line& other) { return other.step >= line.step; });
        restarted = true;
      } else {
        lines.push_back(std::move(line));
      }
    }
    return true;
  }

  /// Names alone say what the collections are: `losses` has what is called a loss, `scalars` the other numbers,
  /// `gradients` what has grad in its name.
  static std::shared_ptr<const layout::CollectionsInfo> collections_of(
      const std::vector<Line>& lines, std::shared_ptr<const layout::CollectionsInfo> before) {
    auto info =
        before ? std::make_shared<layout::CollectionsInfo>(*before) : std::make_shared<layout::CollectionsInfo>();
    info->found = true;
    layout::CollectionMap::Map collections = *info->collections;
    for (const char* const name : {"losses", "scalars", "gradients"}) {
      collections[name].name = name;
    }
    const auto add = [&](const char* collection, const std::string& tensor) {
      std::vector<std::string>& names = collections[collection].tensor_names;
      if (std::find(names.begin(), names.end(), tensor) == names.end()) {
        names.insert(std::upper_bound(names.begin(), names.end(), tensor), tensor);
      }
    };
    for (const Line& line : lines) {
      const bool reduction = line.name.starts_with(reductions);
      const std::string tensor = reduction ? line.name.substr(line.name.find(run)) : line.name;
      if (tensor.find("grad") != std::string::npos) {
        add("gradients", tensor);
      } else if (tensor.ends_with("loss")) {
        add("losses", tensor);
      } else if (line.kind == "number" && !reduction) {
        add("scalars", tensor);
      }
    }
    info->collections = layout::CollectionMap(std::move(collections));
    return info;
  }

  /// The element of a number: float32, float64, or an integer.
  static std::uint64_t bits_of(Dtype dtype, double number) {
    return dtype == Dtype::float64   ? std::bit_cast<std::uint64_t>(number)
           : dtype == Dtype::float32 ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                                     : static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
  }

  /// One row for each step, worker and kind of place.
  static void fill(const std::vector<Line>& lines, MemoryListing& listing, layout::LoadedSteps& loaded) {
    std::map<std::tuple<std::int64_t, std::uint32_t, std::string>, std::vector<const Line*>> rows;
    for (const Line& line : lines) {
      rows[{line.step, listing.worker_of(line.worker), line.kind}].push_back(&line);
    }
    layout::Tables& tables = loaded.tables.emplace_back();
    for (const auto& [key, values] : rows) {
      const auto& [step, worker, kind] = key;
      layout::Payload payload;
      const ValueForm form = kind == "number"     ? ValueForm::number
                             : kind == "elements" ? ValueForm::elements
                                                  : ValueForm::record;
      payload.count = static_cast<std::uint32_t>(values.size());
      payload.wide = true;
      payload.length_form = layout::LengthForm::wide;
      payload.wall_time = first_time + static_cast<double>(step);
      layout::NameList names;
      layout::TypeList types;
      std::vector<std::uint64_t> starts;
      std::vector<std::uint64_t> lengths;
      for (const Line* const value : values) {
        names.push_back(tables.names.add(value->name));
        types.push_back({form, static_cast<Dtype>(value->dtype), value->shape});
        const bool number = form == ValueForm::number;
        starts.push_back(number ? bits_of(static_cast<Dtype>(value->dtype), value->number) : value->offset);
        lengths.push_back(number ? std::bit_cast<std::uint64_t>(payload.wall_time) : value->length);
      }
      payload.names = static_cast<std::uint32_t>(tables.name_lists.size());
      tables.name_lists.push_back(std::move(names));
      if (form != ValueForm::record) {
        payload.types = static_cast<std::uint32_t>(tables.type_lists.size());
        tables.type_lists.push_back(std::move(types));
      }
      payload.starts = tables.arena.keep(starts, true);
      payload.lengths = tables.arena.keep(lengths, true);
      layout::StepRow row;
      row.file = {step, worker, values.front()->place + 1};
      row.mode_step = step;
      row.payload = static_cast<std::uint32_t>(tables.payloads.size());
      row.event_file = tables.paths.add(kind == "number" ? "log" : kind == "elements" ? "elements" : "records");
      tables.payloads.push_back(payload);
      loaded.rows.push_back({row, 0});
    }
  }

  std::shared_ptr<std::size_t> lines_read_;
};

std::span<const std::byte> bytes_of(const std::vector<float>& values) { return std::as_bytes(std::span(values)); }

}  // namespace

void MemoryTrial::line(std::int64_t step, const std::string& name, const std::string& worker, const std::string& rest) {
  const std::size_t space = rest.find(' ');
  const std::size_t tensor = name.starts_with(reductions) ? name.find('/', reductions.size()) + 1 : 0;
  file("log") += rest.substr(0, space) + " " + std::to_string(step) + " " + worker + " " + name.substr(0, tensor) +
                 std::string(run) + name.substr(tensor) + rest.substr(space) + "\n";
}

MemoryTrial& MemoryTrial::number(std::int64_t step, const std::string& name, double value, Dtype dtype,
                                 const std::string& worker) {
  std::ostringstream rest;
  rest.precision(17);
  rest << "number " << static_cast<int>(dtype) << " " << value << " 0 0";
  line(step, name, worker, rest.str());
  return *this;
}

MemoryTrial& MemoryTrial::elements(std::int64_t step, const std::string& name, const std::vector<float>& values,
                                   Shape shape, const std::string& worker) {
  std::string& bytes = file("elements");
  bytes.append(bytes.size() % 2 == 0 ? 1 : 2, '#');  // never aligned
  std::ostringstream rest;
  rest << "elements " << static_cast<int>(Dtype::float32) << " 0 " << bytes.size() << " " << bytes_of(values).size();
  if (shape.empty()) {
    shape = {static_cast<std::int64_t>(values.size())};
  }
  for (const std::int64_t size : shape) {
    rest << " " << size;
  }
  bytes.append(reinterpret_cast<const char*>(values.data()), bytes_of(values).size());
  line(step, name, worker, rest.str());
  return *this;
}

MemoryTrial& MemoryTrial::record(std::int64_t step, const std::string& name, const std::vector<float>& values,
                                 const std::string& worker) {
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values.size())};
  std::string event;
  detail::wire::append_event(
      event,
      {.tag = name, .wall_time = first_time + static_cast<double>(step), .step = step, .mode_step = {}, .mode = {}},
      TensorView(Dtype::float32, shape, bytes_of(values)));
  std::string& bytes = file("records");
  const std::size_t start = bytes.size();
  detail::wire::append_record(bytes, std::as_bytes(std::span(event)), detail::wire::Protection::checksum);
  line(step, name, worker, "record 0 0 " + std::to_string(start) + " " + std::to_string(bytes.size() - start));
  return *this;
}

MemoryTrial& MemoryTrial::restart(std::int64_t step) {
  line(step, "-", "-", "restart 0 0 0 0");
  return *this;
}

MemoryTrial& MemoryTrial::end() {
  line(0, "-", "-", "end 0 0 0 0");
  return *this;
}

Trial MemoryTrial::open(Script& script, TrialOptions options) const {
  options.auto_refresh = false;
  return detail::TrialAccess::open(
      "memory", options,
      {.clock = &script.clock(),
       .open = [files = files_, &script](const std::string&) -> Outcome<std::unique_ptr<storage::Storage>> {
         return std::unique_ptr<storage::Storage>(std::make_unique<MemoryStorage>(files, script));
       },
       .layout = [lines_read = lines_read_]() -> std::unique_ptr<layout::Layout> {
         return std::make_unique<MemoryLayout>(lines_read);
       },
       .traits = {.name = "memory"}});
}

}  // namespace smd::test
