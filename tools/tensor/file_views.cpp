// SPDX-License-Identifier: Apache-2.0
// raw, and -o DIR/ with npy and raw.
#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "npz_writer.hpp"
#include "text/ascii.hpp"
#include "value_view.hpp"

#include <boost/filesystem/operations.hpp>

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace smd::tool::tensor {

namespace {

/// raw: the elements' bytes and nothing else; several values of numbers follow one another. A single string is written
/// as its content: a saved picture becomes a picture file. Several strings of one value are each preceded by their
/// length in 4 bytes; those of several values would be one file of which nothing can be told apart.
class RawView : public ValueView {
 public:
  explicit RawView(ViewContext context) : out_(context.out) {
    if (context.several_trials) {
      one_.emplace("-f raw of several trials", instead);
    }
  }

  [[nodiscard]] bool plans() const override { return true; }
  void announce(const ValueKey& key) override {
    if (one_) {
      one_->announce(key);
    } else if (values_.empty()) {
      values_ = value_name(key);
    } else if (!several_) {
      values_ += " and " + value_name(key) + " of " + single_quoted(key.worker);
      several_ = true;
    }
  }

  void show(const ValueKey&, const TensorValue& value) override {
    if (value.dtype() == Dtype::string) {
      refuse_if(several_ || std::exchange(any_strings_, true),
                "-f raw shows the strings of one value only" + (values_.empty() ? "" : ", and there are " + values_) +
                    ": " + std::string(instead));
      const std::vector<std::string_view> texts = strings(value.view());
      if (texts.size() == 1) {
        out_.write(texts.front());
        return;
      }
    }
    out_.write(value.bytes());  // of several strings, each after its length
  }
  void end_step() override { out_.flush(); }
  [[nodiscard]] bool streams() const override { return true; }
  void show_blocks(Extent& value) override {
    (void)value.for_each_block([this](std::span<const std::byte> bytes) { out_.write(bytes); });
  }

 private:
  static constexpr std::string_view instead = "-o DIR/ writes each to a file; or choose one by name, -s and -w";

  OutputFile& out_;
  std::optional<OneValue> one_;
  std::string values_;  // the first two announced
  bool several_ = false;
  bool any_strings_ = false;
};

/// Keeps letters, digits and `._-` but a leading point; other bytes are %XX.
std::string file_name_of(std::string_view text) {
  std::string name;
  for (const char byte : text) {
    const bool kept = text::is_alphanumeric(byte) || byte == '_' || byte == '-' || (byte == '.' && !name.empty());
    name += kept ? std::string(1, byte) : percent_encoded(byte);
  }
  return name;
}

/// Returns what a file of these bytes is called; of text only if they are a string's.
std::string_view extension_of(std::string_view bytes, bool string) {
  if (const std::string_view media = media_extension(bytes); !media.empty()) {
    return media;
  }
  return string && valid_utf8(bytes) ? "txt" : "bin";
}

/// -o DIR/: a file for each value, or for each of several strings. All lie in DIR itself, whatever the tensors' names,
/// and each appears when it is whole.
class FolderView : public ValueView {
 public:
  explicit FolderView(ViewContext context) : context_(context) {}

  [[nodiscard]] bool plans() const override { return true; }

  void announce(const ValueKey& key) override {
    const auto [last, first] = last_step_.try_emplace({key.trial, key.tensor}, key.step);
    if (!first && std::exchange(last->second, key.step) == key.step) {
      several_workers_.insert(key.tensor);
    }
    keys_.push_back(key);
  }

  void show(const ValueKey& key, const TensorValue& value) override {
    if (stems_.empty()) {
      make_stems();
    }
    const std::string stem = stem_of(key);
    const bool raw = context_.options.output.format == "raw";
    if (raw && value.dtype() == Dtype::string) {
      const std::vector<std::string_view> texts = strings(value.view());
      for (std::size_t i = 0; i < texts.size(); ++i) {
        write(stem + (texts.size() > 1 ? "-" + std::to_string(i) : std::string()), extension_of(texts[i], true),
              [&](OutputFile& out) { out.write(std::as_bytes(std::span(texts[i]))); });
      }
      return;
    }
    const std::string_view bytes(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
    write(stem, raw ? extension_of(bytes, false) : "npy", [&](OutputFile& out) {
      const ViewContext context{out, context_.options, context_.messages};
      (raw ? make_raw_view(context) : make_npy_view(context))->show(key, value);
    });
  }

 private:
  [[nodiscard]] std::string stem_of(const ValueKey& key) const {
    const std::string stem = file_name_of(key.tensor) + "@" + std::to_string(key.step.value);
    return several_workers_.contains(key.tensor) ? stem + "@" + file_name_of(key.worker) : stem;
  }

  /// Refuses values that would have one name, before anything is written.
  void make_stems() {
    for (const ValueKey& key : keys_) {
      refuse_if(!stems_.insert(stem_of(key)).second, "-o " + *context_.options.folder +
                                                         ": two values would be called " + single_quoted(stem_of(key)) +
                                                         ": choose one" + (key.trial.empty() ? "" : " trial"));
    }
    boost::system::error_code error;
    if (!boost::filesystem::create_directories(*context_.options.folder, error) && error) {
      throw OutputError(single_quoted(*context_.options.folder) + ": " + error.message());
    }
  }

  template <class Write>
  void write(const std::string& stem, std::string_view extension, const Write& write_to) const {
    OutputFile file = OutputFile::file(*context_.options.folder + stem + "." + std::string(extension), false);
    write_to(file);
    file.close();
  }

  ViewContext context_;
  std::map<std::pair<std::string_view, std::string_view>, GlobalStep> last_step_;  // by trial and tensor
  std::set<std::string_view> several_workers_;  // tensors of which several workers saved a value at one step
  std::vector<ValueKey> keys_;
  std::set<std::string> stems_;
};

}  // namespace

std::unique_ptr<ValueView> make_raw_view(ViewContext context) { return std::make_unique<RawView>(context); }
std::unique_ptr<ValueView> make_folder_view(ViewContext context) { return std::make_unique<FolderView>(context); }

}  // namespace smd::tool::tensor
