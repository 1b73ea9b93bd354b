;; Promise: a list whose length in bytes is more than a number holds is a trap.
;; Known from: canonical ABI of the component model.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32)
      (i32.store (i32.const 0) (i32.const 8))
      (i32.store (i32.const 4) (i32.const 0x20000001))
      (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") (result (list u64)) (canon lift (core func $i "run")
    (memory $i "memory"))))
