#!/usr/bin/env python3
"""Definitions whose kernels take very long, or very much memory, to compile.

A session that finds nothing searches on for a deadline beyond its budget, or beyond the moment when it was ready, which
these definitions make late. The deadline is 5 s for a budget as short as this. One of fused steps may wait for its first
such kernels, until a compiler's deadline of 30 s is over. It fails with a message or finds what compiles in time, and
leaves nothing behind. Ten times as long as promised for a session that is ready at once is taken for stuck, since
machines are loaded.
"""
import json
import subprocess
import time
from collections import Counter

from sandbox import PREDICTION, Sandbox, arguments, compilers_each, conclude, in_shares, require_predictions

BUDGET_S = 2
DEADLINE_S = 5
COMPILER_DEADLINE_S = 30
STARTING_AND_ENDING_S = 1
LONGEST_S = 10 * (BUDGET_S + DEADLINE_S)


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


def promised_s(words, progress):
    """By what it was asked and what it said, an object a line."""
    if '--steps' in words:
        return BUDGET_S + COMPILER_DEADLINE_S + STARTING_AND_ENDING_S
    lines = [json.loads(line) for line in progress.splitlines() if line.startswith('{')]
    ready_s = next((line['elapsed_s'] for line in lines if 'elapsed_s' in line), 0)
    return max(BUDGET_S, ready_s) + DEADLINE_S + STARTING_AND_ENDING_S


def attack(options, count, dice):
    seen = Counter()
    with Sandbox(options.program) as sandbox:
        for _ in range(count):
            words = ['tune', '--dims', '64', *PREDICTION, '--budget', f'{BUDGET_S}s', '--progress', 'json',
                     *compilers_each(options.jobs), *bomb(dice)]
            began = time.monotonic()
            try:
                ended = sandbox.run_on_database(*words, timeout=LONGEST_S)
                took = time.monotonic() - began
                promised = promised_s(words, ended.complaint)
                if took > promised:
                    print(f'{took:.1f} s, promised {promised:.1f}: {" ".join(words)[:200]}', flush=True)
                    seen['overdue'] += 1
                crash = ended.crashed or (ended.status != 0 and b'stencil-tune: ' not in ended.err)
                if crash:
                    print(f'{" ".join(words)[:300]}: status {ended.status}: {ended.complaint[-500:]}', flush=True)
                seen['crashes'] += crash
            except subprocess.TimeoutExpired:
                print(f'not over after {LONGEST_S} s: {" ".join(words)[:300]}', flush=True)
                seen['late'] += 1
            seen['processes'] += sandbox.processes_left()
        seen['files'] += sandbox.temporary_files()
    return seen


def main():
    options = arguments(__doc__, 100)
    require_predictions(options.program)
    seen = in_shares(attack, options)
    conclude(f"bombs: {options.count} bombs, {seen['overdue']} took longer than promised, {seen['late']} over {LONGEST_S} s, "
             f"{seen['crashes']} crashed, {seen['processes']} processes left, {seen['files']} temp files left",
             seen['late'] + seen['crashes'] + seen['processes'] + seen['files'])


main()
