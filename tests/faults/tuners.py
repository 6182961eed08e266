#!/usr/bin/env python3
"""Several tuners on one database at once: every trial that they count is stored, the winner is the best of all, and none
gives up because the database is busy."""
import json
import re
import sqlite3
import subprocess

from sandbox import PREDICTION, Sandbox, arguments, conclude, require_predictions

TUNERS = 8


def start(sandbox, trials, seed, compilers):
    words = ['tune', '--dims', '96', *PREDICTION, '--budget', '2h', '--max-trials', str(trials), '--seed', str(seed),
             '--jobs', str(compilers), '--json']
    return subprocess.Popen([sandbox.program, *sandbox.on_database(*words)], env=sandbox.environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def trials_counted(report):
    for note in json.loads(report)['notes']:
        if found := re.match(r'(\d+) trials in', note):
            return int(found[1])
    return 0


def stored(database_path):
    """How many trials there are, and whether the winner is the fastest of those whose code was never wrong."""
    with sqlite3.connect(database_path) as database:
        count = database.execute("SELECT count(*) FROM trials WHERE nx = 96").fetchone()[0]
        best = database.execute("SELECT max(rate) FROM trials WHERE nx = 96 AND outcome = 'ok' AND code NOT IN "
                                "(SELECT code FROM trials WHERE nx = 96 AND outcome = 'wrong_result')").fetchone()[0]
        winner = database.execute('SELECT rate FROM winners JOIN trials ON trials.id = trial_id '
                                  'WHERE winners.nx = 96').fetchone()
    return count, winner is not None and winner[0] == best


def main():
    options = arguments(__doc__, 1000)
    require_predictions(options.program)
    compilers = max(1, options.jobs // TUNERS)
    with Sandbox(options.program) as sandbox:
        share = max(1, options.count // TUNERS)
        tuners = [start(sandbox, share, options.seed + i, compilers) for i in range(TUNERS)]
        counted = failed = busy = 0
        for tuner in tuners:
            out, err = tuner.communicate()
            busy += 'locked' in err or 'busy' in err
            if tuner.returncode != 0:
                failed += 1
                print(f'status {tuner.returncode}: {err[-1000:]}')
            else:
                counted += trials_counted(out)
        count, is_best = stored(sandbox.database)
        lost = max(0, counted - count)
        if counted < share * TUNERS:
            print(f'{counted} of {share * TUNERS} trials were made')
            failed += 1
    conclude(f'tuners: {counted} trials of {TUNERS} tuners, {lost} lost, {0 if is_best else 1} wrong winners, '
             f'{busy} busy, {failed} failed', lost + (not is_best) + busy + failed)


main()
