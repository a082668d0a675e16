"""Can a program be simulated whose threads hold a lock while they try for another, in different orders? In its trace each
of them got both; in simulated time another thread may have one just then."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build"
PLATFORM = Path(__file__).resolve().parents[2] / "platforms" / "p3-score.xml"

#: Transfers between accounts of which each has its mutex; the sum of all stays.
ACCOUNTS = """#include <cstdio>
#include <mutex>
#include <omp.h>
#include <vector>
struct Account {
  std::mutex mutex;
  long balance = 1000;
};
int main() {
  constexpr int accounts = 3, transfers = 60;
  auto* const all = new Account[accounts];
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < transfers; ++i) {
    Account& from = all[i % accounts];
    Account& to = all[(i * 2 + 1) % accounts];
    if (&from == &to) continue;
    const std::scoped_lock both(from.mutex, to.mutex);
    from.balance -= i;
    to.balance += i;
    for (volatile int k = 0; k < 2000; ++k) {
    }
  }
  long sum = 0;
  for (int i = 0; i < accounts; ++i) sum += all[i].balance;
  std::printf("%ld\\n", sum);
  delete[] all;
  return sum == 1000L * accounts ? 0 : 1;
}
"""
#: The same with OpenMP's locks, by hand: who does not get the second one gives the first one back.
FORKS = """#include <omp.h>
#include <stdio.h>
enum { most = 8, meals = 10 };
int main(void) {
  static omp_lock_t fork[most];
  static int eaten[most];
  const int count = omp_get_max_threads() < most ? omp_get_max_threads() : most;
  for (int i = 0; i < most; ++i) omp_init_lock(&fork[i]);
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    if (me < count) {
      for (int meal = 0; meal < meals; ++meal) {
        int left = me, right = (me + 1) % count;
        for (;;) {
          omp_set_lock(&fork[left]);
          if (left == right || omp_test_lock(&fork[right])) break;
          omp_unset_lock(&fork[left]);
          const int other = left;
          left = right;
          right = other;
        }
        ++eaten[me];
        for (volatile int k = 0; k < 2000; ++k) {
        }
        if (left != right) omp_unset_lock(&fork[right]);
        omp_unset_lock(&fork[left]);
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    if (eaten[i] != meals) return 1;
  }
  printf("all have eaten\\n");
  return 0;
}
"""


def done(*command: object, folder: Path) -> str:
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=100, check=True).stdout


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize(("compiler", "name", "source"), [("g++", "accounts.cpp", ACCOUNTS), ("gcc", "forks.c", FORKS)])
def test_threads_that_hold_a_lock_and_try_for_another_go_on(tmp_path, compiler, name, source, threads):
    (tmp_path / name).write_text(source)
    done(compiler, "-O2", "-fopenmp", "-o", "program", name, folder=tmp_path)
    program = tmp_path / "program"
    said = done(BUILD / "sdsm-run", "-q", "-n", threads, "--", program, folder=tmp_path)
    assert done(BUILD / "sdsm-trace", "-q", "-n", threads, "-o", "a.trace", "--", program, folder=tmp_path) == said
    traced = json.loads(done(BUILD / "sdsm-trace", "info", "a.trace", "--json", "-", folder=tmp_path))
    for factor in (1, 20):
        options = ("--platform", PLATFORM, "--nodes", threads, "--compute-factor", factor, "--json", "a.json")
        done(BUILD / "sdsm-simulate", "-q", "a.trace", *options, folder=tmp_path)
        simulated = json.loads((tmp_path / "a.json").read_text())["whole_run"]["threads"]
        for number, thread in enumerate(simulated):
            assert thread["locks"] >= traced["threads"][number]["events"].get("acquire", 0)
