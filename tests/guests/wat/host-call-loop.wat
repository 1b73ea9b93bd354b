;; Promise: a loop that spends its time in imports ends with the time all the same.
;; Known from: wasmtime#9188.
(component
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (export "now" (func (result u64)))))
  (core func $now (canon lower (func $clock "now")))
  (core module $m
    (import "host" "now" (func $now (result i64)))
    (func (export "run") (loop $again (drop (call $now)) (br $again))))
  (core instance $i (instantiate $m (with "host" (instance (export "now" (func $now))))))
  (func (export "run") (canon lift (core func $i "run"))))
