;; Promise: a table of 64 bits cannot grow past what there are addresses for.
;; Known from: GHSA-p8xm.
(component
  (core module $m
    (table $t i64 1 funcref)
    (func (export "run")
      (br_if 0 (i64.ne (i64.const -1) (table.grow $t (ref.null func) (i64.const -1))))
      unreachable))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
