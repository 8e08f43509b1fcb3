/* SPDX-License-Identifier: Apache-2.0
 *
 *   bench_stopwatch [--cold] ROUNDS COMMAND... [-- COMMAND...]...
 *
 * Runs the commands in turns, ROUNDS times, with standard output to /dev/null, and prints a JSON list: for each command
 * its runs as [seconds, peak KiB, exit status, seconds of processor time]. --cold empties the page cache before every
 * run (root only).
 *
 * This is a separate small program because the measured process is charged for its start, and its peak memory begins
 * with that of the process that started it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { most_commands = 64 };

struct run {
  double seconds;
  long peak_kib;
  int status;
  double cpu; /* seconds of processor time, of all threads */
};

static void fail(const char *what) {
  perror(what);
  exit(3);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void empty_page_cache(void) {
  sync();
  int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
  if (fd < 0 || write(fd, "3", 1) != 1) {
    fail("drop_caches");
  }
  close(fd);
}

static double seconds_of(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec * 1e-6; }

static struct run measure(char **command, const posix_spawn_file_actions_t *actions) {
  pid_t pid = 0;
  int status = 0;
  struct rusage usage;
  const double start = now();
  if (posix_spawnp(&pid, command[0], actions, NULL, command, environ) != 0) {
    fail(command[0]);
  }
  if (wait4(pid, &status, 0, &usage) != pid) {
    fail("wait4");
  }
  const struct run run = {now() - start, usage.ru_maxrss,
                          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                          seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
  return run;
}

int main(int argc, char **argv) {
  int next = 1;
  int cold = 0;
  if (next < argc && strcmp(argv[next], "--cold") == 0) {
    cold = 1;
    ++next;
  }
  const long rounds = next < argc ? strtol(argv[next++], NULL, 10) : 0;
  char **commands[most_commands];
  int count = 0;
  while (next < argc && count < most_commands) {
    commands[count++] = &argv[next];
    while (next < argc && strcmp(argv[next], "--") != 0) {
      ++next;
    }
    argv[next < argc ? next++ : argc] = NULL;
  }
  if (rounds <= 0 || count == 0 || next < argc) {
    fputs("usage: bench_stopwatch [--cold] ROUNDS COMMAND... [-- COMMAND...]...\n", stderr);
    return 2;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  struct run *runs = calloc((size_t)(rounds * count), sizeof *runs);
  if (runs == NULL) {
    fail("memory");
  }
  for (long round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      if (cold) {
        empty_page_cache();
      }
      runs[i * rounds + round] = measure(commands[i], &actions);
    }
  }
  for (int i = 0; i < count; ++i) {
    printf(i == 0 ? "[[" : ",\n [");
    for (long round = 0; round < rounds; ++round) {
      const struct run *run = &runs[i * rounds + round];
      printf("%s[%.9f, %ld, %d, %.6f]", round == 0 ? "" : ", ", run->seconds, run->peak_kib, run->status, run->cpu);
    }
    printf("]");
  }
  printf("]\n");
  free(runs);
  return 0;
}
