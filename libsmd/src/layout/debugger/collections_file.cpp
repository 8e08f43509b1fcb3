// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/collections_file.hpp"

#include "text/escape.hpp"
#include "text/json_reader.hpp"
#include "wire/json_problem.hpp"

#include <smd/limits.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::layout {

namespace {

using text::JsonValue;

/// A list of texts, and how many of its entries are refused.
struct TextList {
  std::vector<std::string> texts;
  std::size_t refused = 0;
  bool is_list = true;
};

/// A collection whose file is not read to its end: the last value of a repeated key counts, as in the reference.
struct Draft {
  std::optional<std::string> name;
  TextList tensor_names;
  TextList include_regex;
  std::optional<ReductionConfig> reduction_config;
  std::map<Mode, SaveConfigMode> save_config;
  std::optional<bool> save_histogram;
};

/// What a file holds. Nullopt: not an object.
struct Drafts {
  std::optional<std::map<std::string, std::optional<Draft>>> collections;
  bool has_workers = false;
  std::optional<std::int64_t> workers;
};

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

std::optional<std::string> text_of(JsonValue& value) {
  const auto text = value.text();
  return text ? std::optional(std::string(*text)) : std::nullopt;
}

TextList texts_of(JsonValue& value, std::size_t longest) {
  TextList list;
  const bool is_list = value.items([&](JsonValue& item) {
    if (const auto text = item.text(); text && text->size() <= longest) {
      list.texts.emplace_back(*text);
    } else {
      ++list.refused;
    }
  });
  list.is_list = is_list || value.is_null();
  return list;
}

std::optional<ReductionConfig> reductions_of(JsonValue& value) {
  ReductionConfig config;
  const bool is_object = value.members([&](std::string_view key, JsonValue& member) {
    if (key == "save_raw_tensor") {
      config.save_raw_tensor = member.boolean().value_or(false);
    } else if (key == "save_shape") {
      config.save_shape = member.boolean().value_or(false);
    } else if (key == "reductions") {
      config.reductions = split(member.text().value_or(std::string_view()));
    }
  });
  return is_object ? std::optional(std::move(config)) : std::nullopt;
}

std::optional<SaveConfigMode> mode_config_of(JsonValue& value) {
  const SaveConfigMode fallback;
  SaveConfigMode config;
  const bool is_object = value.members([&](std::string_view key, JsonValue& member) {
    if (key == "save_interval") {
      config.save_interval = member.integer().value_or(fallback.save_interval);
    } else if (key == "start_step") {
      config.start_step = member.integer().value_or(fallback.start_step);
    } else if (key == "end_step") {
      config.end_step = member.integer();
    } else if (key == "save_steps") {
      config.save_steps.clear();
      member.items([&](JsonValue& item) {
        if (const auto step = item.integer()) {
          config.save_steps.push_back(*step);
        }
      });
    }
  });
  return is_object ? std::optional(std::move(config)) : std::nullopt;
}

std::map<Mode, SaveConfigMode> modes_of(JsonValue& value) {
  std::map<Mode, SaveConfigMode> modes;
  value.members([&](std::string_view key, JsonValue& member) {
    const auto mode = parse_mode(key);
    auto config = mode ? mode_config_of(member) : std::nullopt;
    if (config) {
      modes.insert_or_assign(*mode, std::move(*config));
    } else if (mode) {
      modes.erase(*mode);
    }
  });
  return modes;
}

std::optional<Draft> draft_of(JsonValue& value) {
  Draft draft;
  const bool is_object = value.members([&](std::string_view key, JsonValue& member) {
    if (key == "name") {
      draft.name = text_of(member);
    } else if (key == "tensor_names") {
      draft.tensor_names = texts_of(member, limits::name_bytes);
    } else if (key == "include_regex") {
      draft.include_regex = texts_of(member, limits::pattern_bytes);
    } else if (key == "reduction_config") {
      draft.reduction_config = reductions_of(member);
    } else if (key == "save_config") {
      draft.save_config = modes_of(member);
    } else if (key == "save_histogram") {
      draft.save_histogram = member.boolean();
    }
  });
  return is_object ? std::optional(std::move(draft)) : std::nullopt;
}

void read_root(Drafts& drafts, std::string_view key, JsonValue& value) {
  if (key == "collections") {
    drafts.collections.emplace();
    const bool is_object = value.members([&](std::string_view name, JsonValue& member) {
      drafts.collections->insert_or_assign(std::string(name), draft_of(member));
    });
    if (!is_object) {
      drafts.collections.reset();
    }
  } else if (key == "_meta") {
    drafts.has_workers = false;
    value.members([&](std::string_view name, JsonValue& member) {
      if (name == "num_workers") {
        drafts.has_workers = !member.is_null();
        drafts.workers = member.integer();
      }
    });
  }
}

Collection collection_of(std::string name, Draft&& draft, ProblemList& notes) {
  Collection result;
  const auto texts = [&](TextList& list, const char* key, std::size_t longest) {
    const auto note = [&](const std::string& what) {
      notes.add(damaged("collection '" + printable(name) + "': '" + key + "' " + what));
    };
    if (!list.is_list) {
      note("is not a list");
    } else if (list.refused > 0) {
      note("holds " + std::to_string(list.refused) +
           (list.refused == 1 ? " entry that is no text" : " entries that are no texts") + " of at most " +
           std::to_string(longest / 1024) + " KiB");
    }
    return std::move(list.texts);
  };
  result.tensor_names = texts(draft.tensor_names, "tensor_names", limits::name_bytes);
  std::sort(result.tensor_names.begin(), result.tensor_names.end());
  result.include_regex = texts(draft.include_regex, "include_regex", limits::pattern_bytes);
  result.reduction_config = std::move(draft.reduction_config);
  result.save_config = std::move(draft.save_config);
  result.save_histogram = draft.save_histogram;
  result.name = std::move(name);
  return result;
}

/// `nameless`: empty keys stand for names that are not Unicode.
CollectionsFile finished(Drafts&& drafts, bool nameless, ProblemList& notes) {
  CollectionsFile file;
  for (auto& [key, draft] : *drafts.collections) {
    if (nameless && key.empty()) {
      continue;
    }
    if (!draft) {
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
    Collection read = collection_of(std::move(name), std::move(*draft), notes);
    draft.reset();
    std::string own = read.name;
    file.collections.insert_or_assign(std::move(own), std::move(read));
  }
  if (drafts.has_workers) {
    file.num_workers = drafts.workers;
    if (!drafts.workers) {
      notes.add(damaged("'num_workers' is no number"));
    }
  }
  return file;
}

}  // namespace

Outcome<CollectionsFile> parse_collections_file(std::span<const std::byte> bytes, ProblemList& notes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) {
    return damaged("the file is empty", 0);
  }
  Drafts drafts;
  text::JsonReader reader({.half_pairs = true});
  const auto error = reader.read(text, [&](std::string_view key, JsonValue& value) { read_root(drafts, key, value); });
  if (error) {
    return json_problem(*error, text);
  }
  if (!drafts.collections) {
    return damaged("there is no object 'collections'");
  }
  const auto& left_out = reader.unrepresentable();
  CollectionsFile file = finished(std::move(drafts), left_out.has_value(), notes);
  const auto is_damage = [](const Problem& note) { return note.kind == ProblemKind::damaged; };
  if (left_out && std::none_of(notes.kept().begin(), notes.kept().end(), is_damage)) {
    notes.add(damaged("a text with half a surrogate pair, or a number beyond a double, is left out", *left_out));
  }
  return file;
}

}  // namespace smd::detail::layout
