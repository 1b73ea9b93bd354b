;; Promise: a feature that this host does not have (exceptions) is refused at load.
(component
  (core module $m
    (tag $e)
    (func (throw $e))
    (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
