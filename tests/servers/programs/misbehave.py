"""A child that behaves as its first argument says: `misbehave.py HOW [ARGUMENT …]`; see the functions."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path


def say(**params: object) -> None:
    """Write one notification to stdout."""
    message = {"jsonrpc": "2.0", "method": "said", "params": params}
    os.write(1, json.dumps(message).encode() + b"\n")


def until_eof() -> None:
    while os.read(0, 65536):
        pass


def report(*given: str) -> None:
    """Tell what the child was given."""
    folder = str(Path.cwd())
    say(environ=dict(os.environ), cwd=folder, given=given, group=os.getpgrp(), session=os.getsid(0))
    until_eof()


def echo() -> None:
    """Give every line back."""
    for line in sys.stdin.buffer:
        os.write(1, line)


def mute() -> None:
    """Read all, say nothing."""
    say(ready=True)
    until_eof()


def ignore_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def stubborn() -> None:
    """Ignore the end of stdin and every polite signal."""
    ignore_signals()
    say(pids=[os.getpid()])
    until_eof()
    while True:
        signal.pause()


def stubborn_family() -> None:
    """Ignore everything, and have a daemon besides."""
    ignore_signals()
    say(pids=[os.getpid(), start_daemon()])
    until_eof()
    while True:
        signal.pause()


def leave_a_child() -> None:
    """End properly, but leave a child behind in the group."""
    child = subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    say(pids=[child.pid])
    until_eof()


def leave_a_deaf_child() -> None:
    """Leave a child behind in the group that holds our pipes open and ignores SIGTERM."""
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(); signal.pause()"
    child = subprocess.Popen([sys.executable, "-S", "-E", "-c", code])
    say(pids=[child.pid])
    until_eof()


def start_daemon() -> int:
    """Forked twice, in a session of its own."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, str(os.getpid()).encode())
            os.execvp("sleep", ["sleep", "300"])
        os._exit(0)
    os.wait()
    return int(os.read(reading, 20))


def leave_a_daemon() -> None:
    """Leave a daemon behind."""
    say(pids=[start_daemon()])
    until_eof()


def close_stdout() -> None:
    """Close stdout, live on."""
    say(ready=True)
    os.close(1)
    until_eof()


def close_stdin() -> None:
    """Close stdin, live on."""
    os.close(0)
    say(ready=True)
    while True:
        signal.pause()


def end(code: str, *words: str) -> None:
    """Say the last words on stderr, the very last one without a newline, and exit."""
    os.write(2, "\n".join(words).encode())
    os._exit(int(code))


def answer_then_end(code: str) -> None:
    """Write a message, then exit."""
    say(ready=True)
    os._exit(int(code))


def end_when_told(code: str) -> None:
    """Exit on the first line read."""
    say(ready=True)
    sys.stdin.buffer.readline()
    os.write(2, b"told to end\n")
    os._exit(int(code))


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def flood(megabytes: str) -> None:
    """Write to stderr as fast as possible, and give lines back meanwhile."""

    def pour() -> None:
        chunk = b"x" * 99 + b"\n"
        for _ in range(int(megabytes)):
            for _ in range(16):
                os.write(2, chunk * 655)
        say(poured=True)

    threading.Thread(target=pour).start()
    echo()


def big(megabytes: str) -> None:
    """Write one line of that size for each line read."""
    body = "x" * (int(megabytes) << 20)
    message = {"jsonrpc": "2.0", "method": "said", "params": {"body": body}}
    data = json.dumps(message).encode() + b"\n"
    for _ in sys.stdin.buffer:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def endless() -> None:
    """Write a line that never ends."""
    while True:
        os.write(1, b"x" * 65536)


def stop_reading() -> None:
    """Do not read until SIGUSR1; then count what was there."""
    woken = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: woken.set())
    say(ready=True)
    while not woken.wait(0.05):
        pass
    for line in sys.stdin.buffer:
        say(length=len(line))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
