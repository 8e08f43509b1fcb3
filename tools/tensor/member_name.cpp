// SPDX-License-Identifier: Apache-2.0
#include "member_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cli/text.hpp"

namespace smd::tool::tensor {

namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

void append_encoded(std::string& out, char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  out += '%';
  out += digits[value >> 4U];
  out += digits[value & 0xFU];
}

/// Whether Windows takes a file of that name, with any extension, for a device.
bool is_device(std::string_view part) {
  std::string stem = lower(part.substr(0, part.find('.')));
  stem.erase(stem.find_last_not_of(' ') + 1);
  constexpr std::array<std::string_view, 6> devices = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  return std::find(devices.begin(), devices.end(), stem) != devices.end() ||
         (stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] >= '0' && stem[3] <= '9');
}

/// Which bytes of a name must be encoded.
class Marks {
 public:
  explicit Marks(std::string_view name) : name_(name), encoded_(name.size(), 0) {
    mark_characters();
    for (std::size_t start = 0; start <= name_.size();) {
      const std::size_t end = std::min(name_.find('/', start), name_.size());
      mark_part(start, end);
      start = end + 1;
    }
    if (name_.size() > 1 && name_[1] == ':' && is_letter(name_[0])) {
      encoded_[1] = 1;
    }
  }

  enum class Letters : std::uint8_t { as_they_are, upper_encoded, all_encoded };

  [[nodiscard]] std::string text(Letters letters) const {
    std::string out;
    for (std::size_t i = 0; i < name_.size(); ++i) {
      const bool by_case = (letters == Letters::upper_encoded && is_upper(name_[i])) ||
                           (letters == Letters::all_encoded && is_letter(name_[i]));
      if (encoded_[i] != 0 || by_case) {
        append_encoded(out, name_[i]);
      } else {
        out += name_[i];
      }
    }
    return out;
  }

 private:
  void mark_characters() {
    for (std::size_t at = 0; at < name_.size();) {
      const DecodedCharacter point = decode_utf8(name_.substr(at));
      const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
      const bool special =
          point.value < 0x80 && std::string_view("%\\\"*<>?|").find(name_[at]) != std::string_view::npos;
      if (!point.valid || control || special) {
        std::fill_n(encoded_.begin() + static_cast<std::ptrdiff_t>(at), point.size, 1);
      }
      at += point.size;
    }
  }

  /// Marks a part between slashes; the last one is the array's own file, to which `.npy` is added.
  void mark_part(std::size_t start, std::size_t end) {
    const std::string_view part = name_.substr(start, end - start);
    const bool is_folder = end < name_.size();
    if (part.empty() && is_folder) {
      encoded_[end] = 1;
    } else if (part == "." || part == "..") {
      std::fill_n(encoded_.begin() + static_cast<std::ptrdiff_t>(start), part.size(), 1);
    } else if (is_device(part)) {
      encoded_[start] = 1;
    }
    if (is_folder && (part.ends_with('.') || part.ends_with(' '))) {
      encoded_[end - 1] = 1;
    }
  }

  std::string_view name_;
  std::string encoded_;  // 1: written %XX
};

}  // namespace

std::optional<std::string> MemberNames::add(std::string_view array) {
  if (!arrays_.emplace(array).second) {
    return std::nullopt;
  }
  const Marks marks(array);
  using Letters = Marks::Letters;
  std::string member;
  for (const Letters letters : {Letters::as_they_are, Letters::upper_encoded, Letters::all_encoded}) {
    member = marks.text(letters);
    if (folded_.insert(lower(member)).second) {
      break;  // the last one is unique, since all its letters are encoded
    }
  }
  return member;
}

}  // namespace smd::tool::tensor
