;; Promise: a table of 64 bits that begins larger than there are addresses is refused.
;; Known from: GHSA-p8xm.
(component
  (core module $m
    (table i64 0xffffffffffffffff funcref)
    (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
