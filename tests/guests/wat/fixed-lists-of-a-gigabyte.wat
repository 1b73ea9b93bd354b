;; Promise: a result whose type takes more than the memory lies outside of it.
;; Known from: canonical ABI of the component model.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32) (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") (result (list (list (list u8 1000) 1000) 1000)) (canon lift (core func $i "run")
    (memory $i "memory"))))
