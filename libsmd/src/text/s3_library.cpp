// SPDX-License-Identifier: Apache-2.0
#include "text/s3_library.hpp"

#include <dlfcn.h>

#include <smd/error.hpp>
#include <smd/version.hpp>

#include <string_view>

#include "text/escape.hpp"

namespace smd::text {

#ifdef SMD_WITH_S3
namespace {

/// Returns why it cannot be loaded; an empty text if `library` is set.
std::string load_s3_library(const S3Library*& library) {
  Dl_info self{};
  static const char here = 0;
  const std::string leaf = "libsmd-s3.so." + std::to_string(SMD_VERSION_MAJOR);
  std::string path = leaf;
  if (::dladdr(&here, &self) != 0 && self.dli_fname != nullptr) {
    const std::string own(self.dli_fname);
    path = own.substr(0, own.rfind('/') + 1) + leaf;
  }
  // Never closed: its thread may still run after libsmd's own statics are destroyed.
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    const char* const why = ::dlerror();
    return "S3 and SageMaker need " + leaf +
           ", which cannot be loaded: " + detail::printable(why == nullptr ? "no reason given" : why);
  }
  const auto function = reinterpret_cast<const S3Library* (*)()>(::dlsym(module, s3_library_symbol));
  const S3Library* const found = function == nullptr ? nullptr : function();
  if (found == nullptr || std::string_view(found->version) != SMD_VERSION_STRING) {
    return detail::in_quotes(path) + " is of another version than libsmd " SMD_VERSION_STRING +
           "; install both from one build";
  }
  library = found;
  return {};
}

}  // namespace

const S3Library* s3_library(std::optional<Problem>& problem) {
  static const S3Library* library = nullptr;
  static const std::string why = load_s3_library(library);
  if (library == nullptr) {
    problem = Problem{ProblemKind::io, {}, {}, why};
  }
  return library;
}
#else
const S3Library* s3_library(std::optional<Problem>&) {
  throw InvalidArgument("this build is without S3; the packages have it, and a build with -DSMD_WITH_S3=ON");
}
#endif

}  // namespace smd::text
