;; Promise: a memory of 64 bits that begins larger than there are addresses is refused.
;; Known from: GHSA-p8xm.
(component
  (core module $m
    (memory i64 0x1000000000000)
    (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
