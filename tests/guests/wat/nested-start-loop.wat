;; Promise: a start function of an inner component is computing time of the call.
(component
  (component $inner
    (core module $m
      (func $loop (loop $again (br $again)))
      (start $loop))
    (core instance (instantiate $m)))
  (instance (instantiate $inner))
  (core module $m (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
