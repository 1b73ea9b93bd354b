;; Promise: every number but zero is true, and nothing else.
;; Known from: canonical ABI of the component model.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32) (i32.const 2)))
  (core instance $i (instantiate $m))
  (func (export "run") (result bool) (canon lift (core func $i "run")
    (memory $i "memory"))))
