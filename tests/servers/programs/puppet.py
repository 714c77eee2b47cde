"""A server without a mind of its own: `puppet.py SOCKET`.

What it reads on stdin goes to the socket, what comes from the socket goes to stdout, so that a test plays the
server at the far end of a real process and real pipes. It exits when either end is closed.
"""

import os
import socket
import sys
import threading


def write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def speak(strings: socket.socket) -> None:
    while data := strings.recv(1 << 20):
        write_all(data)
    os._exit(0)


def main() -> None:
    strings = socket.socket(socket.AF_UNIX)
    strings.connect(sys.argv[1])
    threading.Thread(target=speak, args=(strings,), daemon=True).start()
    while data := os.read(0, 1 << 20):
        strings.sendall(data)


if __name__ == "__main__":
    main()
