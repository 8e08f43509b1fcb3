// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"
#include "storage/s3_module.hpp"

namespace smd::detail::hook {
namespace {

/// One object, which `publish` uploads. The store then keeps it, so there is nothing to sync.
class RemoteFile final : public PendingFile {
 public:
  RemoteFile(std::unique_ptr<storage::Upload> upload, std::string file)
      : upload_(std::move(upload)), file_(std::move(file)) {}

  Status write(std::span<const std::byte> bytes) override { return named(upload_->write(bytes)); }
  Outcome<std::size_t> read_back(std::uint64_t /*offset*/, std::span<std::byte> /*into*/) override {
    return Problem{ProblemKind::io, file_, {}, "cannot be read back before it is there"};
  }
  Status sync() override { return ok(); }
  Status close() override { return ok(); }
  Status publish() override {
    Status published = named(upload_->commit());
    upload_.reset();
    return published;
  }
  Status sync_name() override { return ok(); }

 private:
  [[nodiscard]] Status named(Status status) const {
    if (!status) {
      status.problem().file = file_;
      status.problem().text = "cannot be written: " + status.problem().text;
    }
    return status;
  }

  std::unique_ptr<storage::Upload> upload_;
  std::string file_;
};

class RemoteOutput final : public Output {
 public:
  explicit RemoteOutput(std::unique_ptr<storage::RemoteWriter> writer) : writer_(std::move(writer)) {}

  Outcome<std::unique_ptr<PendingFile>> create(const std::string& name) override {
    return std::unique_ptr<PendingFile>(std::make_unique<RemoteFile>(writer_->upload(name), root() + "/" + name));
  }

  Outcome<bool> exists(const std::string& name) override {
    auto there = writer_->exists(name);
    if (!there) {
      there.problem() = located(*this, name, std::move(there.problem()));
      there.problem().text = "cannot tell whether it is there: " + there.problem().text;
    }
    return there;
  }

  /// Parts that were sent are not kept in memory, and the store cannot read them yet.
  [[nodiscard]] bool reads_back() const noexcept override { return false; }

  Outcome<std::unique_ptr<storage::File>> open(const std::string& name) override {
    return writer_->reader()->open(name);
  }

  Outcome<std::unique_ptr<storage::Storage>> reader() override { return writer_->reader(); }

  [[nodiscard]] const std::string& root() const noexcept override { return writer_->root(); }

 private:
  std::unique_ptr<storage::RemoteWriter> writer_;
};

}  // namespace

Outcome<std::unique_ptr<Output>> open_remote_output(const std::string& url, const RemoteOptions& options) {
  auto writer = storage::open_remote_writer(url, options);
  if (!writer) {
    return in_file(std::move(writer.problem()), url);
  }
  return std::unique_ptr<Output>(std::make_unique<RemoteOutput>(std::move(*writer)));
}

}  // namespace smd::detail::hook
