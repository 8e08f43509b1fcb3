// SPDX-License-Identifier: Apache-2.0
#include "s3/scrub.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "s3/uri.hpp"
#include "text/nearest.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::string_view mark = "***";
constexpr std::size_t least_secret = 4;  ///< Shorter ones occur in any text by chance.
constexpr std::size_t signature_digits = 64;

/// Returns the ways to write a secret: unchanged, and as in a URL, with upper-case or lower-case digits.
std::vector<std::string> forms_of(std::string_view secret) {
  if (secret.size() < least_secret) {
    return {};
  }
  std::vector<std::string> forms(2, uri_encode(secret, false));
  for (std::size_t at = 0; (at = forms[1].find('%', at)) != std::string::npos; at += 3) {
    forms[1].replace(at, 3, detail::folded(forms[1].substr(at, 3)));
  }
  forms.emplace_back(secret);
  return forms;
}

}  // namespace

bool holds_secret(std::string_view text, std::string_view secret) {
  const std::vector<std::string> forms = forms_of(secret);
  return std::ranges::any_of(forms, [text](const std::string& form) { return text.find(form) != text.npos; });
}

std::string without(std::string text, std::string_view secret) {
  for (const std::string& form : forms_of(secret)) {
    for (std::size_t at = 0; (at = text.find(form, at)) != text.npos; at += mark.size()) {
      text.replace(at, form.size(), mark);
    }
  }
  return text;
}

std::string without_signatures(std::string_view text) {
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789abcdefABCDEF", at), text.size()) - at;
    const std::size_t length = std::max<std::size_t>(digits, 1);
    clean.append(digits >= signature_digits ? mark : text.substr(at, length));
    at += length;
  }
  return clean;
}

std::string without_credentials(std::string text, const Credentials& credentials) {
  for (const std::string& secret : {credentials.token, credentials.secret, credentials.key_id}) {
    text = without(std::move(text), secret);
  }
  return text;
}

std::string scrubbed(std::string text, const Credentials& credentials) {
  return without_signatures(without_credentials(std::move(text), credentials));
}

}  // namespace smd::detail::storage::s3
