#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes arrays of NumPy's by smd-save and reads the files back by docs/format.md alone: struct, json, NumPy.

independent_reader.py SMD_SAVE RECORDED_TRIALS
"""

import io
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../support'))
from trial_reader import fields, masked, crc32c, one, read_step  # noqa: E402

save, recorded = sys.argv[1:]


def run(*arguments, stdin=b'', status=0):
    done = subprocess.run([save, *arguments], input=stdin, stderr=subprocess.PIPE)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stderr.decode()


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def same(got, expected):
    return got.dtype.newbyteorder('<') == expected.dtype.newbyteorder('<') and got.shape == expected.shape and \
        got.tobytes() == numpy.ascontiguousarray(expected.astype(expected.dtype.newbyteorder('<'))).tobytes()


def round_trips(folder):
    random = numpy.random.default_rng(5)
    arrays = {}
    for code in ('b1', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16'):
        for shape in ((), (1,), (0,), (3, 0), (2, 3), (2, 1, 4)):
            for order in '<>':
                dtype = numpy.dtype(order + code)
                raw = random.integers(0, 2 if code == 'b1' else 100, shape)
                arrays[f'{order}{code}/{"x".join(map(str, shape))}'] = numpy.asarray(raw, dtype)
    arrays['fortran'] = numpy.asfortranarray(random.standard_normal((3, 4, 5)))
    arrays['strided'] = random.standard_normal((6, 8))[::2, ::-1]
    for checksum in (False, True):
        trial = f'{folder}/round{checksum}'
        for compressed in (False, True):
            archive = f'{folder}/a{compressed}.npz'
            # A key of an archive is a file's name: keep slashes out of it.
            flat = {name.replace('/', '|'): array for name, array in arrays.items()}
            (numpy.savez_compressed if compressed else numpy.savez)(archive, **flat)
            step = 1999 + compressed
            run(trial, '--step', str(step), '--mode', 'eval', f'p=@{archive}', *(['--checksum'] if checksum else []))
            index, values = read_step(trial, step, 'worker_0', checksum)
            assert index['meta']['mode'] == 'EVAL' and index['meta']['mode_step'] == int(compressed)
            assert len(values) == len(arrays)
            for name, array in arrays.items():
                assert same(values['p/' + name.replace('/', '|')], array), name


def collections(trial):
    with open(f'{trial}/collections/000000000/worker_0_collections.json', encoding='ascii') as file:
        text = file.read()
    document = json.loads(text)
    assert json.dumps(document) == text, 'as json.dumps writes it'
    assert list(document) == ['collections', '_meta']
    return document


def shapes_and_reductions(folder):
    trial = f'{folder}/reduced'
    x = numpy.array([[1, -2.5], [4, 0.25]], '<f4')
    run(trial, '--step', '7', 'w=-', '--reduce', 'min,abs_max,l2,median', '--no-raw', '--shape', '--collection', 'mine',
        stdin=npy(x))
    index, values = read_step(trial, 7, 'worker_0', False)
    assert index['shape_payload'] == [{'tensorname': 'w', 'originalname': 'w', 'shape': [2, 2]}]
    assert {name.split('/')[2]: float(value) for name, value in values.items()} == {
        'min': -2.5, 'abs_max': 4, 'l2': float(numpy.sqrt(numpy.sum(x.astype('f8') ** 2))), 'median': 0.625}
    mine = collections(trial)['collections']['mine']
    assert mine['tensor_names'] == ['w'] and mine['reduction_config'] == {
        'save_raw_tensor': False, 'reductions': 'min,l2_norm,abs_max', 'save_shape': True}
    assert list(mine['save_config']) == ['TRAIN', 'EVAL', 'PREDICT', 'GLOBAL']
    assert not os.path.exists(f'{trial}/training_job_end.ts')
    run(trial, '--end')
    assert os.path.getsize(f'{trial}/training_job_end.ts') == 0


def names(folder):
    trial = f'{folder}/names'
    odd = ['a b', 'ü/ä', 'line\nbreak', '"quoted"', '\U0001F600', 'back\\slash', 'a=b', '=']
    run(trial, '--step', '0', *(f'{name}={i}' for i, name in enumerate(odd)))
    _, values = read_step(trial, 0, 'worker_0', False)
    assert {name: float(value) for name, value in values.items()} == {name: i for i, name in enumerate(odd)}
    run(trial, '--step', '1', '--worker', '/job:worker/task:1', '--workers', '2', 'text=-',
        stdin=npy(numpy.array(['', 'é', '\U0001F600x'])))
    _, values = read_step(trial, 1, '_job-worker_task-1', False)
    assert list(values['text']) == ['', 'é', '\U0001F600x']


def refusals(folder):
    trial = f'{folder}/refused'
    for content, why in ((b'', 'not a .npy'), (npy(numpy.arange(4))[:-1], 'do not fit'),
                         (b'\x93NUMPY\x01\x00\xff\xff{', 'ends within its header')):
        assert why in run(trial, '--step', '0', 'x=-', stdin=content, status=4), why
    for dtype in ('M8[s]', 'g', 'i4,i4', 'S3', 'O'):
        said = run(trial, '--step', '0', 'x=-', stdin=npy(numpy.zeros(1, dtype)), status=3)
        assert 'ReadError: standard input: elements of type' in said, dtype
    whole = io.BytesIO()
    numpy.savez_compressed(whole, a=numpy.arange(1000))
    data = whole.getvalue()
    for cut in range(4, len(data) - 1, 7):
        with open(f'{folder}/cut.npz', 'wb') as file:
            file.write(data[:cut])
        run(trial, '--step', '0', f'x=@{folder}/cut.npz', status=4)
    assert not os.path.exists(trial), 'nothing was made'
    run(trial, '--step', '0', f'x=@{folder}/missing.npy', status=3)


def summaries(folder):
    """(mode, step, tag) and the summary's value, of all event files for TensorBoard in a folder."""
    found = {}
    for mode in sorted(os.listdir(folder)):
        for name in sorted(os.listdir(f'{folder}/{mode}')):
            with open(f'{folder}/{mode}/{name}', 'rb') as file:
                data = file.read()
            while data:
                length, = struct.unpack('<Q', data[:8])
                payload, footer = data[12:12 + length], struct.unpack('<I', data[12 + length:16 + length])[0]
                assert struct.unpack('<I', data[8:12])[0] == masked(crc32c(data[:8])) and footer == masked(crc32c(payload))
                data = data[16 + length:]
                event = fields(payload)
                value = fields(one(fields(one(event, 5)), 1))
                found[mode, one(event, 2, 0), one(value, 1).decode()] = value
    return found


