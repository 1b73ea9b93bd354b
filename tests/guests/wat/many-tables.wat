;; Promise: tables are counted.
(component
  (core module $part (table 1 funcref) (table 1 funcref) (table 1 funcref))
  (core instance (instantiate $part))
  (core instance (instantiate $part))
  (core instance (instantiate $part))
  (core instance (instantiate $part))
  (core instance (instantiate $part))
  (core instance (instantiate $part))
  (core module $m (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
