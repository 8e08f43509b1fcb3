// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "s3/s3_storage.hpp"
#include "s3/s3_writer.hpp"
#include "storage/remote_writer.hpp"

namespace smd::detail::storage::s3 {

/// See storage::Upload.
class S3Upload final : public Upload {
 public:
  S3Upload(std::shared_ptr<Bucket> bucket, std::string name, UploadSizes sizes);
  S3Upload(const S3Upload&) = delete;
  S3Upload& operator=(const S3Upload&) = delete;
  /// Asks the server to remove parts that were sent. If that fails, a lifecycle rule of the bucket should remove them
  /// (AbortIncompleteMultipartUpload).
  ~S3Upload() override;

  Status write(std::span<const std::byte> bytes) override;
  Status commit() override;

 private:
  [[nodiscard]] Ask ask(const char* method, Query query = {}) const;
  [[nodiscard]] Problem problem(std::string text) const;
  Status put_whole();
  Status begin_parts();
  Status send_parts();
  Status send_part(std::size_t number, std::string_view body, std::string& etag) const;
  Status complete();
  [[nodiscard]] bool is_complete() const;

  std::shared_ptr<Bucket> bucket_;
  std::string name_;
  UploadSizes sizes_;
  std::string gathered_;
  std::uint64_t sent_ = 0;
  std::string id_;                  // of the multipart upload; empty if none was started
  std::vector<std::string> etags_;  // of the parts
};

}  // namespace smd::detail::storage::s3
