;; Promise: bits that no flag has are no flags.
;; Known from: GHSA-m758.
(component
  (core module $m
    (func (export "run") (result i32) (i32.const -1)))
  (core instance $i (instantiate $m))
  (type $mode (flags "read" "write" "run"))
  (func $run (result $mode) (canon lift (core func $i "run")))
  (instance $guest (export "mode" (type $mode)) (export "run" (func $run)))
  (export "hostile:flags-of-other-bits/guest" (instance $guest)))
