# SPDX-License-Identifier: Apache-2.0
"""scalars_tensorboard.py FOLDER: the peer of smd-ls on a log directory: TensorBoard's own reader, set to keep every
value. Prints the tags with their number of values."""

import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={'scalars': 0})
events.Reload()
for tag in events.Tags()['scalars']:
    print(tag, len(events.Scalars(tag)))
