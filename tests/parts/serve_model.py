"""Serves a small language model with llama.cpp's own HTTP server, on a free port of 127.0.0.1.

serve_model.py MODEL.gguf [TEMPLATE.jinja] [--slots FOLDER]

Prints `listening on URL` when it is ready. The reply to a request without a limit of tokens ends
with the context, which is small. The template is one that knows tools: the model's own does not.
With a folder for slots, it serves two requests at once in the way that a decision endpoint in front
of it needs.
"""

import argparse
import time

import xllamacpp


def parameters(model: str, template: str | None, slots: str | None) -> xllamacpp.CommonParams:
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
    if slots:
        wanted.n_parallel = 2
        wanted.kv_unified = True
        wanted.cache_idle_slots = False
        wanted.n_batch = 512
        wanted.n_ubatch = 512
        wanted.endpoint_slots = True
        wanted.endpoint_props = True
        wanted.slot_save_path = slots.rstrip("/") + "/"
    if template:
        with open(template, encoding="utf-8") as file:
            wanted.chat_template = file.read()
    return wanted


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("model")
    arguments.add_argument("template", nargs="?")
    arguments.add_argument("--slots")
    given = arguments.parse_args()
    server = xllamacpp.Server(parameters(given.model, given.template, given.slots))
    print("listening on", server.listening_address, flush=True)
    while True:
        time.sleep(3600)
