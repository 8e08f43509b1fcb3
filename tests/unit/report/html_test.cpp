// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include <doctest/doctest.h>

#include <string>

#include "report/sections.hpp"

using smd::tool::report::bytes_text;
using smd::tool::report::escaped_pattern;
using smd::tool::report::grouped;
using smd::tool::report::layer_groups;
using smd::tool::report::LayerGroup;
using smd::tool::report::name_html;
using smd::tool::report::shell_word;

TEST_CASE("names are text, whatever they hold") {
  CHECK(name_html("</script><img src=x onerror='a'>") == "<bdi>&lt;/script&gt;&lt;img src=x onerror='a'&gt;</bdi>");
  CHECK(name_html("]]>\"&") == "<bdi>]]&gt;&quot;&amp;</bdi>");
  CHECK(name_html("a\xE2\x80\xAE"
                  "b") == "<bdi>a\\u{202e}b</bdi>");
  const std::string of_long = name_html(std::string(10000, 'n'));
  CHECK(of_long.find("title=\"" + std::string(10000, 'n') + "\"") != std::string::npos);
  CHECK(of_long.size() < 10400);
}

TEST_CASE("words that a shell reads back") {
  CHECK(shell_word("s3://bucket/run-1") == "s3://bucket/run-1");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("$(rm)") == "'$(rm)'");
  CHECK(shell_word("a\n'\\") == "$'a\\x0a\\'\\\\'");
}

TEST_CASE("numbers for people") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(bytes_text(1023) == "1023 bytes");
  CHECK(bytes_text(1536) == "1.5 KiB");
}

TEST_CASE("tensors are grouped by as many first parts as leave few groups") {
  std::vector<std::string> names;
  for (int block = 0; block < 30; ++block) {
    for (const std::string part : {"attention.weight", "attention.bias", "mlp.weight"}) {
      names.push_back("model.h." + std::to_string(block) + "." + part);
    }
  }
  // By block.attention and block.mlp there were 60 groups: by block there are 30.
  const std::vector<LayerGroup> groups = layer_groups(names);
  REQUIRE(groups.size() == 30);
  CHECK(groups[0].name == "model.h.0");
  CHECK(groups[0].tensors.size() == 3);
  CHECK(groups[0].by_name);

  std::vector<std::string> flat;
  for (int i = 0; i < 2000; ++i) {
    flat.push_back("t" + std::to_string(i));
  }
  const std::vector<LayerGroup> runs = layer_groups(flat);
  CHECK(runs.size() == 40);
  CHECK(!runs[0].by_name);
  CHECK(escaped_pattern("a.b[0]") == "a\\.b\\[0\\]");
}
