// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/collections_reader.hpp"

#include "text/escape.hpp"

#include <smd/limits.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace smd::detail::layout {

namespace {

/// Returns the names in a comma-separated list.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) {
      names.emplace_back(text.substr(0, comma));
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

std::string refused_texts(std::size_t refused, std::size_t longest) {
  return std::to_string(refused) + (refused == 1 ? " entry that is no text" : " entries that are no texts") +
         " of at most " + std::to_string(longest / 1024) + " KiB";
}

}  // namespace

std::optional<std::int64_t> CollectionsReader::Scalar::integer() const noexcept {
  if (text == nullptr) {
    return number;
  }
  std::int64_t parsed = 0;
  const char* const last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, parsed);
  return error == std::errc{} && end == last ? std::optional(parsed) : std::nullopt;
}

void CollectionsReader::key(std::string&& name) {
  if (level() != Level::skipped) {
    key_ = std::move(name);
  }
}

void CollectionsReader::open(text::JsonContainer kind) {
  levels_.push_back(inside(kind == text::JsonContainer::object));
}

/// Returns the level of a container that begins here. Discards the content of an earlier value of the same key.
CollectionsReader::Level CollectionsReader::inside(bool object) {
  if (levels_.empty()) {
    is_object_ = object;
    return object ? Level::root : Level::skipped;
  }
  switch (level()) {
    case Level::root:
      if (is("collections")) {
        drafts_.clear();
        has_collections_ = object;
        return object ? Level::collections : Level::skipped;
      }
      if (is("_meta")) {
        has_workers_ = false;
        return object ? Level::meta : Level::skipped;
      }
      return Level::skipped;
    case Level::collections: {
      std::unique_ptr<Draft>& draft = drafts_[key_];
      draft = object ? std::make_unique<Draft>() : nullptr;
      draft_ = draft.get();
      return object ? Level::collection : Level::skipped;
    }
    case Level::collection:
      return inside_collection(object);
    case Level::list:
      ++list_->refused;
      return Level::skipped;
    case Level::reductions:
      take_reductions({.other = true});
      return Level::skipped;
    case Level::modes:
      if (!object || !parse_mode(key_)) {
        draft_->save_config.erase(key_);
        return Level::skipped;
      }
      mode_ = &draft_->save_config.insert_or_assign(key_, SaveConfigMode{}).first->second;
      return Level::mode;
    case Level::mode:
      take_in_mode({});
      return !object && is("save_steps") ? Level::steps : Level::skipped;
    case Level::meta:
      take({.other = true});
      return Level::skipped;
    case Level::steps:
    case Level::skipped:
      break;
  }
  return Level::skipped;
}

CollectionsReader::Level CollectionsReader::inside_collection(bool object) {
  take_in_collection({.other = true});
  if (TextList* const list = list_of(key_); list != nullptr && !object) {
    *list = {};
    list_ = list;
    longest_ = list == &draft_->tensor_names ? limits::name_bytes : limits::pattern_bytes;
    return Level::list;
  }
  if (object && is("reduction_config")) {
    draft_->reduction_config.emplace();
    return Level::reductions;
  }
  return object && is("save_config") ? Level::modes : Level::skipped;
}

CollectionsReader::TextList* CollectionsReader::list_of(std::string_view name) noexcept {
  return name == "tensor_names" ? &draft_->tensor_names : name == "include_regex" ? &draft_->include_regex : nullptr;
}

void CollectionsReader::take(const Scalar& scalar) {
  if (levels_.empty()) {
    return;  // the document is not an object
  }
  switch (level()) {
    case Level::root:
      if (is("collections")) {
        drafts_.clear();
        has_collections_ = false;
      } else if (is("_meta")) {
        has_workers_ = false;
      }
      return;
    case Level::collections:
      drafts_[key_] = nullptr;
      return;
    case Level::collection:
      take_in_collection(scalar);
      return;
    case Level::list:
      take_in_list(scalar);
      return;
    case Level::reductions:
      take_reductions(scalar);
      return;
    case Level::modes:
      draft_->save_config.erase(key_);
      return;
    case Level::mode:
      take_in_mode(scalar);
      return;
    case Level::steps:
      if (const auto step = scalar.integer()) {
        mode_->save_steps.push_back(*step);
      }
      return;
    case Level::meta:
      if (is("num_workers")) {
        has_workers_ = !scalar.is_null();
        workers_ = scalar.integer();
      }
      return;
    case Level::skipped:
      return;
  }
}

