;; Promise: data that lies outside of the memory is a trap before anything runs.
;; Known from: GHSA-2hw9.
(component
  (core module $m
    (memory 1)
    (data (i32.const 65530) "0123456789")
    (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
