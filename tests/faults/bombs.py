#!/usr/bin/env python3
"""Definitions whose kernels take very long, or very much memory, to compile.

A session ends within its budget and the longest deadline, which is 5 s for a budget as short as this: it fails with a
message or finds what compiles in time, and leaves nothing behind. Ten times as long is taken for stuck, since machines are
loaded.
"""
import random
import subprocess
import time

from sandbox import PREDICTION, Sandbox, arguments, conclude

BUDGET_S = 2
LONGEST_S = 10 * (BUDGET_S + 5)


def product_of_sums(dice, factors, terms):
    """Every factor reads other cells: the compiler meets factors * terms loads and as many divisions."""
    def read():
        return f'u[x{dice.randint(-8, 8):+d},y{dice.randint(-8, 8):+d},z{dice.randint(-8, 8):+d}]'

    sums = ('(' + ' + '.join(f'{read()}/({read()} + {dice.uniform(1, 2):.3f})' for _ in range(terms)) + ')'
            for _ in range(factors))
    return '*'.join(sums)


def bomb(dice):
    kind = dice.randrange(3)
    if kind == 0:
        return ['--shape', 'box', '--order', str(dice.randint(4, 8)), '--type', dice.choice(['f32', 'f64'])]
    if kind == 1:
        return ['--expr', product_of_sums(dice, dice.randint(2, 6), dice.randint(20, 60))]
    return ['--shape', 'box', '--order', '2', '--steps', str(dice.randint(8, 64)), '--type', 'f64']


def main():
    options = arguments(__doc__, 100)
    dice = random.Random(options.seed)
    late = crashes = processes = 0
    longest = 0.0
    with Sandbox(options.program) as sandbox:
        sandbox.require_predictions()
        for number in range(options.count):
            words = ['tune', '--dims', '64', *PREDICTION, '--budget', f'{BUDGET_S}s', *bomb(dice)]
            began = time.monotonic()
            try:
                ended = sandbox.run(*words, timeout=LONGEST_S)
                crash = ended.returncode < 0 or ended.returncode > 2 or (ended.returncode != 0 and not ended.stderr)
                if crash:
                    print(f'bomb {number}: status {ended.returncode}: {ended.stderr[-500:]}')
                crashes += crash
            except subprocess.TimeoutExpired:
                print(f'bomb {number} is not over after {LONGEST_S} s: {" ".join(words)[:300]}')
                late += 1
            longest = max(longest, time.monotonic() - began)
            processes += sandbox.processes_left()
        files = sandbox.temporary_files()
    print(f'the longest took {longest:.1f} s of a budget of {BUDGET_S} s')
    conclude(f'G9 bombs: {options.count} bombs, {late} not ended in time, {crashes} crashed, {processes} processes left, '
             f'{len(files)} temp files left', late + crashes + processes + len(files))


main()
