// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All of libsmd's public interface.
#include <smd/collection.hpp>
#include <smd/custom_rule.hpp>
#include <smd/dtype.hpp>
#include <smd/error.hpp>
#include <smd/evaluator.hpp>
#include <smd/follow.hpp>
#include <smd/hook.hpp>
#include <smd/hook_config.hpp>
#include <smd/last_written.hpp>
#include <smd/limits.hpp>
#include <smd/log.hpp>
#include <smd/problem.hpp>
#include <smd/reduction.hpp>
#include <smd/reduction_config.hpp>
#include <smd/refresh.hpp>
#include <smd/remote.hpp>
#include <smd/rule.hpp>
#include <smd/rule_config.hpp>
#include <smd/rule_parameter.hpp>
#include <smd/rule_plugin.hpp>
#include <smd/rule_registry.hpp>
#include <smd/rule_result.hpp>
#include <smd/sagemaker.hpp>
#include <smd/save_config.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>
#include <smd/temporary_file.hpp>
#include <smd/tensor.hpp>
#include <smd/tensor_view.hpp>
#include <smd/trial.hpp>
#include <smd/version.hpp>
#include <smd/wait.hpp>
