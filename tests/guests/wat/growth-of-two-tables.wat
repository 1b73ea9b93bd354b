;; Promise: table elements are counted over all tables of a component.
(component
  (core module $m
    (table $a 1 funcref)
    (table $b 1 funcref)
    (func (export "run")
      (loop $again
        (br_if $again (i32.and
          (i32.ne (i32.const -1) (table.grow $a (ref.null func) (i32.const 100)))
          (i32.ne (i32.const -1) (table.grow $b (ref.null func) (i32.const 100))))))
      unreachable))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