/// Also called for each container, with `other` set, to discard an earlier value of the same key.
void CollectionsReader::take_in_collection(const Scalar& scalar) {
  if (is("name")) {
    draft_->name = scalar.text != nullptr ? std::optional(std::move(*scalar.text)) : std::nullopt;
  } else if (TextList* const list = list_of(key_)) {
    *list = {};
    list->is_list = scalar.is_null();
  } else if (is("reduction_config")) {
    draft_->reduction_config.reset();
  } else if (is("save_config")) {
    draft_->save_config.clear();
  } else if (is("save_histogram")) {
    draft_->save_histogram = scalar.truth;
  }
}

void CollectionsReader::take_in_list(const Scalar& scalar) {
  if (scalar.text != nullptr && scalar.text->size() <= longest_) {
    list_->texts.push_back(std::move(*scalar.text));
  } else {
    ++list_->refused;
  }
}

void CollectionsReader::take_reductions(const Scalar& scalar) {
  ReductionConfig& config = *draft_->reduction_config;
  if (is("save_raw_tensor")) {
    config.save_raw_tensor = scalar.truth.value_or(false);
  } else if (is("save_shape")) {
    config.save_shape = scalar.truth.value_or(false);
  } else if (is("reductions")) {
    config.reductions = scalar.text != nullptr ? split(*scalar.text) : std::vector<std::string>{};
  }
}

void CollectionsReader::take_in_mode(const Scalar& scalar) {
  const SaveConfigMode fallback;
  if (is("save_interval")) {
    mode_->save_interval = scalar.integer().value_or(fallback.save_interval);
  } else if (is("start_step")) {
    mode_->start_step = scalar.integer().value_or(fallback.start_step);
  } else if (is("end_step")) {
    mode_->end_step = scalar.integer();
  } else if (is("save_steps")) {
    mode_->save_steps.clear();
  }
}

Collection CollectionsReader::collection(std::string name, Draft&& draft, ProblemList& notes) {
  Collection result;
  const auto texts = [&](TextList& list, const char* key, std::size_t longest) {
    const auto note = [&](const std::string& what) {
      notes.add(damaged("collection '" + printable(name) + "': '" + key + "' " + what));
    };
    if (!list.is_list) {
      note("is not a list");
    } else if (list.refused > 0) {
      note("holds " + refused_texts(list.refused, longest));
    }
    return std::move(list.texts);
  };
  result.tensor_names = texts(draft.tensor_names, "tensor_names", limits::name_bytes);
  std::sort(result.tensor_names.begin(), result.tensor_names.end());
  result.include_regex = texts(draft.include_regex, "include_regex", limits::pattern_bytes);
  result.reduction_config = std::move(draft.reduction_config);
  for (auto& [mode, config] : draft.save_config) {
    result.save_config.emplace(*parse_mode(mode), std::move(config));
  }
  result.save_histogram = draft.save_histogram;
  result.name = std::move(name);
  return result;
}

Outcome<CollectionsFile> CollectionsReader::finish(bool nameless, ProblemList& notes) && {
  if (!is_object_) {
    return damaged("not a JSON object", 0);
  }
  if (!has_collections_) {
    return damaged("there is no object 'collections'");
  }
  CollectionsFile file;
  for (auto& [key, draft] : drafts_) {
    if (nameless && key.empty()) {
      continue;
    }
    if (draft == nullptr) {
      notes.add(damaged("collection '" + printable(key) + "' is not an object"));
      continue;
    }
    std::string name = std::move(draft->name).value_or(key);
    if (name.size() > limits::name_bytes) {
      notes.add(damaged("a collection's name is longer than 64 KiB"));
      continue;
    }
    if (name != key) {
      notes.add(
          {ProblemKind::note, {}, {}, "collection '" + printable(key) + "' calls itself '" + printable(name) + "'"});
    }
    Collection read = collection(std::move(name), std::move(*draft), notes);
    draft.reset();
    std::string own = read.name;
    file.collections.insert_or_assign(std::move(own), std::move(read));
  }
  if (has_workers_) {
    file.num_workers = workers_;
    if (!workers_) {
      notes.add(damaged("'num_workers' is no number"));
    }
  }
  return file;
}

}  // namespace smd::detail::layout
