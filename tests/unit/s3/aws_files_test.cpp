// SPDX-License-Identifier: Apache-2.0
#include "s3/aws_files.hpp"

#include <doctest/doctest.h>

#include "s3_server.hpp"

using namespace smd::detail::storage::s3;

TEST_CASE("s3: the AWS files") {
  const smd::test::AwsEnvironment environment;
  const smd::test::TempDir home;
  environment.set("HOME", home.path());
  home.write(
      ".aws/config",
      "# a comment\n[default]\nregion = eu-west-1\ns3 =\n  addressing_style = path\n  region = not "
      "this\noutput=json\r\n"
      "[profile my team]\nregion=eu-west-2\n[profile \"quoted\"]\nregion = eu-west-3\n[other]\nregion = no profile\n"
      "[sso-session x]\nregion = no\n[profile both]\nregion = a\naws_access_key_id = config\n");
  home.write(
      ".aws/credentials",
      "[both]\naws_access_key_id = credentials\n; comment\n[only]\naws_access_key_id=A\n[default]\nno equals sign\n");
  const AwsFiles files = AwsFiles::load();
  CHECK(files.profile("default")->at("region") == "eu-west-1");
  CHECK(files.profile("default")->at("output") == "json");
  CHECK(files.profile("default")->count("addressing_style") == 0);
  CHECK(files.profile("my team")->at("region") == "eu-west-2");
  CHECK(files.profile("quoted")->at("region") == "eu-west-3");
  CHECK_FALSE(files.profile("other"));
  CHECK_FALSE(files.profile("x"));
  CHECK(files.profile("both")->at("region") == "a");
  CHECK(files.profile("both")->at("aws_access_key_id") == "credentials");
  CHECK(files.profile("only")->at("aws_access_key_id") == "A");
}

TEST_CASE("s3: the paths of the AWS files") {
  const smd::test::AwsEnvironment environment;
  const smd::test::TempDir home;
  environment.set("HOME", home.path());
  CHECK_FALSE(AwsFiles::load().profile("default"));
  home.write(".aws/config", "[default]\nregion = here\n");
  home.write(".aws/credentials", "[keys]\naws_access_key_id = A\n");
  CHECK(AwsFiles::load().profile("default")->at("region") == "here");
  CHECK(AwsFiles::load().profile("keys"));
  environment.set("AWS_CONFIG_FILE", home.write("elsewhere", "[profile there]\nregion = there\n"));
  CHECK_FALSE(AwsFiles::load().profile("default"));
  CHECK(AwsFiles::load().profile("there"));
}

TEST_CASE("s3: an AWS file that is too long is named") {
  const smd::test::AwsEnvironment environment;
  const smd::test::TempDir home;
  environment.set("HOME", home.path());
  const std::string line = "region = here\n# ";
  home.write(".aws/config", "[default]\n" + line + std::string((1 << 20) - 10 - line.size(), 'x'));
  CHECK(AwsFiles::load().profile("default"));  // 1 MiB is allowed
  CHECK(AwsFiles::load().unread().empty());
  const std::string config = home.write(".aws/config", "[default]\nregion = here\n# " + std::string(1 << 20, 'x'));
  CHECK_FALSE(AwsFiles::load().profile("default"));
  CHECK(AwsFiles::load().unread() == "; '" + config + "' is not used: longer than 1 MiB");
  std::vector<std::string> said;
  smd::RemoteOptions options;
  options.log = [&said](smd::LogLevel detail, std::string_view text) {
    CHECK(detail == smd::LogLevel::warning);
    said.emplace_back(text);
  };
  CHECK(Settings::make(options, 0)->region == "us-east-1");
  CHECK(said == std::vector<std::string>{"'" + config + "' is not used: longer than 1 MiB"});
  options.profile = "mine";
  CHECK(Settings::make(options, 0).problem().text ==
        "there is no profile 'mine' in the AWS config and credentials files; '" + config +
            "' is not used: longer than 1 MiB");
}
