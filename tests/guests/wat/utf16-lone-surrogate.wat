;; Promise: half a character is no text.
;; Known from: GHSA-hx6p.
(component
  (core module $m
    (memory (export "memory") 1)
    (data (i32.const 8) "a\00\00\d8b\00")
    (func (export "run") (result i32)
      (i32.store (i32.const 0) (i32.const 8))
      (i32.store (i32.const 4) (i32.const 3))
      (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") (result string) (canon lift (core func $i "run")
    (memory $i "memory") string-encoding=utf16)))
