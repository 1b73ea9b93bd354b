;; Promise: text of 16 bits has to lie at an even place.
;; Known from: GHSA-jxhv.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32)
      (i32.store (i32.const 0) (i32.const 9))
      (i32.store (i32.const 4) (i32.const 2))
      (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") (result string) (canon lift (core func $i "run")
    (memory $i "memory") string-encoding=utf16)))
