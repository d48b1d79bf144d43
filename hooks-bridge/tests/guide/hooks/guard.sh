#!/bin/sh
# Reads the call from stdin, and has an opinion on one thing only.
if grep -q 'rm -rf'; then
    echo 'delete files one by one' >&2
    exit 2
fi
