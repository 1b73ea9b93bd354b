;; Promise: elements that lie outside of the table are a trap before anything runs.
;; Known from: GHSA-2hw9.
(component
  (core module $m
    (table 2 funcref)
    (elem (i32.const 1) func $f $f)
    (func $f (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
