// SPDX-License-Identifier: Apache-2.0
#include "cli/line_file.hpp"

#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "text/limits.hpp"

#include <algorithm>
#include <boost/filesystem/operations.hpp>
#include <cerrno>
#include <system_error>

namespace smd::tool {

std::optional<LineFile> LineFile::open(const std::string& path, std::string_view what, Diagnostics& messages) {
  boost::system::error_code unknown;
  if (boost::filesystem::is_directory(path, unknown)) {
    messages.fail("ReadError", single_quoted(path) + " is a folder: --merge takes " + std::string(what),
                  ExitStatus::unreadable);
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    messages.fail(errno == ENOENT ? "NotFound" : "ReadError",
                  single_quoted(path) + ": " + std::generic_category().message(errno), ExitStatus::unreadable);
    return std::nullopt;
  }
  return LineFile(std::move(file), path);
}

bool LineFile::next(std::string& line) {
  constexpr std::size_t block_size = std::size_t{64} << 10;
  line.clear();
  offset_ = end_;
  while (true) {
    if (at_ == block_.size()) {
      block_.resize(block_size);
      file_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
      block_.resize(static_cast<std::size_t>(file_.gcount()));
      at_ = 0;
      if (block_.empty()) {
        number_ += end_ > offset_ ? 1 : 0;
        return end_ > offset_;
      }
    }
    const std::size_t newline = block_.find('\n', at_);
    const std::size_t piece = std::min(newline, block_.size()) - at_;
    if (line.size() + piece > limits::json_bytes) {
      throw UsageError(path_ + ": line " + std::to_string(number_ + 1) + " is longer than the limit (json_bytes)");
    }
    line.append(block_, at_, piece);
    const std::size_t taken = piece + (newline == std::string::npos ? 0 : 1);
    at_ += taken;
    end_ += taken;
    if (newline != std::string::npos) {
      ++number_;
      return true;
    }
  }
}

void LineFile::for_each(Diagnostics& messages, const std::function<void(const std::string& line)>& visit) {
  for (std::string line; next(line);) {
    if (!line.empty()) {
      visit(line);
    }
  }
  if (file_.bad()) {
    messages.fail("ReadError", single_quoted(path_) + ": reading failed", ExitStatus::unreadable);
  }
}

void LineFile::seek(std::uint64_t offset) {
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  block_.clear();
  at_ = 0;
  end_ = offset;
}

}  // namespace smd::tool
