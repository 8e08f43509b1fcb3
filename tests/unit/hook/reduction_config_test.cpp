// SPDX-License-Identifier: Apache-2.0
#include <smd/collection.hpp>
#include <smd/error.hpp>

#include "reduce/saved_reductions.hpp"

#include <doctest/doctest.h>

namespace smd {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("the comma-separated form") {
  CHECK(ReductionConfig::parse("min,abs_mean,l1,abs_l2").reductions == Names{"min", "abs_mean", "l1", "abs_l2"});
  CHECK(ReductionConfig::parse("l1_norm, abs_l2_norm ,l1").reductions == Names{"l1", "abs_l2"});
  CHECK(ReductionConfig::parse("median,abs_median").reductions == Names{"median", "abs_median"});
  CHECK(ReductionConfig::parse("").reductions.empty());
  CHECK(ReductionConfig::parse(",,").reductions.empty());
  CHECK_FALSE(ReductionConfig::parse("max").save_raw_tensor);
  CHECK(ReductionConfig::parse("max", true).save_raw_tensor);
}

TEST_CASE("the reference's four lists") {
  const ReductionConfig config = ReductionConfig::of({"min", "variance"}, {"max"}, {"l2"}, {"l1"}, true, true);
  CHECK(config.reductions == Names{"min", "variance", "l2", "abs_max", "abs_l1"});
  CHECK(config.save_raw_tensor);
  CHECK(config.save_shape);
}

TEST_CASE("names that cannot be saved") {
  CHECK_THROWS_WITH_AS((void)ReductionConfig::parse("min,varience"),
                       "'varience' is not a reduction that can be saved; did you mean 'variance'?", InvalidArgument);
  CHECK_THROWS_AS((void)ReductionConfig::parse("p99"), InvalidArgument);
  CHECK_THROWS_AS((void)ReductionConfig::parse("abs_abs_min"), InvalidArgument);
  CHECK_THROWS_AS((void)ReductionConfig::parse("mean_norm"), InvalidArgument);
}

// The order and spelling in FORMAT's example: "max,l2_norm,abs_mean".
TEST_CASE("as the reference writes them") {
  CHECK(detail::reduce::reference_reduction_list({"abs_mean", "l2", "max"}) == "max,l2_norm,abs_mean");
  CHECK(detail::reduce::reference_reduction_list({"abs_l1_norm", "median", "min"}) == "min,abs_l1_norm");
  CHECK(detail::reduce::reference_reduction_list({}).empty());
}

}  // namespace
}  // namespace smd
