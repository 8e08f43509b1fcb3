// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>

// Type information and virtual tables of all classes are defined here, once, so that a `catch` in another module
// matches.
namespace smd {

Error::~Error() = default;
ReadError::~ReadError() = default;
InvalidArgument::~InvalidArgument() = default;
MatchLimit::~MatchLimit() = default;
TensorUnavailable::~TensorUnavailable() = default;
TensorUnavailableForStep::~TensorUnavailableForStep() = default;
StepUnavailable::~StepUnavailable() = default;
StepNotYetAvailable::~StepNotYetAvailable() = default;
NoMoreData::~NoMoreData() = default;
MissingCollectionFiles::~MissingCollectionFiles() = default;
InvalidWorker::~InvalidWorker() = default;
IndexReaderException::~IndexReaderException() = default;

}  // namespace smd
