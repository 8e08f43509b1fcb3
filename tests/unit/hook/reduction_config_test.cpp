// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/hook_config.hpp>

#include "hook/src/file_text.hpp"

#include <doctest/doctest.h>

namespace smd {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("the comma-separated form") {
  CHECK(parse_reduction_config("min,abs_mean,l1,abs_l2").reductions == Names{"min", "abs_mean", "l1", "abs_l2"});
  CHECK(parse_reduction_config("l1_norm, abs_l2_norm ,l1").reductions == Names{"l1", "abs_l2"});
  CHECK(parse_reduction_config("median,abs_median").reductions == Names{"median", "abs_median"});
  CHECK(parse_reduction_config("").reductions.empty());
  CHECK(parse_reduction_config(",,").reductions.empty());
  CHECK_FALSE(parse_reduction_config("max").save_raw_tensor);
  CHECK(parse_reduction_config("max", true).save_raw_tensor);
}

TEST_CASE("names that cannot be saved") {
  CHECK_THROWS_WITH_AS((void)parse_reduction_config("min,varience"),
                       "'varience' is not a reduction that can be saved; did you mean 'variance'?", InvalidArgument);
  CHECK_THROWS_AS((void)parse_reduction_config("p99"), InvalidArgument);
  CHECK_THROWS_AS((void)parse_reduction_config("abs_abs_min"), InvalidArgument);
  CHECK_THROWS_AS((void)parse_reduction_config("mean_norm"), InvalidArgument);
}

// The order and spelling in FORMAT's example: "max,l2_norm,abs_mean".
TEST_CASE("as the reference writes them") {
  CHECK(detail::hook::reference_reduction_list({"abs_mean", "l2", "max"}) == "max,l2_norm,abs_mean");
  CHECK(detail::hook::reference_reduction_list({"abs_l1_norm", "median", "min"}) == "min,abs_l1_norm");
  CHECK(detail::hook::reference_reduction_list({}).empty());
}

}  // namespace
}  // namespace smd
