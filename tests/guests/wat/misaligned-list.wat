;; Promise: a list has to lie where its type may.
;; Known from: canonical ABI of the component model.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32)
      (i32.store (i32.const 0) (i32.const 9))
      (i32.store (i32.const 4) (i32.const 1))
      (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") (result (list u32)) (canon lift (core func $i "run")
    (memory $i "memory"))))
