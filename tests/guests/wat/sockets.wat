;; Promise: the network is not there to be imported.
(component
  (import "wasi:sockets/network@0.2.0" (instance $network
    (export "network" (type (sub resource)))))
  (alias export $network "network" (type $network-type))
  (import "wasi:sockets/instance-network@0.2.0" (instance $instance
    (export "network" (type $n (eq $network-type)))
    (export "instance-network" (func (result (own $n))))))
  (core func $open (canon lower (func $instance "instance-network")))
  (core module $m
    (import "host" "open" (func $open (result i32)))
    (func (export "run") (drop (call $open))))
  (core instance $i (instantiate $m (with "host" (instance (export "open" (func $open))))))
  (func (export "run") (canon lift (core func $i "run"))))
