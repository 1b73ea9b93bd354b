;; Promise: the place for an argument is found without calling anyone.
;; Known from: canonical ABI of the component model.
(component
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (export "now" (func (result u64)))))
  (core func $now (canon lower (func $clock "now")))
  (core module $m
    (import "host" "now" (func $now (result i64)))
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (drop (call $now))
      (i32.const 1024))
    (func (export "run") (param i32 i32)))
  (core instance $i (instantiate $m (with "host" (instance (export "now" (func $now))))))
  (func (export "run") (param "text" string) (canon lift (core func $i "run")
    (memory $i "memory") (realloc (func $i "realloc")))))
