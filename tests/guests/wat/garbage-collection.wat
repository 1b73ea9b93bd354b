;; Promise: a feature that this host does not have (garbage collection) is refused at load.
(component
  (core module $m
    (type $a (array (mut i8)))
    (func (drop (array.new_default $a (i32.const 0x7fffffff))))
    (func (export "run")))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
