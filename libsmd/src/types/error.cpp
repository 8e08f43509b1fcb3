// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>

// Each class's type information and virtual table live here, once, so that a `catch` in another module finds them.
namespace smd {

Error::~Error() = default;
ReadError::~ReadError() = default;
WriteError::~WriteError() = default;
StepAlreadySaved::~StepAlreadySaved() = default;
InvalidArgument::~InvalidArgument() = default;
MatchLimit::~MatchLimit() = default;
TensorUnavailable::~TensorUnavailable() = default;
TensorUnavailableForStep::~TensorUnavailableForStep() = default;
StepUnavailable::~StepUnavailable() = default;
StepNotYetAvailable::~StepNotYetAvailable() = default;
NoMoreData::~NoMoreData() = default;
RuleEvaluationConditionMet::~RuleEvaluationConditionMet() = default;
MissingCollectionFiles::~MissingCollectionFiles() = default;
InvalidWorker::~InvalidWorker() = default;
IndexReaderException::~IndexReaderException() = default;

}  // namespace smd
