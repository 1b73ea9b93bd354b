;; Promise: a stream that an event still belongs to cannot be dropped.
(component
  (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
  (alias export $error "error" (type $error-type))
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $p (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $p))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (export "error" (type $e (eq $error-type)))
    (export "pollable" (type $p (eq $pollable)))
    (type $failure (variant (case "last-operation-failed" (own $e)) (case "closed")))
    (export "stream-error" (type $failed (eq $failure)))
    (export "output-stream" (type $out (sub resource)))
    (export "[method]output-stream.subscribe"
      (func (param "self" (borrow $out)) (result (own $p))))))
  (alias export $streams "output-stream" (type $output-stream))
  (import "wasi:cli/stderr@0.2.0" (instance $stderr
    (export "output-stream" (type $out (eq $output-stream)))
    (export "get-stderr" (func (result (own $out))))))
  (core func $get (canon lower (func $stderr "get-stderr")))
  (core func $subscribe (canon lower (func $streams "[method]output-stream.subscribe")))
  (core func $drop (canon resource.drop $output-stream))
  (core module $m
    (import "host" "get" (func $get (result i32)))
    (import "host" "subscribe" (func $subscribe (param i32) (result i32)))
    (import "host" "drop" (func $drop (param i32)))
    (func (export "run") (local $to i32)
      (local.set $to (call $get))
      (drop (call $subscribe (local.get $to)))
      (call $drop (local.get $to))))
  (core instance $i (instantiate $m (with "host" (instance
    (export "get" (func $get)) (export "subscribe" (func $subscribe)) (export "drop" (func $drop))))))
  (func (export "run") (canon lift (core func $i "run"))))
