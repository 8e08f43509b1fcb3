// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// All limits that the library guarantees. Input beyond one is reported, mostly with the limit's name: as damaged, a
/// pattern as refused, a request as a network error, a search as a warning. The size of an allocation never depends
/// only on a number in a file.
namespace smd::limits {

inline constexpr std::uint64_t record_bytes = (std::uint64_t{1} << 31) - 1;  ///< One event record's payload.
inline constexpr std::uint64_t event_bytes = std::uint64_t{64} << 20;        ///< Of one record of a log, in memory.
inline constexpr std::uint64_t searched_bytes = std::uint64_t{16} << 20;     ///< Searched after a damaged length.
inline constexpr std::uint64_t refuted_bytes = std::uint64_t{256} << 20;     ///< Payloads found damaged in searching.
inline constexpr int protobuf_depth = 100;                                   ///< Nested messages and groups.
inline constexpr std::size_t dimensions = 64;                                ///< Axes of a tensor.
inline constexpr std::uint64_t repeated_value_bytes = std::uint64_t{64} << 20;  ///< Elements equal to the last stored.
/// Limit of the bytes that are inflated more than once while a compressed file is open: this many times its content, or
/// `inflated_again_bytes` if that is more.
inline constexpr std::uint64_t inflated_passes = 32;
inline constexpr std::uint64_t inflated_again_bytes = std::uint64_t{4} << 30;
/// One JSON document, or one line of JSON lines or of a list.
inline constexpr std::uint64_t json_bytes = std::uint64_t{256} << 20;
inline constexpr std::size_t json_depth = 64;                            ///< Nested objects and arrays.
inline constexpr std::size_t row_bytes = std::size_t{16} << 20;          ///< One row or line of a metric log.
inline constexpr std::size_t name_bytes = std::size_t{64} << 10;         ///< Tensor, worker, collection name.
inline constexpr std::uint64_t safetensors_header_bytes = 100'000'000;   ///< The format's own limit.
inline constexpr std::size_t safetensors_tensors = 250'000;              ///< Tensors of one safetensors file.
inline constexpr std::uint64_t pickle_bytes = std::uint64_t{256} << 20;  ///< The pickle of a PyTorch file.
inline constexpr std::size_t pickle_nodes = 20'000'000;                  ///< Values of a pickle, except small integers.
inline constexpr std::size_t pickle_items = 100'000'000;   ///< Items of all its tuples, lists and mappings.
inline constexpr std::size_t pickle_stack = 1'000'000;     ///< Values that wait for their container.
inline constexpr std::size_t pickle_globals = 100'000;     ///< Different names of functions and classes in a pickle.
inline constexpr std::size_t pickle_depth = 200;           ///< Containers within each other.
inline constexpr std::size_t pytorch_tensors = 2'000'000;  ///< Tensors of one PyTorch file.
/// The directory of a PyTorch file, whose entries are its tensors' storages.
inline constexpr std::uint64_t archive_directory_bytes = std::uint64_t{256} << 20;
/// A tensor of a PyTorch file that repeats elements of its storage.
inline constexpr std::uint64_t expanded_bytes = std::uint64_t{64} << 30;
inline constexpr std::size_t problems_per_file = 100;                ///< Problems of one kind kept for one file.
inline constexpr std::size_t problems_per_trial = 10'000;            ///< Problems of one kind kept for one trial.
inline constexpr std::size_t searched_folders = 100'000;             ///< Folders that a search for trials visits.
inline constexpr std::size_t searched_names = 1'000'000;             ///< Names in these folders.
inline constexpr std::size_t other_values = 10'000;                  ///< Values in a trial's files that are no tensors.
inline constexpr std::size_t pattern_bytes = std::size_t{64} << 10;  ///< One regular expression.
inline constexpr std::uint32_t pattern_match_steps = 1'000'000;      ///< Matching a pattern with one name.
inline constexpr std::uint64_t pattern_question_steps = 1'000'000'000;  ///< All patterns of a query, over all names.
inline constexpr std::uint64_t pattern_trial_steps = 50'000'000;        ///< All patterns of a trial's collections,
inline constexpr std::uint64_t pattern_trial_steps_of_name = 500;       ///< plus this many for each name.
inline constexpr std::uint32_t pattern_heap_kib = 64 * 1024;            ///< PCRE2 heap limit, KiB.
inline constexpr std::size_t pattern_jit_stack = std::size_t{8} << 20;  ///< PCRE2 JIT stack, bytes.
inline constexpr unsigned listing_pages = 10'000;                       ///< Pages of one listing on S3.
inline constexpr unsigned request_seconds = 900;                        ///< Duration of one request to S3, with all
                                                                        ///< attempts.
inline constexpr std::size_t profile_chain = 16;                        ///< AWS profiles linked by source_profile.
inline constexpr std::uint64_t cache_bytes = std::uint64_t{1} << 30;    ///< Total size of a cache folder's content.
inline constexpr std::uint64_t padded_text_bytes = std::uint64_t{64} << 20;  ///< A text array for NumPy, if padded.
inline constexpr std::uint64_t unpacked_bytes = std::uint64_t{1} << 30;      ///< Compressed members of an archive,
                                                                             ///< inflated.
inline constexpr int open_files = 16;                                        ///< Local files open at once.

}  // namespace smd::limits
