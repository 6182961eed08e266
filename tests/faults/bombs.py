#!/usr/bin/env python3
"""Definitions whose kernels take very long, or very much memory, to compile.

A session ends within its budget and the longest deadline, which is 5 s for a budget as short as this: it fails with a
message or finds what compiles in time, and leaves nothing behind. Ten times as long is taken for stuck, since machines are
loaded.
"""
import subprocess
import time
from collections import Counter

from sandbox import PREDICTION, Sandbox, arguments, compilers_each, conclude, in_shares, require_predictions

BUDGET_S = 2
DEADLINE_S = BUDGET_S + 5
LONGEST_S = 10 * DEADLINE_S


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


def attack(options, count, dice):
    seen = Counter()
    with Sandbox(options.program) as sandbox:
        for _ in range(count):
            words = ['tune', '--dims', '64', *PREDICTION, '--budget', f'{BUDGET_S}s', *compilers_each(options.jobs),
                     *bomb(dice)]
            began = time.monotonic()
            try:
                ended = sandbox.run_on_database(*words, timeout=LONGEST_S)
                crash = ended.crashed or ended.failed_silently
                if crash:
                    print(f'{" ".join(words)[:300]}: status {ended.status}: {ended.complaint[-500:]}', flush=True)
                seen['crashes'] += crash
            except subprocess.TimeoutExpired:
                print(f'not over after {LONGEST_S} s: {" ".join(words)[:300]}', flush=True)
                seen['late'] += 1
            seen['overdue'] += time.monotonic() - began > DEADLINE_S
            seen['processes'] += sandbox.processes_left()
        seen['files'] += sandbox.temporary_files()
    return seen


def main():
    options = arguments(__doc__, 100)
    require_predictions(options.program)
    seen = in_shares(attack, options)
    conclude(f"G9 bombs: {options.count} bombs, {seen['overdue']} took over {DEADLINE_S} s, {seen['late']} over {LONGEST_S} s, "
             f"{seen['crashes']} crashed, {seen['processes']} processes left, {seen['files']} temp files left",
             seen['late'] + seen['crashes'] + seen['processes'] + seen['files'])


main()
