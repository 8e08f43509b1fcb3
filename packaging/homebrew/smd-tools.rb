# SPDX-License-Identifier: Apache-2.0
# For Homebrew on Linux: put the address of your clone below, then brew install --HEAD ./packaging/homebrew/smd-tools.rb
# Not tested here: there is no Homebrew.
class SmdTools < Formula
  desc "Look into training runs from the shell"
  homepage "https://example.org/libsmd"
  license "Apache-2.0"
  head "https://example.org/libsmd.git", branch: "main"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "highway" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkgconf" => :build
  depends_on "protozero" => :build
  depends_on "boost"
  depends_on "curl"
  depends_on "fmt"
  depends_on :linux
  depends_on "openssl@3"
  depends_on "pcre2"
  depends_on "pugixml"
  depends_on "simdjson"
  depends_on "zlib"

  def install
    system "cmake", "--preset", "release", "-B", "build", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match "train/loss", shell_output("#{bin}/smd-ls #{share}/doc/smd-tools/examples/tb-logs/sick")
  end
end
