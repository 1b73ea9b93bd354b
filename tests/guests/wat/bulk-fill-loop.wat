;; Promise: steps that cannot be interrupted are bounded by the memory, and end with the computing
;; time.
(component
  (core module $m
    (memory 64)
    (func (export "run")
      (loop $again
        (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x400000))
        (memory.copy (i32.const 0) (i32.const 0x200000) (i32.const 0x200000))
        (br $again))))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
