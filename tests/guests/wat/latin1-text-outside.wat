;; Promise: text of a length that is marked as 16 bits has to lie in the memory.
;; Known from: GHSA-hx6p.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32)
      (i32.store (i32.const 0) (i32.const 65530))
      (i32.store (i32.const 4) (i32.const 0x80000010))
      (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") (result string) (canon lift (core func $i "run")
    (memory $i "memory") string-encoding=latin1+utf16)))