def histogram(value):
    histo = fields(one(value, 5))
    numbers = [struct.unpack('<d', one(histo, field, bytes(8)))[0] for field in range(1, 6)]
    return numbers, *(numpy.frombuffer(one(histo, field), '<f8') for field in (6, 7))


def tensorboard(folder):
    """Scalars, histograms and texts; histograms as the reference made them of the same weights."""
    config = f'{folder}/hook.json'
    with open(config, 'w', encoding='ascii') as file:
        json.dump({'HookParameters': {'save_interval': 1, 'save_all': True, 'export_tensorboard': 'true'},
                   'CollectionConfigurations': [{'CollectionName': 'weights'}]}, file)
    trial = f'{folder}/board'
    theirs = summaries(f'{recorded}/pt_tensorboard_scalars/tensorboard')
    compared = 0
    for step in (0, 4):
        _, values = read_step(f'{recorded}/pt_tensorboard_scalars', step, 'worker_0', False)
        for name, array in values.items():
            if ('TRAIN', step, f'weights/{name}') in theirs:
                run(trial, '--append', '--mode', 'train', '--step', str(step), '--config', config, f'{name}=-',
                    stdin=npy(array))
                # One process, one file: the last one stands. So look at each as it is made.
                ours = summaries(f'{trial}/tensorboard')
                tag = next(tag for mode, at, tag in ours if at == step and tag.endswith(name))
                numbers, limits, counts = histogram(ours['TRAIN', step, tag])
                their_numbers, their_limits, their_counts = histogram(theirs['TRAIN', step, f'weights/{name}'])
                assert numbers[:3] == their_numbers[:3] and numpy.allclose(numbers, their_numbers, rtol=1e-6)
                assert numpy.array_equal(limits, their_limits) and numpy.array_equal(counts, their_counts)
                compared += 1
    assert compared >= 3, compared
    run(trial, '--mode', 'eval', '--step', '9', '--config', config, 'Loss_output:0/é=0.5', 'text=-',
        stdin=npy(numpy.array(['a', 'b'])))
    ours = summaries(f'{trial}/tensorboard')
    assert one(ours['EVAL', 9, 'Loss_output_0/é'], 2) == struct.pack('<f', 0.5)
    text = ours['EVAL', 9, 'text']
    assert [value for field, value in fields(one(text, 8)) if field == 8] == [b'a', b'b']
    assert one(fields(one(fields(one(text, 9)), 1)), 1) == b'text'
    # Infinities and NaN are in no bucket; the extremes of float64 are.
    x = numpy.array([numpy.inf, numpy.nan, 1.5, -1.5, 0, 1e300, numpy.finfo('f8').max, -1e300])
    run(trial, '--mode', 'train', '--step', '11', '--config', config, 'x=-', stdin=npy(x))
    (_, value), = [(key, value) for key, value in summaries(f'{trial}/tensorboard').items() if key[1] == 11]
    numbers, limits, counts = histogram(value)
    assert numbers[:3] == [-1e300, numpy.finfo('f8').max, 6] and counts.sum() == 6 and len(limits) == len(counts)
    where = dict(zip(limits, counts))
    assert where[numpy.finfo('f8').max] == 2 and counts[numpy.searchsorted(limits, 0, side='right')] == 1


with tempfile.TemporaryDirectory() as place:
    for test in (round_trips, shapes_and_reductions, names, refusals, tensorboard):
        test(place)
