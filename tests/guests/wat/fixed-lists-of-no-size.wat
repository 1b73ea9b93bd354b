;; Promise: a type whose size is more than a number holds is no small type.
;; Known from: canonical ABI of the component model.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32) (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") (result (list (list u8 65536) 65536)) (canon lift (core func $i "run")
    (memory $i "memory"))))
