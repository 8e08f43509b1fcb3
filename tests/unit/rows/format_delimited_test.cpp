// SPDX-License-Identifier: Apache-2.0
#include "print_rows.hpp"

#include <doctest/doctest.h>

#include <complex>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

TEST_CASE("tsv") {
  CHECK(print(options_for("tsv")) ==
        "tensor\tsteps\tmean\tshape\tmodes\n"
        "a\\tb\t12\t0.1\t64x3x7\ttrain,eval\n"
        "\xE6\xBC\xA2\tNA\t0.3333333333333333\tscalar\t\n");
  OutputOptions options = options_for("tsv");
  options.header = false;
  options.precision = 3;
  CHECK(print(options, true, 1) == "run\ta\\tb\t12\t0.1\t64x3x7\ttrain,eval\n");
}

TEST_CASE("csv quotes a list") {
  CHECK(print(options_for("csv"), true, 1) ==
        "trial,tensor,steps,mean,shape,modes\n"
        "run,a\tb,12,0.1,64x3x7,\"train,eval\"\n");
}

TEST_CASE("long and short cells of all kinds follow one another") {
  const std::string text(5000, 'x');
  const std::vector<std::string> names = {"p,q", "r"};
  for (const char* format : {"tsv", "csv"}) {
    OutputOptions options = options_for(format);
    options.header = false;
    constexpr Column three[] = {{"a"}, {"b"}, {"c"}};
    const std::string lines = written(options, three, false, [&](RowWriter& writer) {
      writer.row({1.5, text, -7});
      writer.row({std::string_view(), smd::Half{0x3C00}, std::complex<double>(0.5, -2)});
      writer.row({true, Missing(), ListCell{names}});
    });
    CHECK(lines == (format == std::string("tsv") ? "1.5\t" + text +
                                                       "\t-7\n"
                                                       "\t1\t0.5-2j\n"
                                                       "true\tNA\tp,q,r\n"
                                                 : "1.5," + text +
                                                       ",-7\n"
                                                       "\"\",1,0.5-2j\n"
                                                       "true,NA,\"p,q,r\"\n"));
  }
}
