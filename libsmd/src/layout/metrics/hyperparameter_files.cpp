// SPDX-License-Identifier: Apache-2.0
#include "layout/metrics/hyperparameter_files.hpp"

#include "layout/folder_walk.hpp"
#include "text/json.hpp"
#include "text/mapped.hpp"
#include "text/trim.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <span>

namespace smd::detail::layout {

namespace {

/// Returns the text of a YAML scalar, without quotes and comment. Returns nullopt if it is empty, has a tag, an anchor
/// or an alias, or does not end on this line.
std::optional<std::string> yaml_scalar(std::string_view scalar) {
  scalar = text::trimmed(scalar);
  if (scalar.empty() || contains(std::string_view("#|>!&*"), scalar.front())) {
    return std::nullopt;
  }
  const char quote = scalar.front();
  if (quote != '"' && quote != '\'') {
    return std::string(text::trimmed(scalar.substr(0, std::min(scalar.find(" #"), scalar.find("\t#")))));
  }
  std::string inside;  // of double quotes: as in JSON
  for (std::size_t at = 1; at < scalar.size(); ++at) {
    const std::string_view pair = scalar.substr(at, 2);
    if (quote == '"' && pair.size() == 2 && pair.front() == '\\') {
      inside += pair.back() == 'x' ? "\\u00" : pair;  // \xE9, as PyYAML writes what is not ASCII
      ++at;
    } else if (quote == '\'' && pair == "''") {
      inside += quote;
      ++at;
    } else if (pair.front() == quote) {
      const std::string_view behind = text::trimmed(scalar.substr(at + 1));
      if (!behind.empty() && !behind.starts_with('#')) {
        return std::nullopt;
      }
      if (quote == '\'') {
        return inside;
      }
      text::JsonDocument<nlohmann::json> document;
      return text::parse_json('"' + inside + '"', document) ? std::nullopt
                                                            : std::optional(document->get<std::string>());
    } else {
      inside += pair.front();
    }
  }
  return std::nullopt;
}

}  // namespace

void read_hyperparameters(storage::Storage& storage, Extras& extras) {
  constexpr std::size_t most = std::size_t{1} << 20;
  for (const char* const name : {"hparams.yaml", "args.yaml"}) {
    const auto first = read_first_bytes(storage, name, most);
    const auto bytes = first ? std::span(*first) : std::span<const std::byte>();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    extras.hyperparameter_records += text.empty() ? 0 : 1;
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = text::next_part(rest, "\n");
      const std::size_t next = rest.find_first_not_of(" \t");
      const bool goes_on = next != 0 && next != rest.npos && !contains(std::string_view("#\r\n"), rest[next]);
      const std::size_t colon = line.find(": ");
      const bool flat = !goes_on && colon != line.npos && !contains(std::string_view(" \t#-"), line.front());
      const auto key = flat ? yaml_scalar(line.substr(0, colon)) : std::nullopt;
      const auto value = flat ? yaml_scalar(line.substr(colon + 2)) : std::nullopt;
      if (key && value) {
        extras.hyperparameters.insert_or_assign(*key, text::json_string(*value));
      }
    }
  }
}

}  // namespace smd::detail::layout
