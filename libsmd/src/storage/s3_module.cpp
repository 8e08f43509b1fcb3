// SPDX-License-Identifier: Apache-2.0
#include "storage/s3_module.hpp"

#include <dlfcn.h>

#include <smd/error.hpp>
#include <smd/version.hpp>

#include "text/bucket_name.hpp"
#include "text/escape.hpp"

namespace smd::detail::storage {

#ifdef SMD_WITH_S3
namespace {

Problem no_module(std::string text) { return make_problem(ProblemKind::io, std::move(text)); }

Outcome<const S3Module*> load_module() {
  Dl_info self{};
  static const char here = 0;
  const std::string leaf = "libsmd-s3.so." + std::to_string(SMD_VERSION_MAJOR);
  std::string path = leaf;
  if (::dladdr(&here, &self) != 0 && self.dli_fname != nullptr) {
    const std::string own(self.dli_fname);
    if (const std::size_t slash = own.rfind('/'); slash != own.npos) {
      path = own.substr(0, slash + 1) + leaf;
    }
  }
  // Never closed: its thread may still run after libsmd's own statics are destroyed.
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    const char* const why = ::dlerror();
    return no_module("trials on S3 need " + leaf +
                     ", which cannot be loaded: " + printable(why == nullptr ? "no reason given" : why));
  }
  const auto function = reinterpret_cast<S3ModuleFunction>(::dlsym(module, s3_module_symbol));
  const S3Module* const table = function == nullptr ? nullptr : function();
  if (table == nullptr || std::string_view(table->version) != SMD_VERSION_STRING) {
    return no_module(in_quotes(path) + " is of another version than libsmd " SMD_VERSION_STRING +
                     "; install both from one build");
  }
  return table;
}

}  // namespace

Outcome<const S3Module*> s3_module() {
  static const Outcome<const S3Module*> module = load_module();
  return module;
}
#else
Outcome<const S3Module*> s3_module() {
  throw InvalidArgument("this build is without S3; the packages have it, and a build with -DSMD_WITH_S3=ON");
}
#endif

namespace {

/// @throws InvalidArgument if the URL cannot name a trial.
void check_location(const std::string& url) {
  if (const std::string_view refused = text::refuse_location(url); !refused.empty()) {
    throw InvalidArgument(in_quotes(url) + " " + std::string(refused));
  }
}

}  // namespace

Outcome<std::unique_ptr<Storage>> open_remote(const std::string& url, const RemoteOptions& options, unsigned requests) {
  check_location(url);
  const auto module = s3_module();
  if (!module) {
    return module.problem();
  }
  if (const std::string refused = (*module)->refuse_cache(options); !refused.empty()) {
    throw InvalidArgument(refused);
  }
  return (*module)->open(url, options, requests);
}

Outcome<std::unique_ptr<RemoteWriter>> open_remote_writer(const std::string& url, const RemoteOptions& options) {
  check_location(url);
  const auto module = s3_module();
  if (!module) {
    return module.problem();
  }
  return (*module)->open_writer(url, options);
}

}  // namespace smd::detail::storage
