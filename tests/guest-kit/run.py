#!/usr/bin/env python3
"""Checks a guest against docs/guest-protocol.md.

    run.py [--json] [--only NAME] [--list] [--phrases FILE] [--patience S]
           [--big BYTES] -- GUEST ARGS…

GUEST is started once or more for each check, with a socket on fd 3. Prints a
line a check and exits with 0 if none failed, 1 if one did, 2 for wrong usage.
"""
import argparse
import json
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import checks  # noqa: E402
import wire  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


class Kit:
    """What a check is given."""

    def __init__(self, command, patience, big, phrases):
        self.command, self.patience, self.big = command, patience, big
        self.phrases, self.guests = phrases, []

    def phrase(self, name):
        return self.phrases[name]

    def guest(self):
        self.guests.append(wire.Guest(self.command, self.patience))
        return self.guests[-1]

    def ready(self, **limits):
        guest = self.guest()
        guest.boot(**limits)
        guest.next('boot-ack')
        return guest

    def start(self, name):
        guest = self.ready()
        guest.run(self.phrase(name), checks.TOOLS)
        return guest

    def close(self):
        for guest in self.guests:
            guest.close()
        self.guests = []


def language_of(command, patience):
    guest = wire.Guest(command, patience)
    try:
        guest.boot()
        return guest.next('boot-ack').language
    finally:
        guest.close()


def read_phrases(path, command, patience):
    """The programs of the checks in the guest's language."""
    if path is None:
        try:
            language = language_of(command, patience)
        except wire.Broken as error:
            print('FAIL: the guest does not say its language (--phrases FILE '
                  'makes the checks all the same): %s' % error)
            sys.exit(1)
        if language == 'typescript':  # it arrives as JavaScript
            language = 'javascript'
        path = os.path.join(HERE, 'phrases', '%s.json' % language)
    if not os.path.exists(path):
        sys.exit('run.py: no phrases for this language: %s; write them '
                 '(phrases/README.md) and name them with --phrases' % path)
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def perform(kit, phrases, function):
    """(outcome, reason, seconds)"""
    began = time.monotonic()
    missing = [p for p in phrases if p not in kit.phrases]
    if missing:
        return 'fail', 'the phrases lack "%s"' % missing[0], 0
    if any(kit.phrases[p] is None for p in phrases):
        return 'skip', 'the language cannot say it', 0
    try:
        function(kit)
        return 'ok', '', time.monotonic() - began
    except (wire.Broken, RecursionError) as error:  # it is far too deep
        return 'fail', str(error), time.monotonic() - began
    finally:
        kit.close()


def arguments(argv):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--only', action='append', default=[])
    parser.add_argument('--phrases')
    parser.add_argument('--patience', type=float, default=20)
    parser.add_argument('--big', type=int, default=64 << 20)
    parser.add_argument('command', nargs='*')
    options = parser.parse_args(argv)
    names = [c[0] for c in checks.CHECKS]
    for name in options.only:
        if name not in names:
            parser.error('no check is named %r' % name)
    if not options.list and not options.command:
        parser.error('which guest?')
    if options.command:
        path = shutil.which(options.command[0])
        if path is None:
            parser.error('%s cannot be executed' % options.command[0])
        options.command[0] = os.path.abspath(path)
    return options


def main(argv):
    options = arguments(argv)
    if options.list:
        for number, (name, title, *_) in enumerate(checks.CHECKS, 1):
            print('%2d  %-20s %s' % (number, name, title))
        return 0
    phrases = read_phrases(options.phrases, options.command, options.patience)
    kit = Kit(options.command, options.patience, options.big, phrases)
    counts, report = {'ok': 0, 'fail': 0, 'skip': 0}, []
    for number, (name, title, needs, function) in enumerate(checks.CHECKS, 1):
        if options.only and name not in options.only:
            continue
        outcome, why, seconds = perform(kit, needs, function)
        counts[outcome] += 1
        report.append({'number': number, 'name': name, 'title': title,
                       'outcome': outcome, 'why': why,
                       'seconds': round(seconds, 3)})
        if not options.json:
            print('%-4s %2d %s: %s%s' % (
                outcome if outcome != 'fail' else 'FAIL', number, name, title,
                '\n          ' + why if why else ''), flush=True)
    if options.json:
        print(json.dumps({'checks': report, **counts}))
    else:
        print('%(ok)d passed, %(fail)d failed' % counts +
              (', %(skip)d skipped' % counts if counts['skip'] else ''))
    return 1 if counts['fail'] or not counts['ok'] else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
