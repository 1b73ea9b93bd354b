;; Uses all the CPU time it is given, in a loop without calls.
(module
  (memory (export "memory") 1)
  (func (export "hostile:endless-loop/guest#run")
    (loop $again (br $again))))
