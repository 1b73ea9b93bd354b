;; Promise: a result area has to lie in the memory.
;; Known from: canonical ABI of the component model.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32) (i32.const -8)))
  (core instance $i (instantiate $m))
  (func (export "run") (result string) (canon lift (core func $i "run")
    (memory $i "memory"))))
