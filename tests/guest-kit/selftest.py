#!/usr/bin/env python3
"""The kit bites: a guest that keeps the document passes every check, and for
each check there is a fault that it finds. A check without a fault fails here.
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import checks  # noqa: E402

# Which check finds which fault of wrong.py.
FAULTS = {
    'silent_before_boot': ['speaks-first'],
    'boot_ack': ['protocol-2', 'spaces', 'shouts', 'escapes'],
    'other_protocol': ['speaks-anything', 'stays-on-nonsense'],
    'run_before_boot': ['runs-unbooted', 'stays-on-nonsense'],
    'closed_before_boot': ['lives-on'],
    'closed_before_run': ['lives-on'],
    'idle_before_run': ['spins'],
    'value': ['wrong-value', 'done-twice', 'status', 'never-ends',
              'no-line-feed'],
    'one_piece': ['forgets-half-lines'],
    'byte_by_byte': ['status'],
    'unknown_keys': ['only-known-keys'],
    'long_program': ['short-programs'],
    'nothing': ['nothing-is-null'],
    'null': ['null-is-nothing'],
    'unicode': ['loses-accents'],
    'throw': ['loses-messages', 'own-kind', 'digs'],
    'syntax': ['runs-what-does-not-parse'],
    'lossy': ['takes-anything', 'one-kind'],
    'exit_status': ['exit-is-done'],
    'logs': ['shuffles-logs'],
    'log_at_once': ['keeps-logs'],
    'many_logs': ['loses-logs'],
    'output_limit': ['meters-too-early'],
    'call': ['changes-arguments'],
    'sequence': ['counts-by-itself'],
    'parallel': ['one-after-the-other', 'same-id'],
    'out_of_order': ['first-reply-first'],
    'lossless': ['rounds'],
    'deep': ['flattens'],
    'error_class': ['no-class'],
    'plain_error': ['odd-error'],
    'uncaught': ['swallows-rejections'],
    'lossy_argument': ['sends-anything'],
    'odd_names': ['mends-names'],
    'two_namespaces': ['one-namespace'],
    'undeclared': ['calls-nobody'],
    'forgotten': ['waits-for-all'],
    'late_reply': ['reads-late'],
    'idle_in_call': ['spins'],
    'closed_in_call': ['lives-on'],
    'big_value': ['cuts'],
    'big_reply': ['cuts'],
    'cross': ['never-reads-while-it-writes'],
    'host_never_reads': ['lives-on'],
}


def kit(options, *fault):
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, 'run.py'), '--json',
         '--phrases', os.path.join(HERE, 'phrases', 'kit.json'), *options,
         '--', sys.executable, os.path.join(HERE, 'wrong.py'), *fault],
        stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)['checks'], done.returncode


def bites(pair):
    name, fault = pair
    report, status = kit(['--only', name, '--patience', '1.5',
                          '--big', '4194304'], fault)
    return name, fault, status == 1 and report[0]['outcome'] == 'fail', \
        report[0]['why']


def main():
    passed, failed = 0, 0

    def judge(ok, text):
        nonlocal passed, failed
        passed, failed = passed + ok, failed + (not ok)
        print('%s %s' % ('ok  ' if ok else 'FAIL', text), flush=True)

    report, status = kit(['--big', '4194304'])
    for entry in report:
        judge(entry['outcome'] == 'ok', 'a right guest passes %s %s' %
              (entry['name'], entry['why']))
    judge(status == 0, 'a right guest passes')
    _, status = kit(['--only', 'value', '--patience', '1.5'], 'talks-to-nobody')
    judge(status == 0, 'a guest may write to its standard error')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'guest')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#!/no/such/program\n')
        os.chmod(path, 0o755)
        done = subprocess.run(
            [sys.executable, os.path.join(HERE, 'run.py'), '--', path],
            stdout=subprocess.PIPE, text=True, check=False)
    judge(done.returncode == 1 and 'cannot be executed' in done.stdout,
          'what cannot be executed is named')
    for name, *_ in checks.CHECKS:
        judge(name in FAULTS, '%s has a fault' % name)
    pairs = [(name, fault) for name in FAULTS for fault in FAULTS[name]]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for name, fault, ok, why in pool.map(bites, pairs):
            judge(ok, '%s finds "%s": %s' % (name, fault, why))
    print('%d passed, %d failed' % (passed, failed))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
