;; Promise: a table that begins larger than allowed is refused.
;; Known from: GHSA-p8xm.
(component
  (core module $m
    (table 0xffffffff funcref)
    (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
