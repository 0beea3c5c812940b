"""Kills a comparison again and again, and writes what was stored after each kill: run as a process of its own, which
imports everything once.

python tests/evaluation/killing.py FOLDER KILLS
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch

from nodewise.evaluation import ChunkStore, compare
from tests.evaluation.test_compare import KILLED_RUNS, contest, files

if __name__ == "__main__":
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    seen = []
    for number in range(kills):
        before = len(files(folder))
        child = os.fork()
        if child == 0:
            wanted = contest("random", "centrality", runs=KILLED_RUNS, budgets=(4,))
            compare([wanted], device="cpu", store=ChunkStore(folder))
            os._exit(0)
        while len(files(folder)) == before and not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            time.sleep(0.002)
        time.sleep(0.01 * (number % 7))  # at another moment of the next chunk each time
        os.kill(child, signal.SIGKILL)  # one that has ended is there until it is waited for
        os.waitpid(child, 0)
        seen.append(files(folder))
    (folder / "seen").write_text(json.dumps(seen))
