#!/bin/sh
# What the container of the Dockerfile runs.
#
#   toolcrib-container           the host, and socat, which passes connections from outside on to it
#   toolcrib-container health    exits with 0 if the page can be reached from outside
#
# The page and the gateway listen on the container's loopback address alone, and accept only requests that name
# it, as the browser does that opens a port published to 127.0.0.1. The number of the port is the same outside
# and inside, so that the addresses that Toolcrib prints are right.
set -eu

port=${TOOLCRIB_PORT:-4180}
address=$(hostname -i | cut -d ' ' -f 1)

if [ "${1:-}" = health ]; then
    printf 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' "$port" |
        socat -t 4 -T 4 - "TCP:$address:$port,connect-timeout=4" | grep -q '"status": *"ok"'
    exit
fi

# In the network of the machine itself (--network host), socat would only call itself.
[ "$address" = 127.0.0.1 ] || socat "TCP-LISTEN:$port,bind=$address,fork,reuseaddr" "TCP:127.0.0.1:$port" &
# Stdout begins with an address that signs a browser in once, which does not belong in a log. The host is the
# main process: signals reach it, and the container ends with it.
exec toolcrib up --no-browser --port "$port" >/dev/null
