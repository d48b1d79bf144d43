#!/usr/bin/env python3
"""A policy service of a fleet in plain Python: no command that deletes is run.

    policy.py HOST PORT            serves the guard `no_rm` at `running`, as `policy`
"""
import json, secrets, socket, sys, threading, time

INSTANCE, SCHEMA = "py" + secrets.token_hex(7), "running-1"
PAYLOAD = {"type": "object", "properties": {"line": {"type": "string"}}, "required": ["line"],
           "additionalProperties": False}
ANNOUNCEMENT = {"v": 1, "service": "policy", "instance": INSTANCE, "version": "py-1",
                "points": {"running": {"model": "gating", "schema": SCHEMA, "payload": PAYLOAD}},
                "handlers": [{"point": "running", "handler": "no_rm", "guard": True, "pure": True}]}

def judge(request):
    if request["payload"]["line"].startswith("rm "):
        return {"verdict": "reject", "reason": "nothing is deleted here, says Python"}
    return {"verdict": "pass"}

server = socket.create_connection((sys.argv[1], int(sys.argv[2])))
lines, lock = server.makefile("rb"), threading.Lock()

def send(text, body=b""):
    with lock:
        server.sendall(text.encode() + b"\r\n" + (body + b"\r\n" if text.startswith("PUB") else b""))

def publish(subject, body):
    send(f"PUB {subject} {len(body)}", body)

def announce():
    while True:
        publish(f"$KV.HOOKS_PRESENCE.policy.{INSTANCE}", json.dumps(ANNOUNCEMENT).encode())
        time.sleep(5)

lines.readline()  # INFO
send('CONNECT {"verbose": false, "headers": true, "no_responders": true, "name": "policy.py"}')
send(f"SUB hooks.req.policy.running.no_rm.{SCHEMA} policy 1")
send(f"SUB hooks.ping.policy.{INSTANCE} 2")
send("PING")  # Announced only when the server has heard of it: its PONG says so.
for line in lines:
    verb, *words = line.split()
    if verb == b"PING":
        send("PONG")
    elif verb == b"PONG":
        threading.Thread(target=announce, daemon=True).start()
    elif verb in (b"MSG", b"HMSG"):  # subject, number, reply, [size of the headers,] size
        size, skip = int(words[-1]), int(words[-2]) if verb == b"HMSG" else 0
        body = lines.read(size + 2)[skip:size]
        if len(words) < (5 if verb == b"HMSG" else 4) or words[2].startswith((b"$", b"hooks.")):
            continue  # Nobody waits for an answer, or none who may: those are not for replies.
        if words[1] == b"2":
            publish(words[2].decode(), b"pong")
            continue
        call, attempt = "", 0
        try:
            request = json.loads(body)
            call, attempt = str(request["call"]), int(request["attempt"])
            outcome = {"kind": "answer", "answer": judge(request)}
        except Exception as error:  # Whatever it is: what cannot be read is refused, and no more.
            outcome = {"kind": "refused", "why": "malformed", "message": repr(error)[:200]}
        publish(words[2].decode(), json.dumps({"v": 1, "call": call, "attempt": attempt,
                "instance": INSTANCE, "schema": SCHEMA, "outcome": outcome}).encode())
