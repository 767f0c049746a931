#!/bin/sh
# Cleans one page and a site by the service: sh examples/client.sh http://127.0.0.1:8090 https://example.org/
# Where the service wants a token: TOKEN=... sh examples/client.sh ...
set -eu
call() { curl --silent --show-error --fail-with-body -H "Authorization: Bearer ${TOKEN:-}" "$@"; }
call "$1/v1/clean" --json "{\"url\": \"$2\", \"format\": \"markdown\"}"
job=$(call "$1/v1/sites" --json "{\"url\": \"$2\", \"pages\": 20}" -H "Idempotency-Key: $2" | sed 's/.*"id": *"\([0-9a-f]*\)".*/\1/')
call --no-buffer "$1/v1/jobs/$job/events"  # ends with the job
call "$1/v1/jobs/$job"
