;; Promise: a memory that begins larger than allowed is refused.
;; Known from: wasmCloud#2649.
(component
  (core module $m
    (memory 65536)
    (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
