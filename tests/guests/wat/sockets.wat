;; Promise: sockets may be imported, and none is made: each answer is that access is denied.
(component
  (import "wasi:sockets/network@0.2.0" (instance $network
    (export "network" (type (sub resource)))
    (type $code (enum "unknown" "access-denied" "not-supported" "invalid-argument" "out-of-memory"
      "timeout" "concurrency-conflict" "not-in-progress" "would-block" "invalid-state"
      "new-socket-limit" "address-not-bindable" "address-in-use" "remote-unreachable"
      "connection-refused" "connection-reset" "connection-aborted" "datagram-too-large"
      "name-unresolvable" "temporary-resolver-failure" "permanent-resolver-failure"))
    (export "error-code" (type (eq $code)))
    (type $family (enum "ipv4" "ipv6"))
    (export "ip-address-family" (type (eq $family)))))
  (alias export $network "network" (type $network-type))
  (alias export $network "error-code" (type $code))
  (alias export $network "ip-address-family" (type $family))
  (import "wasi:sockets/instance-network@0.2.0" (instance $instance
    (export "network" (type $n (eq $network-type)))
    (export "instance-network" (func (result (own $n))))))
  (import "wasi:sockets/tcp@0.2.0" (instance $tcp (export "tcp-socket" (type (sub resource)))))
  (alias export $tcp "tcp-socket" (type $tcp-socket))
  (import "wasi:sockets/tcp-create-socket@0.2.0" (instance $create-tcp
    (export "error-code" (type $e (eq $code)))
    (export "ip-address-family" (type $f (eq $family)))
    (export "tcp-socket" (type $s (eq $tcp-socket)))
    (export "create-tcp-socket" (func (param "address-family" $f) (result (result (own $s) (error $e)))))))
  (import "wasi:sockets/udp@0.2.0" (instance $udp (export "udp-socket" (type (sub resource)))))
  (alias export $udp "udp-socket" (type $udp-socket))
  (import "wasi:sockets/udp-create-socket@0.2.0" (instance $create-udp
    (export "error-code" (type $e (eq $code)))
    (export "ip-address-family" (type $f (eq $family)))
    (export "udp-socket" (type $s (eq $udp-socket)))
    (export "create-udp-socket" (func (param "address-family" $f) (result (result (own $s) (error $e)))))))
  (core module $memory (memory (export "memory") 1))
  (core instance $memory (instantiate $memory))
  (alias core export $memory "memory" (core memory $mem))
  (core func $open (canon lower (func $instance "instance-network")))
  (core func $tcp (canon lower (func $create-tcp "create-tcp-socket") (memory $mem)))
  (core func $udp (canon lower (func $create-udp "create-udp-socket") (memory $mem)))
  (core module $m
    (import "host" "open" (func $open (result i32)))
    (import "host" "tcp" (func $tcp (param i32 i32)))
    (import "host" "udp" (func $udp (param i32 i32)))
    (import "host" "memory" (memory 1))
    ;; Whether an answer is the error `access-denied`.
    (func $denied (result i32)
      (i32.and (i32.eq (i32.load8_u (i32.const 0)) (i32.const 1))
        (i32.eq (i32.load8_u (i32.const 4)) (i32.const 1))))
    ;; The handle of the network is a number above zero, and leads nowhere.
    (func (export "run") (result i32)
      (local $all i32)
      (local.set $all (i32.gt_u (call $open) (i32.const 0)))
      (call $tcp (i32.const 0) (i32.const 0))
      (local.set $all (i32.and (local.get $all) (call $denied)))
      (call $tcp (i32.const 1) (i32.const 0))
      (local.set $all (i32.and (local.get $all) (call $denied)))
      (call $udp (i32.const 0) (i32.const 0))
      (i32.and (local.get $all) (call $denied))))
  (core instance $i (instantiate $m (with "host" (instance
    (export "open" (func $open)) (export "tcp" (func $tcp)) (export "udp" (func $udp))
    (export "memory" (memory $mem))))))
  (func (export "run") (result bool) (canon lift (core func $i "run"))))
