;; Promise: cleaning up is done without calling anyone.
;; Known from: canonical ABI of the component model.
(component
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (export "now" (func (result u64)))))
  (core func $now (canon lower (func $clock "now")))
  (core module $m
    (import "host" "now" (func $now (result i64)))
    (memory (export "memory") 1)
    (func (export "cleanup") (param i32) (drop (call $now)))
    (func (export "run") (result i32) (i32.const 0)))
  (core instance $i (instantiate $m (with "host" (instance (export "now" (func $now))))))
  (func (export "run") (result string) (canon lift (core func $i "run")
    (memory $i "memory") (post-return (func $i "cleanup")))))
