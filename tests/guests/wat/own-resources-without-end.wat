;; Promise: resources that a component makes for itself end at the handles.
(component
  (type $r (resource (rep i32)))
  (core func $new (canon resource.new $r))
  (core module $m
    (import "host" "new" (func $new (param i32) (result i32)))
    (func (export "run") (loop $again (drop (call $new (i32.const 7))) (br $again))))
  (core instance $i (instantiate $m (with "host" (instance (export "new" (func $new))))))
  (func (export "run") (canon lift (core func $i "run"))))
