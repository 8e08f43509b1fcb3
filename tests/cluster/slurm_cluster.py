# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster of one node on the loopback: a controller, a daemon and munge, which live in a temporary folder."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time

PROGRAMS = ('munged', 'slurmctld', 'slurmd', 'sbatch', 'srun', 'scontrol', 'squeue', 'scancel', 'sinfo')
# Four tasks fit, however many processors there are.
CONFIGURATION = '''ClusterName=smd
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={daemon_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
JobRequeue=1
KillWait=5
MinJobAge=3600
ReturnToService=2
NodeName=localhost NodeHostname={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
'''


def why_not():
    """Why no cluster can be started here; None if one can."""
    if os.geteuid() != 0:
        return 'Slurm daemons need root'
    missing = [program for program in PROGRAMS if find(program) is None]
    if missing:
        return f'not installed: {", ".join(missing)} (packages slurm-wlm and munge)'
    with open('/proc/self/mounts', encoding='utf-8', errors='replace') as mounts:
        if not any(line.split()[2] in ('cgroup', 'cgroup2') for line in mounts):
            return 'slurmd needs a cgroup file system, and none is mounted here'
    return None


def find(program):
    return shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class ClusterFailure(Exception):
    """The cluster, not what it ran, did something wrong."""


class Cluster:
    """Started on entry; on exit all of it is stopped and removed."""

    def __init__(self, environment):
        self.folder = tempfile.mkdtemp(prefix='smd-slurm.')
        self.environment = dict(environment, SLURM_CONF=os.path.join(self.folder, 'slurm.conf'))
        self.daemons = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        os.mkdir(os.path.join(self.folder, 'state'))
        os.mkdir(os.path.join(self.folder, 'spool'))
        key = os.path.join(self.folder, 'munge.key')
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o400), 'wb') as file:
            file.write(secrets.token_bytes(128))
        with open(self.environment['SLURM_CONF'], 'w', encoding='ascii') as file:
            file.write(CONFIGURATION.format(folder=self.folder, host=socket.gethostname().split('.')[0],
                                            controller_port=free_port(), daemon_port=free_port()))
        # --force: the folder may lie where others can write, such as below /tmp; the key itself nobody else can read.
        self.run_daemon('munged', '--foreground', '--force', '--key-file', key, '--num-threads', '2',
                        *(f'--{what}-file={self.folder}/munge.{what}' for what in ('pid', 'log', 'seed')),
                        f'--socket={self.folder}/munge.socket')
        self.wait_for('munge', lambda: os.path.exists(os.path.join(self.folder, 'munge.socket')))
        self.run_daemon('slurmctld', '-D', '-c')
        self.run_daemon('slurmd', '-D', '-N', 'localhost')
        self.wait_for('the node', lambda: self.command('sinfo', '-h', '-o', '%T', fails=True).strip() == 'idle')

    def run_daemon(self, *words):
        log = open(os.path.join(self.folder, words[0] + '.out'), 'wb')
        with log:
            self.daemons.append(subprocess.Popen((find(words[0]),) + words[1:], env=self.environment,
                                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def wait_for(self, what, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise ClusterFailure(f'{what} did not come\n{self.logs()}')
            time.sleep(0.1)

    def logs(self):
        """The ends of what the daemons said."""
        texts = []
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(('.log', '.out')):
                with open(os.path.join(self.folder, name), encoding='utf-8', errors='replace') as file:
                    texts.append(f'--- {name}\n' + ''.join(file.readlines()[-20:]))
        return '\n'.join(texts)

    def command(self, *words, fails=False, **more):
        """What a client of Slurm prints; that it fails may be part of the answer."""
        done = subprocess.run((find(words[0]),) + words[1:], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=120, text=True, **more)
        if done.returncode != 0 and not fails:
            raise ClusterFailure(f'{words}: {done.returncode}: {done.stderr}')
        return done.stdout

    def submit(self, script, *options, folder):
        """The number of a job. Its members write into slurm-….out of the folder."""
        return self.command('sbatch', '--parsable', '--chdir', folder, '--output', os.path.join(folder, 'slurm-%A_%a.out'),
                            *options, input=script).strip()

    def states(self, job):
        """By member of the array (None: not an array), its state."""
        found = {}
        for line in self.command('squeue', '-h', '-t', 'all', '-r', '-j', job, '-o', '%K %T', fails=True).splitlines():
            member, state = line.split()
            found[None if member == 'N/A' else int(member)] = state
        return found

    def finish(self, job, seconds=180):
        """The states in which all members of a job ended."""
        over = {'COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL', 'DEADLINE', 'OUT_OF_MEMORY'}

        def ended():
            states = self.states(job)
            return states and set(states.values()) <= over
        self.wait_for(f'the end of job {job}', ended, seconds)
        return self.states(job)
