;; Promise: a feature that this host does not have (threads) is refused at load.
(component
  (core module $m
    (memory 1 1 shared)
    (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
