"""Serves a small language model with llama.cpp's own HTTP server, on a free port of 127.0.0.1.

serve_model.py MODEL.gguf [TEMPLATE.jinja]

Prints `listening on URL` when it is ready. The reply to a request without a limit of tokens ends
with the context, which is small. The template is one that knows tools: the model's own does not.
"""

import sys
import time

import xllamacpp


def parameters(model: str, template: str | None) -> xllamacpp.CommonParams:
    wanted = xllamacpp.CommonParams()
    wanted.model.path = model
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    wanted.n_ctx = 4096
    wanted.n_parallel = 1
    wanted.warmup = False
    wanted.use_jinja = True
    wanted.ui = False
    wanted.offline = True
    wanted.cpuparams.n_threads = 1
    wanted.cpuparams_batch.n_threads = 1
    if template:
        with open(template, encoding="utf-8") as file:
            wanted.chat_template = file.read()
    return wanted


if __name__ == "__main__":
    model, *rest = sys.argv[1:]
    server = xllamacpp.Server(parameters(model, rest[0] if rest else None))
    print("listening on", server.listening_address, flush=True)
    while True:
        time.sleep(3600)
